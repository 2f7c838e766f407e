//! Send queues against the software device, which decodes with offsets of its own: every operation on tiny rings, over
//! many wraps of the ring and of the producer index. The data is verified. The device has no complaint about doorbells
//! or BlueFlame copies.
//!
//! Operations one by one belong here, random sizes in `wraps.rs`.
use blueflame::db::{ExclusiveRegister, OneFence, Register, SharedRegister};
use blueflame::queue::BlueFlamePolicy;
use blueflame::types::SqPi;
use blueflame::wqe::data::Data;
use blueflame::wqe::{self, Request, SupportedOn};
use blueflame::{SendQueue, Sge, WrId, transport};
use blueflame_testkit::{Buffer, ConnectOptions, Device, End, RegisterOptions, Shape, connect, register};

const MAX_INLINE: u32 = 220;
const MAX_SGE: u32 = 12;

/// Two connected queue pairs of one device, of which ours sends, and memory on both sides.
struct Setup<R: Register> {
    near: End<transport::Rc, R>,
    _far: End<transport::Rc>,
    hca: Device,
    ours: Buffer,
    theirs: Buffer,
}

fn shape(sq_wqebbs: u32, register: RegisterOptions) -> Shape {
    Shape { sq_wqebbs, register, max_inline: MAX_INLINE, max_sge: MAX_SGE, cqes: 16, ..Shape::SMALL }
}

impl Setup<ExclusiveRegister> {
    fn new(sq_wqebbs: u32) -> Self {
        let hca = Device::standalone().expect("a device");
        let near = End::new(&hca, &shape(sq_wqebbs, RegisterOptions::Own)).expect("an end");
        Self::of(hca, near)
    }
}

impl<R: Register> Setup<R> {
    fn of(hca: Device, near: End<transport::Rc, R>) -> Self {
        let far = End::<transport::Rc>::new(&hca, &Shape::SMALL).expect("an end");
        connect(&near, &far, &ConnectOptions::default()).expect("connected");
        let (ours, theirs) = (hca.buffer(8192).expect("memory"), hca.buffer(8192).expect("memory"));
        Self { near, _far: far, hca, ours, theirs }
    }

    fn local(&self, at: usize, bytes: usize) -> Sge {
        self.ours.sge(at..at + bytes)
    }

    /// Lets the device work, and takes the completions, of which the last must carry `tag`.
    fn complete(&mut self, tag: u64) {
        self.hca.run_until_idle().expect("an end");
        let End { sq, cq, .. } = &mut self.near;
        let mut last = None;
        while let Some(cqe) = cq.poll() {
            cqe.check().expect("success");
            last = Some(sq.retire(&cqe).expect("outstanding").wr_id);
        }
        assert_eq!(last, Some(WrId(tag)));
        assert_eq!(sq.free(), sq.capacity());
        assert!(self.hca.complaints().is_empty());
    }
}

fn post<R: Register, O: SupportedOn<transport::Rc>, D: Data>(
    sq: &mut SendQueue<transport::Rc, R>,
    request: &Request<'_, O, D>,
) {
    // SAFETY: the buffers live as long as the device, and are looked at only when the device is idle.
    unsafe { sq.post_unchecked(request) }.expect("posted");
}

/// Bytes that differ from round to round.
fn pattern(round: usize, len: usize) -> Vec<u8> {
    (0..len).map(|i| (round * 31 + i * 7 + 1) as u8).collect()
}

fn rounds<R: Register>(setup: &mut Setup<R>, rounds: usize) {
    let remote = setup.theirs.remote();
    let prepared = setup.near.sq.prepare::<_, _, 8, 0>(&wqe::write(remote.at(64))).expect("short");
    for round in 0..rounds {
        let tag = round as u64;
        // Inline, of every length, around the ring's end in the middle of the data.
        let data = pattern(round, round % (MAX_INLINE as usize + 1));
        post(&mut setup.near.sq, &wqe::write(remote).inline_slice(&data).signaled(WrId(tag)));
        setup.complete(tag);
        assert_eq!(setup.theirs.to_vec(..data.len()), data);

        // From registers: one WQEBB known by type, made here and prepared.
        let word = (tag ^ 0x0123_4567_89ab_cdef).to_le_bytes();
        post(&mut setup.near.sq, &wqe::write(remote.at(32)).inline(&word).signaled(WrId(tag)));
        setup.complete(tag);
        setup.near.sq.post(&prepared.inline(&word).signaled_if(true, WrId(tag))).expect("posted");
        setup.complete(tag);
        assert_eq!([setup.theirs.to_vec(32..40), setup.theirs.to_vec(64..72)], [word.to_vec(), word.to_vec()]);

        // Gathered from up to twelve pieces, empty ones among them, then read back in others.
        let data = pattern(round, 1200);
        setup.ours.write(0, &data);
        let pieces = round % (MAX_SGE as usize + 1);
        let list: Vec<Sge> = (0..pieces).map(|i| setup.local(100 * i, if i == 3 { 0 } else { 100 })).collect();
        let sent: Vec<u8> =
            data.chunks(100).take(pieces).enumerate().filter(|(i, _)| *i != 3).flat_map(|(_, c)| c.to_vec()).collect();
        post(&mut setup.near.sq, &wqe::write(remote.at(512)).gather_slice(&list).signaled(WrId(tag)));
        setup.complete(tag);
        assert_eq!(setup.theirs.to_vec(512..512 + sent.len()), sent);
        // That message behind a header, around the ring's end in either part of the WQE.
        let header = pattern(round + 1, round % 13);
        post(
            &mut setup.near.sq,
            &wqe::write(remote.at(2048)).inline_slice(&header[..]).then_gather_slice(&list).signaled(WrId(tag)),
        );
        setup.complete(tag);
        assert_eq!(setup.theirs.to_vec(2048..2048 + header.len() + sent.len()), [&header[..], &sent].concat());
        // From registers: two WQEBBs known by type.
        let request = wqe::write(remote.at(2048)).inline(&word).then_gather([setup.local(100, 300), setup.local(0, 1)]);
        post(&mut setup.near.sq, &request.signaled(WrId(tag)));
        setup.complete(tag);
        assert_eq!(setup.theirs.to_vec(2048..2357), [&word[..], &data[100..400], &data[..1]].concat());
        if sent.len() > 1 {
            let halves = [setup.local(4096, sent.len() - 1), setup.local(6000, 1)];
            post(&mut setup.near.sq, &wqe::read(remote.at(512)).scatter(halves).signaled(WrId(tag)));
            setup.complete(tag);
            assert_eq!(setup.ours.to_vec(4096..4096 + sent.len() - 1), sent[..sent.len() - 1]);
            assert_eq!(setup.ours.to_vec(6000..6001), sent[sent.len() - 1..]);
        }

        // Atomics on a word that starts as `tag`.
        setup.theirs.write(4096, &tag.to_ne_bytes());
        let (word, lkey) = (setup.ours.addr() + 7000, setup.ours.lkey());
        post(&mut setup.near.sq, &wqe::fetch_add(remote.at(4096), 5).result(word, lkey).signaled(WrId(tag)));
        setup.complete(tag);
        assert_eq!(setup.ours.to_vec(7000..7008), tag.to_ne_bytes());
        post(
            &mut setup.near.sq,
            &wqe::compare_swap(remote.at(4096), tag + 5, 77).result(word, lkey).signaled(WrId(tag)),
        );
        setup.complete(tag);
        assert_eq!(setup.ours.to_vec(7000..7008), (tag + 5).to_ne_bytes());
        assert_eq!(setup.theirs.to_vec(4096..4104), 77_u64.to_ne_bytes());

        // A batch: one doorbell, one completion for all.
        let mut batch = setup.near.sq.batch();
        for n in 0..4 {
            let byte = [(n as u8).wrapping_add(round as u8)];
            let request = wqe::write(remote.at(1024 + n)).inline(&byte);
            // SAFETY: inline bytes are copied.
            unsafe { batch.push_unchecked(&request.signaled_if(n == 3, WrId(tag))) }.expect("room");
        }
        batch.ring_doorbell();
        setup.complete(tag);
        assert_eq!(setup.theirs.to_vec(1024..1028), [0, 1, 2, 3].map(|n: u8| n.wrapping_add(round as u8)));
        // An abandoned one leaves nothing behind; the next one takes its place.
        let mut batch = setup.near.sq.batch();
        batch.push(&wqe::write(remote).inline(&[0xff; 100])).expect("room");
        drop(batch);
        post(&mut setup.near.sq, &wqe::nop().signaled(WrId(tag)));
        setup.complete(tag);
    }
}

#[test]
fn exclusive_register() {
    let mut setup = Setup::new(4);
    rounds(&mut setup, 300);
    setup.near.sq.set_blueflame_policy(BlueFlamePolicy::Inline);
    rounds(&mut setup, 300);
}

#[test]
fn one_fence_on_a_ring_of_eight() {
    let hca = Device::standalone().expect("a device");
    // SAFETY: the register is the queue pair's, and this the one value made of it.
    let near = unsafe {
        End::with_register(&hca, &shape(8, RegisterOptions::Own), |qp| {
            Ok(ExclusiveRegister::from_parts(register(qp))?.with_mode::<OneFence>())
        })
    };
    rounds(&mut Setup::of(hca, near.expect("an end")), 230);
}

#[test]
fn shared_register_and_no_blueflame() {
    let hca = Device::standalone().expect("a device");
    let mut place = None;
    // SAFETY: the register is the queue pair's, and this the one value made of it.
    let near = unsafe {
        End::with_register(&hca, &shape(4, RegisterOptions::OwnWithoutBlueFlame), |qp| {
            assert_eq!(qp.bf_size, 0);
            Ok(&*place.insert(SharedRegister::from_parts(register(qp))?))
        })
    };
    rounds(&mut Setup::of(hca, near.expect("an end")), 230);
}

#[test]
fn the_index_wraps_at_sixteen_bits() {
    let mut setup = Setup::new(16);
    for n in 0..(1_u64 << 12) + 10 {
        let mut batch = setup.near.sq.batch();
        for last in (0..16).map(|i| i == 15) {
            batch.push(&wqe::nop().signaled_if(last, WrId(n))).expect("room");
        }
        batch.ring_doorbell();
        setup.complete(n);
    }
    assert_eq!(setup.near.sq.pi(), SqPi(160));
    rounds(&mut setup, 3);
}
