//! The configuration space, as a bus driver looks through it.
//!
//! Configuration space belongs here, BAR 0 in `registers.rs`.

use crate::doorbells::queue_pair;
use crate::driver::{BAD_SYS_STATE, Driver, ENABLE_HCA, Failure, OBJECTS, QUERY_ISSI};
use softhca::context::{QpAttr, QpState};
use softhca::pci::{BAR_BYTES, CONFIG_BYTES, MSIX_PBA_OFFSET, MSIX_TABLE_OFFSET, VECTORS};

fn read<const N: usize>(driver: &Driver, at: usize) -> [u8; N] {
    let mut bytes = [0; N];
    driver.function.read_config(at, &mut bytes);
    bytes
}

fn read16(driver: &Driver, at: usize) -> u16 {
    u16::from_le_bytes(read(driver, at))
}

fn read32(driver: &Driver, at: usize) -> u32 {
    u32::from_le_bytes(read(driver, at))
}

/// Numbers and places of the capabilities, in the order of the list.
fn capabilities(driver: &Driver) -> Vec<(u8, usize)> {
    let mut found = Vec::new();
    let mut at = usize::from(read::<1>(driver, 0x34)[0]);
    while at != 0 {
        let [number, next] = read(driver, at);
        found.push((number, at));
        assert!(found.len() < 48, "the list ends");
        at = next.into();
    }
    found
}

fn capability(driver: &Driver, number: u8) -> usize {
    capabilities(driver).into_iter().find(|&(found, _)| found == number).expect("the capability").1
}

#[test]
fn it_is_an_ethernet_controller_of_mellanox() {
    let driver = Driver::new();
    assert_eq!((read16(&driver, 0), read16(&driver, 2)), (0x15b3, 0x1017));
    assert_eq!(read32(&driver, 8) >> 8, 0x02_0000, "class");
    assert_eq!(read::<1>(&driver, 0xe), [0], "one function, no bridge");
    assert_eq!(read16(&driver, 6) & 0x10, 0x10, "there is a list of capabilities");
    assert_eq!(read32(&driver, 0x100), 0, "no extended ones");
    let mut end = [9; 8];
    driver.function.read_config(CONFIG_BYTES - 4, &mut end);
    assert_eq!(end, [0; 8]);
    driver.function.read_config(usize::MAX - 3, &mut end);
    assert_eq!(end, [0; 8]);
}

#[test]
fn the_bar_says_its_size() {
    let mut driver = Driver::new();
    driver.function.write_config(0x10, &[0xff; 24]);
    let bar = u64::from(read32(&driver, 0x14)) << 32 | u64::from(read32(&driver, 0x10));
    assert_eq!(bar & 0xf, 0b1100, "64 bits, prefetchable");
    assert_eq!(!(bar & !0xf) + 1, BAR_BYTES);
    assert_eq!(read::<16>(&driver, 0x18), [0; 16], "no other");
    driver.function.write_config(0x10, &0x12_3400_0000_u64.to_le_bytes());
    assert_eq!((read32(&driver, 0x10), read32(&driver, 0x14)), (0x3400_000c, 0x12));
}

#[test]
fn interrupts_are_where_the_table_is() {
    let mut driver = Driver::new();
    let at = capability(&driver, 0x11);
    assert_eq!(read16(&driver, at + 2), VECTORS - 1);
    assert_eq!(u64::from(read32(&driver, at + 4)), MSIX_TABLE_OFFSET, "BAR 0");
    assert_eq!(u64::from(read32(&driver, at + 8)), MSIX_PBA_OFFSET, "BAR 0");
    driver.function.write_config(at + 2, &[0xff, 0xff]);
    assert_eq!(read16(&driver, at + 2), 0xc000 | (VECTORS - 1), "on, and masked");
    driver.function.write_config(at + 4, &[0xff; 8]);
    assert_eq!(u64::from(read32(&driver, at + 4)), MSIX_TABLE_OFFSET);
}

#[test]
fn what_cannot_be_written_stays() {
    let mut driver = Driver::new();
    let before: Vec<u8> = (0..CONFIG_BYTES).map(|at| read::<1>(&driver, at)[0]).collect();
    let express = capability(&driver, 0x10);
    for (at, byte) in before.iter().enumerate() {
        // Writes that would reset the function are another test's.
        if at != express + 9 {
            driver.function.write_config(at, &[!byte]);
        }
    }
    let changed: Vec<usize> = (0..CONFIG_BYTES).filter(|&at| read::<1>(&driver, at)[0] != before[at]).collect();
    let (power, msix, data) = (capability(&driver, 0x01), capability(&driver, 0x11), capability(&driver, 0x03));
    let command = [0x04, 0x05];
    let bar = 0x13..0x18;
    let expected: Vec<usize> = command
        .into_iter()
        .chain([0x0c])
        .chain(bar)
        .chain([0x3c, power + 4])
        .chain(data + 2..data + 8)
        .chain([8, 0x10, 0x28].map(|offset| express + offset))
        .chain([msix + 3])
        .collect();
    // Registers of the gateway are more than bits: its own test has them.
    let gateway = capability(&driver, 0x09) + 4..capability(&driver, 0x09) + 24;
    let changed: Vec<usize> = changed.into_iter().filter(|at| !gateway.contains(at)).collect();
    assert_eq!(changed, expected, "{changed:x?}");
    driver.function.write_config(CONFIG_BYTES - 1, &[0xff; 16]);
    driver.function.write_config(usize::MAX - 1, &[0xff; 16]);
}

#[test]
fn nothing_is_decoded_and_no_memory_is_reached_before_it_is_permitted() {
    let mut driver = Driver::new();
    assert_eq!(driver.load(0), u32::MAX);
    driver.start();
    assert_ne!(driver.load(0), u32::MAX);
    driver.function.write_config(4, &[2, 0]);
    assert_eq!(driver.run(ENABLE_HCA, 0, 0x10, 0x10), Err(Failure::NoAnswer), "no bus mastering");
    driver.function.write_config(4, &[6, 0]);
    driver.step();
    assert!(driver.answer(0, 0x10).is_ok(), "the doorbell has not been forgotten");
    let power = capability(&driver, 0x01);
    driver.function.write_config(power + 4, &[3]);
    assert_eq!(driver.load(0), u32::MAX, "D3");
    driver.function.write_config(power + 4, &[0]);
    assert!(driver.run(QUERY_ISSI, 0, 0x10, 0x70).is_ok(), "the HCA is as it was");
}

/// WQEs that were announced before the bus was taken from the function.
#[test]
fn queues_rest_while_the_function_is_no_bus_master() {
    let mut driver = Driver::initialized();
    let (qpn, uar) = queue_pair(&mut driver);
    let device = driver.function.device();
    let init = QpAttr {
        state: Some(QpState::Init),
        pkey_index: Some(0),
        port: Some(1),
        access: Some(Default::default()),
        ..QpAttr::default()
    };
    // In error, it flushes its WQEs.
    for attr in [init, QpAttr { state: Some(QpState::Err), ..QpAttr::default() }] {
        device.modify_qp(qpn, &attr).expect("a state");
    }
    driver.memory.put(OBJECTS + 63, &[0xf0]);
    driver.memory.put(OBJECTS + 0x1044, &1_u32.to_be_bytes());
    let [_, a, b, c] = qpn.to_be_bytes();
    let nop = [0, 0, 0, 0, a, b, c, 1, 0, 0, 0, 8, 0, 0, 0, 0];
    driver.memory.put(OBJECTS + 0x2000, &nop);
    driver.function.write(u64::from(uar) * 4096 + 0x800, &nop[..8]);
    for (command, opcode) in [(2, 0xf), (6, 0xd)] {
        driver.function.write_config(4, &[command, 0]);
        driver.step();
        assert_eq!(driver.memory.get(OBJECTS + 63, 1)[0] >> 4, opcode, "command register {command}");
    }
}

#[test]
fn a_function_level_reset_forgets_everything() {
    let mut driver = Driver::initialized();
    let express = capability(&driver, 0x10);
    assert_ne!(read32(&driver, express + 4) & 1 << 28, 0, "it can");
    let [low, high] = read(&driver, express + 8);
    driver.function.write_config(express + 8, &[low, high | 0x80]);
    assert_eq!(read16(&driver, 4), 0);
    assert_eq!(read16(&driver, express + 8) & 0x8000, 0);
    assert_eq!(driver.load(0), u32::MAX);
    driver.function.write_config(4, &[6, 0]);
    assert_eq!(driver.load(0x14) >> 8 & 7, 1, "the driver sees that nobody has the interface");
    driver.start();
    assert_eq!(driver.run(QUERY_ISSI, 0, 0x10, 0x70), Err(BAD_SYS_STATE));
    driver.given.clear();
    driver.initialize();
}

/// A word of the vital product data, as Linux reads it.
fn product_data(driver: &mut Driver, at: u16) -> [u8; 4] {
    let data = capability(driver, 0x03);
    driver.function.write_config(data + 2, &at.to_le_bytes());
    assert_eq!(read16(driver, data + 2), at | 0x8000, "it has been read");
    read(driver, data + 4)
}

#[test]
fn the_board_says_its_name_and_number() {
    let mut driver = Driver::new();
    let all: Vec<u8> = (0..0x20).flat_map(|word| product_data(&mut driver, word * 4)).collect();
    assert_eq!(&all[..0x16], b"\x82\x13\0software ConnectX-5");
    assert_eq!(product_data(&mut driver, 0x7ffc), [0; 4], "past the end");
    let data = capability(&driver, 0x03);
    driver.function.write_config(data + 4, &[9; 4]);
    driver.function.write_config(data + 2, &0x8000_u16.to_le_bytes());
    assert_eq!(read16(&driver, data + 2), 0, "written, it says");
    assert_eq!(product_data(&mut driver, 0), all[..4], "but nothing has changed");
}

#[test]
fn the_gateway_is_locked_by_a_number_of_its_counter() {
    let mut driver = Driver::new();
    let gateway = capability(&driver, 0x09);
    assert_eq!(read::<1>(&driver, gateway + 2), [24]);
    let mine: [u8; 4] = read(&driver, gateway + 8);
    let other: [u8; 4] = read(&driver, gateway + 8);
    assert_ne!(mine, other);
    driver.function.write_config(gateway + 12, &mine);
    driver.function.write_config(gateway + 12, &other);
    assert_eq!(read(&driver, gateway + 12), mine);
    // The space of semaphores, the one for a restart, and a read of it.
    driver.function.write_config(gateway + 4, &[0x0a, 0, 0, 0]);
    assert_eq!(read::<4>(&driver, gateway + 4), [0x0a, 0, 0, 0x20]);
    driver.function.write_config(gateway + 16, &[0x20, 0, 0, 0]);
    assert_eq!(read::<8>(&driver, gateway + 16), [0x20, 0, 0, 0x80, 0, 0, 0, 0]);
    // Pieces of registers do nothing.
    driver.function.write_config(gateway + 12, &[0]);
    driver.function.write_config(gateway + 13, &[0; 3]);
    assert_eq!(read(&driver, gateway + 12), mine);
}
