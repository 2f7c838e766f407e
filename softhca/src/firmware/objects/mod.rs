//! Objects that commands make and the device itself does not know.

mod domain;
mod ethernet;
mod mkey;
mod queues;
mod umem;

pub(super) use domain::Domain;
pub(super) use ethernet::Contexts;
pub(super) use mkey::MkeyRecord;
pub(super) use queues::{CQC_BYTES, CqRecord, DCTC_BYTES, QPC_BYTES, QpRecord, Queues, SrqKind, SrqRecord};
pub(super) use umem::{ADAPTER_PAGE_BYTES, Umem};
