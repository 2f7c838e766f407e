//! Objects that commands make and the device itself does not know.

mod contexts;
mod domain;
mod queues;
mod umem;

pub(super) use contexts::Contexts;
pub(super) use domain::Domain;
pub(super) use queues::{CQC_BYTES, CqRecord, QPC_BYTES, QpRecord, Queues, SrqKind, SrqRecord};
pub(super) use umem::{ADAPTER_PAGE_BYTES, Umem};
