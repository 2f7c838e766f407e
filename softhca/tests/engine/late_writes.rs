//! WRITEs whose packets come to memory in another order than that of their bytes, and what may be relied on all the
//! same.
//!
//! The order of a WRITE's bytes belongs here, that of data and CQEs in `store_order.rs`.

use crate::lab::*;
use softhca::context::{QpAttr, QpState, Transport};
use softhca::wire::fault::FaultConfig;

const LEN: usize = 1280;
/// Two messages behind one another in the receiver's memory.
const FIRST: u64 = 0;
const SECOND: u64 = LEN as u64;
/// `fm_ce_se`: a CQE, and the fence that waits for all earlier requests.
const STRONG: u8 = 0x68;

/// Frames are packets, or segments of several.
fn options(seed: u64) -> Options {
    let (faults, segment_bytes) = (FaultConfig { seed, ..FaultConfig::default() }, [0, 4096][seed as usize % 2]);
    Options { mtu: 256, late_writes: 500, faults, segment_bytes, ..Options::default() }
}

fn lab(seed: u64) -> Lab {
    let lab = Lab::new(options(seed));
    fill(&lab);
    lab
}

/// Bytes to send, of which none is 0.
fn fill(lab: &Lab) {
    let bytes: Vec<u8> = (0..LEN).map(|at| (at % 251) as u8 + 1).collect();
    lab.a.memory.write(lab.a.data, &bytes);
}

/// A WRITE of the whole to the receiver's memory.
fn write(lab: &Lab, to: u64) -> Wr {
    Wr::write(lab.b.data + to, lab.b.key).sge(lab.a.data, LEN as u32, lab.a.key)
}

/// The bytes that have come, of which none is 0.
fn has_come(lab: &Lab, from: u64, len: usize) -> bool {
    lab.b.memory.read(lab.b.data + from, len).iter().all(|&byte| byte != 0)
}

/// Steps until nothing happens and no bytes wait, and looks after each step.
fn watch(lab: &mut Lab, mut look: impl FnMut(&mut Lab)) {
    loop {
        let worked = [lab.a.step(lab.now), lab.b.step(lab.now)];
        look(lab);
        if worked == [false; 2] {
            match lab.b.device.next_deadline() {
                Some(at) => lab.now = at.max(lab.now),
                None => return,
            }
        }
    }
}

#[test]
fn the_last_byte_announces_nothing_and_the_completion_does() {
    let mut early = 0;
    for seed in 0..20 {
        let mut lab = lab(seed);
        let wr = write(&lab, FIRST);
        lab.a.post(&wr);
        let (mut is_early, mut done) = (false, 0);
        watch(&mut lab, |lab| {
            is_early |= has_come(lab, LEN as u64 - 1, 1) && !has_come(lab, 0, LEN);
            done += lab.a.poll_send().len();
            assert!(done == 0 || has_come(lab, 0, LEN), "seed {seed}: acknowledged, and not there");
        });
        assert_eq!((done, lab.b.memory.read(lab.b.data, LEN)), (1, lab.a.memory.read(lab.a.data, LEN)));
        early += u32::from(is_early);
    }
    assert!(early > 5, "{early} of 20");
}

#[test]
fn what_comes_behind_a_write_announces_it() {
    for seed in 0..20 {
        for what in ["immediate", "send", "add", "read"] {
            let mut lab = lab(seed);
            let (counter, key) = (lab.b.data + 8 * LEN as u64, lab.b.key);
            lab.b.post_recv(&[(lab.b.data + 4 * LEN as u64, 64)]);
            if what != "immediate" {
                let wr = write(&lab, FIRST);
                lab.a.post_silently(&wr);
            }
            let result = (lab.a.data + 4 * LEN as u64, lab.a.key);
            let behind = match what {
                "immediate" => write(&lab, FIRST).with_imm(7),
                "send" => Wr::send().inline(b"behind"),
                "add" => Wr::add(counter, key, 1).sge(result.0, 8, result.1),
                _ => Wr::read(lab.b.data, key).sge(result.0, LEN as u32, result.1),
            };
            lab.a.post(&behind);
            let mut announced = false;
            watch(&mut lab, |lab| {
                announced |= match what {
                    "add" => lab.b.memory.read(counter, 8)[7] != 0 || lab.b.memory.read(counter, 8)[0] != 0,
                    "read" => !lab.a.poll_send().is_empty(),
                    _ => !lab.b.poll_recv().is_empty(),
                };
                assert!(!announced || has_come(lab, 0, LEN), "{what}, seed {seed}");
            });
            assert!(announced, "{what}, seed {seed}");
            if what == "read" {
                assert_eq!(lab.a.memory.read(result.0, LEN), lab.a.memory.read(lab.a.data, LEN));
            }
        }
    }
}

/// Nor does a later WRITE announce an earlier one, unless it waits for it.
#[test]
fn a_later_write_may_come_first_and_a_fenced_one_does_not() {
    let mut overtaken = [0; 2];
    for (fenced, overtaken) in overtaken.iter_mut().enumerate() {
        for seed in 0..20 {
            let mut lab = lab(seed);
            let first = write(&lab, FIRST);
            lab.a.post_silently(&first);
            let second = write(&lab, SECOND);
            lab.a.post(&if fenced == 1 { second.flags(STRONG) } else { second });
            let mut is_overtaken = false;
            watch(&mut lab, |lab| is_overtaken |= has_come(lab, SECOND, 1) && !has_come(lab, FIRST, LEN));
            assert!(has_come(&lab, FIRST, 2 * LEN));
            *overtaken += u32::from(is_overtaken);
        }
    }
    assert!(overtaken[0] > 5 && overtaken[1] == 0, "{overtaken:?}");
}

#[test]
fn one_that_insists_and_an_unreliable_one_have_the_order() {
    for (transport, in_order) in [(Transport::Rc, Some(true)), (Transport::Uc, None)] {
        for seed in 0..10 {
            let mut lab = Lab::unconnected(Options { transport, ..options(seed) });
            fill(&lab);
            lab.b.modify(QpAttr { in_order, ..lab.b.init_attr() });
            lab.a.modify(lab.a.init_attr());
            let (a, b) = (lab.a.identity(), lab.b.identity());
            for (node, peer) in [(&mut lab.a, b), (&mut lab.b, a)] {
                node.modify(node.rtr_attr(peer));
                node.modify(node.rts_attr());
            }
            let wr = write(&lab, FIRST);
            lab.a.post(&wr);
            watch(&mut lab, |lab| {
                let bytes = lab.b.memory.read(lab.b.data, LEN);
                let come = bytes.iter().take_while(|&&byte| byte != 0).count();
                assert!(bytes[come..].iter().all(|&byte| byte == 0), "{transport:?}, seed {seed}");
            });
            assert!(has_come(&lab, FIRST, LEN));
        }
    }
}

#[test]
fn lost_packets_change_nothing_of_it() {
    for seed in 0..10 {
        let mut options = options(seed);
        options.faults = FaultConfig { drop: 100, duplicate: 50, reorder: 50, ..options.faults };
        let mut lab = Lab::new(Options { retry_cnt: 7, ..options });
        let sent = lab.a.fill(0, 8 * LEN, 1);
        for n in 0..8 {
            let at = n * LEN as u64;
            let (to, from) = (lab.b.data + at, lab.a.data + at);
            let wr = Wr::write(to, lab.b.key).sge(from, LEN as u32, lab.a.key);
            lab.a.post(&wr);
        }
        lab.settle();
        assert_eq!(lab.a.poll_send().len(), 8, "seed {seed}");
        assert_eq!(lab.b.memory.read(lab.b.data, sent.len()), sent, "seed {seed}");
    }
}

/// The key goes while bytes wait: they stay away, and the peer learns it.
#[test]
fn a_key_that_is_revoked_fails_the_write() {
    let mut failed = 0;
    for seed in 0..20 {
        let mut lab = lab(seed);
        let wr = write(&lab, FIRST);
        lab.a.post(&wr);
        // Until some of it has come.
        while !(0..LEN as u64).any(|at| has_come(&lab, at, 1)) {
            lab.a.step(lab.now);
            lab.b.step(lab.now);
        }
        lab.b.device.destroy_mkey(lab.b.key).unwrap();
        let before = lab.b.memory.read(lab.b.data, LEN);
        lab.settle();
        assert_eq!(lab.b.memory.read(lab.b.data, LEN), before, "seed {seed}");
        let cqes = lab.a.poll_send();
        let [cqe] = &cqes[..] else { panic!("seed {seed}: {cqes:?}") };
        if before.contains(&0) {
            assert_eq!((cqe.syndrome, lab.b.state()), (0x13, QpState::Err), "seed {seed}");
            failed += 1;
        }
    }
    assert!(failed > 5, "{failed} of 20");
}
