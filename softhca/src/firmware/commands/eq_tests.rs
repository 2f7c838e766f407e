//! Event queues, by mailboxes and doorbells whose bytes are computed by hand from Linux' `mlx5_ifc.h` and `device.h`.

use crate::event::{Event, QpEvent};
use crate::firmware::owners::{DRIVER, Uid};
use crate::firmware::status::Status;
use crate::firmware::test_bench::Bench;
use crate::memory::test_memory::BASE;

/// User number of the driver's shared objects.
const SHARED: Uid = Uid(0xffff);
/// Offsets of the doorbells in a UAR page: one arms.
const ARM: usize = 0x40;
const UPDATE: usize = 0x48;

/// `CREATE_EQ` of `1 << log_size` EQEs, for events of the first 64 numbers, by pages.
fn create(uid: Uid, uar: u32, log_size: u8, vector: u8, events: u64, pages: &[u64]) -> Vec<u8> {
    let mut bytes = vec![0; 0x110 + 8 * pages.len()];
    bytes[..4].copy_from_slice(&[0x03, 0x01, (uid.0 >> 8) as u8, uid.0 as u8]);
    bytes[0x1c..0x20].copy_from_slice(&(u32::from(log_size) << 24 | uar).to_be_bytes());
    bytes[0x27] = vector;
    bytes[0x58..0x60].copy_from_slice(&events.to_be_bytes());
    for (index, page) in pages.iter().enumerate() {
        bytes[0x110 + 8 * index..][..8].copy_from_slice(&(BASE + page * 4096).to_be_bytes());
    }
    bytes
}

/// `DESTROY_EQ` and `QUERY_EQ` are the same but for their opcodes.
fn on(opcode: u8, eqn: u8) -> [u8; 16] {
    [0x03, opcode, 0, 0, 0, 0, 0, 0, 0, 0, 0, eqn, 0, 0, 0, 0]
}

/// `CREATE_CQ` of four CQEs in page 8, with its record in page 9.
fn create_cq(uid: Uid, uar: u32, eqn: u8) -> Vec<u8> {
    let mut bytes = vec![0; 0x118];
    bytes[..4].copy_from_slice(&[0x04, 0x00, (uid.0 >> 8) as u8, uid.0 as u8]);
    bytes[0x1c..0x20].copy_from_slice(&(2 << 24 | uar).to_be_bytes());
    bytes[0x27] = eqn;
    bytes[0x48..0x50].copy_from_slice(&(BASE + 9 * 4096).to_be_bytes());
    bytes[0x110..0x118].copy_from_slice(&(BASE + 8 * 4096).to_be_bytes());
    bytes
}

fn bench() -> (Bench, u32) {
    let mut bench = Bench::new();
    let uar = bench.device.alloc_uar().expect("a UAR page");
    (bench, uar)
}

fn ring(bench: &mut Bench, uar: u32, at: usize, eqn: u8, consumer: u32) {
    bench.device.doorbell(uar, at, &(u32::from(eqn) << 24 | consumer & 0xff_ffff).to_be_bytes());
}

fn eqe(bench: &Bench, page: u64, index: u64) -> [u8; 64] {
    let mut bytes = [0; 64];
    bench.device.host_memory().read(BASE + page * 4096 + index * 64, &mut bytes).expect("the ring");
    bytes
}

/// The bytes of an EQE that are not 0, with their offsets.
fn set(eqe: [u8; 64]) -> Vec<(usize, u8)> {
    eqe.into_iter().enumerate().filter(|&(_, byte)| byte != 0).collect()
}

/// Prepares a new ring as a driver does.
fn own(bench: &Bench, page: u64, eqes: u64) {
    for index in 0..eqes {
        bench.device.host_memory().write(BASE + page * 4096 + index * 64 + 63, &[1]).expect("the ring");
    }
}

/// A command event queue of 128 EQEs in pages 3 and 1, on interrupt 5.
fn commands(bench: &mut Bench, uar: u32) -> u8 {
    own(bench, 3, 64);
    own(bench, 1, 64);
    let output = bench.execute(&create(DRIVER, uar, 7, 5, 1 << 0x0a, &[3, 1]), 16).expect("an EQ");
    assert_eq!(output[..11], [0; 11]);
    output[11]
}

#[test]
fn an_event_is_an_entry_and_an_interrupt_each_time_the_driver_has_armed() {
    let (mut bench, uar) = bench();
    let eqn = commands(&mut bench, uar);
    assert_eq!(set(eqe(&bench, 3, 0)), [(63, 1)], "nothing has happened");
    let done = |bench: &mut Bench, slots| bench.device.raise(Event::CommandDone { slots });
    done(&mut bench, 1);
    assert_eq!(set(eqe(&bench, 3, 0)), [(1, 0x0a), (35, 1)], "type, slots, and the owner bit cleared");
    assert_eq!(bench.device.next_interrupt(), None, "it was not armed");
    ring(&mut bench, uar, ARM, eqn, 0);
    assert_eq!(bench.device.next_interrupt(), Some(5), "an entry waits");
    assert_eq!(bench.device.next_interrupt(), None);
    ring(&mut bench, uar, ARM, eqn, 1);
    assert_eq!(bench.device.next_interrupt(), None, "no entry waits");
    done(&mut bench, 1 << 31);
    done(&mut bench, 6);
    assert_eq!(bench.device.next_interrupt(), Some(5));
    assert_eq!(bench.device.next_interrupt(), None, "one for both");
    assert_eq!(set(eqe(&bench, 3, 1)), [(1, 0x0a), (32, 0x80)]);
    assert_eq!(set(eqe(&bench, 3, 2)), [(1, 0x0a), (35, 6)]);
    ring(&mut bench, uar, UPDATE, eqn, 3);
    done(&mut bench, 1);
    assert_eq!(bench.device.next_interrupt(), None, "the index alone arms nothing");
    let context = bench.execute(&on(3, eqn), 0x110).expect("a context");
    assert_eq!(context[0x10..0x14], [0, 0, 0x0a, 0], "no fault, fired");
    assert_eq!(context[0x1c..0x20], (7 << 24 | uar).to_be_bytes());
    assert_eq!((context[0x26], context[0x27]), (0, 5));
    assert_eq!(context[0x38..0x40], [0, 0, 0, 3, 0, 0, 0, 4], "consumer, and producer");
    assert_eq!(context[0x58..0x60], (1_u64 << 0x0a).to_be_bytes());
    ring(&mut bench, uar, ARM, eqn, 4);
    let context = bench.execute(&on(3, eqn), 0x110).expect("a context");
    assert_eq!(context[0x10..0x14], [0, 0, 0x09, 0], "armed");
    assert_eq!(bench.device.next_event(), None);
    assert_eq!(bench.device.complaints(), []);
}

#[test]
fn the_owner_bit_changes_with_each_pass_over_all_pages() {
    let (mut bench, uar) = bench();
    let eqn = commands(&mut bench, uar);
    for index in 0..3 * 128_u32 {
        ring(&mut bench, uar, ARM, eqn, index);
        bench.device.raise(Event::CommandDone { slots: 1 });
        assert_eq!(bench.device.next_interrupt(), Some(5), "{index}");
        let (page, slot) = if index % 128 < 64 { (3, index % 64) } else { (1, index % 64) };
        assert_eq!(eqe(&bench, page, slot.into())[63], u8::from(index / 128 == 1), "{index}");
    }
    assert_eq!(bench.device.complaints(), []);
}

#[test]
fn events_go_to_the_queue_that_was_made_for_them_and_others_to_the_front_end() {
    let (mut bench, uar) = bench();
    commands(&mut bench, uar);
    own(&bench, 4, 64);
    let events = 1 << 0x09 | 1 << 0x04 | 1 << 0x13;
    let output = bench.execute(&create(DRIVER, uar, 6, 6, events, &[4]), 16).expect("an EQ");
    ring(&mut bench, uar, ARM, output[11], 0);
    bench.device.set_port_up(1, false).expect("a port");
    assert_eq!(bench.device.next_interrupt(), Some(6));
    assert_eq!(set(eqe(&bench, 4, 0)), [(1, 9), (3, 1), (40, 0x10)]);
    let unwanted = Event::Qp { qpn: 7, kind: QpEvent::AccessError };
    bench.device.raise(unwanted);
    bench.device.raise(Event::Qp { qpn: 0x1_0203, kind: QpEvent::LastWqeReached });
    assert_eq!(set(eqe(&bench, 4, 1)), [(1, 0x13), (57, 1), (58, 2), (59, 3)]);
    assert_eq!((bench.device.next_event(), bench.device.next_event()), (Some(unwanted), None));
    let more = create(DRIVER, uar, 6, 6, 1 << 0x0b | 1 << 0x13, &[5]);
    assert_eq!(bench.execute(&more, 16), Err(Status::BadParameter), "events of one number go to one queue");
    let mut later = create(DRIVER, uar, 6, 6, 0, &[5]);
    later[0x60 + 7] = 4; // number 66
    assert!(bench.execute(&later, 16).is_ok());
    assert_eq!(bench.execute(&later, 16), Err(Status::BadParameter));
}

#[test]
fn a_queue_stays_while_completion_queues_name_it() {
    let (mut bench, uar) = bench();
    let user = bench.user();
    bench.firmware.set_owner(crate::error::Object::Uar, uar, user);
    let own = bench.execute(&create(DRIVER, uar, 6, 1, 0, &[4]), 16).expect("an EQ")[11];
    let shared = bench.execute(&create(SHARED, uar, 6, 1, 0, &[5]), 16).expect("an EQ")[11];
    assert_eq!(bench.execute(&create(user, uar, 6, 1, 0, &[6]), 16), Err(Status::BadOperation));
    assert_eq!(bench.execute(&create_cq(user, uar, own), 16), Err(Status::BadResource), "the driver's own");
    assert_eq!(bench.execute(&create_cq(user, uar, shared + 1), 16), Err(Status::BadResource), "there is none");
    let cqn = bench.execute(&create_cq(user, uar, shared), 16).expect("a CQ")[11];
    assert_eq!(bench.execute(&on(2, shared), 16), Err(Status::ResourceBusy));
    assert!(bench.execute(&on(2, own), 16).is_ok());
    let destroy_cq = [0x04, 0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, cqn, 0, 0, 0, 0];
    assert!(bench.execute(&destroy_cq, 16).is_ok());
    assert!(bench.execute(&on(2, shared), 16).is_ok());
    assert_eq!(bench.execute(&on(2, shared), 16), Err(Status::BadResource));
    assert_eq!(bench.execute(&on(3, shared), 0x110), Err(Status::BadResource));
}

#[test]
fn what_cannot_be_is_refused_and_leaves_nothing() {
    let (mut bench, uar) = bench();
    let good = create(DRIVER, uar, 7, 31, 1 << 0x0a, &[3, 1]);
    let refused = [
        (0x1f, uar as u8 + 1, Status::BadResource), // a UAR page that is not there
        (0x1c, 8, Status::BadInputLength),          // too many EQEs for the pages
        (0x27, 32, Status::BadParameter),           // an interrupt that there is not
        (0x26, 1, Status::BadParameter),
        (0x11, 0x02, Status::BadParameter),  // overwriting
        (0x11, 0x04, Status::BadParameter),  // one EQE for all
        (0x13, 1, Status::BadParameter),     // a bit without a name
        (0x28, 1, Status::BadParameter),     // larger pages than the addresses are aligned to
        (0x110, 0xc0, Status::BadParameter), // an address of the device's own
        (0x115, 0x40, Status::BadParameter), // memory that is not there
    ];
    for (at, byte, status) in refused {
        let mut input = good.clone();
        input[at] |= byte;
        if at == 0x1c || at == 0x27 {
            input[at] = byte;
        }
        assert_eq!(bench.execute(&input, 16), Err(status), "byte {at:#x}");
    }
    assert_eq!(bench.execute(&good, 16).expect("an EQ")[11], 1, "what was refused took no number");
    let dealloc_uar = [0x08, 0x03, 0, 0, 0, 0, 0, 0, 0, 0, 0, uar as u8, 0, 0, 0, 0];
    assert!(bench.execute(&dealloc_uar, 16).is_ok());
    assert_eq!(bench.execute(&dealloc_uar, 16), Err(Status::BadResource), "it was given back");
    assert!(bench.device.uar(uar).is_some(), "the queue still has its registers");
    let another = create(DRIVER, uar, 7, 31, 1 << 0x0b, &[3, 1]);
    assert_eq!(bench.execute(&another, 16), Err(Status::BadResource), "and no other gets them");
    assert!(bench.execute(&on(2, 1), 16).is_ok());
    assert!(bench.device.uar(uar).is_none());
}

#[test]
fn doorbells_that_no_driver_rings_change_nothing() {
    let (mut bench, uar) = bench();
    let other = bench.device.alloc_uar().expect("a UAR page");
    let eqn = commands(&mut bench, uar);
    ring(&mut bench, uar, ARM, eqn, 0);
    for word in (0..=0xff_ffff).step_by(0x1_0001).map(|low| 0x0100_0000_u32.wrapping_mul(low % 251) | low) {
        let (number, index) = (word >> 24, word & 0xff_ffff);
        if number == u32::from(eqn) && index == 0 {
            continue;
        }
        let _ = bench.device.complaints();
        for page in [uar, other, other + 1] {
            bench.device.doorbell(page, if word & 1 == 0 { ARM } else { UPDATE }, &word.to_be_bytes());
        }
        assert_eq!(bench.device.complaints().len(), 3, "{word:#x}");
    }
    for (at, stored) in [(ARM, &[eqn, 0, 0, 0, 0, 0, 0, 0][..]), (ARM, &[eqn, 0]), (0x44, &[eqn, 0, 0, 0]), (ARM, &[])]
    {
        bench.device.doorbell(uar, at, stored);
        assert_eq!(bench.device.complaints().len(), 1, "{at:#x}: {stored:?}");
    }
    assert_eq!(bench.device.next_interrupt(), None);
    bench.device.raise(Event::CommandDone { slots: 1 });
    assert_eq!(bench.device.next_interrupt(), Some(5), "still armed");
}

#[test]
fn a_completion_goes_to_the_queue_that_its_completion_queue_names() {
    let (mut bench, uar) = bench();
    own(&bench, 4, 64);
    own(&bench, 5, 64);
    let [first, second] = [4, 5].map(|page| {
        let vector = page as u8;
        bench.execute(&create(SHARED, uar, 6, vector, 0, &[page]), 16).expect("an EQ")[11]
    });
    let output = bench.execute(&create_cq(DRIVER, uar, second), 16).expect("a CQ");
    let cqn = u32::from_be_bytes([0, output[9], output[10], output[11]]);
    for eqn in [first, second] {
        ring(&mut bench, uar, ARM, eqn, 0);
    }
    let arm = |bench: &mut Bench, word: u32| {
        let word = word.to_be_bytes();
        bench.device.host_memory().write(BASE + 9 * 4096 + 4, &word).expect("the record");
        bench.device.doorbell(uar, 0x20, &[word, cqn.to_be_bytes()].concat());
        bench.device.step(std::time::Duration::ZERO);
    };
    arm(&mut bench, 0);
    assert_eq!(bench.device.next_interrupt(), None, "no CQE yet");
    let done = crate::cq::Completion::Request { qpn: 1, uidx: 0, opcode: 8, wqe_counter: 0, byte_cnt: 0, inline: None };
    bench.device.complete(cqn, &done);
    assert_eq!(bench.device.next_interrupt(), Some(5));
    assert_eq!(set(eqe(&bench, 5, 0)), [(59, cqn as u8)], "type 0, the CQ's number, owner bit 0");
    assert_eq!(set(eqe(&bench, 4, 0)), [(63, 1)], "the other queue has nothing");
    // NAPI polls nothing, and arms at the same index: the CQE raises the event again, at once.
    ring(&mut bench, uar, ARM, second, 1);
    arm(&mut bench, 0x1000_0000);
    assert_eq!(bench.device.next_interrupt(), Some(5));
    ring(&mut bench, uar, ARM, second, 2);
    arm(&mut bench, 0x2000_0001);
    assert_eq!(bench.device.next_interrupt(), None, "consumed");
    assert_eq!((bench.device.next_event(), bench.device.complaints()), (None, vec![]));
}

#[test]
fn a_number_is_of_one_queue() {
    let (mut bench, uar) = bench();
    let made = bench.execute(&create(DRIVER, uar, 6, 1, 0, &[4]), 16).expect("an EQ")[11];
    bench.firmware.declare_eq(&mut bench.device, 9).expect("a free number");
    for eqn in [0, made.into(), 9, 256] {
        assert!(bench.firmware.declare_eq(&mut bench.device, eqn).is_err(), "{eqn}");
    }
    bench.firmware.declare_eq(&mut bench.device, 255).expect("the last number");
    assert!(bench.execute(&on(2, made), 16).is_ok(), "it is as it was");
}

/// `log_max_eq_sz` is 22. The pages of such a ring may be the same, since nothing is written.
#[test]
fn a_ring_has_2_to_the_22_entries_at_most() {
    let (mut bench, uar) = bench();
    for (log_size, expected) in [(22, Ok(())), (23, Err(Status::BadParameter))] {
        let input = create(DRIVER, uar, log_size, 1, 0, &vec![4; 1 << (log_size - 6)]);
        assert_eq!(bench.execute(&input, 16).map(drop), expected, "{log_size}");
    }
}

/// The event of a CQE that the host has consumed meanwhile, although it has armed at an index before the CQE. Hardware
/// looks at the index alone. A front end, whose program polls after it has armed, would wake the program for nothing.
#[test]
fn a_queue_in_memory_tells_of_consumed_completions_again() {
    for in_memory in [true, false] {
        let (mut bench, uar) = bench();
        own(&bench, 4, 64);
        let eqn = match in_memory {
            true => bench.execute(&create(SHARED, uar, 6, 1, 0, &[4]), 16).expect("an EQ")[11],
            false => 9,
        };
        if !in_memory {
            bench.firmware.declare_eq(&mut bench.device, eqn.into()).expect("an EQ");
        }
        let cqn = u32::from(bench.execute(&create_cq(DRIVER, uar, eqn), 16).expect("a CQ")[11]);
        let arm = |bench: &mut Bench, consumed: u32| {
            bench.device.host_memory().write(BASE + 9 * 4096, &consumed.to_be_bytes()).expect("the record");
            bench.device.doorbell(uar, 0x20, &[[0; 4], cqn.to_be_bytes()].concat());
            bench.device.step(std::time::Duration::ZERO);
        };
        // Owner bits of EQEs that were written are 0 in the first pass.
        let told = |bench: &mut Bench| match in_memory {
            true => (0..64).take_while(|&index| eqe(bench, 4, index)[63] == 0).count(),
            false => std::iter::from_fn(|| bench.device.next_event()).count(),
        };
        arm(&mut bench, 0);
        assert_eq!(told(&mut bench), 0);
        let done =
            crate::cq::Completion::Request { qpn: 1, uidx: 0, opcode: 8, wqe_counter: 0, byte_cnt: 0, inline: None };
        bench.device.complete(cqn, &done);
        assert_eq!(told(&mut bench), 1);
        arm(&mut bench, 1);
        assert_eq!(told(&mut bench), if in_memory { 2 } else { 0 });
    }
}
