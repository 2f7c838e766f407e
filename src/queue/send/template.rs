//! Prepared requests: everything encoded once, except for the producer index and each shot's data. Knows no ring.
use core::marker::PhantomData;

use crate::arch::Wide;
use crate::db::Register;
use crate::queue::send::parts::WqeRecord;
use crate::queue::send::place::places::Places as _;
use crate::queue::send::place::wqebb_place::Index;
use crate::queue::send::queue::SendQueue;
use crate::transport::Transport;
use crate::types::{Ds, SqPi, Wqebbs, WrId};
use crate::wqe::operations::Frame;
use crate::wqe::parts::{Empty, Operation};
use crate::wqe::template::TemplatePayload;
use crate::wqe::{Composed, Control, EncodeError, Request, SupportedOn, WQEBB_DS};

/// DS that a template can hold prepared: four WQEBBs, as many as a BlueFlame register of ConnectX takes. DS that shots
/// bring whole come on top.
const PREPARED_DS: usize = 4 * WQEBB_DS;

/// A request of operation `O`, prepared. Firing it sets the queue pair's number, the producer index and the shot's data
/// ([`TemplatePayload::Data`]), and stores the WQE. Made by [`SendQueue::template`], for that queue's limits.
///
/// The request that the template is made of defines the data of each shot:
///
/// | request | each shot brings |
/// |---|---|
/// | `wqe::write(remote).inline_len::<32>()`, `wqe::send().inline_len::<8>()` | `[u8; 32]`, `[u8; 8]` |
/// | `wqe::write(remote).gather_len::<1>()`, `wqe::read(remote).scatter_len::<2>()` | `[Sge; 1]`, `[Sge; 2]` |
/// | `wqe::frame().inline_headers(headers).inline_len::<64>()`: the bytes behind the headers | `[u8; 64]` |
/// | any request of arrays, given whole | `()` |
///
/// A shot can also differ from the template in the place in the peer's memory ([`at`](Self::at)), and in its `wr_id`
/// and whether it asks for a completion ([`signaled_if`](Self::signaled_if)). Unchanged fields cost nothing:
///
/// ```
/// # use blueflame::{PostError, Remote, SendQueue, WrId, db::Register, queue::Moderation, transport, wqe};
/// /// Writes messages one after the other into a buffer of the peer's, with a completion now and then.
/// fn stream<R: Register>(
///     sq: &mut SendQueue<transport::Rc, R>, to: Remote, messages: &[[u8; 32]], moderation: &mut Moderation,
/// ) -> Result<(), PostError> {
///     let template = sq.template(wqe::write(to).inline_len::<32>())?;
///     for (message, n) in messages.iter().zip(0..) {
///         let shot = template.at(to.at(32 * n));
///         moderation.post(template.wqebbs(), |signaled| sq.fire(&shot.signaled_if(signaled, WrId(n)), message))?;
///     }
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Template<O, H> {
    /// Control segment with a number and a producer index of zero, the operation's segments, and the prepared part of
    /// the payload.
    prepared: Composed<Wide, PREPARED_DS>,
    /// The control segments of a shot that does not ask for a completion, unless the queue asks for each, and of one
    /// that does.
    controls: [Wide; 2],
    record: WqeRecord,
    request: PhantomData<(O, H)>,
}

/// A prepared frame of `N` bytes, whole: of `wqe::frame().inline_headers(bytes)`, without options. [`Template::at`] and
/// its like change places of it.
pub type FrameTemplate<const N: usize> = Template<Frame<[u8; N]>, Empty>;

impl<O: Operation, H: TemplatePayload> Template<O, H> {
    /// DS before the payload.
    const HEAD: usize = 1 + O::DS;

    /// The size of the WQE.
    pub(in crate::queue) const DS: Ds = {
        assert!(Self::HEAD + H::DS <= Ds::MAX as usize, "the template is longer than a WQE can be");
        assert!(Self::HEAD + H::PREPARED_DS <= PREPARED_DS, "too much of the template is prepared");
        Ds((Self::HEAD + H::DS) as u8)
    };

    /// WQEBBs that each shot takes, for [`Moderation`](crate::queue::Moderation) and for the length of the queue.
    ///
    /// The queue has room for its depth divided by this many shots: a queue of `sends(128)` has 128 WQEBBs, so it holds
    /// 64 shots of two WQEBBs. Ask for as many `sends` (`QpBuilder::sends`) as shots may be outstanding, times this. A
    /// WRITE of RC has one WQEBB up to 28 bytes inline, and one more for each further 64 bytes. A frame whose bytes are
    /// all inline headers has one WQEBB up to 34 bytes, and two up to 98: 16 bytes of control segment and 14 of
    /// Ethernet segment come before them.
    #[inline]
    #[must_use]
    pub const fn wqebbs(&self) -> Wqebbs {
        Self::DS.wqebbs()
    }

    /// Changes the `wr_id` that the next shots carry.
    #[inline]
    pub fn set_wr_id(&mut self, wr_id: WrId) {
        self.record.wr_id = wr_id;
    }

    /// The queue's record of a shot.
    #[inline(always)]
    pub(in crate::queue) const fn record(&self) -> WqeRecord {
        self.record
    }

    /// DS `n`; zero past the prepared DS.
    #[inline(always)]
    pub(in crate::queue) fn prepared(&self, n: usize) -> Wide {
        match self.prepared.all().get(n) {
            Some(&ds) if n < Self::HEAD + H::PREPARED_DS => ds,
            _ => Wide::new([0; 2]),
        }
    }

    /// The control segment of a shot that asks for a completion, or does not.
    #[inline(always)]
    pub(in crate::queue) const fn control(&self, signaled: bool) -> Wide {
        // By the place, and not by a branch: which shots ask is no pattern that a CPU could predict.
        self.controls[signaled as usize]
    }
}

impl<T: Transport, R: Register> SendQueue<T, R> {
    /// Prepares a request for [`fire`](Self::fire). [`Template`] lists the data that the request may leave open.
    ///
    /// # Errors
    /// If the queue does not take the request, or an entry given is of zero bytes.
    ///
    /// Other queues whose transport has the operation can fire it as well, if they have the same limits. Whether each
    /// request asks for a completion ([`SqParts::signal_all`]) is that of the queue that made the template.
    ///
    /// [`SqParts::signal_all`]: crate::queue::send::SqParts::signal_all
    pub fn template<O: SupportedOn<T>, H: TemplatePayload>(
        &self,
        request: Request<O, H>,
    ) -> Result<Template<O, H>, EncodeError> {
        let () = O::FITS;
        const { assert!(!O::CHECKED, "a large send is posted, not prepared: each shot may have other bytes") }
        self.limits().check_offloads(O::OFFLOADS)?;
        request.payload().check(&self.limits())?;
        let ds = Template::<O, H>::DS;
        let mut prepared = Composed::new();
        let control = Control { qpn: 0, ..self.control(Index::new(SqPi(0))) };
        request.encode_head(&control, ds, &mut prepared);
        request.payload().prepare(&mut prepared);
        let record = WqeRecord { wr_id: request.id(), wqebbs: u64::from(ds.wqebbs().0) };
        let head = |request: &Request<O, H>| {
            let mut head = Composed::<Wide, 1>::new();
            request.encode_head(&control, ds, &mut head);
            let [control] = *head.all();
            control
        };
        let unsignaled = request.unsignaled();
        let controls = [head(&unsignaled), head(&unsignaled.signaled(record.wr_id))];
        Ok(Template { prepared, controls, record, request: PhantomData })
    }
}
