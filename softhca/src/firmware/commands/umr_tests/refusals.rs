//! Changes that the device refuses, and any bytes.

use super::driver::*;
use crate::config::LinkLayer;
use crate::firmware::pair_bench::{Qp, connect, mailbox, pair, settle};
use crate::firmware::status::Status;
use crate::memory::test_memory::BASE;

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
    let other = nodes[0].number(&mailbox(16, &[(0, &[8, 0])]));
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
        // The list: a missing key, missing bytes.
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
        // The highest of six bits has a mask of its own, which this device has not.
        (with(&|umr| umr.context.log_page_size = 32 + 12), 0),
        (with(&|umr| umr.mask |= 1 << 42), BIND),
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
