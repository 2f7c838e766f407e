//! BAR 0: accesses of any size, anywhere.
//!
//! Registers belong here, UAR pages in `doorbells.rs`.

use crate::driver::*;
use softhca::pci::BAR_BYTES;
use softhca::runner::Step;
use std::time::Duration;

#[test]
fn registers_can_be_read_in_any_pieces() {
    let mut driver = Driver::started();
    driver.pass(Duration::from_nanos(0x1_2345_6789));
    let mut whole = [0; 0x2000];
    driver.function.read(0, &mut whole);
    assert_eq!(word(&whole, 4) >> 16, 5, "revision of the command interface");
    assert_eq!(word(&whole, 0x14), QUEUE as u32 | 0x56, "32 slots of 64 bytes");
    assert_eq!(word(&whole, 0x1000), 1);
    for len in [1, 2, 3, 4, 8, 64] {
        for at in [0, 1, 5, 0x10, 0x13, 0x1fb, 0x22f, 0xfff, 0x1003, 0x1f00] {
            let mut piece = vec![0; len];
            driver.function.read(at, &mut piece);
            assert_eq!(piece, whole[at as usize..at as usize + len], "{len} bytes at {at:#x}");
        }
    }
}

#[test]
fn the_queues_address_can_be_written_in_any_pieces() {
    for pieces in [vec![8], vec![4, 4], vec![2, 2, 4], vec![1; 8], vec![5, 3]] {
        let mut driver = Driver::new();
        driver.function.write_config(4, &[6, 0]);
        let bytes = QUEUE.to_be_bytes();
        let mut at = 0;
        for len in pieces {
            driver.function.write(QUEUE_HIGH + at as u64, &bytes[at..at + len]);
            at += len;
        }
        driver.run(ENABLE_HCA, 0, 0x10, 0x10).expect("ENABLE_HCA");
    }
}

#[test]
fn a_store_of_many_registers_rings_the_doorbell_last() {
    let mut driver = Driver::new();
    driver.function.write_config(4, &[6, 0]);
    driver.fill(0, &mailbox(ENABLE_HCA, 0, 0x10), 0x10);
    let mut all = QUEUE.to_be_bytes().to_vec();
    all.extend(1_u32.to_be_bytes());
    driver.function.write(QUEUE_HIGH, &all);
    driver.step();
    driver.answer(0, 0x10).expect("ENABLE_HCA");
}

#[test]
fn accesses_anywhere_and_of_any_size_do_no_harm() {
    let mut driver = Driver::initialized();
    let pages = [0x1_0000, 0x1_0800, 0x1_0fff, 0x2000, 0x3000, 0xffff, 0x1fff, BAR_BYTES - 1, BAR_BYTES, u64::MAX - 7];
    for at in pages {
        for len in [0, 1, 2, 3, 4, 7, 8, 9, 16, 63, 64, 65, 256, 4095, 4096, 4097, 0x3000] {
            let mut out = vec![0x5a; len];
            driver.function.read(at, &mut out);
            let past = BAR_BYTES.saturating_sub(at) as usize;
            assert!(out.iter().take(past.min(1)).all(|&byte| byte == 0), "UAR pages read as zeros");
            assert!(out.iter().skip(past).all(|&byte| byte == 0xff), "nothing is there");
            for byte in [0, 1, 0xff] {
                driver.function.write(at, &vec![byte; len]);
            }
            driver.step();
        }
    }
    driver.function.device().complaints();
    driver.run(ALLOC_PD, 0, 0x10, 0x10).expect("the device works as before");
    assert_eq!(driver.function.next_event(), None);
}
