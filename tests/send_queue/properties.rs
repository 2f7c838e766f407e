//! Any sequence of posts, batches, staged shots and completions, against a model that keeps bytes.
//!
//! Random sequences belong here, single requests in `golden.rs`.
use std::collections::VecDeque;

use proptest::prelude::*;

use blueflame::queue::{BlueFlamePolicy, Done, PostError, RetireError, SendQueue};
use blueflame::transport;
use blueflame::types::{SqPi, Wqebbs, WrId};
use blueflame::wqe::EncodeError;
use blueflame_testkit::request::Data;

use crate::oracle::{Case, Stager, case};
use crate::rig::{self, HALF, OLD, Rig, Setup};

#[derive(Clone, Debug)]
enum Step {
    Post(Case),
    /// The requests, and whether the batch is rung or dropped.
    Batch(Vec<Case>, bool),
    /// The request, and whether it is rung or dropped.
    Stage(Case, bool),
    /// The outstanding request to complete, counted from the oldest.
    Complete(prop::sample::Index),
    /// A completion that means nothing, most likely.
    Hostile(u16),
    /// Every byte of the ring changes under the queue.
    Scribble,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => case().prop_map(Step::Post),
        2 => (prop::collection::vec(case(), 0..6), any::<bool>()).prop_map(|(cases, ring)| Step::Batch(cases, ring)),
        2 => (case(), any::<bool>()).prop_map(|(case, ring)| Step::Stage(case, ring)),
        4 => any::<prop::sample::Index>().prop_map(Step::Complete),
        1 => any::<u16>().prop_map(Step::Hostile),
        1 => Just(Step::Scribble),
    ]
}

fn setup() -> impl Strategy<Value = Setup> {
    let bf_size = prop_oneof![Just(0_u32), Just(64), Just(HALF as u32)];
    (0_u32..7, prop_oneof![Just(0_u16), any::<u16>(), 0xfff0..=0xffff_u16], bf_size, any::<bool>()).prop_map(
        |(log, pi, bf_size, signal_all)| Setup { wqebbs: 1 << log, pi, signal_all, bf_size, ..Setup::default() },
    )
}

/// One request outstanding.
#[derive(Clone, Copy)]
struct Sent {
    at: u16,
    wqebbs: u16,
    wr_id: u64,
}

struct Model {
    setup: Setup,
    prefer: bool,
    ring: Vec<u8>,
    page: [u8; 4096],
    dbrec: [[u8; 4]; 2],
    half: usize,
    pi: u16,
    sent: VecDeque<Sent>,
}

/// The values that the doorbell of a request in the ring needs.
struct Last {
    wqe: Vec<u8>,
    inline: bool,
}

impl Model {
    fn used(&self) -> u16 {
        self.sent.iter().map(|sent| sent.wqebbs).sum()
    }

    /// The error the crate must give for `case` with `pending` WQEBBs in an unpublished batch; otherwise its WQE is put
    /// into the model's ring.
    fn put(&mut self, case: &Case, pending: u16) -> Result<(Sent, Last), PostError> {
        let limits = &self.setup;
        match &case.wr.data {
            Data::Sges(sges) if sges.len() > limits.max_sge as usize => {
                return Err(EncodeError::TooManySges { count: sges.len(), limit: limits.max_sge }.into());
            }
            Data::Sges(sges) => {
                if let Some(long) = sges.iter().find(|sge| sge.length > i32::MAX as u32) {
                    return Err(EncodeError::SgeTooLong { bytes: long.length, limit: i32::MAX as u32 }.into());
                }
            }
            Data::Inline(data) if data.len() > limits.max_inline as usize => {
                return Err(EncodeError::InlineTooLong { bytes: data.len(), limit: limits.max_inline }.into());
            }
            _ => {}
        }
        let at = self.pi.wrapping_add(pending);
        let wqe = case.wqe(at, self.setup.signal_all);
        let wqebbs = wqe.len().div_ceil(64) as u16;
        let ring = self.setup.wqebbs as u16;
        if wqebbs > ring {
            return Err(PostError::LargerThanRing { needed: Wqebbs(wqebbs), ring: self.setup.wqebbs });
        }
        let free = ring - self.used() - pending;
        if wqebbs > free {
            return Err(PostError::Full { needed: Wqebbs(wqebbs), free: Wqebbs(free) });
        }
        rig::put(&mut self.ring, at, &wqe);
        Ok((Sent { at, wqebbs, wr_id: case.wr.id }, Last { wqe, inline: case.is_inline() }))
    }

    /// libmlx5's doorbell (rdma-core `providers/mlx5/qp.c`, `post_send_db`) for `sent`, of which `last` is the last.
    ///
    /// `page` has the register's contents. The device ignores bytes behind a WQE in its last WQEBB: zeros from CPU
    /// registers, old bytes from the ring. They are taken as they are.
    fn ring(&mut self, sent: Vec<Sent>, last: &Last, page: &[u8; 4096]) {
        let single = sent.len() == 1;
        self.pi = sent.iter().fold(self.pi, |pi, sent| pi.wrapping_add(sent.wqebbs));
        self.sent.extend(sent);
        let [high, low] = self.pi.to_be_bytes();
        self.dbrec[1] = [0, 0, high, low];
        let size = self.setup.bf_size as usize;
        let ds = last.wqe.len() / 16;
        if size != 0 && single && (last.inline || self.prefer) && ds > 1 && last.wqe.len().next_multiple_of(64) <= size
        {
            let half = self.half..self.half + last.wqe.len().next_multiple_of(64);
            self.page[half.clone()].copy_from_slice(&page[half]);
            self.page[self.half..][..last.wqe.len()].copy_from_slice(&last.wqe);
        } else {
            self.page[self.half..][..8].copy_from_slice(&last.wqe[..8]);
        }
        self.half ^= size;
    }

    fn retire(&mut self, wqe_counter: u16) -> Result<Done, RetireError> {
        let oldest = self.pi.wrapping_sub(self.used());
        let offset = wqe_counter.wrapping_sub(oldest);
        if offset >= self.used() {
            return Err(RetireError::NotOutstanding { wqe_counter, oldest, next: self.pi });
        }
        let Some(which) = self.sent.iter().position(|sent| sent.at == wqe_counter) else {
            return Err(RetireError::InsideWqe { wqe_counter });
        };
        let wr_id = WrId(self.sent[which].wr_id);
        let freed = self.sent.drain(..=which).map(|sent| sent.wqebbs).sum();
        Ok(Done { wr_id, frames: 1, freed: Wqebbs(freed) })
    }

    fn check(&self, rig: &Rig, sq: &SendQueue<transport::Rc>) {
        assert_eq!(rig.ring(), self.ring, "ring");
        assert_eq!(rig.dbrec(), self.dbrec, "doorbell record");
        assert!(rig.page() == self.page, "register");
        assert_eq!(sq.pi(), SqPi(self.pi));
        assert_eq!(sq.free().0, self.setup.wqebbs as u16 - self.used());
    }
}

fn run(setup: Setup, prefer: bool, steps: Vec<Step>) {
    let rig = Rig::new(setup);
    let mut sq = rig.queue::<transport::Rc>();
    sq.set_blueflame_policy(if prefer { BlueFlamePolicy::Prefer } else { BlueFlamePolicy::Inline });
    let mut model = Model {
        setup,
        prefer,
        ring: std::vec![OLD; setup.wqebbs as usize * 64],
        page: [OLD; 4096],
        dbrec: [[OLD; 4]; 2],
        half: 0,
        pi: setup.pi,
        sent: VecDeque::new(),
    };
    for step in steps {
        match step {
            Step::Post(case) => {
                let expected = model.put(&case, 0);
                assert_eq!(case.submit(&mut sq), expected.as_ref().map(|_| ()).map_err(|error| *error));
                if let Ok((sent, last)) = expected {
                    model.ring(std::vec![sent], &last, &rig.page());
                }
            }
            Step::Stage(case, ring) => {
                let expected = model.put(&case, 0);
                let staged = case.submit(&mut Stager { sq: &mut sq, ring });
                assert_eq!(staged, expected.as_ref().map(|_| ()).map_err(|error| *error));
                if let (Ok((sent, last)), true) = (expected, ring) {
                    model.ring(std::vec![sent], &last, &rig.page());
                }
            }
            Step::Batch(cases, ring) => {
                let mut batch = sq.batch();
                let (mut all, mut latest, mut pending) = (Vec::new(), None, 0);
                for case in cases {
                    let expected = model.put(&case, pending);
                    assert_eq!(case.submit(&mut batch), expected.as_ref().map(|_| ()).map_err(|error| *error));
                    if let Ok((sent, last)) = expected {
                        pending += sent.wqebbs;
                        all.push(sent);
                        latest = Some(last);
                    }
                    assert_eq!(batch.len(), all.len());
                    assert_eq!(batch.free().0, setup.wqebbs as u16 - model.used() - pending);
                }
                if ring {
                    batch.ring_doorbell();
                    if let Some(last) = latest {
                        model.ring(all, &last, &rig.page());
                    }
                } else {
                    drop(batch);
                }
            }
            Step::Complete(which) => {
                if !model.sent.is_empty() {
                    let at = model.sent[which.index(model.sent.len())].at;
                    // SAFETY: no device looks, nor below.
                    assert_eq!(unsafe { sq.retire_index(at) }, model.retire(at));
                }
            }
            Step::Hostile(counter) => {
                // SAFETY: no device looks.
                assert_eq!(unsafe { sq.retire_index(counter) }, model.retire(counter));
            }
            Step::Scribble => {
                rig.scribble();
                model.ring.iter_mut().for_each(|byte| *byte = !*byte);
            }
        }
        model.check(&rig, &sq);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn bytes_indices_and_errors_agree(
        setup in setup(),
        prefer in any::<bool>(),
        steps in prop::collection::vec(step(), 1..40),
    ) {
        run(setup, prefer, steps);
    }

    /// Rings of up to 64 WQEBBs, every position, long requests: the wrap falls at every unit.
    #[test]
    fn one_request_at_every_position(case in case(), log in 0_u32..7, pi in any::<u16>()) {
        let setup = Setup { wqebbs: 1 << log, pi, ..Setup::default() };
        run(setup, false, std::vec![Step::Post(case)]);
    }
}
