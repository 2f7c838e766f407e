//! One use of a template: its data, and its changes to the template. Knows requests by their size only, never their
//! operations, except for the headers of frames.
use crate::arch::Wide;
use crate::db::Register;
use crate::queue::send::error::PostError;
use crate::queue::send::parts::WqeRecord;
use crate::queue::send::place::places::Places as _;
use crate::queue::send::queue::SendQueue;
use crate::queue::send::template::Template;
use crate::transport::Transport;
use crate::types::{Ds, Wqebbs, WrId};
use crate::wqe::operations::{Frame, FrameOptions, NoLocalMemory};
use crate::wqe::parts::{HasRemote, Operation};
use crate::wqe::template::TemplatePayload;
use crate::wqe::{ByteXor, Composed, CtrlSeg, DsWords, RaddrSeg, Remote, SupportedOn, WQEBB_DS};

/// Seals the trait in this module: a queue relies on its sizes being true.
pub trait Sealed {}

/// The argument of [`SendQueue::fire`]: a [`Template`] as it is, or with the changes of one shot ([`Template::at`],
/// [`Template::frame`], [`Template::signaled_if`]).
pub trait Shot: Sealed {
    /// The template's operation.
    type Operation: Operation;

    /// The template's payload, which defines the data of each shot.
    type Payload: TemplatePayload;

    /// The template.
    #[doc(hidden)]
    fn template(&self) -> &Template<Self::Operation, Self::Payload>;

    /// The queue's record of the shot.
    #[doc(hidden)]
    fn record(&self) -> WqeRecord;

    /// DS `n` without the queue pair's number, the producer index and the shot's data; zero past the prepared DS.
    #[doc(hidden)]
    fn prepared(&self, n: usize) -> Wide;
}

impl<O: Operation, H: TemplatePayload> Template<O, H> {
    /// For one shot: to another place in the peer's memory.
    ///
    /// ```compile_fail,E0277
    /// # use blueflame::Remote;
    /// # use blueflame::queue::Template;
    /// # use blueflame::wqe::operations::Send;
    /// # use blueflame::wqe::template::InlineLen;
    /// fn elsewhere(message: &Template<Send, InlineLen<8>>, remote: Remote) {
    ///     let _ = message.at(remote); // a SEND names no memory of the peer
    /// }
    /// ```
    #[inline(always)]
    pub fn at(&self, remote: Remote) -> ShotAt<'_, O, H>
    where
        O: HasRemote,
    {
        ShotAt { template: self, remote: remote_ds(remote) }
    }

    /// For one shot: sets this `wr_id`, and asks for a completion if `signaled`, regardless of the template. If the queue
    /// that made the template asks for a completion of each request, there is always one.
    #[inline(always)]
    pub fn signaled_if(&self, signaled: bool, wr_id: WrId) -> ShotSignaledIf<&Self> {
        ShotSignaledIf::new(self, signaled, wr_id)
    }
}

impl<O: Operation, H: TemplatePayload> Sealed for Template<O, H> {}
impl<O: Operation, H: TemplatePayload> Shot for Template<O, H> {
    type Operation = O;
    type Payload = H;

    #[inline(always)]
    fn template(&self) -> &Self {
        self
    }

    #[inline(always)]
    fn record(&self) -> WqeRecord {
        self.record()
    }

    #[inline(always)]
    fn prepared(&self, n: usize) -> Wide {
        self.prepared(n)
    }
}

impl<S: Sealed> Sealed for &S {}
impl<S: Shot> Shot for &S {
    type Operation = S::Operation;
    type Payload = S::Payload;

    #[inline(always)]
    fn template(&self) -> &Template<S::Operation, S::Payload> {
        (*self).template()
    }

    #[inline(always)]
    fn record(&self) -> WqeRecord {
        (*self).record()
    }

    #[inline(always)]
    fn prepared(&self, n: usize) -> Wide {
        (*self).prepared(n)
    }
}

/// A shot to another place: see [`Template::at`].
#[derive(Clone, Copy, Debug)]
#[must_use = "a shot does nothing until it is fired"]
pub struct ShotAt<'t, O, H> {
    template: &'t Template<O, H>,
    /// The remote address segment.
    remote: Wide,
}

/// The remote address segment of a place.
#[inline(always)]
fn remote_ds(remote: Remote) -> Wide {
    let DsWords(words) = RaddrSeg::new(remote.addr, remote.rkey).into();
    Wide::new(words)
}

impl<O: HasRemote, H: TemplatePayload> ShotAt<'_, O, H> {
    /// As [`Template::signaled_if`].
    #[inline(always)]
    pub fn signaled_if(self, signaled: bool, wr_id: WrId) -> ShotSignaledIf<Self> {
        ShotSignaledIf::new(self, signaled, wr_id)
    }
}

impl<O: Operation, H: TemplatePayload> Sealed for ShotAt<'_, O, H> {}
impl<O: HasRemote, H: TemplatePayload> Shot for ShotAt<'_, O, H> {
    type Operation = O;
    type Payload = H;

    #[inline(always)]
    fn template(&self) -> &Template<O, H> {
        self.template
    }

    #[inline(always)]
    fn record(&self) -> WqeRecord {
        self.template.record()
    }

    #[inline(always)]
    fn prepared(&self, n: usize) -> Wide {
        // The segment follows the control segment in every operation that has it.
        if n == O::REMOTE_DS { self.remote } else { self.template.prepared(n) }
    }
}

impl<const N: usize, X: FrameOptions, H: TemplatePayload> Template<Frame<[u8; N], X>, H> {
    /// For one shot: with these inline headers in place of the template's. They are a frame's, for instance a
    /// [`Packet`](crate::packet::Packet)'s.
    ///
    /// ```compile_fail,E0308
    /// # use blueflame::queue::Template;
    /// # use blueflame::wqe::operations::Frame;
    /// fn longer(template: &Template<Frame<[u8; 60]>, ()>, headers: &[u8; 61]) {
    ///     let _ = template.frame(headers); // the WQE's size is the template's
    /// }
    /// ```
    #[inline(always)]
    pub fn frame<'t>(&'t self, headers: &'t [u8; N]) -> ShotFrame<'t, H, N, X> {
        ShotFrame { template: self, headers }
    }
}

/// A shot of another frame: see [`Template::frame`].
#[derive(Clone, Copy, Debug)]
#[must_use = "a shot does nothing until it is fired"]
pub struct ShotFrame<'t, H, const N: usize, X = ()> {
    template: &'t Template<Frame<[u8; N], X>, H>,
    headers: &'t [u8; N],
}

impl<H: TemplatePayload, const N: usize, X: FrameOptions> ShotFrame<'_, H, N, X> {
    /// As [`Template::signaled_if`].
    #[inline(always)]
    pub fn signaled_if(self, signaled: bool, wr_id: WrId) -> ShotSignaledIf<Self> {
        ShotSignaledIf::new(self, signaled, wr_id)
    }
}

impl<H: TemplatePayload, const N: usize, X: FrameOptions> Sealed for ShotFrame<'_, H, N, X> {}
impl<H: TemplatePayload, const N: usize, X: FrameOptions> Shot for ShotFrame<'_, H, N, X> {
    type Operation = Frame<[u8; N], X>;
    type Payload = H;

    #[inline(always)]
    fn template(&self) -> &Template<Frame<[u8; N], X>, H> {
        self.template
    }

    #[inline(always)]
    fn record(&self) -> WqeRecord {
        self.template.record()
    }

    #[inline(always)]
    fn prepared(&self, n: usize) -> Wide {
        let prepared = self.template.prepared(n);
        // The operation's segments follow the control segment.
        if n == 0 || n > Frame::<[u8; N], X>::DS {
            prepared
        } else {
            Frame::<[u8; N], X>::with_headers(prepared, self.headers, n - 1)
        }
    }
}

/// A shot that says itself whether it asks for a completion: see [`Template::signaled_if`].
#[derive(Clone, Copy, Debug)]
#[must_use = "a shot does nothing until it is fired"]
pub struct ShotSignaledIf<S> {
    shot: S,
    signaled: bool,
    wr_id: WrId,
}

impl<S: Shot> ShotSignaledIf<S> {
    #[inline(always)]
    const fn new(shot: S, signaled: bool, wr_id: WrId) -> Self {
        Self { shot, signaled, wr_id }
    }
}

impl<S: Sealed> Sealed for ShotSignaledIf<S> {}
impl<S: Shot> Shot for ShotSignaledIf<S> {
    type Operation = S::Operation;
    type Payload = S::Payload;

    #[inline(always)]
    fn template(&self) -> &Template<S::Operation, S::Payload> {
        self.shot.template()
    }

    #[inline(always)]
    fn record(&self) -> WqeRecord {
        let wqebbs = const { Template::<S::Operation, S::Payload>::DS.wqebbs().0 as u64 };
        WqeRecord { wr_id: self.wr_id, wqebbs }
    }

    #[inline(always)]
    fn prepared(&self, n: usize) -> Wide {
        if n == 0 { self.template().control(self.signaled) } else { self.shot.prepared(n) }
    }
}

/// WQEBB `n` of a shot whose control segment begins with `control`.
#[inline(always)]
fn wqebb<S: Shot>(shot: &S, data: &<S::Payload as TemplatePayload>::Data, control: u64, n: usize) -> Composed<Wide> {
    let ds = |i| ds(shot, data, control, n * WQEBB_DS + i);
    // One by one: `array::from_fn` can remain a call, as it does on aarch64.
    Composed::of([ds(0), ds(1), ds(2), ds(3)])
}

/// DS `n` of that shot; zero past its end.
#[inline(always)]
fn ds<S: Shot>(shot: &S, data: &<S::Payload as TemplatePayload>::Data, control: u64, n: usize) -> Wide {
    let payload = 1 + S::Operation::DS;
    let prepared = shot.prepared(n);
    if n == 0 {
        prepared.or(Wide::new([control, 0]))
    } else if n < payload || n >= payload + S::Payload::DS {
        prepared
    } else {
        prepared.or(S::Payload::ds(data, n - payload))
    }
}

impl<T: Transport, R: Register> SendQueue<T, R> {
    /// Posts a prepared request with this shot's data, as [`post`](Self::post) does. Neither the template nor the data
    /// may name memory of this side. Other shots go by [`fire_unchecked`](Self::fire_unchecked):
    ///
    /// ```compile_fail,E0277
    /// # use blueflame::{Sge, transport};
    /// # use blueflame::queue::{SendQueue, Template};
    /// # use blueflame::wqe::operations::Write;
    /// # use blueflame::wqe::template::GatherLen;
    /// fn fire(sq: &mut SendQueue<transport::Rc>, shot: &Template<Write, GatherLen<1>>, page: Sge) {
    ///     let _ = sq.fire(shot, &[page]);
    /// }
    /// ```
    ///
    /// # Errors
    /// See [`PostError`]; nothing has been written then.
    #[inline(always)]
    pub fn fire<S: Shot<Operation: SupportedOn<T>, Payload: NoLocalMemory>>(
        &mut self,
        shot: &S,
        data: &<S::Payload as TemplatePayload>::Data,
    ) -> Result<(), PostError> {
        // SAFETY: neither the template nor the data names memory.
        unsafe { self.fire_unchecked(shot, data) }
    }

    /// Fires any shot as [`fire`](Self::fire) does.
    ///
    /// # Errors
    /// See [`PostError`]; nothing has been written then.
    ///
    /// # Safety
    /// For memory that the template or `data` names, as for [`post_unchecked`](Self::post_unchecked).
    #[inline(always)]
    pub unsafe fn fire_unchecked<S: Shot<Operation: SupportedOn<T>>>(
        &mut self,
        shot: &S,
        data: &<S::Payload as TemplatePayload>::Data,
    ) -> Result<(), PostError> {
        let () = <S::Operation as SupportedOn<T>>::FITS;
        if !S::Payload::is_legal(data) {
            return refuse::<S::Payload>(data);
        }
        let ds = const { Template::<S::Operation, S::Payload>::DS };
        let (pi, wqebbs) = (self.pi, ds.wqebbs());
        if wqebbs == Wqebbs(1) {
            self.check_room_for_one(pi)?;
        } else {
            self.check_room(pi, wqebbs)?;
        }
        let control = self.control(pi);
        let control = CtrlSeg::index(control.index) | control.qpn;
        // Both are composed before one is stored. They stay in CPU registers, so the shot's data is read only once.
        let (mut first, second) = (wqebb(shot, data, control, 0), wqebb(shot, data, control, 1));
        let later = |n| if n == 1 { second } else { wqebb(shot, data, control, n) };
        if const { T::SIGNS } {
            let wqe = (1..wqebbs.0).fold(first.xor(ByteXor::default()), |sum, n| later(usize::from(n)).xor(sum));
            first.sign(wqe);
        }
        let mut at = pi;
        for n in 0..wqebbs.0 {
            let wqebb = if n == 0 { first } else { later(usize::from(n)) };
            let stored = (usize::from(ds.0) - usize::from(n) * WQEBB_DS).min(WQEBB_DS);
            let record = if n == 0 { shot.record() } else { WqeRecord { wqebbs: 0, ..shot.record() } };
            // SAFETY: there is room for all of them.
            unsafe { self.put(at, &wqebb, Ds(stored as u8), record) };
            at = at.add(Wqebbs(1));
        }
        // SAFETY: just put; the caller vouches for the memory it names.
        unsafe { self.publish(at) };
        let inline = const { S::Payload::INLINE || (S::Operation::INLINE && S::Payload::DS == 0) };
        if self.blueflame.take(ds, wqebbs, inline) {
            // SAFETY: published, BlueFlame takes the size, and the caller vouches for the memory the request names.
            // Composed anew from the template, not read back from the ring.
            self.register.ring_doorbell(|half| unsafe {
                half.copy_wide(usize::from(wqebbs.0), |n| if n == 0 { *first.all() } else { *later(n).all() })
            });
        } else {
            // SAFETY: as above.
            self.register.ring_doorbell(|half| unsafe { half.write(first.first_word()) });
        }
        Ok(())
    }
}

/// Finds the error in a shot's data: out of line, away from valid shots.
#[cold]
#[inline(never)]
fn refuse<H: TemplatePayload>(data: &H::Data) -> Result<(), PostError> {
    H::check_data(data).map_err(PostError::Encode)
}
