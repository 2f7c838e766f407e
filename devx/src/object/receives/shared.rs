//! Receives that many queue pairs share.

use std::sync::Arc;

use blueflame::cq::setup::{Reservation, Reservations};
use blueflame::types::Srqn;
use blueflame::verbs;

use super::srq::Srq;
use super::xrq::Xrq;
use crate::context::Context;
use crate::error::Error;
use crate::object::cq::Cq;

/// The source of receives for queue pairs and targets without a receive queue of their own. Cheap to clone. All its
/// users keep it alive.
#[derive(Clone, Debug)]
pub struct SharedReceives {
    number: Srqn,
    context: Context,
    /// The places that its receives need where its users complete; `None` if they complete elsewhere.
    places: Option<Arc<Reservations>>,
    _under: Under,
}

#[derive(Clone, Debug)]
enum Under {
    Made { _srq: Srq },
    Extended { _xrq: Xrq },
    Verbs { _srq: verbs::Srq },
}

impl SharedReceives {
    /// The shared receive queue that verbs has made.
    ///
    /// # Errors
    /// [`Error::ForeignDevice`] if it was made on another open device than `context`.
    pub fn of_verbs(context: &Context, srq: &verbs::Srq) -> Result<Self, Error> {
        // SAFETY: alive as long as the handle; libibverbs writes the context before it gives the queue out, and never
        // again.
        if unsafe { (*srq.as_raw()).context } != context.raw() {
            return Err(Error::ForeignDevice { object: "shared receive queue" });
        }
        let (number, places) = (srq.srqn(), srq.reservations().cloned());
        Ok(Self { number, context: context.clone(), places, _under: Under::Verbs { _srq: srq.clone() } })
    }

    /// The number that identifies it in contexts.
    #[must_use]
    pub fn number(&self) -> Srqn {
        self.number
    }

    /// Reserves places for its receives on the completion queue of an object that is about to be made.
    ///
    /// # Errors
    /// [`Error::CqRoom`].
    pub(in crate::object) fn reserve(&self, cq: &Cq) -> Result<Option<Arc<Reservation>>, Error> {
        let Some(places) = &self.places else { return Ok(None) };
        places.on(cq.room()).map(Some).map_err(|error| cq.too_small(error))
    }

    /// The device that it belongs to.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }
}

impl From<&Srq> for SharedReceives {
    fn from(srq: &Srq) -> Self {
        let (number, context) = (srq.srqn(), srq.object().context().clone());
        Self { number, context, places: Some(Arc::clone(srq.places())), _under: Under::Made { _srq: srq.clone() } }
    }
}

impl From<&Xrq> for SharedReceives {
    fn from(xrq: &Xrq) -> Self {
        let (number, context) = (xrq.srqn(), xrq.object().context().clone());
        Self { number, context, places: xrq.places().cloned(), _under: Under::Extended { _xrq: xrq.clone() } }
    }
}
