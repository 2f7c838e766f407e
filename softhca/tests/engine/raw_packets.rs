//! Raw packets: Ethernet frames as the host makes them.
//!
//! WQEs of frames belong here, steering in `ethernet`.

use crate::lab::*;
use softhca::config::{LinkLayer, PortConfig};
use softhca::context::{CrossChannel, InlineHeaders, QpState, Transport};
use softhca::embedded::{CqOptions, EmbeddedDevice, QpOptions};
use softhca::error::Error;
use softhca::wire::in_process::Fabric;

fn options() -> Options {
    Options { transport: Transport::RawPacket, link: LinkLayer::Ethernet, ..Options::default() }
}

/// Bytes of the frames that the first node has sent since the last call.
fn frames(lab: &mut Lab) -> Vec<Vec<u8>> {
    let qpn = lab.a.qpn;
    let sent = lab.a.device.take_frames();
    assert!(sent.iter().all(|frame| frame.qpn == qpn));
    sent.into_iter().map(|frame| frame.bytes).collect()
}

/// The first bytes of a frame that no checksum can be in.
fn header() -> Vec<u8> {
    [&[0xff; 6][..], &[2, 0, 0, 0, 0, 1], &[0x88, 0xb5]].concat()
}

#[test]
fn a_frame_is_put_together_from_headers_and_data() {
    let mut lab = Lab::new(options());
    let (at, key) = (lab.a.data, lab.a.key);
    let whole = [header(), lab.a.fill(0, 2000, 3)].concat();
    lab.a.memory.write(at, &whole[..2000]);
    // The ring wraps, in the middle of headers and of inline data, too.
    for round in 0..50 {
        let requests = [
            Wr::send().eth(0, &[]).sge(at, 2000, key),
            Wr::send().eth(0, &whole[..18]).sge(at + 18, 100, key).sge(at + 118, 1, key).sge(at + 119, 500, key),
            Wr::send().eth(0, &whole[..2]).inline(&whole[2..300]),
            Wr::send().eth(0, &whole[..200]),
            Wr::nop(),
            Wr::send().eth(0, &[]).inline(&whole[..14]).flags(0),
        ];
        let posted: Vec<_> = requests.iter().map(|wr| lab.a.post(wr)).collect();
        lab.run();
        let lens: Vec<_> = frames(&mut lab).iter().map(|f| (f.len(), *f == whole[..f.len()])).collect();
        assert_eq!(lens, [2000, 619, 300, 200, 14].map(|len| (len, true)), "round {round}");
        let found: Vec<_> = lab.a.poll_send().iter().map(|c| (c.wqe_counter, c.opcode, c.byte_cnt)).collect();
        assert_eq!(found, posted[..5].iter().map(|&index| (index, REQ, 0)).collect::<Vec<_>>());
    }
    assert!(lab.a.tap.lock().unwrap().log.is_empty(), "no packet of the transport");
}

#[test]
fn checksums_are_filled_in_when_asked_for() {
    let mut lab = Lab::new(options());
    let (at, key) = (lab.a.data, lab.a.key);
    // 10.0.0.1 to 10.0.0.2, UDP, 3 bytes: the sums are worked out beside softhca::ethernet's own tests.
    let ip = [0x45, 0, 0, 31, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0, 1, 0, 2, 0, 11, 0, 0, 1, 2, 3];
    let plain = [&header()[..12], &[0x08, 0x00], &ip].concat();
    lab.a.memory.write(at, &plain);
    for flags in [0, 0x40, 0x80, 0xc0] {
        lab.a.post(&Wr::send().eth(flags, &plain[..18]).sge(at + 18, plain.len() as u32 - 18, key));
        lab.run();
        let mut expected = plain.clone();
        if flags & 0x40 != 0 {
            expected[24..26].copy_from_slice(&[0x26, 0xcc]);
        }
        if flags & 0x80 != 0 {
            expected[40..42].copy_from_slice(&[0xe7, 0xd0]);
        }
        assert_eq!(frames(&mut lab), [expected]);
    }
    assert_eq!(lab.a.memory.read(at, plain.len()), plain, "the host's own bytes stay");
}

#[test]
fn what_cannot_be_sent_fails_and_stops_the_queue() {
    let key = Lab::new(options()).a.key;
    let mut tso = Wr::new(0x0e).eth(0, &[0; 64]);
    tso.body[6..8].copy_from_slice(&1000u16.to_be_bytes());
    let cases = [
        (tso, 0x02),
        (Wr::send(), 0x02),
        (Wr::send().eth(0, &[1; 18]).with_imm(0), 0x02),
        (Wr::write(0, 0).eth(0, &[1; 18]), 0x02),
        (Wr::send().eth(0, &[1; 17]).inline(&[1; 100]), 0x02),
        (Wr::send().eth(0, &[1; 18]).sge(BASE, 9200, key), 0x01),
        (Wr::send().eth(0, &[1; 18]).sge(BASE, 100, key + 1), 0x04),
        (Wr::send().eth(0, &[1; 18]).sge(BASE - 50, 100, key), 0x04),
    ];
    for (wr, syndrome) in cases {
        let mut lab = Lab::new(Options { inline_headers: InlineHeaders::L2, ..options() });
        lab.a.post(&Wr::send().eth(0, &[1; 18]));
        let bad = lab.a.post(&wr);
        lab.a.post(&Wr::send().eth(0, &[1; 18]));
        lab.run();
        let found: Vec<_> = lab.a.poll_send().iter().map(|c| (c.opcode, c.syndrome)).collect();
        assert_eq!(found, [(REQ, 0), (REQ_ERR, syndrome), (REQ_ERR, 0x05)], "WQE {bad}: {:x?}", wr.body);
        assert_eq!((lab.a.state(), frames(&mut lab).len()), (QpState::Sqe, 1));
        // The queue can be set going again.
        lab.a.modify(lab.a.rts_attr());
        lab.a.post(&Wr::send().eth(0, &[2; 18]));
        lab.run();
        assert_eq!((lab.a.poll_send()[0].opcode, frames(&mut lab)), (REQ, vec![vec![2; 18]]));
    }
    let mut lab = Lab::new(options());
    lab.a.post(&Wr::send().eth(0, &[1; 13]));
    lab.run();
    assert_eq!(lab.a.poll_send()[0].syndrome, 0x01, "shorter than a header");
}

/// IP in IP has no outer UDP header. The last three places that a WQE may state have no room for one.
#[test]
fn a_large_packet_with_no_room_for_its_stated_header_fails() {
    let ip = |protocol, from, to| {
        [[0x45, 0, 0, 0, 0, 0, 0x40, 0], [64, protocol, 0, 0, 10, 0, 0, from]]
            .concat()
            .into_iter()
            .chain([10, 0, 0, to])
    };
    let tcp = [0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0];
    let mut headers = [&header()[..12], &[0x08, 0x00]].concat();
    headers.extend(ip(4, 1, 2).chain(ip(6, 3, 4)).chain(tcp));
    for (l4, syndrome) in [(66, 0), (68, 0x02), (70, 0x02), (72, 0x02)] {
        let mut lab = Lab::new(options());
        let mut wr = Wr::new(0x0e).eth(0xf0, &headers).sge(lab.a.data, 1, lab.a.key);
        // Offset of the outer L4 header in units of two bytes; it is UDP's.
        (wr.body[0], wr.body[5]) = (l4 / 2, 1 << 5);
        wr.body[6..8].copy_from_slice(&1000_u16.to_be_bytes());
        lab.a.post(&wr);
        lab.run();
        let sent = frames(&mut lab).len();
        assert_eq!((lab.a.poll_send()[0].syndrome, sent), (syndrome, usize::from(syndrome == 0)), "{l4}");
        // The queue can be set going again.
        lab.a.modify(lab.a.rts_attr());
        lab.a.post(&Wr::send().eth(0, &header()));
        lab.run();
        assert_eq!((lab.a.poll_send()[0].opcode, frames(&mut lab).len()), (REQ, 1), "{l4}");
    }
}

/// `max_lso_cap` is 18.
#[test]
fn a_large_packet_has_at_most_256_kibibytes() {
    let ip = [0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    let tcp = [0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0];
    let headers = [&header()[..12], &[0x08, 0x00], &ip, &tcp].concat();
    for (len, syndrome, sent) in [(1 << 18, 0, 64), ((1 << 18) + 1, 0x01, 0)] {
        let mut lab = Lab::new(options());
        let mut wr = Wr::new(0x0e).eth(0xc0, &headers).sge(lab.a.data, len, lab.a.key);
        wr.body[6..8].copy_from_slice(&4096_u16.to_be_bytes());
        lab.a.post(&wr);
        lab.run();
        assert_eq!((lab.a.poll_send()[0].syndrome, frames(&mut lab).len()), (syndrome, sent));
    }
}

/// Frames take memory on their way from the queues to the wire. A queue that has no room for its frames has its turn in
/// the next step.
#[test]
fn a_step_sends_so_many_frames_and_all_queues_have_their_turn() {
    const LEN: u32 = 1 << 18;
    const MSS: u16 = 64;
    let mut lab = Lab::new(options());
    let ip = [0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    let headers = [&header()[..12], &[0x08, 0x00], &ip, &[0, 1, 0, 2, 0, 0, 0, 0]].concat();
    let mut large = Wr::new(0x0e).eth(0xc0, &headers).sge(lab.a.data, LEN, lab.a.key);
    large.body[6..8].copy_from_slice(&MSS.to_be_bytes());
    for _ in 0..4 {
        lab.a.post(&large);
    }
    // Its number is higher, so the other queue comes first.
    let greedy = lab.a.beside(CrossChannel::default(), lab.b.identity());
    lab.a.post(&Wr::send().eth(0, &header()));
    let (mut sent, mut done) = (Vec::new(), Vec::new());
    while lab.a.device.step(lab.now) {
        sent.push(std::mem::take(&mut lab.a.tap.lock().unwrap().frames));
        done.push(lab.a.poll_send().iter().filter(|cqe| cqe.qpn != greedy.qpn).count());
    }
    let each = (LEN / u32::from(MSS)) as usize;
    assert!(sent.iter().all(|&frames| frames <= each), "{sent:?}");
    assert_eq!(sent.iter().sum::<usize>(), 4 * each + 1);
    assert_eq!(done[..2].iter().sum::<usize>(), 1, "{done:?}");
}

/// A session: an Ethernet segment, and a frame for each length; every third is inline.
fn session(lens: &[usize], (at, key): (u64, u32), bytes: &[u8]) -> Wr {
    lens.iter().enumerate().fold(Wr::new(0x29).eth(0, &[]), |wr, (n, &len)| match n % 3 {
        2 => wr.inline(&bytes[..len]),
        _ => wr.sge(at, len as u32, key),
    })
}

#[test]
fn several_frames_go_out_of_one_wqe_and_complete_once() {
    let mut lab = Lab::new(options());
    let (at, key) = (lab.a.data, lab.a.key);
    let whole = [header(), lab.a.fill(0, 2000, 3)].concat();
    lab.a.memory.write(at, &whole[..2000]);
    // The ring wraps, in the middle of descriptors and of inline data.
    for round in 0..50 {
        let sessions: [&[usize]; 3] = [&[60, 1514, 100, 14, 2000, 60 + round], &[64; 10], &[90]];
        let requests = sessions.map(|lens| session(lens, (at, key), &whole));
        let posted = requests.map(|wr| lab.a.post(&wr));
        lab.run();
        let sent = frames(&mut lab);
        assert!(sent.iter().all(|frame| *frame == whole[..frame.len()]), "round {round}");
        assert_eq!(sent.iter().map(Vec::len).collect::<Vec<_>>(), sessions.concat(), "round {round}");
        let found: Vec<_> = lab.a.poll_send().iter().map(|c| (c.wqe_counter, c.opcode, c.byte_cnt)).collect();
        assert_eq!(found, posted.map(|index| (index, REQ, 0)), "round {round}");
    }
}

/// DS has six bits: with 63 units, 61 frames by reference. All have the checksums that the one segment asks for.
#[test]
fn the_longest_session_has_sixty_one_frames() {
    let mut lab = Lab::new(Options { sq_log: 6, ..options() });
    let (at, key) = (lab.a.data, lab.a.key);
    let ip = [0x45, 0, 0, 31, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0, 1, 0, 2, 0, 11, 0, 0, 1, 2, 3];
    let plain = [&header()[..12], &[0x08, 0x00], &ip].concat();
    lab.a.memory.write(at, &plain);
    for flags in [0, 0xc0] {
        let wr = (0..61).fold(Wr::new(0x29).eth(flags, &[]), |wr, _| wr.sge(at, plain.len() as u32, key));
        lab.a.post(&wr);
        lab.run();
        let mut expected = plain.clone();
        if flags != 0 {
            expected[24..26].copy_from_slice(&[0x26, 0xcc]);
            expected[40..42].copy_from_slice(&[0xe7, 0xd0]);
        }
        assert_eq!((frames(&mut lab), lab.a.poll_send().len()), (vec![expected; 61], 1));
    }
}

#[test]
fn a_session_with_a_fault_sends_nothing() {
    let key = Lab::new(options()).a.key;
    let one = || Wr::new(0x29).eth(0, &[]).inline(&[1; 60]);
    let mut tagged = one();
    tagged.body[12] = 0x80;
    let mut cut_up = one();
    cut_up.body[7] = 100;
    let cases = [
        // No frames, headers inline, a tag to be put in, a size of segments.
        (Options::default(), Wr::new(0x29).eth(0, &[]), 0x02),
        (Options::default(), Wr::new(0x29).eth(0, &[1; 18]).inline(&[1; 60]), 0x02),
        (Options::default(), tagged, 0x02),
        (Options::default(), cut_up, 0x02),
        // A frame that is too short, or too long, or whose memory has no such key: the last.
        (Options::default(), one().inline(&[1; 13]), 0x01),
        (Options::default(), one().sge(BASE, 0, key), 0x01),
        (Options::default(), one().sge(BASE, 9218, key), 0x01),
        (Options::default(), one().sge(BASE, 100, key + 1), 0x04),
        // The queue has no such WQEs, or needs headers inline.
        (Options { multi_packet: false, ..Options::default() }, one(), 0x02),
        (Options { inline_headers: InlineHeaders::L2, ..Options::default() }, one(), 0x02),
    ];
    for (of, wr, syndrome) in cases {
        let options = Options { multi_packet: of.multi_packet, inline_headers: of.inline_headers, ..options() };
        let mut lab = Lab::new(options);
        lab.a.post(&Wr::send().eth(0, &[1; 18]));
        lab.a.post(&wr);
        lab.a.post(&Wr::send().eth(0, &[1; 18]));
        lab.run();
        let found: Vec<_> = lab.a.poll_send().iter().map(|c| (c.opcode, c.syndrome)).collect();
        assert_eq!(found, [(REQ, 0), (REQ_ERR, syndrome), (REQ_ERR, 0x05)], "{:x?}", wr.body);
        assert_eq!((lab.a.state(), frames(&mut lab).len()), (QpState::Sqe, 1));
    }
}

#[test]
fn receives_wait_until_they_are_flushed() {
    let mut lab = Lab::new(options());
    lab.b.post_recv(&[(lab.b.data, 2048)]);
    lab.a.post(&Wr::send().eth(0, &header()));
    lab.run();
    assert_eq!((lab.a.poll_send().len(), lab.b.poll_recv().len()), (1, 0));
    lab.b.modify(softhca::context::QpAttr { state: Some(QpState::Err), ..Default::default() });
    lab.run();
    assert_eq!(lab.b.poll_recv()[0].syndrome, 0x05);
}

/// Frames are lost without a cable, and their requests complete: Ethernet acknowledges nothing.
#[test]
fn no_frame_leaves_a_port_that_is_down() {
    let mut lab = Lab::new(options());
    for (up, sent) in [(false, 0), (true, 1), (false, 0)] {
        lab.a.device.set_port_up(1, up).unwrap();
        lab.a.post(&Wr::send().eth(0, &header()));
        lab.run();
        assert_eq!((lab.a.poll_send()[0].opcode, frames(&mut lab).len()), (REQ, sent), "{up}");
    }
}

#[test]
fn a_sink_checks_frames_and_sends_none() {
    let mut lab = Lab::new(Options { sink: true, ..options() });
    lab.a.post(&Wr::send().eth(0, &header()).sge(1, 100, 0));
    lab.a.post(&Wr::send().eth(1, &header()));
    lab.run();
    let found: Vec<_> = lab.a.poll_send().iter().map(|c| c.opcode).collect();
    assert_eq!((found, frames(&mut lab)), (vec![REQ, REQ_ERR], vec![]));
}

#[test]
fn ethernet_ports_alone_have_raw_packets() {
    let mut infiniband = EmbeddedDevice::standalone().unwrap();
    let cq = infiniband.create_cq(CqOptions::new(4)).unwrap();
    let refused = infiniband.create_qp(QpOptions::new(Transport::RawPacket, cq.cqn)).unwrap_err();
    assert!(matches!(refused, Error::Unsupported(_)));

    let mut hca = EmbeddedDevice::on_fabric(&Fabric::new(), PortConfig::ethernet(1), |wire| wire).unwrap();
    let cq = hca.create_cq(CqOptions::new(4)).unwrap();
    let qp = hca.create_qp(QpOptions::new(Transport::RawPacket, cq.cqn)).unwrap();
    hca.activate_raw_packet(qp.qpn).unwrap();
    assert_eq!(hca.device().query_qp(qp.qpn).unwrap().state, QpState::Rts);
    assert_eq!(hca.take_frames(), []);
}
