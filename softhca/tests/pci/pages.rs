//! Pages of host memory: requested, taken and given back.
//!
//! Pages belong here, their events in `events.rs`.

use crate::driver::*;
use crate::memory::{BASE, BYTES};

#[test]
fn all_pages_come_back_and_each_once() {
    let mut driver = Driver::initialized();
    let given = driver.given.len();
    assert_eq!(given, 80, "16 to boot, and 64 more");
    assert_eq!(driver.take(10), Ok(0), "the HCA needs what it has");
    assert_eq!(word(&driver.run(QUERY_PAGES, 3, 0x10, 0x10).expect("QUERY_PAGES"), 0xc), 0);
    driver.give(200).expect("pages");
    let surplus = word(&driver.run(QUERY_PAGES, 3, 0x10, 0x10).expect("QUERY_PAGES"), 0xc) as i32;
    assert_eq!(surplus, -200, "it says so");
    assert_eq!(driver.take(512).expect("MANAGE_PAGES"), 200);
    driver.run(TEARDOWN_HCA, 0, 0x10, 0x10).expect("TEARDOWN_HCA");
    driver.take_all();
    assert_eq!(driver.take(10), Ok(0));
}

/// The device has no objects before `INIT_HCA`, so it lacks no pages for them.
#[test]
fn pages_for_objects_are_wanted_once_there_can_be_objects() {
    let mut driver = Driver::started();
    driver.run(ENABLE_HCA, 0, 0x10, 0x10).expect("ENABLE_HCA");
    let wanted = |driver: &mut Driver| word(&driver.run(QUERY_PAGES, 3, 0x10, 0x10).expect("QUERY_PAGES"), 0xc) as i32;
    assert_eq!(wanted(&mut driver), 0, "before any page");
    driver.give(300).expect("pages");
    assert_eq!(wanted(&mut driver), 0, "with too many");
    driver.run(INIT_HCA, 0, 0x20, 0x10).expect("INIT_HCA");
    assert_eq!(wanted(&mut driver), -220);
}

#[test]
fn pages_that_cannot_be_are_refused_and_none_of_the_list_is_taken() {
    let mut driver = Driver::started();
    driver.run(ENABLE_HCA, 0, 0x10, 0x10).expect("ENABLE_HCA");
    driver.give(8).expect("pages");
    let good = PAGES + 0x20_0000;
    let twice = driver.given[3];
    for bad in [0, good + 8, twice, good, u64::MAX, u64::MAX << 12, 0xc000_0000_0000_0000] {
        assert_eq!(driver.give_these(&[good, bad]), Err(BAD_PARAM), "{bad:#x}");
    }
    assert_eq!(driver.take(100), Ok(8));
    driver.given.clear();
    assert_eq!(driver.give_these(&[good, good + 4096]), Ok(()));
}

/// Else a driver could have 16 GiB of contexts for no memory of its own.
#[test]
fn pages_where_there_is_no_memory_are_refused() {
    let mut driver = Driver::started();
    driver.run(ENABLE_HCA, 0, 0x10, 0x10).expect("ENABLE_HCA");
    let end = BASE + BYTES as u64;
    for bad in [0x7fff_0000_0000, end, BASE - 4096] {
        assert_eq!(driver.give_these(&[PAGES, bad]), Err(BAD_PARAM), "{bad:#x}");
    }
    assert_eq!(driver.take(100), Ok(0));
    assert_eq!(driver.give_these(&[BASE, end - 4096]), Ok(()));
}

#[test]
fn lists_that_are_shorter_than_said_are_refused() {
    let mut driver = Driver::started();
    driver.run(ENABLE_HCA, 0, 0x10, 0x10).expect("ENABLE_HCA");
    let mut input = mailbox(MANAGE_PAGES, 1, 0x10);
    for said in [2, 0x1_0000, u32::MAX] {
        input.truncate(0x10);
        input[0xc..0x10].copy_from_slice(&said.to_be_bytes());
        input.extend(PAGES.to_be_bytes());
        assert_eq!(driver.command(&input, 0x10), Err(Failure::Status(0x50)), "{said}");
    }
    // A driver that has no room for as many as it asks for.
    let mut input = mailbox(MANAGE_PAGES, 2, 0x10);
    for said in [3, u32::MAX] {
        input[0xc..0x10].copy_from_slice(&said.to_be_bytes());
        assert_eq!(driver.command(&input, 0x20), Err(Failure::Status(0x51)), "{said}");
    }
    assert_eq!(driver.run(MANAGE_PAGES, 3, 0x10, 0x10), Err(BAD_PARAM), "no such modifier");
    assert_eq!(driver.run(QUERY_PAGES, 0, 0x10, 0x10), Err(BAD_PARAM), "no such modifier");
}

#[test]
fn objects_for_which_there_are_no_pages_are_not_made() {
    for opcode in [ALLOC_PD, ALLOC_FLOW_COUNTER] {
        let mut driver = Driver::initialized();
        let mut made = 0;
        let refused = loop {
            match driver.run(opcode, 0, 0x10, 0x10) {
                Ok(_) => made += 1,
                Err(failure) => break failure,
            }
            assert!(made < 10_000, "no end");
        };
        assert_eq!(refused, NO_RESOURCES);
        assert_eq!(made, 48 * 8 + 1, "48 pages of contexts of 512 bytes, and one that nobody has room for");
        let wanted = word(&driver.run(QUERY_PAGES, 3, 0x10, 0x10).expect("QUERY_PAGES"), 0xc);
        assert_eq!(wanted, 65, "it says what it lacks, and a reserve");
        driver.give(wanted as usize).expect("pages");
        driver.run(opcode, 0, 0x10, 0x10).expect("an object");
    }
}
