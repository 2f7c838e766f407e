//! Requests from one end to the other, with a model of what must have happened once they have completed.

use std::collections::{HashMap, VecDeque};

use blueflame::cq::{CqeError, CqeFormat, CqeOpcode, CqeView, Side, Source, WcOpcode};
use blueflame::queue::PostError;
use blueflame::types::Rkey;
use blueflame::wqe::Fence;
use softhca::embedded::{Buffer, ConnectOptions, EmbeddedDevice, connect};

use super::request::{Data, Kind, Service, Wr};
use super::{End, Shape, remote, sge, wait_for_timer};

/// The longest message, in bytes.
pub(crate) const MAX_MESSAGE: usize = 1500;
/// Bytes of the peer's memory that WRITEs, READs and atomics work on.
pub(crate) const WINDOW: usize = 4096;
/// Bytes behind each destination that must stay as they were.
const GUARD: usize = 16;
const SLOT: usize = MAX_MESSAGE + GUARD;
const FILL: u8 = 0xee;
const SOURCE: usize = 1 << 15;
/// Rounds without an end after which a test gives up.
const MAX_ROUNDS: usize = 1 << 16;

/// How the bytes of a message are given.
#[derive(Clone, Debug)]
pub(crate) enum Carry {
    Inline(usize),
    /// In pieces of these lengths; 0 is permitted.
    Gather(Vec<usize>),
}

impl Carry {
    fn len(&self) -> usize {
        match self {
            Self::Inline(len) => *len,
            Self::Gather(lens) => lens.iter().sum(),
        }
    }
}

/// What accompanies a SEND.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tail {
    None,
    Imm(u32),
    /// A key, made for the purpose, that is to be invalidated.
    Invalidate,
}

/// One request of the model. Places are in bytes from the window's start, those of atomics in words of 8 bytes; they are
/// taken modulo what fits.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Nop,
    Send(Carry, Tail),
    Write(usize, Carry, Option<u32>),
    Read(usize, Vec<usize>),
    /// Word, whether the comparison is to succeed (unless the batch changes the word before), new value.
    CompareSwap(usize, bool, u64),
    FetchAdd(usize, u64),
}

/// A request posted and not known to be complete.
struct Posted {
    id: u64,
    signaled: bool,
    opcode: WcOpcode,
    /// What its slot of `landing` must hold.
    lands: Option<(usize, Vec<u8>)>,
}

/// A message that the peer must receive.
struct Arrival {
    opcode: CqeOpcode,
    /// Empty for WRITE with immediate data, whose bytes are in the window.
    bytes: Vec<u8>,
    byte_len: usize,
    imm: Option<u32>,
    invalidates: Option<u32>,
}

/// What a completion said, copied out of the queue.
struct Done {
    side: Side,
    opcode: CqeOpcode,
    wc_opcode: WcOpcode,
    wqe_counter: u16,
    byte_len: usize,
    imm: Option<u32>,
    invalidated: Option<u32>,
    /// Data that came in the CQE.
    inline: Option<Vec<u8>>,
}

impl Done {
    fn new<S: Source>(cqe: &CqeView<S>) -> Self {
        let (side, in_cqe) = match cqe.check() {
            Ok(side) => (side, false),
            Err(CqeError::DataInCqe { side, .. }) => (side, true),
            Err(error) => panic!("{error}"),
        };
        assert_eq!(in_cqe, cqe.format() != CqeFormat::Plain);
        let inline = in_cqe.then(|| {
            let mut bytes = vec![0; 64];
            let len = cqe.copy_inline(&mut bytes).expect("data in the CQE");
            bytes.truncate(len);
            bytes
        });
        Self {
            side,
            opcode: cqe.opcode(),
            wc_opcode: cqe.wc_opcode(),
            wqe_counter: cqe.wqe_counter(),
            byte_len: cqe.byte_len() as usize,
            imm: cqe.imm(),
            invalidated: cqe.invalidated_rkey().map(|key| key.0),
            inline,
        }
    }
}

/// What happened so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) posted: u64,
    pub(crate) completed: u64,
    pub(crate) arrived: u64,
    pub(crate) in_cqe: u64,
    pub(crate) doorbells: u64,
}

/// Two connected ends; the near one posts, the far one receives.
pub(crate) struct Traffic<T: Service> {
    // Queues before the devices, whose memory they use.
    near: End<T>,
    far: End<T>,
    pub(crate) near_hca: EmbeddedDevice,
    pub(crate) far_hca: EmbeddedDevice,
    source: Buffer,
    landing: Buffer,
    window: Buffer,
    mailbox: Buffer,
    source_bytes: Vec<u8>,
    window_bytes: Vec<u8>,
    posted: VecDeque<Posted>,
    arrivals: VecDeque<Arrival>,
    /// Slots of the mailbox that are posted, by tag.
    receives: HashMap<u64, usize>,
    free_slots: Vec<usize>,
    next_id: u64,
    pub(crate) counts: Counts,
}

impl<T: Service> Traffic<T> {
    /// Two devices connected by nothing but memory.
    pub(crate) fn new(shape: &Shape, path_mtu: u32) -> Self {
        let devices = EmbeddedDevice::pair().expect("two devices");
        Self::on(devices, shape, path_mtu)
    }

    pub(crate) fn on((mut a, mut b): (EmbeddedDevice, EmbeddedDevice), shape: &Shape, path_mtu: u32) -> Self {
        let (near, far) = (End::<T>::new(&mut a, shape), End::<T>::new(&mut b, shape));
        // PSNs that wrap soon, short timers so that losses cost little virtual time.
        let options = ConnectOptions { path_mtu, psn: 0xff_fff0, timeout: 8, min_rnr_timer: 1, ..Default::default() };
        connect((&mut a, near.qpn), (&mut b, far.qpn), &options).expect("a connection");
        let source_bytes: Vec<u8> = (0..SOURCE as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        let mut source = a.buffer(SOURCE).expect("memory");
        source.write(0, &source_bytes);
        let landing = a.buffer(SLOT * shape.sq_wqebbs as usize).expect("memory");
        let window = b.buffer(WINDOW).expect("memory");
        let receives = far.rq.capacity() as usize;
        let mailbox = b.buffer(SLOT * receives).expect("memory");
        let mut traffic = Self {
            near,
            far,
            near_hca: a,
            far_hca: b,
            source,
            landing,
            window,
            mailbox,
            source_bytes,
            window_bytes: vec![0; WINDOW],
            posted: VecDeque::new(),
            arrivals: VecDeque::new(),
            receives: HashMap::new(),
            free_slots: (0..receives).collect(),
            next_id: 0x1000_0000_0000,
            counts: Counts::default(),
        };
        traffic.post_receives();
        traffic
    }

    /// Posts `op` with a doorbell of its own, waiting for room if there is none.
    pub(crate) fn post(&mut self, op: &Op, signaled: bool) {
        let wr = self.request(op, signaled);
        loop {
            // SAFETY: source and landing belong to the device, which outlives the queue; neither is written, or read, by this
            // side while the request is outstanding.
            match unsafe { T::put(&mut self.near.sq, &wr) } {
                Ok(()) => break,
                Err(PostError::Full { .. }) => self.make_room(&wr),
                Err(error) => panic!("{wr:?}: {error}"),
            }
        }
        self.ring();
        self.record(op, &wr);
    }

    /// Posts `op` on a queue that signals everything, without asking for a completion; there must be one.
    pub(crate) fn post_unsignaled(&mut self, op: &Op) {
        self.post(op, false);
        self.posted.back_mut().expect("what was just posted").signaled = true;
    }

    /// Posts `ops` in batches, as large as there is room, each with one doorbell. `signal` says of each whether it asks for a
    /// completion.
    pub(crate) fn post_batches(&mut self, ops: &[(Op, bool)]) {
        let mut rest = ops;
        while !rest.is_empty() {
            let id = self.next_id;
            let wrs: Vec<_> = rest.iter().map(|(op, signaled)| self.request(op, *signaled)).collect();
            // Those that are not put now get the same tags again.
            self.next_id = id;
            let mut batch = self.near.sq.batch();
            let mut pushed = 0;
            for wr in &wrs {
                // SAFETY: as in `post`.
                match unsafe { T::put(&mut batch, wr) } {
                    Ok(()) => pushed += 1,
                    Err(PostError::Full { .. }) => break,
                    Err(error) => panic!("{wr:?}: {error}"),
                }
            }
            if pushed == 0 {
                drop(batch);
                self.make_room(&wrs[0]);
                continue;
            }
            batch.ring_doorbell();
            self.ring();
            for ((op, _), wr) in rest.iter().zip(&wrs).take(pushed) {
                self.next_id += 1;
                self.record(op, wr);
            }
            rest = &rest[pushed..];
        }
    }

    /// A doorbell was rung: lets the device look, as one would that sees the store.
    fn ring(&mut self) {
        self.counts.doorbells += 1;
        assert!(self.near_hca.step(), "the device saw no doorbell");
    }

    fn make_room(&mut self, wr: &Wr) {
        let signaled = self.posted.iter().any(|posted| posted.signaled);
        assert!(signaled, "no room for {wr:?}, and nothing will complete");
        let before = self.counts.completed;
        for _ in 0..MAX_ROUNDS {
            self.round();
            if self.counts.completed != before {
                return;
            }
        }
        panic!("nothing completes: {:?}", self.counts);
    }

    /// Lets everything posted arrive and complete, and looks at everything. Requests behind the last signalled one are taken
    /// for complete when the devices have nothing left to do.
    pub(crate) fn settle(&mut self) {
        let mut rounds = 0;
        while self.round() {
            rounds += 1;
            assert!(rounds < MAX_ROUNDS, "no end: {:?}", self.counts);
        }
        assert!(!self.posted.iter().any(|posted| posted.signaled), "a completion is missing: {:?}", self.counts);
        assert!(self.arrivals.is_empty(), "{} messages did not arrive: {:?}", self.arrivals.len(), self.counts);
        assert!(self.window.to_vec(0, WINDOW) == self.window_bytes, "the window differs: {:?}", self.counts);
        assert_eq!(self.near_hca.complaints(), []);
        assert_eq!(self.far_hca.complaints(), []);
    }

    /// Settles, and checks that nothing is left over in any queue.
    pub(crate) fn finish(mut self) -> Counts {
        self.post(&Op::Nop, true);
        self.settle();
        assert!(self.posted.is_empty());
        assert_eq!(self.near.sq.free(), self.near.sq.capacity());
        assert_eq!(self.near.rq.posted(), 0);
        assert_eq!(self.far.rq.posted() as usize, self.receives.len());
        assert_eq!((self.near.cq.poll_with(64, |_| ()), self.far.cq.poll_with(64, |_| ())), (0, 0));
        assert_eq!((self.near_hca.next_event(), self.far_hca.next_event()), (None, None));
        self.counts
    }

    /// One step of everything; false if there is nothing left to do.
    fn round(&mut self) -> bool {
        let stepped = self.near_hca.step() | self.far_hca.step();
        let polled = self.poll();
        self.post_receives();
        stepped || polled || wait_for_timer(&mut [&mut self.near_hca, &mut self.far_hca])
    }

    /// Polls both ends, by `poll_with` and by `poll` in turn.
    fn poll(&mut self) -> bool {
        let (mut near, mut far) = (Vec::new(), Vec::new());
        for (end, dones) in [(&mut self.near, &mut near), (&mut self.far, &mut far)] {
            if self.counts.completed.is_multiple_of(2) || end.cq.capacity() == 1 {
                end.cq.poll_with(3, |cqe| dones.push(Done::new(&cqe)));
            } else {
                // What `poll` copies lacks the first half of a 128-byte CQE, so it is taken by `poll_with` from there.
                end.cq.poll_with(1, |cqe| {
                    dones.push(match cqe.format() {
                        CqeFormat::Inline64 => Done::new(&cqe),
                        _ => Done::new(&cqe.copy()),
                    });
                });
            }
        }
        let any = !near.is_empty() || !far.is_empty();
        for done in near {
            self.completed(&done);
        }
        for done in far {
            self.arrived(&done);
        }
        any
    }

    /// A completion at the near end: everything up to that request is done, and was not before.
    fn completed(&mut self, done: &Done) {
        assert_eq!((done.side, done.opcode), (Side::Requester, CqeOpcode::Req));
        // SAFETY: of a completion of this queue, given here once.
        let retired = unsafe { self.near.sq.retire_index(done.wqe_counter) }.expect("an outstanding request");
        self.counts.completed += 1;
        self.counts.in_cqe += u64::from(done.inline.is_some());
        loop {
            let posted = self.posted.pop_front().expect("a request that was posted and has not completed");
            let last = posted.id == retired.wr_id.0;
            assert!(last || !posted.signaled, "the completion of request {:#x} is missing", posted.id);
            if last {
                assert!(posted.signaled, "request {:#x} asked for no completion", posted.id);
                assert_eq!(done.wc_opcode, posted.opcode);
            }
            if let Some((slot, bytes)) = &posted.lands {
                match &done.inline {
                    Some(inline) if last => assert!(inline == bytes, "result in the CQE of {:#x}", posted.id),
                    _ => self.check_slot(&self.landing, *slot, bytes),
                }
                if last {
                    assert_eq!(done.byte_len, bytes.len());
                }
            }
            if last {
                break;
            }
        }
    }

    /// A completion at the far end: the next message.
    fn arrived(&mut self, done: &Done) {
        assert_eq!(done.side, Side::Responder);
        let tag = self.far.rq.retire_index(done.wqe_counter);
        let slot = self.receives.remove(&tag).expect("a receive that was posted and has not completed");
        let expected = self.arrivals.pop_front().expect("a message that was sent and has not arrived");
        let Arrival { opcode, bytes, byte_len, imm, invalidates } = expected;
        assert_eq!(
            (done.opcode, done.byte_len, done.imm, done.invalidated),
            (opcode, byte_len, imm, invalidates),
            "message {}",
            self.counts.arrived
        );
        match &done.inline {
            Some(inline) => {
                assert!(*inline == bytes, "message in the CQE");
                self.check_slot(&self.mailbox, slot, &[]);
                self.counts.in_cqe += 1;
            }
            None => self.check_slot(&self.mailbox, slot, &bytes),
        }
        if let Some(key) = invalidates {
            assert_eq!(self.far_hca.device().mkey(key).map(|mkey| mkey.len), Some(0), "the key is still good");
        }
        self.free_slots.push(slot);
        self.counts.arrived += 1;
    }

    /// A slot holds `bytes`, and behind them what it was filled with.
    fn check_slot(&self, buffer: &Buffer, slot: usize, bytes: &[u8]) {
        let found = buffer.to_vec(slot * SLOT, bytes.len() + GUARD);
        assert!(found[..bytes.len()] == *bytes, "wrong bytes: {:?}", self.counts);
        assert!(found[bytes.len()..].iter().all(|&byte| byte == FILL), "bytes past the end: {:?}", self.counts);
    }

    /// Posts every free slot, in uneven pieces.
    fn post_receives(&mut self) {
        while self.far.rq.posted() < self.far.rq.capacity() {
            let slot = self.free_slots.pop().expect("a slot for each receive");
            let tag = 0x2000_0000_0000 + self.next_id * 64 + slot as u64;
            self.mailbox.write(slot * SLOT, &[FILL; SLOT]);
            let first = self.next_id as usize % 40;
            let cuts = [0, first, first, first + 1, MAX_MESSAGE];
            let sges: Vec<_> =
                cuts.windows(2).map(|cut| sge(&self.mailbox, slot * SLOT + cut[0], cut[1] - cut[0])).collect();
            // SAFETY: the mailbox belongs to the device, which outlives the queue; the slot is looked at when it has completed.
            unsafe { self.far.rq.post(tag, &sges) }.expect("room for a receive");
            assert_eq!(self.receives.insert(tag, slot), None);
        }
    }

    /// The request that asks for `op`.
    fn request(&mut self, op: &Op, signaled: bool) -> Wr {
        let id = self.next_id;
        self.next_id += 1;
        let at = (id as usize * 131) % (SOURCE - MAX_MESSAGE);
        let data = |carry: &Carry| match carry {
            Carry::Inline(len) => Data::Inline(self.source_bytes[at..at + len].to_vec()),
            Carry::Gather(lens) => {
                let mut at = at;
                let piece = |&len: &usize| {
                    at += len;
                    sge(&self.source, at - len, len)
                };
                Data::Sges(lens.iter().map(piece).collect())
            }
        };
        let landing = |lens: &[usize]| {
            let mut at = self.landing_slot(id) * SLOT;
            let piece = |&len: &usize| {
                at += len;
                sge(&self.landing, at - len, len)
            };
            Data::Sges(lens.iter().map(piece).collect())
        };
        let (kind, data) = match op {
            Op::Nop => (Kind::Nop, Data::Sges(Vec::new())),
            Op::Send(carry, Tail::None) => (Kind::Send, data(carry)),
            Op::Send(carry, Tail::Imm(imm)) => (Kind::SendImm(*imm), data(carry)),
            Op::Send(carry, Tail::Invalidate) => {
                let key = self.far_hca.buffer(64).expect("a key to invalidate").rkey();
                (Kind::SendInval(Rkey(key)), data(carry))
            }
            Op::Write(place, carry, None) => (Kind::Write(self.place(*place, carry.len())), data(carry)),
            Op::Write(place, carry, Some(imm)) => (Kind::WriteImm(self.place(*place, carry.len()), *imm), data(carry)),
            Op::Read(place, lens) => (Kind::Read(self.place(*place, lens.iter().sum())), landing(lens)),
            Op::CompareSwap(word, hit, swap) => {
                let found = self.word(*word);
                let compare = if *hit { found } else { !found };
                (Kind::CompareSwap(remote(&self.window, word_place(*word)), compare, *swap), landing(&[8]))
            }
            Op::FetchAdd(word, add) => (Kind::FetchAdd(remote(&self.window, word_place(*word)), *add), landing(&[8])),
        };
        // Changes of the window wait for READs of it: a READ that is repeated after a loss would see them.
        let changes = matches!(op, Op::Write(..) | Op::CompareSwap(..) | Op::FetchAdd(..));
        let fence = if changes { Fence::SmallAndReads } else { Fence::None };
        Wr { kind, data, id, signaled, solicited: id.is_multiple_of(3), fence }
    }

    /// Notes what `op`, which has been posted as `wr`, must bring about.
    fn record(&mut self, op: &Op, wr: &Wr) {
        let at = (wr.id as usize * 131) % (SOURCE - MAX_MESSAGE);
        let (mut lands, mut opcode) = (None, WcOpcode::Send);
        let slot = self.landing_slot(wr.id);
        match op {
            Op::Nop => opcode = WcOpcode::Local(0),
            Op::Send(carry, tail) => {
                let (opcode, imm, invalidates) = match (tail, wr.kind) {
                    (Tail::Imm(imm), _) => (CqeOpcode::RespSendImm, Some(*imm), None),
                    (_, Kind::SendInval(key)) => (CqeOpcode::RespSendInv, None, Some(key.0)),
                    _ => (CqeOpcode::RespSend, None, None),
                };
                let bytes = self.source_bytes[at..at + carry.len()].to_vec();
                self.arrivals.push_back(Arrival { opcode, byte_len: bytes.len(), bytes, imm, invalidates });
            }
            Op::Write(place, carry, imm) => {
                opcode = WcOpcode::RdmaWrite;
                let (len, place) = (carry.len(), place % (WINDOW - MAX_MESSAGE));
                self.window_bytes[place..place + len].copy_from_slice(&self.source_bytes[at..at + len]);
                if imm.is_some() {
                    let opcode = CqeOpcode::RespWrImm;
                    let (bytes, invalidates) = (Vec::new(), None);
                    self.arrivals.push_back(Arrival { opcode, bytes, byte_len: len, imm: *imm, invalidates });
                }
            }
            Op::Read(place, lens) => {
                opcode = WcOpcode::RdmaRead;
                let place = place % (WINDOW - MAX_MESSAGE);
                lands = Some((slot, self.window_bytes[place..place + lens.iter().sum::<usize>()].to_vec()));
            }
            Op::CompareSwap(word, _, swap) => {
                opcode = WcOpcode::CompSwap;
                let found = self.word(*word);
                lands = Some((slot, found.to_ne_bytes().to_vec()));
                // An earlier request of the same batch may have changed the word that `request` saw.
                if matches!(wr.kind, Kind::CompareSwap(_, compare, _) if compare == found) {
                    self.set_word(*word, *swap);
                }
            }
            Op::FetchAdd(word, add) => {
                opcode = WcOpcode::FetchAdd;
                let found = self.word(*word);
                lands = Some((slot, found.to_ne_bytes().to_vec()));
                self.set_word(*word, found.wrapping_add(*add));
            }
        }
        if lands.is_some() {
            self.landing.write(slot * SLOT, &[FILL; SLOT]);
        }
        let signaled = wr.signaled;
        self.posted.push_back(Posted { id: wr.id, signaled, opcode, lands });
        self.counts.posted += 1;
    }

    fn landing_slot(&self, id: u64) -> usize {
        id as usize % (self.landing.len() / SLOT)
    }

    fn place(&self, place: usize, len: usize) -> blueflame::wqe::Remote {
        assert!(len <= MAX_MESSAGE);
        remote(&self.window, place % (WINDOW - MAX_MESSAGE))
    }

    fn word(&self, word: usize) -> u64 {
        let at = word_place(word);
        u64::from_ne_bytes(self.window_bytes[at..at + 8].try_into().expect("8 bytes"))
    }

    fn set_word(&mut self, word: usize, value: u64) {
        let at = word_place(word);
        self.window_bytes[at..at + 8].copy_from_slice(&value.to_ne_bytes());
    }
}

fn word_place(word: usize) -> usize {
    word % (WINDOW / 8) * 8
}
