//! Inputs that reach far on their own: CQEs that the device wrote, each operation, each way to fail.

use std::ptr::NonNull;

use blueflame::{Qpn, transport};
use blueflame_testkit::{ConnectOptions, Device, End, Shape, run_until_idle};
use softhca::embedded::{CqOptions, QpOptions};

use blueflame_fuzz_targets::{cqe_parse, device_fetch, devx_outbox, firmware, mini_cqe, queue_ops, wqe_build};
use blueflame_testkit::request::{Data, Kind, Wr};

/// The device's CQEs for successes of every kind and for an error, with CQEs of `cqe_bytes`.
fn cqes_of_the_device(cqe_bytes: u32, scatter_to_cqe: u32) -> Vec<[u8; 64]> {
    let (a, b) = Device::pair().expect("two devices");
    let shape = Shape { cqe_bytes, scatter_to_cqe, cqes: 8, ..Shape::SMALL };
    // A queue of the test's own, whose bytes are looked at.
    let cq = a.create_cq(CqOptions { cqe_bytes, ..CqOptions::new(8) }).expect("a CQ");
    let echo = QpOptions { recv_cqn: cq.cqn, scatter_to_cqe_res: scatter_to_cqe, ..QpOptions::rc(cq.cqn) };
    let qp = a.create_qp(echo).expect("a QP");
    let mut far = End::<transport::Rc>::new(&b, &shape).expect("an end");
    far.connect(&a.endpoint(Qpn::truncate(qp.qpn)), &ConnectOptions::default()).expect("connected");
    a.connect_qp(Qpn::truncate(qp.qpn), &far.endpoint(), &ConnectOptions::default()).expect("connected");
    let (ours, theirs) = (a.buffer(64).expect("memory"), b.buffer(64).expect("memory"));
    let ring = qp.rq.expect("a receive ring");
    for n in 0..6 {
        let place = ours.sge(..if n == 4 { 1 } else { 64 });
        let mut wqe = [0_u8; 32];
        wqe[..4].copy_from_slice(&place.length.to_be_bytes());
        wqe[4..8].copy_from_slice(&place.lkey.0.to_be_bytes());
        wqe[8..16].copy_from_slice(&place.addr.to_be_bytes());
        wqe[20..24].copy_from_slice(&0x100_u32.to_be_bytes());
        // SAFETY: WQE `n` of a ring that nobody else uses.
        unsafe {
            ring.buf.add(n * ring.stride as usize).copy_from_nonoverlapping(NonNull::from(&wqe).cast(), wqe.len())
        };
    }
    // SAFETY: the receive queue's word of the record.
    unsafe { qp.dbrec.write(6_u32.to_be()) };
    let key = a.buffer(8).expect("memory").rkey();
    let kinds =
        [Kind::Send, Kind::SendImm(0x0102_0304), Kind::SendInval(key), Kind::WriteImm(ours.remote(), 7), Kind::Send];
    for (n, kind) in kinds.into_iter().enumerate() {
        let wr = Wr::new(kind, Data::Sges(vec![theirs.sge(..20)]), n as u64);
        // SAFETY: the memory is the device's, which outlives the queue.
        unsafe { far.post(&wr) }.expect("room");
        b.step();
    }
    run_until_idle(&[&a, &b]).expect("an end");
    let mut bytes = vec![0; 6 * cqe_bytes as usize];
    // SAFETY: the first CQEs of the ring; the device does not work at the moment.
    unsafe { cq.buf.copy_to_nonoverlapping(NonNull::from(&mut bytes[..]).cast(), bytes.len()) };
    bytes.chunks_exact(64).map(|cqe| cqe.try_into().expect("64 bytes")).collect()
}

/// Sessions of each layout, whole and broken.
pub(crate) fn mini_cqe() -> Vec<(&'static str, mini_cqe::Input)> {
    let cqe = |count: u8, [signature, op_own]: [u8; 2]| {
        let mut bytes = [0; 64];
        (bytes[47], bytes[59], bytes[62], bytes[63]) = (count, 1, signature, op_own);
        bytes
    };
    let input =
        |kind, steps: &[u8], cqes| mini_cqe::Input { wide: false, log_cqes: 4, kind, steps: steps.to_vec(), cqes };
    let array = [0x11; 64];
    let empty = cqe(0, [0, 0xf0]);
    let basic = |count| {
        let mut cqes = vec![empty; 16];
        (cqes[0], cqes[1], cqes[8]) = (cqe(count, [0, 0x2c]), array, array);
        cqes
    };
    let mut wrapped = vec![empty; 16];
    (wrapped[14], wrapped[15], wrapped[6]) = (cqe(10, [0, 0x2c]), array, array);
    (0..14).for_each(|slot| wrapped[slot] = cqe(0, [0, 0x20]));
    let enhanced = |title, block| vec![cqe(0, [0, title]), cqe(0, [0, block]), empty, empty];
    vec![
        ("basic", input(0, &[3, 3], basic(12))),
        ("basic_wrapped", input(1, &[15], wrapped)),
        ("basic_too_many", input(2, &[1], basic(17))),
        ("basic_forgotten", input(4, &[3, 0], basic(12))),
        ("enhanced", input(5, &[2], enhanced(0x20, 0x2c))),
        ("enhanced_requests", input(6, &[], enhanced(0x00, 0x6c))),
        ("enhanced_untitled", input(8, &[], enhanced(0xe0, 0x1c))),
        ("enhanced_too_many", input(9, &[], enhanced(0x20, 0x9c))),
    ]
}

pub(crate) fn cqe_parse() -> Vec<(&'static str, cqe_parse::Input)> {
    let input = |wide, mode, cqes| cqe_parse::Input { wide, log_cqes: 3, ci: 0, mode, room: 64, cqes };
    let mut requester = [0; 64];
    requester[32..].copy_from_slice(&[
        0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 1, 0x10, 0, 1, 2, 0, 3, 0, 4,
    ]);
    // Completions of tag matching: the operation, and the opcode.
    let tag = |(app_op, opcode): (u8, u8)| {
        let mut cqe = [app_op; 64];
        (cqe[40], cqe[63]) = (1, opcode << 4);
        cqe
    };
    // Signature errors of each part and side, and errors of each syndrome, with numbers of the vendor.
    let signature = |n: u8| {
        let mut cqe = [n; 64];
        (cqe[32], cqe[33], cqe[63]) = (1 << (n % 4 + 3), 0, 0xc0);
        cqe
    };
    let failed = |syndrome: u8| {
        let mut cqe = [0; 64];
        (cqe[54], cqe[55], cqe[63]) = (13_u8.wrapping_mul(syndrome), syndrome, 0xd0 + 0x10 * (syndrome % 2));
        cqe
    };
    // Frames: each kind of header, with a VLAN, with a hash.
    let frame = |n: u8| {
        let mut cqe = [0; 64];
        (cqe[16], cqe[28], cqe[29], cqe[63]) = (n % 3, n, n << 4 | n << 2 | (n % 2), 0x20);
        cqe
    };
    let tags = [(1, 6), (2, 2), (3, 2), (5, 6), (6, 6), (8, 6), (0xa, 3), (0xc, 2)];
    vec![
        ("tags", input(false, 0, tags.map(tag).to_vec())),
        ("signatures", input(false, 0, (0..8).map(signature).collect())),
        ("errors_low", input(false, 1, (0..8).map(|n| failed(n + 1)).collect())),
        ("errors_high", input(true, 3, (0..16).map(|n| failed(n + 0x10)).collect())),
        ("frames", input(true, 0, (0..16).map(frame).collect())),
        ("responder", input(false, 0, cqes_of_the_device(64, 0))),
        ("in_cqe_32", input(false, 1, cqes_of_the_device(64, 32))),
        ("in_cqe_64", input(true, 0, cqes_of_the_device(128, 64))),
        ("requester", input(false, 2, vec![requester; 3])),
        ("second_pass", cqe_parse::Input { ci: 0xff_ffff, log_cqes: 0, ..input(false, 0, vec![[0xd1; 64]]) }),
    ]
}

fn request(kind: u8, entries: &[u32]) -> wqe_build::Request {
    let entry = |&bytes: &u32| wqe_build::Entry { addr: 0x7000, bytes, lkey: 0x2201 };
    wqe_build::Request {
        kind,
        addr: 0x1_0000,
        rkey: 0x3302,
        imm: 0x4403,
        operands: [9; 16],
        inline: false,
        inline_len: 0,
        entries: entries.iter().map(entry).collect(),
        flags: kind.wrapping_mul(5).wrapping_add(1),
    }
}

fn inline(kind: u8, inline_len: u16) -> wqe_build::Request {
    wqe_build::Request { inline: true, inline_len, ..request(kind, &[]) }
}

pub(crate) fn wqe_build() -> Vec<(&'static str, wqe_build::Input)> {
    let input = |requests| wqe_build::Input {
        service: 0,
        log_wqebbs: 3,
        pi: 0xfffd,
        qpn: 0x12_3456,
        max_inline: 900,
        max_sge: 60,
        signal_all: false,
        prefer_blueflame: false,
        without_blueflame: false,
        requests,
    };
    let one_each: Vec<_> = (0..9).map(|kind| request(kind, &[64, 0, 128])).collect();
    let inline_each = [0, 1, 4, 5, 12, 13, 28, 29, 44, 60, 61, 150, 300, 450].map(|len| inline(3, len)).to_vec();
    let near_and_far = |kind| [request(kind, &[64, 0]), inline(kind, 28), inline(kind, 29), inline(kind, 120)];
    let datagrams: Vec<_> = (0..5).flat_map(near_and_far).collect();
    let frames: Vec<_> = (0..7).chain(128..132).flat_map(near_and_far).collect();
    // Each with an address vector of another form.
    let dynamic = |requests: &[wqe_build::Request]| -> Vec<_> {
        requests
            .iter()
            .enumerate()
            .map(|(n, r)| wqe_build::Request { flags: r.flags & 0x3f | (n as u8) << 6, ..r.clone() })
            .collect()
    };
    // In every completion mode.
    let modes = |requests: &[wqe_build::Request]| -> Vec<_> {
        let with = |flags: u8, r: &wqe_build::Request| wqe_build::Request { flags, ..r.clone() };
        [0, 1, 0x20, 0x21].iter().flat_map(|&flags| requests.iter().map(move |r| with(flags, r))).collect()
    };
    // Their lists have 0 to 52 entries, and one that is too many.
    let key = |n: u8| wqe_build::Request {
        inline_len: if n == 20 { 3 } else { 53 },
        inline: n & 1 == 0,
        imm: n.into(),
        flags: n.wrapping_mul(0x11),
        // Of formats: which, of what, and on which sides.
        addr: u64::from(n).wrapping_mul(0x0123_4567_89ab_cdef),
        ..request(n % 11, &vec![300; usize::from(n) * 3 % 53])
    };
    let keys = (0..110).map(key).collect();
    // Around both limits: the device's, and the format's.
    let copy = |(bytes, most): (u32, u32)| {
        let mut operands = [0; 16];
        operands[12..].copy_from_slice(&most.to_le_bytes());
        wqe_build::Request { operands, flags: (bytes % 4) as u8, ..request(0, &[bytes]) }
    };
    let large = 1 << 31;
    let copies = [(0, 9), (1, 9), (9, 9), (10, 9), (1, 0), (large, large), (large, u32::MAX), (large + 1, u32::MAX)];
    let waits = (0..8).map(|kind| request(kind, if kind < 4 { &[1; 3] } else { &[0, 7, u32::MAX] })).collect();
    let lengths = [0, 1, large - 1, large, u32::MAX];
    let tag = |n: usize| wqe_build::Request {
        flags: n as u8,
        ..request((n % 3) as u8, if n % 7 == 6 { &[] } else { &lengths[n / 3 % 5..][..1] })
    };
    let tags = (0..60).map(tag).collect::<Vec<_>>();
    // `MLX5_INVALID_LKEY`: a device takes no length from such an entry.
    let no_memory = |n| wqe_build::Entry { addr: 0, bytes: n, lkey: 0x100 };
    let tags_of_no_memory =
        [0, 1, 64].map(|n| wqe_build::Request { entries: vec![no_memory(n)], ..request(0, &[]) }).to_vec();
    let (every, inlined) = (dynamic(&one_each), dynamic(&inline_each));
    vec![
        ("dynamic", wqe_build::Input { service: 4, ..input(every.clone()) }),
        (
            "dynamic_inline_preferring_blueflame",
            wqe_build::Input { service: 4, prefer_blueflame: true, ..input(inlined) },
        ),
        ("dynamic_streams", wqe_build::Input { service: 5, ..input(every) }),
        ("every_kind", input(one_each.clone())),
        ("masked_atomics", input((9..15).map(|kind| request(kind, &[])).collect())),
        ("signed", wqe_build::Input { service: 0x40, ..input(modes(&one_each)) }),
        ("signed_dynamic", wqe_build::Input { service: 0x41, ..input(modes(&inline_each)) }),
        ("signed_dynamic_streams", wqe_build::Input { service: 0x43, ..input(dynamic(&one_each)) }),
        ("every_kind_preferring_blueflame", wqe_build::Input { prefer_blueflame: true, ..input(one_each.clone()) }),
        ("every_kind_without_blueflame", wqe_build::Input { without_blueflame: true, ..input(one_each.clone()) }),
        ("inline", input(inline_each.clone())),
        ("inline_unreliable", wqe_build::Input { service: 1, signal_all: true, ..input(inline_each.clone()) }),
        ("frames", wqe_build::Input { service: 2, ..input(frames.clone()) }),
        ("frames_preferring_blueflame", wqe_build::Input { service: 2, prefer_blueflame: true, ..input(frames) }),
        ("datagrams", wqe_build::Input { service: 3, ..input(datagrams.clone()) }),
        ("datagrams_preferring_blueflame", wqe_build::Input { service: 3, prefer_blueflame: true, ..input(datagrams) }),
        ("keys", wqe_build::Input { service: 0x80, log_wqebbs: 4, ..input(keys) }),
        ("copies", wqe_build::Input { service: 0xc0, ..input(copies.map(copy).to_vec()) }),
        ("tags", wqe_build::Input { service: 0xe0, log_wqebbs: 5, ..input(tags.clone()) }),
        ("tags_with_keys_of_no_memory", wqe_build::Input { service: 0xe0, ..input(tags_of_no_memory) }),
        ("tags_without_entries", wqe_build::Input { service: 0xe0, max_sge: 0, ..input(tags) }),
        ("waits", wqe_build::Input { service: 0xa0, log_wqebbs: 4, ..input(waits) }),
        ("xrc", wqe_build::Input { service: 6, ..input(one_each.clone()) }),
        ("xrc_inline", wqe_build::Input { service: 6, ..input(inline_each) }),
        ("long_lists", input(vec![request(3, &[1; 29]), request(6, &[2; 30]), request(1, &[u32::MAX])])),
        ("too_much", wqe_build::Input { log_wqebbs: 7, ..input(vec![request(3, &[1; 61]), inline(1, 901)]) }),
    ]
}

pub(crate) fn queue_ops() -> Vec<(&'static str, queue_ops::Input)> {
    use queue_ops::Op;
    let input =
        |ops| queue_ops::Input { log_sizes: [2, 1, 2, 2], wide_cqes: false, pi: 0xfffe, head: 0xffff, ci: 2, ops };
    let post = |len| Op::Post { request: inline(1, len) };
    let cqe = |op_own: u8, counter: u16, uidx: u8| {
        let mut cqe = [0; 64];
        cqe[35] = uidx;
        cqe[60..62].copy_from_slice(&counter.to_be_bytes());
        cqe[63] = op_own;
        cqe
    };
    let scribble = |area| Op::Scribble { area, at: 0, bytes: [0xff; 16] };
    vec![
        (
            "send",
            input(vec![
                post(8),
                post(100),
                Op::Retire { counter: 0xfffe },
                Op::Retire { counter: 0 },
                post(60),
                Op::RetireNth { n: 1 },
                post(300),
            ]),
        ),
        (
            "batches",
            input(vec![
                Op::Batch { requests: vec![inline(1, 4), request(3, &[1, 2, 3]), inline(3, 90)], ring: false },
                Op::Batch { requests: vec![inline(1, 4), inline(3, 90), request(0, &[])], ring: true },
                Op::RetireNth { n: 1 },
                Op::Batch { requests: Vec::new(), ring: true },
            ]),
        ),
        (
            "staged",
            input(vec![
                Op::Stage { request: inline(1, 8), ring: true },
                Op::Stage { request: inline(1, 100), ring: false },
                scribble(0),
                Op::PostPrepared { bytes: [7; 40] },
                Op::RetireNth { n: 1 },
                Op::Stage { request: inline(1, 100), ring: true },
            ]),
        ),
        (
            "receive",
            input(vec![
                Op::Receive { counts: vec![1, 0x42, 3], ring: true },
                Op::RetireReceive {},
                Op::Receive { counts: vec![1], ring: false },
                Op::RetireReceive {},
                Op::RetireReceive {},
            ]),
        ),
        (
            "receive_in_any_order",
            input(vec![
                Op::Receive { counts: vec![1, 1, 1, 1], ring: true },
                Op::RetireReceiveNth { n: 2 },
                Op::RetireReceiveNth { n: 2 },
                Op::RetireReceive {},
                Op::Receive { counts: vec![1, 1, 1, 1, 1, 1, 1, 1], ring: true },
                Op::RetireReceive {},
                Op::RetireReceive {},
            ]),
        ),
        (
            "shared_receive",
            input(vec![
                Op::SharedReceive { counts: vec![1, 2, 3, 1], ring: true },
                Op::RetireShared { index: 1 },
                Op::SharedReceive { counts: vec![0], ring: false },
                Op::RetireShared { index: 1 },
                Op::SharedReceive { counts: vec![0], ring: true },
                Op::RetireShared { index: 3 },
            ]),
        ),
        (
            "poll",
            input(vec![
                post(8),
                Op::Receive { counts: vec![1], ring: true },
                Op::SharedReceive { counts: vec![1], ring: true },
                Op::Complete { slot: 2, cqe: cqe(0x00, 0xfffe, 0) },
                Op::Complete { slot: 3, cqe: cqe(0x20, 0, 0) },
                Op::Complete { slot: 0, cqe: cqe(0x21, 0, 1) },
                Op::Poll { max: 8 },
                Op::Complete { slot: 1, cqe: cqe(0xd1, 0xfffe, 0) },
                Op::Poll { max: 1 },
            ]),
        ),
        (
            "hostile",
            input(vec![
                post(8),
                Op::SharedReceive { counts: vec![1], ring: true },
                scribble(0),
                scribble(1),
                scribble(2),
                scribble(3),
                scribble(4),
                post(8),
                Op::SharedReceive { counts: vec![1, 1], ring: true },
                Op::RetireShared { index: 0 },
                Op::RetireShared { index: 0xffff },
                Op::Poll { max: 255 },
                Op::RetireNth { n: 0 },
            ]),
        ),
    ]
}

pub(crate) fn device_fetch() -> Vec<(&'static str, device_fetch::Input)> {
    use device_fetch::{Action, Input, QpInput};
    let qp = |transport, peer| QpInput {
        transport,
        shift: 0,
        log_sq: 3,
        log_rq: 3,
        log_stride: 5,
        log_cq: 3,
        flags: 0,
        peer,
        stop_at: 255,
    };
    let input = |transport, actions| Input {
        doorbells: 0,
        shared_log: 2,
        qps: [0, 0],
        first: qp(transport, 1),
        second: qp(transport, 0),
        actions,
    };
    // A data segment of 16 bytes and nothing else, at the place that `refer_to_data` fills in.
    let mut rest = [0; 48];
    (rest[2], rest[3], rest[18], rest[19], rest[35]) = (1, 16, 1, 16, 8);
    let one = |opcode, ds| {
        let wqe = Action::Wqe { qp: 0, slot: 0, opcode, ds, flags: 8, rest };
        vec![wqe, Action::Ring { qp: 0, index: 0, ds }, Action::Wait { time: 100 }]
    };
    let request = |opcode, payload| Action::Request { qp: 0, opcode, psn: 0x20, flags: 0, headers: [0; 28], payload };
    let mut receive = [0; 64];
    (receive[3], receive[32 + 3]) = (64, 64);
    let receives = vec![Action::Store { at: 0x1400, bytes: receive }, Action::Record { qp: 1, word: 0, value: 2 }];
    let mut send = receives.clone();
    send.extend(one(0x0a, 2));
    let mut packets: Vec<_> = [0x04, 0x06, 0x0a, 0x0c, 0x13, 0x14, 0x0d, 0x11].map(|op| request(op, 4)).to_vec();
    packets.push(Action::Packet { bytes: vec![0x64; 40] });
    let mut changes = one(0x08, 3);
    changes.extend((0..7).map(|state| Action::Modify { qp: 0, state }));
    changes.push(Action::Resize { qp: 0, at: 0x108, log_size: 2, wide: true });
    changes.extend([Action::Destroy { qp: 0, key: true }, Action::Destroy { qp: 0, key: false }]);
    let unreliable = Input { second: QpInput { flags: 4 | 8, ..qp(1, 0) }, ..input(1, send.clone()) };
    // Answers into memory that no key permits: past a region's end, of one that may be read only, of another PD.
    let answers = |place, len| {
        let mut rest = rest;
        (rest[18], rest[19], rest[16 + 15]) = (0, len, place);
        let wqe = Action::Wqe { qp: 0, slot: 0, opcode: 0x10, ds: 3, flags: 8, rest };
        vec![wqe, Action::Ring { qp: 0, index: 0, ds: 3 }, Action::Wait { time: 100 }]
    };
    // Sends with and without a CQE, and receives; then an error, before anything could be sent.
    let mut flush: Vec<_> = (0..3)
        .map(|slot| Action::Wqe { qp: 0, slot, opcode: 0x0a, ds: 2, flags: if slot == 1 { 0 } else { 8 }, rest })
        .collect();
    flush.push(Action::Record { qp: 0, word: 0, value: 3 });
    flush.extend([Action::Ring { qp: 0, index: 2, ds: 2 }, Action::Modify { qp: 0, state: 6 }]);
    let flush = Input { first: QpInput { stop_at: 2, flags: 64, ..qp(0, 1) }, ..input(0, flush) };
    // One that succeeds and asks for no CQE; then some that find no receive, and are flushed.
    let quiet = |slot, opcode, ds| Action::Wqe { qp: 0, slot, opcode, ds, flags: 0, rest };
    let mut unsignaled = vec![quiet(0, 0x00, 1), Action::Ring { qp: 0, index: 0, ds: 1 }];
    unsignaled.extend([quiet(1, 0x0a, 2), quiet(2, 0x0a, 2), Action::Ring { qp: 0, index: 2, ds: 2 }]);
    let doorbells = vec![
        Action::Doorbell { uar: 0, offset: 0x20, bytes: [0, 0, 0, 0, 0, 0, 0, 1] },
        Action::Doorbell { uar: 0, offset: 0x800, bytes: [0, 0, 0, 0x0a, 0, 0, 2, 2] },
        Action::Doorbell { uar: 1, offset: 0x808, bytes: [1; 8] },
    ];
    // A SEND and a WRITE to a target, which has two WQEs in its SRQ: a link, and a segment of 64 bytes with the first
    // key. Then packets to the target that nobody has sent.
    let mut shared = [0; 64];
    for (at, next) in [(0, 1), (32, 2)] {
        shared[at + 3] = next;
        shared[at + 16..at + 32].copy_from_slice(&[0, 0, 0, 64, 0, 0, 0x18, 1, 0, 0, 0, 0, 0, 0x10, 0x80, 0]);
    }
    let mut dynamic = vec![Action::Store { at: 0x2000, bytes: shared }, Action::Record { qp: 2, word: 0, value: 2 }];
    for (index, opcode, ds) in [(0, 0x0a, 3), (1, 0x08, 4)] {
        let mut rest = rest;
        rest[18] = 0;
        dynamic.push(Action::Wqe { qp: 0, slot: index, opcode, ds, flags: 8, rest });
        dynamic.extend([Action::Ring { qp: 0, index: index.into(), ds }, Action::Wait { time: 100 }]);
    }
    let dynamic = input(4, dynamic);
    // A SEND with a wrong key takes its stream with it. The WQE behind it makes no sense, and fails as well.
    let mut wrong = rest;
    wrong[0] = 0xe0;
    let wrong = Action::Wqe { qp: 0, slot: 0, opcode: 0x0a, ds: 3, flags: 8, rest: wrong };
    let stream = vec![wrong, Action::Ring { qp: 0, index: 1, ds: 4 }, Action::Wait { time: 100 }];
    let stream = Input { qps: [2, 2], ..input(4, stream) };
    let to_target = |opcode, payload| Action::Request { qp: 2, opcode, psn: 0x20, flags: 0, headers: [1; 28], payload };
    let dynamic_packets = [0xd8, 0xd8, 0xca, 0xcc, 0xd3, 0xc4, 0xda, 0xd9]
        .map(|opcode| to_target(opcode, u8::from(opcode == 0xca)))
        .to_vec();
    vec![
        ("send", input(0, send)),
        ("write", input(0, one(0x08, 3))),
        ("read", input(0, one(0x10, 3))),
        ("fetch_add", input(0, one(0x12, 4))),
        ("nop", input(0, one(0x00, 1))),
        ("bad_opcode", input(0, one(0x3f, 2))),
        ("unreliable", unreliable),
        ("datagram", input(2, one(0x0a, 3))),
        ("packets", input(0, packets)),
        ("changes", input(0, changes)),
        ("doorbells", input(0, doorbells)),
        ("flush", flush),
        ("unsignaled", input(0, unsignaled)),
        ("past_the_end", input(0, answers(0x3f, 80))),
        ("read_only", input(0, answers(0x80, 16))),
        ("other_pd", input(0, answers(0xc0, 16))),
        ("raw_packet", input(3, one(0x0a, 3))),
        ("dynamic", dynamic),
        ("failed_stream", stream),
        ("dynamic_packets", input(4, dynamic_packets)),
        ("sink", Input { doorbells: 0xc2, ..input(0, one(0x0a, 3)) }),
        ("records", Input { doorbells: 2, ..input(0, one(0x09, 3)) }),
    ]
}

/// Good commands in the order in which drivers give them, and some that are not.
pub(crate) fn firmware() -> Vec<(&'static str, firmware::Input)> {
    use firmware::{Action, Change, Input, Word};
    let good = |which, number| Action::Good { which, uid: 0, number, changes: vec![] };
    let ready = [(1, 0), (2, 0), (6, 0), (7, 1), (8, 0), (10, 2), (11, 2), (12, 2)];
    let ready: Vec<Action> = ready.into_iter().map(|(which, number)| good(which, number)).collect();
    // A WRITE of 8 bytes, of the key that is first made, from the queue pair to itself.
    let mut wqe = [0; 64];
    wqe[3] = 8;
    wqe[6..8].copy_from_slice(&[2, 3]);
    wqe[11] = 8;
    wqe[16 + 9..16 + 11].copy_from_slice(&[0x18, 0]);
    wqe[32 + 3] = 8;
    wqe[32 + 5..32 + 7].copy_from_slice(&[0, 0x18]);
    let mut record = [0; 64];
    record[7] = 1;
    let mut write = ready.clone();
    write.extend([
        Action::Store { at: 14 * 4096 + 1024, bytes: wqe },
        Action::Store { at: 20 * 4096 + 64, bytes: record },
        Action::Doorbell { uar: 1, offset: 0x800, bytes: wqe[..8].try_into().expect("8 bytes") },
        Action::Wait { time: 100 },
    ]);
    let mut torn_down = ready.clone();
    torn_down.extend([(9, 0x18), (13, 2), (15, 2), (16, 2), (17, 1), (18, 0x18), (21, 1)].map(|(w, n)| good(w, n)));
    let of_users = vec![
        good(0, 0),
        good(0, 0),
        Action::Good { which: 5, uid: 1, number: 0, changes: vec![] },
        Action::Good { which: 19, uid: 2, number: 1, changes: vec![] },
        Action::Good { which: 19, uid: 1, number: 1, changes: vec![] },
    ];
    let changed = vec![
        good(1, 0),
        Action::Good { which: 5, uid: 0, number: 0, changes: vec![Change { at: 0x2f, value: 0x80 }] },
        Action::Command {
            which: 3,
            uid: 0,
            modifier: 1,
            words: vec![Word { at: 0, value: 0x100 }, Word { at: 8, value: u32::MAX }],
            list: vec![1, 2],
            room: 3,
        },
        Action::Raw { bytes: vec![1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0], room: 0x1010 },
        Action::Raw { bytes: vec![8], room: 3 },
        Action::Packet { bytes: vec![4, 0, 0xff, 0xff, 0, 0, 0, 2, 0x80, 0, 0, 0, 1, 2, 3, 4] },
    ];
    let input = |actions| Input { ethernet: false, actions };
    vec![
        ("write", input(write)),
        ("torn_down", input(torn_down)),
        ("of_users", input(of_users)),
        ("changed", input(changed.clone())),
        ("ethernet", Input { ethernet: true, actions: changed }),
    ]
}

pub(crate) fn devx_outbox() -> Vec<(&'static str, devx_outbox::Input)> {
    let input = |structure, bytes| devx_outbox::Input { structure, bytes };
    let mut failed = vec![0; 16];
    (failed[0], failed[7]) = (3, 0x55);
    vec![
        ("empty", input(0, Vec::new())),
        ("failed", input(1, failed)),
        ("all_ones", input(2, vec![0xff; 4112])),
        ("counting", input(3, (0..4112_u32).map(|n| n as u8).collect())),
        ("short", input(4, vec![0xa5; 37])),
    ]
}
