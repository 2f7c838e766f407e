//! A device with all kinds of queues at once, honest or hostile: sends, receives, shared receives, a list of tags,
//! frames in strides, whole and compressed completions, a resized completion queue. A model knows the owner of each
//! buffer.
//!
//! Each completion is offered to every queue that completes there. A queue takes it exactly if the model does, and
//! hands back the buffer that the completion names, once. While the device is honest, it is also done with each buffer
//! that comes back, and every completion gives one back. Bytes that it writes to rings and doorbell records are no lie:
//! the queues do not look there. Each completion queue has a device of its own, so one may lie while the other does not.

mod list;
mod owners;
mod receives;
mod sends;

use std::collections::VecDeque;

use blueflame::SetupError;
use blueflame::cq::compressed::{BASIC, Checksum, ChecksumStride, ENHANCED, Hash, MiniFormat, Strided};
use blueflame::cq::mode::{Compressed, PollMode, Standard};
use blueflame::cq::setup::CqParts;
use blueflame::cq::{CompletionQueue, CqId, CqeView, Source};
use blueflame::queue::SharedRecvQueue;
use blueflame::types::{CqCi, Cqn, Qpn};

use crate::cqe_ring::{CqeRing, Form};
use crate::memory::{Arena, BASE};
use crate::striding::{Frames, Shape};
use list::List;
use owners::{Holder, Owners};
use receives::{Receives, Shared};
use sends::Sends;
use softhca::memory::HostMemory;

/// Numbers of queue pairs: with sends and receives, with shared receives, with sends beside the frames.
const PAIR: u32 = 0x11;
const SHARED: u32 = 0x12;
const FRAMES: u32 = 0x15;
/// All that a forged completion may name; the last is no queue's.
const NUMBERS: [u32; 6] = [PAIR, SHARED, list::COMMANDS, list::MESSAGES, FRAMES, 0x16];
/// CQEs beside the frames.
const CQES: u32 = 64;

input_enum! {
    /// One call of the program, or one thing that the device does. Each number is taken modulo the count of its objects.
    Step {
        /// The program posts sends: `bits` says which are signalled and which are long. The batch is rung or dropped.
        Send { frames: bool, count: u8, bits: u16, ring: bool },
        /// It posts receives: own, shared, or for messages without a tag.
        Receive { which: u8, count: u8, ring: bool },
        /// It appends a buffer to the list, removes one, or tells of unexpected messages.
        Append { tag: u8, mask: u8 },
        Remove { entry: u8 },
        Sync {},
        /// It polls. With `again`, queues that check everything are offered each completion twice.
        Poll { frames: bool, max: u8, again: bool },
        /// It posts free buffers for frames, or drops a frame that it has kept.
        Refill {},
        Drop { which: u8 },
        /// It resets the queue pair with sends and receives.
        Reset {},
        /// It moves to a ring of another size. Without `ended`, the device does not do its part.
        Resize { log: u8, ended: bool },
        /// The device completes a send, or fails it.
        Sent { frames: bool, n: u8, fails: bool },
        /// It fills a receive; `form` says how.
        Received { which: u8, n: u8, form: u8 },
        /// It reports several in one session, where completions are compressed: sends, receives, shared receives.
        Session { which: u8, count: u8 },
        /// It executes an operation on the list, or has a message for it.
        Execute {},
        Match { n: u8, how: u8 },
        Unexpected { n: u8, how: u8 },
        /// It has a frame, or several, or an end of a WQE, or an error.
        Frame { len: u16, twist: u8 },
        FrameSession { lens: Vec<u16> },
        Filler {},
        FrameError { count: u8 },
        /// It forges a completion.
        Forge { frames: bool, qpn: u8, op_own: u8, counter: u16, bytes: u32, tag: [u8; 4] },
        /// It writes any completion, or any bytes anywhere in the ring, or changes bits of a completion.
        Any { frames: bool, cqe: [u8; 64] },
        Overwrite { frames: bool, ahead: u8, cqe: [u8; 64] },
        Twist { behind: u8, at: u8, bits: u8 },
        /// It writes where it likes, except completions and buffers.
        Scribble { area: u8, at: u16, bytes: [u8; 16] },
    }
}

input_struct! {
    /// The queues, and what becomes of them.
    Input {
        /// How completions are written, of both completion queues.
        kind: u8,
        /// log2 of the CQEs, less 2; the low 3 bits count.
        log_cqes: u8,
        /// As of the target `striding`.
        strides: u8,
        shifted: bool,
        log_wqes: u8,
        buffers: u8,
        steps: Vec<Step>,
    }
}

/// A mode of polling: whether the queue can be resized.
trait Mode: PollMode {
    /// Moves to another ring, if queues of this mode can.
    ///
    /// # Safety
    /// As of [`CompletionQueue::carry_over`].
    unsafe fn carry_over(cq: &mut CompletionQueue<Self>, ring: &CqeRing) -> Result<u32, SetupError>
    where
        Self: Sized;
    const RESIZES: bool;
}

impl Mode for Standard {
    unsafe fn carry_over(cq: &mut CompletionQueue<Self>, ring: &CqeRing) -> Result<u32, SetupError> {
        // SAFETY: the caller promises that the ring is this queue's from now on, and that the old one is readable.
        unsafe { cq.carry_over(ring.arena().ptr(), ring.cqes()) }
    }

    const RESIZES: bool = true;
}

impl<F: MiniFormat, const ENHANCED: bool> Mode for Compressed<F, ENHANCED> {
    unsafe fn carry_over(_: &mut CompletionQueue<Self>, _: &CqeRing) -> Result<u32, SetupError> {
        unreachable!("not resized")
    }

    const RESIZES: bool = false;
}

/// Does it all.
pub fn run(input: &Input) {
    let form = |has_index, enhanced| Form { compressed: true, has_index, has_tag: false, enhanced };
    let (numbered, frames, cqe_bytes) = match input.kind % 6 {
        0 => (Form::WHOLE, Form::WHOLE, 64),
        1 => (Form::WHOLE, Form::WHOLE, 128),
        2 => (form(false, false), form(true, false), 64),
        3 => (form(true, false), Form::WHOLE, 64),
        4 => (form(false, true), form(true, true), 64),
        _ => (Form::WHOLE, form(false, false), 64),
    };
    let rings = (CqeRing::new(4 << (input.log_cqes & 7), cqe_bytes, numbered), CqeRing::new(CQES, 64, frames));
    let records = [Arena::new(64, 0), Arena::new(64, 0)];
    let cqs = [(&rings.0, &records[0], cqe_bytes), (&rings.1, &records[1], 64)].map(|(ring, record, cqe_size)| {
        let parts = CqParts {
            buf: ring.arena().ptr(),
            cqe_cnt: ring.cqes(),
            cqe_size,
            dbrec: record.ptr().cast(),
            cq_uar: record.ptr(),
            cqn: Cqn::truncate(7),
            ci: CqCi::truncate(0),
        };
        // SAFETY: the arenas outlive the queue, and have no other user.
        unsafe { CompletionQueue::from_parts(parts) }.expect("parts of a queue")
    });
    let [a, b] = cqs;
    let play = Play { input, rings, records };
    // SAFETY: for each that is compressed, the ring is written in that format, or hostile.
    unsafe {
        match input.kind % 6 {
            2 => play.run(a.compressed::<Checksum, BASIC>(), b.compressed::<ChecksumStride, BASIC>()),
            3 => play.run(a.compressed::<ChecksumStride, BASIC>(), b),
            4 => play.run(a.compressed::<Hash, ENHANCED>(), b.compressed::<ChecksumStride, ENHANCED>()),
            5 => play.run(a, b.compressed::<Strided<Checksum>, BASIC>()),
            _ => play.run(a, b),
        }
    }
}

/// An input, and the rings and records of the completion queues.
struct Play<'a> {
    input: &'a Input,
    rings: (CqeRing, CqeRing),
    records: [Arena; 2],
}

impl Play<'_> {
    fn run<A: Mode, B: PollMode>(self, a: CompletionQueue<A>, b: CompletionQueue<B>) {
        let Self { input, rings: (ring, frames), records } = self;
        let (numbered, beside) = (a.id(), b.id());
        let shape =
            Shape { strides: input.strides, shifted: input.shifted, log_wqes: input.log_wqes, buffers: input.buffers };
        let mut world = World {
            a,
            device: Device { ring, is_honest: true, polled: 0, pending: VecDeque::new() },
            queues: Queues::new(numbered),
            b,
            frame_sends: Sends::new(Holder::FrameSend, FRAMES, beside),
            frames: Frames::new(&shape, beside, frames),
            owners: Owners::default(),
            records,
        };
        world.frames.refill();
        for step in input.steps.iter().take(300) {
            world.look();
            world.step(step);
            world.check();
        }
        world.finish();
    }
}

/// The device that writes to the completion queue of numbered queues.
struct Device {
    ring: CqeRing,
    is_honest: bool,
    /// The consumer index that the driver has published.
    polled: u32,
    /// The number in each completion that was written and not polled.
    pending: VecDeque<u32>,
}

impl Device {
    fn has_room(&self, completions: u32) -> bool {
        self.ring.has_room(self.polled, completions)
    }

    fn complete(&mut self, cqe: [u8; 64]) {
        self.pending.push_back(number(&cqe));
        self.ring.complete(cqe);
    }

    fn session(&mut self, first: [u8; 64], minis: &[[u8; 8]]) {
        self.pending.extend(minis.iter().map(|_| number(&first)));
        self.ring.session(first, minis);
    }

    /// A lie: it cannot be expected any more that each completion is someone's.
    fn corrupt(&mut self) {
        self.is_honest = false;
        self.pending.clear();
    }
}

fn number(cqe: &[u8; 64]) -> u32 {
    u32::from_be_bytes([0, cqe[57], cqe[58], cqe[59]])
}

/// Queues whose completions have numbers of queue pairs.
struct Queues {
    sends: Sends,
    receives: Receives,
    shared: Shared,
    srq: SharedRecvQueue,
    list: List,
}

impl Queues {
    fn new(cq: CqId) -> Self {
        let mut shared = Shared::new(Holder::Shared, SHARED);
        let srq = shared.queue();
        let sends = Sends::new(Holder::Send, PAIR, cq);
        Self { sends, receives: Receives::new(PAIR, cq), shared, srq, list: List::new(cq) }
    }

    /// Offers a completion to all. Returns how many took it.
    fn offer<S: Source>(&mut self, cqe: &CqeView<S>, owners: &mut Owners, is_honest: bool) -> usize {
        let Self { sends, receives, shared, srq, list } = self;
        let taken = [
            sends.offer(cqe, owners, is_honest),
            receives.offer(cqe, owners, is_honest),
            shared.offer(srq, cqe, owners, is_honest),
            list.offer(cqe, owners, is_honest),
        ];
        taken.into_iter().filter(|&taken| taken).count()
    }

    /// Offers it once more to those that can tell.
    fn offer_again<S: Source>(&mut self, cqe: &CqeView<S>, owners: &mut Owners, is_honest: bool) -> bool {
        self.sends.offer(cqe, owners, is_honest) || self.receives.offer(cqe, owners, is_honest)
    }

    /// Memory that the device may write to: rings and records.
    fn areas(&self) -> [&Arena; 10] {
        let Self { sends, receives, shared, list, .. } = self;
        [
            &sends.memory.ring,
            &sends.memory.record,
            &receives.ring,
            &receives.record,
            &shared.ring,
            &shared.record,
            &list.commands.ring,
            &list.commands.record,
            &list.shared.ring,
            &list.shared.record,
        ]
    }
}

struct World<A: PollMode, B: PollMode> {
    a: CompletionQueue<A>,
    device: Device,
    queues: Queues,
    b: CompletionQueue<B>,
    /// Sends that complete beside the frames.
    frame_sends: Sends,
    frames: Frames,
    owners: Owners,
    records: [Arena; 2],
}

impl<A: Mode, B: PollMode> World<A, B> {
    /// The devices look where the program is.
    fn look(&mut self) {
        let polled = self.b.consumer_index().get();
        let Frames { device, model, .. } = &mut self.frames;
        device.look(model, polled);
        if !self.device.is_honest && self.device.polled == self.a.consumer_index().get() {
            return;
        }
        self.device.polled = self.records[0].load_be32(BASE).expect("the record");
        if !self.device.is_honest {
            self.device.ring.index = self.a.consumer_index().get();
            self.device.polled = self.device.ring.index;
        }
    }

    fn step(&mut self, step: &Step) {
        let Self { queues, owners, frames, device, .. } = self;
        match *step {
            Step::Send { frames, count, bits, ring } => {
                let sends = if frames { &mut self.frame_sends } else { &mut queues.sends };
                sends.post(owners, count, bits, ring);
            }
            Step::Receive { which, count, ring } => match which % 3 {
                0 => queues.receives.post(owners, count, ring),
                1 => queues.shared.post(queues.srq.batch(), owners, count, ring),
                _ => queues.list.post(owners, count, ring),
            },
            Step::Append { tag, mask } => queues.list.append(owners, tag, mask),
            Step::Remove { entry } => queues.list.remove(entry),
            Step::Sync {} => queues.list.sync(),
            Step::Poll { frames: false, max, again } => _ = self.poll(max.into(), again),
            Step::Poll { frames: true, max, again } => _ = self.poll_frames(max.into(), again),
            Step::Refill {} => frames.refill(),
            Step::Drop { which } => frames.drop_frame(which.into()),
            Step::Reset {} => self.reset(),
            Step::Resize { log, ended } => self.resize(log, ended),
            Step::Frame { len, twist } => frames.device.frame(&frames.model, len, twist),
            Step::FrameSession { ref lens } => frames.device.session(&frames.model, lens),
            Step::Filler {} => frames.device.filler(&frames.model),
            Step::FrameError { count } => frames.device.error(&frames.model, count),
            Step::Sent { frames: true, n, fails } => {
                if frames.device.has_place() {
                    let cqe = self.frame_sends.complete(owners, n, fails);
                    cqe.into_iter().for_each(|cqe| frames.device.ring.complete(cqe));
                }
            }
            Step::Scribble { area, at, bytes } => {
                let areas = queues.areas();
                let area = usize::from(area) % (areas.len() + 2);
                match areas.get(area) {
                    Some(area) => area.scribble(at.into(), &bytes),
                    None => frames.scribble(area == areas.len(), at.into(), &bytes),
                }
            }
            Step::Forge { frames: true, .. }
            | Step::Any { frames: true, .. }
            | Step::Overwrite { frames: true, .. } => {
                frames.device.corrupt();
                write(&mut frames.device.ring, step);
            }
            Step::Forge { .. } | Step::Any { .. } | Step::Overwrite { .. } | Step::Twist { .. } => {
                device.corrupt();
                write(&mut device.ring, step);
            }
            Step::Sent { .. }
            | Step::Received { .. }
            | Step::Session { .. }
            | Step::Execute {}
            | Step::Match { .. }
            | Step::Unexpected { .. } => self.complete(step),
        }
    }

    /// The device completes something, by the rules.
    fn complete(&mut self, step: &Step) {
        let Self { device, queues, owners, .. } = self;
        let Queues { sends, receives, shared, list, .. } = queues;
        let form = device.ring.form;
        if let Step::Session { which, count } = *step {
            let count = 2 + usize::from(count % 12);
            if !form.compressed || !device.has_room(count as u32) {
                return;
            }
            let session = match which % 3 {
                0 => sends.session(owners, count),
                1 => receives.session(owners, count),
                _ if form.has_index => shared.session(owners, count),
                _ => None,
            };
            session.into_iter().for_each(|(first, minis)| device.session(first, &minis));
            return;
        }
        if !device.has_room(1) {
            return;
        }
        let cqe = match *step {
            Step::Sent { n, fails, .. } => sends.complete(owners, n, fails),
            Step::Received { which, n, form } => {
                let form = match form % 4 {
                    1 if !device.ring.form.compressed => receives::Form::Inline,
                    2 if device.ring.is_wide() => receives::Form::InlineInFront,
                    3 if form % 8 == 7 => receives::Form::Aborted,
                    3 => receives::Form::Failed,
                    _ => receives::Form::Plain,
                };
                let filled =
                    if which % 2 == 0 { receives.fill(owners, n % 4, form) } else { shared.fill(owners, n, form) };
                filled.map(|(cqe, front)| {
                    front.iter().for_each(|front| device.ring.store_front(front));
                    cqe
                })
            }
            Step::Execute {} => list.execute(owners),
            Step::Match { n, how } => list.matched(owners, n, how),
            Step::Unexpected { n, how } => list.unexpected(owners, n, how),
            _ => None,
        };
        cqe.into_iter().for_each(|cqe| device.complete(cqe));
    }

    fn poll(&mut self, max: usize, again: bool) -> usize {
        let Self { a, device, queues, owners, .. } = self;
        let is_honest = device.is_honest;
        let polled = a.poll_with(max, |cqe| {
            let taken = queues.offer(&cqe, owners, is_honest);
            if is_honest {
                assert_eq!(device.pending.pop_front(), Some(cqe.qpn().get()), "of {cqe:?}");
                assert_eq!(taken, 1, "an honest completion is one queue's: {cqe:?}");
            }
            assert!(!again || !queues.offer_again(&cqe, owners, is_honest) || !is_honest, "twice: {cqe:?}");
        });
        check_bound(polled, &device.ring);
        polled
    }

    fn poll_frames(&mut self, max: usize, again: bool) -> usize {
        let Self { b, frames, frame_sends, owners, .. } = self;
        let mut n = 0_u32;
        let polled = b.poll_with(max, |cqe| {
            n += 1;
            let is_honest = frames.device.is_honest();
            let is_send =
                cqe.opcode() == blueflame::cq::CqeOpcode::Req || cqe.opcode() == blueflame::cq::CqeOpcode::ReqErr;
            let taken = frame_sends.offer(&cqe, owners, is_honest);
            assert!(!is_honest || taken == is_send, "{cqe:?}");
            assert!(!again || !frame_sends.offer(&cqe, owners, is_honest) || !is_honest, "twice: {cqe:?}");
            if !(is_honest && is_send) {
                frames.receive(&cqe, n.is_multiple_of(2), again);
            }
        });
        check_bound(polled, &frames.device.ring);
        polled
    }

    fn reset(&mut self) {
        let Self { a, device, queues, owners, .. } = self;
        let mut forgotten = 0;
        let removed = a.forget_with(Qpn::truncate(PAIR), |cqe| {
            assert_eq!(cqe.qpn().get(), PAIR);
            forgotten += 1;
        });
        assert_eq!(removed, forgotten);
        assert!(!a.holds(Qpn::truncate(PAIR)) || !device.is_honest);
        if device.is_honest {
            let before = device.pending.len();
            device.pending.retain(|qpn| *qpn != PAIR);
            assert_eq!(removed, before - device.pending.len());
            // In this layout, other completions of their sessions are lost with them.
            if device.ring.form.enhanced && !device.pending.is_empty() {
                device.corrupt();
            }
        }
        queues.sends.reset(owners);
        queues.receives.reset(owners);
    }

    fn resize(&mut self, log: u8, ended: bool) {
        let Self { a, device, .. } = self;
        let cqes = 4 << (log & 7);
        let pending = device.pending.len() as u32;
        if !A::RESIZES || device.is_honest && (pending > cqes || !device.has_room(1)) {
            return;
        }
        if !ended {
            device.corrupt();
        }
        let before = a.consumer_index();
        let old = device.ring.resize(cqes, ended);
        // SAFETY: the new ring is marked, and stays; the old one does until this returns.
        let carried = unsafe { A::carry_over(a, &device.ring) };
        drop(old);
        assert_eq!((a.consumer_index(), a.capacity()), (before.add(1), cqes));
        assert!(!device.is_honest || carried == Ok(pending), "{carried:?} of {pending}");
    }

    fn check(&self) {
        let Self { queues, owners, frame_sends, .. } = self;
        queues.sends.check(owners);
        queues.receives.check(owners);
        queues.shared.check(&queues.srq, owners);
        queues.list.check(owners);
        frame_sends.check(owners);
    }

    /// Polls all. A hostile ring may seem full again and again: each pass over it ends.
    fn finish(mut self) {
        for _ in 0..4 {
            self.poll(1 << 12, false);
            self.poll_frames(1 << 12, false);
        }
        if self.device.is_honest {
            assert!(self.device.pending.is_empty(), "completions are lost: {:?}", self.device.pending);
            let numbered = [Holder::Send, Holder::Receive, Holder::Shared, Holder::List, Holder::Unexpected];
            self.owners.check_none_lost(&numbered);
        }
        if self.frames.device.is_honest() {
            self.owners.check_none_lost(&[Holder::FrameSend]);
        }
        self.check();
        self.frames.device.drained();
        self.frames.finish();
    }
}

/// One call finds at most a ring of completions, and the rest of a session.
fn check_bound(polled: usize, ring: &CqeRing) {
    assert!(polled <= 2 * ring.cqes() as usize, "{polled} completions in a ring of {}", ring.cqes());
}

/// A lie of the device in a ring.
fn write(ring: &mut CqeRing, step: &Step) {
    match *step {
        Step::Forge { qpn, op_own, counter, bytes, tag, .. } => {
            let mut cqe = owners::cqe(op_own, NUMBERS[usize::from(qpn) % NUMBERS.len()], counter, bytes);
            cqe[40..44].copy_from_slice(&tag);
            ring.complete(cqe);
        }
        Step::Any { cqe, .. } => ring.complete(cqe),
        Step::Overwrite { ahead, ref cqe, .. } => ring.store(ahead.into(), cqe),
        Step::Twist { behind, at, bits } => ring.twist(behind.into(), at.into(), bits),
        _ => unreachable!("no lie"),
    }
}
