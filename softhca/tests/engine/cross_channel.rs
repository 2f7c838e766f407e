//! Queues that wait for completions, for the clock and for a word of memory, and queues that others start.
//!
//! Requests about other queues belong here, all others in `operations.rs`.

use std::time::Duration;

use crate::lab::*;
use softhca::config::{Generation, LinkLayer};
use softhca::context::{CrossChannel, QpState, Transport};

const WAIT: u8 = 0x0f;
const RCV_EN: u8 = 0x16;
const SEND_EN: u8 = 0x17;
const DUMP: u8 = 0x23;
/// Local QP operation, length and protection errors.
const LOCAL_LENGTH: u8 = 0x01;
const LOCAL_OP: u8 = 0x02;
const LOCAL_PROTECTION: u8 = 0x04;

const MASTER: CrossChannel = CrossChannel { master: true, slave_send: false, slave_receive: false };
const SENDS: CrossChannel = CrossChannel { master: false, slave_send: true, slave_receive: false };
const RECEIVES: CrossChannel = CrossChannel { master: false, slave_send: false, slave_receive: true };

fn lab(a: CrossChannel, b: CrossChannel) -> Lab {
    let of = |cross_channel| Options { cross_channel, ..Options::default() };
    let mut lab = Lab::of(of(a), of(b));
    lab.connect();
    lab
}

/// Opcodes, WQE counters and syndromes of the completions.
fn outcomes(done: &[Cqe]) -> Vec<(u8, u16, u8)> {
    done.iter().map(|cqe| (cqe.wqe_opcode, cqe.wqe_counter, cqe.syndrome)).collect()
}

/// The CQE that is waited for has an index, and the first has 0.
#[test]
fn a_queue_waits_for_completions_of_another() {
    let mut lab = lab(MASTER, CrossChannel::default());
    let (at, rkey, data) = (lab.b.data, lab.b.key, lab.a.data);
    let cqn = lab.a.recv_cq.cqn;
    lab.a.post(&Wr::nop());
    for index in 0..3 {
        lab.a.post(&Wr::queue(WAIT, cqn, index));
        lab.a.post(&Wr::write(at + 8 * u64::from(index), rkey).inline(&[index as u8 + 1; 8]));
    }
    lab.run();
    assert_eq!(outcomes(&lab.a.poll_send()), [(0, 0, 0)], "the one before does not wait");
    for index in 0..3_u8 {
        assert_eq!(lab.b.memory.read(at + 8 * u64::from(index), 8), [0; 8]);
        lab.a.post_recv(&[(data, 64)]);
        lab.b.post(&Wr::send().inline(b"go on"));
        lab.run();
        let at_wait = 1 + 2 * u16::from(index);
        assert_eq!(outcomes(&lab.a.poll_send()), [(WAIT, at_wait, 0), (8, at_wait + 1, 0)]);
        assert_eq!(lab.b.memory.read(at + 8 * u64::from(index), 8), [index + 1; 8]);
    }
    // A WAIT does not wait for a completion that was there, even if it was consumed. A running count has more bits than
    // the CQ's index.
    lab.a.poll_recv();
    lab.a.post(&Wr::queue(WAIT, cqn, 0x7700_0001));
    lab.run();
    assert_eq!(outcomes(&lab.a.poll_send()), [(WAIT, 7, 0)]);
}

#[test]
fn who_is_no_master_and_what_is_not_there_fails() {
    for (kind, opcode, number) in [
        (CrossChannel::default(), WAIT, 1),
        (MASTER, WAIT, 999),
        (CrossChannel::default(), SEND_EN, 0),
        (MASTER, SEND_EN, 999),
        (MASTER, SEND_EN, 0),
        (MASTER, RCV_EN, 0),
        (SENDS, SEND_EN, 0),
    ] {
        let mut lab = lab(kind, CrossChannel::default());
        // 0 stands for the queue itself.
        let number = if number == 0 { lab.a.qpn } else { number };
        lab.a.post(&Wr::queue(opcode, number, 1).flags(0));
        lab.run();
        let expected = if kind == SENDS { vec![] } else { vec![(opcode, 0, LOCAL_OP)] };
        assert_eq!(outcomes(&lab.a.poll_send()), expected, "{kind:?} {opcode:#x} {number:#x}");
        assert_eq!(lab.a.state(), if kind == SENDS { QpState::Rts } else { QpState::Err });
    }
}

/// The index in a WQE is ignored in queues of frames that start others, from ConnectX-6 Dx on
/// (`wqe_index_ignore_cap`; DPDK `drivers/net/mlx5/mlx5_txpp.c`). Elsewhere it counts.
#[test]
fn a_wqe_has_the_index_of_its_place() {
    use Generation::{ConnectX5, ConnectX6Dx, ConnectX7};
    for (transport, cross_channel, generation, is_ignored) in [
        (Transport::RawPacket, MASTER, ConnectX5, false),
        (Transport::RawPacket, MASTER, ConnectX6Dx, true),
        (Transport::RawPacket, MASTER, ConnectX7, true),
        (Transport::RawPacket, CrossChannel::default(), ConnectX6Dx, false),
        (Transport::RawPacket, CrossChannel::default(), ConnectX7, false),
        (Transport::Rc, MASTER, ConnectX6Dx, false),
        (Transport::Rc, MASTER, ConnectX7, false),
        (Transport::Rc, CrossChannel::default(), ConnectX7, false),
    ] {
        let link = if transport == Transport::Rc { LinkLayer::InfiniBand } else { LinkLayer::Ethernet };
        let mut lab = Lab::new(Options { transport, link, cross_channel, generation, ..Options::default() });
        lab.a.post(&Wr::nop());
        lab.a.post_silently(&Wr::nop());
        lab.a.memory.write(lab.a.ring_addr() + 64 + 1, &[0x12, 0x34]);
        lab.a.ring();
        lab.run();
        let syndromes: Vec<_> = lab.a.poll_send().iter().map(|cqe| cqe.syndrome).collect();
        let expected = [0, if is_ignored { 0 } else { LOCAL_OP }];
        assert_eq!(syndromes, expected, "{transport:?} {cross_channel:?} {generation:?}");
    }
}

#[test]
fn a_slave_sends_what_its_master_says() {
    let mut lab = lab(SENDS, CrossChannel::default());
    let (at, rkey, peer) = (lab.b.data, lab.b.key, lab.b.identity());
    for n in 0..4_u8 {
        // The last one has two WQEBBs.
        let bytes = vec![n + 1; if n == 3 { 64 } else { 8 }];
        lab.a.post(&Wr::write(at + 64 * u64::from(n), rkey).inline(&bytes));
    }
    lab.run();
    assert!(lab.a.poll_send().is_empty(), "its doorbells start nothing");
    let slave = lab.a.qpn;
    let mut aside = lab.a.beside(MASTER, peer);
    for (index, written) in [(1, 1), (3, 3), (3, 3), (5, 4)] {
        lab.a.post(&Wr::queue(SEND_EN, slave, index).flags(0));
        lab.run();
        let first = |n: u64| lab.b.memory.read(at + 64 * n, 1)[0];
        assert_eq!([0, 1, 2, 3].map(first), [1, 2, 3, 4].map(|n| if n <= written { n } else { 0 }));
    }
    let done: Vec<_> = lab.a.poll_send().iter().map(|cqe| (cqe.qpn, cqe.wqe_counter)).collect();
    assert_eq!(done, [(slave, 0), (slave, 1), (slave, 2), (slave, 3)]);
    // More than a ring holds is not believed.
    lab.a.post(&Wr::queue(SEND_EN, slave, 5 + 65));
    lab.run();
    lab.a.turn(&mut aside);
    lab.a.post(&Wr::write(at, rkey).inline(&[9; 8]));
    lab.run();
    assert_eq!(lab.b.memory.read(at, 1), [1]);
    assert_eq!(lab.a.state(), QpState::Rts);
}

/// Collective operations use it so: one queue receives a message and another sends it on, without a CPU in between.
#[test]
fn a_message_is_passed_on_by_the_device() {
    let mut lab = lab(SENDS, CrossChannel::default());
    let (at, rkey, peer) = (lab.b.data, lab.b.key, lab.b.identity());
    let (own, key) = (lab.a.data, lab.a.key);
    let slave = lab.a.qpn;
    lab.a.post_silently(&Wr::write(at + 0x800, rkey).sge(own, 64, key));
    lab.a.post_recv(&[(own, 64)]);
    let receives = lab.a.recv_cq.cqn;
    lab.a.beside(MASTER, peer);
    lab.a.post(&Wr::queue(WAIT, receives, 0).flags(0));
    lab.a.post(&Wr::queue(SEND_EN, slave, 1).flags(0));
    lab.run();
    assert_eq!(lab.b.memory.read(at + 0x800, 4), [0; 4]);
    lab.b.post(&Wr::send().inline(b"from hand to hand"));
    lab.run();
    assert_eq!(lab.b.memory.read(at + 0x800, 17), b"from hand to hand");
}

#[test]
fn a_slave_receives_what_its_master_says() {
    let mut lab = lab(RECEIVES, CrossChannel::default());
    let (data, peer) = (lab.a.data, lab.b.identity());
    for n in 0..3 {
        lab.a.post_recv(&[(data + 64 * n, 64)]);
    }
    let slave = lab.a.qpn;
    lab.a.beside(MASTER, peer);
    lab.b.post(&Wr::send().inline(b"one"));
    lab.b.post(&Wr::send().inline(b"two"));
    lab.run();
    assert!(lab.a.poll_recv().is_empty(), "nothing is there to receive into");
    lab.a.post(&Wr::queue(RCV_EN, slave, 1));
    lab.run();
    lab.advance(Duration::from_millis(1));
    assert_eq!(lab.a.poll_recv().len(), 1);
    lab.a.post(&Wr::queue(RCV_EN, slave, 2));
    lab.run();
    lab.settle();
    assert_eq!(lab.a.poll_recv().len(), 1);
    assert_eq!(lab.a.memory.read(data + 64, 3), b"two");
    // One more than is posted is not there all the same.
    lab.a.post(&Wr::queue(RCV_EN, slave, 4));
    lab.b.post(&Wr::send().inline(b"three"));
    lab.b.post(&Wr::send().inline(b"four"));
    lab.settle();
    assert_eq!((lab.a.poll_recv().len(), lab.b.poll_send()[2..].len()), (1, 2));
}

#[test]
fn a_reset_slave_begins_anew_and_one_in_error_is_flushed() {
    let mut lab = lab(SENDS, RECEIVES);
    let peer = lab.b.identity();
    let slave = lab.a.qpn;
    lab.a.post(&Wr::nop());
    let mut aside = lab.a.beside(MASTER, peer);
    lab.a.post(&Wr::queue(SEND_EN, slave, 1).flags(0));
    lab.run();
    assert_eq!(lab.a.poll_send().len(), 1);
    lab.a.turn(&mut aside);
    for state in [QpState::Err, QpState::Reset] {
        lab.a.modify(softhca::context::QpAttr { state: Some(state), ..Default::default() });
        lab.run();
    }
    lab.a.pi = 0;
    lab.a.modify(lab.a.init_attr());
    lab.a.modify(lab.a.rtr_attr(peer));
    lab.a.modify(lab.a.rts_attr());
    lab.a.post(&Wr::nop());
    lab.run();
    assert!(lab.a.poll_send().is_empty(), "what was said before the reset does not count");
    let data = lab.b.data;
    lab.b.post_recv(&[(data, 64)]);
    lab.b.modify(softhca::context::QpAttr { state: Some(QpState::Err), ..Default::default() });
    lab.run();
    assert_eq!(lab.b.poll_recv().len(), 1, "it is posted, and flushed");
}

fn timed(generation: Generation) -> Lab {
    let mut lab = Lab::unconnected(Options { generation, ..Options::default() });
    lab.connect();
    lab
}

/// The mask of DPDK for a clock of 1 GHz that runs freely (`drivers/net/mlx5/mlx5_txq.c`,
/// `mlx5_txq_dynf_timestamp_set`): the ticks of eight seconds, rounded up to a power of two.
const FREE_RUNNING: u64 = (1 << 33) - 1;
/// That for real time: three bits of seconds, and nanoseconds.
const REAL_TIME: u64 = (8 << 32) - 1;
/// Only the first error has a CQE (`MLX5_COMP_ONLY_FIRST_ERR`).
const FIRST_ERROR: u8 = 1 << 2;

/// `MLX5_WAIT_COND_CYCLIC_SMALLER` is what DPDK waits by: until the value is behind the clock.
#[test]
fn a_queue_waits_for_the_clock() {
    let mut lab = timed(Generation::ConnectX7);
    let start = lab.now.as_nanos() as u64;
    lab.a.post(&Wr::wait_time(5, start + 5000, FREE_RUNNING));
    lab.a.post(&Wr::nop());
    lab.run();
    assert!(lab.a.poll_send().is_empty());
    assert_eq!(lab.a.device.next_deadline(), Some(Duration::from_nanos(start + 5001)));
    lab.advance(Duration::from_nanos(5000));
    assert!(lab.a.poll_send().is_empty());
    lab.advance(Duration::from_nanos(1));
    assert_eq!(outcomes(&lab.a.poll_send()), [(WAIT, 0, 0), (0, 1, 0)]);
    // The value behind already; only some bits; and the other comparisons, each of which holds now or in 16 ns.
    let now = lab.now.as_nanos() as u64;
    lab.a.post(&Wr::wait_time(5, now - 1, FREE_RUNNING));
    lab.a.post(&Wr::wait_time(5, (now & 0xffff) | 0xdead_0000, 0xffff));
    for (operation, value) in [(0, 0), (1, now + 16), (2, now + 17), (3, now + 15), (4, now + 17), (0x11, 0)] {
        lab.a.post(&Wr::wait_time(operation, value, FREE_RUNNING));
    }
    lab.run();
    assert_eq!(lab.a.poll_send().len(), 1);
    lab.advance(Duration::from_nanos(1));
    assert_eq!(lab.a.poll_send().len(), 2, "of the lowest bits, and the one that always holds");
    lab.advance(Duration::from_nanos(15));
    assert_eq!(lab.a.poll_send().len(), 5);
    assert_eq!(lab.a.device.next_deadline(), None);
    lab.a.post(&Wr::wait_time(6, 0, 1));
    lab.run();
    assert_eq!(outcomes(&lab.a.poll_send()), [(WAIT, 10, LOCAL_OP)], "no comparison");
}

/// The mask is as wide as the comparison, of a clock of either format; a WAIT by a wider one never ends.
#[test]
fn no_wait_ends_by_a_wider_mask() {
    for (real_time, mask) in [(None, FREE_RUNNING), (Some(Duration::from_secs(1_700_000_006)), REAL_TIME)] {
        let mut lab = Lab::new(Options {
            generation: Generation::ConnectX7,
            transport: Transport::RawPacket,
            real_time,
            ..ethernet()
        });
        let past = |lab: &Lab| {
            let time = real_time.unwrap_or_default() + lab.now - Duration::from_nanos(1);
            if real_time.is_some() {
                time.as_secs() << 32 | u64::from(time.subsec_nanos())
            } else {
                time.as_nanos() as u64
            }
        };
        lab.a.post(&Wr::wait_time(5, past(&lab), mask));
        lab.run();
        assert_eq!(outcomes(&lab.a.poll_send()), [(WAIT, 0, 0)], "{mask:#x}");
        lab.a.post(&Wr::wait_time(5, past(&lab), mask << 1 | 1));
        lab.run();
        for _ in 0..20 {
            lab.advance(Duration::from_secs(1));
        }
        assert!(lab.a.poll_send().is_empty(), "{mask:#x}");
        assert_eq!(lab.a.device.next_deadline(), None);
    }
}

fn ethernet() -> Options {
    Options { link: LinkLayer::Ethernet, ..Options::default() }
}

/// The device has one clock: a queue whose timestamps run freely waits for the time where the device shows that.
#[test]
fn the_clock_is_the_devices() {
    let zero = Duration::new(1_700_000_006, 900_000_000);
    let mut lab = Lab::unconnected(Options { generation: Generation::ConnectX7, real_time: Some(zero), ..ethernet() });
    lab.connect();
    // 200 ms ahead, in the next second.
    let end = zero + lab.now + Duration::from_millis(200);
    let value = end.as_secs() << 32 | u64::from(end.subsec_nanos());
    lab.a.post(&Wr::wait_time(5, value, REAL_TIME));
    lab.run();
    assert_eq!(lab.a.device.next_deadline(), Some(lab.now + Duration::from_nanos(200_000_001)));
    lab.advance(Duration::from_millis(200));
    assert!(lab.a.poll_send().is_empty());
    lab.advance(Duration::from_nanos(1));
    assert_eq!(outcomes(&lab.a.poll_send()), [(WAIT, 0, 0)]);
}

/// daqiri's pull requests 272 and 275: requests without a CQE, the WAIT and the frame behind it, have the mode "only
/// first error".
#[test]
fn frames_stall_behind_a_wait_of_another_mode() {
    let frame = |flags: u8| Wr::send().eth(0, &[0x5a; 60]).flags(flags);
    for (wait, behind, is_sent) in [
        (FIRST_ERROR, FIRST_ERROR, true),
        (8, 8, true),
        (0, FIRST_ERROR, false),
        (FIRST_ERROR, 0, false),
        (8, 0, false),
    ] {
        let options = Options { generation: Generation::ConnectX7, transport: Transport::RawPacket, ..ethernet() };
        let mut lab = Lab::new(options);
        let now = lab.now.as_nanos() as u64;
        lab.a.post(&frame(0));
        lab.a.post(&Wr::wait_time(5, now - 1, FREE_RUNNING).flags(wait));
        lab.a.post(&frame(behind));
        lab.run();
        let sent = lab.a.device.take_frames().len();
        assert_eq!(sent, if is_sent { 2 } else { 1 }, "{wait:#x} {behind:#x}");
    }
}

/// `cmd_hca_cap.wait_on_time`.
#[test]
fn older_devices_do_not_wait_for_the_clock() {
    let mut lab = timed(Generation::ConnectX6Dx);
    lab.a.post(&Wr::wait_time(0, 0, 0));
    lab.run();
    assert_eq!(outcomes(&lab.a.poll_send()), [(WAIT, 0, LOCAL_OP)]);
}

/// UCC's `waitOnDataWqe` (`test/gtest/tl/mlx5/test_tl_mlx5_wqe.cc`): a WRITE behind the WAIT sends what is in memory
/// when the word has its value. UCC waits by a mask for the low half, in the CPU's order.
#[test]
fn a_queue_waits_for_a_word_of_memory() {
    for value in [1, 1024, 1025, 0xf0f3_0f00, 0xffff_ffff_u64] {
        for before in [0, 0xf0f3_0f01_u64] {
            let mut lab = timed(Generation::ConnectX7);
            let (ctrl, key, at, rkey) = (lab.a.data, lab.a.key, lab.b.data, lab.b.key);
            lab.a.memory.write(ctrl, &before.to_le_bytes());
            let [value, mask] = [value, 0xffff_ffff].map(u64::swap_bytes);
            lab.a.post(&Wr::wait_data(1, (ctrl, key), value, mask));
            lab.a.post(&Wr::write(at, rkey).sge(ctrl + 8, 8, key));
            lab.run();
            lab.advance(Duration::from_millis(1));
            assert!(lab.a.poll_send().is_empty(), "{value:#x}");
            assert_eq!(lab.a.device.next_deadline(), None, "nothing to be woken for");
            lab.a.memory.write(ctrl + 8, &0xdead_beef_u64.to_le_bytes());
            lab.a.memory.write(ctrl, &value.to_be_bytes());
            lab.run();
            assert_eq!(outcomes(&lab.a.poll_send()), [(WAIT, 0, 0), (8, 1, 0)]);
            assert_eq!(lab.b.memory.read(at, 8), 0xdead_beef_u64.to_le_bytes());
        }
    }
}

/// The value comes first in a comparison: NVIDIA's ldo waits for at least a threshold by an inverted "bigger"
/// (`ldo_dev_hangup_trigger`), and for a CQE's last bytes to become other than 0 by an inverted "equal" and a mask.
#[test]
fn a_word_is_compared_as_a_big_endian_number() {
    let mut lab = timed(Generation::ConnectX7);
    let (at, key) = (lab.a.data, lab.a.key);
    let threshold = 0x0000_0001_0000_0000_u64;
    lab.a.memory.write(at, &0xffff_ffff_u64.to_be_bytes());
    lab.a.post(&Wr::wait_data(0x12, (at, key), threshold, u64::MAX));
    lab.run();
    assert!(lab.a.poll_send().is_empty(), "below the threshold");
    lab.a.memory.write(at, &threshold.to_be_bytes());
    lab.run();
    assert_eq!(outcomes(&lab.a.poll_send()), [(WAIT, 0, 0)]);
    lab.a.memory.write(at, &[9, 9, 9, 9, 0, 0, 0, 0]);
    lab.a.post(&Wr::wait_data(0x11, (at, key), 0, 0xffff_ffff));
    lab.run();
    assert!(lab.a.poll_send().is_empty(), "the bytes outside the mask do not count");
    lab.a.memory.write(at + 7, &[1]);
    lab.run();
    assert_eq!(outcomes(&lab.a.poll_send()), [(WAIT, 1, 0)]);
    lab.a.post(&Wr::wait_data(0, (at, key), 0, 0));
    lab.run();
    assert_eq!(outcomes(&lab.a.poll_send()), [(WAIT, 2, 0)], "always");
}

/// The action in the low bits of the address is to wait, or to fail at once (`WOD_SEND_ERROR_CQE`).
#[test]
fn a_wait_for_a_word_may_fail_instead() {
    let mut lab = timed(Generation::ConnectX7);
    let (at, key) = (lab.a.data, lab.a.key);
    lab.a.memory.write(at, &7_u64.to_be_bytes());
    lab.a.post(&Wr::wait_data(1, (at | 1, key), 7, u64::MAX));
    lab.a.post(&Wr::wait_data(1, (at | 1, key), 8, u64::MAX));
    lab.run();
    assert_eq!(outcomes(&lab.a.poll_send()), [(WAIT, 0, 0), (WAIT, 1, LOCAL_OP)]);
}

/// A key that is not there, a word past its end, and a device without the capability (`cmd_hca_cap.wait_on_data`).
#[test]
fn a_wait_for_a_word_needs_a_key_and_a_capability() {
    for (generation, offset, key, syndrome) in [
        (Generation::ConnectX7, 0, 0xdead_0000, LOCAL_PROTECTION),
        (Generation::ConnectX7, DATA_BYTES as u64, 0, LOCAL_PROTECTION),
        (Generation::ConnectX6Dx, 0, 0, LOCAL_OP),
    ] {
        let mut lab = timed(generation);
        let word = (lab.a.data + offset, if key == 0 { lab.a.key } else { key });
        lab.a.post(&Wr::wait_data(1, word, 1, u64::MAX));
        lab.run();
        assert_eq!(outcomes(&lab.a.poll_send()), [(WAIT, 0, syndrome)], "{generation:?} {offset:#x}");
    }
}

/// The request that waits for a word of the lost region fails.
#[test]
fn a_key_may_go_while_a_queue_waits() {
    let mut lab = timed(Generation::ConnectX7);
    let (at, key) = (lab.a.data, lab.a.key);
    lab.a.post(&Wr::wait_data(1, (at, key), 1, u64::MAX));
    lab.run();
    assert!(lab.a.poll_send().is_empty());
    lab.a.device.destroy_mkey(key).expect("there");
    lab.run();
    assert_eq!(outcomes(&lab.a.poll_send()), [(WAIT, 0, LOCAL_PROTECTION)]);
}

#[test]
fn a_dump_reads_and_sends_nothing() {
    let mut lab = lab(CrossChannel::default(), CrossChannel::default());
    let (at, key) = (lab.a.data, lab.a.key);
    let dump = |len| Wr::new(DUMP).sge(at, len, key);
    lab.a.post(&dump(4096));
    lab.a.post(&dump(1).sge(at, 9000, key));
    lab.run();
    assert_eq!(outcomes(&lab.a.poll_send()), [(DUMP, 0, 0), (DUMP, 1, 0)]);
    assert!(lab.a.tap.lock().unwrap().log.is_empty(), "no packet");
    lab.a.post(&Wr::new(DUMP).sge(at + DATA_BYTES as u64 - 10, 11, key));
    lab.run();
    assert_eq!(outcomes(&lab.a.poll_send()), [(DUMP, 2, LOCAL_PROTECTION)]);

    let raw = Options { transport: Transport::RawPacket, link: LinkLayer::Ethernet, ..Options::default() };
    let mut lab = Lab::new(raw);
    lab.a.post(&Wr::new(DUMP).sge(lab.a.data, 1500, lab.a.key));
    lab.a.post(&Wr::new(DUMP).sge(lab.a.data, (1 << 16) + 1, lab.a.key));
    lab.run();
    assert_eq!(outcomes(&lab.a.poll_send()), [(DUMP, 0, 0), (DUMP, 1, LOCAL_LENGTH)]);
    assert!(lab.a.device.take_frames().is_empty());
}

/// Nothing waits in a sink.
#[test]
fn a_sink_completes_all() {
    let mut lab = Lab::of(Options { sink: true, ..Options::default() }, Options::default());
    lab.connect();
    lab.a.post(&Wr::queue(WAIT, lab.a.recv_cq.cqn, 0));
    lab.a.post(&Wr::queue(SEND_EN, 999, 0));
    lab.a.post(&Wr::new(DUMP).sge(0, 1, 0));
    lab.run();
    assert_eq!(outcomes(&lab.a.poll_send()), [(WAIT, 0, 0), (SEND_EN, 1, 0), (DUMP, 2, 0)]);
}
