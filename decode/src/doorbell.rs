//! Doorbell records, and stores to doorbell registers.
use crate::layout::{Layout, cqe as layout};
use crate::report::{Kind, Record};

/// The layout of each kind of doorbell, eight bytes each.
const LAYOUTS: [(Kind, &Layout); 4] = [
    (Kind::QpRecord, &layout::QP_RECORD),
    (Kind::CqRecord, &layout::CQ_RECORD),
    (Kind::SqDoorbell, &layout::SQ_DOORBELL),
    (Kind::CqDoorbell, &layout::CQ_DOORBELL),
];

/// The eight bytes, or fewer, as a doorbell of this kind.
pub(crate) fn one(bytes: &[u8], kind: Kind) -> Record {
    let layout = LAYOUTS.iter().find(|(of, _)| *of == kind).map_or(&layout::QP_RECORD, |(_, layout)| layout);
    let mut record = Record::new(kind, layout.name);
    record.parts.push(layout.read(bytes, 0, &mut record.notes));
    record.bytes = bytes.to_vec();
    if kind == Kind::QpRecord && bytes.len() >= 8 {
        record.notes.push(
            "both count WQEs since the queue's reset, modulo 65536: receive WQEs, and WQEBBs of 64 bytes".to_owned(),
        );
    }
    record
}
