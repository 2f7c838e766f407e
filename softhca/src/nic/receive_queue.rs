//! A receive queue of Ethernet frames: one WQE for each frame, or one for several, each in strides of its own.

use super::context::ReceiveQueueContext;
use super::description::{describe, header};
use super::hash::Hash;
use super::merging::{Merging, Segment, Session};
use super::strides::{Fit, Progress, Strides};
use crate::context::QueueState;
use crate::cq::{Completion, FrameInfo, Syndrome, TakenStrides};
use crate::ethernet::Headers;
use crate::event::Event;
use crate::explanation::Subject;
use crate::qp::Failure;
use crate::recv::{RecvWqe, Rq};
use crate::resources::Resources;
use crate::wqe::{DataSeg, DataSegs};
use std::time::Duration;

/// WQEs flushed in one step at most.
const FLUSHES_PER_STEP: usize = 64;
/// Where a VLAN tag is in a frame, and its bytes.
const TAG: std::ops::Range<usize> = 12..16;
/// EtherType of the tags that are taken out.
const CUSTOMER_VLAN: u16 = 0x8100;

/// A receive queue.
#[derive(Debug)]
pub(crate) struct ReceiveQueue {
    context: ReceiveQueueContext,
    ring: Rq,
    /// The WQE that frames go to, if it has strides. The ring still has it as the next one.
    open: Option<Open>,
    /// The frame that further segments go into.
    growing: Option<Growing>,
    state: QueueState,
    /// TIRs and RQTs that name it.
    pub(super) users: u32,
}

/// A WQE with strides, some of which may be used.
#[derive(Debug)]
struct Open {
    segs: DataSegs,
    progress: Progress,
}

/// A frame of TCP segments whose CQE is to come.
#[derive(Debug)]
struct Growing {
    session: Session,
    place: Place,
    /// The description of the first segment.
    info: FrameInfo,
    bytes: usize,
}

/// What steering and a TIR say of a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steered {
    pub(super) hash: Hash,
    pub(super) flow_tag: u32,
    pub(super) metadata: u32,
    pub(super) merging: Option<Merging>,
}

/// Where a frame goes.
#[derive(Debug)]
struct Place {
    segs: DataSegs,
    /// Offset in the buffers, and bytes before the frame.
    offset: u64,
    padding: &'static [u8],
    /// Running number of the WQE.
    wqe: u16,
    strides: Option<TakenStrides>,
}

impl Place {
    /// Offset of the frame in the buffers.
    fn frame_at(&self) -> u64 {
        self.offset + self.padding.len() as u64
    }
}

/// Bytes of buffers.
fn room(segs: &[DataSeg]) -> u64 {
    segs.iter().map(|seg| u64::from(seg.len)).sum()
}

fn ring(context: &ReceiveQueueContext) -> Rq {
    let make = if context.strides.is_some() { Rq::of_strides } else { Rq::of_frames };
    make(context.ring, context.dbr)
}

impl ReceiveQueue {
    /// A queue in the reset state.
    pub(super) fn new(context: ReceiveQueueContext) -> Self {
        Self { ring: ring(&context), context, open: None, growing: None, state: QueueState::Reset, users: 0 }
    }

    /// Its context, with all later changes.
    pub(crate) fn context(&self) -> &ReceiveQueueContext {
        &self.context
    }

    /// The context, to change it.
    pub(super) fn context_mut(&mut self) -> &mut ReceiveQueueContext {
        &mut self.context
    }

    /// Its state.
    pub(crate) fn state(&self) -> QueueState {
        self.state
    }

    /// WQEs consumed and posted, 16 bits.
    pub(crate) fn counters(&self, resources: &Resources) -> (u16, u16) {
        self.ring.counters(&*resources.memory)
    }

    /// Moves it to a state that it can go to.
    pub(super) fn set_state(&mut self, to: QueueState) {
        if to == QueueState::Reset {
            (self.ring, self.open, self.growing) = (ring(&self.context), None, None);
        }
        self.state = to;
    }

    /// Takes a frame, with its headers and those inside of its tunnel. Without a WQE for it, it is lost. A segment that
    /// is merged waits for others.
    pub(super) fn receive(
        &mut self,
        rqn: u32,
        resources: &mut Resources,
        (frame, headers, inside): (&[u8], &Headers, Option<&Headers>),
        steered: Steered,
    ) {
        if self.state != QueueState::Ready {
            return;
        }
        let described = describe(headers, inside);
        let Steered { hash, flow_tag, metadata, merging } = steered;
        let mut info = FrameInfo { rss_hash: hash.value, rss_hash_type: hash.kind, flow_tag, metadata, ..described };
        let segment = merging.and_then(|merging| Segment::of(merging, frame, headers));
        let tag = headers.tags[0].filter(|tag| self.context.strips_vlan && tag.ether_type == CUSTOMER_VLAN);
        let mut bytes = std::borrow::Cow::Borrowed(frame);
        if let Some(tag) = tag {
            bytes.to_mut().drain(TAG);
            info.vlan = tag.control;
            info.headers |= header::VLAN;
        }
        if let Some(mut growing) = self.growing.take() {
            match &segment {
                Some(segment) if self.extend(&mut growing, segment, &info) => {
                    return self.grow(rqn, resources, growing, (segment, frame));
                }
                _ => self.finish(rqn, resources, &growing),
            }
        }
        let place = match self.context.strides {
            None => self.place(rqn, resources, bytes.len()),
            Some(strides) => self.place_in_strides(rqn, resources, strides, bytes.len()),
        };
        let Some(place) = place else { return };
        if !self.store(rqn, resources, &place, [(place.offset, place.padding), (place.frame_at(), &bytes)]) {
            return;
        }
        match segment {
            None => self.complete(rqn, resources, &place, bytes.len(), info),
            Some(segment) => {
                let session = Session::new(segment, frame, resources.now);
                self.keep_or_finish(rqn, resources, Growing { session, place, info, bytes: bytes.len() });
            }
        }
    }

    /// When the frame that grows must be completed, if there is one.
    pub(super) fn merges_until(&self) -> Option<Duration> {
        self.growing.as_ref().map(|growing| growing.session.until)
    }

    /// Completes the frame that grows, if there is one.
    pub(super) fn finish_merging(&mut self, rqn: u32, resources: &mut Resources) {
        if let Some(growing) = self.growing.take() {
            self.finish(rqn, resources, &growing);
        }
    }

    /// Forgets the frame that grows.
    pub(super) fn drop_merging(&mut self) {
        self.growing = None;
    }

    /// Whether a segment, described by `info`, continues the frame that grows, and the WQE has room for it. Takes the
    /// room.
    fn extend(&mut self, growing: &mut Growing, segment: &Segment, info: &FrameInfo) -> bool {
        let Growing { session, place, info: first, bytes } = growing;
        let is_alike = FrameInfo { sum: 0, ..*first } == FrameInfo { sum: 0, ..*info };
        let bytes = *bytes + segment.data.len();
        if !is_alike || !session.takes(segment) {
            return false;
        }
        let Some(taken) = place.strides else { return bytes as u64 <= room(&place.segs) };
        let grown = self.open.as_mut().and_then(|open| Some((open.progress.extend(taken, bytes)?, open.progress)));
        if let Some((taken, progress)) = grown {
            place.strides = Some(taken);
            if progress.is_over() {
                self.ring.advance();
                self.open = None;
            }
        }
        grown.is_some()
    }

    /// Lets a frame grow by a segment, for which it has room.
    fn grow(&mut self, rqn: u32, resources: &mut Resources, mut growing: Growing, (segment, frame): (&Segment, &[u8])) {
        let (at, data) = (growing.place.frame_at() + growing.bytes as u64, &frame[segment.data.clone()]);
        if self.store(rqn, resources, &growing.place, [(at, data)]) {
            growing.bytes += data.len();
            growing.session.add(segment, frame);
            self.keep_or_finish(rqn, resources, growing);
        }
    }

    fn keep_or_finish(&mut self, rqn: u32, resources: &mut Resources, growing: Growing) {
        if growing.session.is_over() {
            self.finish(rqn, resources, &growing);
        } else {
            self.growing = Some(growing);
        }
    }

    /// Completes a frame of segments.
    fn finish(&self, rqn: u32, resources: &mut Resources, growing: &Growing) {
        let (merged, sum) = growing.session.report();
        let info = FrameInfo { merged: Some(merged), sum, ..growing.info };
        self.complete(rqn, resources, &growing.place, growing.bytes, info);
    }

    /// Writes bytes to their offsets in a WQE's buffers. `false` if the WQE fails by that.
    fn store<const N: usize>(
        &mut self,
        rqn: u32,
        resources: &mut Resources,
        place: &Place,
        pieces: [(u64, &[u8]); N],
    ) -> bool {
        let by = self.context.pd.into();
        let scattered = pieces.iter().try_for_each(|(at, bytes)| resources.scatter(by, &place.segs, *at, bytes));
        resources.report_signature_errors(self.context.cqn, rqn);
        if let Err(fault) = &scattered {
            log::warn!("RQ {rqn:#x}: receive WQE {:#x}: {fault}", place.wqe);
            self.fail(rqn, resources, (place.wqe, place.strides), Failure::RECEIVE_PROTECTION);
        }
        scattered.is_ok()
    }

    fn complete(&self, rqn: u32, resources: &mut Resources, place: &Place, bytes: usize, info: FrameInfo) {
        let (uidx, wqe_counter, strides) = (self.context.uidx, place.wqe, place.strides);
        let completion = Completion::Frame { rqn, uidx, wqe_counter, byte_cnt: bytes as u32, strides, info };
        resources.complete(self.context.cqn, self.context.timestamps, completion);
    }

    /// A WQE for a frame of `len` bytes alone. Without one, the frame is lost.
    fn place(&mut self, rqn: u32, resources: &mut Resources, len: usize) -> Option<Place> {
        let RecvWqe { counter: wqe, segs } = self.next(rqn, resources)?;
        self.ring.advance();
        let Ok(segs) = segs else {
            self.fail(rqn, resources, (wqe, None), Failure::BAD_RECEIVE_WQE);
            return None;
        };
        if len as u64 > room(&segs) {
            // The queue goes on: only this frame was too long.
            self.complete_in_error(rqn, resources, (wqe, None), Failure::RECEIVE_LENGTH);
            return None;
        }
        Some(Place { segs, offset: 0, padding: &[], wqe, strides: None })
    }

    /// Strides for a frame of `len` bytes: of the WQE in use, or of the next one if that has too few. Without any, the
    /// frame is lost.
    ///
    /// The host gets a WQE back when all of its strides are used. If it posts the WQE again before, the ring has more
    /// WQEs than places.
    fn place_in_strides(&mut self, rqn: u32, resources: &mut Resources, strides: Strides, len: usize) -> Option<Place> {
        loop {
            let mut open = match self.open.take() {
                Some(open) => open,
                None => self.open(rqn, resources, strides)?,
            };
            if let Err(fault) = self.ring.is_posted(&*resources.memory) {
                log::warn!("RQ {rqn:#x}: {fault}");
                self.strand(rqn, resources);
                return None;
            }
            let wqe = open.progress.left().wqe;
            match open.progress.place(len) {
                Fit::Here(taken) => {
                    let place = Place {
                        segs: open.segs.clone(),
                        offset: strides.offset(taken.first.into()),
                        padding: strides.padding(),
                        wqe,
                        strides: Some(taken),
                    };
                    if open.progress.is_over() {
                        self.ring.advance();
                    } else {
                        self.open = Some(open);
                    }
                    return Some(place);
                }
                Fit::Next(strides) => {
                    self.ring.advance();
                    let filler = Completion::Filler { rqn, uidx: self.context.uidx, strides };
                    resources.complete(self.context.cqn, self.context.timestamps, filler);
                }
                Fit::Nowhere => {
                    // The WQE is used up, like a WQE for one frame, and the queue goes on.
                    self.ring.advance();
                    let left = open.progress.left();
                    self.complete_in_error(rqn, resources, (wqe, Some(left)), Failure::RECEIVE_LENGTH);
                    return None;
                }
            }
        }
    }

    /// Begins with the next WQE.
    fn open(&mut self, rqn: u32, resources: &mut Resources, strides: Strides) -> Option<Open> {
        let RecvWqe { counter: wqe, segs } = self.next(rqn, resources)?;
        let progress = Progress::new(wqe, strides);
        // Drivers give a buffer of all strides (DPDK `drivers/net/mlx5/mlx5_rx.c`, `mlx5_rxq_initialize`;
        // NVIDIA/daqiri `daqiri_ibverbs_engine.cpp`, `devx_build_wqe`). A smaller one is in no public source.
        match segs {
            Ok(segs) if room(&segs) >= strides.wqe_bytes() => Some(Open { segs, progress }),
            other => {
                log::warn!("RQ {rqn:#x}: receive WQE {wqe:#x} is not one of {} bytes: {other:?}", strides.wqe_bytes());
                self.ring.advance();
                self.fail(rqn, resources, (wqe, Some(progress.left())), Failure::BAD_RECEIVE_WQE);
                None
            }
        }
    }

    /// Whether each WQE that is posted is flushed.
    pub(super) fn is_flushing(&self) -> bool {
        self.state == QueueState::Error && self.context.flushes
    }

    /// Completes WQEs as flushed, as many as one step may. `true` if there were any.
    pub(super) fn step(&mut self, rqn: u32, resources: &mut Resources) -> bool {
        if !self.is_flushing() {
            return false;
        }
        let mut flushed = false;
        for _ in 0..FLUSHES_PER_STEP {
            let Ok(Some(wqe)) = self.ring.take(&*resources.memory) else { break };
            let left = self.open.take().map(|open| open.progress);
            let left = left.or(self.context.strides.map(|strides| Progress::new(wqe.counter, strides)));
            let left = left.map(|progress| progress.left());
            self.complete_in_error(rqn, resources, (wqe.counter, left), Failure::FLUSH);
            flushed = true;
        }
        flushed
    }

    /// It can report nothing any more.
    pub(super) fn strand(&mut self, rqn: u32, resources: &mut Resources) {
        self.drop_merging();
        if self.state == QueueState::Ready {
            self.state = QueueState::Error;
            resources.raise(Event::RqError { rqn });
        }
    }

    /// The next WQE, not consumed yet; none if none is posted, or the ring cannot be read.
    fn next(&mut self, rqn: u32, resources: &mut Resources) -> Option<RecvWqe> {
        match self.ring.peek(&*resources.memory) {
            Ok(Some(wqe)) => Some(wqe),
            Ok(None) => {
                resources.count_out_of_buffer(self.context.counter);
                None
            }
            Err(fault) => {
                log::warn!("RQ {rqn:#x}: {fault}");
                self.strand(rqn, resources);
                None
            }
        }
    }

    /// A WQE failed in a way after which the queue stops.
    fn fail(&mut self, rqn: u32, resources: &mut Resources, wqe: (u16, Option<TakenStrides>), failure: Failure) {
        self.complete_in_error(rqn, resources, wqe, failure);
        self.state = QueueState::Error;
    }

    fn complete_in_error(
        &self,
        rqn: u32,
        resources: &mut Resources,
        (wqe_counter, strides): (u16, Option<TakenStrides>),
        failure: Failure,
    ) {
        resources.count_receive_error(self.context.counter, failure.syndrome);
        if failure.syndrome != Syndrome::WrFlush {
            resources.explanations.add(rqn, Subject::Receive(wqe_counter, failure.syndrome), failure.reason);
        }
        let completion = Completion::Error {
            qpn: rqn,
            uidx: self.context.uidx,
            requester: false,
            opcode: 0,
            wqe_counter,
            strides,
            syndrome: failure.syndrome,
            vendor_syndrome: failure.vendor,
            hardware_syndrome: failure.hardware,
        };
        resources.complete(self.context.cqn, self.context.timestamps, completion);
    }
}
