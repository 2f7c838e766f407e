//! Compressed completions, against those of a device that compresses none.
//!
//! Compressed completions of the software device belong here. Compressed bytes written by hand belong in
//! `tests/completion`.

use std::error::Error;

use blueflame::cq::compressed::{BASIC, Checksum, ChecksumStride, ENHANCED, FlowTag, Hash, Headers, MiniFormat};
use blueflame::cq::mode::PollMode;
use blueflame::cq::{CompletionQueue, Side};
use blueflame::queue::SendQueue;
use blueflame::{WrId, transport, wqe};
use blueflame_testkit::{Buffer, Device, Pair, Receives, Shape, run_until_idle};
use proptest::prelude::*;
use softhca::context::{CqCompression, MiniFormat as Format};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

const ROOM: usize = 64;

/// A completion, without its time.
type Seen = (Side, u64, u32, Option<u32>, u16, u8, u32);

/// Messages: how many in a burst, and how they are sent.
#[derive(Clone, Copy, Debug)]
struct Burst {
    count: usize,
    kind: u8,
}

fn bursts() -> impl Strategy<Value = Vec<Burst>> {
    prop::collection::vec((1..ROOM, 0..5u8).prop_map(|(count, kind)| Burst { count, kind }), 1..12)
}

/// The parts of a pair that [`drive`] works on.
struct Rig<'a> {
    sq: &'a mut SendQueue<transport::Rc>,
    rq: &'a mut Receives,
    devices: [&'a Device; 2],
    rings: [(*const u8, usize); 2],
    mailbox: &'a Buffer,
    window: &'a Buffer,
}

impl Rig<'_> {
    /// How many CQEs are compressed: format 3, and a known opcode.
    fn compressed(&self) -> usize {
        let of = |&(ring, bytes): &(*const u8, usize)| {
            // SAFETY: the rings, which the device does not write now.
            let ends = (63..bytes).step_by(64).map(|at| unsafe { ring.add(at).read_volatile() });
            ends.filter(|end| end & 0xc == 0xc && end >> 4 <= 6).count()
        };
        self.rings.iter().map(of).sum()
    }

    /// Sends all bursts; what both sides see, and how many CQEs were compressed.
    fn drive<M: PollMode>(
        self,
        [ours, theirs]: [&mut CompletionQueue<M>; 2],
        bursts: &[Burst],
        step: usize,
    ) -> Outcome<(Vec<Seen>, usize)> {
        let (mut seen, mut compressed, mut tag) = (Vec::new(), 0, 0);
        for burst in bursts {
            for n in 0..burst.count {
                tag += 1;
                let data = vec![n as u8; n % 28 + 1];
                let send = || wqe::send().inline_slice(data.as_slice()).signaled(WrId(tag));
                // SAFETY: nobody looks at the memory meanwhile.
                unsafe { self.rq.post_unchecked(WrId(tag), &[self.mailbox.slot(n, 64)])? };
                match burst.kind {
                    0 | 1 => self.sq.post(&send()),
                    2 => self.sq.post(&send().imm(7)),
                    3 => self.sq.post(&send().imm(n as u32)),
                    _ => self.sq.post(
                        &wqe::write(self.window.remote()).imm(9).inline_slice(data.as_slice()).signaled(WrId(tag)),
                    ),
                }?;
            }
            run_until_idle(&self.devices)?;
            compressed += self.compressed();
            loop {
                let sent: Outcome<usize> = ours.try_poll_with(step, |cqe| {
                    let done = self.sq.retire(&cqe)?.wr_id;
                    seen.push((
                        cqe.check()?,
                        done.0,
                        0,
                        None,
                        cqe.wqe_counter(),
                        cqe.request_opcode(),
                        cqe.qpn().get(),
                    ));
                    Ok(())
                });
                let received: Outcome<usize> = theirs.try_poll_with(step, |cqe| {
                    let (done, len) = (self.rq.retire(&cqe)?, cqe.byte_len());
                    seen.push((cqe.check()?, done.0, len, cqe.imm(), cqe.wqe_counter(), 0, cqe.qpn().get()));
                    Ok(())
                });
                if sent? + received? == 0 {
                    break;
                }
            }
        }
        seen.sort_by_key(|&(side, tag, ..)| (side == Side::Requester, tag));
        assert_eq!(self.devices.map(|device| device.complaints()), [[], []]);
        Ok((seen, compressed))
    }
}

/// Runs on a new pair, whose completion queues become what `$over` says.
macro_rules! run {
    ($shape:expr, $bursts:expr, $step:expr, |$cq:ident| $over:expr) => {{
        let mut pair = Pair::<transport::Rc>::builder().shape($shape).connect()?;
        let (mailbox, window) = (pair.far.buffer(ROOM * 64)?, pair.far.buffer(64)?);
        let devices = [pair.near.device().clone(), pair.far.device().clone()];
        let rings = [&pair.near, &pair.far]
            .map(|end| end.cq_parts())
            .map(|parts| (parts.buf.as_ptr().cast_const(), (parts.cqe_cnt * parts.cqe_size) as usize));
        let mut queues = [pair.near.cq, pair.far.cq].map(|$cq| $over);
        let [ours, theirs] = &mut queues;
        let rig = Rig {
            sq: &mut pair.near.sq,
            rq: &mut pair.far.rq,
            devices: [&devices[0], &devices[1]],
            rings,
            mailbox: &mailbox,
            window: &window,
        };
        rig.drive([ours, theirs], $bursts, $step)?
    }};
}

/// Runs the bursts with completions compressed, and without; returns whether any were compressed.
fn compare<F: MiniFormat, const ENHANCED: bool>(
    format: Format,
    bursts: &[Burst],
    cqe_bytes: u32,
    step: usize,
) -> Outcome<bool> {
    let shape = Shape { sq_wqebbs: 128, recv_wqes: 128, cqes: 128, cqe_bytes, ..Shape::default() };
    let compression = Some(CqCompression { format, enhanced: ENHANCED });
    let (plain, none) = run!(shape, bursts, step, |cq| cq);
    let shape = Shape { compression, ..shape };
    // SAFETY: the device compresses so, and nothing has been polled.
    let (expanded, compressed) = run!(shape, bursts, step, |cq| unsafe { cq.compressed::<F, ENHANCED>() });
    assert_eq!(none, 0);
    assert_eq!(expanded, plain);
    Ok(compressed != 0)
}

fn by_number(enhanced: bool, format: u8, bursts: &[Burst], cqe_bytes: u32, step: usize) -> Outcome<bool> {
    match (enhanced, format) {
        (false, 0) => compare::<Hash, BASIC>(Format::Hash, bursts, cqe_bytes, step),
        (false, 1) => compare::<Checksum, BASIC>(Format::Checksum, bursts, cqe_bytes, step),
        (false, 2) => compare::<FlowTag, BASIC>(Format::FlowTag, bursts, cqe_bytes, step),
        (false, 3) => compare::<ChecksumStride, BASIC>(Format::ChecksumStride, bursts, cqe_bytes, step),
        (false, _) => compare::<Headers, BASIC>(Format::Headers, bursts, cqe_bytes, step),
        (true, 0) => compare::<Hash, ENHANCED>(Format::Hash, bursts, cqe_bytes, step),
        (true, 1) => compare::<Checksum, ENHANCED>(Format::Checksum, bursts, cqe_bytes, step),
        (true, 2) => compare::<FlowTag, ENHANCED>(Format::FlowTag, bursts, cqe_bytes, step),
        (true, 3) => compare::<ChecksumStride, ENHANCED>(Format::ChecksumStride, bursts, cqe_bytes, step),
        (true, _) => compare::<Headers, ENHANCED>(Format::Headers, bursts, cqe_bytes, step),
    }
}

#[test]
fn each_format_and_layout_compresses() -> Outcome {
    let bursts = [Burst { count: 63, kind: 0 }, Burst { count: 40, kind: 4 }, Burst { count: 63, kind: 2 }];
    for enhanced in [false, true] {
        for format in 0..5 {
            assert!(by_number(enhanced, format, &bursts, 64, 16)?, "{enhanced} {format}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn compressed_completions_are_those_that_would_have_been_written(
        (enhanced, wide) in any::<(bool, bool)>(), format in 0..5u8, step in 1..40usize, bursts in bursts(),
    ) {
        by_number(enhanced, format, &bursts, if wide { 128 } else { 64 }, step).expect("a run");
    }
}
