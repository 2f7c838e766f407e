//! CQEs: their layouts, and their records.
use blueflame::cq::{CqeFormat, CqeOpcode, layout::OpOwn};

use crate::diagnosis;
use crate::layout::{Layout, cqe as layout};
use crate::names;
use crate::report::{Kind, Record};

/// Bytes of a CQE's fields.
const CQE64: usize = 64;
/// Mini-CQEs in an array. An array takes the place of one CQE.
const MINI_CQES: usize = 8;
/// Bytes of a mini-CQE.
const MINI_CQE: usize = layout::MINI_CQE.bytes;
/// The application number of tag matching (rdma-core `providers/mlx5/cq.c`, `MLX5_CQE_APP_TAG_MATCHING`).
const TAG_MATCHING: u64 = 1;
/// Bytes of a CQE's end behind mini-CQEs, in the enhanced layout.
const END: usize = layout::MINI_CQES_END.bytes;

fn op_own(cqe64: &[u8]) -> OpOwn {
    OpOwn(cqe64.get(CQE64 - 1).copied().unwrap_or(0xf0))
}

/// Whether the device could have written these bytes, or an initialised ring could hold them.
pub(crate) fn is_plausible(cqe64: &[u8]) -> bool {
    if cqe64.len() < CQE64 || cqe64[..CQE64] == [0; CQE64] {
        return false;
    }
    if enhanced(cqe64).is_some() {
        return true;
    }
    let qpn = layout::CQE64.get(cqe64, "sop_drop_qpn:qpn");
    match CqeOpcode::new(op_own(cqe64).opcode()) {
        CqeOpcode::Unknown(_) => false,
        CqeOpcode::ReqErr | CqeOpcode::RespErr => layout::ERR_CQE.get(cqe64, "syndrome") != 0,
        CqeOpcode::Req => qpn != 0 && names::opcode(layout::CQE64.get(cqe64, "sop_drop_qpn:sop")).is_some(),
        CqeOpcode::RespWrImm | CqeOpcode::RespSend | CqeOpcode::RespSendImm | CqeOpcode::RespSendInv => qpn != 0,
        _ => true,
    }
}

/// Bytes of each CQE in `bytes`, 64 or 128.
fn stride(bytes: &[u8], told: Option<usize>) -> usize {
    match told {
        Some(128) => 128,
        Some(_) => CQE64,
        // The fields are in the second half. The first is not in use, or has bytes of a message.
        None if bytes.len() == 128 && is_plausible(&bytes[CQE64..]) => {
            let unused = bytes[..CQE64] == [0; CQE64] || !is_plausible(bytes);
            if unused || op_own(&bytes[CQE64..]).format() == CqeFormat::Inline64 { 128 } else { CQE64 }
        }
        None => CQE64,
    }
}

/// The number of mini-CQEs in a CQE of the enhanced layout; `None` if the CQE has another layout. An enhanced CQE names
/// no queue pair. In the place where a title of the basic layout counts its mini-CQEs, it has a mini-CQE or zeros.
fn enhanced(fields: &[u8]) -> Option<usize> {
    let fields: &[u8; CQE64] = fields.try_into().ok()?;
    let count = usize::from(op_own(fields).opcode()) + 1;
    let is_compressed = op_own(fields).format() == CqeFormat::Compressed && fields[CQE64 - END..][..6] == [0; 6];
    let is_free = count * MINI_CQE > 40 || fields[40..48] == [0; 8];
    (is_compressed && is_free && count < MINI_CQES && fields[..MINI_CQE] != [0; MINI_CQE]).then_some(count)
}

/// The CQEs in `bytes`, which may be a whole ring. CQEs that the device has never written are counted, not shown,
/// unless there are no others. A compressed block occupies one place per completion; the places without an array are
/// skipped.
pub(crate) fn all(bytes: &[u8], cqe_bytes: Option<usize>) -> Vec<Record> {
    let stride = stride(bytes, cqe_bytes);
    let mut records: Vec<Record> = Vec::new();
    let (mut unwritten, mut at) = (0, 0);
    let places: Vec<&[u8]> = bytes.chunks(stride).collect();
    let fields_at = |place: usize| places.get(place).map(|cqe| if cqe.len() == 128 { &cqe[CQE64..] } else { *cqe });
    while let Some(fields) = fields_at(at) {
        let is_unwritten = fields.len() == CQE64 && op_own(fields).opcode() == 15;
        let mut places_taken = 1;
        if let Some(count) = enhanced(fields) {
            let mut record = mini_cqes(&fields[..CQE64 - END], count);
            record.title = format!("{count} mini-CQEs of the enhanced layout");
            record.bytes = fields.to_vec();
            record.parts.push(layout::MINI_CQES_END.read(&fields[CQE64 - END..], CQE64 - END, &mut record.notes));
            records.push(record);
            places_taken = count;
        } else if is_unwritten && bytes.len() > stride {
            unwritten += 1;
        } else {
            records.push(one(places[at]));
            if op_own(fields).format() == CqeFormat::Compressed && !is_error(fields) && fields.len() == CQE64 {
                // The title is the first completion. The arrays are in the next place, and in each eighth place from
                // the title.
                let count = (layout::CQE64.get(fields, "byte_cnt") as usize).clamp(1, places.len() - at + MINI_CQES);
                for first in (0..count).step_by(MINI_CQES) {
                    if let Some(array) = fields_at(at + first.max(1)) {
                        records.push(mini_cqes(array, (count - first).min(MINI_CQES)));
                    }
                }
                places_taken = count;
            }
        }
        at += places_taken;
    }
    if unwritten > 0 {
        if records.is_empty() {
            records.push(one(&bytes[..stride.min(bytes.len())]));
        }
        if let Some(last) = records.last_mut() {
            last.notes.push(format!("{unwritten} CQEs of the dump were never written by the device (opcode 15)"));
        }
    }
    records
}

fn is_error(cqe64: &[u8]) -> bool {
    matches!(CqeOpcode::new(op_own(cqe64).opcode()), CqeOpcode::ReqErr | CqeOpcode::RespErr | CqeOpcode::SigErr)
}

/// The layout of a completion of tag matching: of an operation on a list of tags, or of a message. `None` for other
/// CQEs.
fn tag_matching(cqe64: &[u8], opcode: CqeOpcode) -> Option<&'static Layout> {
    let of_messages = [CqeOpcode::RespSend, CqeOpcode::RespSendImm, CqeOpcode::RespSendInv];
    let is_possible = opcode == CqeOpcode::NoPacket || of_messages.contains(&opcode);
    let get = |name| layout::CQE64.get(cqe64, name);
    if !is_possible || get("app") != TAG_MATCHING {
        return None;
    }
    Some(if (5..=7).contains(&get("app_op")) { &layout::TM_CQE } else { &layout::TMH_CQE })
}

/// A CQE of 64 or 128 bytes.
fn one(cqe: &[u8]) -> Record {
    let offset = if cqe.len() == 128 { CQE64 } else { 0 };
    let fields = &cqe[offset..];
    let op_own = op_own(fields);
    let opcode = CqeOpcode::new(op_own.opcode());
    let name = names::cqe_opcode(op_own.opcode().into()).unwrap_or("CQE of an unknown opcode");
    let layout: &Layout = match opcode {
        CqeOpcode::ReqErr | CqeOpcode::RespErr => &layout::ERR_CQE,
        CqeOpcode::SigErr => &layout::SIG_ERR_CQE,
        _ => tag_matching(fields, opcode).unwrap_or(&layout::CQE64),
    };
    let qpn = layout::CQE64.get(fields, "sop_drop_qpn:qpn");
    let title = if opcode == CqeOpcode::Invalid { name.to_owned() } else { format!("{name}, queue pair {qpn:#x}") };
    let mut record = Record::new(Kind::Cqe, title);
    record.bytes = cqe.to_vec();
    match op_own.format() {
        CqeFormat::Inline32 if !is_error(fields) && fields.len() == CQE64 => {
            record.parts.push(layout::INLINE_SCATTER.read(fields, offset, &mut record.notes));
            // The first 32 bytes are the message, so the layout's fields there do not apply.
            let mut part = layout.read(fields, offset, &mut record.notes);
            part.fields.retain(|field| field.offset >= offset + 32);
            record.parts.push(part);
        }
        format => {
            if format == CqeFormat::Inline64 && offset == CQE64 {
                for half in [0, 32] {
                    record.parts.push(layout::INLINE_SCATTER.read(&cqe[half..], half, &mut record.notes));
                }
            }
            record.parts.push(layout.read(fields, offset, &mut record.notes));
            if format == CqeFormat::Compressed && !is_error(fields) {
                record.notes.push(
                    "the title of a compressed block: byte_cnt is how many completions it has, of which it is the \
                     first; their mini-CQEs are in the next place, and in each eighth place from here"
                        .to_owned(),
                );
            }
        }
    }
    // The high byte is the WQE's opcode for requests alone.
    if matches!(opcode, CqeOpcode::Req | CqeOpcode::ReqErr) {
        for field in record.parts.iter_mut().flat_map(|part| &mut part.fields) {
            if matches!(&*field.name, "sop_drop_qpn:sop" | "s_wqe_opcode_qpn:s_wqe_opcode") {
                field.meaning = field.value.number().and_then(names::opcode).map(str::to_owned);
            }
        }
    }
    if fields.len() == CQE64 {
        record.diagnosis = diagnosis::of_cqe(fields, opcode);
    }
    record
}

/// An array of mini-CQEs, of which the first `count` are valid.
pub(crate) fn mini_cqes(bytes: &[u8], count: usize) -> Record {
    let mut record = Record::new(Kind::MiniCqes, format!("{count} mini-CQEs"));
    record.bytes = bytes.to_vec();
    for (index, mini) in bytes.chunks(layout::MINI_CQE.bytes).take(count).enumerate() {
        let part = layout::MINI_CQE.read(mini, index * layout::MINI_CQE.bytes, &mut record.notes);
        record.parts.push(part);
    }
    record.notes.push(
        "the first four bytes are a hash, a checksum and a stride index, a flow tag, or a WQE's index and opcode, as \
         the queue was created"
            .to_owned(),
    );
    record
}
