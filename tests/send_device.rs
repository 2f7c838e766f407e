//! Send queues against the software device, which decodes with offsets of its own: every operation on tiny rings, over
//! many wraps of the ring and of the producer index; data verified, and no complaint about doorbells or BlueFlame copies.
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use blueflame::cq::{CompletionQueue, CqParts, Standard};
use blueflame::db::{ExclusiveRegister, OneFence, RegisterParts, SharedRegister};
use blueflame::queue::{BlueFlamePolicy, SendQueue, SqParts, WqeRecord};
use blueflame::types::{CqCi, Cqn, Lkey, Qpn, Rkey, SqPi, WrId};
use blueflame::wqe::{self, WorkRequest};
use blueflame::{Remote, Sge, transport};
use softhca::embedded::{Buffer, ConnectOptions, CqOptions, EmbeddedDevice, QpOptions, QpParts, RegisterOptions};

const MAX_INLINE: u32 = 220;
const MAX_SGE: u32 = 12;

/// Two connected queue pairs of one device, of which ours sends, and memory on both sides.
struct Setup {
    hca: EmbeddedDevice,
    qp: QpParts,
    cq: CompletionQueue<Standard>,
    ours: Buffer,
    theirs: Buffer,
    shadow: Vec<MaybeUninit<WqeRecord>>,
}

impl Setup {
    fn new(sq_wqebbs: u32, register: RegisterOptions) -> Self {
        let mut hca = EmbeddedDevice::standalone().expect("a device");
        let cq = hca.create_cq(CqOptions::new(16)).expect("a completion queue");
        let options = QpOptions { sq_wqebbs, register, ..QpOptions::rc(cq.cqn) };
        let qp = hca.create_qp(options).expect("a queue pair");
        let peer = hca.create_qp(QpOptions::rc(cq.cqn)).expect("a queue pair");
        hca.connect_own(qp.qpn, peer.qpn, &ConnectOptions::default()).expect("connected");
        let (ours, theirs) = (hca.buffer(8192).expect("memory"), hca.buffer(8192).expect("memory"));
        let parts = CqParts {
            buf: cq.buf,
            cqe_cnt: cq.cqe_cnt,
            cqe_size: cq.cqe_size,
            dbrec: cq.dbrec,
            cq_uar: cq.cq_uar,
            cqn: Cqn::truncate(cq.cqn),
            ci: CqCi::truncate(0),
        };
        // SAFETY: the parts are a new queue's, and live as long as the device.
        let cq = unsafe { CompletionQueue::from_parts(parts) }.expect("a completion queue");
        let shadow = (0..qp.sq.wqe_cnt).map(|_| MaybeUninit::uninit()).collect();
        Self { hca, qp, cq, ours, theirs, shadow }
    }

    fn sq_parts(&mut self) -> SqParts {
        SqParts {
            ring: self.qp.sq.buf,
            wqebbs: self.qp.sq.wqe_cnt,
            dbrec: self.qp.dbrec,
            qpn: Qpn::truncate(self.qp.qpn),
            max_inline: MAX_INLINE,
            max_sge: MAX_SGE,
            signal_all: false,
            pi: SqPi(0),
            shadow: NonNull::from(&mut self.shadow[..]).cast(),
        }
    }

    fn register_parts(&self) -> RegisterParts {
        RegisterParts { reg: self.qp.bf_reg, size: self.qp.bf_size }
    }

    fn remote(&self) -> Remote {
        Remote { addr: self.theirs.addr(), rkey: Rkey(self.theirs.rkey()) }
    }

    fn local(&self, at: u64, bytes: u32) -> Sge {
        Sge { addr: self.ours.addr() + at, length: bytes, lkey: Lkey(self.ours.lkey()) }
    }

    /// Lets the device work, and takes the completions, of which the last must carry `tag`.
    fn complete<R: blueflame::db::Register>(&mut self, sq: &mut SendQueue<transport::Rc, R>, tag: u64) {
        self.hca.run_until_idle();
        let mut last = None;
        while let Some(cqe) = self.cq.poll() {
            cqe.check().expect("success");
            last = Some(sq.retire(&cqe).expect("outstanding").wr_id);
        }
        assert_eq!(last, Some(WrId(tag)));
        assert_eq!(sq.free(), sq.capacity());
        assert!(self.hca.complaints().is_empty());
    }
}

fn post<R: blueflame::db::Register>(sq: &mut SendQueue<transport::Rc, R>, request: &impl WorkRequest<transport::Rc>) {
    // SAFETY: the buffers live as long as the device, and are looked at only when the device is idle.
    unsafe { sq.post_unchecked(request) }.expect("posted");
}

/// Bytes that differ from round to round.
fn pattern(round: usize, len: usize) -> Vec<u8> {
    (0..len).map(|i| (round * 31 + i * 7 + 1) as u8).collect()
}

fn rounds<R: blueflame::db::Register>(setup: &mut Setup, sq: &mut SendQueue<transport::Rc, R>, rounds: usize) {
    let remote = setup.remote();
    let mut template = sq.template(wqe::write(remote.at(64)).inline_len::<8>().signaled(WrId(0))).expect("short");
    for round in 0..rounds {
        let tag = round as u64;
        // Inline, of every length, around the ring's end in the middle of the data.
        let data = pattern(round, round % (MAX_INLINE as usize + 1));
        post(sq, &wqe::write(remote).inline(&data[..]).signaled(WrId(tag)));
        setup.complete(sq, tag);
        assert_eq!(setup.theirs.to_vec(0, data.len()), data);

        // From registers: one WQEBB known by type, posted and fired.
        let word = (tag ^ 0x0123_4567_89ab_cdef).to_le_bytes();
        post(sq, &wqe::write(remote.at(32)).inline(&word).signaled(WrId(tag)));
        setup.complete(sq, tag);
        template.set_wr_id(WrId(tag));
        sq.fire(&template, &word).expect("fired");
        setup.complete(sq, tag);
        assert_eq!([setup.theirs.to_vec(32, 8), setup.theirs.to_vec(64, 8)], [word.to_vec(), word.to_vec()]);

        // Gathered from up to twelve pieces, empty ones among them, then read back in others.
        let data = pattern(round, 1200);
        setup.ours.write(0, &data);
        let pieces = round % (MAX_SGE as usize + 1);
        let list: Vec<Sge> = (0..pieces).map(|i| setup.local(100 * i as u64, if i == 3 { 0 } else { 100 })).collect();
        let sent: Vec<u8> =
            data.chunks(100).take(pieces).enumerate().filter(|(i, _)| *i != 3).flat_map(|(_, c)| c.to_vec()).collect();
        post(sq, &wqe::write(remote.at(512)).gather(&list[..]).signaled(WrId(tag)));
        setup.complete(sq, tag);
        assert_eq!(setup.theirs.to_vec(512, sent.len()), sent);
        if let Ok(bytes) = u32::try_from(sent.len())
            && bytes > 1
        {
            let halves = [setup.local(4096, bytes - 1), setup.local(6000, 1)];
            post(sq, &wqe::read(remote.at(512)).scatter(halves).signaled(WrId(tag)));
            setup.complete(sq, tag);
            assert_eq!(setup.ours.to_vec(4096, sent.len() - 1), sent[..sent.len() - 1]);
            assert_eq!(setup.ours.to_vec(6000, 1), sent[sent.len() - 1..]);
        }

        // Atomics on a word that starts as `tag`.
        setup.theirs.write(4096, &tag.to_ne_bytes());
        let (word, lkey) = (setup.ours.addr() + 7000, Lkey(setup.ours.lkey()));
        post(sq, &wqe::fetch_add(remote.at(4096), 5).result(word, lkey).signaled(WrId(tag)));
        setup.complete(sq, tag);
        assert_eq!(setup.ours.to_vec(7000, 8), tag.to_ne_bytes());
        post(sq, &wqe::compare_swap(remote.at(4096), tag + 5, 77).result(word, lkey).signaled(WrId(tag)));
        setup.complete(sq, tag);
        assert_eq!(setup.ours.to_vec(7000, 8), (tag + 5).to_ne_bytes());
        assert_eq!(setup.theirs.to_vec(4096, 8), 77_u64.to_ne_bytes());

        // A batch: one doorbell, one completion for all.
        let mut batch = sq.batch();
        for n in 0..4 {
            let byte = [(n as u8).wrapping_add(round as u8)];
            let request = wqe::write(remote.at(1024 + n)).inline(&byte);
            // SAFETY: inline bytes are copied.
            unsafe { batch.push_unchecked(&request.signaled_if(n == 3, WrId(tag))) }.expect("room");
        }
        batch.ring_doorbell();
        setup.complete(sq, tag);
        assert_eq!(setup.theirs.to_vec(1024, 4), [0, 1, 2, 3].map(|n: u8| n.wrapping_add(round as u8)));
        // An abandoned one leaves nothing behind; what follows takes its place.
        let mut batch = sq.batch();
        batch.push(&wqe::write(remote).inline(&[0xff; 100])).expect("room");
        drop(batch);
        post(sq, &wqe::nop().signaled(WrId(tag)));
        setup.complete(sq, tag);
    }
}

#[test]
fn exclusive_register() {
    let mut setup = Setup::new(4, RegisterOptions::Own);
    // SAFETY: the parts are a new queue pair's, live as long as the device, and are used once.
    let mut sq = unsafe {
        let register = ExclusiveRegister::from_parts(setup.register_parts()).expect("a register");
        SendQueue::<transport::Rc>::from_parts(setup.sq_parts(), register).expect("a queue")
    };
    rounds(&mut setup, &mut sq, 300);
    sq.set_blueflame_policy(BlueFlamePolicy::Inline);
    rounds(&mut setup, &mut sq, 300);
}

#[test]
fn one_fence_on_a_ring_of_eight() {
    let mut setup = Setup::new(8, RegisterOptions::Own);
    // SAFETY: the parts are a new queue pair's, live as long as the device, and are used once.
    let mut sq = unsafe {
        let register = ExclusiveRegister::from_parts(setup.register_parts()).expect("a register");
        SendQueue::<transport::Rc, _>::from_parts(setup.sq_parts(), register.with_mode::<OneFence>()).expect("a queue")
    };
    rounds(&mut setup, &mut sq, 230);
}

#[test]
fn shared_register_and_no_blueflame() {
    let mut setup = Setup::new(4, RegisterOptions::OwnWithoutBlueFlame);
    assert_eq!(setup.qp.bf_size, 0);
    // SAFETY: the parts are a new queue pair's, live as long as the device, and are used once.
    let register = unsafe { SharedRegister::from_parts(setup.register_parts()) }.expect("a register");
    // SAFETY: as above.
    let mut sq = unsafe { SendQueue::<transport::Rc, _>::from_parts(setup.sq_parts(), &register) }.expect("a queue");
    rounds(&mut setup, &mut sq, 230);
}

#[test]
fn the_index_wraps_at_sixteen_bits() {
    let mut setup = Setup::new(16, RegisterOptions::Own);
    // SAFETY: the parts are a new queue pair's, live as long as the device, and are used once.
    let mut sq = unsafe {
        let register = ExclusiveRegister::from_parts(setup.register_parts()).expect("a register");
        SendQueue::<transport::Rc>::from_parts(setup.sq_parts(), register).expect("a queue")
    };
    for n in 0..(1_u64 << 12) + 10 {
        let mut batch = sq.batch();
        for last in (0..16).map(|i| i == 15) {
            batch.push(&wqe::nop().signaled_if(last, WrId(n))).expect("room");
        }
        batch.ring_doorbell();
        setup.complete(&mut sq, n);
    }
    assert_eq!(sq.pi(), SqPi(160));
    rounds(&mut setup, &mut sq, 3);
}
