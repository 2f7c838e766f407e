//! The context of each object that a call takes, for [`foreign`](crate::verbs::device::foreign) to compare.

use rdma_sys as sys;

use crate::verbs::device::foreign::Part;
use crate::verbs::device::open::Context;
use crate::verbs::domain::protection::PdHandle;
use crate::verbs::domain::thread::ThreadDomainHandle;
use crate::verbs::ethernet::{Wq, WqTable};
use crate::verbs::memory::DeviceMemory;
use crate::verbs::services::xrc_domain::XrcdHandle;
use crate::verbs::{CompletionChannel, Cq, ProtectionDomain, Qp, Srq};

/// Objects whose libibverbs structure names their context. Adopted objects name it as well.
macro_rules! parts {
    ($($part:ty, $name:literal;)*) => { $(
        impl Part for $part {
            fn name(&self) -> &'static str {
                $name
            }

            fn context(&self) -> *mut sys::ibv_context {
                // SAFETY: alive as long as `self`; written once, when it was made.
                unsafe { (*self.as_raw()).context }
            }
        }
    )* };
}

parts! {
    Cq, "completion queue";
    Srq, "shared receive queue";
    Qp, "queue pair";
    CompletionChannel, "completion channel";
    ProtectionDomain, "protection domain";
    Wq, "work queue";
    WqTable, "table of work queues";
}

/// Objects of which this crate knows the context.
macro_rules! kept {
    ($($part:ty, $name:literal, $context:expr;)*) => { $(
        impl Part for $part {
            fn name(&self) -> &'static str {
                $name
            }

            fn context(&self) -> *mut sys::ibv_context {
                let of: fn(&Self) -> &Context = $context;
                of(self).raw()
            }
        }
    )* };
}

kept! {
    ThreadDomainHandle, "thread domain", |domain| &domain.pd().context;
    XrcdHandle, "XRC domain", |domain| domain.context();
    DeviceMemory, "device memory", |memory| memory.context();
    PdHandle, "buffer", |pd| &pd.context;
}
