//! Keys that the driver changes, and the memory behind them.

use super::driver::*;
use crate::config::LinkLayer;
use crate::firmware::pair_bench::{Qp, connect, data_seg, mailbox, pair, settle};
use crate::firmware::status::Status;
use crate::memory::test_memory::BASE;

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
