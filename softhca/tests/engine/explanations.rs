//! Why requests are refused and fail: the sentence for people, with the values and limits of the case.
//!
//! Sentences belong here, syndromes and states in `failures.rs`.

use crate::lab::*;
use softhca::context::{Access, QpAttr, QpState, Transport};

/// The explanations of a node since the last call.
pub(crate) fn told(node: &mut Node) -> Vec<String> {
    node.device.explanations().iter().map(ToString::to_string).collect()
}

/// Posts `bad`, and gives what both ends say: the requester and the responder.
fn said(lab: &mut Lab, bad: &Wr) -> (Vec<String>, Vec<String>) {
    lab.a.post(bad);
    lab.settle();
    (told(&mut lab.a), told(&mut lab.b))
}

/// The responder refuses `bad` with a NAK of this name, for this reason. The requester says that it was refused.
fn refused(lab: &mut Lab, bad: &Wr, nak: &str, reason: &str) {
    let (requester, responder) = said(lab, bad);
    let (from, by) = (lab.a.qpn, lab.b.qpn);
    let line = responder.last().expect("the responder says why");
    assert!(line.starts_with(&format!("QP {by:#x} refuses a request of QP {from:#x} (PSN 0x")), "{line}");
    assert!(line.ends_with(&format!(", {nak}): {reason}")), "{line}\n{reason}");
    assert_eq!(requester.len(), 1, "{requester:?}");
    assert!(requester[0].starts_with(&format!("QP {from:#x}: send WQE 0x0 fails (remote ")), "{requester:?}");
    assert!(requester[0].ends_with(&format!("): the peer has refused it: {nak}")), "{requester:?}");
}

pub(crate) fn no_memory(key: u32) -> String {
    format!("key {key:#x} names no memory: there is no such key, or no longer")
}

#[test]
fn keys_that_peers_may_not_use() {
    let access = "remote access error";
    let at = |lab: &Lab| (lab.b.data, lab.b.key);
    let mut lab = Lab::new(Options::default());
    let (addr, key) = at(&lab);
    refused(&mut lab, &Wr::write(addr, key ^ 1).inline(b"x"), access, &no_memory(key ^ 1));

    let mut lab = Lab::new(Options::default());
    let end = addr + DATA_BYTES as u64;
    let outside =
        format!("key {key:#x}: 2 bytes at {:#x} are outside of its region, 1048576 bytes at {addr:#x}", end - 1);
    refused(&mut lab, &Wr::write(end - 1, key).inline(b"xx"), access, &outside);

    let mut lab = Lab::new(Options::default());
    let key = lab.b.register(addr, 4096, Access { remote_read: true, ..Access::default() });
    let lacks = format!("key {key:#x} does not permit writes by peers (IBV_ACCESS_REMOTE_WRITE)");
    refused(&mut lab, &Wr::write(addr, key).inline(b"x"), access, &lacks);

    let mut lab = Lab::new(Options::default());
    let key = lab.b.register(addr, 4096, Access::default());
    let lacks = format!("key {key:#x} does not permit reads by peers (IBV_ACCESS_REMOTE_READ)");
    let read = Wr::read(addr, key).sge(lab.a.data, 8, lab.a.key);
    refused(&mut lab, &read, access, &lacks);

    let mut lab = Lab::new(Options::default());
    let key = lab.b.register(addr, 4096, ALL);
    lab.b.device.destroy_mkey(key).unwrap();
    refused(&mut lab, &Wr::write(addr, key).inline(b"x"), access, &no_memory(key));

    let mut lab = Lab::new(Options::default());
    let (own, other) = (lab.b.pd, lab.b.device.alloc_pd().unwrap());
    lab.b.pd = other;
    let key = lab.b.register(addr, 4096, ALL);
    let elsewhere = format!("key {key:#x} belongs to PD {other:#x}, the queue to PD {own:#x}");
    refused(&mut lab, &Wr::write(addr, key).inline(b"x"), access, &elsewhere);
}

#[test]
fn operations_that_a_queue_pair_does_not_permit() {
    let invalid = "invalid request";
    for (access, operation, flag) in [
        (Access { remote_write: false, ..ALL }, "WRITEs", "IBV_ACCESS_REMOTE_WRITE"),
        (Access { remote_read: false, ..ALL }, "READs", "IBV_ACCESS_REMOTE_READ"),
        (Access { remote_atomic: false, ..ALL }, "atomics", "IBV_ACCESS_REMOTE_ATOMIC"),
    ] {
        let mut lab = Lab::new(Options { access, ..Options::default() });
        let (addr, key) = (lab.b.data, lab.b.key);
        let bad = match operation {
            "WRITEs" => Wr::write(addr, key),
            "READs" => Wr::read(addr, key),
            _ => Wr::add(addr, key, 1),
        };
        let bad = bad.sge(lab.a.data, 8, lab.a.key);
        let reason = format!("the responder's QP does not permit {operation}: its qp_access_flags lack {flag}");
        refused(&mut lab, &bad, invalid, &reason);
    }
    let mut lab = Lab::new(Options::default());
    let (addr, key) = (lab.b.data + 4, lab.b.key);
    let bad = Wr::add(addr, key, 1).sge(lab.a.data, 8, lab.a.key);
    refused(&mut lab, &bad, invalid, &format!("an atomic of 8 bytes at {addr:#x}: not a multiple of 8"));

    let mut lab = Lab::new(Options { max_rd_atomic: 3, max_dest_rd_atomic: 2, mtu: 256, ..Options::default() });
    for _ in 0..3 {
        lab.a.post_silently(&Wr::read(lab.b.data, lab.b.key).sge(lab.a.data, 0x8000, lab.a.key));
    }
    lab.a.ring();
    lab.settle();
    let told = told(&mut lab.b);
    let reason = "a READ or atomic more than max_dest_rd_atomic, which is 2";
    assert!(told.len() == 1 && told[0].ends_with(reason), "{told:?}");
}

#[test]
fn receives_that_do_not_fit_or_are_not_there() {
    let mut lab = Lab::new(Options::default());
    lab.b.post_recv(&[(lab.b.data, 64)]);
    let bad = Wr::send().sge(lab.a.data, 65, lab.a.key);
    let reason = "a message of 65 bytes or more; the receive WQE has room for 64";
    let (_, responder) = said(&mut lab, &bad);
    let receive = format!("QP {:#x}: receive WQE 0x0 fails (local length error): {reason}", lab.b.qpn);
    assert_eq!(responder[0], receive);
    assert!(responder.len() == 2 && responder[1].ends_with(&format!("invalid request): {reason}")), "{responder:?}");

    let mut lab = Lab::new(Options::default());
    lab.b.post_recv_keys(&[(lab.b.data, 64, 0x7777)]);
    let (_, responder) = said(&mut lab, &Wr::send().inline(b"x"));
    let receive = format!("QP {:#x}: receive WQE 0x0 fails (local protection error): {}", lab.b.qpn, no_memory(0x7777));
    assert_eq!(responder[0], receive);
    assert!(responder.len() == 2 && responder[1].contains("remote operational error): key 0x7777"), "{responder:?}");

    let mut lab = Lab::new(Options { rnr_retry: 2, min_rnr_timer: 12, ..Options::default() });
    let (requester, responder) = said(&mut lab, &Wr::send().inline(b"x"));
    let reason = "the peer still has no receive posted after 2 retries (rnr_retry)";
    let line = format!("QP {:#x}: send WQE 0x0 fails (RNR retry counter exceeded): {reason}", lab.a.qpn);
    assert_eq!(requester, [line]);
    assert_eq!(responder.len(), 3);
    assert!(responder.iter().all(|line| line.ends_with(", RNR NAK): no receive is posted; 0 are consumed")));

    let mut lab = Lab::new(Options { srq: true, rnr_retry: 0, ..Options::default() });
    let srqn = lab.b.srqn.unwrap();
    let (_, responder) = said(&mut lab, &Wr::send().inline(b"x"));
    let reason = format!("no receive is posted to SRQ {srqn:#x}");
    assert!(responder.len() == 1 && responder[0].ends_with(&reason), "{responder:?}");

    let mut lab = Lab::new(Options::default());
    lab.b.post_recv(&[(lab.b.data, 64)]);
    let (_, responder) = said(&mut lab, &Wr::send().inline(b"x").invalidating(0x1234));
    let reason = format!("receive WQE 0x0 fails (remote invalid request error): {}", no_memory(0x1234));
    assert!(responder.len() == 1 && responder[0].ends_with(&reason), "{responder:?}");
}

/// UC tells the peer nothing, so the responder alone knows.
#[test]
fn messages_of_an_unreliable_connection() {
    let mut lab = Lab::new(Options { transport: Transport::Uc, ..Options::default() });
    let (addr, key) = (lab.b.data, lab.b.key ^ 1);
    let (requester, responder) = said(&mut lab, &Wr::write(addr, key).inline(b"x"));
    assert_eq!(requester, <[&str; 0]>::default());
    let begin = format!("QP {:#x} drops a message of QP {:#x} (PSN 0x", lab.b.qpn, lab.a.qpn);
    assert!(responder.len() == 1 && responder[0].starts_with(&begin), "{responder:?}");
    assert!(responder[0].ends_with(&no_memory(key)), "{responder:?}");
}

#[test]
fn requests_that_fail_at_home() {
    let failed = |lab: &mut Lab, bad: &Wr, syndrome: &str, reason: &str| {
        let (requester, responder) = said(lab, bad);
        let line = format!("QP {:#x}: send WQE 0x0 fails ({syndrome}): {reason}", lab.a.qpn);
        assert_eq!((requester, responder), (vec![line], vec![]));
    };
    let mut lab = Lab::new(Options::default());
    let (addr, key, to, rkey) = (lab.a.data, lab.a.key, lab.b.data, lab.b.key);
    let bad = Wr::write(to, rkey).sge(addr, 8, 0x1234);
    failed(&mut lab, &bad, "local protection error", &no_memory(0x1234));

    let mut lab = Lab::new(Options::default());
    let read_only = lab.a.register(addr, 4096, Access { remote_read: true, ..Access::default() });
    let reason = format!("key {read_only:#x} does not permit local writes (IBV_ACCESS_LOCAL_WRITE)");
    failed(&mut lab, &Wr::read(to, rkey).sge(addr, 8, read_only), "local protection error", &reason);

    let mut lab = Lab::new(Options::default());
    let long = Wr::write(to, rkey).sge(addr, 0x7fff_ffff, key).sge(addr, 2, key);
    let reason = "a message of 2147483649 bytes; 2147483648 are permitted";
    failed(&mut lab, &long, "local length error", reason);

    let mut lab = Lab::new(Options::default());
    failed(&mut lab, &Wr::new(0x3e), "local QP operation error", "opcode 0x3e is unknown");

    let mut lab = Lab::new(Options { retry_cnt: 3, timeout: 10, ..Options::default() });
    lab.b.modify(QpAttr { state: Some(QpState::Err), ..QpAttr::default() });
    let reason = "no answer after 3 retries, 4.194304ms or more each";
    failed(&mut lab, &Wr::write(to, rkey).inline(b"x"), "transport retry counter exceeded", reason);
}

/// Requests that succeed, and those that are flushed, have nothing to say.
#[test]
fn nothing_else_is_told() {
    let mut lab = Lab::new(Options::default());
    let (to, key) = (lab.b.data, lab.b.key);
    lab.b.post_recv(&[(to, 64)]);
    lab.a.post(&Wr::write(to, key).inline(b"x"));
    lab.a.post(&Wr::send().inline(b"x"));
    lab.a.post(&Wr::add(to, key, 1).sge(lab.a.data, 8, lab.a.key));
    lab.settle();
    lab.a.modify(QpAttr { state: Some(QpState::Err), ..QpAttr::default() });
    lab.a.post(&Wr::write(to, key).inline(b"x"));
    lab.settle();
    assert_eq!(lab.a.poll_send().len(), 4);
    assert_eq!([told(&mut lab.a), told(&mut lab.b)], [vec![], Vec::<String>::new()]);
}

#[test]
fn an_error_is_unread_until_it_is_polled() {
    let mut lab = Lab::new(Options::default());
    let (to, key) = (lab.b.data, lab.b.key);
    lab.a.post(&Wr::write(to, key).inline(b"x"));
    lab.settle();
    assert!(!lab.a.device.has_unread_errors(), "it succeeded");
    lab.a.post(&Wr::write(to, key ^ 1).inline(b"x"));
    lab.settle();
    assert!(lab.a.device.has_unread_errors());
    assert_eq!(lab.a.poll_send().len(), 2);
    assert!(!lab.a.device.has_unread_errors());
    lab.a.post(&Wr::write(to, key).inline(b"x"));
    lab.settle();
    assert!(!lab.a.device.has_unread_errors(), "it is flushed");
}
