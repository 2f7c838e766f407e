//! Prepared requests: everything encoded once, except for the producer index and what each shot brings.
use core::marker::PhantomData;

use super::parts::WqeRecord;
use super::send::SendQueue;
use super::send_error::PostError;
use super::slot::Index;
use crate::arch::Packed;
use crate::db::Register;
use crate::transport::Transport;
use crate::types::{Ds, SqPi, Wqebbs, WrId};
use crate::wqe::{
    Control, CtrlSeg, EncodeError, LINE_UNITS, NoLocalMemory, Operation, Request, Sink, SupportedOn, TemplatePayload,
    Unit,
};

/// Units that a template can hold prepared: four WQEBBs, what a BlueFlame register of ConnectX takes. Units that shots
/// bring whole come on top.
const PREPARED_UNITS: usize = 4 * LINE_UNITS;

/// A request of operation `O`, prepared. Firing it sets the queue pair's number, the producer index and what each shot brings
/// ([`TemplatePayload::Data`]), and stores. Made by [`SendQueue::template`], for that queue's limits.
///
/// What a shot brings is told by the request that the template is made of:
///
/// | request | each shot brings |
/// |---|---|
/// | `wqe::write(remote).inline_len::<32>()`, `wqe::send().inline_len::<8>()` | `[u8; 32]`, `[u8; 8]` |
/// | `wqe::write(remote).gather_len::<1>()`, `wqe::read(remote).scatter_len::<2>()` | `[Sge; 1]`, `[Sge; 2]` |
/// | `wqe::frame().inline_headers(headers).inline_len::<64>()`: what is behind the headers | `[u8; 64]` |
/// | any request of arrays, given whole | `()` |
#[derive(Clone, Debug)]
pub struct Template<O, H> {
    /// Control segment with a number and a producer index of zero, the operation's segments, and what the payload has prepared.
    units: [Packed; PREPARED_UNITS],
    record: WqeRecord,
    request: PhantomData<(O, H)>,
}

/// Takes the units of a template.
struct Preparation {
    units: [Packed; PREPARED_UNITS],
    at: usize,
}

impl Sink for Preparation {
    const HAS_STATIC_SIZE: bool = true;

    fn unit(&mut self, Unit(words): Unit) {
        if let Some(place) = self.units.get_mut(self.at) {
            *place = Packed::new(words);
        }
        self.at += 1;
    }
}

impl<O: Operation, H: TemplatePayload> Template<O, H> {
    /// Units before the payload.
    const HEAD: usize = 1 + O::UNITS;

    /// The size of the WQE.
    const DS: Ds = {
        assert!(Self::HEAD + H::UNITS <= Ds::MAX as usize, "the template is longer than a WQE can be");
        assert!(Self::HEAD + H::PREPARED <= PREPARED_UNITS, "too much of the template is prepared");
        Ds((Self::HEAD + H::UNITS) as u8)
    };

    /// Changes the tag that the next shots carry.
    #[inline]
    pub fn set_wr_id(&mut self, wr_id: WrId) {
        self.record.wr_id = wr_id;
    }

    /// Four units from unit `first` on of the shot whose control segment begins with `control`; those past its end are zero.
    #[inline(always)]
    fn line(&self, control: u64, data: &H::Data, first: usize) -> [Packed; LINE_UNITS] {
        // One by one: `array::from_fn` can remain a call, as it does on aarch64.
        [
            self.unit(control, data, first),
            self.unit(control, data, first + 1),
            self.unit(control, data, first + 2),
            self.unit(control, data, first + 3),
        ]
    }

    #[inline(always)]
    fn unit(&self, control: u64, data: &H::Data, n: usize) -> Packed {
        let zero = Packed::new([0; 2]);
        let prepared = if n < Self::HEAD + H::PREPARED { self.units.get(n).copied().unwrap_or(zero) } else { zero };
        if n == 0 {
            prepared.or(Packed::new([control, 0]))
        } else if n < Self::HEAD || n >= Self::HEAD + H::UNITS {
            prepared
        } else {
            prepared.or(H::unit(data, n - Self::HEAD))
        }
    }
}

impl<T: Transport, R: Register> SendQueue<T, R> {
    /// Prepares a request for [`fire`](Self::fire): see [`Template`] for what it may leave open.
    ///
    /// # Errors
    /// If the queue does not take the request, or an entry given is of zero bytes.
    ///
    /// Other queues whose transport has the operation can fire it, too.
    pub fn template<O: SupportedOn<T>, H: TemplatePayload>(
        &self,
        request: Request<O, H>,
    ) -> Result<Template<O, H>, EncodeError> {
        let () = O::FITS;
        request.payload().check(&self.limits())?;
        let ds = Template::<O, H>::DS;
        let mut preparation = Preparation { units: [Packed::new([0; 2]); PREPARED_UNITS], at: 0 };
        let control = Control { qpn: 0, ..self.control(Index::new(SqPi(0))) };
        request.encode_head(&control, ds, &mut preparation);
        request.payload().prepare(&mut preparation);
        let record = WqeRecord { wr_id: request.tag(), wqebbs: u64::from(ds.wqebbs().0) };
        Ok(Template { units: preparation.units, record, request: PhantomData })
    }

    /// Posts a prepared request with what this shot brings, none of which names memory of this side, as
    /// [`post`](Self::post) does. Others go by [`fire_unchecked`](Self::fire_unchecked):
    ///
    /// ```compile_fail,E0277
    /// # use blueflame::{Sge, queue::{SendQueue, Template}, transport, wqe::{self, GatherLen}};
    /// fn fire(sq: &mut SendQueue<transport::Rc>, shot: &Template<wqe::Write, GatherLen<1>>, page: Sge) {
    ///     let _ = sq.fire(shot, &[page]);
    /// }
    /// ```
    ///
    /// # Errors
    /// See [`PostError`]; nothing has been written then.
    #[inline(always)]
    pub fn fire<O: SupportedOn<T>, H: TemplatePayload + NoLocalMemory>(
        &mut self,
        template: &Template<O, H>,
        data: &H::Data,
    ) -> Result<(), PostError> {
        // SAFETY: neither the template nor the data names memory.
        unsafe { self.fire_unchecked(template, data) }
    }

    /// Fires any template as [`fire`](Self::fire) does.
    ///
    /// # Errors
    /// See [`PostError`]; nothing has been written then.
    ///
    /// # Safety
    /// Of memory that the template or `data` names, as for [`post_unchecked`](Self::post_unchecked).
    #[inline(always)]
    pub unsafe fn fire_unchecked<O: SupportedOn<T>, H: TemplatePayload>(
        &mut self,
        template: &Template<O, H>,
        data: &H::Data,
    ) -> Result<(), PostError> {
        let () = O::FITS;
        if !H::is_legal(data) {
            return refuse::<H>(data);
        }
        let ds = const { Template::<O, H>::DS };
        let lines = const { Template::<O, H>::DS.wqebbs().0 as usize };
        let pi = self.index();
        if lines == 1 {
            if self.is_full_at(pi) {
                return Err(self.no_room());
            }
            // SAFETY: the record is one of the shadow, which `from_parts`' caller vouches for.
            unsafe { template.record.store(self.record(self.slot(pi))) };
        } else {
            let wqebbs = self.reserve(pi, ds)?;
            self.remember(pi, wqebbs, template.record.wr_id);
        }
        let control = self.control(pi);
        let control = CtrlSeg::index(control.index) | control.qpn;
        let mut first_line = [Packed::new([0; 2]); LINE_UNITS];
        let mut at = pi;
        for n in 0..lines {
            let line = template.line(control, data, n * LINE_UNITS);
            if n == 0 {
                first_line = line;
            }
            let place = self.wqebb(self.slot(at));
            at = at.add(Wqebbs(1));
            // Bytes past the WQE's end are left alone, as libmlx5 leaves them.
            let units = (usize::from(ds.0) - n * LINE_UNITS).min(LINE_UNITS);
            for (i, unit) in line.into_iter().enumerate().take(units) {
                // SAFETY: `i` is below the 4 units of the WQEBB at `place`, which is free and aligned to its size.
                unsafe { unit.store(place.add(2 * i)) };
            }
        }
        // SAFETY: just put; the caller vouches for the memory it names.
        unsafe { self.publish(at) };
        if ds.0 > 1 && self.copies_to_blueflame(const { H::INLINE || (O::INLINE && H::UNITS == 0) }, lines) {
            // SAFETY: published, the size is checked, and the caller vouches for the memory the request names. Composed anew
            // from the template, not read back from the ring, line by line.
            self.register().ring_doorbell(|half| unsafe {
                half.copy_packed(
                    lines,
                    |n| if n == 0 { first_line } else { template.line(control, data, n * LINE_UNITS) },
                )
            });
        } else {
            // SAFETY: as above; the word was stored a moment ago.
            self.register().ring_doorbell(|half| unsafe { half.write(first_line[0].first_word()) });
        }
        Ok(())
    }
}

/// Says what is wrong with what a shot brings: out of the way of the others.
#[cold]
#[inline(never)]
fn refuse<H: TemplatePayload>(data: &H::Data) -> Result<(), PostError> {
    H::check_data(data).map_err(PostError::Encode)
}
