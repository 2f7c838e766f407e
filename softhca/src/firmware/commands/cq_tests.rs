//! Completion queues, by mailboxes whose bytes are computed by hand from Linux' `mlx5_ifc.h`.

use crate::config::{DeviceConfig, Generation, PortConfig};
use crate::context::{QpContext, SqContext, Transport};
use crate::cq::Completion;
use crate::event::Event;
use crate::firmware::owners::{DRIVER, Uid};
use crate::firmware::status::Status;
use crate::firmware::test_bench::Bench;
use crate::memory::test_memory::BASE;
use std::time::Duration;

const EQN: u8 = 9;
/// Page of the doorbell records.
const RECORDS: u64 = 20;

/// `CREATE_CQ` of 128 CQEs (two pages), with a record in `RECORDS`, for a user, by pages.
fn create(uid: Uid, uar: u32, pages: &[u64]) -> Vec<u8> {
    let mut bytes = vec![0; 0x110 + 8 * pages.len()];
    bytes[..4].copy_from_slice(&[0x04, 0x00, (uid.0 >> 8) as u8, uid.0 as u8]);
    bytes[0x1c..0x20].copy_from_slice(&(7 << 24 | uar).to_be_bytes());
    bytes[0x27] = EQN;
    // Period in bits 27:16, the most CQEs in bits 15:0.
    bytes[0x20..0x24].copy_from_slice(&[0, 5, 1, 2]);
    bytes[0x33] = 0;
    bytes[0x48..0x50].copy_from_slice(&(BASE + RECORDS * 4096 + 0x40).to_be_bytes());
    for (index, page) in pages.iter().enumerate() {
        bytes[0x110 + 8 * index..][..8].copy_from_slice(&(BASE + page * 4096).to_be_bytes());
    }
    bytes
}

fn bench() -> (Bench, u32) {
    bench_of(Bench::new())
}

fn bench_of(mut bench: Bench) -> (Bench, u32) {
    bench.firmware.declare_eq(&mut bench.device, EQN.into()).expect("an EQ");
    let uar = bench.device.alloc_uar().expect("a UAR page");
    (bench, uar)
}

fn cqn(output: &[u8]) -> u32 {
    u32::from_be_bytes([0, output[9], output[10], output[11]])
}

/// `DESTROY_CQ` and `QUERY_CQ` are the same but for their opcodes.
fn on(opcode: u8, uid: Uid, cqn: u32) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&[0x04, opcode, (uid.0 >> 8) as u8, uid.0 as u8]);
    bytes[8..12].copy_from_slice(&cqn.to_be_bytes());
    bytes
}

/// A QP that is not connected, whose sends complete as they are fetched once it is in error.
fn qp_on(bench: &mut Bench, cqn: u32, uar: u32) -> u32 {
    let pd = bench.device.alloc_pd().expect("a PD");
    let context = QpContext {
        pd,
        send_cqn: cqn,
        recv_cqn: cqn,
        sq: Some(SqContext { buf: BASE, log_size: 4, ..SqContext::default() }),
        dbr: BASE + RECORDS * 4096 + 0x80,
        uar,
        ..QpContext::new(Transport::Uc)
    };
    bench.device.create_qp(context).expect("a QP")
}

#[test]
fn a_queue_in_scattered_pages_is_written_and_reports_where_it_is() {
    let (mut bench, uar) = bench();
    let output = bench.execute(&create(DRIVER, uar, &[9, 3]), 16).expect("a CQ");
    let cqn = cqn(&output);
    assert_eq!(bench.firmware.eq_of_cq(cqn), Some(EQN.into()));
    // NOPs that are flushed: 70 CQEs, of which 64 are in the first page.
    let qpn = qp_on(&mut bench, cqn, uar);
    for state in [crate::context::QpState::Init, crate::context::QpState::Err] {
        let init = state == crate::context::QpState::Init;
        let attr = crate::context::QpAttr {
            state: Some(state),
            pkey_index: init.then_some(0),
            port: init.then_some(1),
            access: init.then(Default::default),
            ..Default::default()
        };
        bench.device.modify_qp(qpn, &attr).expect("a state");
    }
    for post in 1..=7_u16 {
        for at in 0..16_u64 {
            let wqe = [0, 0, 0, 0, 0, (qpn >> 8) as u8, qpn as u8, 1, 0, 0, 0, 8, 0, 0, 0, 0];
            bench.device.host_memory().write(BASE + at * 64, &wqe).expect("the ring");
        }
        let index = post * 10;
        bench
            .device
            .host_memory()
            .write(BASE + RECORDS * 4096 + 0x84, &u32::from(index).to_be_bytes())
            .expect("record");
        let doorbell = [0, (index >> 8) as u8, index as u8, 0, 0, (qpn >> 8) as u8, qpn as u8, 1];
        bench.device.doorbell(uar, 0x800, &doorbell);
        while bench.device.step(std::time::Duration::ZERO) {}
    }
    let mut cqe = [0; 64];
    bench.device.host_memory().read(BASE + 9 * 4096 + 63 * 64, &mut cqe).expect("the first page");
    assert_eq!(cqe[63], 0xd2, "an error of the requester, owner bit 0");
    bench.device.host_memory().read(BASE + 3 * 4096 + 5 * 64, &mut cqe).expect("the second page");
    assert_eq!((cqe[61], cqe[63]), (69, 0xd2), "the WQE of the 70th");
    bench.device.host_memory().write(BASE + RECORDS * 4096 + 0x40, &33_u32.to_be_bytes()).expect("record");

    let context = bench.execute(&on(2, DRIVER, cqn), 0x110).expect("a context");
    assert_eq!(context[0x10..0x14], [0, 0, 0x0a, 0], "no fault, and not armed");
    assert_eq!(context[0x1c..0x20], (7 << 24 | uar).to_be_bytes());
    assert_eq!(context[0x20..0x24], [0, 5, 1, 2]);
    assert_eq!(context[0x27], EQN);
    assert_eq!(context[0x38..0x40], [0, 0, 0, 33, 0, 0, 0, 70], "consumer, and producer");
    assert_eq!(context[0x48..0x50], (BASE + RECORDS * 4096 + 0x40).to_be_bytes());

    assert_eq!(bench.execute(&on(1, DRIVER, cqn), 16), Err(Status::ResourceBusy), "the QP uses it");
    bench.device.destroy_qp(qpn).expect("gone");
    assert!(bench.execute(&on(1, DRIVER, cqn), 16).is_ok());
    assert_eq!(bench.execute(&on(2, DRIVER, cqn), 0x110), Err(Status::BadResource));
    assert_eq!(bench.firmware.eq_of_cq(cqn), None);
}

#[test]
fn an_overrun_is_the_status() {
    let (mut bench, uar) = bench();
    let mut input = create(DRIVER, uar, &[9]);
    input[0x1c] = 0; // one CQE
    let cqn = cqn(&bench.execute(&input, 16).expect("a CQ"));
    let qpn = qp_on(&mut bench, cqn, uar);
    let mut attr = crate::context::QpAttr {
        state: Some(crate::context::QpState::Init),
        pkey_index: Some(0),
        port: Some(1),
        access: Some(Default::default()),
        ..Default::default()
    };
    bench.device.modify_qp(qpn, &attr).expect("a state");
    attr = crate::context::QpAttr { state: Some(crate::context::QpState::Err), ..Default::default() };
    bench.device.modify_qp(qpn, &attr).expect("a state");
    bench.device.host_memory().write(BASE + RECORDS * 4096 + 0x84, &3_u32.to_be_bytes()).expect("record");
    bench.device.doorbell(uar, 0x800, &[0, 0, 2, 0, 0, (qpn >> 8) as u8, qpn as u8, 1]);
    while bench.device.step(std::time::Duration::ZERO) {}
    let context = bench.execute(&on(2, DRIVER, cqn), 0x110).expect("a context");
    assert_eq!(context[0x10], 0x90, "overflow");
}

#[test]
fn what_cannot_be_is_refused_and_leaves_nothing() {
    let (mut bench, uar) = bench();
    let good = create(DRIVER, uar, &[9, 3]);
    let refused = [
        (0x27, 8, Status::BadResource),             // an event queue that is not there
        (0x1f, uar as u8 + 1, Status::BadResource), // a UAR page
        (0x11, 0x40, Status::BadParameter),         // CQEs of 192 bytes
        (0x11, 0x20, Status::BadInputLength),       // CQEs of 128 bytes, in too few pages
        (0x12, 0x20, Status::BadParameter),         // a format of mini-CQEs, of CQEs that are not compressed
        (0x13, 0x01, Status::BadParameter),         // a layout of them
        (0x4f, 0x42, Status::BadParameter),         // a record that is not aligned
        (0x4f, 0x44, Status::BadParameter),         // a record of two words that is not aligned to both
        (0x1c, 23, Status::BadInputLength),         // too many CQEs for the pages
        (0x10, 1, Status::BadParameter),            // a bit without a name
    ];
    for (at, byte, status) in refused {
        let mut input = good.clone();
        input[at] = byte;
        assert_eq!(bench.execute(&input, 16), Err(status), "byte {at:#x}");
    }
    // Compressed CQEs: all in one place, and of a kind that an older device has not.
    for (collapsed, format, layout) in [(0x10, 0x40, 0), (0, 0x60, 0), (0, 0x40, 1)] {
        let mut input = good.clone();
        (input[0x11], input[0x12], input[0x13]) = (collapsed, format, layout);
        assert_eq!(bench.execute(&input, 16), Err(Status::BadParameter), "{collapsed:#x} {format:#x} {layout}");
    }
    let user = bench.user();
    let mut of_user = create(user, uar, &[9, 3]);
    assert_eq!(bench.execute(&of_user, 16), Err(Status::BadResource), "the UAR page is the driver's");
    bench.firmware.set_owner(crate::error::Object::Uar, uar, user);
    // User memory: the record at 0x40 of one, the ring at 0x1000 of the other.
    let rings = bench.umem(user, &[1, 9, 3], 0, true);
    let records = bench.umem(user, &[RECORDS], 0, false);
    of_user.truncate(0x110);
    of_user[0x10] = 0x02;
    of_user[0x14..0x18].copy_from_slice(&records.to_be_bytes());
    of_user[0x48..0x50].copy_from_slice(&0x40_u64.to_be_bytes());
    of_user[0x50..0x58].copy_from_slice(&0x1000_u64.to_be_bytes());
    of_user[0x58..0x5c].copy_from_slice(&rings.to_be_bytes());
    of_user[0x5c] = 0x80;
    let cqn = cqn(&bench.execute(&of_user, 16).expect("a CQ"));
    assert_eq!(cqn, 1, "what was refused took no number");
    assert_eq!(bench.state().umems.get(rings).map(|umem| umem.users), Some(1));
    let other = bench.user();
    assert_eq!(bench.execute(&on(2, other, cqn), 0x110), Err(Status::BadResource));
    assert_eq!(bench.execute(&on(1, other, cqn), 16), Err(Status::BadResource));
    assert!(bench.execute(&on(1, user, cqn), 16).is_ok());
    assert_eq!(bench.state().umems.get(rings).map(|umem| umem.users), Some(0));
    assert_eq!(bench.state().umems.get(records).map(|umem| umem.users), Some(0));
}

/// ConnectX-6 Dx is the first with tags in mini-CQEs, and with the enhanced layout.
#[test]
fn a_device_compresses_as_its_generation_does() {
    let port = PortConfig::infiniband(1);
    let generation = Generation::ConnectX6Dx;
    let (mut bench, uar) = bench_of(Bench::of(DeviceConfig { generation, ..DeviceConfig::with_port(port) }));
    for (format, layout) in [(0x40, 0), (0x60, 0), (0x40, 1), (0x60, 1)] {
        let mut input = create(DRIVER, uar, &[9, 3]);
        (input[0x12], input[0x13]) = (format, layout);
        assert!(bench.execute(&input, 16).is_ok(), "{format:#x} {layout}");
    }
}

#[test]
fn a_held_event_comes_when_its_period_is_over() {
    let (mut bench, uar) = bench();
    let mut input = create(DRIVER, uar, &[9, 3]);
    // Periods of 5 microseconds from the last CQE on (`cq_period_mode` 1), and more CQEs than there will be.
    input[0x12] |= 0x80;
    let cqn = cqn(&bench.execute(&input, 16).expect("a CQ"));
    bench.device.doorbell(uar, 0x20, &[[0; 4], cqn.to_be_bytes()].concat());
    let sent = Completion::Request { qpn: 1, uidx: 0, opcode: 8, wqe_counter: 0, byte_cnt: 0, inline: None };
    bench.device.complete(cqn, &sent);
    for (micros, event, deadline) in
        [(0, None, Some(5)), (4, None, Some(5)), (5, Some(Event::Completion { cqn }), None), (10, None, None)]
    {
        bench.device.step(Duration::from_micros(micros));
        let deadline = deadline.map(Duration::from_micros);
        assert_eq!((bench.device.next_event(), bench.device.next_deadline()), (event, deadline), "{micros}");
    }
}

/// `MODIFY_CQ` of a CQ; `op_mod` and the fields selected.
fn modify(cqn: u32, op_mod: u8, select: u8, pages: &[u64]) -> Vec<u8> {
    let mut bytes = create(DRIVER, 0, pages);
    bytes[..16].copy_from_slice(&[4, 3, 0, 0, 0, 0, 0, op_mod, 0, 0, 0, 0, 0, 0, 0, select]);
    bytes[8..12].copy_from_slice(&cqn.to_be_bytes());
    bytes
}

#[test]
fn moderation_overrun_and_size_can_be_modified() {
    let (mut bench, uar) = bench();
    let cqn = cqn(&bench.execute(&create(DRIVER, uar, &[9, 3]), 16).expect("a CQ"));
    let mut fields = modify(cqn, 0, 0b110, &[]);
    fields[0x11] |= 0x02; // oi
    fields[0x20..0x24].copy_from_slice(&[0, 7, 3, 4]);
    assert!(bench.execute(&fields, 16).is_ok());
    let context = bench.execute(&on(2, DRIVER, cqn), 0x110).expect("a context");
    assert_eq!(context[0x20..0x24], [0, 5, 3, 4], "the count, and not the period");
    assert_eq!(context[0x11], 0x02);
    fields[15] = 16; // cq_period_mode, in bits 16:15
    fields[0x12] = 0x80;
    fields[0x11] |= 0x01;
    fields[15] |= 0b100;
    fields[0x11] &= !0x02;
    assert_eq!(bench.execute(&fields, 16), Err(Status::BadParameter), "mode 3");
    assert_eq!(bench.execute(&on(2, DRIVER, cqn), 0x110).expect("a context"), context, "nothing has changed");
    fields[15] &= !0b100;
    fields[0x11] |= 0x02;
    fields[0x11] &= 0xfe;
    assert!(bench.execute(&fields, 16).is_ok());
    let context = bench.execute(&on(2, DRIVER, cqn), 0x110).expect("a context");
    assert_eq!(context[0x11..0x13], [0x02, 0x8a], "from the last CQE");
    fields[15] = 8;
    assert_eq!(bench.execute(&fields, 16), Err(Status::BadParameter));
    fields[15] = 0;
    assert_eq!(bench.execute(&fields, 16), Err(Status::BadParameter), "nothing selected");
    fields[7] = 2;
    assert_eq!(bench.execute(&fields, 16), Err(Status::BadParameter), "no such op_mod");

    for select in [0, 6, 8 | 7] {
        assert_eq!(bench.execute(&modify(cqn, 1, select, &[12, 13]), 16), Err(Status::BadParameter), "{select}");
    }
    let mut to = modify(cqn, 1, 7, &[12]);
    assert_eq!(bench.execute(&to, 16), Err(Status::BadInputLength), "128 CQEs in one page");
    to[0x1c] = 6;
    assert!(bench.execute(&to, 16).is_ok());
    let mut cqe = [0; 64];
    bench.device.host_memory().read(BASE + 9 * 4096, &mut cqe).expect("the old ring");
    assert_eq!(cqe[63], 0x50, "it ends");
    let context = bench.execute(&on(2, DRIVER, cqn), 0x110).expect("a context");
    assert_eq!(context[0x1c..0x20], (6 << 24 | uar).to_be_bytes());
    assert!(bench.execute(&on(1, DRIVER, cqn), 16).is_ok());
    assert_eq!(bench.execute(&to, 16), Err(Status::BadResource));
}
