//! An initiator of dynamic connections, which sends, and a target, which receives, made by verbs.

use std::time::Duration;

use blueflame::Sge;
use blueflame::db::ExclusiveRegister;
use blueflame::transport::Dci;
use blueflame::types::{DcKey, WrId};
use blueflame::verbs::{Dct, Endpoint, OwnedSrq, Path, ProtectionDomain, QueuePair};
use blueflame::wqe::DcAddress;
use blueflame::wqe::address::CompactAv;

use super::event_cq::EventCq;
use super::peer::Peer;
use super::{Parts, PingPongOptions, Queues, Receives, SENDS};
use crate::Failure;

/// The access key of both sides' targets.
const KEY: DcKey = DcKey(0x626c_7565_666c_616d);

/// An initiator in RTS, a target, and where the peer's is.
pub struct Dynamic {
    completed: EventCq,
    pair: QueuePair<Dci>,
    target: Dct,
    srq: OwnedSrq,
    pd: ProtectionDomain,
    peer: Option<Peer<DcAddress<CompactAv>, DcAddress>>,
}

impl Dynamic {
    /// Makes them.
    ///
    /// # Errors
    /// A device without dynamic connections, or a failed call.
    pub fn new(pd: &ProtectionDomain, path: &Path, options: &PingPongOptions) -> Result<Self, Failure> {
        let completed = EventCq::new(&pd.device(), options)?;
        let cq = &completed.cq;
        // ANCHOR: make
        let srq = pd.shared_recv_queue(options.rx_depth, 1)?;
        let target = pd.target(cq, srq.handle()).build(path, KEY)?;
        // With an address of 48 bytes, a request takes two WQEBBs.
        let mut pair = pd.queue_pair::<Dci>(cq, cq).sends(2 * SENDS).build()?;
        pair.activate(path)?;
        // ANCHOR_END: make
        Ok(Self { completed, pair, target, srq, pd: pd.clone(), peer: None })
    }
}

impl Queues for Dynamic {
    type Transport = Dci;
    type Register = ExclusiveRegister;
    const MADE_BY: &'static str = "verbs";

    fn parts(&mut self) -> Parts<'_, Dci, ExclusiveRegister> {
        Parts { cq: &mut self.completed.cq, sq: &mut self.pair.sq, rq: Receives::Shared(&mut self.srq) }
    }

    unsafe fn send(&mut self, message: Sge, wr_id: WrId) -> Result<(), Failure> {
        let peer = self.peer.as_ref().ok_or("a message before the peer is known")?;
        // SAFETY: the caller promises that the memory stays registered and unchanged until it has completed.
        unsafe { peer.send(&mut self.pair.sq, message, wr_id) }
    }

    fn endpoint(&self, path: &Path) -> Endpoint {
        self.target.endpoint(path)
    }

    fn connect(&mut self, path: &Path, _local: &Endpoint, remote: &Endpoint) -> Result<(), Failure> {
        // ANCHOR: address
        self.peer = Some(Peer::new(
            &self.pd,
            path,
            remote,
            |vector, dctn| DcAddress::new(vector, dctn, KEY),
            |handle, dctn| handle.target(dctn, KEY),
        )?);
        // ANCHOR_END: address
        Ok(())
    }

    fn wait_for_event(&self, timeout: Duration) -> Result<bool, Failure> {
        self.completed.wait(timeout)
    }
}
