//! A queue pair of datagrams, made by verbs.

use std::time::Duration;

use blueflame::Sge;
use blueflame::cq::cqe::Grh;
use blueflame::db::ExclusiveRegister;
use blueflame::transport::Ud;
use blueflame::types::{Qkey, WrId};
use blueflame::verbs::{Endpoint, Path, ProtectionDomain, QueuePair};
use blueflame::wqe::UdAddress;
use blueflame::wqe::address::CompactAv;

use super::event_cq::EventCq;
use super::peer::Peer;
use super::{Parts, PingPongOptions, Queues, Receives, SENDS};
use crate::Failure;

/// The Q_Key of `ibv_ud_pingpong`.
const QKEY: Qkey = Qkey(0x1111_1111);

/// A queue pair in RTS, and where its peer is.
pub struct Datagrams {
    completed: EventCq,
    pair: QueuePair<Ud>,
    pd: ProtectionDomain,
    peer: Option<Peer<UdAddress<CompactAv>, UdAddress>>,
}

impl Datagrams {
    /// Makes them.
    ///
    /// # Errors
    /// A message that is longer than a datagram can be, or a failed call.
    pub fn new(pd: &ProtectionDomain, path: &Path, options: &PingPongOptions) -> Result<Self, Failure> {
        let longest = path.port.active_mtu.bytes();
        if options.size > longest {
            return Err(format!("a datagram of this port has {longest} bytes at most: choose another --size").into());
        }
        let completed = EventCq::new(&pd.device(), options)?;
        let cq = &completed.cq;
        // ANCHOR: make
        // With an address of 48 bytes, a request takes two WQEBBs.
        let mut pair = pd.queue_pair::<Ud>(cq, cq).sends(2 * SENDS).receives(options.rx_depth).build()?;
        pair.activate(path, QKEY)?;
        // ANCHOR_END: make
        Ok(Self { completed, pair, pd: pd.clone(), peer: None })
    }
}

impl Queues for Datagrams {
    type Transport = Ud;
    type Register = ExclusiveRegister;
    const HEADER: usize = Grh::BYTES;
    const MADE_BY: &'static str = "verbs";

    fn parts(&mut self) -> Parts<'_, Ud, ExclusiveRegister> {
        let rq = &mut self.pair.rq;
        Parts { cq: &mut self.completed.cq, sq: &mut self.pair.sq, rq: Receives::Own(rq) }
    }

    unsafe fn send(&mut self, message: Sge, wr_id: WrId) -> Result<(), Failure> {
        let peer = self.peer.as_ref().ok_or("a message before the peer is known")?;
        // SAFETY: the caller promises that the memory stays registered and unchanged until it has completed.
        unsafe { peer.send(&mut self.pair.sq, message, wr_id) }
    }

    fn endpoint(&self, path: &Path) -> Endpoint {
        self.pair.qp.endpoint(path)
    }

    fn connect(&mut self, path: &Path, _local: &Endpoint, remote: &Endpoint) -> Result<(), Failure> {
        // ANCHOR: address
        self.peer = Some(Peer::new(
            &self.pd,
            path,
            remote,
            |vector, qpn| UdAddress::new(vector, qpn, QKEY),
            |handle, qpn| handle.queue_pair(qpn, QKEY),
        )?);
        // ANCHOR_END: address
        Ok(())
    }

    fn wait_for_event(&self, timeout: Duration) -> Result<bool, Failure> {
        self.completed.wait(timeout)
    }
}
