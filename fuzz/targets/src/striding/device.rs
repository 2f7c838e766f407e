//! The device: its completions keep the format, or break it.

use std::collections::VecDeque;

use super::model::{Expected, Model};
use crate::cqe_ring::CqeRing;

/// The most completions of a session that this device writes.
const SESSION: usize = 16;
/// A flow's tag.
const TAG: u32 = 0x0a0b0c;
const FRAME: u8 = 2 << 4;
const ERROR: u8 = 14 << 4;

pub(crate) struct Device {
    pub(crate) ring: CqeRing,
    /// The driver's consumer index.
    polled: u32,
    /// Index of the WQE that is being filled, and its next stride.
    wqe: u32,
    next: u32,
    /// Frames that the driver has not received, the oldest first: number of the stride, bytes.
    frames: VecDeque<(u32, usize)>,
    /// All its completions have kept the format.
    is_honest: bool,
}

impl Device {
    pub(crate) fn new(ring: CqeRing) -> Self {
        let frames = VecDeque::new();
        Self { ring, polled: 0, wqe: 0, next: 0, frames, is_honest: true }
    }

    /// Before each step: a device whose completions are all polled goes on where the driver is.
    pub(crate) fn look(&mut self, model: &Model, polled: u32) {
        self.polled = polled;
        if !self.is_honest || self.ring.index == polled {
            self.ring.index = polled;
            (self.wqe, self.next) = (model.oldest, model.next);
        }
    }

    /// Whether there is room for `completions` completions, and a WQE to fill.
    fn has_room(&self, model: &Model, completions: usize) -> bool {
        self.ring.has_room(self.polled, completions as u32) && self.ahead(model) < model.posted.len()
    }

    /// Whether there is room for a completion of another queue.
    pub(crate) fn has_place(&self) -> bool {
        self.ring.has_room(self.polled, 1)
    }

    /// How many WQEs the device has filled that the driver has not taken.
    fn ahead(&self, model: &Model) -> usize {
        self.wqe.wrapping_sub(model.oldest) as usize
    }

    fn cqe(&self, first: u32, word: u32, op: u8) -> [u8; 64] {
        let mut cqe = [0; 64];
        cqe[2..4].copy_from_slice(&(self.wqe as u16).to_be_bytes());
        cqe[44..48].copy_from_slice(&word.to_be_bytes());
        cqe[56..60].copy_from_slice(&TAG.to_be_bytes());
        cqe[60..62].copy_from_slice(&(first as u16).to_be_bytes());
        cqe[63] = op;
        cqe
    }

    /// Uses `strides` strides of the WQE.
    fn fill(&mut self, model: &Model, strides: u32) {
        self.next += strides;
        if self.next >= model.count {
            (self.wqe, self.next) = (self.wqe.wrapping_add(1), 0);
        }
    }

    /// A length that a WQE has room for.
    fn len(model: &Model, len: u16) -> u32 {
        1 + u32::from(len) % (model.count * model.bytes - model.shift).min(0xffff)
    }

    pub(crate) fn frame(&mut self, model: &Model, len: u16, twist: u8) {
        let len = Self::len(model, len);
        let strides = model.strides_of(len);
        if self.next + strides > model.count {
            self.filler(model);
        }
        if !self.has_room(model, 1) {
            return;
        }
        if twist != 0 {
            self.is_honest = false;
            let [first, wqe, counted] = [twist & 3, twist >> 2 & 3, twist >> 4].map(u32::from);
            let mut cqe = self.cqe(self.next.wrapping_add(first).wrapping_sub(1), counted << 16 | len, FRAME);
            cqe[3] = cqe[3].wrapping_add(wqe as u8);
            self.ring.complete(cqe);
        } else {
            self.frames.push_back((self.next, len as usize));
            self.ring.complete(self.cqe(self.next, strides << 16 | len, FRAME));
        }
        self.fill(model, strides);
    }

    pub(crate) fn filler(&mut self, model: &Model) {
        if self.next != 0 && self.has_room(model, 1) {
            let left = model.count - self.next;
            self.ring.complete(self.cqe(self.next, 1 << 31 | left << 16, FRAME));
            self.fill(model, left);
        }
    }

    pub(crate) fn error(&mut self, model: &Model, count: u8) {
        if self.has_room(model, 1) {
            let left = model.count - self.next;
            let strides = if count == 0 { left } else { left.min(count.into()) };
            self.ring.complete(self.cqe(self.next, u32::from(count) << 16, ERROR));
            self.fill(model, strides);
        }
    }

    /// Frames of one WQE, in one session if completions are compressed.
    pub(crate) fn session(&mut self, model: &Model, lens: &[u16]) {
        let lens: Vec<u32> = lens.iter().take(SESSION).map(|&len| Self::len(model, len).min(4 * model.bytes)).collect();
        let mut first = self.next;
        let mut frames = Vec::new();
        for len in lens {
            let strides = model.strides_of(len);
            if first + strides > model.count {
                break;
            }
            frames.push((first, strides, len));
            first += strides;
        }
        if frames.len() < 2 || !self.has_room(model, frames.len()) {
            return;
        }
        self.frames.extend(frames.iter().map(|&(first, _, len)| (first, len as usize)));
        let whole = |&(first, strides, len): &(u32, u32, u32)| self.cqe(first, strides << 16 | len, FRAME);
        if self.ring.form.compressed {
            let minis: Vec<[u8; 8]> = frames.iter().map(|frame| self.mini(frame)).collect();
            self.ring.session(whole(&frames[0]), &minis);
        } else {
            let cqes: Vec<[u8; 64]> = frames.iter().map(whole).collect();
            cqes.into_iter().for_each(|cqe| self.ring.complete(cqe));
        }
        self.fill(model, first - self.next);
    }

    fn mini(&self, &(first, strides, len): &(u32, u32, u32)) -> [u8; 8] {
        let mut mini = [0x77; 8];
        if self.ring.form.has_index {
            mini[2..4].copy_from_slice(&(first as u16).to_be_bytes());
        }
        let word = if self.ring.form.has_tag {
            mini[..2].copy_from_slice(&(TAG as u16).to_be_bytes());
            TAG >> 16 << 24 | len
        } else {
            strides << 16 | len
        };
        mini[4..].copy_from_slice(&word.to_be_bytes());
        mini
    }

    pub(crate) fn any(&mut self, cqe: [u8; 64]) {
        self.is_honest = false;
        self.ring.complete(cqe);
    }

    pub(crate) fn scribble(&mut self, slot: u8, cqe: &[u8; 64]) {
        self.is_honest = false;
        self.ring.store(slot.into(), cqe);
    }

    /// The driver's answer to a completion, the first time or the second.
    pub(crate) fn received(&mut self, expected: &Expected, is_first: bool) {
        match *expected {
            _ if !self.is_honest => {}
            Expected::Frame { at, len, .. } => {
                assert!(is_first, "a frame twice");
                let sent = self.frames.pop_front();
                assert!(sent.is_some_and(|(_, bytes)| bytes == len), "{len} bytes at {at}, but sent were {sent:?}");
            }
            Expected::Refused => assert!(!is_first, "a completion that keeps the format"),
            // An error that is received twice counts twice.
            Expected::Nothing => self.is_honest = is_first,
        }
    }

    /// Whether all its completions have kept the format.
    pub(crate) fn is_honest(&self) -> bool {
        self.is_honest
    }

    /// From now on, completions break the format.
    pub(crate) fn corrupt(&mut self) {
        self.is_honest = false;
    }

    /// The driver has polled all.
    pub(crate) fn drained(&self) {
        assert!(!self.is_honest || self.frames.is_empty(), "lost: {:?}", self.frames);
    }
}
