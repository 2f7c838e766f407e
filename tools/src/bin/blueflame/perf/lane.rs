//! A queue pair of a run with its completion queues and its memory.

use blueflame::memory_polling::InOrder;
use blueflame::queue::PostError;
use blueflame::transport::{PlainRecv, Transport};
use blueflame::types::{DcKey, Psn, Qkey, Srqn};
use blueflame::verbs::memory::POOL_ALIGN;
use blueflame::verbs::{
    Access, AddressHandle, Buffer, Dct, Endpoint, OwnedCq, OwnedSrq, Path, Pool, ProtectionDomain, QpBuilder,
    QueuePair, VerbsTransport, XrcTarget,
};
use blueflame::wqe::{DcAddress, UdAddress};
use blueflame::{Remote, Sge, WrId};
use common::Failure;
use common::pingpong::Receives;

use super::keys::{Keys, Sides};
use super::plan::Plan;
use super::work::{Message, Work};

/// perftest's Q_Key.
pub(super) const QKEY: Qkey = Qkey(0x1111_1111);
/// perftest's access key of dynamic connections.
const DC_KEY: DcKey = DcKey(0xffee_ddcc);
/// Completions of one poll.
const BURST: usize = 64;
/// Bytes in front of a datagram.
const HEADER: usize = blueflame::cq::cqe::Grh::BYTES;

/// The receiving queue pair, where it is not the one that sends.
enum Receiver {
    Dynamic(Dct),
    Extended(XrcTarget),
}

/// The receiving end of dynamic or extended reliable connections.
struct Target {
    receiver: Receiver,
    srq: OwnedSrq,
}

/// A queue pair that knows no peer. The memory goes last: it is registered longer than the queues live.
pub(super) struct Ends<T: VerbsTransport> {
    pub(super) pair: QueuePair<T>,
    sent: OwnedCq,
    received: OwnedCq,
    target: Option<Target>,
    /// Keeps the kernel's record of the peer's address.
    pub(super) handle: Option<AddressHandle>,
    /// The outgoing message, then room for incoming ones.
    memory: Buffer,
    /// Bytes of each part.
    part: usize,
}

/// Posts of a queue, its completions, and its receives.
pub(super) struct Lane<T: VerbsTransport, W> {
    ends: Ends<T>,
    work: W,
    size: usize,
    is_inline: bool,
    /// The bytes of an inline message.
    bytes: Vec<u8>,
    /// Messages posted, and those of them that are done.
    pub(super) posted: u64,
    pub(super) done: u64,
    pub(super) received: u64,
    /// Messages of sizes before that are not done: none of them has asked for a completion.
    before: u64,
    /// Messages since the last that asked for a completion, those of sizes before included.
    pub(super) unasked: u64,
}

impl<T: VerbsTransport> Ends<T> {
    /// Makes a queue pair in RESET; `geometry` adds its receives.
    ///
    /// # Errors
    /// A failed call.
    pub(super) fn new(
        pd: &ProtectionDomain,
        plan: &Plan,
        page: usize,
        geometry: impl for<'a> FnOnce(QpBuilder<'a, T>) -> QpBuilder<'a, T>,
    ) -> Result<Self, Failure> {
        let device = pd.device();
        let part = plan.largest().max(page) + HEADER;
        let memory = Pool::new(pd, 2 * part + 2 * POOL_ALIGN, Access::ALL)?.take(2 * part)?;
        // A request with an address of 48 bytes and inline data takes several WQEBBs.
        let sends = (4 * plan.tx_depth).max(64);
        let sent = device.completion_queue(plan.tx_depth.max(16)).build()?;
        // Of these WQEBBs, no more than `tx_depth` requests use any.
        sent.handle().oversubscribe();
        let received = device.completion_queue(plan.rx_depth.max(16)).build()?;
        let builder = pd.queue_pair::<T>(&sent, &received).sends(sends).inline(plan.inline.try_into()?);
        let pair = geometry(builder).build()?;
        Ok(Self { pair, sent, received, target: None, handle: None, memory, part })
    }

    /// Adds a target of dynamic connections.
    ///
    /// # Errors
    /// A failed call.
    pub(super) fn with_target(mut self, pd: &ProtectionDomain, path: &Path, depth: u32) -> Result<Self, Failure> {
        let srq = pd.shared_recv_queue(depth, 1)?;
        let dct = pd.target(&self.received, srq.handle()).build(path, DC_KEY)?;
        self.target = Some(Target { receiver: Receiver::Dynamic(dct), srq });
        Ok(self)
    }

    /// Adds a target of XRC in INIT, in a domain of its own.
    ///
    /// # Errors
    /// A failed call.
    pub(super) fn with_xrc_target(mut self, pd: &ProtectionDomain, path: &Path, depth: u32) -> Result<Self, Failure> {
        let domain = pd.device().xrc_domain()?;
        let srq = pd.xrc_shared_recv_queue(&domain, self.received.handle(), depth, 1)?;
        let target = domain.target()?;
        target.qp().to_init(path)?;
        self.target = Some(Target { receiver: Receiver::Extended(target), srq });
        Ok(self)
    }

    /// The target of XRC.
    pub(super) const fn xrc_target(&self) -> Option<&XrcTarget> {
        match &self.target {
            Some(Target { receiver: Receiver::Extended(target), .. }) => Some(target),
            _ => None,
        }
    }

    /// The keys for the peer.
    pub(super) fn keys(&self, path: &Path) -> Sides {
        let Remote { addr, rkey } = self.memory.remote();
        let memory = Remote { addr: addr + self.part as u64, rkey };
        let keys = |endpoint: Endpoint, srqn| {
            let endpoint = Endpoint { psn: Psn::random(), ..endpoint };
            Keys { endpoint, memory, out_reads: path.max_dest_rd_atomic, srqn }
        };
        let Some(Target { receiver, srq }) = &self.target else {
            return Sides::one(keys(self.pair.qp.endpoint(path), Srqn::truncate(0)));
        };
        let srqn = srq.handle().srqn();
        let receives = match receiver {
            Receiver::Dynamic(dct) => dct.endpoint(path),
            Receiver::Extended(target) => target.endpoint(path),
        };
        Sides { sends: keys(self.pair.qp.endpoint(path), srqn), receives: keys(receives, srqn) }
    }

    /// The address of the peer's datagram queue pair.
    ///
    /// # Errors
    /// A failed call.
    pub(super) fn datagrams_to(&mut self, pd: &ProtectionDomain, path: &Path, to: &Keys) -> Result<UdAddress, Failure> {
        let handle = pd.address(&path.route(&to.endpoint)?)?;
        let address = handle.queue_pair(to.endpoint.qpn, QKEY);
        self.handle = Some(handle);
        Ok(address)
    }

    /// The address of the peer's target.
    ///
    /// # Errors
    /// A failed call.
    pub(super) fn target_at(&mut self, pd: &ProtectionDomain, path: &Path, to: &Keys) -> Result<DcAddress, Failure> {
        let handle = pd.address(&path.route(&to.endpoint)?)?;
        let address = handle.target(to.endpoint.qpn, DC_KEY);
        self.handle = Some(handle);
        Ok(address)
    }
}

impl<T: VerbsTransport + Transport<RecvForm = PlainRecv>> Ends<T> {
    /// Posts `count` receives for messages of any size, all into one place in memory: nothing reads the messages.
    ///
    /// # Errors
    /// The queue has no room.
    #[inline]
    pub(super) fn post_receives(&mut self, count: usize) -> Result<(), Failure> {
        let Self { pair, target, memory, part, .. } = self;
        let place: [Sge; 1] = [memory.sge_of(*part..2 * *part)];
        match target {
            Some(Target { srq, .. }) => {
                let mut batch = srq.batch();
                for _ in 0..count {
                    // SAFETY: the memory lives longer than the queues, and nothing reads it.
                    unsafe { batch.push_unchecked(WrId(0), &place)? };
                }
                batch.ring_doorbell();
            }
            None => {
                let rq = &mut pair.rq;
                let mut batch = rq.batch();
                for _ in 0..count {
                    // SAFETY: the memory lives longer than the queues, and nothing reads it.
                    unsafe { batch.push_unchecked(WrId(0), &place)? };
                }
                batch.ring_doorbell();
            }
        }
        Ok(())
    }
}

impl<T: VerbsTransport + Transport<RecvForm = PlainRecv>, W: Work<T>> Lane<T, W> {
    pub(super) fn new(ends: Ends<T>, work: W) -> Self {
        Self {
            ends,
            work,
            size: 0,
            is_inline: false,
            bytes: Vec::new(),
            posted: 0,
            done: 0,
            received: 0,
            before: 0,
            unasked: 0,
        }
    }

    /// Prepares for messages of a size. Sizes grow from run to run, so that the place of the mark is still clear. It
    /// must not be cleared here: perftest writes the first message of a size without asking.
    pub(super) fn begin(&mut self, size: usize, inline: usize) {
        (self.size, self.is_inline) = (size, size <= inline);
        self.bytes = vec![0; size];
        self.before = self.outstanding();
        (self.posted, self.done, self.received) = (0, 0, 0);
    }

    /// Messages on their way.
    pub(super) const fn outstanding(&self) -> u64 {
        self.before + self.posted - self.done
    }

    /// Posts `count` messages by one doorbell. Those whose number `signaled` picks ask for a completion.
    ///
    /// # Errors
    /// The queue has no room.
    #[inline]
    pub(super) fn post(&mut self, count: u64, signaled: impl Fn(u64) -> bool) -> Result<(), PostError> {
        let Self { ends, work, size, is_inline, bytes, posted, unasked, .. } = self;
        let place = ends.memory.sge_of(0..*size);
        let message = Message { inline: is_inline.then_some(bytes.as_slice()), place };
        let mut batch = ends.pair.sq.batch();
        for _ in 0..count {
            *posted += 1;
            let is_signaled = signaled(*posted);
            *unasked = if is_signaled { 0 } else { *unasked + 1 };
            // SAFETY: the memory lives longer than the queue. It may change while the device reads it: nothing looks
            // at the bytes, but at the mark, which the peer has seen before it changes.
            unsafe { work.push(&mut batch, message, is_signaled, WrId(*posted))? };
        }
        batch.ring_doorbell();
        Ok(())
    }

    /// Gives the message its mark, the last byte.
    #[inline]
    pub(super) fn mark(&mut self, mark: u8) {
        let last = self.size - 1;
        if self.is_inline {
            self.bytes[last] = mark;
        } else {
            // SAFETY: inside the memory. The device has read the last message, for the peer has answered it.
            unsafe { self.ends.memory.as_ptr().add(last).write_volatile(mark) };
        }
    }

    /// Whether a message with this mark has come to the memory.
    #[inline]
    pub(super) fn has_mark(&self, mark: u8) -> bool {
        let start = self.ends.part;
        // Nothing looks at the bytes before the mark.
        self.ends.memory.polled(start..start + self.size, InOrder::assumed()).arrived(mark)
    }

    /// Takes completions of sends; `done` gets the number of the message, and those before it are done as well.
    ///
    /// # Errors
    /// A completion with an error.
    #[inline]
    pub(super) fn poll_sent(&mut self, mut each: impl FnMut(u64)) -> Result<usize, Failure> {
        let Self { ends: Ends { pair, sent, .. }, done, before, .. } = self;
        sent.try_poll_with(BURST, |cqe| {
            (*done, *before) = (pair.sq.complete(&cqe)?.wr_id.0, 0);
            each(*done);
            Ok::<_, Failure>(())
        })
    }

    /// Takes completions of receives, and posts as many again; how many there were.
    ///
    /// # Errors
    /// A completion with an error.
    #[inline]
    pub(super) fn poll_received(&mut self) -> Result<usize, Failure> {
        let Ends { pair, received, target, .. } = &mut self.ends;
        let count = received.try_poll_with(BURST, |cqe| {
            let receives = match target {
                Some(target) => Receives::Shared(&mut target.srq),
                None => Receives::Own(&mut pair.rq),
            };
            // SAFETY: the completion queue has receives of this queue alone, each once.
            unsafe { receives.complete(&cqe)? };
            Ok::<_, Failure>(())
        })?;
        self.received += count as u64;
        if count > 0 {
            self.ends.post_receives(count)?;
        }
        Ok(count)
    }
}
