//! Streams of initiators: the losses of a stream by an error, and the requests that the others keep.
//!
//! Streams belong here, connections in `dynamic.rs`.

use std::collections::BTreeSet;

use crate::lab::*;
use crate::net::{KEY, Net, Target};
use softhca::context::{DciStreams, QpContext, QpState, Transport};
use softhca::error::Error;
use softhca::wire::fault::FaultConfig;

/// Syndromes.
const FLUSHED: u8 = 0x05;
const REMOTE_ACCESS: u8 = 0x13;

fn options(log_errored: u8) -> Options {
    Options { streams: Some(DciStreams { log_channels: 2, log_errored }), ..Options::default() }
}

/// Bytes that a request writes to its own place at the target.
fn write(net: &Net, target: Target, place: u64, bytes: &[u8]) -> Wr {
    target.of(Wr::write(net.nodes[1].data + place * 0x1000, net.nodes[1].key).inline(bytes))
}

/// A request that the target refuses.
fn refused(net: &Net, target: Target) -> Wr {
    target.of(Wr::write(net.nodes[1].data, net.nodes[1].key + 1).inline(b"refused"))
}

/// WQE counters and syndromes of the completions.
fn outcomes(done: &[Cqe]) -> Vec<(u16, u8)> {
    done.iter().map(|cqe| (cqe.wqe_counter, cqe.syndrome)).collect()
}

#[test]
fn a_stream_fails_alone_until_it_is_reset() {
    let (mut net, target, _) = Net::to_one(options(2));
    let (at, own, data, key) = (net.nodes[0].data, net.nodes[0].key, net.nodes[1].data, net.nodes[1].key);
    let sent = net.nodes[0].fill(0, 5000, 7);
    let requests = [
        write(&net, target, 1, b"before").on(1),
        refused(&net, target).on(1),
        target.of(Wr::write(data + 0x2000, key).sge(at, 5000, own)).on(2),
        write(&net, target, 1, b"behind").on(1).flags(0),
        target.of(Wr::read(data + 0x2000, key).sge(at + 0x8000, 5000, own)).on(0xffff),
        write(&net, target, 1, b"last").on(1),
    ];
    let index: Vec<u16> = requests.iter().map(|wr| net.nodes[0].post(wr)).collect();
    let done = net.complete(0, 6);
    let syndromes = [0, REMOTE_ACCESS, 0, FLUSHED, 0, FLUSHED];
    assert_eq!(outcomes(&done), index.into_iter().zip(syndromes).collect::<Vec<_>>(), "also the one without a signal");
    assert_eq!(net.nodes[0].state(), QpState::Rts);
    assert_eq!(net.nodes[1].memory.read(data + 0x1000, 6), b"before");
    assert_eq!(net.nodes[0].memory.read(at + 0x8000, 5000), sent, "written, and read back");

    // It stays so, for requests posted later, and for resets of others.
    let (qpn, device) = (net.nodes[0].qpn, &mut net.nodes[0].device);
    assert!(matches!(device.reset_dci_stream(qpn, 2), Err(Error::BadValue { value: 2, .. })), "it works");
    let again = write(&net, target, 1, b"again").on(1);
    net.nodes[0].post(&again);
    assert_eq!(net.complete(0, 1)[0].syndrome, FLUSHED);
    // A request without a target has no stream, not even the first.
    let bad = refused(&net, target).on(0);
    net.nodes[0].post(&bad);
    assert_eq!(net.complete(0, 1)[0].syndrome, REMOTE_ACCESS);
    for (wr, syndrome) in [(Wr::nop().on(1), 0), (Wr::nop(), 0), (write(&net, target, 1, b"x").on(0), FLUSHED)] {
        net.nodes[0].post(&wr);
        assert_eq!(net.complete(0, 1)[0].syndrome, syndrome);
    }
    net.nodes[0].device.reset_dci_stream(qpn, 1).expect("it has failed");
    net.nodes[0].post(&again);
    assert_eq!(net.complete(0, 1)[0].syndrome, 0);
    assert_eq!(net.nodes[1].memory.read(data + 0x1000, 5), b"again");
}

#[test]
fn the_initiator_fails_with_the_last_stream_that_may() {
    for log_errored in 0..=3 {
        let (mut net, target, _) = Net::to_one(options(log_errored));
        let qpn = net.nodes[0].qpn;
        let most = 1 << log_errored;
        let (bad, good) = (refused(&net, target), write(&net, target, 1, b"x"));
        // One that has been reset counts no more, and one counts once.
        for stream in (0..most - 1).flat_map(|stream| [stream, stream]) {
            net.nodes[0].post(&bad.clone().on(stream));
            net.complete(0, 1);
            assert_eq!(net.nodes[0].state(), QpState::Rts, "{stream} of {most}");
        }
        if most > 1 {
            net.nodes[0].device.reset_dci_stream(qpn, 0).expect("it has failed");
            net.nodes[0].post(&bad.clone().on(0));
            net.complete(0, 1);
            assert_eq!(net.nodes[0].state(), QpState::Rts);
        }
        net.nodes[0].post(&bad.clone().on(1000));
        net.nodes[0].post(&good.clone().on(7));
        let syndromes: Vec<u8> = net.complete(0, 2).iter().map(|cqe| cqe.syndrome).collect();
        assert_eq!((syndromes, net.nodes[0].state()), (vec![REMOTE_ACCESS, FLUSHED], QpState::Err));
        // As new after a reset.
        net.revive(0);
        net.nodes[0].post(&good.on(1000));
        assert_eq!(net.complete(0, 1)[0].syndrome, 0);
    }
}

/// A request's failure belongs to its stream; but the stream of a malformed WQE is unknown.
#[test]
fn each_error_is_the_streams() {
    let (mut net, target, _) = Net::to_one(options(4));
    let (at, own) = (net.nodes[0].data, net.nodes[0].key);
    let (data, key) = (net.nodes[1].data, net.nodes[1].key);
    let mut far = write(&net, target, 0, b"nobody there");
    far.body[14..16].copy_from_slice(&77_u16.to_be_bytes());
    let bad = [
        (refused(&net, target), REMOTE_ACCESS),
        (Wr::send().inline(b"x").at_dct(target.lid, target.dctn, KEY + 1, None), REMOTE_ACCESS),
        (target.of(Wr::write(data, key).sge(at, 64, own + 1)), 0x04),
        (target.of(Wr::read(data, key).sge(at, 64, own + 1)), 0x04),
        // The second packet of three cannot be gathered.
        (target.of(Wr::send().sge(at, 1500, own).sge(at, 1500, own + 1)), 0x04),
        (target.of(Wr::send().inline(b"no receive")), 0x16),
        (far, 0x15),
    ];
    net.nodes[1].post_recv(&[(data, 0x1000)]);
    for (stream, (wr, syndrome)) in bad.into_iter().enumerate() {
        let stream = stream as u16;
        let good = write(&net, target, 3, &[stream as u8; 9]);
        for wr in [&good.clone().on(stream), &wr.on(stream), &good.clone().on(100), &good.on(stream)] {
            net.nodes[0].post(wr);
        }
        let found: Vec<u8> = net.complete(0, 4).iter().map(|cqe| cqe.syndrome).collect();
        assert_eq!((found, net.nodes[0].state()), (vec![0, syndrome, 0, FLUSHED], QpState::Rts), "{stream}");
        assert_eq!(net.nodes[1].memory.read(data + 0x3000, 9), [stream as u8; 9]);
    }
    let mut senseless = write(&net, target, 0, b"x").on(200);
    senseless.opcode = 0x7b;
    net.nodes[0].post(&senseless);
    assert_eq!((net.complete(0, 1)[0].syndrome, net.nodes[0].state()), (0x02, QpState::Err));
}

/// Random requests by random streams, of which some are refused, also on networks that lose and reorder packets. A
/// request behind a failure is flushed if it belongs to that stream, and executed if not. Where packets are lost, a
/// request can fail by its timer, as with RC: a receiver that has refused a request ignores later packets.
#[test]
fn what_becomes_of_each_request_follows_from_its_stream() {
    let mut random = 0x1234_5678_u64;
    let mut draw = move |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let (mut failures, mut queue_failures, mut flushes, mut others) = (0, 0, 0, 0);
    for round in 0..80 {
        let bad = if round % 2 == 0 { 0 } else { 20 };
        let seed = round * 100;
        let faults =
            FaultConfig { drop: bad, duplicate: bad, reorder: bad, delay: bad, seed, ..FaultConfig::default() };
        let log_errored = draw(3) as u8;
        let streams = options(log_errored).streams;
        let mut net = Net::new(2, Options { streams, ..Options::patient(faults) });
        let targets = [net.target(1), net.target(1)];
        let (at, own, data, key) = (net.nodes[0].data, net.nodes[0].key, net.nodes[1].data, net.nodes[1].key);
        let mut posted = Vec::new();
        for n in 0..30_u64 {
            let (stream, target, len) = (draw(5) as u16, targets[draw(2) as usize], 1 + draw(900) as u32);
            let is_refused = draw(5) == 0;
            let rkey = if is_refused { key + 1 } else { key };
            let writes = draw(3) != 0;
            let wr = if writes {
                Wr::write(data + 0x1000 + 4 * n, rkey).inline(&(n as u32 + 1).to_be_bytes())
            } else {
                Wr::read(data, rkey).sge(at + 0x2000, len, own)
            };
            posted.push((net.nodes[0].post(&target.of(wr).on(stream)), stream, is_refused, writes));
            if draw(4) == 0 {
                net.run();
            }
        }
        let (done, mut failed, most) = (net.complete(0, 30), BTreeSet::new(), 1 << log_errored);
        for (n, (&(index, stream, is_refused, writes), cqe)) in posted.iter().zip(&done).enumerate() {
            let name = format!("round {round}, request {n}, failed {failed:?} of {most}");
            assert_eq!(cqe.wqe_counter, index, "{name}");
            let found = net.nodes[1].memory.read(data + 0x1000 + 4 * n as u64, 4) == (n as u32 + 1).to_be_bytes();
            if failed.len() == most || failed.contains(&stream) {
                // Those behind one whose acknowledgement was lost may have been executed before that was known.
                assert!(cqe.syndrome == FLUSHED && (!found || bad != 0), "{name}");
                flushes += 1;
            } else if cqe.syndrome == 0 {
                assert_eq!((is_refused, found), (false, writes), "{name}");
                others += usize::from(!failed.is_empty());
            } else {
                assert!(cqe.syndrome == REMOTE_ACCESS && is_refused || cqe.syndrome == 0x15 && bad != 0, "{name}");
                failed.insert(stream);
                failures += 1;
            }
        }
        assert_eq!(net.nodes[0].state() == QpState::Err, failed.len() == most);
        queue_failures += usize::from(failed.len() == most);
    }
    assert!(failures > 100 && queue_failures > 20 && flushes > 500 && others > 100);
}

#[test]
fn contexts_and_resets_that_cannot_be_are_refused() {
    let mut net = Net::new(1, Options::default());
    let (qpn, device) = (net.nodes[0].qpn, &mut net.nodes[0].device);
    assert!(matches!(device.reset_dci_stream(qpn, 0), Err(Error::BadValue { .. })), "it was made without");
    assert!(matches!(device.reset_dci_stream(0x1234, 0), Err(Error::NoSuch { .. })));
    let context = *device.qp_context(qpn).unwrap();
    let most = DciStreams { log_channels: DciStreams::MAX_LOG_CHANNELS, log_errored: DciStreams::MAX_LOG_ERRORED };
    let mut create = |transport, streams| device.create_qp(QpContext { transport, streams: Some(streams), ..context });
    create(Transport::Dc, most).expect("the most");
    for bad in [DciStreams { log_channels: 7, ..most }, DciStreams { log_errored: 7, ..most }] {
        assert!(matches!(create(Transport::Dc, bad), Err(Error::BadValue { .. })), "{bad:?}");
    }
    assert!(matches!(create(Transport::Rc, most), Err(Error::Unsupported(_))));
}

/// Without streams, their numbers mean nothing: the initiator fails with its first request, and flushes all others.
#[test]
fn without_streams_the_initiator_fails_as_a_whole() {
    let (mut net, target, _) = Net::to_one(Options::default());
    for wr in [refused(&net, target).on(1), write(&net, target, 1, b"x").on(2)] {
        net.nodes[0].post(&wr);
    }
    let syndromes: Vec<u8> = net.complete(0, 2).iter().map(|cqe| cqe.syndrome).collect();
    assert_eq!((syndromes, net.nodes[0].state()), (vec![REMOTE_ACCESS, FLUSHED], QpState::Err));
}
