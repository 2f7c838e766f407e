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
/// Most bytes that DS (six bits) can describe.
const MAX_WQE_BYTES: usize = 63 * DATA_SEG_BYTES;

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
    memory: &dyn HostMemory,
) -> Result<SendWqe, WqeFault> {
    checked(sq, qpn, (transport, signed), index, producer, |at, out| copy_from_ring(sq, index, at, out, memory))
}

/// [Fetches](fetch) a WQE of which the register received `copy`: all bytes that its control segment claims.
///
/// # Errors
/// As for [`fetch`].
pub(crate) fn fetch_copy(
    sq: &SqContext,
    qpn: u32,
    (transport, signed): (Transport, bool),
    index: u16,
    producer: u16,
    copy: &[u8],
) -> Result<SendWqe, WqeFault> {
    checked(sq, qpn, (transport, signed), index, producer, |at, out| {
        for (to, from) in out.iter_mut().zip(copy.iter().skip(at)) {
            *to = *from;
        }
        Ok(())
    })
}

/// [Fetches](fetch) a WQE whose own index is ignored (`cmd_hca_cap.wqe_index_ignore_cap`). The producer may be further
/// ahead than the ring's length: its WQEs may be executed again in each round.
///
/// # Errors
/// As for [`fetch`].
pub(crate) fn fetch_static(
    sq: &SqContext,
    qpn: u32,
    (transport, signed): (Transport, bool),
    index: u16,
    producer: u16,
    memory: &dyn HostMemory,
) -> Result<SendWqe, WqeFault> {
    let ahead = u32::from(producer.wrapping_sub(index)).min(1 << sq.log_size);
    checked(sq, qpn, (transport, signed), index, index.wrapping_add(ahead as u16), |at, out| {
        copy_from_ring(sq, index, at, out, memory)?;
        if at == 0 {
            out[control::INDEX..control::INDEX + 2].copy_from_slice(&index.to_be_bytes());
        }
        Ok(())
    })
}

/// Checks and decodes a WQE. `read` copies its bytes from an offset on.
fn checked(
    sq: &SqContext,
    qpn: u32,
    (transport, signed): (Transport, bool),
    index: u16,
    producer: u16,
    read: impl Fn(usize, &mut [u8]) -> Result<(), DmaFault>,
) -> Result<SendWqe, WqeFault> {
    let announced = producer.wrapping_sub(index);
    let entries = 1u32 << sq.log_size;
    if u32::from(announced) > entries {
        return Err(WqeFault::Overrun { index, producer, ahead: announced, entries });
    }
    let mut buf = [0; MAX_WQE_BYTES];
    read(0, &mut buf[..control::BYTES])?;

    let found = be16(&buf, control::INDEX);
    if found != index {
        return Err(WqeFault::WrongIndex { found, expected: index });
    }
    let qpn_ds = be32(&buf, control::QPN_DS);
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
    read(control::BYTES, &mut buf[control::BYTES..len])?;
    log::trace!("QP {qpn:#x}: WQE {:02x?}", &buf[..len]);
    if signed {
        signature::check_send(&buf[..len])?;
    }
    decode(&buf[..len], transport, sq).map(|wqe| SendWqe { index, wqebbs, ..wqe })
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
