//! Requests that the device carries out by itself: nothing of them is sent.

use super::request::Request;
use crate::config::Generation;
use crate::context::{ReceiveSource, Transport};
use crate::cq::Completion;
use crate::explanation::Reason;
use crate::qp::failure::Failure;
use crate::qp::qp_core::{QpCore, Role};
use crate::recv::TagFault;
use crate::resources::Resources;
use crate::wqe::{Enable, SendOp, TagOp, WaitData};
use std::time::Duration;

/// Bits of a CQ's index.
const INDEX_BITS: u32 = 24;

/// Bytes that are read in one piece.
const PIECE: usize = 4096;

/// Reasons to hold a request back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::qp) enum Hold {
    /// Nothing.
    None,
    /// Something that happens in another step.
    Event,
    /// The clock, until then at least.
    Until(Duration),
}

/// Whether `request` waits for something, and for what. A request that waits for something impossible is not held: it
/// fails.
pub(in crate::qp) fn hold(request: &Request, qp: &QpCore, resources: &Resources) -> Hold {
    match request.wqe.op {
        _ if request.started => Hold::None,
        SendOp::WaitCqe { cqn, index } => {
            let cq = resources.cqs.get(cqn).filter(|cq| cq.failure().is_none());
            match cq {
                Some(cq) if is_permitted(qp) && !has_come(cq.written_index(), index) => Hold::Event,
                _ => Hold::None,
            }
        }
        SendOp::WaitTime(wait) if has_wait_on_time(resources) => {
            // The clock's format is the device's, whatever timestamps the queue has.
            let format = resources.clock_format;
            let clock = resources.timestamp(format);
            if is_stuck(request, qp) || !wait.is_compared(format) {
                Hold::Event
            } else if wait.is_over(clock) {
                Hold::None
            } else {
                Hold::Until(resources.now.saturating_add(wait.time_left(clock, format)))
            }
        }
        // The queue looks again in each step: the device learns of no store to memory.
        SendOp::WaitData(wait) if has_wait_on_data(resources) && !wait.is_check => match word(wait, qp, resources) {
            Ok(value) if !wait.until.is_over(value) => Hold::Event,
            _ => Hold::None,
        },
        _ if request.follows_wait && is_stuck(request, qp) => Hold::Event,
        _ => Hold::None,
    }
}

/// Whether a request of a frames' send queue, a WAIT or the one behind it, asks for no CQE and has a mode other than
/// "only first error". An SQ of WAIT and SEND can stall then (NVIDIA's daqiri, pull requests 272 and 275); here it
/// always does. DPDK gives that mode to all that asks for no CQE (`drivers/net/mlx5/mlx5_tx.h`, `mlx5_tx_cseg_init`).
fn is_stuck(request: &Request, qp: &QpCore) -> bool {
    qp.transport() == Transport::RawPacket && !request.wqe.signaled && !request.wqe.first_error_only
}

/// Executes `request`. `again`: it was executed before, and the queue has gone back to a lost packet before it.
pub(in crate::qp) fn execute(
    request: &mut Request,
    again: bool,
    qp: &QpCore,
    resources: &mut Resources,
) -> Result<(), Failure> {
    let index = request.wqe.index;
    let failed = |failure: Failure| {
        log::warn!("QP {:#x}: send WQE {index:#x}: {}", qp.qpn, failure.reason);
        failure
    };
    let refused = |reason: Reason| Err(failed(Failure::BAD_WQE.because(reason)));
    let object = |what, number, is| refused(Reason::Object { what, number, is });
    match request.wqe.op {
        _ if again => Ok(()),
        SendOp::WaitCqe { cqn, .. } => match resources.cqs.get(cqn) {
            _ if !is_permitted(qp) => refused(Reason::Is("WAIT of a QP that is no master")),
            None => object("WAIT for CQ", cqn, "which does not exist"),
            Some(cq) if cq.failure().is_some() => object("WAIT for CQ", cqn, "which has failed"),
            Some(_) => Ok(()),
        },
        SendOp::WaitTime(_) if !has_wait_on_time(resources) => {
            refused(Reason::Is("WAIT for the clock: not a capability"))
        }
        SendOp::WaitData(_) if !has_wait_on_data(resources) => {
            refused(Reason::Is("WAIT for a word of memory: not a capability"))
        }
        SendOp::WaitData(wait) => match word(wait, qp, resources) {
            Ok(value) if wait.is_check && !wait.until.is_over(value) => Err(failed(Failure::WAIT_CHECK)),
            found => found.map(drop).map_err(failed),
        },
        SendOp::EnableSends(_) | SendOp::EnableReceives(_) if !qp.context.cross_channel.master => {
            refused(Reason::Is("SEND_EN or RCV_EN of a queue that is no master"))
        }
        SendOp::EnableSends(Enable { qpn, index }) => match resources.slaves.enable_sends(qp.context.pd, qpn, index) {
            true => Ok(()),
            false => object("SEND_EN of", qpn, "which is no slave of this protection domain"),
        },
        SendOp::EnableReceives(Enable { qpn, index }) => {
            match resources.slaves.enable_receives(qp.context.pd, qpn, index) {
                true => Ok(()),
                false => object("RCV_EN of", qpn, "which is no slave of this protection domain"),
            }
        }
        SendOp::Dump => dump(request, qp, resources),
        SendOp::SetPsv { psv, value } => {
            resources.set_psv(&qp.context, psv, value).map_err(|fault| failed(Failure::PSV.because(fault)))
        }
        SendOp::Tags(op) => change_tags(&op, request.wqe.index, qp, resources).or_else(|fault| refused(fault.into())),
        SendOp::Memcpy(copy) => {
            resources.memcpy(&qp.context, qp.copies, &copy).map_err(|fault| failed(Failure::of_memcpy(&fault)))
        }
        _ => {
            let Some(umr) = request.wqe.umr.take() else { return Ok(()) };
            resources.change_mkey(qp.qpn, &qp.context, &umr).map_err(|fault| failed(Failure::of_umr(&fault)))
        }
    }
}

/// Drivers let queues of frames wait that are made as any other (DPDK `drivers/net/mlx5/mlx5_devx.c`), but QPs must be
/// masters (libmlx5 of MLNX_OFED 4.3 refuses the request otherwise).
fn is_permitted(qp: &QpCore) -> bool {
    qp.context.cross_channel.master || matches!(qp.role, Role::SendQueue { .. })
}

/// `cmd_hca_cap.wait_on_time`.
fn has_wait_on_time(resources: &Resources) -> bool {
    resources.generation >= Generation::ConnectX7
}

/// `cmd_hca_cap.wait_on_data`: UCC's test of such requests "needs CX7" (`test/gtest/tl/mlx5/test_tl_mlx5_wqe.cc`).
fn has_wait_on_data(resources: &Resources) -> bool {
    resources.generation >= Generation::ConnectX7
}

/// The number in the word that a request waits for. Its first byte is the highest, as in the request's value:
/// post-wait-on-data-wqe stores both in big-endian order (`test/main.c`), and NVIDIA's ldo the threshold that it waits
/// for (`ldo_dev_hangup_trigger`). UCC waits for equal values only, and stores both in the CPU's order.
fn word(wait: WaitData, qp: &QpCore, resources: &Resources) -> Result<u64, Failure> {
    let mut bytes = [0; 8];
    let read = resources.gather((&qp.context).into(), &[wait.word], 0, &mut bytes);
    read.map_err(|fault| Failure::LOCAL_PROTECTION.because(fault))?;
    Ok(u64::from_be_bytes(bytes))
}

/// Whether a CQ that has `written` CQEs has had the one of this index.
fn has_come(written: u32, index: u32) -> bool {
    let past = written.wrapping_sub(index).wrapping_sub(1) & ((1 << INDEX_BITS) - 1);
    past < 1 << (INDEX_BITS - 1)
}

/// Changes the tags of the SRQ that the QP's receives come from, and says so where the SRQ's receives complete.
fn change_tags(op: &TagOp, wqe_counter: u16, qp: &QpCore, resources: &mut Resources) -> Result<(), TagFault> {
    let ReceiveSource::Shared { srqn } = qp.context.rq else { return Err(TagFault::NoList) };
    let Some((cqn, uidx, report)) = resources.change_tags(srqn, op)? else { return Ok(()) };
    let completion = Completion::Tag { qpn: qp.qpn, uidx, wqe_counter, report };
    resources.complete(cqn, qp.context.timestamps, completion);
    Ok(())
}

/// Reads the data, and does nothing with it.
fn dump(request: &Request, qp: &QpCore, resources: &Resources) -> Result<(), Failure> {
    let mut piece = [0; PIECE];
    let mut at = 0;
    while at < request.len() {
        let bytes = PIECE.min((request.len() - at) as usize);
        request.gather(qp, resources, at.into(), &mut piece[..bytes])?;
        at += bytes as u32;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_wrap() {
        assert!(!has_come(0, 0));
        assert!(has_come(1, 0));
        assert!(!has_come(1, 1));
        assert!(has_come(0, 0x00ff_ffff), "the last before the index began anew");
        assert!(!has_come(0x00ff_ffff, 0));
        assert!(has_come(5, 0x00ff_fff0));
        // As far as half of all indices can tell before from behind.
        assert!(has_come(0x0080_0000, 0) && !has_come(0x0080_0001, 0));
    }
}
