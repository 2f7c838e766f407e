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
    Composed, Control, CtrlSeg, EncodeError, NoLocalMemory, Operation, Request, SupportedOn, TemplatePayload, WQEBB_DS,
};

/// DS that a template can hold prepared: four WQEBBs, what a BlueFlame register of ConnectX takes. DS that shots bring whole
/// come on top.
const PREPARED_DS: usize = 4 * WQEBB_DS;

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
    prepared: Composed<Packed, PREPARED_DS>,
    record: WqeRecord,
    request: PhantomData<(O, H)>,
}

impl<O: Operation, H: TemplatePayload> Template<O, H> {
    /// DS before the payload.
    const HEAD: usize = 1 + O::DS;

    /// The size of the WQE.
    const DS: Ds = {
        assert!(Self::HEAD + H::DS <= Ds::MAX as usize, "the template is longer than a WQE can be");
        assert!(Self::HEAD + H::PREPARED_DS <= PREPARED_DS, "too much of the template is prepared");
        Ds((Self::HEAD + H::DS) as u8)
    };

    /// Changes the tag that the next shots carry.
    #[inline]
    pub fn set_wr_id(&mut self, wr_id: WrId) {
        self.record.wr_id = wr_id;
    }

    /// WQEBB `n` of the shot whose control segment begins with `control`.
    #[inline(always)]
    fn wqebb(&self, control: u64, data: &H::Data, n: usize) -> Composed<Packed> {
        let first = n * WQEBB_DS;
        // One by one: `array::from_fn` can remain a call, as it does on aarch64.
        Composed::of([
            self.ds(control, data, first),
            self.ds(control, data, first + 1),
            self.ds(control, data, first + 2),
            self.ds(control, data, first + 3),
        ])
    }

    /// DS `n` of that shot; zero past its end.
    #[inline(always)]
    fn ds(&self, control: u64, data: &H::Data, n: usize) -> Packed {
        let zero = Packed::new([0; 2]);
        let prepared =
            if n < Self::HEAD + H::PREPARED_DS { self.prepared.all().get(n).copied().unwrap_or(zero) } else { zero };
        if n == 0 {
            prepared.or(Packed::new([control, 0]))
        } else if n < Self::HEAD || n >= Self::HEAD + H::DS {
            prepared
        } else {
            prepared.or(H::ds(data, n - Self::HEAD))
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
        let mut prepared = Composed::new();
        let control = Control { qpn: 0, ..self.control(Index::new(SqPi(0))) };
        request.encode_head(&control, ds, &mut prepared);
        request.payload().prepare(&mut prepared);
        let record = WqeRecord { wr_id: request.tag(), wqebbs: u64::from(ds.wqebbs().0) };
        Ok(Template { prepared, record, request: PhantomData })
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
        let (pi, wqebbs) = (self.pi, ds.wqebbs());
        if wqebbs == Wqebbs(1) {
            self.check_room_for_one(pi)?;
        } else {
            self.check_room(pi, wqebbs)?;
        }
        let control = self.control(pi);
        let control = CtrlSeg::index(control.index) | control.qpn;
        let first = template.wqebb(control, data, 0);
        let mut at = pi;
        for n in 0..wqebbs.0 {
            let wqebb = if n == 0 { first } else { template.wqebb(control, data, usize::from(n)) };
            let stored = (usize::from(ds.0) - usize::from(n) * WQEBB_DS).min(WQEBB_DS);
            let record = if n == 0 { template.record } else { WqeRecord { wqebbs: 0, ..template.record } };
            // SAFETY: there is room for all of them.
            unsafe { self.put(at, &wqebb, Ds(stored as u8), record) };
            at = at.add(Wqebbs(1));
        }
        // SAFETY: just put; the caller vouches for the memory it names.
        unsafe { self.publish(at) };
        if self.blueflame.take(ds, wqebbs, const { H::INLINE || (O::INLINE && H::DS == 0) }) {
            // SAFETY: published, BlueFlame takes the size, and the caller vouches for the memory the request names. Composed anew
            // from the template, not read back from the ring.
            self.register.ring_doorbell(|half| unsafe {
                half.copy_packed(usize::from(wqebbs.0), |n| {
                    if n == 0 { *first.all() } else { *template.wqebb(control, data, n).all() }
                })
            });
        } else {
            // SAFETY: as above.
            self.register.ring_doorbell(|half| unsafe { half.write(first.first_word()) });
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
