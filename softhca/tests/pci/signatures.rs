//! Signatures of commands: checked if the driver has chosen them, and made in any case ([`Driver::answer`] looks).
//!
//! Command signatures belong here, WQE signatures in `engine`.

use crate::driver::*;

/// An HCA whose driver signs.
fn signing() -> Driver {
    let mut driver = Driver::started();
    driver.run(ENABLE_HCA, 0, 0x10, 0x10).expect("ENABLE_HCA");
    driver.choose_signatures(3).expect("SET_HCA_CAP");
    driver.signs = true;
    driver
}

/// `cmdif_checksum`: possible, and in use.
fn checksum(driver: &mut Driver) -> [u8; 2] {
    [0, 1].map(|which| driver.run(QUERY_HCA_CAP, which, 0x10, 0x1010).expect("QUERY_HCA_CAP")[0x10 + 0x42] >> 6)
}

#[test]
fn a_driver_chooses_whether_it_signs() {
    let mut driver = Driver::started();
    driver.run(ENABLE_HCA, 0, 0x10, 0x10).expect("ENABLE_HCA");
    assert_eq!(checksum(&mut driver), [3, 1], "nobody has said anything");
    assert_eq!(driver.choose_signatures(2), Err(BAD_PARAM));
    driver.choose_signatures(0).expect("SET_HCA_CAP");
    assert_eq!(checksum(&mut driver), [3, 0]);
    let mut driver = signing();
    assert_eq!(checksum(&mut driver), [3, 3]);
    driver.satisfy(1);
    driver.satisfy(2);
    driver.run(INIT_HCA, 0, 0x20, 0x10).expect("INIT_HCA");
    assert_eq!(driver.choose_signatures(0), Err(BAD_SYS_STATE), "too late");
    driver.choose_signatures(3).expect("nothing new");
}

#[test]
fn a_slot_without_signature_is_not_carried_out() {
    let mut driver = signing();
    driver.signs = false;
    assert_eq!(driver.run(QUERY_ISSI, 0, 0x10, 0x70), Err(Failure::Delivery(1)));
    driver.signs = true;
    assert!(driver.run(QUERY_ISSI, 0, 0x10, 0x70).is_ok());
}

#[test]
fn every_bit_of_a_signed_command_counts() {
    let mut driver = signing();
    // A long input: slot, data and control part of a mailbox.
    let input = [mailbox(MANAGE_PAGES, 1, 0x10), vec![0; 0x100]].concat();
    let places = [
        Driver::slot(0) + 0x10,
        Driver::slot(0) + 0x3d,
        IN_BOXES,
        IN_BOXES + 0xff,
        IN_BOXES + 0x1ff,
        IN_BOXES + 0x200,
        IN_BOXES + 0x23e,
        IN_BOXES + 0x23f,
        OUT_BOXES + 0x200,
        OUT_BOXES + 0x23e,
    ];
    for at in places {
        for bit in 0..8 {
            driver.fill(0, &input, 0x200);
            let byte = driver.memory.get(at, 1)[0];
            driver.memory.put(at, &[byte ^ 1 << bit]);
            driver.store(DOORBELL, 1);
            driver.step();
            assert_eq!(driver.answer(0, 0x200), Err(Failure::Delivery(1)), "{at:#x}, bit {bit}");
        }
    }
    driver.command(&input, 0x200).expect("no pages");
}
