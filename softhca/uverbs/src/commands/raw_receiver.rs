//! The receiving half of a QP for raw packets: a receive queue and the TIR to which flows send frames (mlx5_ib `qp.c`,
//! `create_raw_packet_qp`).

use crate::abi::mailbox::{creator, destroyer};
use crate::context::{CommandId, Context};
use crate::device::{Dispatch, FrameQueue, FrameQueueState, Hca, Origin, Source};
use crate::process::{Errno, lock};
use softhca::context::QpState;
use softhca::firmware::Uid;
use std::sync::{Arc, Mutex};

/// The half.
pub(crate) struct RawReceiver {
    pub(crate) rqn: u32,
    pub(crate) tirn: u32,
    user: Uid,
    state: Mutex<FrameQueueState>,
    /// Its parts that exist so far, by the command that destroys each.
    left: Mutex<Vec<(u16, u32)>>,
}

impl RawReceiver {
    /// Makes queue and TIR, whose CQEs may tell of the headers inside of tunnels; the queue's errors go to `events`.
    pub(crate) fn new(
        context: &Context,
        queue: &FrameQueue,
        tunnels: bool,
        events: &Arc<Source>,
    ) -> Result<Self, Errno> {
        let (hca, user) = (&context.hca, context.user());
        let transport_domain = context.transport_domain()?;
        let rqn = hca.create_frame_queue(user, queue)?;
        let tirn = hca.create_tir(user, transport_domain, &Dispatch::Queue(rqn), tunnels).inspect_err(|_| {
            if let Err(error) = hca.carry_out_on(user, destroyer::RQ, rqn) {
                log::warn!("RQ {rqn:#x} stays: {error:?}");
            }
        })?;
        hca.know(Origin::RawQueue(rqn), events);
        let left = Mutex::new(vec![(destroyer::RQ, rqn), (destroyer::TIR, tirn)]);
        Ok(Self { rqn, tirn, user, state: Mutex::new(FrameQueueState::Reset), left })
    }

    /// Follows the QP to its new state. In INIT it receives already.
    pub(crate) fn follow(&self, hca: &Hca, to: QpState) -> Result<(), Errno> {
        let mut state = lock(&self.state);
        let to = match to {
            QpState::Reset => FrameQueueState::Reset,
            QpState::Err => FrameQueueState::Error,
            QpState::Init if *state == FrameQueueState::Reset => FrameQueueState::Ready,
            _ => return Ok(()),
        };
        if *state != to {
            hca.modify_frame_queue(self.user, self.rqn, (*state, to), None)?;
            *state = to;
        }
        Ok(())
    }

    /// Destroys it, whose errors went to `events`: `EBUSY` while a flow leads to it.
    pub(crate) fn release(&self, hca: &Hca, events: &Arc<Source>) -> Result<(), Errno> {
        let mut left = lock(&self.left);
        while let Some(&(destroyer, number)) = left.last() {
            hca.carry_out_on(self.user, destroyer, number)?;
            left.pop();
        }
        hca.forget(Origin::RawQueue(self.rqn), events);
        Ok(())
    }

    /// Whether commands call a part of it `id`.
    pub(crate) fn is_named(&self, id: CommandId) -> bool {
        [(creator::RQ, self.rqn), (creator::TIR, self.tirn)].into_iter().any(|(c, n)| id == CommandId::new(c, n))
    }
}
