//! Rules: the frames that they match, their order, and refusals.
//!
//! Rules belong here, hashes over several queues in `spread.rs`.

use std::net::Ipv4Addr;

use blueflame::SetupError;
use blueflame::flow::{Flow, Masked};
use blueflame::transport::{RawPacket, Rc};
use blueflame::verbs::ethernet::{FlowCounts, FrameReceiver, RuleOptions};
use blueflame::verbs::{CallError, Error};

use crate::frames::{EXPERIMENT, Frame, Packet, SENDER, STATION, TCP, packet, plain, udp};
use crate::lab::Lab;
use crate::on_device::device;

/// A frame with another value of a field of IP.
fn with(frame: Frame, change: impl FnOnce(&mut Packet)) -> Frame {
    let mut ip = frame.ip.expect("a packet");
    change(&mut ip);
    Frame { ip: Some(ip), ..frame }
}

/// Flows; a frame that each is for, and frames that differ from it in one respect.
fn cases() -> Vec<(Flow, Frame, Vec<Frame>)> {
    let other = [2, 0, 0x5e, 0, 0x53, 2];
    let group = Ipv4Addr::new(239, 1, 2, 3);
    let feed = udp("239.1.2.3", 5001);
    let v6: std::net::Ipv6Addr = "2001:db8::1".parse().expect("an address");
    let web = packet(TCP, "10.1.2.3", "10.0.0.1", [1000, 443]);
    let station = plain(STATION);
    vec![
        (Flow::mac(STATION), station, vec![plain(other)]),
        (Flow::mac(STATION).ether_type(EXPERIMENT), station, vec![Frame { ether_type: 0x88b6, ..station }]),
        (Flow::any().source_mac(SENDER), station, vec![Frame { from: other, ..station }]),
        (Flow::mac(Masked::new([0; 6], [0, 0, 0, 0, 0, 2])), station, vec![plain(other)]),
        (
            Flow::mac(STATION).vlan(42),
            Frame { vlan: Some(0xe02a), ..station },
            vec![station, Frame { vlan: Some(43), ..station }],
        ),
        (
            Flow::any().vlan_tag(Masked::new(0xa000, 0xe000)),
            Frame { vlan: Some(0xa123), ..station },
            vec![Frame { vlan: Some(0x8123), ..station }, station],
        ),
        (
            Flow::udp(group, 5001),
            feed,
            vec![
                udp("239.1.2.3", 5002),
                udp("239.1.2.4", 5001),
                with(feed, |ip| ip.protocol = TCP),
                udp("2001:db8::1", 5001),
            ],
        ),
        (
            Flow::udp(group, 5001).source(Ipv4Addr::new(10, 0, 0, 9)).source_port(7),
            feed,
            vec![with(feed, |ip| ip.from = [10, 0, 0, 8].into()), with(feed, |ip| ip.ports[0] = 8)],
        ),
        (
            Flow::tcp(Masked::prefix(Ipv4Addr::UNSPECIFIED.into(), 0), 443)
                .source(Masked::prefix(Ipv4Addr::new(10, 1, 0, 0).into(), 16)),
            web,
            vec![with(web, |ip| ip.from = [10, 2, 2, 3].into()), with(web, |ip| ip.ports[1] = 80)],
        ),
        (
            Flow::udp(v6, Masked::new(0x1200, 0xff00)),
            udp("2001:db8::1", 0x12ab),
            vec![udp("2001:db8::1", 0x13ab), udp("2001:db8::2", 0x12ab), udp("32.1.13.184", 0x12ab)],
        ),
        (
            Flow::ip(Ipv4Addr::new(10, 0, 0, 1)).protocol(1).traffic_class(Masked::new(0xb8, 0xfc)),
            with(web, |ip| (ip.protocol, ip.class) = (1, 0xba)),
            vec![with(web, |ip| (ip.protocol, ip.class) = (2, 0xba)), with(web, |ip| (ip.protocol, ip.class) = (1, 0))],
        ),
    ]
}

#[test]
fn frames_go_where_their_fields_say() {
    let mut lab = Lab::new(2);
    let _rest = lab.receivers[1].steer(&Flow::all_default()).expect("a rule for the rest");
    for (flow, frame, others) in cases() {
        let rule = lab.receivers[0].steer(&flow).unwrap_or_else(|error| panic!("{flow:?}: {error}"));
        let (who, received) = lab.who_gets(&frame, 1);
        assert_eq!((who, received.bytes), (vec![0], frame.bytes()), "{flow:?}");
        for other in others {
            let (who, received) = lab.who_gets(&other, 1);
            assert_eq!((who, received.bytes), (vec![1], other.bytes()), "{flow:?} is not for {other:?}");
        }
        drop(rule);
        assert_eq!(lab.who_gets(&frame, 1).0, [1], "{flow:?}, after its rule");
    }
}

#[test]
fn the_least_priority_number_wins_and_groups_come_late() {
    let mut lab = Lab::new(3);
    let group = Ipv4Addr::new(239, 1, 2, 3);
    let feed = udp("239.1.2.3", 5001);
    let any_port = Flow::udp(Masked::prefix(Ipv4Addr::UNSPECIFIED.into(), 0), 5001);
    let late = lab.receivers[0].steer(&any_port.priority(15)).expect("a rule");
    let early = lab.receivers[1].steer(&any_port.source_port(7).priority(14)).expect("a rule");
    assert_eq!(lab.who_gets(&feed, 1).0, [1]);
    drop(early);
    // A group's rule of any priority comes after all others.
    let groups = lab.receivers[2].steer(&Flow::udp(group, 5001)).expect("a rule");
    assert_eq!(lab.who_gets(&feed, 1).0, [0]);
    drop(late);
    assert_eq!(lab.who_gets(&feed, 1).0, [2]);
    let rest = lab.receivers[0].steer(&Flow::multicast_default()).expect("a rule");
    assert_eq!(lab.who_gets(&feed, 1).0, [2]);
    let unnamed = Frame { to: [1, 0, 0x5e, 1, 2, 4], ..udp("239.1.2.4", 1) };
    assert_eq!(lab.who_gets(&unnamed, 1).0, [0]);
    drop((groups, rest));
}

#[test]
fn rules_tag_drop_copy_and_share() {
    let mut lab = Lab::new(2);
    let rest = lab.receivers[1].steer(&Flow::all_default()).expect("a rule for the rest");
    for tag in [0, 1, 0x12_3456, 0xff_ffff] {
        let _rule = lab.receivers[0].steer(&Flow::mac(STATION).flow_tag(tag)).expect("a rule");
        let (who, received) = lab.who_gets(&plain(STATION), 1);
        assert_eq!((who, received.tag), (vec![0], tag));
    }
    // The dropped frame would be the first to arrive.
    let dropped = lab.receivers[0].steer(&Flow::mac(STATION).drop_frames()).expect("a rule");
    lab.sender.send(&plain(STATION));
    let marker = udp("10.0.0.1", 9);
    let marker = Frame { to: [2; 6], ..marker };
    let (who, received) = lab.who_gets(&marker, 1);
    assert_eq!((who, received.bytes), (vec![1], marker.bytes()));
    drop(dropped);

    let copy = lab.receivers[0].steer(&Flow::mac(STATION).dont_trap()).expect("a rule");
    assert_eq!(lab.who_gets(&plain(STATION), 2).0, [0, 1]);
    drop((copy, rest));
    // Two rules have one match: both get the frame.
    let rules = [0, 1].map(|number| lab.receivers[number].steer(&Flow::mac(STATION)).expect("a rule"));
    assert_eq!(lab.who_gets(&plain(STATION), 2).0, [0, 1]);
    drop(rules);
}

#[test]
fn a_rule_keeps_its_receiver() {
    let mut lab = Lab::new(1);
    let rule = lab.receivers[0].steer(&Flow::mac(STATION)).expect("a rule");
    lab.receivers.clear();
    assert_eq!(lab.who_gets(&plain(STATION), 1).0, [0]);
    // The queue's value goes first. The rule goes last, and everything under it can be destroyed then.
    let cq = lab.queues.pop().map(|queue| (queue.cq, drop(queue.rq), drop(queue.wq)).0).expect("a queue");
    let refused = lab.pd.work_queue(&cq).build::<blueflame::WrId>().map(drop);
    assert!(matches!(refused, Err(Error::Receivers { .. })), "{refused:?}");
    drop(rule);
    lab.pd.work_queue(&cq).build::<blueflame::WrId>().map(drop).expect("no other receives there");
}

#[test]
fn queue_pairs_are_steered_to() {
    let lab = Lab::new(0);
    let cq = lab.device.completion_queue(512).build().expect("a CQ");
    let pair = lab.pd.queue_pair::<RawPacket>(&cq, &cq).receives::<blueflame::WrId>(4).build().expect("a queue pair");
    let rule = pair.qp.steer(&Flow::mac(STATION)).expect("a rule");
    drop(pair);
    // It is still a receiver there.
    let refused = lab.pd.work_queue(&cq).build::<blueflame::WrId>().map(drop);
    assert!(matches!(refused, Err(Error::Receivers { .. })), "{refused:?}");
    drop(rule);

    let (rc, quiet) = (lab.pd.queue_pair::<Rc>(&cq, &cq), lab.pd.queue_pair::<RawPacket>(&cq, &cq).no_receives());
    let (rc, quiet) = (rc.build().expect("a queue pair").qp, quiet.build().expect("a queue pair").qp);
    for qp in [rc, quiet] {
        let error = qp.steer(&Flow::mac(STATION)).expect_err("no frames arrive there");
        assert_eq!(error, Error::NoFrames { qpn: qp.qpn() });
    }
}

#[test]
fn refusals_say_what_to_do() {
    let lab = Lab::new(1);
    let receiver = &lab.receivers[0];
    let errno = |flow: Flow| match receiver.steer(&flow) {
        Err(Error::Call(error @ CallError { call: "ibv_create_flow", errno })) => {
            (errno, error.hint().expect("a hint"))
        }
        other => panic!("{flow:?}: {other:?}"),
    };
    let _rule = receiver.steer(&Flow::mac(STATION).flow_tag(1)).expect("a rule");
    let (code, hint) = errno(Flow::mac(STATION).flow_tag(2));
    assert!(code == libc::EEXIST && hint.contains("another flow tag"), "{hint}");
    let hint = CallError { call: "ibv_create_flow", errno: libc::EOPNOTSUPP }.hint().expect("a hint");
    assert!(hint.contains("sniffers"), "{hint}");
    let error = receiver.steer(&Flow::any().vlan(4096)).expect_err("12 bits");
    assert_eq!(error, Error::Setup(SetupError::OutOfRange { what: "VLAN of a flow", value: 4096, min: 0, max: 4095 }));
    let error = receiver.steer(&Flow::any().priority(16)).expect_err("four bits");
    assert!(matches!(error, Error::OutOfRange { value: 16, max: 15, .. }), "{error}");
}

#[test]
fn counters_count_the_frames_of_their_rules() {
    let mut lab = Lab::new(2);
    let (counters, others) = (lab.device.flow_counters(), lab.device.flow_counters());
    let (counters, others) = (counters.expect("counters"), others.expect("counters"));
    let none = counters.read().expect_err("no rule counts");
    assert!(none.to_string().contains("no rule has these counters"), "{none}");

    let options = RuleOptions::default().counters(&counters);
    let kept = lab.receivers[0].steer_with(&Flow::mac(STATION), &options).expect("a rule");
    let dropped = Flow::any().ether_type(EXPERIMENT).vlan(9).drop_frames();
    let dropped = lab.receivers[0].steer_with(&dropped, &options).expect("a rule");
    let rest = lab.receivers[1].steer_with(&Flow::mac([2; 6]), &RuleOptions::default().counters(&others));
    let rest = rest.expect("a rule");
    assert_eq!(counters.read(), Ok(FlowCounts::default()));
    let (station, lost) = (plain(STATION), Frame { vlan: Some(9), to: [4; 6], ..plain(STATION) });
    let marker = Frame { to: [2; 6], ..station };
    let mut expected = FlowCounts::default();
    for _ in 0..3 {
        assert_eq!(lab.who_gets(&station, 1).0, [0]);
        lab.sender.send(&lost);
        assert_eq!(lab.who_gets(&marker, 1).0, [1]);
        expected.frames += 2;
        expected.bytes += (station.bytes().len() + lost.bytes().len()) as u64;
        assert_eq!(counters.read(), Ok(expected));
    }
    assert_eq!(others.read().expect("counts").frames, 3);
    // The rules keep their counters; the counts go on from rule to rule.
    let again = counters.clone();
    drop((counters, kept));
    assert_eq!(again.read(), Ok(expected));
    drop(dropped);
    again.read().expect_err("no rule counts");
    let options = RuleOptions::default().counters(&again);
    let _kept = lab.receivers[0].steer_with(&Flow::mac(STATION), &options).expect("a rule");
    assert_eq!(again.read(), Ok(expected));
    drop(rest);

    let error = lab.receivers[0].steer_with(&Flow::all_default(), &options).expect_err("Linux would count nothing");
    assert_eq!(error, Error::Setup(SetupError::FlowWhole { what: "counter" }));
    let foreign = device().flow_counters().expect("counters");
    let error = lab.receivers[0].steer_with(&Flow::any(), &RuleOptions::default().counters(&foreign));
    assert!(matches!(error, Err(Error::ForeignDevice { part: "flow counters", .. })), "{error:?}");
}

#[test]
fn a_sniffer_has_copies_of_frames_sent_and_received() {
    let mut lab = Lab::new(2);
    let _rule = lab.receivers[0].steer(&Flow::mac(STATION)).expect("a rule");
    let sniffer = lab.receivers[1].steer(&Flow::sniffer()).expect("a rule");
    // One that is sent, and comes back.
    let (who, received) = lab.who_gets(&plain(STATION), 3);
    assert_eq!((who, received.bytes), (vec![0, 1, 1], plain(STATION).bytes()));
    drop(sniffer);
    assert_eq!(lab.who_gets(&plain(STATION), 1).0, [0]);
    assert!(lab.queues[1].poll().is_none());
}

#[test]
fn a_rule_names_a_port_that_the_device_has() {
    let mut lab = Lab::new(1);
    let ports = lab.device.attr().ports;
    for port in [0, ports + 1] {
        let error = lab.receivers[0].steer_with(&Flow::any(), &RuleOptions::default().port(port)).map(drop);
        assert_eq!(error, Err(Error::NoPort { port, ports }));
    }
    // Whichever port it names, the function's frames are for it.
    for port in 1..=ports {
        let options = RuleOptions::default().port(port);
        let _rule = lab.receivers[0].steer_with(&Flow::mac(STATION), &options).expect("a rule");
        assert_eq!(lab.who_gets(&plain(STATION), 1).0, [0]);
    }
}

/// Takes `CAP_NET_RAW` from the calling thread.
fn drop_net_raw() {
    const NET_RAW: u32 = 13;
    // struct __user_cap_header_struct of version 3, for the caller; struct __user_cap_data_struct, twice.
    let (mut header, mut sets) = ([0x2008_0522_u32, 0], [[0_u32; 3]; 2]);
    // SAFETY: both point to arrays of the sizes that this version asks for.
    let got = unsafe { libc::syscall(libc::SYS_capget, header.as_mut_ptr(), sets.as_mut_ptr()) };
    sets[0][0] &= !(1 << NET_RAW);
    // SAFETY: both point to arrays of the sizes that this version asks for.
    let set = unsafe { libc::syscall(libc::SYS_capset, header.as_mut_ptr(), sets.as_mut_ptr()) };
    assert_eq!((got, set), (0, 0));
}

#[test]
fn without_the_capability_there_are_no_rules() {
    let lab = Lab::new(1);
    let refused = |result: Result<(), Error>| {
        let error = result.expect_err("not permitted");
        assert!(matches!(error, Error::Call(CallError { errno: libc::EPERM, .. })), "{error}");
        assert!(error.to_string().contains("CAP_NET_RAW"), "{error}");
    };
    let (pd, receiver, wq) = (&lab.pd, &lab.receivers[0], &lab.queues[0].wq);
    std::thread::scope(|scope| {
        let thread = scope.spawn(move || {
            drop_net_raw();
            refused(receiver.steer(&Flow::mac(STATION)).map(drop));
            refused(FrameReceiver::direct(pd, wq).map(drop));
        });
        thread.join().expect("refused");
    });
}
