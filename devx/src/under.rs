//! The objects and the memory that an object stands on: the command that made it named their numbers. They belong to
//! the same open device, and stay as long as the device has the object.

use std::sync::{Arc, Mutex, PoisonError};

use blueflame::cq::setup::{Receiver, Reservation};
use blueflame::queue::striding::MemoryGuard;

use crate::context::{Context, Object, Under};
use crate::error::Error;
use crate::memory::{Record, Space, Umem};
use crate::object::{
    Cq, DoorbellPage, FlowCounter, FlowGroup, FlowTable, Mkey, ModifyHeader, PacketPacing, Pd, Rq, Rqt, SharedReceives,
    Tir, Tis, TransportDomain,
};

/// One line for each type: its name in errors, and its context.
macro_rules! under {
    ($($ty:ty, $name:literal, |$it:ident| $context:expr;)*) => {$(
        impl Under for $ty {
            fn check(&self, context: &Context) -> Result<(), Error> {
                let $it = self;
                context.same($name, $context)
            }
        }
    )*};
}

under! {
    Pd, "protection domain", |pd| pd.context();
    Umem, "memory", |umem| umem.context();
    Space, "memory of rings", |space| space.context();
    Record, "memory of rings", |record| record.context();
    DoorbellPage, "doorbell page", |page| page.context();
    Cq, "completion queue", |cq| cq.object().context();
    SharedReceives, "shared receive queue", |shared| shared.context();
    Mkey, "memory key", |key| key.context();
    TransportDomain, "transport domain", |domain| domain.context();
    Tis, "transport interface of sends", |tis| tis.object().context();
    Rq, "receive queue", |rq| rq.object().context();
    Rqt, "table of receive queues", |rqt| rqt.object().context();
    Tir, "transport interface of receives", |tir| tir.object().context();
    FlowTable, "flow table", |table| table.object().context();
    FlowGroup, "flow group", |group| group.table().object().context();
    FlowCounter, "flow counter", |counter| counter.context();
    ModifyHeader, "modify header context", |modify| modify.context();
    PacketPacing, "rate", |pacing| pacing.context();
    Object, "object", |object| object.context();
}

/// A receiver is counted by identity within the process, so every context will do.
impl Under for Receiver {
    fn check(&self, _context: &Context) -> Result<(), Error> {
        Ok(())
    }
}

/// Places of a completion queue, which the object stands on as well.
impl Under for Reservation {
    fn check(&self, _context: &Context) -> Result<(), Error> {
        Ok(())
    }
}

/// Memory that verbs has registered: the device checks the key when it writes there.
impl Under for MemoryGuard {
    fn check(&self, _context: &Context) -> Result<(), Error> {
        Ok(())
    }
}

impl<T: Under + ?Sized> Under for Arc<T> {
    fn check(&self, context: &Context) -> Result<(), Error> {
        (**self).check(context)
    }
}

impl<T: Under> Under for Mutex<T> {
    fn check(&self, context: &Context) -> Result<(), Error> {
        self.lock().unwrap_or_else(PoisonError::into_inner).check(context)
    }
}

impl<T: Under> Under for Option<T> {
    fn check(&self, context: &Context) -> Result<(), Error> {
        self.iter().try_for_each(|one| one.check(context))
    }
}

impl<T: Under> Under for Vec<T> {
    fn check(&self, context: &Context) -> Result<(), Error> {
        self.iter().try_for_each(|one| one.check(context))
    }
}

macro_rules! tuples {
    ($(($($T:ident),*);)*) => {$(
        impl<$($T: Under),*> Under for ($($T,)*) {
            #[allow(non_snake_case, unused_variables, reason = "a variable for each type; none for ()")]
            fn check(&self, context: &Context) -> Result<(), Error> {
                let ($($T,)*) = self;
                $($T.check(context)?;)*
                Ok(())
            }
        }
    )*};
}

tuples! {
    ();
    (A, B);
    (A, B, C);
    (A, B, C, D);
    (A, B, C, D, E);
    (A, B, C, D, E, F);
    (A, B, C, D, E, F, G);
}
