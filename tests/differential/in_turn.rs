//! libmlx5 and this crate use one memory key one after the other, on rings that are cleared before. So the rings are
//! equal, but for the numbers of the queue pairs.

use std::fmt::Debug;

use blueflame::types::WrId;
use blueflame::verbs::Buffer;
use blueflame::wqe::{self, Sge, SupportedOn};
use blueflame_sys as sys;
use proptest::sample::Index;
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use crate::cases;
use crate::claims::{CLAIMS, IN_TURN, Proof};
use crate::twin::{Link, Twins, record, ring, wait};

pub(crate) const WQEBB: usize = 64;

fn clear(wq: &sys::mlx5dv_wq) {
    // SAFETY: the ring that libmlx5 allocated, on which nothing is outstanding.
    unsafe { wq.buf.cast::<u8>().write_bytes(0, (wq.wqe_cnt * wq.stride) as usize) };
}

/// Numbers of 24 bits, libmlx5's and this crate's, and where they are: bytes from where the list begins.
pub(crate) type Numbers = (Vec<usize>, [u32; 2]);

/// The ring without these numbers; `side` is 0 for libmlx5's.
fn without(wq: &sys::mlx5dv_wq, begin: usize, numbers: &[Numbers], side: usize) -> Result<Vec<u8>, String> {
    let mut ring = ring(wq);
    let len = ring.len();
    for (places, both) in numbers {
        let number = both[side].to_be_bytes();
        for at in places {
            let bytes = [0, 1, 2].map(|n| (begin * WQEBB + at + n) % len);
            if bytes.map(|byte| ring[byte]) != number[1..] {
                let found = bytes.map(|byte| ring[byte]);
                return Err(format!("not the number {:#x} at byte {at}: {found:02x?}", both[side]));
            }
            bytes.into_iter().for_each(|byte| ring[byte] = 0);
        }
    }
    Ok(ring)
}

/// The memory behind keys, and at the other end of the wire.
pub(crate) struct Places {
    pub(crate) memory: Buffer,
    pub(crate) wire: Buffer,
}

impl Places {
    /// Gives both the same bytes.
    pub(crate) fn reset(&mut self) {
        let memory: Vec<u8> = (0..self.memory.len() as u32).map(|n| (n ^ n >> 7) as u8).collect();
        self.memory.write(0, &memory);
        self.wire.fill(0x5a);
    }

    /// The first `bytes` bytes of memory in pieces, one after the other, cut there.
    pub(crate) fn pieces(&self, cuts: &[Index], bytes: usize) -> Vec<Sge> {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes)).chain([0, bytes]).collect();
        cuts.sort_unstable();
        cuts.windows(2).map(|cut| self.memory.sge_of(cut[0]..cut[1])).collect()
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let (memory, wire) = (self.memory.len(), self.wire.len());
        let mut bytes = vec![0; memory + wire];
        self.memory.read(0, &mut bytes[..memory]);
        self.wire.read(0, &mut bytes[memory..]);
        bytes
    }
}

impl<T: Link> Twins<T>
where
    wqe::operations::Nop: SupportedOn<T>,
{
    /// Our queue, on which nothing has been posted, goes as far as libmlx5's has.
    pub(crate) fn catch_up(&mut self) {
        for _ in 0..self.pi {
            let mut batch = self.ours.sq.batch();
            batch.push(&wqe::nop().signaled(WrId(1))).expect("room");
            batch.ring_doorbell();
            assert_eq!(self.done(1), Ok(()));
        }
    }
}

impl<T: Link> Twins<T> {
    /// Before either posts.
    pub(crate) fn clear_rings(&self) {
        clear(&self.theirs.raw.parts.sq);
        clear(&self.ours.raw.parts.sq);
    }

    /// Waits for the completion of our list, whose last request has that `id`.
    pub(crate) fn done(&mut self, id: u64) -> Result<(), String> {
        let mut failed = None;
        wait("our completion", || {
            let sq = &mut self.ours.sq;
            let done = self.ours.send_cq.poll_with(1, |cqe| {
                failed = cqe.check().err().map(|error| error.to_string());
                assert_eq!(sq.retire(&cqe).expect("posted").wr_id, WrId(id));
            });
            (done > 0).then_some(())
        })?;
        failed.map_or(Ok(()), Err)
    }

    /// Compares the contents of both rings and records. The lists have `wqebbs` WQEBBs, with the queue pair's number at
    /// `places`, in bytes from their beginnings.
    pub(crate) fn compare(&mut self, wqebbs: usize, places: &[usize]) -> Result<(), String> {
        let both = [self.theirs.raw.number(), self.qpn().get()];
        self.compare_but(wqebbs, &[(places.to_vec(), both)])
    }

    /// Compares lists with these numbers, which differ.
    pub(crate) fn compare_but(&mut self, wqebbs: usize, numbers: &[Numbers]) -> Result<(), String> {
        let begin = self.pi % self.wqebbs();
        self.pi = (self.pi + wqebbs) & 0xffff;
        let (theirs, ours) = (&self.theirs.raw, &self.ours.raw);
        let records = [record(&theirs.parts), record(&ours.parts)];
        let theirs = without(&theirs.parts.sq, begin, numbers, 0).map_err(|why| format!("libmlx5: {why}"))?;
        let ours = without(&ours.parts.sq, begin, numbers, 1).map_err(|why| format!("this crate: {why}"))?;
        if theirs != ours {
            let at = (0..theirs.len()).find(|&at| theirs[at] != ours[at]).expect("a byte that differs") / 16 * 16;
            return Err(format!(
                "byte {at} of the ring, {} of the list: libmlx5 {:02x?}, this crate {:02x?}",
                (at + theirs.len() - begin * WQEBB) % theirs.len(),
                &theirs[at..at + 16],
                &ours[at..at + 16]
            ));
        }
        if records[0] == records[1] && records[0][1] == self.pi as u32 { Ok(()) } else { Err(format!("{records:x?}")) }
    }
}

/// Checks a number of cases of `what`.
pub(crate) fn any<C: Debug>(
    usual: u32,
    what: &str,
    case: impl Strategy<Value = C>,
    mut check: impl FnMut(&C) -> Result<(), String>,
) {
    let config = Config { cases: cases(usual), failure_persistence: None, max_shrink_iters: 0, ..Config::default() };
    let check = std::cell::RefCell::new(&mut check);
    let outcome = TestRunner::new(config).run(&case, |case| (check.borrow_mut())(&case).map_err(TestCaseError::fail));
    if let Err(error) = outcome {
        panic!("{what}: {error}");
    }
}

/// Checks a number of cases of these operations, all [`IN_TURN`], as `docs/operations.md` claims.
pub(crate) fn run<T: Link, C: Debug>(
    usual: u32,
    operations: &[&str],
    case: impl Strategy<Value = C>,
    check: impl FnMut(&C) -> Result<(), String>,
) {
    any(usual, &format!("{:?}", T::TRANSPORT), case, check);
    let claimed = CLAIMS
        .iter()
        .any(|claim| (claim.column, claim.proof, claim.operations) == (T::COLUMN, Proof::Libmlx5, operations));
    assert!(claimed, "docs/operations.md has it");
    assert!(operations.iter().all(|name| IN_TURN.contains(name)), "{operations:?}");
}
