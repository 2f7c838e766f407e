//! A receive queue of Ethernet frames: one WQE for each frame.

use super::context::ReceiveQueueContext;
use super::hash::Hash;
use crate::context::QueueState;
use crate::cq::{Completion, FrameInfo};
use crate::ethernet::{Headers, L4};
use crate::event::Event;
use crate::qp::Failure;
use crate::recv::{RecvWqe, Rq};
use crate::resources::Resources;

/// WQEs flushed in one step at most.
const FLUSHES_PER_STEP: usize = 64;
/// Where a VLAN tag is in a frame, and its bytes.
const TAG: std::ops::Range<usize> = 12..16;
/// EtherType of the tags that are taken out.
const CUSTOMER_VLAN: u16 = 0x8100;

/// `hds_ip_ext` of a CQE: layers without fault (Linux `include/linux/mlx5/device.h`, `CQE_L2_OK` and others).
mod layer {
    pub(super) const L2_OK: u8 = 1 << 0;
    pub(super) const L3_OK: u8 = 1 << 1;
    pub(super) const L4_OK: u8 = 1 << 2;
}

/// `l4_l3_hdr_type` of a CQE: bit 0 a tag was taken out, bits 3:2 the version of IP, bits 6:4 the protocol behind it,
/// bit 7 a fragment (Linux `device.h`, `CQE_L4_HDR_TYPE_*`; DPDK `drivers/common/mlx5/mlx5_prm.h`, `MLX5_CQE_RX_*`).
mod header {
    pub(super) const VLAN: u8 = 1 << 0;
    pub(super) const IPV6: u8 = 1 << 2;
    pub(super) const IPV4: u8 = 2 << 2;
    pub(super) const TCP: u8 = 1 << 4;
    pub(super) const UDP: u8 = 2 << 4;
    pub(super) const TCP_ACK: u8 = 3 << 4;
    pub(super) const TCP_ACK_DATA: u8 = 4 << 4;
    pub(super) const FRAGMENT: u8 = 1 << 7;
}

/// ACK among the flags of TCP.
const TCP_FLAG_ACK: u16 = 1 << 4;

/// A receive queue.
#[derive(Debug)]
pub(crate) struct ReceiveQueue {
    context: ReceiveQueueContext,
    ring: Rq,
    state: QueueState,
    /// TIRs and RQTs that name it.
    pub(super) users: u32,
}

impl ReceiveQueue {
    /// A queue in the reset state.
    pub(super) fn new(context: ReceiveQueueContext) -> Self {
        Self { ring: Rq::of_frames(context.ring, context.dbr), context, state: QueueState::Reset, users: 0 }
    }

    /// Its context, with all later changes.
    pub(crate) fn context(&self) -> &ReceiveQueueContext {
        &self.context
    }

    /// The context, to change it.
    pub(super) fn context_mut(&mut self) -> &mut ReceiveQueueContext {
        &mut self.context
    }

    /// Its state.
    pub(crate) fn state(&self) -> QueueState {
        self.state
    }

    /// WQEs consumed and posted, 16 bits.
    pub(crate) fn counters(&self, resources: &Resources) -> (u16, u16) {
        self.ring.counters(&*resources.memory)
    }

    /// Moves it to a state that it can go to.
    pub(super) fn set_state(&mut self, to: QueueState) {
        if to == QueueState::Reset {
            self.ring = Rq::of_frames(self.context.ring, self.context.dbr);
        }
        self.state = to;
    }

    /// Takes a frame. Without a WQE for it, it is lost.
    pub(super) fn receive(
        &mut self,
        rqn: u32,
        resources: &mut Resources,
        (frame, headers): (&[u8], &Headers),
        hash: Hash,
        flow_tag: u32,
    ) {
        if self.state != QueueState::Ready {
            return;
        }
        let Some(wqe) = self.take(rqn, resources) else { return };
        let Ok(segs) = &wqe.segs else {
            return self.fail(rqn, resources, wqe.counter, Failure::BAD_RECEIVE_WQE);
        };
        let mut info = FrameInfo { rss_hash: hash.value, rss_hash_type: hash.kind, flow_tag, ..describe(headers) };
        let tag = headers.tags[0].filter(|tag| self.context.strips_vlan && tag.ether_type == CUSTOMER_VLAN);
        let mut bytes = std::borrow::Cow::Borrowed(frame);
        if let Some(tag) = tag {
            bytes.to_mut().drain(TAG);
            info.vlan = tag.control;
            info.headers |= header::VLAN;
        }
        let room: u64 = segs.iter().map(|seg| u64::from(seg.len)).sum();
        if bytes.len() as u64 > room {
            // The queue goes on: only this frame was too long.
            return self.complete_in_error(rqn, resources, wqe.counter, Failure::RECEIVE_LENGTH);
        }
        let scattered = resources.scatter(self.context.pd, segs, 0, &bytes);
        resources.report_signature_errors(self.context.cqn, rqn);
        if let Err(fault) = scattered {
            log::warn!("RQ {rqn:#x}: receive WQE {:#x}: {fault}", wqe.counter);
            return self.fail(rqn, resources, wqe.counter, Failure::RECEIVE_PROTECTION);
        }
        let (uidx, wqe_counter) = (self.context.uidx, wqe.counter);
        let completion = Completion::Frame { rqn, uidx, wqe_counter, byte_cnt: bytes.len() as u32, info };
        resources.complete(self.context.cqn, self.context.timestamps, &completion);
    }

    /// Completes WQEs as flushed, as many as one step may. `true` if there were any.
    pub(super) fn step(&mut self, rqn: u32, resources: &mut Resources) -> bool {
        if self.state != QueueState::Error || !self.context.flushes {
            return false;
        }
        let mut flushed = false;
        for _ in 0..FLUSHES_PER_STEP {
            let Ok(Some(wqe)) = self.ring.take(&*resources.memory) else { break };
            self.complete_in_error(rqn, resources, wqe.counter, Failure::RECEIVE_FLUSH);
            flushed = true;
        }
        flushed
    }

    /// It can report nothing any more.
    pub(super) fn strand(&mut self, rqn: u32, resources: &mut Resources) {
        if self.state == QueueState::Ready {
            self.state = QueueState::Error;
            resources.raise(Event::RqError { rqn });
        }
    }

    /// The next WQE; none if none is posted, or the ring cannot be read.
    fn take(&mut self, rqn: u32, resources: &mut Resources) -> Option<RecvWqe> {
        match self.ring.take(&*resources.memory) {
            Ok(Some(wqe)) => Some(wqe),
            Ok(None) => {
                resources.count_out_of_buffer(self.context.counter);
                None
            }
            Err(fault) => {
                log::warn!("RQ {rqn:#x}: {fault}");
                self.strand(rqn, resources);
                None
            }
        }
    }

    /// A WQE failed in a way after which the queue stops.
    fn fail(&mut self, rqn: u32, resources: &mut Resources, wqe_counter: u16, failure: Failure) {
        self.complete_in_error(rqn, resources, wqe_counter, failure);
        self.state = QueueState::Error;
    }

    fn complete_in_error(&self, rqn: u32, resources: &mut Resources, wqe_counter: u16, failure: Failure) {
        resources.count_receive_error(self.context.counter, failure.syndrome);
        let completion = Completion::Error {
            qpn: rqn,
            uidx: self.context.uidx,
            requester: false,
            opcode: 0,
            wqe_counter,
            syndrome: failure.syndrome,
            vendor_syndrome: failure.vendor,
        };
        resources.complete(self.context.cqn, self.context.timestamps, &completion);
    }
}

/// The description of headers in a CQE.
fn describe(headers: &Headers) -> FrameInfo {
    let mut info = FrameInfo { layers_ok: layer::L2_OK, ..FrameInfo::default() };
    if let Some(ip) = &headers.ip {
        info.sum = ip.sum;
        info.headers = if ip.version == 6 { header::IPV6 } else { header::IPV4 };
        info.headers |= if ip.fragment { header::FRAGMENT } else { 0 };
        info.layers_ok |= if ip.checksum_ok { layer::L3_OK } else { 0 };
    }
    if let Some(ports) = &headers.ports {
        info.headers |= match ports.l4 {
            L4::Udp => header::UDP,
            L4::Tcp { flags, .. } if flags & TCP_FLAG_ACK == 0 => header::TCP,
            L4::Tcp { has_data: false, .. } => header::TCP_ACK,
            L4::Tcp { has_data: true, .. } => header::TCP_ACK_DATA,
        };
        info.layers_ok |= if ports.checksum_ok { layer::L4_OK } else { 0 };
    }
    info
}
