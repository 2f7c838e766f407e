//! Encodes a request as a WQE: in CPU registers, or in place in the ring. Knows no queue.
use crate::arch::ds::{DsWords, HeldDs, take8};
use crate::types::{DS_BYTES, Ds};
use crate::wqe::cursor::RingCursor;
use crate::wqe::data::{Data, ToCarry, inline_ds};
use crate::wqe::frame::{EthHeaders, MultiPacket};
use crate::wqe::operation::Operation;
use crate::wqe::request::Request;
use crate::wqe::seg::{CtrlSeg, InlineSeg};
use crate::wqe::untyped::{MAX_STORED_DS, Shape, Untyped, byte_count};

/// Goes through the segments of a request from `from` to `to`. No loop: where both are constant, only the segments are
/// left of it.
macro_rules! each_segment {
    ($all:expr, $from:expr, $to:expr, |$n:ident, $ds:ident| $body:block) => {
        each_segment!(@ $all, $from, $to, $n, $ds, $body, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14)
    };
    (@ $all:expr, $from:expr, $to:expr, $n:ident, $ds:ident, $body:block, $($place:literal)*) => {
        const { assert!([$($place),*].len() == MAX_STORED_DS, "each segment has its place here") }
        $(
            if $from <= $place && $place < $to {
                let ($n, $ds): (usize, DsWords) = ($place, $all[$place]);
                $body
            }
        )*
    };
}

impl Untyped<'_> {
    /// The control segment. On a queue that signals all requests, this one completes with a CQE.
    #[inline(always)]
    fn control_segment<F: HeldDs>(&self, opcode: u64, ds: Ds, queue: u64, signal_all: bool) -> F {
        let DsWords([first, second]) = self.control;
        let second = if signal_all { CtrlSeg::signaled(second) } else { second };
        // The queue's part last: the rest may be a constant.
        F::new(DsWords([first, second]))
            .or(F::new(DsWords([opcode | CtrlSeg::size(ds), 0])))
            .or(F::new(DsWords([queue, 0])))
    }
}

impl Request<'_, MultiPacket, ToCarry> {
    /// The segments in front of the frames, of a WQE of `ds`.
    #[inline(always)]
    pub(crate) fn compose_head(&self, queue: u64, signal_all: bool, ds: Ds) -> [DsWords; 2] {
        let opcode = const { CtrlSeg::opcode(0, MultiPacket::OPCODE) };
        let [segment, ..] = self.untyped.segments;
        [self.untyped.control_segment(opcode, ds, queue, signal_all), segment]
    }
}

impl<O: Operation, D: Data> Request<'_, O, D> {
    /// The WQE, or its first `N` DS, in CPU registers in form `F`. The DS past the WQE's end are zero.
    ///
    /// `queue` is the queue's part of the first word, that with the producer index; `signal_all` says whether the queue
    /// signals all requests.
    ///
    /// For requests of a size that is known at compile time. So every index below is a constant, the array never exists
    /// in memory and the checks cost nothing.
    #[inline(always)]
    pub(crate) fn compose<F: HeldDs, const N: usize>(&self, queue: u64, signal_all: bool) -> [F; N] {
        let () = Self::IS_AS_PREPARED;
        let mut wqe = [F::new(DsWords::ZERO); N];
        let mut put = |at: usize, ds: F| {
            if let Some(place) = wqe.get_mut(at) {
                *place = ds;
            }
        };
        let untyped = &self.untyped;
        let ds = const {
            match Self::DS {
                Some(ds) => Ds(ds as u8),
                None => Ds(0),
            }
        };
        put(
            0,
            match O::PREPARED {
                None => untyped.control_segment(const { CtrlSeg::opcode(O::OPMOD, O::OPCODE) }, ds, queue, signal_all),
                Some(_) => F::new(untyped.control).or(F::new(DsWords([queue, 0]))),
            },
        );
        for (n, segment) in untyped.segments.into_iter().enumerate().take(O::STORED_DS) {
            put(1 + n, F::new(segment));
        }
        let mut at = 1 + O::STORED_DS;
        if O::IS_FRAME && O::HEADERS != 0 {
            // As many as the type says: `inline_headers` has taken them from an array of this length.
            let mut headers = untyped.headers.get(..O::HEADERS).unwrap_or_default();
            let [segment, ..] = untyped.segments;
            put(1, F::new(EthHeaders::start(segment, &mut headers)));
            for n in 0..O::DS - O::STORED_DS {
                put(at + n, F::new(DsWords([take8(&mut headers), take8(&mut headers)])));
            }
            at += O::DS - O::STORED_DS;
        }
        if let Some(bytes @ 1..) = D::BYTES {
            let mut data = untyped.bytes.get(..bytes).unwrap_or_default();
            put(at, F::headed(InlineSeg::of(bytes).byte_count.to_bits(), &mut data));
            // Whole DS by their place, and only the last one by its length. Otherwise the compiler would not unroll the
            // loop for long data, and the WQE would lie in memory. (`each_ds` takes twenty instructions more here, because
            // its places are counted.)
            let (whole, mut rest) = data.split_at(data.len() / DS_BYTES * DS_BYTES);
            for (n, ds) in whole.chunks_exact(DS_BYTES).enumerate() {
                put(at + 1 + n, F::new(DsWords::from_bytes(ds)));
            }
            if !rest.is_empty() {
                put(at + inline_ds(bytes) - 1, F::new(DsWords([take8(&mut rest), take8(&mut rest)])));
            }
            at += inline_ds(bytes);
        }
        if let Some(entries) = D::ENTRIES {
            for (n, entry) in untyped.segments.into_iter().skip(O::STORED_DS).enumerate().take(entries) {
                put(at + n, F::new(entry));
            }
        }
        wqe
    }
}

impl Untyped<'_> {
    /// Writes the whole WQE of `ds`, which [`check`](Self::check) has said, into the ring. `queue` is the queue's part of
    /// the first word, and `signal_all` whether the queue signals all requests.
    #[inline(always)]
    pub(crate) fn encode(&self, shape: Shape, queue: u64, signal_all: bool, ds: Ds, ring: &mut RingCursor) {
        ring.ds(self.control_segment(shape.opcode, ds, queue, signal_all));
        let mut headers = self.headers;
        let own = usize::from(shape.stored);
        each_segment!(self.segments, 0, own, |n, segment| {
            let is_start = n == 0 && shape.is_frame;
            ring.ds(if is_start { EthHeaders::start(segment, &mut headers) } else { segment });
        });
        if shape.is_frame {
            ring.bytes(headers);
        }
        if shape.has_bytes && !self.bytes.is_empty() {
            let mut data = self.bytes;
            ring.ds(DsWords::headed(InlineSeg::of(data.len()).byte_count.to_bits(), &mut data));
            ring.bytes(data);
        }
        each_segment!(self.segments, own, shape.all_stored(), |_n, entry| {
            if !self.is_odd || byte_count(&entry) != 0 {
                ring.ds(entry);
            }
        });
        if shape.has_slice {
            for sge in self.entries.iter().filter(|sge| !self.is_odd || sge.length != 0) {
                ring.ds(sge.words());
            }
            self.list.encode(ring);
        }
    }
}
