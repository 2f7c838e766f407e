//! Twins whose rings, completion queues and indices begin again: WQEs that end at the end of the ring, or wrap there
//! after each of their WQEBBs.

use blueflame::transport::Rc;
use blueflame::wqe::{self, Sge};
use blueflame::{Remote, WrId};
use blueflame_sys as sys;

use super::pair::{Sizes, poll};
use super::request::{Data, Request, Verb, WAYS, Way};
use super::twin::Twins;
use crate::doctor::found::{Failure, Seen, ensure, same};
use crate::doctor::lab::{Lab, pattern};

/// WQEBBs of the longest request, and requests of a doorbell.
const LONGEST: usize = 4;
const BATCH: usize = 60;
/// WQEBBs of the request at the ring's end, and its WQEBBs in front of the end.
const SPLITS: [(usize, usize); 7] = [(2, 1), (3, 1), (3, 2), (4, 1), (4, 2), (4, 3), (4, 4)];
/// Bytes of a gather entry, and the place of the data that they name.
const ENTRY: usize = 8;
const SOURCE: usize = 4096;
const SIZES: Sizes = Sizes { sends: 64, send_sge: 4 * LONGEST as u32 - 2, inline: 220, cqe_bytes: 64, keys: false };
/// WQEBBs until an index of 16 bits begins again.
const INDICES: usize = 1 << 16;

/// A WRITE that fills a number of WQEBBs.
#[derive(Clone, Copy, Debug)]
struct Step {
    wqebbs: usize,
    is_inline: bool,
    /// With immediate data, which takes a receive.
    imm: Option<u32>,
}

impl Step {
    /// Bytes of the message. Segments of control and remote address take 32 bytes, the header of inline data takes 4,
    /// and an entry takes 16.
    fn bytes(self) -> usize {
        if self.is_inline { 64 * self.wqebbs - 36 } else { ENTRY * (4 * self.wqebbs - 2) }
    }
}

/// The data of a step, for both twins.
struct Message {
    step: Step,
    inline: Vec<u8>,
    entries: Vec<Sge>,
}

impl Twins<Rc> {
    /// Both post WRITEs by one doorbell each. The last of them is compared as it arrives.
    fn write_all(&mut self, lab: &Lab, way: Way, seed: u32, steps: &[Step]) -> Result<(), Failure> {
        let memory = &self.ours.memory;
        let place = memory.remote();
        let message = |(n, &step): (usize, &Step)| {
            let entry = |n: usize| memory.sge_of(SOURCE + ENTRY * n..SOURCE + ENTRY * (n + 1));
            let inline = pattern(seed + n as u32, step.bytes());
            Message { step, inline, entries: (0..step.bytes() / ENTRY).map(entry).collect() }
        };
        let messages: Vec<Message> = steps.iter().enumerate().map(message).collect();
        let last = messages.last().ok_or("no request")?;
        let sent = match last.step.is_inline {
            true => last.inline.clone(),
            false => memory.to_vec(SOURCE..SOURCE + last.step.bytes()),
        };
        let id = u64::from(seed);
        let is_last = |n: usize| n + 1 == messages.len();
        let theirs: Vec<Request<'_>> =
            messages.iter().enumerate().map(|(n, message)| message.theirs(place, is_last(n), id)).collect();
        // SAFETY: the memory is registered longer than either queue pair lives.
        unsafe { self.theirs.pair.post(way, &theirs) }?;
        let wc = poll(lab, "libmlx5's WRITEs", &self.theirs.sent)?;
        ensure(wc.wr_id == id, || format!("libmlx5's completion is of {}, not of {id}", wc.wr_id))?;
        let arrived = |twins: &Self| twins.ours.memory.to_vec(0..sent.len());
        same("libmlx5's WRITE", &sent, &arrived(self))?;

        self.ours.memory.write(0, &vec![0; sent.len()]);
        let mut batch = self.ours.pair.sq.batch();
        for (n, message) in messages.iter().enumerate() {
            let id = WrId(id);
            // SAFETY: the memory is registered longer than either queue pair lives.
            unsafe {
                match (message.step.is_inline, message.step.imm) {
                    (true, None) => batch.push_unchecked(
                        &wqe::write(place).inline_slice(&message.inline[..]).signaled_if(is_last(n), id),
                    ),
                    (true, Some(imm)) => batch.push_unchecked(
                        &wqe::write(place).imm(imm).inline_slice(&message.inline[..]).signaled_if(is_last(n), id),
                    ),
                    (false, None) => batch
                        .push_unchecked(&wqe::write(place).gather_slice(&message.entries).signaled_if(is_last(n), id)),
                    (false, Some(imm)) => batch.push_unchecked(
                        &wqe::write(place).imm(imm).gather_slice(&message.entries).signaled_if(is_last(n), id),
                    ),
                }
            }?;
        }
        batch.ring_doorbell();
        self.compare(way, messages.len())?;
        let done = self.ours.sent(lab, "our WRITEs")?;
        ensure(done == WrId(id), || format!("our completion is of {done:?}, not of {id}"))?;
        same("our WRITE", &sent, &arrived(self))
    }

    /// Polls the next completions of receives: both must report a WRITE of `bytes` bytes.
    fn received(&mut self, lab: &Lab, wr_id: u64, bytes: usize, imm: u32) -> Result<(), Failure> {
        let wc = poll(lab, "libmlx5's receive", &self.theirs.received)?;
        let theirs = (wc.wr_id, wc.byte_len as usize, Some(u32::from_be(wc.imm_data)));
        ensure(wc.opcode == sys::IBV_WC_RECV_RDMA_WITH_IMM, || format!("opcode {}", wc.opcode))?;
        let (id, len, value) = self.ours.received(lab, "our receive")?;
        for (whose, found) in [("libmlx5", theirs), ("this crate", (id.0, len, value))] {
            let expected = (wr_id, bytes, Some(imm));
            ensure(found == expected, || format!("{whose} has received {found:x?}, not {expected:x?}"))?;
        }
        Ok(())
    }
}

impl Message {
    fn theirs(&self, place: Remote, signaled: bool, wr_id: u64) -> Request<'_> {
        let verb = self.step.imm.map_or(Verb::Write(place), |imm| Verb::WriteImm(place, imm));
        let data = if self.step.is_inline { Data::Inline(&self.inline) } else { Data::Memory(&self.entries) };
        Request { signaled, wr_id, ..Request::new(verb, data) }
    }
}

/// Goes around the ring until `wqebbs` have been posted. At each end, a request wraps, or ends there.
fn around(lab: &Lab, sizes: Sizes, wqebbs: usize) -> Result<Seen, Failure> {
    let mut twins = Twins::<Rc>::of_rc(lab, sizes)?;
    let capacity = twins.ours.pair.sq.capacity();
    twins.ours.pair.sq.set_depth(capacity)?;
    let ring = usize::from(capacity.0);
    twins.ours.memory.write(SOURCE, &pattern(1, ENTRY * sizes.send_sge as usize));
    let (mut lap, mut seed) = (0, 0);
    while twins.index < wqebbs {
        let way = WAYS[lap % 2];
        let (last, in_front) = SPLITS[lap / 2 % SPLITS.len()];
        let mut left = ring - in_front - twins.index % ring;
        while left > 0 {
            let mut steps = Vec::new();
            while left > 0 && steps.len() < BATCH {
                let wqebbs = left.min(LONGEST);
                steps.push(Step { wqebbs, is_inline: (lap + steps.len()) % 2 == 0, imm: None });
                left -= wqebbs;
            }
            twins.write_all(lab, way, seed, &steps)?;
            seed += 1;
        }
        twins.receive(WrId(lap as u64), 0..0)?;
        let step = Step { wqebbs: last, is_inline: (lap / 2 / SPLITS.len()).is_multiple_of(2), imm: Some(seed) };
        let at = |error| format!("a WQE of {last} WQEBBs, {in_front} of them in front of the ring's end: {error}");
        twins.write_all(lab, way, seed, &[step]).map_err(at)?;
        twins.received(lab, lap as u64, step.bytes(), seed)?;
        seed += 1;
        lap += 1;
    }
    twins.compare_receives()?;
    let seen = Seen::new("the same bytes at each way to cross the ring's end; data, receives and completions arrived");
    Ok(seen.figure("requests", twins.posted).figure("WQEBBs of a ring", ring).figure("laps", lap))
}

/// Beyond the index of 16 bits.
pub(super) fn wraps(lab: &Lab) -> Result<Seen, Failure> {
    around(lab, SIZES, INDICES + 512)
}

/// Some laps, with CQEs of 128 bytes.
pub(super) fn wide(lab: &Lab) -> Result<Seen, Failure> {
    around(lab, Sizes { cqe_bytes: 128, ..SIZES }, INDICES / 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wqe_that_can_wrap_does_so_after_each_of_its_wqebbs() {
        for wqebbs in 2..=LONGEST {
            for in_front in 1..wqebbs {
                assert!(SPLITS.contains(&(wqebbs, in_front)));
            }
        }
    }

    /// The size of the WQE by its segments.
    #[test]
    fn messages_fill_whole_wqebbs() {
        for wqebbs in 1..=LONGEST {
            let bytes = |is_inline| Step { wqebbs, is_inline, imm: None }.bytes();
            assert_eq!(32 + 4 + bytes(true), 64 * wqebbs);
            assert_eq!(32 + 16 * (bytes(false) / ENTRY), 64 * wqebbs);
            assert!(bytes(true) <= SIZES.inline as usize && bytes(false) <= ENTRY * SIZES.send_sge as usize);
        }
    }
}
