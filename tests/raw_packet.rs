//! Raw packet queue pairs: libibverbs and libmlx5 as installed, frames posted by this crate.
//!
//! Setup and traffic of raw packet queue pairs belong here. The bytes of frames' requests belong in `tests/send_queue`
//! and `tests/differential`.
//!
//! Needs an mlx5 device with an Ethernet port, and `CAP_NET_RAW`. `./run test` starts the software device with:
//!
//! ```text
//! softhca-run --link ethernet --inline-headers none --
//! softhca-run --link ethernet --inline-headers l2 --
//! softhca-run --link ethernet --inline-headers ip --
//! softhca-run --link ethernet --inline-headers tcp_udp --
//! softhca-run --link ethernet --inline-headers l2 --no-write-combining --
//! softhca-run --link ethernet --inline-headers l2 --strict --
//! ```

#![cfg(feature = "verbs")]

use std::any::Any;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use blueflame::cq::setup::{ReceiverError, Whose};
use blueflame::cq::{CqeCopy, CqeError, Side, WcStatus};
use blueflame::flow::Flow;
use blueflame::queue::RetireError;
use blueflame::transport::{self, InlineIp, InlineL2, InlineLayers, InlineMode, InlineNone, InlineTcpUdp};
use blueflame::types::{DcKey, WrId};
use blueflame::verbs::adopt::adopt_qp_shared;
use blueflame::verbs::device::{Port, SoftwareParser, Tunnels};
use blueflame::verbs::ethernet::{Egress, FlowAttr, FlowRule};
use blueflame::verbs::{Access, Buffer, Device, Drained, Error, OwnedCq, Pool, ProtectionDomain, QpState, QueuePair};
use blueflame::wqe::limits::FrameOffloads;
use blueflame::wqe::operations::{HeaderOffsets, HeadersAt, Ip, L4};
use blueflame::wqe::{self, Sge, SupportedOn};
use rdma_sys as sys;

fn device() -> Device {
    Device::open_first().expect("these tests need an mlx5 device: run them by ./run test, or under softhca-run")
}

/// Frames with as many headers inline as any device of these runs needs, and the least bytes of them.
type Frames = transport::RawPacket<InlineTcpUdp>;
const HEADERS: usize = InlineTcpUdp::LEAST;

fn pair(pd: &ProtectionDomain, cq: &OwnedCq) -> QueuePair<Frames> {
    pd.queue_pair(cq, cq).sends(16).receives(16).inline(100).build().expect("a raw packet queue pair: is it permitted?")
}

/// The next completion, and the index of its request.
fn completion(
    cq: &mut OwnedCq,
    mut retire: impl FnMut(&CqeCopy<'_>) -> Result<WrId, RetireError>,
) -> (Result<(), WcStatus>, WrId) {
    let begin = Instant::now();
    loop {
        if let Some(cqe) = cq.poll() {
            let status = match cqe.check() {
                Ok(_) => Ok(()),
                Err(CqeError::Completion(error) | CqeError::Aborted(error)) => Err(error.status()),
                Err(error) => panic!("{error}"),
            };
            return (status, retire(&cqe).expect("outstanding"));
        }
        assert!(begin.elapsed() < Duration::from_secs(20), "no completion");
        std::thread::yield_now();
    }
}

#[test]
fn frames_leave_in_every_form() {
    let device = device();
    let port = device.port(1).expect("port 1");
    let pd = device.protection_domain().expect("a PD");
    let buffer = Pool::new(&pd, 4096, Access::LOCAL_WRITE).expect("a pool").take(4096).expect("all of it");
    let mut cq = device.completion_queue(64).build().expect("a CQ");
    let mut pair = pair(&pd, &cq);
    pair.activate(&port).expect("ready to send");
    assert_eq!(pair.qp.state().expect("queried"), QpState::ReadyToSend);

    let sq = &mut pair.sq;
    // To nobody: addresses of the range for documentation (RFC 7042, 2.1.2), an EtherType for experiments.
    let mut headers = [0x11; HEADERS];
    headers[..18].copy_from_slice(&[0, 0, 0x5e, 0, 0x53, 1, 0, 0, 0x5e, 0, 0x53, 2, 0x81, 0, 0, 1, 0x88, 0xb5]);
    let frame = wqe::frame().inline_headers(&headers);
    let shot =
        sq.template(wqe::frame().inline_headers(headers).inline_len::<64>().signaled(WrId(4))).expect("a template");
    sq.post(&frame.inline(&[0x5a; 46]).signaled(WrId(1))).expect("room");
    // SAFETY: the buffer lives as long as the queue, and nobody writes it.
    unsafe { sq.post_unchecked(&frame.gather([buffer.sge_of(0..1000)]).signaled(WrId(2))) }.expect("room");
    sq.post(&wqe::frame().inline_headers([0x11; 60]).l3_checksum().signaled(WrId(3))).expect("room");
    sq.fire(&shot, &[7; 64]).expect("room");
    for tag in 1..=4 {
        let done = completion(&mut cq, |cqe| pair.sq.retire(cqe).map(|retired| retired.wr_id));
        assert_eq!(done, (Ok(()), WrId(tag)));
    }
}

#[test]
fn receives_posted_early_are_kept() {
    let device = device();
    let port = device.port(1).expect("port 1");
    let pd = device.protection_domain().expect("a PD");
    let buffer = Pool::new(&pd, 4096, Access::LOCAL_WRITE).expect("a pool").take(4096).expect("all of it");
    let mut cq = device.completion_queue(64).build().expect("a CQ");
    let mut pair = pair(&pd, &cq);
    let rq = pair.rq.as_mut().expect("a receive queue");
    for tag in 0..3 {
        // SAFETY: the buffer lives as long as the queue, and nobody looks at it.
        unsafe { rq.post_unchecked(WrId(tag), &[buffer.sge()]) }.expect("room");
    }
    pair.activate(&port).expect("ready to send");
    // On its way libmlx5 tells the device that there are none. No rule brings frames here, so only an error completes
    // them.
    pair.qp.to_error().expect("ERR");
    for tag in 0..3 {
        let rq = pair.rq.as_mut().expect("a receive queue");
        assert_eq!(completion(&mut cq, |cqe| rq.retire(cqe)), (Err(WcStatus::WrFlushErr), WrId(tag)));
    }
}

/// The EtherType of frames in these tests: one for experiments.
const EXPERIMENT: u16 = 0x88b5;

/// A rule by which frames of [`EXPERIMENT`] for one station arrive at a queue pair, until it is dropped.
fn rule<M: InlineMode>(pair: &QueuePair<transport::RawPacket<M>>, station: [u8; 6], tag: Option<u32>) -> FlowRule {
    let flow = Flow::mac(station).ether_type(EXPERIMENT);
    pair.qp.steer(&tag.map_or(flow, |tag| flow.flow_tag(tag))).expect("a rule")
}

/// A frame to a station, of as many bytes as Ethernet wants at least.
fn frame(station: [u8; 6], byte: u8) -> [u8; 60] {
    let mut frame = [byte; 60];
    frame[..6].copy_from_slice(&station);
    frame[6..12].copy_from_slice(&[2, 0, 0x5e, 0, 0x53, 9]);
    frame[12..14].copy_from_slice(&EXPERIMENT.to_be_bytes());
    frame
}

fn send(sq: &mut QueuePair<Frames>, cq: &mut OwnedCq, bytes: &[u8; 60]) {
    let (headers, rest) = bytes.split_first_chunk::<HEADERS>().expect("so many");
    sq.sq.post(&wqe::frame().inline_headers(*headers).inline(rest).signaled(WrId(1))).expect("room");
    assert_eq!(completion(cq, |cqe| sq.sq.retire(cqe).map(|done| done.wr_id)), (Ok(()), WrId(1)));
}

#[test]
fn receives_retire_whatever_tag_the_rule_gives() {
    const STATION: [u8; 6] = [2, 0, 0x5e, 0, 0x53, 1];
    let device = device();
    let port = device.port(1).expect("port 1");
    let pd = device.protection_domain().expect("a PD");
    let mut sends = device.completion_queue(64).build().expect("a CQ");
    let mut sender = pair(&pd, &sends);
    sender.activate(&port).expect("ready to send");
    let buffer = Pool::new(&pd, 4096, Access::LOCAL_WRITE).expect("a pool").take(4096).expect("all of it");
    let mut cq = device.completion_queue(64).build().expect("a CQ");
    let mut pair = pair(&pd, &cq);
    pair.activate(&port).expect("ready to send");
    let own = [pair.qp.qpn().get(), pair.qp.recv_qpn().get(), sender.qp.qpn().get()];
    let tags = [None, Some(0), Some(1), Some(0x12_3456), Some(0xff_ffff)].into_iter().chain(own.map(Some));
    for (n, tag) in tags.enumerate() {
        let _rule = rule(&pair, STATION, tag);
        let rq = pair.rq.as_mut().expect("a receive queue");
        // SAFETY: the buffer lives as long as the queue, and is read after the completion.
        unsafe { rq.post_unchecked(WrId(n as u64), &[buffer.sge()]) }.expect("room");
        let sent = frame(STATION, n as u8);
        send(&mut sender, &mut sends, &sent);
        let mut said = None;
        let done = completion(&mut cq, |cqe| {
            said = Some(cqe.flow_tag());
            rq.retire(cqe)
        });
        assert_eq!((done, said), ((Ok(()), WrId(n as u64)), Some(tag.unwrap_or(0))), "rule with {tag:x?}");
        let mut bytes = [0; 60];
        buffer.read(0, &mut bytes);
        assert_eq!(bytes, sent);
    }
}

/// The setting of the software device that says which headers it needs inline; absent on a NIC.
const INLINE_HEADERS: &str = "SOFTHCA_INLINE_HEADERS";

/// One WQE, eight frames, one completion of it. A device that needs headers inline has no such WQEs.
#[test]
fn frames_of_a_session_arrive() {
    const STATION: [u8; 6] = [2, 0, 0x5e, 0, 0x53, 0x81];
    const FRAMES: usize = 8;
    let device = device();
    if let Ok(headers) = std::env::var(INLINE_HEADERS) {
        assert_eq!(device.attr().multi_packet, headers == "none");
    }
    let port = device.port(1).expect("port 1");
    let pd = device.protection_domain().expect("a PD");
    let [mut sends, mut receives] = [(); 2].map(|()| device.completion_queue(64).build().expect("a CQ"));
    let sender = pd.queue_pair::<transport::RawPacket<InlineNone>>(&sends, &sends).sends(16).receives(0);
    let needs = device.inline_layers().expect("the kernel has DevX");
    if needs != InlineLayers::None {
        let refused = Error::InlineLayers { has: InlineLayers::None, needs };
        assert_eq!(sender.build().map(drop), Err(refused));
        assert!(!device.attr().multi_packet);
        return;
    }
    let mut sender = sender.build().expect("a queue pair");
    sender.activate(&port).expect("ready to send");
    let offloads = sender.sq.limits().offloads;
    // The software device cuts up 256 KiB.
    let all = FrameOffloads {
        multi_packet: true,
        inner_checksums: true,
        header_offsets: true,
        header_offsets_of_large: true,
        metadata: true,
        max_large_send: 1 << 18,
    };
    assert_eq!(offloads, all);
    // Of tunnels, the device has VXLAN and GRE in both directions.
    let tunnels = Tunnels { vxlan: true, gre: true, geneve: false };
    let software_parser = SoftwareParser { checksums: true, large_sends: true };
    assert_eq!((device.attr().tunnels, device.attr().software_parser), (tunnels, software_parser));
    let mut receiver = pair(&pd, &receives);
    receiver.activate(&port).expect("ready to send");
    let _rule = rule(&receiver, STATION, None);
    let mut pool = Pool::new(&pd, 1 << 12, Access::LOCAL_WRITE).expect("a pool");
    let mut buffer = pool.take(1 << 12).expect("all of it");
    let places: [Sge; 2 * FRAMES] = core::array::from_fn(|n| buffer.sge_of(n * 128..(n + 1) * 128));
    for round in 0..20_u8 {
        let frames: [[u8; 60]; FRAMES] = core::array::from_fn(|n| frame(STATION, round * 8 + n as u8));
        let rq = receiver.rq.as_mut().expect("a receive queue");
        for n in 0..FRAMES {
            // SAFETY: the buffer lives as long as the queues, and is read after the completion.
            unsafe { rq.post_unchecked(WrId(n as u64), &[places[n]]) }.expect("room");
            buffer.write((FRAMES + n) * 128, &frames[n]);
        }
        let mut batch = sender.sq.batch();
        let mut session = batch.session(&wqe::frame().signaled(WrId(100))).expect("room");
        for n in 0..FRAMES {
            let put = match (n + usize::from(round)) % 3 == 0 {
                true => session.inline(&frames[n]),
                // SAFETY: as above; nothing writes there until the completion.
                false => unsafe { session.gather_unchecked(Sge { length: 60, ..places[FRAMES + n] }) },
            };
            put.expect("room");
        }
        session.close();
        batch.ring_doorbell();
        let mut tags = Vec::new();
        let (status, _) = completion(&mut sends, |cqe| {
            let retired = sender.sq.retire(cqe)?;
            tags.extend(retired.wr_ids());
            Ok(retired.wr_id)
        });
        assert_eq!((status, tags), (Ok(()), (100..100 + FRAMES as u64).map(WrId).collect()));
        for (n, sent) in frames.iter().enumerate() {
            let rq = receiver.rq.as_mut().expect("a receive queue");
            assert_eq!(completion(&mut receives, |cqe| rq.retire(cqe)), (Ok(()), WrId(n as u64)));
            let mut bytes = [0; 60];
            buffer.read(n * 128, &mut bytes);
            assert_eq!(bytes, *sent, "frame {n} of round {round}");
        }
    }
}

fn refused<T>(made: Result<T, Error>) -> ReceiverError {
    match made {
        Err(Error::Receivers { error, .. }) => error,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("made"),
    }
}

/// The object that a call made, or its error.
type Made = Result<Box<dyn Any>, Error>;

/// Each object that receives on a completion queue, made there.
fn others(device: &Device, pd: &ProtectionDomain, cq: &OwnedCq) -> Vec<(&'static str, Made)> {
    fn made<T: 'static>(made: Result<T, Error>) -> Made {
        made.map(|it| Box::new(it) as _)
    }
    let srq = pd.shared_recv_queue(16, 1).expect("a shared receive queue");
    let path = device.path(1, None).expect("a path");
    let domain = device.xrc_domain().expect("an XRC domain");
    let rc = || pd.queue_pair::<transport::Rc>(cq, cq);
    let mut all = vec![
        ("RC", made(rc().build())),
        ("UD", made(pd.queue_pair::<transport::Ud>(cq, cq).build())),
        ("RC, shared receives", made(rc().shared_recv_queue(srq.handle()).build())),
        ("target", made(pd.target(cq, srq.handle()).build(&path, DcKey(1)))),
        ("XRC shared receives", made(pd.xrc_shared_recv_queue(&domain, cq.handle(), 16, 1))),
    ];
    if device.tag_matching().expect("attributes").is_some() {
        all.push(("list of tags", made(pd.tag_matching(cq, &path).build())));
    }
    all
}

/// The kernel lets queue pairs of raw packets state where the headers are (`create_raw_packet_qp_sq`). The tunnel is
/// one that no device knows: behind UDP, four bytes.
#[test]
fn inner_checksums_by_offsets_arrive() {
    const STATION: [u8; 6] = [2, 0, 0x5e, 0, 0x53, 0x82];
    let device = device();
    if !device.attr().software_parser.checksums {
        return;
    }
    let port = device.port(1).expect("port 1");
    let pd = device.protection_domain().expect("a PD");
    let mut sends = device.completion_queue(64).build().expect("a CQ");
    let sender = pd.queue_pair::<Frames>(&sends, &sends).sends(16).receives(0);
    let mut sender = sender.inline(100).build().expect("a queue pair");
    sender.activate(&port).expect("ready to send");
    let mut receives = device.completion_queue(64).build().expect("a CQ");
    let mut receiver = pair(&pd, &receives);
    receiver.activate(&port).expect("ready to send");
    let _rule = receiver.qp.steer(&Flow::mac(STATION)).expect("a rule");
    let buffer = Pool::new(&pd, 4096, Access::LOCAL_WRITE).expect("a pool").take(4096).expect("all of it");
    let rq = receiver.rq.as_mut().expect("a receive queue");
    // SAFETY: the buffer lives as long as the queue, and is read after the completion.
    unsafe { rq.post_unchecked(WrId(1), &[buffer.sge()]) }.expect("room");

    let mut frame = [&STATION[..], &[2, 0, 0x5e, 0, 0x53, 9, 8, 0]].concat();
    frame
        .extend([0x45, 0, 0, 64, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0x30, 0x39, 0x0f, 0xa0, 0, 44]);
    frame.extend([0, 0, 1, 2, 3, 4]);
    frame.extend([0x45, 0, 0, 32, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 3, 10, 0, 0, 4, 0, 1, 0, 2, 0, 12, 0, 0]);
    frame.extend([9, 8, 7, 6]);
    let outer = HeadersAt { ip: Ip::V4, l3: 14, l4: Some((L4::Udp, 34)) };
    let inner = HeadersAt { ip: Ip::V4, l3: 46, l4: Some((L4::Udp, 66)) };
    let offsets = HeaderOffsets::new(outer, Some(inner)).expect("even offsets");
    let (headers, rest) = frame.split_first_chunk::<42>().expect("so many");
    let request = wqe::frame().inline_headers(headers).l3_checksum().inner_l3_checksum().inner_l4_checksum();
    sender.sq.post(&request.header_offsets(offsets).metadata(1).inline(rest).signaled(WrId(1))).expect("room");
    let done = completion(&mut sends, |cqe| sender.sq.retire(cqe).map(|done| done.wr_id));
    assert_eq!(done, (Ok(()), WrId(1)));
    assert_eq!(completion(&mut receives, |cqe| rq.retire(cqe)), (Ok(()), WrId(1)));
    let mut found = vec![0; frame.len()];
    buffer.read(0, &mut found);
    // The outer IP header: 4500 + 0040 + 4000 + 4011 + 0a00 + 0001 + 0a00 + 0002 = d954. The inner one differs in 0020,
    // 0003 and 0004: d938. The inner UDP sum is 2441: 0a00 0003 0a00 0004 0011 000c, 0001 0002 000c, 0908 0706. Frames
    // have the complements.
    frame[24..26].copy_from_slice(&[0x26, 0xab]);
    frame[56..58].copy_from_slice(&[0x26, 0xc7]);
    frame[72..74].copy_from_slice(&[0xdb, 0xbe]);
    assert_eq!(found, frame);
}

#[test]
fn a_receiver_of_frames_is_the_only_receiver() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let [cq, other] = [(); 2].map(|()| device.completion_queue(512).build().expect("a CQ"));
    let raw = pair(&pd, &cq);
    // Nothing else receives there.
    let alone = ReceiverError { flow_tags: true, receivers: 1 };
    assert_eq!(refused(pd.queue_pair::<Frames>(&cq, &cq).build()), alone);
    for (name, made) in others(&device, &pd, &cq) {
        let alone = ReceiverError { flow_tags: false, receivers: 1 };
        assert_eq!(refused(made), alone, "{name}");
    }
    let text = refused(pd.queue_pair::<transport::Rc>(&other, &cq).build()).to_string();
    assert!(text.contains("must be the only one"), "{text}");
    // Sends may complete there, and receives elsewhere.
    let sends = pd.queue_pair::<transport::Rc>(&cq, &other).build().expect("receives elsewhere");
    let none = pd.queue_pair::<transport::Rc>(&cq, &cq).receives(0).build().expect("no receives");
    let quiet = pd.queue_pair::<Frames>(&cq, &cq).receives(0).build().expect("no receives");
    drop((none, quiet));
    let elsewhere = ReceiverError { flow_tags: true, receivers: 1 };
    assert_eq!(refused(pd.queue_pair::<Frames>(&cq, &other).build()), elsewhere);
    drop(sends);

    // The other way around, once it is gone: handles count, too.
    let handle = raw.qp.clone();
    drop(raw);
    assert_eq!(refused(pd.queue_pair::<transport::Rc>(&cq, &cq).build()).receivers, 1);
    drop(handle);
    let count = others(&device, &pd, &cq).len();
    for n in 0..count {
        let (name, made) = others(&device, &pd, &cq).swap_remove(n);
        let made = match made {
            Ok(made) => made,
            // libmlx5 makes none on this port, so nothing is counted.
            Err(Error::Call(_)) if name == "list of tags" => continue,
            Err(error) => panic!("{name}: {error}"),
        };
        let error = refused(pd.queue_pair::<Frames>(&cq, &cq).build());
        assert!(error.flow_tags && error.receivers >= 1, "{name}: {error}");
        drop(made);
        drop(pair(&pd, &cq));
    }
    let pairs = [(); 3].map(|()| pd.queue_pair::<transport::Rc>(&cq, &cq).build().expect("numbers tell them apart"));
    let error = refused(pd.queue_pair::<Frames>(&other, &cq).build());
    assert_eq!(error, ReceiverError { flow_tags: true, receivers: 3 });
    assert!(error.to_string().contains("3 receivers"), "{error}");
    drop(pairs);
}

/// Also one that something else made, where it is adopted.
#[test]
fn an_adopted_receiver_of_frames_is_the_only_receiver() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let cq = device.completion_queue(64).build().expect("a CQ");
    // SAFETY: integers and null pointers.
    let mut attr: sys::ibv_qp_init_attr = unsafe { std::mem::zeroed() };
    (attr.send_cq, attr.recv_cq) = (cq.handle().as_raw(), cq.handle().as_raw());
    attr.qp_type = sys::ibv_qp_type::IBV_QPT_RAW_PACKET;
    attr.cap = sys::ibv_qp_cap { max_send_wr: 4, max_recv_wr: 4, max_send_sge: 1, max_recv_sge: 1, max_inline_data: 0 };
    // SAFETY: the domain and the completion queue are alive.
    let raw = NonNull::new(unsafe { sys::ibv_create_qp(pd.as_raw(), &raw mut attr) }).expect("a queue pair");
    // SAFETY: just made, and destroyed below; nothing else uses it.
    let adopt = || unsafe { adopt_qp_shared::<Frames>(raw) };
    // SAFETY: as above.
    let without_headers = unsafe { adopt_qp_shared::<transport::RawPacket<InlineNone>>(raw) };
    match device.inline_layers().expect("the kernel has DevX") {
        InlineLayers::None => drop(without_headers.expect("adopted")),
        needs => {
            let refused = Error::InlineLayers { has: InlineLayers::None, needs };
            assert_eq!(without_headers.map(drop), Err(refused));
        }
    }
    let adopted = adopt().expect("adopted");
    assert_eq!(refused(pd.queue_pair::<transport::Rc>(&cq, &cq).build()).receivers, 1);
    drop(adopted);
    let first = pd.queue_pair::<transport::Rc>(&cq, &cq).build().expect("nothing receives there");
    let Err(Error::Receivers { cqn, error }) = adopt() else { panic!("another receives there") };
    assert_eq!((cqn, error), (cq.handle().cqn(), ReceiverError { flow_tags: true, receivers: 1 }));
    drop(first);
    // SAFETY: the queues over it are gone.
    assert_eq!(unsafe { sys::ibv_destroy_qp(raw.as_ptr()) }, 0);
}

/// A sender, and a receiver on a completion queue where the sender's requests complete, too. Frames come with the
/// sender's number as tag.
struct Lab {
    /// Nobody else's: tests run side by side, and rules of another test must not match.
    station: [u8; 6],
    port: Port,
    pd: ProtectionDomain,
    buffer: Buffer,
    cq: OwnedCq,
    sender: QueuePair<Frames>,
    receiver: QueuePair<Frames>,
    /// Where the sender would receive.
    none: OwnedCq,
}

impl Lab {
    fn new() -> Self {
        static LABS: AtomicU8 = AtomicU8::new(2);
        let station = [2, 0, 0x5e, 0, 0x53, LABS.fetch_add(1, Ordering::Relaxed)];
        let device = device();
        let port = device.port(1).expect("port 1");
        let pd = device.protection_domain().expect("a PD");
        let buffer = Pool::new(&pd, 4096, Access::LOCAL_WRITE).expect("a pool").take(4096).expect("all of it");
        let [cq, none] = [(); 2].map(|()| device.completion_queue(64).build().expect("a CQ"));
        let mut sender = pd.queue_pair(&cq, &none).sends(16).receives(16).inline(100).build().expect("a sender");
        let mut receiver = pair(&pd, &cq);
        for pair in [&mut sender, &mut receiver] {
            pair.activate(&port).expect("ready to send");
        }
        Self { station, port, pd, buffer, cq, sender, receiver, none }
    }

    fn post(&mut self, tag: u64) {
        let rq = self.receiver.rq.as_mut().expect("a receive queue");
        // SAFETY: the buffer lives as long as the queue, and nobody looks at it.
        unsafe { rq.post_unchecked(WrId(tag), &[self.buffer.sge()]) }.expect("room");
    }

    /// Sends a frame, and waits until the completion of its receive lies in the queue. That of the send is there, too,
    /// if `sent`.
    fn deliver(&mut self, sent: bool) {
        let frame = frame(self.station, 7);
        let (headers, rest) = frame.split_first_chunk::<HEADERS>().expect("so many");
        let request = wqe::frame().inline_headers(*headers).inline(rest);
        let posted = match sent {
            true => self.sender.sq.post(&request.signaled(WrId(1))),
            false => self.sender.sq.post(&request),
        };
        posted.expect("room");
        let begin = Instant::now();
        while !self.cq.holds(Whose::Receives) || sent && !self.cq.holds(Whose::Sends(self.sender.qp.qpn())) {
            assert!(begin.elapsed() < Duration::from_secs(20), "no completion");
            std::thread::yield_now();
        }
    }

    fn rule(&self) -> FlowRule {
        rule(&self.receiver, self.station, Some(self.sender.qp.qpn().get()))
    }

    fn received(&mut self) -> (Result<(), WcStatus>, WrId) {
        let rq = self.receiver.rq.as_mut().expect("a receive queue");
        completion(&mut self.cq, |cqe| rq.retire(cqe))
    }
}

#[test]
fn a_reset_forgets_the_receives_of_its_own_queue_pair() {
    let mut lab = Lab::new();
    let rule = lab.rule();
    lab.post(1);
    lab.deliver(true);
    // The tag of the receive is the sender's number. It stays.
    let mut forgotten = Vec::new();
    lab.sender.reset(&mut [&mut lab.cq, &mut lab.none], |cqe| forgotten.push(cqe.side())).expect("RESET");
    assert_eq!(forgotten, [Some(Side::Requester)]);
    assert_eq!(lab.received(), (Ok(()), WrId(1)));

    lab.sender.activate(&lab.port).expect("ready to send again");
    for tag in 2..4 {
        lab.post(tag);
    }
    lab.deliver(false);
    drop(rule);
    let mut forgotten = Vec::new();
    lab.receiver.reset(&mut [&mut lab.cq], |cqe| forgotten.push((cqe.side(), cqe.flow_tag()))).expect("RESET");
    assert_eq!(forgotten, [(Some(Side::Responder), lab.sender.qp.qpn().get())]);
    assert_eq!(lab.receiver.rq.as_ref().map(|rq| rq.posted()), Some(0));
    // A completion from before would be taken for that of this request, which has the same index.
    lab.receiver.activate(&lab.port).expect("ready to send again");
    lab.post(4);
    assert!(lab.cq.poll().is_none());
    let rule = lab.rule();
    lab.deliver(false);
    assert_eq!(lab.received(), (Ok(()), WrId(4)));
    drop(rule);
}

#[test]
fn frames_left_behind_retire_nothing_of_the_next_receiver() {
    let mut lab = Lab::new();
    let rule = lab.rule();
    lab.post(1);
    lab.deliver(false);
    drop(rule);
    let Lab { pd, receiver, mut cq, sender, buffer, .. } = lab;
    drop(receiver);
    let made = pd.queue_pair::<Frames>(&cq, &cq).build();
    assert!(matches!(&made, Err(Error::StaleReceives { cqn }) if *cqn == cq.handle().cqn()), "{made:?}");
    // Others may: the tag is not their number.
    drop(pd.queue_pair::<transport::Rc>(&cq, &cq).build().expect("another number"));
    assert_eq!(cq.forget(Whose::Receives), 1);
    drop((pair(&pd, &cq), sender, buffer));
}

#[test]
fn a_drain_accounts_for_frames() {
    let mut lab = Lab::new();
    let rule = lab.rule();
    for tag in 0..3 {
        lab.post(tag);
    }
    lab.deliver(true);
    drop(rule);
    let mut drain = lab.receiver.drain().expect("ERR");
    let (mut receives, mut others) = (Vec::new(), 0);
    let begin = Instant::now();
    while !drain.is_done() {
        lab.cq.poll_with(16, |cqe| match drain.take(&cqe).expect("outstanding") {
            Some(Drained::Receive(tag)) => receives.push((tag.0, cqe.check().is_ok())),
            Some(other) => panic!("{other:?}"),
            None => others += 1,
        });
        assert!(begin.elapsed() < Duration::from_secs(20), "no completion");
    }
    assert_eq!((receives, others), (vec![(0, true), (1, false), (2, false)], 1));
}

/// Rules of frames that leave match the metadata of their requests: some frames are dropped, and their requests
/// complete all the same.
#[test]
fn rules_of_frames_that_leave_match_metadata() {
    let mut lab = Lab::new();
    let device = lab.pd.device().clone();
    let _rule = lab.rule();
    let frame = [&frame(lab.station, 7)[..], &[8; 40]].concat();
    let (headers, rest) = frame.split_first_chunk::<HEADERS>().expect("so many");
    // No other test gives frames these numbers.
    let [dropped, masked, free] = [0x5eed_0001, 0x5eed_1100, 0x5eed_0002];
    let mut arrives = |metadata: u32| {
        lab.post(1);
        let request = wqe::frame().inline_headers(*headers).metadata(metadata).inline(rest);
        lab.sender.sq.post(&request.signaled(WrId(2))).expect("room");
        // This shorter one leaves in any case, and comes behind the other.
        lab.post(3);
        lab.deliver(true);
        let (begin, rq) = (Instant::now(), lab.receiver.rq.as_mut().expect("a receive queue"));
        let (mut sent, mut arrived, mut last) = (0, 0, false);
        while sent < 2 || !last {
            lab.cq.poll_with(16, |cqe| {
                cqe.check().expect("a dropped frame completes, too");
                if cqe.side() == Some(Side::Requester) {
                    lab.sender.sq.retire(&cqe).expect("outstanding");
                    sent += 1;
                } else {
                    rq.retire(&cqe).expect("outstanding");
                    last |= cqe.byte_len() == 60;
                    arrived += u32::from(cqe.byte_len() == 100);
                }
            });
            assert!(begin.elapsed() < Duration::from_secs(20), "no completion");
        }
        arrived
    };
    assert_eq!([dropped, masked, free].map(&mut arrives), [1; 3]);
    let rules = [
        device.steer_sends(&Egress::metadata(dropped).drop_frames()).expect("a rule"),
        device.steer_sends(&Egress::masked_metadata(masked, 0xffff_ff00).drop_frames()).expect("a rule"),
    ];
    assert_eq!([dropped, masked, masked | 0x55, masked | 0x200, free].map(&mut arrives), [0, 0, 0, 1, 1]);
    // A rule that comes first lets some of them through.
    let first = device.steer_sends(&Egress::metadata(masked).priority(0)).map(drop);
    assert!(first.is_ok(), "{first:?}");
    drop(rules);
    let behind = device.steer_sends(&Egress::masked_metadata(masked, 0xffff_ff00).priority(2).drop_frames());
    let first = device.steer_sends(&Egress::metadata(masked).priority(1)).expect("a rule");
    assert_eq!([masked, masked | 0x55].map(&mut arrives), [1, 0]);
    drop((first, behind.expect("a rule")));
    assert_eq!([dropped, masked].map(&mut arrives), [1; 2]);
    let refused = device.steer_sends(&Egress::any().priority(16));
    assert!(matches!(refused, Err(Error::OutOfRange { max: 15, .. })), "{refused:?}");
}

/// The documentation of raw packet queue pairs says so, and names the call that works.
#[test]
fn flows_of_rdma_sys_are_refused() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let cq = device.completion_queue(64).build().expect("a CQ");
    let flow = FlowAttr::new(&Flow::mac([2, 0, 0x5e, 0, 0x53, 1]), 1).expect("no contradiction");
    // Aligned, and not written.
    let attr = flow.as_bytes().as_ptr().cast_mut().cast::<sys::ibv_flow_attr>();
    let pair = pair(&pd, &cq);
    // SAFETY: the queue pair is alive; the specifications are behind the attributes.
    let made = unsafe { sys::ibv_create_flow(pair.qp.as_raw(), attr) };
    assert_eq!((made, std::io::Error::last_os_error().raw_os_error()), (None, Some(95)), "EOPNOTSUPP");
}

/// The headers that the device needs, by the launcher's option: names of the modes, in their order.
fn mode() -> usize {
    let name = std::env::var("SOFTHCA_INLINE_HEADERS").expect("the software device");
    ["none", "l2", "ip", "tcp_udp"].iter().position(|mode| *mode == name).expect("a mode")
}

#[test]
fn packets_have_the_headers_that_the_device_needs() {
    const UDP: [u8; 45] = [
        2, 0, 0x5e, 0, 0x53, 1, 2, 0, 0x5e, 0, 0x53, 2, 8, 0, 0x45, 0, 0, 31, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1,
        10, 0, 0, 2, 0, 1, 0, 2, 0, 11, 0, 0, 1, 2, 3,
    ];
    /// Posts the packet with its first `N` bytes inline, and returns its end. An error if there is no such queue pair.
    fn post<M: InlineMode, const N: usize>() -> Result<Result<(), WcStatus>, Error>
    where
        wqe::operations::Frame<[u8; N]>: SupportedOn<transport::RawPacket<M>>,
    {
        let device = device();
        let pd = device.protection_domain().expect("a PD");
        let mut cq = device.completion_queue(64).build().expect("a CQ");
        let mut pair = pd.queue_pair::<transport::RawPacket<M>>(&cq, &cq).inline(100).build()?;
        pair.activate(&device.port(1).expect("port 1")).expect("ready to send");
        let (headers, rest) = UDP.split_first_chunk::<N>().expect("so many");
        let frame = wqe::frame().inline_headers(*headers).l3_checksum().l4_checksum().inline(rest);
        pair.sq.post(&frame.signaled(WrId(1))).expect("room");
        let begin = Instant::now();
        loop {
            if let Some(cqe) = cq.poll() {
                return Ok(match cqe.check() {
                    Ok(_) => Ok(()),
                    Err(CqeError::Completion(error)) => Err(error.status()),
                    Err(error) => panic!("{error}"),
                });
            }
            assert!(begin.elapsed() < Duration::from_secs(20), "no completion");
        }
    }
    let needs = [InlineLayers::None, InlineLayers::L2, InlineLayers::Ip, InlineLayers::TcpUdp][mode()];
    assert_eq!(device().inline_layers(), Some(needs));
    let expected = |has| if needs <= has { Ok(Ok(())) } else { Err(Error::InlineLayers { has, needs }) };
    assert_eq!(post::<InlineL2, 18>(), expected(InlineLayers::L2));
    assert_eq!(post::<InlineIp, { InlineIp::LEAST }>(), expected(InlineLayers::Ip));
    assert_eq!(post::<InlineTcpUdp, { InlineTcpUdp::LEAST }>(), expected(InlineLayers::TcpUdp));
}
