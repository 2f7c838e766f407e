//! Reading a send WQE from the ring, or from its BlueFlame copy. Neither is trusted.

use super::decode::decode;
use super::fault::WqeFault;
use super::segments::control;
use super::segments::{DATA_SEG_BYTES, be16, be32};
use super::send::SendWqe;
use super::signature;
use crate::context::{SqContext, Transport};
use crate::memory::{DmaFault, HostMemory};

/// Bytes in a WQEBB, the unit of the send ring's indices.
pub const WQEBB_BYTES: usize = 64;

/// Copies bytes out of the ring, from WQEBB `index` on, around its end.
pub(crate) fn copy_from_ring(
    sq: &SqContext,
    index: u16,
    offset: usize,
    out: &mut [u8],
    memory: &dyn HostMemory,
) -> Result<(), DmaFault> {
    let ring = WQEBB_BYTES << sq.log_size;
    let mut at = (usize::from(index) * WQEBB_BYTES + offset) % ring;
    let mut done = 0;
    while done < out.len() {
        let n = (ring - at).min(out.len() - done);
        memory.read(sq.buf.wrapping_add(at as u64), &mut out[done..done + n])?;
        done += n;
        at = 0;
    }
    Ok(())
}

/// Where the bytes of a WQE are read.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// The ring.
    Ring(&'a dyn HostMemory),
    /// The bytes that were written to the register. They have the length that the control segment states.
    Copy(&'a [u8]),
    /// The ring, where a WQE's own index is ignored (`cmd_hca_cap.wqe_index_ignore_cap`). The producer may be further
    /// ahead than the ring's length: its WQEs may be executed again in each round.
    Static(&'a dyn HostMemory),
}

/// Reads and checks the WQE at WQEBB `index` of the send ring of `qpn`; `producer` is the index that the doorbell
/// record announced, and is not `index` (there is at least one WQEBB). `signed`: WQEs have signatures.
///
/// # Errors
/// [`WqeFault`] names the first thing that is wrong.
pub fn fetch(
    sq: &SqContext,
    qpn: u32,
    (transport, signed): (Transport, bool),
    index: u16,
    producer: u16,
    source: Source<'_>,
) -> Result<SendWqe, WqeFault> {
    let ahead = producer.wrapping_sub(index);
    let entries = 1u32 << sq.log_size;
    let announced = match source {
        Source::Static(_) => u32::from(ahead).min(entries) as u16,
        Source::Ring(_) | Source::Copy(_) => ahead,
    };
    if u32::from(announced) > entries {
        return Err(WqeFault::Overrun { index, producer, ahead, entries });
    }
    let read = |at, out: &mut [u8]| match source {
        Source::Ring(memory) | Source::Static(memory) => copy_from_ring(sq, index, at, out, memory),
        Source::Copy(copy) => {
            out.iter_mut().zip(copy.iter().skip(at)).for_each(|(to, from)| *to = *from);
            Ok(())
        }
    };
    // The first WQEBB is there, and most WQEs have no other.
    let mut first = [0; WQEBB_BYTES];
    read(0, &mut first)?;
    if let Source::Static(_) = source {
        first[control::INDEX..control::INDEX + 2].copy_from_slice(&index.to_be_bytes());
    }

    let found = be16(&first, control::INDEX);
    if found != index {
        return Err(WqeFault::WrongIndex { found, expected: index });
    }
    let qpn_ds = be32(&first, control::QPN_DS);
    if qpn_ds >> 8 != qpn {
        return Err(WqeFault::WrongQpn { found: qpn_ds >> 8, expected: qpn });
    }
    let ds = (qpn_ds & 0xff) as u8;
    if !(1..=63).contains(&ds) {
        return Err(WqeFault::BadDs(ds));
    }
    let wqebbs = u16::from(ds).div_ceil(4);
    if wqebbs > announced {
        return Err(WqeFault::PastProducer { index, wqebbs, announced });
    }
    let len = usize::from(ds) * DATA_SEG_BYTES;
    let mut long;
    let bytes = if len <= WQEBB_BYTES {
        &first[..len]
    } else {
        long = first.to_vec();
        long.resize(len, 0);
        read(WQEBB_BYTES, &mut long[WQEBB_BYTES..])?;
        &long[..]
    };
    log::trace!("QP {qpn:#x}: WQE {bytes:02x?}");
    if signed {
        signature::check_send(bytes)?;
    }
    let wqe = decode(bytes, transport, sq)?;
    Ok(SendWqe { index, wqebbs, ..wqe })
}

/// For a WQE that is skipped without being executed, because it is flushed or bad: the opcode byte, the WQEBBs, and
/// whether only the first error is reported, of the WQE at WQEBB `index`. For any bytes in the ring, it takes at least
/// one WQEBB and none past `producer`.
pub(crate) fn extent(sq: &SqContext, index: u16, producer: u16, memory: &dyn HostMemory) -> (u8, u16, bool) {
    let mut bytes = [0; control::BYTES];
    if copy_from_ring(sq, index, 0, &mut bytes, memory).is_err() {
        return (0, 1, false);
    }
    let ds = bytes[control::QPN_DS + 3];
    let announced = producer.wrapping_sub(index);
    let wqebbs = u16::from(ds).div_ceil(4).clamp(1, announced.max(1));
    (bytes[control::OPCODE], wqebbs, control::first_error_only(bytes[control::FM_CE_SE]))
}
