//! Slots and mailboxes that no driver makes. Each is refused for a reason of its own, and the device carries out the
//! next command.
//!
//! Wrong commands belong here, wrong accesses in `registers.rs`.

use crate::driver::*;
use crate::memory::{BASE, BYTES};

/// How commands can fail to be delivered.
const TOKEN: u8 = 0x02;
const BLOCK_NUMBER: u8 = 0x03;
const OUTPUT_POINTER: u8 = 0x04;
const INPUT_POINTER: u8 = 0x05;
const UNREACHABLE: u8 = 0x06;
const INPUT_LENGTH: u8 = 0x07;
const OUTPUT_LENGTH: u8 = 0x08;
const RESERVED: u8 = 0x09;
const DESCRIPTOR: u8 = 0x10;

/// A query whose input has three mailboxes and whose output has nine; before it is sent, `bytes` are stored at `at`.
fn spoilt(driver: &mut Driver, at: u64, bytes: &[u8]) -> Result<Vec<u8>, Failure> {
    // Zeros follow the input of a command without a list.
    driver.fill(0, &mailbox(QUERY_HCA_CAP, 1, 0x10 + 3 * 512), 0x1010);
    driver.memory.put(at, bytes);
    driver.store(DOORBELL, 1);
    driver.step();
    driver.answer(0, 0x1010)
}

fn check(at: u64, bytes: &[u8], delivery: u8) {
    let mut driver = Driver::started();
    driver.run(ENABLE_HCA, 0, 0x10, 0x10).expect("ENABLE_HCA");
    assert_eq!(spoilt(&mut driver, at, bytes), Err(Failure::Delivery(delivery)), "{at:#x}: {bytes:x?}");
    spoilt(&mut driver, BASE, &[]).expect("the next command");
}

#[test]
fn slots_that_say_what_cannot_be() {
    let slot = Driver::slot(0);
    for kind in [0, 6, 8, 0xff] {
        check(slot, &[kind], DESCRIPTOR);
    }
    for reserved in [1, 2, 3, 62] {
        check(slot + reserved, &[0x80], RESERVED);
    }
    for length in [0, 7, (1 << 25) + 1, 1 << 31, u32::MAX] {
        check(slot + 4, &length.to_be_bytes(), INPUT_LENGTH);
        check(slot + 56, &length.to_be_bytes(), OUTPUT_LENGTH);
    }
    // Longer than the chain.
    check(slot + 4, &0x1000_u32.to_be_bytes(), INPUT_LENGTH);
    check(slot + 56, &0x2000_u32.to_be_bytes(), OUTPUT_LENGTH);
    for (chain, misaligned, short) in [(8, INPUT_POINTER, INPUT_LENGTH), (48, OUTPUT_POINTER, OUTPUT_LENGTH)] {
        check(slot + chain, &(IN_BOXES + 8).to_be_bytes(), misaligned);
        check(slot + chain, &(u64::MAX).to_be_bytes(), misaligned);
        check(slot + chain, &0_u64.to_be_bytes(), short);
        for nowhere in [0x200, BASE - 0x200, BASE + BYTES as u64, BASE + BYTES as u64 - 0x200, u64::MAX << 9] {
            check(slot + chain, &nowhere.to_be_bytes(), UNREACHABLE);
        }
    }
    check(slot + 60, &[0x77], TOKEN);
}

#[test]
fn mailboxes_that_say_what_cannot_be() {
    for (boxes, misaligned, short) in
        [(IN_BOXES, INPUT_POINTER, INPUT_LENGTH), (OUT_BOXES, OUTPUT_POINTER, OUTPUT_LENGTH)]
    {
        for number in 0..2 {
            let at = boxes + number * BOX_STRIDE;
            check(at + 573, &[0xee], TOKEN);
            check(at + 568, &(number as u32 + 1).to_be_bytes(), BLOCK_NUMBER);
            check(at + 568, &u32::MAX.to_be_bytes(), BLOCK_NUMBER);
            check(at + 560, &0_u64.to_be_bytes(), short);
            check(at + 560, &(boxes + 1).to_be_bytes(), misaligned);
            check(at + 560, &(BASE + BYTES as u64).to_be_bytes(), UNREACHABLE);
            // A chain that comes back to itself.
            check(at + 560, &boxes.to_be_bytes(), BLOCK_NUMBER);
            check(at + 560, &at.to_be_bytes(), BLOCK_NUMBER);
        }
    }
    // Bytes behind the last mailbox do not count: Linux uses long chains for short inputs.
    let mut driver = Driver::started();
    driver.run(ENABLE_HCA, 0, 0x10, 0x10).expect("ENABLE_HCA");
    spoilt(&mut driver, IN_BOXES + 2 * BOX_STRIDE + 560, &[0xff; 8]).expect("three mailboxes are enough");
}

#[test]
fn a_command_whose_output_has_no_place_is_not_carried_out() {
    let mut driver = Driver::initialized();
    let objects = driver.function.device().objects();
    driver.fill(0, &mailbox(ALLOC_PD, 0, 0x10), 0x210);
    driver.memory.put(OUT_BOXES + 573, &[0xee]);
    driver.store(DOORBELL, 1);
    driver.step();
    assert_eq!(driver.answer(0, 0x210), Err(Failure::Delivery(TOKEN)));
    assert_eq!(driver.function.device().objects(), objects);
}

#[test]
fn every_byte_of_a_slot_can_be_anything() {
    let mut driver = Driver::initialized();
    for byte in 0..64 {
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            driver.fill(0, &mailbox(QUERY_HCA_CAP, 1, 0x10 + 3 * 512), 0x1010);
            driver.memory.put(Driver::slot(0) + byte, &[value]);
            driver.store(DOORBELL, 1);
            driver.step();
            let own = driver.memory.get(Driver::slot(0) + 63, 1)[0] & 1;
            assert!(own == 0 || byte == 63 && value & 1 == 0, "byte {byte:#x} = {value:#x}: an answer");
        }
    }
    driver.run(ALLOC_PD, 0, 0x10, 0x10).expect("the next command");
}

#[test]
fn slots_of_the_drivers_are_left_alone() {
    let mut driver = Driver::initialized();
    driver.fill(5, &mailbox(ALLOC_PD, 0, 0x10), 0x10);
    driver.memory.put(Driver::slot(5) + 63, &[0]);
    let before = driver.memory.get(QUEUE, 4096);
    driver.store(DOORBELL, u32::MAX);
    driver.step();
    assert_eq!(driver.memory.get(QUEUE, 4096), before);
}

#[test]
fn all_slots_at_once() {
    let mut driver = Driver::initialized();
    for slot in 0..32 {
        driver.fill(slot, &mailbox(ALLOC_PD, 0, 0x10), 0x10);
    }
    driver.store(DOORBELL, u32::MAX);
    driver.step();
    let mut pds: Vec<u32> = (0..32).map(|slot| word(&driver.answer(slot, 0x10).expect("a PD"), 8)).collect();
    pds.dedup();
    assert_eq!(pds.len(), 32, "one after the other");
    // A slot that is rung twice before it is looked at is carried out once.
    driver.fill(0, &mailbox(ALLOC_PD, 0, 0x10), 0x10);
    driver.store(DOORBELL, 1);
    driver.store(DOORBELL, 1);
    driver.step();
    assert!(driver.answer(0, 0x10).is_ok());
}

#[test]
fn a_queue_that_is_nowhere_does_no_harm() {
    let mut driver = Driver::started();
    for queue in [0x1000, BASE - 0x1000, BASE + BYTES as u64, u64::MAX << 12] {
        driver.store(QUEUE_HIGH, (queue >> 32) as u32);
        driver.store(QUEUE_LOW, queue as u32 & 0xffff_f000);
        driver.store(DOORBELL, u32::MAX);
        driver.step();
    }
    driver.start();
    driver.initialize();
}
