//! Capabilities that the device has reported.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::cmd::{CapabilitySelector, QueryHcaCapOut};

type Answers = HashMap<CapabilitySelector, Arc<QueryHcaCapOut>>;

/// The sets of capabilities that the device has reported to a context. Each set is queried once.
#[derive(Debug, Default)]
pub(crate) struct Told(Mutex<Answers>);

impl Told {
    fn lock(&self) -> MutexGuard<'_, Answers> {
        // Nothing panics while it holds the lock, and the map is valid after every step.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer, if it was queried before.
    pub(crate) fn get(&self, selector: CapabilitySelector) -> Option<Arc<QueryHcaCapOut>> {
        self.lock().get(&selector).map(Arc::clone)
    }

    /// Keeps an answer, or the answer that another thread has got meanwhile.
    pub(crate) fn keep(&self, selector: CapabilitySelector, answer: QueryHcaCapOut) -> Arc<QueryHcaCapOut> {
        Arc::clone(self.lock().entry(selector).or_insert_with(|| Arc::new(answer)))
    }
}
