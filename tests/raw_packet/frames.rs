//! Frames that are sent and received, in every form, belong here, the headers they need inline in `headers.rs`.

use blueflame::cq::WcStatus;
use blueflame::flow::Flow;
use blueflame::transport::{self, InlineLayers};
use blueflame::types::{Wqebbs, WrId};
use blueflame::verbs::device::{SoftwareParser, Tunnels};
use blueflame::verbs::{Access, Error, Pool, QpState};
use blueflame::wqe::limits::FrameOffloads;
use blueflame::wqe::operations::{HeaderOffsets, HeadersAt, Ip, L4};
use blueflame::wqe::{self, Sge};

use crate::{Frames, HEADERS, INLINE_HEADERS, completion, device, frame, pair, rule, send};

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
    let prepared = sq.prepare::<_, _, 64, 0>(&frame.signaled(WrId(4))).expect("within the limits");
    sq.post(&frame.inline(&[0x5a; 46]).signaled(WrId(1))).expect("room");
    // SAFETY: the buffer lives as long as the queue, and nobody writes it.
    unsafe { sq.post_unchecked(&frame.gather([buffer.sge_of(0..1000)]).signaled(WrId(2))) }.expect("room");
    sq.post(&wqe::frame().inline_headers(&[0x11; 60]).l3_checksum().signaled(WrId(3))).expect("room");
    sq.post(&prepared.inline(&[7; 64])).expect("room");
    for tag in 1..=4 {
        let done = completion(&mut cq, |cqe| pair.sq.retire(cqe).map(|retired| retired.wr_id));
        assert_eq!(done, (Ok(()), WrId(tag)));
    }
}

/// The length of a queue counts WQEBBs: an order of `docs/howto/order-entry.md` takes two.
#[test]
fn a_queue_holds_half_as_many_orders_of_two_wqebbs() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let fits = |sends| {
        let cq = device.completion_queue(2 * sends).build().expect("a CQ");
        let pair = pd.queue_pair::<Frames>(&cq, &cq).sends(sends).no_receives().build();
        let mut pair = pair.expect("a raw packet queue pair: is it permitted?");
        pair.activate(&device.port(1).expect("port 1")).expect("ready to send");
        let order = wqe::frame().inline_headers(&[0x11; 98]);
        let order = pair.sq.prepare::<_, _, 0, 0>(&order).expect("within the limits");
        assert_eq!(order.wqebbs(), Wqebbs(2));
        let mut posted = 0;
        while pair.sq.post(&order).is_ok() {
            posted += 1;
        }
        posted
    };
    assert_eq!((fits(128), fits(256)), (64, 128));
}

#[test]
fn receives_posted_early_are_kept() {
    let device = device();
    let port = device.port(1).expect("port 1");
    let pd = device.protection_domain().expect("a PD");
    let buffer = Pool::new(&pd, 4096, Access::LOCAL_WRITE).expect("a pool").take(4096).expect("all of it");
    let mut cq = device.completion_queue(64).build().expect("a CQ");
    let mut pair = pair(&pd, &cq);
    let rq = &mut pair.rq;
    for tag in 0..3 {
        // SAFETY: the buffer lives as long as the queue, and nobody looks at it.
        unsafe { rq.post_unchecked(WrId(tag), &[buffer.sge()]) }.expect("room");
    }
    pair.activate(&port).expect("ready to send");
    // On the way to ready, libmlx5 reports no receives to the device. No rule brings frames here, so only an error
    // completes them.
    pair.qp.to_error().expect("ERR");
    for tag in 0..3 {
        let rq = &mut pair.rq;
        assert_eq!(completion(&mut cq, |cqe| rq.retire(cqe)), (Err(WcStatus::WrFlushErr), WrId(tag)));
    }
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
        let rq = &mut pair.rq;
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
    let sender = pd.queue_pair::<transport::RawPacket<0>>(&sends, &sends).sends(16).no_receives();
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
    // In both directions.
    let tunnels = Tunnels { vxlan: true, gre: true, geneve: true };
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
        let rq = &mut receiver.rq;
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
                // SAFETY: the buffer lives as long as the queues; nothing writes there until the completion.
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
            let rq = &mut receiver.rq;
            assert_eq!(completion(&mut receives, |cqe| rq.retire(cqe)), (Ok(()), WrId(n as u64)));
            let mut bytes = [0; 60];
            buffer.read(n * 128, &mut bytes);
            assert_eq!(bytes, *sent, "frame {n} of round {round}");
        }
    }
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
    let sender = pd.queue_pair::<Frames>(&sends, &sends).sends(16).no_receives();
    let mut sender = sender.inline(100).build().expect("a queue pair");
    sender.activate(&port).expect("ready to send");
    let mut receives = device.completion_queue(64).build().expect("a CQ");
    let mut receiver = pair(&pd, &receives);
    receiver.activate(&port).expect("ready to send");
    let _rule = receiver.qp.steer(&Flow::mac(STATION)).expect("a rule");
    let buffer = Pool::new(&pd, 4096, Access::LOCAL_WRITE).expect("a pool").take(4096).expect("all of it");
    let rq = &mut receiver.rq;
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
    sender.sq.post(&request.header_offsets(offsets).metadata(1).inline_slice(rest).signaled(WrId(1))).expect("room");
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
