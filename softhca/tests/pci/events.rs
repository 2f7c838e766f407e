//! Event queues of the driver: for finished commands, and for pages that the device asks for.
//!
//! Interrupts and event queues belong here, the pages in `pages.rs`.

use crate::driver::*;
use softhca::event::Event;

/// Numbers of events.
const COMMAND: u8 = 0x0a;
const PAGES_WANTED: u8 = 0x0b;
/// Interrupts of the two queues.
const COMMAND_VECTOR: u8 = 0;
const PAGE_VECTOR: u8 = 1;

/// An event queue of 64 entries.
struct Eq {
    number: u32,
    uar: u32,
    ring: u64,
    consumer: u32,
}

impl Eq {
    fn create(driver: &mut Driver, uar: u32, event: u8, vector: u8, ring: u64) -> Self {
        let mut input = mailbox(0x301, 0, 0x110);
        input[0x10 + 0xc] = 6;
        input[0x10 + 0xd..0x10 + 0x10].copy_from_slice(&uar.to_be_bytes()[1..]);
        input[0x10 + 0x17] = vector;
        input[0x58..0x60].copy_from_slice(&(1_u64 << event).to_be_bytes());
        input.extend(ring.to_be_bytes());
        for entry in 0..64 {
            driver.memory.put(ring + entry * 64 + 63, &[1]);
        }
        let number = driver.command(&input, 0x10).expect("CREATE_EQ")[0xb].into();
        let eq = Self { number, uar, ring, consumer: 0 };
        eq.arm(driver);
        eq
    }

    fn arm(&self, driver: &mut Driver) {
        driver.store(u64::from(self.uar) * 4096 + 0x40, self.number << 24 | self.consumer & 0xff_ffff);
    }

    /// The next entry, if the device has written it: type and data.
    fn poll(&mut self, driver: &mut Driver) -> Option<(u8, Vec<u8>)> {
        let entry = driver.memory.get(self.ring + u64::from(self.consumer % 64) * 64, 64);
        if u32::from(entry[63] & 1) != self.consumer >> 6 & 1 {
            return None;
        }
        self.consumer += 1;
        self.arm(driver);
        Some((entry[1], entry[32..].to_vec()))
    }

    fn destroy(self, driver: &mut Driver) {
        let mut input = mailbox(0x302, 0, 0x10);
        input[0xb] = self.number as u8;
        driver.command(&input, 0x10).expect("DESTROY_EQ");
    }
}

fn uar(driver: &mut Driver) -> u32 {
    word(&driver.run(ALLOC_UAR, 0, 0x10, 0x10).expect("a UAR page"), 8)
}

#[test]
fn finished_commands_interrupt_once_there_is_a_queue_for_them() {
    let mut driver = Driver::initialized();
    let uar = uar(&mut driver);
    let mut eq = Eq::create(&mut driver, uar, COMMAND, COMMAND_VECTOR, OBJECTS);
    assert_eq!(eq.poll(&mut driver), None, "the driver has polled for the one that made it");
    assert_eq!(driver.raised.take(), []);
    driver.run(ALLOC_PD, 0, 0x10, 0x10).expect("a PD");
    assert_eq!(driver.raised.take(), [u16::from(COMMAND_VECTOR)]);
    let (kind, data) = eq.poll(&mut driver).expect("an event");
    assert_eq!((kind, word(&data, 0)), (COMMAND, 1));
    for slot in [3, 4, 31] {
        driver.fill(slot, &mailbox(ALLOC_PD, 0, 0x10), 0x10);
    }
    driver.store(DOORBELL, 1 << 3 | 1 << 4 | 1 << 31);
    driver.step();
    assert_eq!(driver.raised.take(), [u16::from(COMMAND_VECTOR)], "once until it is armed again");
    let mut slots = 0;
    while let Some((kind, data)) = eq.poll(&mut driver) {
        assert_eq!(kind, COMMAND);
        assert_eq!(slots & word(&data, 0), 0, "each once");
        slots |= word(&data, 0);
    }
    assert_eq!(slots, 1 << 3 | 1 << 4 | 1 << 31);
    driver.step();
    driver.raised.take();
    // Slots that are not the device's are nobody's to hear of.
    driver.store(DOORBELL, 1 << 9);
    driver.step();
    assert_eq!((eq.poll(&mut driver), driver.raised.take()), (None, vec![]));
    eq.destroy(&mut driver);
    assert_eq!(driver.raised.take(), [], "the driver has polled for the one that destroyed it");
}

#[test]
fn the_device_asks_for_pages_and_commands_wait_for_them() {
    let mut driver = Driver::initialized();
    let uar = uar(&mut driver);
    let mut eq = Eq::create(&mut driver, uar, PAGES_WANTED, PAGE_VECTOR, OBJECTS);
    let mut pds = Vec::new();
    let asked = loop {
        if let Some((kind, data)) = eq.poll(&mut driver) {
            assert_eq!((kind, word(&data, 0) & 0xffff), (PAGES_WANTED, 0), "function 0");
            break word(&data, 4);
        }
        pds.push(driver.run(ALLOC_PD, 0, 0x10, 0x10).expect("a PD"));
        assert!(pds.len() < 1000, "it never asks");
    };
    assert_eq!(asked, 64, "before it lacks any");
    assert_eq!(driver.raised.take(), [u16::from(PAGE_VECTOR)]);
    // The driver takes its time.
    let waiting = loop {
        match driver.run(ALLOC_PD, 0, 0x10, 0x10) {
            Ok(pd) => pds.push(pd),
            Err(failure) => break failure,
        }
        assert!(pds.len() < 1000, "it never waits");
    };
    assert_eq!(waiting, Failure::NoAnswer);
    assert_eq!(driver.command_in(1, &mailbox(QUERY_ISSI, 0, 0x10), 0x70).map(drop), Ok(()), "others do not");
    assert_eq!(eq.poll(&mut driver), None, "it asks once");
    driver.give(asked as usize).expect("MANAGE_PAGES");
    driver.step();
    pds.push(driver.answer(0, 0x10).expect("a PD"));

    // The driver has none to give.
    let refused = loop {
        while let Some((kind, _)) = eq.poll(&mut driver) {
            assert_eq!(kind, PAGES_WANTED);
            driver.command_in(31, &mailbox(MANAGE_PAGES, 0, 0x10), 0x10).expect("MANAGE_PAGES");
        }
        match driver.run(ALLOC_PD, 0, 0x10, 0x10) {
            Ok(pd) => pds.push(pd),
            Err(failure) => break failure,
        }
        assert!(pds.len() < 2000, "it never lacks any");
    };
    assert_eq!(refused, NO_RESOURCES);

    // It gives back what objects do not need that are gone.
    driver.give(300).expect("MANAGE_PAGES");
    while let Some(pd) = pds.pop() {
        let mut dealloc = mailbox(DEALLOC_PD, 0, 0x10);
        dealloc[8..12].copy_from_slice(&pd[8..12]);
        driver.command(&dealloc, 0x10).expect("DEALLOC_PD");
        while let Some((_, data)) = eq.poll(&mut driver) {
            let count = -(word(&data, 4) as i32);
            assert!(count > 0, "{count}");
            assert_eq!(driver.take(count as usize), Ok(count as usize));
        }
    }
    assert!(driver.given.len() < 80 + 2 * 64 + 2, "{} pages are left", driver.given.len());
    eq.destroy(&mut driver);
    driver.run(TEARDOWN_HCA, 0, 0x10, 0x10).expect("TEARDOWN_HCA");
    driver.take_all();
}

#[test]
fn a_failure_is_an_event() {
    let mut driver = Driver::initialized();
    let uar = uar(&mut driver);
    let mut eq = Eq::create(&mut driver, uar, Event::DeviceFatal.number(), 7, OBJECTS);
    driver.function.device().fail();
    driver.step();
    assert_eq!(driver.raised.take(), [7]);
    assert_eq!(eq.poll(&mut driver).map(|(kind, _)| kind), Some(0x08));
}
