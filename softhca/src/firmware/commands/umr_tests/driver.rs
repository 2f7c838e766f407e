//! The driver: its contexts, WQEs and queues.

use crate::config::LinkLayer;
use crate::firmware::pair_bench::{Node, Qp, connect, data_seg, mailbox, pair, settle};
use crate::firmware::status::Status;
use crate::memory::test_memory::BASE;

pub(super) const RC: u8 = 0;
pub(super) const REG_UMR: u8 = 0xc;
pub(super) const OPCODE_UMR: u8 = 0x25;
pub(super) const SEND: u8 = 0x0a;

/// `mkey_mask`: the fields that the driver changes when it registers memory of a user, and of the kernel.
pub(super) const ENABLE: u64 = 1 << 13 | 1 << 29;
pub(super) const ACCESS: u64 = 0x1f << 17;
pub(super) const PD: u64 = 1 << 7;
pub(super) const TRANSLATION: u64 = 1 | 1 << 1 | 1 << 6;
pub(super) const FREE: u64 = 1 << 29;
pub(super) const FAST: u64 = TRANSLATION | 1 << 8 | 1 << 13 | 0xf << 17 | 1 << 23 | FREE;

/// `flags` of the UMR control segment.
pub(super) const OFFSET: u8 = 1 << 4;
pub(super) const CHECK_NOT_FREE: u8 = 1 << 5;
pub(super) const CHECK_FREE: u8 = 2 << 5;
pub(super) const INLINE: u8 = 1 << 7;

/// First word of a memory key context: rights, and access modes.
pub(super) const ALL_RIGHTS: u32 = 0x1f << 10;
pub(super) const UMR_EN: u32 = 1 << 15;
pub(super) const MKC_FREE: u32 = 1 << 30;
pub(super) const MTT: u32 = 1 << 8;
pub(super) const KLM: u32 = 2 << 8;

/// Error syndromes: local QP operation, local protection, memory window bind.
pub(super) const LOCAL_QP: u8 = 2;
pub(super) const PROTECTION: u8 = 4;
pub(super) const BIND: u8 = 6;

/// A memory key context.
#[derive(Clone, Copy, Default)]
pub(super) struct Context {
    pub(super) first: u32,
    pub(super) variant: u8,
    pub(super) pd: u32,
    pub(super) start: u64,
    pub(super) len: u64,
    pub(super) octwords: u32,
    pub(super) log_page_size: u8,
}

impl Context {
    pub(super) fn bytes(self) -> [u8; 64] {
        let mut bytes = [0; 64];
        for (at, word) in [
            (0, self.first),
            (4, 0xffff_ff00 | u32::from(self.variant)),
            (0xc, self.pd),
            (0x34, self.octwords),
            (0x38, 0),
            (0x38, u32::from(self.log_page_size)),
        ] {
            bytes[at..at + 4].copy_from_slice(&word.to_be_bytes());
        }
        bytes[0x10..0x18].copy_from_slice(&self.start.to_be_bytes());
        bytes[0x18..0x20].copy_from_slice(&self.len.to_be_bytes());
        bytes
    }

    /// `CREATE_MKEY` with a list of pages, of which those in use may be fewer.
    pub(super) fn create(self, node: &mut Node, list: &[u64]) -> u32 {
        let mut input = mailbox(0x110, &[(0, &[2, 0]), (0x10, &self.bytes())]);
        input[0x60..0x64].copy_from_slice(&(list.len() as u32).div_ceil(2).to_be_bytes());
        input.extend(list.iter().flat_map(|page| page.to_be_bytes()));
        node.number(&input) << 8 | u32::from(self.variant)
    }
}

/// The segments after the control segment of a UMR WQE.
#[derive(Clone)]
pub(super) struct Umr {
    pub(super) flags: u8,
    pub(super) octwords: u16,
    pub(super) offset: u64,
    pub(super) mask: u64,
    pub(super) context: Context,
    pub(super) tail: Vec<u8>,
}

impl Umr {
    pub(super) fn new(flags: u8, mask: u64, context: Context) -> Self {
        Self { flags, octwords: 0, offset: 0, mask, context, tail: Vec::new() }
    }

    /// Puts the entries into the WQE itself.
    pub(super) fn inline(self, entries: &[u64]) -> Self {
        let mut tail: Vec<u8> = entries.iter().flat_map(|entry| entry.to_be_bytes()).collect();
        tail.resize(tail.len().next_multiple_of(64), 0xee);
        Self { flags: self.flags | INLINE, octwords: (tail.len() / 16) as u16, tail, ..self }
    }

    /// With entries in memory, which the driver writes in multiples of 64 bytes.
    pub(super) fn by_reference(self, node: &Node, at: u64, lkey: u32, entries: &[u64]) -> Self {
        let mut bytes: Vec<u8> = entries.iter().flat_map(|entry| entry.to_be_bytes()).collect();
        bytes.resize(bytes.len().next_multiple_of(64), 0);
        node.write(at, &bytes);
        let len = bytes.len() as u32;
        Self { octwords: (len / 16) as u16, tail: data_seg(at, len, lkey).to_vec(), ..self }
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; 48];
        bytes[0] = self.flags;
        bytes[4..6].copy_from_slice(&self.octwords.to_be_bytes());
        bytes[6..8].copy_from_slice(&(self.offset as u16).to_be_bytes());
        bytes[8..16].copy_from_slice(&self.mask.to_be_bytes());
        bytes[16..20].copy_from_slice(&((self.offset >> 16) as u32).to_be_bytes());
        bytes.extend(self.context.bytes());
        bytes.extend(&self.tail);
        bytes
    }
}

/// Makes a QP as `create_kernel_qp` does: it may name the reserved key, and register memory. One for UMR has no PD, and
/// no receive ring.
pub(super) fn create_kernel_qp(node: &mut Node, st: u8) {
    let mut input = node.qp_mailbox(&Qp { st, srqn: None });
    // rlky, fre.
    input[0x23] |= 0x10;
    input[0x8a] |= 8;
    if st == REG_UMR {
        // latency_sensitive in place of the PD; rq_type 3.
        input[0x1c..0x20].copy_from_slice(&[0x10, 0, 0, 0]);
        input[0x21] = 0;
        input[0xc4] = 3;
    }
    node.create_qp_by(&input);
}

/// Goes to RTS like `mlx5r_umr_qp_rst2rts`: port 1, MTU 4096, and nothing else.
pub(super) fn umr_qp_to_rts(node: &mut Node) {
    let pd = node.pd.to_be_bytes();
    for (opcode, first) in [(2, 0x58), (3, 0x58), (4, 0x58)] {
        let mut input =
            node.transition(opcode, &[(0x19, &[REG_UMR, 0x18]), (0x1c, &pd), (0x20, &[5 << 5 | 12]), (0x55, &[1])]);
        // rlky at its first transition; log_ack_req_freq always.
        input[0x23] = if opcode == 2 { 0x10 } else { 0 };
        input[0x88] = first & 0xf0;
        assert_eq!(node.status(&input), Status::Ok, "{opcode}");
    }
}

pub(super) fn umr_node() -> [Node; 2] {
    let mut nodes = pair(LinkLayer::Ethernet);
    create_kernel_qp(&mut nodes[0], REG_UMR);
    umr_qp_to_rts(&mut nodes[0]);
    nodes
}

/// Posts a UMR WQE; gives the syndrome of its CQE, 0 of a good one. `own_ring`: a receive ring is before the send ring.
pub(super) fn change(nodes: &mut [Node; 2], key: u32, umr: &Umr, own_ring: bool) -> u8 {
    nodes[0].post_with(OPCODE_UMR, key, &umr.bytes(), own_ring);
    settle(nodes);
    let cqe = nodes[0].poll().expect("a CQE");
    assert_eq!(cqe[56], OPCODE_UMR);
    match cqe[63] >> 4 {
        0 => 0,
        13 => cqe[55],
        other => panic!("a CQE of opcode {other}"),
    }
}

/// `QUERY_MKEY`: the context.
pub(super) fn query(node: &mut Node, key: u32) -> Vec<u8> {
    let [a, b, c, _] = key.to_be_bytes();
    node.bench.execute(&[2, 1, 0, 0, 0, 0, 0, 0, 0, a, b, c, 0, 0, 0, 0], 0x130).expect("a key")[0x10..0x50].to_vec()
}

/// All memory by its addresses, as `mlx5_ib_get_dma_mr` makes it, of this PD.
pub(super) fn all_memory(node: &mut Node, pd: u32) -> u32 {
    Context { first: 3 << 10, pd: 1 << 31 | pd, ..Context::default() }.create(node, &[])
}

/// A key of the driver's cache (`set_cache_mkc`): free, of 4 entries.
pub(super) fn cached(node: &mut Node, pd: u32) -> Context {
    let first = MKC_FREE | UMR_EN | MTT | 1 << 10;
    let context = Context { first, pd, octwords: 2, log_page_size: 12, ..Context::default() };
    let key = context.create(node, &[]);
    Context { len: key.into(), ..context }
}

/// As the driver goes on after an error (`mlx5r_umr_recover`): one more WQE, which is flushed; reset; and again to
/// ready.
pub(super) fn recover(node: &mut Node) {
    assert_eq!(node.status(&node.on_qp(0xa)), Status::Ok);
    node.reset_rings();
    umr_qp_to_rts(node);
}

/// Two connected QPs, as a kernel makes them, and a free key on the first node (`mlx5_ib_alloc_mr`).
pub(super) fn kernel_pair(mode: u32) -> ([Node; 2], u32) {
    let mut nodes = pair(LinkLayer::Ethernet);
    nodes.iter_mut().for_each(|node| create_kernel_qp(node, RC));
    connect(&mut nodes);
    let pd = nodes[0].pd;
    let context = Context { first: MKC_FREE | UMR_EN | mode | 1 << 10, pd, octwords: 4, ..Context::default() };
    let key = Context { log_page_size: 12, variant: 7, ..context }.create(&mut nodes[0], &[]);
    (nodes, key)
}

/// Sends 8 bytes at `addr` by `key`; gives the syndrome of the CQE.
pub(super) fn send(nodes: &mut [Node; 2], addr: u64, key: u32) -> u8 {
    nodes[1].post_receive(BASE, 8);
    nodes[0].post(SEND, &data_seg(addr, 8, key), true);
    settle(nodes);
    let cqe = nodes[0].poll().expect("a CQE");
    if cqe[63] >> 4 == 13 { cqe[55] } else { 0 }
}
