//! Changing memory keys by WQEs, as Linux' `mlx5_ib` makes, registers, invalidates and revokes them
//! (`drivers/infiniband/hw/mlx5`: `umr.c`, `wr.c`, `mr.c`, `qp.c`). Bytes are at offsets that are written down here.

use crate::config::LinkLayer;
use crate::firmware::pair_bench::{Node, Qp, connect, data_seg, mailbox, pair, settle};
use crate::firmware::status::Status;
use crate::memory::test_memory::BASE;

const RC: u8 = 0;
const REG_UMR: u8 = 0xc;
const OPCODE_UMR: u8 = 0x25;
const SEND: u8 = 0x0a;

/// `mkey_mask`: the fields that the driver changes when it registers memory of a user, and of the kernel.
const ENABLE: u64 = 1 << 13 | 1 << 29;
const ACCESS: u64 = 0x1f << 17;
const PD: u64 = 1 << 7;
const TRANSLATION: u64 = 1 | 1 << 1 | 1 << 6;
const FREE: u64 = 1 << 29;
const FAST: u64 = TRANSLATION | 1 << 8 | 1 << 13 | 0xf << 17 | 1 << 23 | FREE;

/// `flags` of the UMR control segment.
const OFFSET: u8 = 1 << 4;
const CHECK_NOT_FREE: u8 = 1 << 5;
const CHECK_FREE: u8 = 2 << 5;
const INLINE: u8 = 1 << 7;

/// First word of a memory key context: rights, and access modes.
const ALL_RIGHTS: u32 = 0x1f << 10;
const UMR_EN: u32 = 1 << 15;
const MKC_FREE: u32 = 1 << 30;
const MTT: u32 = 1 << 8;
const KLM: u32 = 2 << 8;

/// Error syndromes: local QP operation, local protection, memory window bind.
const LOCAL_QP: u8 = 2;
const PROTECTION: u8 = 4;
const BIND: u8 = 6;

/// A memory key context.
#[derive(Clone, Copy, Default)]
struct Context {
    first: u32,
    variant: u8,
    pd: u32,
    start: u64,
    len: u64,
    octwords: u32,
    log_page_size: u8,
}

impl Context {
    fn bytes(self) -> [u8; 64] {
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
    fn create(self, node: &mut Node, list: &[u64]) -> u32 {
        let mut input = mailbox(0x110, &[(0, &[2, 0]), (0x10, &self.bytes())]);
        input[0x60..0x64].copy_from_slice(&(list.len() as u32).div_ceil(2).to_be_bytes());
        input.extend(list.iter().flat_map(|page| page.to_be_bytes()));
        node.number(&input) << 8 | u32::from(self.variant)
    }
}

/// The segments after the control segment of a UMR WQE.
#[derive(Clone)]
struct Umr {
    flags: u8,
    octwords: u16,
    offset: u64,
    mask: u64,
    context: Context,
    tail: Vec<u8>,
}

impl Umr {
    fn new(flags: u8, mask: u64, context: Context) -> Self {
        Self { flags, octwords: 0, offset: 0, mask, context, tail: Vec::new() }
    }

    /// Puts the entries into the WQE itself.
    fn inline(self, entries: &[u64]) -> Self {
        let mut tail: Vec<u8> = entries.iter().flat_map(|entry| entry.to_be_bytes()).collect();
        tail.resize(tail.len().next_multiple_of(64), 0xee);
        Self { flags: self.flags | INLINE, octwords: (tail.len() / 16) as u16, tail, ..self }
    }

    /// With entries in memory, which the driver writes in multiples of 64 bytes.
    fn by_reference(self, node: &Node, at: u64, lkey: u32, entries: &[u64]) -> Self {
        let mut bytes: Vec<u8> = entries.iter().flat_map(|entry| entry.to_be_bytes()).collect();
        bytes.resize(bytes.len().next_multiple_of(64), 0);
        node.write(at, &bytes);
        let len = bytes.len() as u32;
        Self { octwords: (len / 16) as u16, tail: data_seg(at, len, lkey).to_vec(), ..self }
    }

    fn bytes(&self) -> Vec<u8> {
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
fn create_kernel_qp(node: &mut Node, st: u8) {
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

/// As `mlx5r_umr_qp_rst2rts`: port 1, MTU 4096, and nothing else.
fn umr_qp_to_rts(node: &mut Node) {
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

fn umr_node() -> [Node; 2] {
    let mut nodes = pair(LinkLayer::Ethernet);
    create_kernel_qp(&mut nodes[0], REG_UMR);
    umr_qp_to_rts(&mut nodes[0]);
    nodes
}

/// Posts a UMR WQE; gives the syndrome of its CQE, 0 of a good one. `own_ring`: a receive ring is before the send ring.
fn change(nodes: &mut [Node; 2], key: u32, umr: &Umr, own_ring: bool) -> u8 {
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
fn query(node: &mut Node, key: u32) -> Vec<u8> {
    let [a, b, c, _] = key.to_be_bytes();
    node.bench.execute(&[2, 1, 0, 0, 0, 0, 0, 0, 0, a, b, c, 0, 0, 0, 0], 0x130).expect("a key")[0x10..0x50].to_vec()
}

/// All memory by its addresses, as `mlx5_ib_get_dma_mr` makes it, of this PD.
fn all_memory(node: &mut Node, pd: u32) -> u32 {
    Context { first: 3 << 10, pd: 1 << 31 | pd, ..Context::default() }.create(node, &[])
}

/// A key of the driver's cache (`set_cache_mkc`): free, of 4 entries.
fn cached(node: &mut Node, pd: u32) -> Context {
    let first = MKC_FREE | UMR_EN | MTT | 1 << 10;
    let context = Context { first, pd, octwords: 2, log_page_size: 12, ..Context::default() };
    let key = context.create(node, &[]);
    Context { len: key.into(), ..context }
}

#[test]
fn a_user_registers_memory_by_a_key_of_the_cache_and_gives_it_back() {
    let mut nodes = umr_node();
    let node = &mut nodes[0];
    let pd = node.pd;
    let own = node.number(&mailbox(16, &[(0, &[8, 0])]));
    let lkey = all_memory(node, own);
    let key = cached(node, own).len as u32;
    assert_eq!(query(node, key)[0] & 0x40, 0x40, "free");
    // Pages 3 and 1, from byte 0x800 on.
    let pages = [BASE + 0x3000 + 3, BASE + 0x1000 + 3];
    let region =
        Context { first: ALL_RIGHTS, pd, start: 0x5_0800, len: 0x1000, log_page_size: 12, ..Context::default() };
    let mask = ENABLE | ACCESS | PD | TRANSLATION;
    let umr = Umr::new(CHECK_NOT_FREE, mask, region).by_reference(node, BASE, lkey, &pages);
    assert_eq!(change(&mut nodes, key, &umr, false), 0);
    let found = query(&mut nodes[0], key);
    assert_eq!(found[..4], [0, 0, 0xfd, 0], "umr_en, all rights and its mode, and not free");
    assert_eq!(found[0xc..0x20], region.bytes()[0xc..0x20]);
    assert!(nodes[0].bench.device.free_pd(own).is_err(), "of the key that the list is read by");

    // Another PD and other rights; then as `mlx5r_umr_revoke_mr` does it.
    let access = Context { first: 1 << 10 | 1 << 13, pd: own, ..Context::default() };
    let rereg = Umr::new(CHECK_FREE | INLINE, ACCESS | PD, access);
    assert_eq!(change(&mut nodes, key, &rereg, false), BIND, "remote write without local write");
    recover(&mut nodes[0]);
    let access = Context { first: 3 << 10, ..access };
    let rereg = Umr::new(CHECK_FREE | INLINE, ACCESS | PD, access);
    assert_eq!(change(&mut nodes, key, &rereg, false), 0);
    assert_eq!(query(&mut nodes[0], key)[..4], [0, 0, 0x8d, 0]);
    assert_eq!(query(&mut nodes[0], key)[0xd..0x10], own.to_be_bytes()[1..]);
    let revoke = Umr::new(INLINE, PD | FREE, Context { first: MKC_FREE, pd: own, ..Context::default() });
    assert_eq!(change(&mut nodes, key, &revoke, false), 0);
    assert_eq!(query(&mut nodes[0], key)[0] & 0x40, 0x40, "free");
    assert_eq!(change(&mut nodes, key, &rereg, false), BIND, "it is free");
    recover(&mut nodes[0]);
    // Its PD is as busy as one key of it makes it.
    let [a, b, c, _] = key.to_be_bytes();
    assert_eq!(nodes[0].status(&[2, 2, 0, 0, 0, 0, 0, 0, 0, a, b, c, 0, 0, 0, 0]), Status::Ok);
    let [a, b, c, _] = lkey.to_be_bytes();
    assert_eq!(nodes[0].status(&[2, 2, 0, 0, 0, 0, 0, 0, 0, a, b, c, 0, 0, 0, 0]), Status::Ok);
    assert!(nodes[0].bench.device.free_pd(own).is_ok());
}

/// As the driver goes on after an error (`mlx5r_umr_recover`): one more WQE, which is flushed; reset; and again to
/// ready.
fn recover(node: &mut Node) {
    assert_eq!(node.status(&node.on_qp(0xa)), Status::Ok);
    node.reset_rings();
    umr_qp_to_rts(node);
}

#[test]
fn after_an_error_what_follows_is_flushed_and_a_reset_queue_goes_on() {
    let mut nodes = umr_node();
    let pd = nodes[0].pd;
    let key = cached(&mut nodes[0], pd).len as u32;
    let nothing = Umr::new(INLINE, FREE, Context { first: MKC_FREE, ..Context::default() });
    let bad = Umr::new(INLINE | CHECK_FREE, FREE, Context::default());
    nodes[0].post_with(OPCODE_UMR, key, &bad.bytes(), false);
    nodes[0].post_with(OPCODE_UMR, key, &nothing.bytes(), false);
    settle(&mut nodes);
    let syndromes: Vec<u8> = std::iter::from_fn(|| nodes[0].poll()).map(|cqe| cqe[55]).collect();
    assert_eq!(syndromes, [BIND, 5]);
    assert_eq!(nodes[0].bench.execute(&nodes[0].on_qp(0xb), 0x110).expect("a context")[0x18] >> 4, 6);
    nodes[0].post_with(OPCODE_UMR, key, &nothing.bytes(), false);
    settle(&mut nodes);
    assert_eq!(nodes[0].poll().expect("a CQE")[55], 5);
    recover(&mut nodes[0]);
    assert_eq!(change(&mut nodes, key, &nothing, false), 0);
}

#[test]
fn a_long_list_comes_in_parts() {
    let mut nodes = umr_node();
    let node = &mut nodes[0];
    let pd = node.pd;
    let lkey = all_memory(node, pd);
    let first = MKC_FREE | UMR_EN | MTT | 1 << 10;
    let key = Context { first, pd, octwords: 8, log_page_size: 12, ..Context::default() }.create(node, &[]);
    let page = |n: u64| BASE + n * 0x1000 + 3;
    let region = Context { first: ALL_RIGHTS, pd, start: 0, len: 10 * 0x1000, log_page_size: 12, ..Context::default() };
    let parts: [Vec<u64>; 2] = [(0..8).rev().map(page).collect(), (8..10).rev().map(page).collect()];
    let part = Umr::new(CHECK_NOT_FREE, 0, region).by_reference(node, BASE + 0x4_0000 - 64, lkey, &parts[0]);
    assert_eq!(change(&mut nodes, key, &part, false), 0);
    let mask = ENABLE | ACCESS | PD | TRANSLATION;
    let mut part = Umr::new(CHECK_NOT_FREE | OFFSET, mask, region);
    part = part.by_reference(&nodes[0], BASE + 0x4_0000 - 64, lkey, &parts[1]);
    part.offset = 4;
    assert_eq!(change(&mut nodes, key, &part, false), 0);
    // Peers and the device access the memory after the change; the QP is another now.
    let [node, peer] = &mut nodes;
    assert_eq!(node.status(&node.on_qp(1)), Status::Ok);
    for node in [&mut *node, peer] {
        node.create_qp(&Qp { st: RC, srqn: None });
    }
    connect(&mut nodes);
    let [node, peer] = &mut nodes;
    node.write(BASE + 0x7ffe, b"to");
    node.write(BASE + 0x6000, b"gether");
    peer.post_receive(BASE, 8);
    node.post(SEND, &data_seg(0xffe, 8, key), true);
    settle(&mut nodes);
    assert_eq!(nodes[1].read(BASE, 8), b"together");
}

/// Two connected QPs, as a kernel makes them, and a free key on the first node (`mlx5_ib_alloc_mr`).
fn kernel_pair(mode: u32) -> ([Node; 2], u32) {
    let mut nodes = pair(LinkLayer::Ethernet);
    nodes.iter_mut().for_each(|node| create_kernel_qp(node, RC));
    connect(&mut nodes);
    let pd = nodes[0].pd;
    let context = Context { first: MKC_FREE | UMR_EN | mode | 1 << 10, pd, octwords: 4, ..Context::default() };
    let key = Context { log_page_size: 12, variant: 7, ..context }.create(&mut nodes[0], &[]);
    (nodes, key)
}

/// Sends 8 bytes at `addr` by `key`; gives the syndrome of the CQE.
fn send(nodes: &mut [Node; 2], addr: u64, key: u32) -> u8 {
    nodes[1].post_receive(BASE, 8);
    nodes[0].post(SEND, &data_seg(addr, 8, key), true);
    settle(nodes);
    let cqe = nodes[0].poll().expect("a CQE");
    if cqe[63] >> 4 == 13 { cqe[55] } else { 0 }
}

#[test]
fn a_kernels_fast_registration_gives_the_key_another_byte_and_invalidation_takes_it() {
    let (mut nodes, old) = kernel_pair(MTT);
    let pd = nodes[0].pd;
    let key = old + 1;
    let region = Context {
        first: 1 << 15 | 7 << 10 | MTT,
        variant: 8,
        start: 0x9000,
        len: 0x1800,
        octwords: 4,
        log_page_size: 12,
        ..Context::default()
    };
    let region = Context { pd: 1 << 24, ..region };
    let pages = [BASE + 0x4000 + 3, BASE + 0x2000 + 3];
    // The WQE holds more entries than it means; the driver leaves old bytes of the ring there.
    let register = Umr::new(CHECK_NOT_FREE, FAST, region).inline(&pages);
    nodes[0].write(BASE + 0x4ffc, b"fast");
    nodes[0].write(BASE + 0x2000, b"reg!");
    assert_eq!(change(&mut nodes, key, &register, true), 0);
    assert_eq!(send(&mut nodes, 0x9ffc, key), 0);
    assert_eq!(nodes[1].read(BASE, 8), b"fastreg!");
    assert_eq!(query(&mut nodes[0], key)[7], 8);
    assert_eq!(query(&mut nodes[0], key)[0xc] & 1, 1, "en_rinval");
    assert_eq!(query(&mut nodes[0], key)[0xd..0x10], pd.to_be_bytes()[1..], "it stays in its PD");
    // As `set_linv_wr`.
    let invalidate = Umr::new(INLINE, FREE, Context { first: MKC_FREE, ..Context::default() });
    assert_eq!(change(&mut nodes, key, &invalidate, true), 0);
    let again = Umr { context: Context { variant: 9, ..region }, ..register };
    assert_eq!(change(&mut nodes, key + 1, &again, true), 0);
    assert_eq!(send(&mut nodes, 0x9ffc, key), PROTECTION, "the key's byte is another now");
}

#[test]
fn peers_may_invalidate_a_registration_which_is_then_free() {
    let (mut nodes, old) = kernel_pair(MTT);
    let region =
        Context { first: 0x1f << 10, variant: 7, start: 0, len: 0x1000, log_page_size: 12, ..Context::default() };
    let register = Umr::new(CHECK_NOT_FREE, FAST, Context { pd: 1 << 24, ..region }).inline(&[BASE + 0x4000 + 3]);
    assert_eq!(change(&mut nodes, old, &register, true), 0);
    nodes[0].post_receive(BASE, 8);
    let lkey = nodes[1].key;
    nodes[1].post_with(1, old, &data_seg(BASE, 4, lkey), true);
    settle(&mut nodes);
    assert_eq!(nodes[0].poll().expect("a receive")[63] >> 4, 4);
    assert_eq!(query(&mut nodes[0], old)[0] & 0x40, 0x40);
    assert_eq!(change(&mut nodes, old, &register, true), 0, "registered again");
    assert_eq!(change(&mut nodes, old, &register, true), BIND, "it is not free");
}

#[test]
fn pieces_are_registered_by_whoever_has_their_keys() {
    let mut nodes = pair(LinkLayer::Ethernet);
    // A user's QP: without the kernel's rights.
    nodes.iter_mut().for_each(|node| node.create_qp(&Qp { st: RC, srqn: None }));
    connect(&mut nodes);
    let (pd, memory) = (nodes[0].pd, nodes[0].key);
    let context = Context { first: MKC_FREE | UMR_EN | KLM | 1 << 10, pd, octwords: 4, ..Context::default() };
    let key = context.create(&mut nodes[0], &[]);
    let pieces = [4 << 32 | u64::from(memory), BASE + 0x1000, 4 << 32 | u64::from(memory), BASE + 0x3000];
    let region = Context { first: ALL_RIGHTS, start: 0x100, len: 8, ..Context::default() };
    let register = Umr::new(CHECK_NOT_FREE, 1 | 1 << 6 | ACCESS | FREE, region).inline(&pieces);
    nodes[0].write(BASE + 0x1000, b"user");
    nodes[0].write(BASE + 0x3000, b"mode");
    let longer = Umr { context: Context { len: u64::MAX - 1, ..region }, ..register.clone() };
    assert_eq!(change(&mut nodes, key, &register, true), 0);
    assert_eq!(send(&mut nodes, 0x100, key), 0);
    assert_eq!(nodes[1].read(BASE, 8), b"usermode");
    let longer = Umr { flags: INLINE, ..longer };
    assert_eq!(change(&mut nodes, key, &longer, true), BIND, "more than the pieces have");
}

/// A strided block is as rdma-core's `umr_strided_seg_create` writes it (`providers/mlx5/qp.c`).
#[test]
fn what_repeats_is_registered_if_its_block_is_whole() {
    let setup = || {
        let mut nodes = pair(LinkLayer::Ethernet);
        nodes.iter_mut().for_each(|node| node.create_qp(&Qp { st: RC, srqn: None }));
        connect(&mut nodes);
        let context =
            Context { first: MKC_FREE | UMR_EN | KLM | 1 << 10, pd: nodes[0].pd, octwords: 8, ..Context::default() };
        let key = context.create(&mut nodes[0], &[]);
        (nodes, key)
    };
    // Bytes of a turn, turns, reserved bits, number of entries that follow. One entry has 3 bytes each 0x10, the other
    // has 1 each 4.
    let register = |memory: u32, [bytes, turns, reserved, entries]: [u64; 4]| {
        let memory = u64::from(memory);
        let block = [bytes << 32 | 0x400, turns << 32 | reserved << 16 | entries];
        let rest = [0x10_0003 << 32 | memory, BASE + 0x1000, 0x4_0001 << 32 | memory, BASE + 0x3000, 0, 0];
        let region = Context { first: ALL_RIGHTS, len: 8, ..Context::default() };
        Umr::new(0, 1 | ACCESS | FREE, region).inline(&[&block[..], &rest].concat())
    };
    let (mut nodes, key) = setup();
    let good = register(nodes[0].key, [4, 2, 0, 2]);
    nodes[0].write(BASE + 0x1000, b"str............ded");
    nodes[0].write(BASE + 0x1010, b"ded");
    nodes[0].write(BASE + 0x3000, b"i...!");
    assert_eq!(change(&mut nodes, key, &good, true), 0);
    assert_eq!(send(&mut nodes, 0, key), 0);
    assert_eq!(nodes[1].read(BASE, 8), b"strided!");
    for (wrong, why) in [
        ([5, 2, 0, 2], "more bytes than its entries have"),
        ([3, 2, 0, 2], "fewer"),
        ([4, 2, 1, 2], "reserved bits"),
        ([4, 2, 0, 1], "an entry too few, so that its bytes are others"),
        ([4, 2, 0, 9], "entries that are not there"),
        ([4, 1, 0, 2], "a region that is longer"),
        ([4, 0, 0, 2], "no turns"),
    ] {
        let (mut nodes, key) = setup();
        let register = register(nodes[0].key, wrong);
        assert_eq!(change(&mut nodes, key, &register, true), BIND, "{why}");
    }
}

#[test]
fn users_change_neither_pages_nor_what_is_not_of_their_domain() {
    let setup = || {
        let mut nodes = pair(LinkLayer::Ethernet);
        nodes.iter_mut().for_each(|node| node.create_qp(&Qp { st: RC, srqn: None }));
        connect(&mut nodes);
        nodes
    };
    let free = Umr::new(INLINE, FREE, Context { first: MKC_FREE, ..Context::default() });
    // Pages, though of its PD; a key of another PD; another PD for its own; a key that is not for changes.
    let mut nodes = setup();
    let pd = nodes[0].pd;
    let key = cached(&mut nodes[0], pd).len as u32;
    assert_eq!(change(&mut nodes, key, &free, true), BIND);
    let mut nodes = setup();
    let other = nodes[0].number(&mailbox(16, &[(0, &[8, 0])]));
    let context = Context { first: MKC_FREE | UMR_EN | KLM | 1 << 10, pd: other, octwords: 4, ..Context::default() };
    let key = context.create(&mut nodes[0], &[]);
    assert_eq!(change(&mut nodes, key, &free, true), BIND);
    let mut nodes = setup();
    let key = Context { pd, ..context }.create(&mut nodes[0], &[]);
    let elsewhere = Umr::new(INLINE, PD, Context { pd: other, ..Context::default() });
    assert_eq!(change(&mut nodes, key, &elsewhere, true), BIND);
    let mut nodes = setup();
    let key = nodes[0].key;
    assert_eq!(change(&mut nodes, key, &free, true), BIND);
}

#[test]
fn what_no_driver_means_is_refused_and_changes_nothing() {
    let mut nodes = umr_node();
    let pd = nodes[0].pd;
    let lkey = all_memory(&mut nodes[0], pd);
    let key = cached(&mut nodes[0], pd).len as u32;
    let region = Context { first: ALL_RIGHTS, pd, start: 0, len: 0x2000, log_page_size: 12, ..Context::default() };
    let mask = ENABLE | ACCESS | PD | TRANSLATION;
    let pages = [BASE + 3, BASE + 0x1000 + 3];
    let good = Umr::new(CHECK_NOT_FREE, mask, region).by_reference(&nodes[0], BASE + 0x2000, lkey, &pages);
    let before = query(&mut nodes[0], key);
    let inline = Umr::new(CHECK_NOT_FREE, mask, region).inline(&pages);
    let with = |change: &dyn Fn(&mut Umr)| {
        let mut umr = good.clone();
        change(&mut umr);
        umr
    };
    let cases = [
        // Flags: one without a meaning; both checks at once.
        (with(&|umr| umr.flags |= 1), LOCAL_QP),
        (with(&|umr| umr.flags |= 4), LOCAL_QP),
        (with(&|umr| umr.flags |= CHECK_FREE), LOCAL_QP),
        // Formats behind a list in memory; an offset that is not said to be one; half a unit; formats of a key without.
        (with(&|umr| umr.offset = 4), LOCAL_QP),
        (with(&|umr| umr.offset = 1 << 16), LOCAL_QP),
        (with(&|umr| umr.octwords = 2), LOCAL_QP),
        (with(&|umr| umr.mask |= 1 << 12), BIND),
        (with(&|umr| umr.mask |= 1 << 10), LOCAL_QP),
        (with(&|umr| umr.mask |= 1 << 63), LOCAL_QP),
        // More than the data segment has; none; inline entries that are not there, or too many.
        (with(&|umr| umr.octwords = 8), LOCAL_QP),
        (with(&|umr| umr.tail.clear()), LOCAL_QP),
        (Umr { octwords: 8, ..inline.clone() }, LOCAL_QP),
        (Umr { octwords: 0, ..inline.clone() }, LOCAL_QP),
        // Another mode, which does not change; reserved bits of the context.
        (with(&|umr| umr.context.first |= 3 << 8), 0),
        (with(&|umr| umr.context.first |= 1), LOCAL_QP),
        (with(&|umr| umr.context.first |= 1 << 31), LOCAL_QP),
        (with(&|umr| umr.context.first |= 0x40), LOCAL_QP),
        // The list: a key that is not there, bytes that are not there.
        (with(&|umr| umr.tail[4..8].copy_from_slice(&0x7700_u32.to_be_bytes())), PROTECTION),
        (with(&|umr| umr.tail[8] = 0x80), PROTECTION),
        // More than the key has room for, and far more.
        (with(&|umr| (umr.flags, umr.offset) = (umr.flags | OFFSET, 4)), BIND),
        (with(&|umr| (umr.flags, umr.offset) = (umr.flags | OFFSET, (1 << 48) - 4)), BIND),
        (with(&|umr| umr.context.len = 0x4_0000), BIND),
        (with(&|umr| umr.context.len = u64::MAX - 1), BIND),
        (with(&|umr| (umr.context.start, umr.context.len) = (0xfff, 0x7002)), BIND),
        // Contexts that no key can have.
        (with(&|umr| umr.context.log_page_size = 11), BIND),
        (with(&|umr| umr.context.pd = 0xff_ffff), BIND),
        (with(&|umr| umr.context.pd = 0), BIND),
        (with(&|umr| umr.context.first &= !(1 << 10)), BIND),
        (with(&|umr| umr.context.first &= !(1 << 11)), BIND),
        (with(&|umr| (umr.mask, umr.context.first) = (umr.mask | 1 << 25, umr.context.first | 1 << 18)), BIND),
        (with(&|umr| umr.flags = CHECK_FREE), BIND),
    ];
    for (number, (umr, expected)) in cases.iter().enumerate() {
        assert_eq!(change(&mut nodes, key, umr, false), *expected, "{number}");
        if *expected == 0 {
            // Modes are not changed, and not looked at.
            let revoke = Umr::new(INLINE, PD | FREE, Context { first: MKC_FREE, pd, ..Context::default() });
            assert_eq!(change(&mut nodes, key, &revoke, false), 0);
            continue;
        }
        assert_eq!(query(&mut nodes[0], key)[0] & 0x40, before[0] & 0x40, "{number}");
        recover(&mut nodes[0]);
    }
    // Another byte of the key, and no key at all.
    let revoke = Umr::new(INLINE, FREE, Context { first: MKC_FREE, ..Context::default() });
    for wrong in [key + 1, 0xffff_ff00, 0] {
        assert_eq!(change(&mut nodes, wrong, &revoke, false), BIND, "{wrong:#x}");
        recover(&mut nodes[0]);
    }
    // Such a queue does nothing else.
    for opcode in [SEND, 0x08, 0x10] {
        nodes[0].post(opcode, &[0; 32], false);
        settle(&mut nodes);
        assert_eq!(nodes[0].poll().expect("a CQE")[55], LOCAL_QP);
        recover(&mut nodes[0]);
    }
    assert_eq!(change(&mut nodes, key, &good, false), 0, "as before");
}

#[test]
fn any_bytes_are_an_error_at_most() {
    let mut nodes = umr_node();
    let pd = nodes[0].pd;
    let key = cached(&mut nodes[0], pd).len as u32;
    let mut rng = fastrand::Rng::with_seed(25);
    for _ in 0..2000 {
        let mut body: Vec<u8> = vec![0; 16 * rng.usize(0..=62)];
        // Mostly zeros, so that some get far.
        for _ in 0..rng.usize(0..12) {
            if let Some(at) = (!body.is_empty()).then(|| rng.usize(0..body.len())) {
                body[at] = rng.u8(..);
            }
        }
        if body.len() > 16 && rng.bool() {
            body[0] = [0, INLINE, OFFSET, INLINE | OFFSET][rng.usize(0..4)];
        }
        nodes[0].post_with(OPCODE_UMR, key, &body, false);
        settle(&mut nodes);
        let failed = nodes[0].poll().expect("a CQE")[63] >> 4 == 13;
        if failed {
            recover(&mut nodes[0]);
        }
    }
}

#[test]
fn only_a_kernel_makes_queues_that_change_all_keys() {
    let mut nodes = pair(LinkLayer::Ethernet);
    let node = &mut nodes[0];
    let user = node.bench.user();
    for (kind, number) in [
        (crate::error::Object::Pd, node.pd),
        (crate::error::Object::Uar, node.uar),
        (crate::error::Object::Cq, node.cqn),
    ] {
        node.bench.firmware.set_owner(kind, number, user);
    }
    let mut of_user = node.qp_mailbox(&Qp { st: RC, srqn: None });
    of_user[2..4].copy_from_slice(&user.0.to_be_bytes());
    // st REG_UMR and QP1, rlky, fre, deth_sqpn.
    for (at, byte) in [(0x19, REG_UMR), (0x19, 8), (0x23, 0x10), (0x8a, 8)] {
        let mut wanted = of_user.clone();
        wanted[at] |= byte;
        assert_eq!(node.status(&wanted), Status::BadOperation, "{at:#x}");
    }
    let mut wanted = of_user.clone();
    (wanted[0x19], wanted[0x9b]) = (2, 1);
    assert_eq!(node.status(&wanted), Status::BadOperation, "sends as QP 1");
    assert_eq!(node.status(&of_user), Status::Ok);
}
