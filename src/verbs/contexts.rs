//! The context of each object that a call takes, for [`foreign`](crate::verbs::device::foreign) to compare.

use crate::verbs::device::foreign::Part;
use crate::verbs::device::open::Context;
use crate::verbs::domain::protection::PdHandle;
use crate::verbs::domain::thread::ThreadDomainHandle;
use crate::verbs::domain::xrc::XrcdHandle;
use crate::verbs::ethernet::{Wq, WqTable};
use crate::verbs::memory::{DeviceMemory, DmaHandle};
use crate::verbs::{CompletionChannel, Cq, ProtectionDomain, Qp, Srq};

/// Objects whose libibverbs structure names their context. Adopted objects name it as well.
macro_rules! parts {
    ($($part:ty, $name:literal;)*) => { $(
        impl From<&$part> for Part {
            fn from(part: &$part) -> Self {
                // SAFETY: alive as long as `part`; written once, when it was made.
                Self { name: $name, context: unsafe { (*part.as_raw()).context } }
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
        impl From<&$part> for Part {
            fn from(part: &$part) -> Self {
                let of: fn(&$part) -> &Context = $context;
                Self { name: $name, context: of(part).raw() }
            }
        }
    )* };
}

kept! {
    ThreadDomainHandle, "thread domain", |domain| &domain.pd().context;
    XrcdHandle, "XRC domain", |domain| domain.context();
    DeviceMemory, "device memory", |memory| memory.context();
    DmaHandle, "DMA handle", |handle| handle.context();
    PdHandle, "buffer", |pd| &pd.context;
}
