//! A key that encrypts, as the buffer of receives and READs.

use super::driver::*;
use crate::config::{Generation, LinkLayer};
use crate::crypto::{DekInfo, KeySize};
use crate::firmware::pair_bench::{Node, connect, data_seg, mailbox, pair_of, settle};
use crate::memory::test_memory::BASE;

const READ: u8 = 0x10;
/// Opcodes of CQEs: of a receive, and of one that failed.
const RECEIVE: u8 = 2;
const RECEIVE_FAILED: u8 = 14;
/// Where the region begins, and its bytes: data units of 512.
const START: u64 = 0x9000;
const LEN: u64 = 0x1000;

/// `CREATE_MKEY` of a free key that may encrypt, with room for one format (`bsf_en`, `bsf_octword_size`, `crypto_en`).
fn create(node: &mut Node) -> u32 {
    let first = MKC_FREE | UMR_EN | MTT | 1 << 10;
    let context =
        Context { first, pd: 1 << 30 | node.pd, octwords: 4, log_page_size: 12, variant: 7, ..Context::default() };
    let mut input = mailbox(0x110, &[(0, &[2, 0]), (0x10, &context.bytes())]);
    (input[0x33], input[0x4c]) = (4, 1 << 3);
    node.number(&input) << 8 | 7
}

/// A page as the region, encrypted on the wire by data units of 512 bytes (`struct mlx5_crypto_bsf`).
fn encrypt(dek: u32) -> Umr {
    let region = Context {
        first: ALL_RIGHTS | MTT,
        pd: 1 << 30,
        start: START,
        len: LEN,
        variant: 7,
        log_page_size: 12,
        ..Context::default()
    };
    let mut umr = Umr::new(CHECK_NOT_FREE, FAST | 1 << 12, region).inline(&[BASE + 0x4000 + 3]);
    let mut bsf = [0; 64];
    bsf[..2].copy_from_slice(&[2 << 6 | 1, 0]);
    bsf[4..8].fill(0xff);
    bsf[8] = 1;
    bsf[32..36].copy_from_slice(&dek.to_be_bytes());
    // How many octwords of formats there are.
    umr.offset = 4;
    umr.tail.extend(bsf);
    umr
}

/// Two connected QPs, and such a key of the first one's memory.
fn setup() -> ([Node; 2], u32) {
    let mut nodes = pair_of(LinkLayer::Ethernet, Generation::ConnectX7);
    nodes.iter_mut().for_each(|node| create_kernel_qp(node, RC));
    connect(&mut nodes);
    let key = create(&mut nodes[0]);
    let info = DekInfo { pd: nodes[0].pd, size: KeySize::Bits128, tag: None, opaque: 0 };
    let halves: Vec<u8> = (0..32).collect();
    let dek = nodes[0].bench.device.create_dek(info, &halves).expect("a key of encryption");
    assert_eq!(change(&mut nodes, key, &encrypt(dek), true), 0);
    (nodes, key)
}

/// Lengths, and whether a message may have them: it ends with a unit, or at a multiple of 16 bytes that is at least 16
/// bytes before a unit's end (man page `mlx5dv_wr_set_mkey_crypto`).
const LENGTHS: [(u32, bool); 7] =
    [(512, true), (496, true), (16, true), (1536, true), (100, false), (520, false), (1500, false)];

#[test]
fn a_received_message_ends_where_its_data_units_let_it() {
    for (len, possible) in LENGTHS {
        let (mut nodes, key) = setup();
        let plain = nodes[0].key;
        nodes[0].key = key;
        nodes[0].post_receive(START, LEN as u32);
        nodes[0].key = plain;
        let seg = data_seg(BASE, len, nodes[1].key);
        nodes[1].post(SEND, &seg, true);
        settle(&mut nodes);
        let cqe = nodes[0].poll().expect("a CQE of the receive");
        let expected = if possible { (RECEIVE, 0) } else { (RECEIVE_FAILED, PROTECTION) };
        assert_eq!((cqe[63] >> 4, if possible { 0 } else { cqe[55] }), expected, "{len}");
    }
}

#[test]
fn a_read_ends_where_its_data_units_let_it() {
    for (len, possible) in LENGTHS {
        let (mut nodes, key) = setup();
        let mut body = [0; 32];
        body[..8].copy_from_slice(&BASE.to_be_bytes());
        body[8..12].copy_from_slice(&nodes[1].key.to_be_bytes());
        body[16..].copy_from_slice(&data_seg(START, len, key));
        nodes[0].post(READ, &body, true);
        settle(&mut nodes);
        let cqe = nodes[0].poll().expect("a CQE of the READ");
        let syndrome = if cqe[63] >> 4 == 13 { cqe[55] } else { 0 };
        assert_eq!(syndrome, if possible { 0 } else { PROTECTION }, "{len}");
    }
}
