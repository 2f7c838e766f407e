//! The order in which the device stores: all data of a message, then its CQE, and the last byte of the CQE last. Hosts
//! look at the data as soon as they see the CQE.
//!
//! The order of stores belongs here, that of receives in `out_of_order.rs`.

use crate::lab::*;
use softhca::context::Transport;

/// The node's stores to its data and its CQ: data first, then one CQE of 64 bytes.
fn data_then_cqe(what: &str, node: &Node, cq: &Cq, data_bytes: usize) {
    let stores = node.memory.take_stores();
    let is_data = |addr: u64| (node.data..node.data + DATA_BYTES as u64).contains(&addr);
    let data: usize = stores.iter().filter(|store| is_data(store.addr)).map(|store| store.len).sum();
    assert_eq!(data, data_bytes, "{what}: {stores:?}");
    let (cqe, before) = stores.split_last().expect(what);
    assert!(before.iter().all(|store| is_data(store.addr)), "{what}: {stores:?}");
    let ring = cq.buf..cq.buf + (64 << cq.log_size);
    assert!(ring.contains(&cqe.addr) && cqe.len == 64 && cqe.publishes, "{what}: {stores:?}");
}

#[test]
fn a_receivers_cqe_comes_after_its_data() {
    const LEN: u32 = 1000;
    for (mtu, transport) in [(256, Transport::Rc), (4096, Transport::Rc), (256, Transport::Uc)] {
        let mut lab = Lab::new(Options { mtu, transport, ..Options::default() });
        let (dst, rkey) = (lab.b.data, lab.b.key);
        let from = |lab: &Lab, wr: Wr| wr.sge(lab.a.data, LEN, lab.a.key);
        for (what, wr) in [
            ("SEND", from(&lab, Wr::send())),
            ("SEND with immediate", from(&lab, Wr::send()).with_imm(1)),
            ("WRITE with immediate", from(&lab, Wr::write(dst, rkey)).with_imm(1)),
        ] {
            lab.b.post_recv(&[(dst, LEN)]);
            lab.b.memory.take_stores();
            lab.a.post(&wr);
            lab.run();
            assert_eq!(lab.b.poll_recv().len(), 1, "{what}");
            data_then_cqe(what, &lab.b, &lab.b.recv_cq, LEN as usize);
        }
    }
}

#[test]
fn a_datagrams_cqe_comes_after_its_data() {
    let mut lab = Lab::new(Options { transport: Transport::Ud, ..Options::default() });
    let (lid, _, qpn) = lab.b.identity();
    lab.b.post_recv(&[(lab.b.data, 100)]);
    lab.b.memory.take_stores();
    lab.a.post(&Wr::send().inline(b"datagram").to(lid, qpn, QKEY, None));
    lab.run();
    data_then_cqe("datagram", &lab.b, &lab.b.recv_cq, 8);
}

#[test]
fn a_requesters_cqe_comes_after_its_answer() {
    let mut lab = Lab::new(Options { mtu: 256, ..Options::default() });
    let (src, key, dst, rkey) = (lab.a.data, lab.a.key, lab.b.data, lab.b.key);
    for (what, len, wr) in [
        ("READ", 1000, Wr::read(dst, rkey)),
        ("compare and swap", 8, Wr::swap(dst, rkey, 0, 1)),
        ("fetch and add", 8, Wr::add(dst, rkey, 1)),
    ] {
        lab.a.memory.take_stores();
        lab.a.post(&wr.sge(src, len, key));
        lab.run();
        assert_eq!(lab.a.poll_send().len(), 1, "{what}");
        data_then_cqe(what, &lab.a, &lab.a.send_cq, len as usize);
    }
}
