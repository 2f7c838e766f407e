//! The queue over a test's memory: owner bits, arming, moderation, overruns.

use super::super::completion::{FrameInfo, Syndrome};
use super::*;
use crate::context::{CqCompression, MiniFormat, PeriodStart};
use crate::memory::ArrayMemory;
use crate::memory::test_memory::BASE;
use std::cell::RefCell;

mod sessions;

const CQN: u32 = 7;
/// Place of the doorbell record in the tests' memory, after a ring of 4 CQEs.
const RECORD: usize = 256;

fn setup(ignore_overrun: bool) -> (Cq, ArrayMemory) {
    let memory = ArrayMemory::filled(BASE, 1024, 0xa5);
    memory.put(RECORD, &[0; 8]);
    let dbr = BASE + RECORD as u64;
    let context = CqContext { ignore_overrun, ..CqContext::new(BASE, 2, dbr, 1) };
    (Cq::new(context), memory)
}

fn completion(wqe_counter: u16) -> Completion {
    Completion::Request { qpn: 1, uidx: 0, opcode: 8, wqe_counter, byte_cnt: 0, inline: None }
}

fn error() -> Completion {
    let syndrome = Syndrome::WrFlush;
    Completion::Error {
        qpn: 1,
        uidx: 0,
        requester: true,
        opcode: 8,
        wqe_counter: 0,
        strides: None,
        syndrome,
        vendor_syndrome: 0,
        hardware_syndrome: 0,
    }
}

fn write(cq: &mut Cq, memory: &ArrayMemory, c: &Completion) -> Option<Event> {
    cq.write(CQN, (c, 0), memory, Duration::ZERO)
}

fn arm(cq: &mut Cq, memory: &ArrayMemory, word: u32) -> Result<Option<Event>, Complaint> {
    cq.arm(CQN, word, Some(Duration::ZERO))?;
    Ok(cq.due_event(CQN, memory, Duration::ZERO))
}

fn poll(cq: &mut Cq, memory: &ArrayMemory) -> Result<Option<Event>, Complaint> {
    cq.poll_arm_word(CQN, memory, Duration::ZERO)?;
    Ok(cq.due_event(CQN, memory, Duration::ZERO))
}

fn consume(memory: &ArrayMemory, index: u32) {
    memory.put(RECORD, &index.to_be_bytes());
}

#[test]
fn the_owner_bit_changes_with_each_pass() {
    let (mut cq, memory) = setup(false);
    for i in 0..12u16 {
        assert_eq!(write(&mut cq, &memory, &completion(i)), None);
        consume(&memory, u32::from(i) + 1);
        let at = usize::from(i % 4) * 64;
        assert_eq!(memory.bytes()[at + 60..at + 64], [0, i as u8, 0, u8::from(i / 4 % 2 == 1)]);
    }
    assert!(memory.bytes()[RECORD + 8..].iter().all(|&b| b == 0xa5), "nothing past the ring is touched");
}

/// DPDK `drivers/net/mlx5/mlx5_tx.h`, `struct mlx5_txq_data`: `uint16_t cq_ci`.
#[test]
fn sixteen_bits_of_the_consumer_index_are_enough() {
    for (producer, consumer, is_full) in
        [(0x1_0002, 0x0002, false), (0x1_0002, 0xffff, false), (0x1_0002, 0xfffe, true), (0x1_0002, 0x0003, true)]
    {
        let (mut cq, memory) = setup(false);
        cq.count = producer;
        consume(&memory, consumer);
        let event = write(&mut cq, &memory, &completion(0));
        assert_eq!(event.is_some(), is_full, "{producer:#x} {consumer:#x}");
    }
    // A ring that needs more bits has more.
    let (mut cq, _) = setup(false);
    (cq.context.log_size, cq.count) = (17, 0x3_0000);
    assert_eq!([cq.ahead_of(0), cq.ahead_of(0x1_0000), cq.ahead_of(0x3_0000)], [0x3_0000, 0x2_0000, 0]);
}

#[test]
fn the_producer_wraps_at_24_bits() {
    let (mut cq, memory) = setup(false);
    cq.count = 0x00ff_fffe;
    consume(&memory, 0x00ff_fffc);
    assert_eq!(write(&mut cq, &memory, &completion(0)), None);
    assert_eq!(write(&mut cq, &memory, &completion(0)), None);
    assert_eq!(cq.written_index(), 0);
    assert_eq!(write(&mut cq, &memory, &completion(0)), Some(Event::CqError { cqn: CQN, fault: CqFault::Overrun }));
    consume(&memory, 0x00ff_fffd);
    assert_eq!(write(&mut cq, &memory, &completion(0)), None, "an overrun is final");
}

#[test]
fn overrun_is_an_error_unless_ignored() {
    let (mut cq, memory) = setup(false);
    for i in 0..4 {
        assert_eq!(write(&mut cq, &memory, &completion(i)), None);
    }
    let before = memory.bytes().clone();
    assert_eq!(write(&mut cq, &memory, &completion(4)), Some(Event::CqError { cqn: CQN, fault: CqFault::Overrun }));
    assert_eq!(write(&mut cq, &memory, &completion(5)), None, "reported once");
    assert_eq!(*memory.bytes(), before);
    assert_eq!(cq.failure(), Some(CqFailure::Overrun { consumer: 0, producer: 4 }));

    let (mut cq, memory) = setup(true);
    for i in 0..5 {
        assert_eq!(write(&mut cq, &memory, &completion(i)), None);
    }
    assert_eq!(memory.bytes()[61..64], [4, 0, 1]);
}

#[test]
fn a_collapsed_queue_holds_the_latest() {
    let (mut cq, memory) = setup(true);
    cq.context.collapsed = true;
    for i in 0..5 {
        assert_eq!(write(&mut cq, &memory, &completion(i)), None);
    }
    assert_eq!(memory.bytes()[61..64], [4, 0, 1], "the owner bit changes as in a ring");
    assert_eq!(memory.bytes()[64..128], [0xa5; 64]);
}

/// Memory that notes where it is written, and how many bytes at once.
struct Noted<'a>(&'a ArrayMemory, RefCell<Vec<(u64, usize)>>);

impl HostMemory for Noted<'_> {
    unsafe fn map(&mut self, _: u64, _: usize) -> Result<(), DmaFault> {
        Ok(())
    }

    fn unmap(&mut self, _: u64, _: usize) {}

    fn read(&self, addr: u64, out: &mut [u8]) -> Result<(), DmaFault> {
        self.0.read(addr, out)
    }

    fn write(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault> {
        self.1.borrow_mut().push((addr, data.len()));
        self.0.write(addr, data)
    }

    fn load_be32(&self, addr: u64) -> Result<u32, DmaFault> {
        self.0.load_be32(addr)
    }

    fn fetch_update_u64(&self, addr: u64, f: &mut dyn FnMut(u64) -> u64) -> Result<u64, DmaFault> {
        self.1.borrow_mut().push((addr, 8));
        self.0.fetch_update_u64(addr, f)
    }

    fn write_last_byte_last(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault> {
        self.1.borrow_mut().push((addr, data.len()));
        self.0.write_last_byte_last(addr, data)
    }
}

/// The host reads index and opcode at once, at any time.
#[test]
fn a_collapsed_queue_changes_its_last_bytes_at_once() {
    let (mut cq, memory) = setup(true);
    cq.context.collapsed = true;
    let noted = Noted(&memory, RefCell::default());
    cq.write(CQN, (&completion(7), 0), &noted, Duration::ZERO);
    let at = cq.context.buf;
    assert_eq!(noted.1.into_inner(), [(at, 56), (at + 56, 8)]);
    assert_eq!(memory.bytes()[61..64], [7, 0, 0]);
}

#[test]
fn an_arm_gives_one_event_for_the_next_cqe() {
    let (mut cq, memory) = setup(true);
    assert_eq!(write(&mut cq, &memory, &completion(0)), None, "not armed");
    assert_eq!(arm(&mut cq, &memory, 1), Ok(None), "the CQE before index 1 was consumed");
    assert_eq!(write(&mut cq, &memory, &completion(1)), Some(Event::Completion { cqn: CQN }));
    assert_eq!(write(&mut cq, &memory, &completion(2)), None, "disarmed");
}

fn write_at(cq: &mut Cq, memory: &ArrayMemory, now: u64) -> Option<Event> {
    cq.write(CQN, (&completion(0), 0), memory, Duration::from_secs(now))
}

fn due_at(cq: &mut Cq, memory: &ArrayMemory, now: u64) -> Option<Event> {
    cq.due_event(CQN, memory, Duration::from_secs(now))
}

#[test]
fn events_are_as_far_apart_as_the_period_says() {
    let (mut cq, memory) = setup(true);
    let fired = Some(Event::Completion { cqn: CQN });
    let moderation = Moderation { count: 3, period: Duration::from_secs(10), start: PeriodStart::Event };
    cq.set_moderation(moderation);
    assert_eq!(arm(&mut cq, &memory, 0), Ok(None));
    assert_eq!(write_at(&mut cq, &memory, 100), fired, "long after the last event");
    assert_eq!(arm(&mut cq, &memory, 0x1000_0001), Ok(None));
    assert_eq!((write_at(&mut cq, &memory, 104), cq.deadline()), (None, Some(Duration::from_secs(110))));
    assert_eq!((write_at(&mut cq, &memory, 105), due_at(&mut cq, &memory, 109)), (None, None));
    assert_eq!((due_at(&mut cq, &memory, 110), cq.deadline()), (fired, None));
    assert_eq!(arm(&mut cq, &memory, 0x2000_0003), Ok(None));
    let written = [111, 112, 113, 114].map(|now| write_at(&mut cq, &memory, now));
    assert_eq!(written, [None, None, fired, None], "the third, and then it is not armed");
}

#[test]
fn a_period_that_begins_with_each_cqe_ends_in_a_pause() {
    let (mut cq, memory) = setup(true);
    let fired = Some(Event::Completion { cqn: CQN });
    cq.set_moderation(Moderation { count: 4, period: Duration::from_secs(10), start: PeriodStart::Cqe });
    assert_eq!(arm(&mut cq, &memory, 0), Ok(None));
    assert_eq!((write_at(&mut cq, &memory, 100), write_at(&mut cq, &memory, 109)), (None, None));
    assert_eq!((due_at(&mut cq, &memory, 118), cq.deadline()), (None, Some(Duration::from_secs(119))));
    assert_eq!(due_at(&mut cq, &memory, 119), fired);
    assert_eq!(arm(&mut cq, &memory, 0x1000_0002), Ok(None));
    let written = [120, 121, 122, 123].map(|now| write_at(&mut cq, &memory, now));
    assert_eq!(written, [None, None, None, fired]);
}

#[test]
fn where_there_are_no_delays_an_arming_tells_of_what_is_not_consumed() {
    let (mut cq, memory) = setup(true);
    let fired = Some(Event::Completion { cqn: CQN });
    assert_eq!(arm(&mut cq, &memory, 0), Ok(None));
    assert_eq!(write_at(&mut cq, &memory, 100), fired);
    // The record says that it was consumed, the arm word that it was not.
    consume(&memory, 1);
    cq.arm(CQN, 0x1000_0000, None).unwrap();
    assert_eq!(due_at(&mut cq, &memory, 100), fired);
    cq.arm(CQN, 0x2000_0001, None).unwrap();
    assert_eq!(due_at(&mut cq, &memory, 100), None);
    cq.set_moderation(Moderation { count: 2, period: Duration::from_secs(10), start: PeriodStart::Event });
    assert_eq!(write_at(&mut cq, &memory, 103), None);
    cq.arm(CQN, 0x2000_0001, None).unwrap();
    assert_eq!((due_at(&mut cq, &memory, 109), cq.deadline()), (None, Some(Duration::from_secs(110))));
    assert_eq!(due_at(&mut cq, &memory, 110), fired);
    assert_eq!((write_at(&mut cq, &memory, 111), write_at(&mut cq, &memory, 112)), (None, None));
    cq.arm(CQN, 0x3000_0002, None).unwrap();
    assert_eq!(due_at(&mut cq, &memory, 112), fired, "two since the last event");
}

#[test]
fn an_arm_that_comes_late_is_not_lost() {
    let (mut cq, memory) = setup(true);
    assert_eq!(write(&mut cq, &memory, &completion(0)), None);
    assert_eq!(arm(&mut cq, &memory, 1 << 28), Ok(Some(Event::Completion { cqn: CQN })), "CQE 0 was not consumed");
    assert_eq!(write(&mut cq, &memory, &completion(1)), None);
    // An index the device has not reached yet is no reason to wake.
    assert_eq!(arm(&mut cq, &memory, 0x0000_0003), Ok(None));
}

#[test]
fn a_host_that_polls_after_arming_is_not_woken_for_what_it_was_told_of() {
    let (mut cq, memory) = setup(true);
    let due = Duration::from_micros(9);
    let fired = Some(Event::Completion { cqn: CQN });
    assert_eq!(arm(&mut cq, &memory, 0), Ok(None));
    assert_eq!(write(&mut cq, &memory, &completion(0)), fired);
    cq.arm(CQN, 1 << 28, Some(due)).unwrap();
    assert_eq!((cq.deadline(), cq.due_event(CQN, &memory, Duration::ZERO)), (Some(due), None));
    consume(&memory, 1);
    assert_eq!((cq.due_event(CQN, &memory, due), cq.deadline()), (None, None));
    assert_eq!(write(&mut cq, &memory, &completion(1)), fired, "still armed");
    // The host stays away: it is woken when the time has come, once.
    cq.arm(CQN, 1, Some(due)).unwrap();
    assert_eq!(cq.due_event(CQN, &memory, due), fired);
    assert_eq!(cq.due_event(CQN, &memory, due), None);
}

#[test]
fn what_it_was_not_told_of_it_is_told_at_once() {
    let (mut cq, memory) = setup(true);
    let late = Duration::from_secs(9);
    assert_eq!(write(&mut cq, &memory, &completion(0)), None);
    cq.arm(CQN, 0, Some(late)).unwrap();
    // Another thread polls, and says nothing to the one that sleeps.
    consume(&memory, 1);
    assert_eq!(cq.due_event(CQN, &memory, Duration::ZERO), Some(Event::Completion { cqn: CQN }));
}

#[test]
fn asking_for_less_takes_nothing_back() {
    let (mut cq, memory) = setup(true);
    assert_eq!(arm(&mut cq, &memory, 0), Ok(None));
    assert_eq!(arm(&mut cq, &memory, ARM_SOLICITED), Ok(None));
    assert_eq!(write(&mut cq, &memory, &completion(0)), Some(Event::Completion { cqn: CQN }), "not solicited");
}

#[test]
fn a_driver_that_does_not_count_its_events_is_complained_of() {
    let (mut cq, memory) = setup(true);
    let fired = Some(Event::Completion { cqn: CQN });
    let request = |sequence: u32, index: u32| sequence << 28 | index;
    // A driver that counts some events late: three at once, then four, after which it is at the same number.
    for (index, sequence) in (0..).zip([3, 3, 3, 2, 2, 2, 2, 2, 3]) {
        assert_eq!(arm(&mut cq, &memory, request(sequence, index)), Ok(None));
        assert_eq!(write(&mut cq, &memory, &completion(0)), fired);
        consume(&memory, index + 1);
    }
    for index in 9..13 {
        assert_eq!(arm(&mut cq, &memory, request(3, index)), Ok(None), "{index}");
        assert_eq!(write(&mut cq, &memory, &completion(0)), fired);
        consume(&memory, index + 1);
    }
    let uncounted = Complaint::ArmUncounted { cqn: CQN, word: request(3, 13), events: 5 };
    assert_eq!(arm(&mut cq, &memory, request(3, 13)), Err(uncounted));
    assert_eq!(write(&mut cq, &memory, &completion(0)), fired, "it is armed all the same");
    assert_eq!(arm(&mut cq, &memory, request(0, 14)), Ok(None));
}

#[test]
fn solicited_only() {
    let (mut cq, memory) = setup(true);
    assert_eq!(write(&mut cq, &memory, &completion(0)), None);
    assert_eq!(arm(&mut cq, &memory, ARM_SOLICITED), Ok(None), "CQE 0 is not solicited");
    assert_eq!(write(&mut cq, &memory, &completion(1)), None);
    assert_eq!(write(&mut cq, &memory, &error()), Some(Event::Completion { cqn: CQN }), "errors count");
    assert_eq!(write(&mut cq, &memory, &completion(3)), None);
    assert_eq!(
        arm(&mut cq, &memory, 0x1000_0002 | ARM_SOLICITED),
        Ok(Some(Event::Completion { cqn: CQN })),
        "CQE 2 was missed"
    );
    assert_eq!(arm(&mut cq, &memory, 0x2000_0003 | ARM_SOLICITED), Ok(None));
    assert_eq!(arm(&mut cq, &memory, 0x8000_0000), Err(Complaint::BadArmWord { cqn: CQN, word: 0x8000_0000 }));
}

#[test]
fn a_first_arm_of_value_0_is_seen_in_the_record() {
    let (mut cq, memory) = setup(true);
    cq.poison_arm_word(&memory).unwrap();
    assert_eq!(memory.bytes()[RECORD..RECORD + 8], [0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]);
    assert_eq!(poll(&mut cq, &memory), Ok(None));
    assert_eq!(write(&mut cq, &memory, &completion(0)), None);
    memory.put(RECORD + 4, &[0; 4]);
    assert_eq!(poll(&mut cq, &memory), Ok(Some(Event::Completion { cqn: CQN })));
    assert_eq!(poll(&mut cq, &memory), Ok(None), "the same word does not arm again");
}

#[test]
fn resize_goes_on_in_the_new_ring() {
    let (mut cq, memory) = setup(false);
    assert_eq!(write(&mut cq, &memory, &completion(0)), None);
    let context = CqContext { buf: BASE + 512, log_size: 1, ..cq.context };
    cq.resize(context, &memory, Duration::ZERO).unwrap();
    assert_eq!(memory.bytes()[127], 0x50, "the old ring ends");
    consume(&memory, 2);
    assert_eq!(write(&mut cq, &memory, &completion(0x77)), None);
    assert_eq!(memory.bytes()[512 + 60..512 + 64], [0, 0x77, 0, 1], "index 2 is the second pass over 2 CQEs");
    assert_eq!(write(&mut cq, &memory, &completion(0x78)), None);
    assert!(cq.resize(context, &memory, Duration::ZERO).is_err(), "no room for what is not consumed");
}

#[test]
fn unreachable_rings_are_an_error() {
    let (mut cq, memory) = setup(false);
    cq.context.buf = BASE + 1000;
    assert_eq!(write(&mut cq, &memory, &completion(0)), Some(Event::CqError { cqn: CQN, fault: CqFault::Unreachable }));
    let (mut cq, memory) = setup(false);
    cq.context.dbr = 0;
    assert_eq!(write(&mut cq, &memory, &completion(0)), Some(Event::CqError { cqn: CQN, fault: CqFault::Unreachable }));
}

fn compressing(enhanced: bool, format: MiniFormat) -> (Cq, ArrayMemory) {
    let (mut cq, memory) = setup(true);
    cq.context.log_size = 4;
    cq.context.dbr = BASE + 2000;
    cq.context.compression = Some(CqCompression { format, enhanced });
    let big = ArrayMemory::filled(BASE, 2048, 0xa5);
    drop(memory);
    (cq, big)
}

fn frame(n: u16) -> Completion {
    let info =
        FrameInfo { rss_hash: 0x1122_3300 + u32::from(n), rss_hash_type: 0x44, sum: 0x5500 + n, ..Default::default() };
    let (wqe_counter, byte_cnt) = (0xfffe_u16.wrapping_add(n), 0x100 + u32::from(n));
    Completion::Frame { rqn: 5, uidx: 6, wqe_counter, byte_cnt, strides: None, info }
}

/// Linux `drivers/net/ethernet/mellanox/mlx5/core/en_rx.c`: the title has the number of completions, arrays are behind
/// it and eight places after it.
#[test]
fn the_basic_layout() {
    let (mut cq, memory) = compressing(false, MiniFormat::Checksum);
    for n in 0..10 {
        assert_eq!(write(&mut cq, &memory, &frame(n)), None);
    }
    assert!(memory.bytes().iter().all(|&byte| byte == 0xa5), "they wait");
    assert_eq!((cq.count, cq.deadline()), (0, Some(Duration::ZERO)));
    assert_eq!(cq.settle(CQN, &memory, Duration::ZERO), None);
    let bytes = memory.bytes();
    assert_eq!((&bytes[44..48], &bytes[60..64]), (&[0, 0, 0, 10][..], &[0xff, 0xfe, 0, 0x2c][..]));
    assert_eq!(bytes[12..17], [0x11, 0x22, 0x33, 0, 0x44]);
    assert_eq!(bytes[64..80], [0x55, 0, 0, 0, 0, 0, 1, 0, 0x55, 1, 0, 0, 0, 0, 1, 1]);
    assert_eq!(bytes[8 * 64..8 * 64 + 16], [0x55, 8, 0, 0, 0, 0, 1, 8, 0x55, 9, 0, 0, 0, 0, 1, 9]);
    assert!(bytes[2 * 64..8 * 64].iter().chain(&bytes[9 * 64..]).all(|&byte| byte == 0xa5), "the rest is left out");
    drop(bytes);
    assert_eq!(cq.count, 10);
}

/// DPDK `drivers/net/mlx5/mlx5_rxtx_vec_sse.h`, `rxq_cq_decompress_v`, and `mlx5_rxtx_vec.c`, `rxq_burst_v`: arrays,
/// and buffers of the completions, are looked for without a look at the end of their rings.
#[test]
fn a_session_ends_where_the_ring_ends() {
    for (enhanced, first) in (0..16).flat_map(|first| [(false, first), (true, first)]) {
        let (mut cq, memory) = compressing(enhanced, MiniFormat::Hash);
        cq.count = 4 << 4 | first;
        if enhanced {
            cq.session.written(cq.context.compression.unwrap(), &Encoded::new(&frame(0), 64, false, 0));
        }
        for n in 1..=16 - first as u16 {
            assert_eq!(write(&mut cq, &memory, &frame(n)), None);
        }
        assert_eq!((cq.count, cq.session.waiting()), (5 << 4, 0), "{enhanced} {first}");
        assert_eq!(write(&mut cq, &memory, &frame(17 - first as u16)), None);
        assert_eq!(cq.settle(CQN, &memory, Duration::ZERO), None);
        let bytes = memory.bytes();
        // A whole CQE in the basic layout; a mini-CQE in the enhanced one, which needs no new title.
        let title = if enhanced { [5, 0x0d] } else { [0, 0x21] };
        assert_eq!(bytes[62..64], title, "{enhanced} {first}: the next one is the first of its pass");
        let before = first as usize * 64;
        assert!(
            bytes[64..before.max(64)].iter().all(|&byte| byte == 0xa5),
            "{enhanced} {first}: nothing else is there"
        );
        if !enhanced && (1..15).contains(&first) {
            assert_eq!((bytes[before + 47], bytes[before + 63]), (16 - first as u8, 0x2c));
        }
    }
}

/// Linux `en_rx.c`, `mlx5e_rx_cq_process_enhanced_cqe_comp`, and `wq.h`, `mlx5_cqwq_get_cqe_enahnced_comp`.
#[test]
fn the_enhanced_layout() {
    let (mut cq, memory) = compressing(true, MiniFormat::Hash);
    cq.count = 0x7f << 4 | 14;
    for n in 0..11 {
        assert_eq!(write(&mut cq, &memory, &frame(n)), None);
    }
    assert_eq!(cq.settle(CQN, &memory, Duration::ZERO), None);
    let bytes = memory.bytes();
    assert_eq!(bytes[14 * 64 + 60..14 * 64 + 64], [0xff, 0xfe, 0x7f, 0x21], "the title, in pass 0x7f");
    assert_eq!(bytes[15 * 64..15 * 64 + 9], [0x11, 0x22, 0x33, 1, 0, 0, 1, 1, 0]);
    assert_eq!(bytes[15 * 64 + 62..16 * 64], [0x7f, 0x0d], "one, where the ring ends");
    let seven = &bytes[..64];
    assert_eq!(seven[..16], [0x11, 0x22, 0x33, 2, 0, 0, 1, 2, 0x11, 0x22, 0x33, 3, 0, 0, 1, 3]);
    assert_eq!(seven[62..], [0x80, 0x6c], "in the next pass");
    assert_eq!(bytes[7 * 64 + 62..8 * 64], [0x80, 0x1c], "two");
    assert_eq!(cq.count, 0x80 << 4 | 9);
}

/// `wq.h`, `mlx5_cqwq_get_ctr_wrap_cnt`: the driver's index has 32 bits, and its count of passes is taken from them.
#[test]
fn passes_go_on_where_the_index_begins_anew() {
    let (mut cq, memory) = compressing(true, MiniFormat::Hash);
    (cq.context.log_size, cq.count) = (17, 1 << 24);
    write(&mut cq, &memory, &frame(0));
    assert_eq!((memory.bytes()[62], cq.written_index()), (0x80, 1));
}

/// DPDK `drivers/net/mlx5/mlx5_rxtx_vec_sse.h`, `rxq_cq_decompress_v`: byte 0 of a mini-CQE has the headers, as byte 29
/// of a CQE. Byte 1 is reserved (`drivers/common/mlx5/mlx5_prm.h`, `mlx5_mini_cqe8`, since commit 5654f38eba8).
#[test]
fn a_mini_cqe_begins_with_the_headers() {
    let (mut cq, memory) = compressing(false, MiniFormat::Headers);
    for (headers, wqe_counter, byte_cnt) in [(0x29, 7, 64), (0x14, 8, 1518)] {
        let info = FrameInfo { headers, ..Default::default() };
        write(&mut cq, &memory, &Completion::Frame { rqn: 5, uidx: 6, wqe_counter, byte_cnt, strides: None, info });
    }
    cq.settle(CQN, &memory, Duration::ZERO);
    assert_eq!(memory.bytes()[64..80], [0x29, 0, 0, 7, 0, 0, 0, 0x40, 0x14, 0, 0, 8, 0, 0, 5, 0xee]);
}

#[test]
fn what_is_not_alike_ends_a_session() {
    for enhanced in [false, true] {
        let (mut cq, memory) = compressing(enhanced, MiniFormat::Checksum);
        for c in [frame(0), frame(1), frame(3), error(), frame(4)] {
            assert_eq!(write(&mut cq, &memory, &c), None);
        }
        cq.settle(CQN, &memory, Duration::ZERO);
        let ends: Vec<u8> = [0, 1, 2, 3, 4].map(|slot| memory.bytes()[slot * 64 + 63]).to_vec();
        // In the basic layout the second place has the two mini-CQEs; the third frame's index does not follow.
        let expected: [u8; 5] = if enhanced { [0x20, 0x0c, 0x20, 0xd2, 0x20] } else { [0x2c, 0, 0x20, 0xd2, 0x20] };
        assert_eq!(ends, expected, "{enhanced}");
    }
}

#[test]
fn one_event_tells_of_a_session() {
    let (mut cq, memory) = compressing(false, MiniFormat::Hash);
    assert_eq!(arm(&mut cq, &memory, 0), Ok(None));
    assert_eq!((write(&mut cq, &memory, &frame(0)), write(&mut cq, &memory, &frame(1))), (None, None));
    assert_eq!(cq.settle(CQN, &memory, Duration::ZERO), Some(Event::Completion { cqn: CQN }));
    assert_eq!(cq.settle(CQN, &memory, Duration::ZERO), None);
}

/// A CQ whose ring of `log_size` is followed by 8 places for the next one.
fn to_resize(enhanced: bool, log_size: u8) -> (Cq, ArrayMemory, CqContext) {
    let (mut cq, memory) = compressing(enhanced, MiniFormat::Hash);
    cq.context.log_size = log_size;
    let context = CqContext { buf: BASE + 1024, log_size: 3, ..cq.context };
    (cq, memory, context)
}

/// Drivers count on in the new ring, and take owner bits and numbers of passes from the index.
#[test]
fn a_compressed_queue_goes_on_in_the_new_ring() {
    for (enhanced, log_size, written) in [
        (false, 4, 20),
        (false, 4, 15), // the CQE that ends the ring is in its last place
        (false, 2, 9),
        (true, 4, 20),
        (true, 4, 15),
        (true, 2, 9),
    ] {
        let (mut cq, memory, context) = to_resize(enhanced, log_size);
        for n in 0..written {
            write(&mut cq, &memory, &completion(n));
            cq.settle(CQN, &memory, Duration::ZERO);
        }
        memory.put(2000, &u32::from(written).to_be_bytes());
        cq.resize(context, &memory, Duration::ZERO).unwrap();
        write(&mut cq, &memory, &completion(7));
        cq.settle(CQN, &memory, Duration::ZERO);
        let bytes = memory.bytes();
        for (buf, log_size, index, opcode) in [(0, log_size, written, 0x50), (1024, 3, written + 1, 0)] {
            let at = buf + usize::from(index % (1 << log_size)) * 64;
            let pass = (index >> log_size) as u8;
            assert_eq!(bytes[at + 63], opcode | pass & 1, "{enhanced} {log_size}: index {index}");
            assert!(!enhanced || bytes[at + 62] == pass, "{log_size}: index {index}");
        }
    }
}

#[test]
fn completions_that_wait_come_before_the_end_of_the_old_ring() {
    let (mut cq, memory, context) = to_resize(false, 4);
    memory.put(2000, &[0; 4]);
    assert_eq!(arm(&mut cq, &memory, 0), Ok(None));
    for n in 0..3 {
        assert_eq!(write(&mut cq, &memory, &completion(n)), None);
    }
    cq.resize(context, &memory, Duration::ZERO).unwrap();
    let bytes = memory.bytes();
    assert_eq!((bytes[47], bytes[63], bytes[3 * 64 + 63]), (3, 0x0c, 0x50));
    drop(bytes);
    assert_eq!(cq.due_event(CQN, &memory, Duration::ZERO), Some(Event::Completion { cqn: CQN }));
    assert!(cq.is_idle());
}

/// A mini-CQE is read with a title before it, which the new ring does not have.
#[test]
fn the_first_cqe_of_a_new_ring_is_whole() {
    let (mut cq, memory, context) = to_resize(true, 4);
    write(&mut cq, &memory, &frame(0));
    memory.put(2000, &1_u32.to_be_bytes());
    cq.resize(context, &memory, Duration::ZERO).unwrap();
    write(&mut cq, &memory, &frame(1));
    assert_eq!(memory.bytes()[1024 + 2 * 64 + 62..1024 + 3 * 64], [0, 0x20]);
}
