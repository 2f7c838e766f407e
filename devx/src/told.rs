//! What the device has told of its capabilities.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::cmd::{CapabilitySelector, QueryHcaCapOut};

type Answers = HashMap<CapabilitySelector, Arc<QueryHcaCapOut>>;

/// The sets of capabilities that a context has been told, each asked for once.
#[derive(Debug, Default)]
pub(crate) struct Told(Mutex<Answers>);

impl Told {
    fn lock(&self) -> MutexGuard<'_, Answers> {
        // Nothing panics while it holds the lock, and the map is valid after every step.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer, if it was asked for before.
    pub(crate) fn get(&self, selector: CapabilitySelector) -> Option<Arc<QueryHcaCapOut>> {
        self.lock().get(&selector).map(Arc::clone)
    }

    /// Keeps an answer, or the one that another thread has got meanwhile.
    pub(crate) fn keep(&self, selector: CapabilitySelector, answer: QueryHcaCapOut) -> Arc<QueryHcaCapOut> {
        Arc::clone(self.lock().entry(selector).or_insert_with(|| Arc::new(answer)))
    }
}
