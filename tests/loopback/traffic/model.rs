//! The expected effect of each request, and whether it has happened.

use blueflame::Rkey;
use blueflame::cq::{CqeOpcode, Side, WcOpcode};
use blueflame::wqe::Fence;
use blueflame_testkit::Buffer;
use blueflame_testkit::ops::{MAX_MESSAGE, Memory, Op, Tail};
use blueflame_testkit::request::{Kind, Service, Wr};

use super::Traffic;
use super::done::Done;
use super::expected::{Arrival, FILL, GUARD, Posted, SLOT, SOURCE, WINDOW};

impl<T: Service> Traffic<T> {
    /// A completion at the near end: everything up to that request is done, and was not before.
    pub(super) fn completed(&mut self, done: &Done) {
        assert_eq!((done.side, done.opcode), (Side::Requester, CqeOpcode::Req));
        // SAFETY: of a completion of this queue, given here once.
        let retired = unsafe { self.pair.near.sq.retire_index(done.wqe_counter) }.expect("an outstanding request");
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
    pub(super) fn arrived(&mut self, done: &Done) {
        assert_eq!(done.side, Side::Responder);
        // SAFETY: of a completion of this queue, given here once.
        let tag = unsafe { self.pair.far.rq.retire_index(done.wqe_counter) }.expect("a posted receive").0;
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
            let found = self.pair.far.device().look(|device| device.mkey(key).copied());
            assert_eq!(found, None, "the key is still good");
        }
        self.free_slots.push(slot);
        self.counts.arrived += 1;
    }

    /// A slot holds `bytes`, and behind them its filling.
    fn check_slot(&self, buffer: &Buffer, slot: usize, bytes: &[u8]) {
        let found = buffer.to_vec(slot * SLOT..slot * SLOT + bytes.len() + GUARD);
        assert!(found[..bytes.len()] == *bytes, "wrong bytes: {:?}", self.counts);
        assert!(found[bytes.len()..].iter().all(|&byte| byte == FILL), "bytes past the end: {:?}", self.counts);
    }

    /// The request that asks for `op`.
    pub(super) fn request(&mut self, op: &Op, signaled: bool) -> Wr {
        let id = self.next_id;
        self.next_id += 1;
        let invalidate = match op {
            Op::Send(_, Tail::Invalidate) => self.pair.far.buffer(64).expect("a key to invalidate").rkey(),
            _ => Rkey(0),
        };
        let source = (&self.source, source_place(id));
        let landing = (&self.landing, self.landing_slot(id) * SLOT);
        let mut wr = op.wr(id, &Memory { source, landing, target: &self.window, invalidate });
        // An earlier request may change the word later, so the model computes its value.
        if let (Kind::CompareSwap(_, compare, _), Op::CompareSwap(_, hit, _)) = (&mut wr.kind, op) {
            let found = self.word(op);
            *compare = if *hit { found } else { !found };
        }
        // Changes of the window wait for READs of it: a READ that is repeated after a loss would see them.
        let changes = matches!(op, Op::Write(..) | Op::CompareSwap(..) | Op::FetchAdd(..));
        let fence = if changes { Fence::SmallAndReads } else { Fence::None };
        Wr { signaled, solicited: id % 3 == 0, fence, ..wr }
    }

    /// Notes what `op`, which has been posted as `wr`, must bring about.
    pub(super) fn record(&mut self, op: &Op, wr: &Wr) {
        let at = source_place(wr.id);
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
            Op::Write(_, carry, imm) => {
                opcode = WcOpcode::RdmaWrite;
                let len = carry.len();
                let place = op.place(WINDOW, len);
                self.window_bytes[place..place + len].copy_from_slice(&self.source_bytes[at..at + len]);
                if imm.is_some() {
                    let opcode = CqeOpcode::RespWrImm;
                    let (bytes, invalidates) = (Vec::new(), None);
                    self.arrivals.push_back(Arrival { opcode, bytes, byte_len: len, imm: *imm, invalidates });
                }
            }
            Op::Read(_, lens) => {
                opcode = WcOpcode::RdmaRead;
                let len = lens.iter().sum();
                let place = op.place(WINDOW, len);
                lands = Some((slot, self.window_bytes[place..place + len].to_vec()));
            }
            Op::CompareSwap(_, _, swap) => {
                opcode = WcOpcode::CompSwap;
                let found = self.word(op);
                lands = Some((slot, found.to_ne_bytes().to_vec()));
                // An earlier request of the same batch may have changed the word that `request` saw.
                if matches!(wr.kind, Kind::CompareSwap(_, compare, _) if compare == found) {
                    self.set_word(op, *swap);
                }
            }
            Op::FetchAdd(_, add) => {
                opcode = WcOpcode::FetchAdd;
                let found = self.word(op);
                lands = Some((slot, found.to_ne_bytes().to_vec()));
                self.set_word(op, found.wrapping_add(*add));
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

    /// The word of the window that an atomic works on.
    fn word(&self, op: &Op) -> u64 {
        let at = op.place(WINDOW, 8);
        u64::from_ne_bytes(self.window_bytes[at..at + 8].try_into().expect("8 bytes"))
    }

    fn set_word(&mut self, op: &Op, value: u64) {
        let at = op.place(WINDOW, 8);
        self.window_bytes[at..at + 8].copy_from_slice(&value.to_ne_bytes());
    }
}

/// Where in the source a request's bytes begin.
fn source_place(id: u64) -> usize {
    (id as usize * 131) % (SOURCE - MAX_MESSAGE)
}
