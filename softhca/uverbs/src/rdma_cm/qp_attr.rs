//! The attributes of a QP in each state: `rdma_init_qp_attr` (`ib_cm_init_qp_attr` of the kernel's `cm.c`).

use super::abi::QpAttr;
use super::conversation::Phase;
use super::id::{Id, UDP_QKEY};
use crate::abi::access;
use crate::abi::qp_attr as mask;
use crate::process::Errno;
use zerocopy::FromZeros;

/// `enum ib_qp_state`.
const INIT: u32 = 1;
const RTR: u32 = 2;
const RTS: u32 = 3;
const ERR: u32 = 6;

/// The attributes of id's QP for `state`.
pub(super) fn init(id: &Id, state: u32) -> Result<QpAttr, Errno> {
    let (Some(local), true) = (&id.local, state <= ERR) else { return Err(Errno::EINVAL) };
    let mut attr = QpAttr { qp_state: state, port_num: local.port, ..FromZeros::new_zeroed() };
    let talk = match &id.conversation {
        Some(talk) if !id.datagram => talk,
        // Before there is a peer: enough for a QP that is to be posted to.
        _ => {
            attr.qp_attr_mask = mask::STATE | mask::PKEY_INDEX | mask::PORT;
            if id.datagram {
                attr.qkey = if id.qkey == 0 { UDP_QKEY } else { id.qkey };
                attr.qp_attr_mask |= mask::QKEY;
            } else {
                attr.qp_attr_mask |= mask::ACCESS_FLAGS;
            }
            return Ok(attr);
        }
    };
    let connects = matches!(talk.phase, Phase::ReqReceived | Phase::RepReceived | Phase::RepSent | Phase::Established);
    let begins = connects || matches!(talk.phase, Phase::ReqSent | Phase::DreqSent | Phase::DreqReceived);
    match state {
        INIT if begins => {
            attr.qp_attr_mask = mask::STATE | mask::ACCESS_FLAGS | mask::PKEY_INDEX | mask::PORT;
            attr.qp_access_flags = access::REMOTE_WRITE;
            if talk.responder_resources > 0 {
                attr.qp_access_flags |= access::REMOTE_READ | access::REMOTE_ATOMIC;
            }
        }
        RTR if connects => {
            attr.qp_attr_mask = mask::STATE
                | mask::AV
                | mask::PATH_MTU
                | mask::DEST_QPN
                | mask::RQ_PSN
                | mask::MAX_DEST_RD_ATOMIC
                | mask::MIN_RNR_TIMER;
            attr.ah_attr = id.ah_attr();
            attr.path_mtu = talk.mtu.into();
            attr.dest_qp_num = talk.remote_qpn;
            attr.rq_psn = id.psn;
            attr.max_dest_rd_atomic = talk.responder_resources;
        }
        RTS if connects => {
            attr.qp_attr_mask =
                mask::STATE | mask::SQ_PSN | mask::TIMEOUT | mask::RETRY_CNT | mask::RNR_RETRY | mask::MAX_QP_RD_ATOMIC;
            attr.sq_psn = talk.sq_psn;
            attr.timeout = id.options.ack_timeout.unwrap_or(talk.ack_timeout);
            attr.retry_cnt = talk.retry_count;
            attr.rnr_retry = talk.rnr_retry_count;
            attr.max_rd_atomic = talk.initiator_depth;
        }
        _ => return Err(Errno::EINVAL),
    }
    Ok(attr)
}
