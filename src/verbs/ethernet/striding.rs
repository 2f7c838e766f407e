//! Striding work queues: receive queues whose receives take many frames each.

use crate::cq::Cqe;
use crate::queue::Shadow;
use crate::queue::striding::{StridedMemory, Strides, StridingParts, StridingRecvQueue};
use crate::types::Qpn;
use crate::verbs::error::in_range;
use crate::verbs::ethernet::work_queue::{MAX_RECEIVES, OBJECT, Wq, WqBuilder, restart};
use crate::verbs::parts::{fits, part};
use crate::verbs::{Access, AnyCq, Buffer, Cq, Error, Owned};

/// A striding receive queue of this crate over an `ibv_wq`. Its handle is that of any work queue: for
/// [receivers](super::FrameReceiver), and [tables](super::WqTable).
#[doc(alias("ibv_wq", "mlx5dv_create_wq"))]
pub type OwnedStridingWq = Owned<StridingRecvQueue, Wq>;

impl Buffer {
    /// Divides the buffer for a striding receive queue of the same protection domain: as many WQEs as fit.
    ///
    /// # Errors
    /// [`Error::AccessMissing`] without [`Access::LOCAL_WRITE`], [`Error::ShortMemory`].
    pub fn strided(self, strides: Strides) -> Result<StridedMemory, Error> {
        let (needs, has) = (Access::LOCAL_WRITE, self.access());
        if !has.contains(needs) {
            return Err(Error::AccessMissing { needs, has });
        }
        let (range, lkey) = ((self.as_ptr(), self.len()), self.lkey());
        // SAFETY: registered memory of this piece alone, which is kept, and gives out no reference.
        let divided = unsafe { StridedMemory::over(range, lkey, strides, self) };
        divided.map_err(|this| Error::ShortMemory { bytes: this.len(), wqe_bytes: strides.wqe_bytes() })
    }
}

/// Builder of a striding work queue: [`WqBuilder::striding`].
#[doc(alias("mlx5dv_wq_init_attr", "mlx5dv_create_wq", "MPRQ"))]
#[must_use = "nothing is made yet"]
pub struct StridingWqBuilder<'a> {
    plan: WqBuilder<'a>,
    memory: StridedMemory,
}

impl<'a> WqBuilder<'a> {
    /// A queue of this kind, each of whose receives takes many frames, in strides of `memory`. The receives that may be
    /// posted at a time are then WQEs, 2 at least; by default as many as `memory` has buffers.
    ///
    /// The completion queue must have room for a completion of each stride that is posted.
    ///
    /// ```
    /// use blueflame::cq::CompletionQueue;
    /// use blueflame::flow::Flow;
    /// use blueflame::queue::striding::Strides;
    /// use blueflame::verbs::ethernet::FrameReceiver;
    /// use blueflame::verbs::memory::Pages;
    /// use blueflame::verbs::{Access, Device};
    ///
    /// fn receive(device: &Device, flow: &Flow) -> Result<(), Box<dyn std::error::Error>> {
    ///     let pd = device.protection_domain()?;
    ///     // WQEs of 512 strides of 2 KiB: 1 MiB each.
    ///     let strides = Strides::new(9, 11)?;
    ///     let (pages, _) = Pages::map(16 << 20)?;
    ///     let memory = pd.register(pages, Access::LOCAL_WRITE)?.strided(strides)?;
    ///     let mut cq = device.completion_queue(8 * 512).build()?;
    ///     let mut rq = pd.work_queue(&cq).receives(8).striding(memory).build()?;
    ///     let receiver = FrameReceiver::direct(&pd, rq.handle())?;
    ///     let rule = receiver.steer(flow)?;
    ///     loop {
    ///         cq.poll_with(64, |cqe| match rq.receive(&cqe) {
    ///             Ok(Some(frame)) => println!("{} bytes", frame.len()),
    ///             Ok(None) => {}
    ///             Err(error) => eprintln!("{error}"),
    ///         });
    ///         rq.refill();
    ///         # if true { break }
    ///     }
    ///     # drop(rule);
    ///     # Ok(())
    /// }
    /// ```
    #[doc(alias("mlx5dv_create_wq", "MPRQ"))]
    pub fn striding(self, memory: StridedMemory) -> StridingWqBuilder<'a> {
        StridingWqBuilder { plan: self, memory }
    }
}

impl StridingWqBuilder<'_> {
    /// Makes the queue, moves it to the ready state, and posts its buffers.
    ///
    /// # Errors
    /// A size out of range, [`Error::Unsupported`] or [`Error::Setup`] for a device that has no such strides,
    /// [`Error::NoStrides`], and those of [`WqBuilder::build`].
    pub fn build(self) -> Result<OwnedStridingWq, Error> {
        let Self { plan, memory } = self;
        let strides = memory.strides();
        let Some(limits) = plan.pd.handle.context.attr().striding else {
            return Err(Error::Unsupported { what: "striding receive queues" });
        };
        limits.check(strides)?;
        in_range("scatter entries of a striding work queue", plan.max_sge.into(), 1..=1)?;
        // A ring has two WQEs at least, even if there is but one buffer.
        let receives = plan.receives.unwrap_or(memory.buffers().min(MAX_RECEIVES as u32).max(2));
        in_range("receives of a striding work queue", receives.into(), 2..=MAX_RECEIVES)?;
        if !plan.cq.any_tells_strides() {
            return Err(Error::NoStrides { cqn: plan.cq.any_handle().cqn() });
        }
        let (mut handle, raw) = plan.make(receives, Some(&memory))?;
        let shadow = Shadow::new(raw.wqe_cnt);
        let parts = StridingParts {
            buf: part(OBJECT, "ring", raw.buf)?,
            wqe_cnt: raw.wqe_cnt,
            stride: raw.stride,
            dbrec: part(OBJECT, "doorbell record", raw.dbrec)?,
            qpn: fits(OBJECT, "number", handle.number, Qpn::new(handle.number))?,
            cq: plan.cq.any_id(),
            shadow: shadow.start(),
        };
        handle.shadow = Some(shadow);
        let wq = handle.ready()?;
        // SAFETY: as in `WqBuilder::build`; the handle has a guard of the memory, and its strides were given to the
        // device.
        let mut queue = unsafe { StridingRecvQueue::from_parts(parts, memory) }
            .map_err(|error| Error::Parts { object: OBJECT, why: error.to_string() })?;
        queue.limit_depth(receives);
        queue.refill();
        // SAFETY: the handle keeps the work queue; this is the only queue over its ring.
        Ok(unsafe { Owned::new(queue, wq, StridingRecvQueue::ring_addr) })
    }
}

impl OwnedStridingWq {
    /// Starts the queue over, from any state: it is ready, and all buffers without kept frames are posted. It removes
    /// unpolled completions from `cq`, the queue's completion queue: their frames are lost. `forgotten` sees each of
    /// them first.
    ///
    /// # Errors
    /// As for [`OwnedWq::restart`](super::OwnedWq::restart).
    pub fn restart(&mut self, cq: &mut dyn AnyCq<Cq>, forgotten: impl FnMut(Cqe<'_>)) -> Result<(), Error> {
        // SAFETY: as `restart` says of this moment.
        restart(self, cq, forgotten, |queue| unsafe { queue.reset() })?;
        self.refill();
        Ok(())
    }
}
