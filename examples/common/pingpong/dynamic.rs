//! An initiator of dynamic connections, which sends, and a target, which receives, made by verbs.

use std::time::Duration;

use blueflame::Sge;
use blueflame::db::ExclusiveRegister;
use blueflame::transport::Dci;
use blueflame::types::{DcKey, WrId};
use blueflame::verbs::{AddressHandle, Dct, Endpoint, OwnedSrq, Path, ProtectionDomain, QueuePair};
use blueflame::wqe::{self, CompactAv, DcAddress};

use super::event_cq::EventCq;
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
    peer: Option<Peer>,
}

/// Where messages go, in the shortest form there is.
enum Peer {
    Near(DcAddress<CompactAv>),
    Far { to: DcAddress, _handle: AddressHandle },
}

impl Dynamic {
    /// Makes them.
    ///
    /// # Errors
    /// A device without dynamic connections, or a failed call.
    pub fn new(pd: &ProtectionDomain, path: &Path, options: &PingPongOptions) -> Result<Self, Failure> {
        let completed = EventCq::new(&pd.device(), options)?;
        let cq = completed.cq.handle();
        let srq = pd.shared_recv_queue(options.rx_depth, 1)?;
        let target = pd.target(cq, srq.handle()).build(path, KEY)?;
        // With an address of 48 bytes, a request takes two WQEBBs.
        let mut pair = pd.queue_pair::<Dci>(cq, cq).sends(2 * SENDS).build()?;
        pair.activate(path)?;
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

    unsafe fn send(&mut self, message: Sge, tag: WrId) -> Result<(), Failure> {
        let send = wqe::send().gather([message]).signaled(tag);
        // SAFETY: the caller's.
        unsafe {
            match &self.peer {
                Some(Peer::Near(near)) => self.pair.sq.post_unchecked(&send.to(*near))?,
                Some(Peer::Far { to, .. }) => self.pair.sq.post_unchecked(&send.to(*to))?,
                None => return Err("a message before the peer is known".into()),
            }
        }
        Ok(())
    }

    fn endpoint(&self, path: &Path) -> Endpoint {
        self.target.endpoint(path)
    }

    fn connect(&mut self, path: &Path, _local: &Endpoint, remote: &Endpoint) -> Result<(), Failure> {
        let handle = self.pd.address(&path.route(remote)?)?;
        self.peer = Some(match handle.compact() {
            Some(near) => Peer::Near(DcAddress::new(near, remote.qpn, KEY)),
            None => Peer::Far { to: handle.target(remote.qpn, KEY), _handle: handle },
        });
        Ok(())
    }

    fn wait_for_event(&self, timeout: Duration) -> Result<bool, Failure> {
        self.completed.wait(timeout)
    }
}
