//! Copies of memory (MMO DMA): in the order of the queue, once, and with every check. Firmware commands let queues copy
//! on a ConnectX-7 (`mmo_tests.rs` of the firmware); a ConnectX-6 Dx needs no permission.
//!
//! Copies belong here, the permission to copy in `mmo_tests.rs`.

use crate::lab::*;
use softhca::config::Generation;
use softhca::context::{QpState, Transport};

fn lab(transport: Transport) -> Lab {
    Lab::new(Options { transport, generation: Generation::ConnectX6Dx, ..Options::default() })
}

const SCRATCH: u64 = 0xf_0000;

#[test]
fn copies_and_packets_are_in_order() {
    let mut lab = lab(Transport::Rc);
    let (at, key) = (lab.a.data, lab.a.key);
    let bytes = lab.a.fill(0, 9000, 3);
    let copy = |from, to, len| Wr::copy(key, at + SCRATCH, at + from, at + to, len);
    // The queue copies a READ's data after it has arrived, and sends the copy.
    lab.b.memory.write(lab.b.data, b"from afar");
    lab.a.post(&Wr::read(lab.b.data, lab.b.key).sge(at + 20_000, 9, key));
    lab.a.post(&copy(20_000, 30_000, 9).flags(SIGNALED | FENCE));
    lab.a.post(&copy(0, 40_000, 9000));
    lab.a.post(&Wr::write(lab.b.data + 100, lab.b.key).sge(at + 40_000, 9000, key));
    lab.settle();
    let done: Vec<_> = lab.a.poll_send().iter().map(|c| (c.opcode, c.wqe_opcode, c.byte_cnt)).collect();
    assert_eq!(done, [(REQ, 0x10, 9), (REQ, 0x2f, 9), (REQ, 0x2f, 9000), (REQ, 0x08, 0)]);
    // Syndrome, reserved, bytes scattered, bytes gathered.
    assert_eq!(lab.a.memory.read(at + SCRATCH, 16), [0_u32, 0, 9000, 9000].map(u32::to_be_bytes).as_flattened());
    assert_eq!(lab.a.memory.read(at + 30_000, 9), b"from afar");
    assert_eq!(lab.a.memory.read(at + 40_000, 9000), bytes);
    assert_eq!(lab.b.memory.read(lab.b.data + 100, 9000), bytes);
}

/// Going back to a packet before it does not copy again.
#[test]
fn a_copy_happens_once() {
    let mut lab = lab(Transport::Rc);
    let (at, key) = (lab.a.data, lab.a.key);
    let mut lost = 0;
    lab.a.script(move |_| {
        lost += 1;
        if lost == 1 { Fate::Drop } else { Fate::Deliver }
    });
    lab.a.memory.write(at, b"first");
    lab.a.post(&Wr::write(lab.b.data, lab.b.key).inline(b"lost at first"));
    lab.a.post(&Wr::copy(key, at + SCRATCH, at, at + 100, 5));
    lab.run();
    assert_eq!((lab.a.poll_send().len(), lab.a.memory.read(at + 100, 5)), (0, b"first".to_vec()), "done, not complete");
    lab.a.memory.write(at, b"later");
    lab.settle();
    assert_eq!(lab.a.poll_send().len(), 2);
    assert_eq!(lab.a.memory.read(at + 100, 5), b"first");
    assert_eq!(lab.b.memory.read(lab.b.data, 13), b"lost at first");
}

#[test]
fn source_and_destination_may_overlap() {
    let mut lab = lab(Transport::Rc);
    let (at, key) = (lab.a.data, lab.a.key);
    let bytes = lab.a.fill(0, 5000, 9);
    lab.a.post(&Wr::copy(key, at + SCRATCH, at, at + 7, 5000));
    lab.run();
    assert_eq!(lab.a.memory.read(at + 7, 5000), bytes);
}

#[test]
fn what_cannot_be_copied_fails_and_leaves_all_as_it_was() {
    // Each row has the fault, and both syndromes.
    type Case = (fn(&Node) -> Wr, u8, u8);
    let cases: [Case; 6] = [
        (|n| Wr::copy(n.key ^ 1, n.data, n.data, n.data + 100, 8), 0x04, 0x52),
        (|n| Wr::copy(n.key, n.data + DATA_BYTES as u64 - 63, n.data, n.data + 100, 8), 0x04, 0x52),
        (|n| Wr::copy(n.key, n.data, n.data - 1, n.data + 100, 8), 0x04, 0x52),
        (|n| Wr::copy(n.key, n.data, n.data, n.data + DATA_BYTES as u64 - 7, 8), 0x04, 0x52),
        (|n| Wr::copy(n.key, n.data, n.data, n.data + 100, (1 << 21) + 1), 0x01, 0x13),
        // 2^31 bytes.
        (|n| Wr::copy(n.key, n.data, n.data, n.data + 100, 0), 0x01, 0x13),
    ];
    for (n, (wr, syndrome, vendor)) in cases.into_iter().enumerate() {
        let mut lab = lab(Transport::Rc);
        let before = lab.a.fill(0, DATA_BYTES, 5);
        let wr = wr(&lab.a);
        lab.a.post(&wr);
        lab.a.post(&Wr::nop());
        lab.run();
        let failed: Vec<_> = lab.a.poll_send().iter().map(|c| (c.opcode, c.syndrome, c.vendor)).collect();
        assert_eq!(failed, [(REQ_ERR, syndrome, vendor), (REQ_ERR, 5, 0xf9)], "case {n}");
        assert_eq!(lab.a.memory.read(lab.a.data, DATA_BYTES), before);
        assert_eq!(lab.a.state(), QpState::Err);
    }
}

#[test]
fn devices_without_copies_refuse_them() {
    for generation in [Generation::ConnectX5, Generation::ConnectX7] {
        let mut lab = Lab::new(Options { generation, ..Options::default() });
        lab.a.post(&Wr::copy(lab.a.key, lab.a.data, lab.a.data, lab.a.data + 100, 8));
        lab.run();
        let failed = lab.a.poll_send();
        assert_eq!((failed[0].opcode, failed[0].syndrome, failed[0].vendor), (REQ_ERR, 2, 0x68));
    }
}

#[test]
fn an_initiator_copies_without_a_target() {
    let mut lab = lab(Transport::Dc);
    let (at, key) = (lab.a.data, lab.a.key);
    let bytes = lab.a.fill(0, 100, 1);
    lab.a.post(&Wr::copy(key, at + SCRATCH, at, at + 1000, 100));
    lab.run();
    let done: Vec<_> = lab.a.poll_send().iter().map(|c| (c.opcode, c.wqe_opcode)).collect();
    assert_eq!(done, [(REQ, 0x2f)]);
    assert_eq!(lab.a.memory.read(at + 1000, 100), bytes);
}

#[test]
fn a_sink_copies_nothing() {
    let mut lab = Lab::new(Options { sink: true, ..Options::default() });
    let before = lab.a.fill(0, 200, 1);
    lab.a.post(&Wr::copy(lab.a.key, lab.a.data, lab.a.data, lab.a.data + 100, 100));
    lab.run();
    assert_eq!(lab.a.poll_send()[0].opcode, REQ);
    assert_eq!(lab.a.memory.read(lab.a.data, 200), before);
}
