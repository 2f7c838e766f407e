//! The start and the stop of an HCA, in their only order.
//!
//! The order of commands belongs here, their mailboxes in the unit tests of `src/firmware`.

use crate::driver::*;
use std::time::Duration;

#[test]
fn the_way_up_and_down_can_be_gone_again_and_again() {
    let mut driver = Driver::started();
    for round in 0..3 {
        driver.initialize();
        let pd = word(&driver.run(ALLOC_PD, 0, 0x10, 0x10).expect("a PD"), 8);
        let uar = word(&driver.run(ALLOC_UAR, 0, 0x10, 0x10).expect("a UAR page"), 8);
        assert!(uar >= 0x10, "registers of the function are below: {uar:#x}");
        if round < 2 {
            let mut dealloc = mailbox(DEALLOC_PD, 0, 0x10);
            dealloc[8..12].copy_from_slice(&pd.to_be_bytes());
            driver.command(&dealloc, 0x10).expect("DEALLOC_PD");
        }
        driver.run(TEARDOWN_HCA, 0, 0x10, 0x10).expect("TEARDOWN_HCA");
        assert!(driver.function.device().objects().iter().all(|&(_, count)| count == 0));
        assert_eq!(driver.run(ALLOC_PD, 0, 0x10, 0x10), Err(BAD_SYS_STATE));
        driver.take_all();
        driver.run(DISABLE_HCA, 0, 0x10, 0x10).expect("DISABLE_HCA");
        assert_eq!(driver.run(QUERY_ISSI, 0, 0x10, 0x70), Err(BAD_SYS_STATE));
        // Linux says again where the command queue is.
        driver.start();
    }
}

#[test]
fn no_step_can_be_left_out() {
    let mut driver = Driver::started();
    for opcode in [DISABLE_HCA, QUERY_PAGES, MANAGE_PAGES, INIT_HCA, TEARDOWN_HCA, QUERY_HCA_CAP, ALLOC_PD] {
        assert_eq!(driver.run(opcode, 1, 0x20, 0x1010), Err(Failure::Status(early(opcode))), "{opcode:#x}");
    }
    driver.run(ENABLE_HCA, 0, 0x10, 0x10).expect("ENABLE_HCA");
    assert_eq!(driver.run(ENABLE_HCA, 0, 0x10, 0x10), Err(BAD_SYS_STATE), "once");
    assert_eq!(driver.run(TEARDOWN_HCA, 0, 0x10, 0x10), Err(BAD_SYS_STATE));
    assert_eq!(driver.run(ALLOC_PD, 0, 0x10, 0x10), Err(BAD_SYS_STATE));
    assert_eq!(driver.run(INIT_HCA, 0, 0x20, 0x10), Err(BAD_SYS_STATE), "without pages");
    assert_ne!(driver.satisfy(1), 0);
    assert_eq!(driver.satisfy(1), 0, "the device asks for what it has not");
    assert_eq!(driver.run(INIT_HCA, 0, 0x20, 0x10), Err(BAD_SYS_STATE), "with few pages");
    assert_ne!(driver.satisfy(2), 0);
    driver.run(INIT_HCA, 0, 0x20, 0x10).expect("INIT_HCA");
    assert_eq!(driver.run(INIT_HCA, 0, 0x20, 0x10), Err(BAD_SYS_STATE), "once");
    assert_eq!(driver.run(DISABLE_HCA, 0, 0x10, 0x10), Err(BAD_SYS_STATE), "TEARDOWN_HCA comes first");
}

/// The firmware's answer to a command with an unknown modifier, or to one that comes too early.
fn early(opcode: u16) -> u8 {
    if matches!(opcode, QUERY_PAGES | MANAGE_PAGES | QUERY_HCA_CAP) { 0x04 } else { 0x03 }
}

#[test]
fn functions_and_owners_that_are_not_there_are_refused() {
    let mut driver = Driver::started();
    let mut of_another = mailbox(ENABLE_HCA, 0, 0x10);
    of_another[0xb] = 1;
    assert_eq!(driver.command(&of_another, 0x10), Err(BAD_PARAM));
    let mut embedded = mailbox(ENABLE_HCA, 0, 0x10);
    embedded[8] = 0x80;
    assert_eq!(driver.command(&embedded, 0x10), Err(BAD_PARAM));
    driver.run(ENABLE_HCA, 0, 0x10, 0x10).expect("ENABLE_HCA");
    driver.satisfy(1);
    driver.satisfy(2);
    for at in [0xd, 0x10, 0x1f] {
        let mut owned = mailbox(INIT_HCA, 0, 0x20);
        owned[at] = 1;
        assert_eq!(driver.command(&owned, 0x10), Err(BAD_PARAM), "{at:#x}");
    }
    driver.run(INIT_HCA, 0, 0x20, 0x10).expect("INIT_HCA");
    let mut unknown = mailbox(TEARDOWN_HCA, 0, 0x10);
    unknown[0xb] = 3;
    assert_eq!(driver.command(&unknown, 0x10), Err(BAD_PARAM));
}

#[test]
fn a_forced_end_needs_no_other_command() {
    let mut driver = Driver::initialized();
    driver.run(ALLOC_PD, 0, 0x10, 0x10).expect("a PD");
    let mut forced = mailbox(TEARDOWN_HCA, 0, 0x10);
    forced[0xb] = 1;
    let output = driver.command(&forced, 0x10).expect("TEARDOWN_HCA");
    assert_eq!(output[0xf], 0, "it has worked");
    assert!(driver.function.device().objects().iter().all(|&(_, count)| count == 0));
    // A kernel that is started next.
    driver.start();
    driver.initialize();
}

#[test]
fn a_fast_end_is_the_interface_going_away() {
    let mut driver = Driver::initialized();
    driver.run(ALLOC_PD, 0, 0x10, 0x10).expect("a PD");
    let mut fast = mailbox(TEARDOWN_HCA, 0, 0x10);
    fast[0xb] = 2;
    assert_eq!(driver.command(&fast, 0x10).expect("TEARDOWN_HCA")[0xf], 0, "it has worked");
    let low = driver.load(QUEUE_LOW);
    driver.store(QUEUE_LOW, low & 0xffff_f000 | 1 << 8);
    assert_eq!(driver.load(QUEUE_LOW) >> 8 & 7, 1, "disabled");
    assert!(driver.function.device().objects().iter().all(|&(_, count)| count == 0));
    assert_eq!(driver.run(ENABLE_HCA, 0, 0x10, 0x10), Err(Failure::NoAnswer));
    driver.start();
    driver.initialize();
}

#[test]
fn a_driver_that_crashed_leaves_nothing_to_the_next_one() {
    let mut driver = Driver::initialized();
    driver.run(ALLOC_PD, 0, 0x10, 0x10).expect("a PD");
    // Its last command has not been looked at, since the bus was taken from the function.
    driver.function.write_config(4, &[2, 0]);
    driver.fill(3, &mailbox(ALLOC_PD, 0, 0x10), 0x10);
    driver.store(DOORBELL, 1 << 3);
    driver.store(QUEUE_LOW, QUEUE as u32);
    driver.start();
    driver.initialize();
    assert_eq!(driver.answer(3, 0x10), Err(Failure::NoAnswer), "it was the other driver's");
    assert!(driver.function.device().objects().iter().all(|&(_, count)| count == 0));
}

#[test]
fn the_driver_says_who_it_is() {
    let mut driver = Driver::initialized();
    let version = |text: &[u8]| {
        let mut input = mailbox(0x10d, 0, 0x50);
        input[0x10..0x10 + text.len()].copy_from_slice(text);
        input
    };
    driver.command(&version(b"Linux,mlx5_core,6.12.107"), 0x10).expect("SET_DRIVER_VERSION");
    for refused in [&b""[..], b"a\0b", b"\x1b[2J", &[0xff; 64]] {
        assert_eq!(driver.command(&version(refused), 0x10), Err(BAD_PARAM), "{refused:x?}");
    }
    driver.command(&version(&[b'x'; 64]), 0x10).expect("as long as it can be");
}

#[test]
fn a_failed_device_says_so_and_starts_anew() {
    let mut driver = Driver::initialized();
    let counter = driver.load(0x1010);
    driver.pass(Duration::from_secs(2));
    assert_ne!(driver.load(0x1010), counter, "it is well");
    assert_eq!([0x238, 0x23c].map(|at| driver.load(at)), [0, 0]);

    driver.function.device().fail();
    driver.pass(Duration::from_secs(2));
    let counter = driver.load(0x1010);
    driver.pass(Duration::from_secs(2));
    assert_eq!(driver.load(0x1010), counter, "it is not");
    assert_eq!(driver.load(0x238) >> 31, 1, "it asks for a restart");
    assert_eq!(driver.load(0x23c) >> 16 & 0xff, 1, "internal error");
    assert_eq!(driver.run(QUERY_ISSI, 0, 0x10, 0x70), Err(Failure::NoAnswer));
    // Beginning again does not help.
    driver.start();
    assert_eq!(driver.run(ENABLE_HCA, 0, 0x10, 0x10), Err(Failure::NoAnswer));

    assert_ne!(driver.load(0x1fc) & 1 << 30, 0, "it can start anew");
    let low = driver.load(QUEUE_LOW);
    driver.store(QUEUE_LOW, low & 0xffff_f000 | 7 << 8);
    driver.step();
    assert_eq!(driver.load(QUEUE_LOW) >> 8 & 7, 1, "it has, and waits for a driver");
    assert_eq!([0x238, 0x23c].map(|at| driver.load(at)), [0, 0]);
    driver.start();
    driver.initialize();
    driver.run(ALLOC_PD, 0, 0x10, 0x10).expect("a PD");
}
