//! The hot functions: each call of the data path as an application writes it, once.
//!
//! The checks of their cost take them from here: `benches/instructions` counts their executed instructions,
//! `tests/golden_asm` looks at their assembly. So this file uses only `core` and the crate's public API, without the
//! feature `verbs`.
//!
//! Every function exists twice: [`called`], behind a symbol of its own name (`hot_…`), and [`inlined`] into a loop, as
//! most applications have it.

/// Declares the functions in both forms.
macro_rules! hot {
    ($($(#[doc = $doc:literal])* fn $name:ident$(<$life:lifetime>)?($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? { $($body:tt)* })*) => {
        /// Behind a call.
        pub(crate) mod called {
            use super::*;
            $(
                $(#[doc = $doc])*
                #[inline(never)]
                #[unsafe(export_name = concat!("hot_", stringify!($name)))]
                pub(crate) fn $name$(<$life>)?($($argument: $type),*) $(-> $result)? { $($body)* }
            )*
        }

        /// In the caller.
        pub(crate) mod inlined {
            use super::*;
            $(
                $(#[doc = $doc])*
                #[inline(always)]
                pub(crate) fn $name$(<$life>)?($($argument: $type),*) $(-> $result)? { $($body)* }
            )*
        }
    };
}

use blueflame::cq::compressed::{Checksum, ChecksumStride};
use blueflame::cq::mode::{Compressed, NoOverrun, OncePerCall};
use blueflame::cq::{CollapsedQueue, CompletionQueue, Side};
use blueflame::db::{DoorbellFence, ExclusiveRegister, OneFence, RecordlessRegister, SharedRegister};
use blueflame::packet::{Packet, Tcp4, Udp4};
use blueflame::queue::owning::{PoolBuffer, SlotPool};
use blueflame::queue::striding::StridingRecvQueue;
use blueflame::queue::{Done, PostError, RecvError, RecvQueue, RetireError, SendQueue, Staged};
use blueflame::types::{CqCi, Cqn, Lkey, Rkey, Srqn, TagIndex, WrId};
use blueflame::wqe::address::{CompactAv, DcStream};
use blueflame::wqe::keys::{Window, WindowRights};
use blueflame::wqe::operations::{Addressed, Frame, Opaque, Prepared, Send, Write};
use blueflame::wqe::{self, DcAddress, Fence, Request, UdAddress};
use blueflame::{Remote, Sge, transport};

/// A queue whose doorbells do not end with a flush.
pub(crate) type OneFenceQueue = SendQueue<transport::Rc, ExclusiveRegister<OneFence>>;
/// A queue whose 8-byte doorbells end with a flush, and no others.
pub(crate) type DoorbellFenceQueue = SendQueue<transport::Rc, ExclusiveRegister<DoorbellFence>>;
/// A queue of frames, on a device that needs none of their headers inline.
pub(crate) type FrameQueue = SendQueue<transport::RawPacket<0>>;
/// A queue without a doorbell record.
pub(crate) type RecordlessQueue = SendQueue<transport::Rc, RecordlessRegister>;
/// A queue on a register that has a lock.
pub(crate) type SharedQueue = SendQueue<transport::Rc, &'static SharedRegister>;
/// The destination of a datagram within the subnet.
pub(crate) type NearAddress = UdAddress<CompactAv>;
/// A target within the subnet.
pub(crate) type NearTarget = DcAddress<CompactAv>;
/// An RDMA WRITE that is prepared, for 8 bytes inline of each post.
pub(crate) type PreparedWrite = Request<'static, Prepared<Write, 8>>;
/// An RDMA WRITE that is prepared, for registered memory of each post.
pub(crate) type PreparedEntry = Request<'static, Prepared<Write, 0, 1>>;
/// A SEND, likewise.
pub(crate) type PreparedSend = Request<'static, Prepared<Send, 8>>;
/// A datagram to such an address.
pub(crate) type PreparedNear = Request<'static, Prepared<Addressed<Send, NearAddress>, 8>>;
/// A datagram to any address.
pub(crate) type PreparedFar = Request<'static, Prepared<Addressed<Send, UdAddress>, 8>>;
/// An RDMA WRITE to such a target.
pub(crate) type PreparedTarget = Request<'static, Prepared<Addressed<Write, NearTarget>, 8>>;
/// An RDMA WRITE by XRC.
pub(crate) type PreparedXrc = Request<'static, Prepared<Addressed<Write, Srqn>, 8>>;
/// A frame of 60 bytes that is prepared.
pub(crate) type PreparedFrame<'h> = Request<'h, Prepared<Frame<60>>>;
/// A datagram in a frame, prepared.
pub(crate) type Order = Packet<Udp4, 98>;
/// A TCP segment in a frame, with timestamps, prepared.
pub(crate) type Segment = Packet<Tcp4<12>, 98>;
/// A request that only needs its doorbell.
pub(crate) type RcStaged<'q> = Staged<'q, transport::Rc, ExclusiveRegister>;

/// The fields that are read from completions, added up.
#[derive(Clone, Copy, Default)]
pub(crate) struct Completed {
    /// Indices, queue numbers and lengths.
    pub(crate) sum: u64,
    /// Completions that are no success of a request.
    pub(crate) failed: u32,
}

impl Completed {
    /// Adds the fields that most applications read.
    #[inline(always)]
    fn add(&mut self, ok: bool, counter: u16, qpn: u32, bytes: u32) {
        if ok {
            self.sum += u64::from(counter) + u64::from(qpn) + u64::from(bytes);
        } else {
            self.failed += 1;
        }
    }
}

hot! {
    /// An RDMA WRITE of 8 bytes, inline, by BlueFlame.
    fn post_two_fences(sq: &mut SendQueue<transport::Rc>, to: Remote, data: &[u8; 8], id: WrId) -> Result<(), PostError> {
        sq.post(&wqe::write(to).inline(data).signaled(id))
    }

    /// That WRITE, with the flush left to the next doorbell.
    fn post_one_fence(sq: &mut OneFenceQueue, to: Remote, data: &[u8; 8], id: WrId) -> Result<(), PostError> {
        sq.post(&wqe::write(to).inline(data).signaled(id))
    }

    /// That WRITE, with a flush after 8-byte doorbells only.
    fn post_doorbell_fence(sq: &mut DoorbellFenceQueue, to: Remote, data: &[u8; 8], id: WrId) -> Result<(), PostError> {
        sq.post(&wqe::write(to).inline(data).signaled(id))
    }

    /// That WRITE, on a register with a lock.
    fn post_shared(sq: &mut SharedQueue, to: Remote, data: &[u8; 8], id: WrId) -> Result<(), PostError> {
        sq.post(&wqe::write(to).inline(data).signaled(id))
    }

    /// That WRITE, on a queue without a doorbell record.
    fn post_recordless(sq: &mut RecordlessQueue, to: Remote, data: &[u8; 8], id: WrId) -> Result<(), PostError> {
        sq.post(&wqe::write(to).inline(data).signaled(id))
    }

    /// An RDMA WRITE from registered memory.
    fn post_entry(sq: &mut SendQueue<transport::Rc>, to: Remote, from: Sge, id: WrId) -> Result<(), PostError> {
        // SAFETY: nobody looks at the memory that the entry names: there is no device.
        unsafe { sq.post_unchecked(&wqe::write(to).gather([from]).signaled(id)) }
    }

    /// An RDMA WRITE from fourteen pieces of registered memory, which fills four WQEBBs.
    fn post_entries(sq: &mut SendQueue<transport::Rc>, to: Remote, from: &[Sge; 14], id: WrId) -> Result<(), PostError> {
        // SAFETY: nobody looks at the memory that the entries name: there is no device.
        unsafe { sq.post_unchecked(&wqe::write(to).gather(*from).signaled(id)) }
    }

    /// An RDMA WRITE of 220 bytes, inline, which fills four WQEBBs.
    fn post_long_inline(sq: &mut SendQueue<transport::Rc>, to: Remote, data: &[u8; 220], id: WrId) -> Result<(), PostError> {
        sq.post(&wqe::write(to).inline(data).signaled(id))
    }

    /// An RDMA WRITE of all bytes of `data`, inline.
    fn post_slice(sq: &mut SendQueue<transport::Rc>, to: Remote, data: &[u8], id: WrId) -> Result<(), PostError> {
        sq.post(&wqe::write(to).inline_slice(data).signaled(id))
    }

    /// An RDMA WRITE of 8 bytes, inline, with a signature of the WQE.
    fn post_signed(sq: &mut SendQueue<transport::Signed<transport::Rc>>, to: Remote, data: &[u8; 8], id: WrId) -> Result<(), PostError> {
        sq.post(&wqe::write(to).inline(data).signaled(id))
    }

    /// A SEND of 8 bytes, inline, and what registered memory has behind them.
    fn post_header(sq: &mut SendQueue<transport::Rc>, header: &[u8; 8], from: Sge, id: WrId) -> Result<(), PostError> {
        // SAFETY: nobody looks at the memory that the entry names: there is no device.
        unsafe { sq.post_unchecked(&wqe::send().inline(header).then_gather([from]).signaled(id)) }
    }

    /// An RDMA WRITE of 8 bytes, inline, that leaves when another queue's completion is there.
    fn post_after(sq: &mut SendQueue<transport::Rc>, cqn: Cqn, index: CqCi, to: Remote, data: &[u8; 8], id: WrId) -> Result<(), PostError> {
        let mut batch = sq.batch();
        batch.push(&wqe::wait_for_completion(cqn, index))?;
        batch.push(&wqe::write(to).inline(data).signaled(id))?;
        batch.ring_doorbell();
        Ok(())
    }

    /// Invalidates a key.
    fn post_invalidate(sq: &mut SendQueue<transport::Rc>, key: Rkey, id: WrId) -> Result<(), PostError> {
        sq.post(&wqe::local_invalidate(key).signaled(id))
    }

    /// Copies memory.
    fn post_memcpy(sq: &mut SendQueue<transport::Rc>, opaque: &Opaque, from: Sge, to: u64, id: WrId) -> Result<(), PostError> {
        // SAFETY: nobody looks at the memory that the request names: there is no device.
        unsafe { sq.post_unchecked(&wqe::memcpy(*opaque, from, to, from.lkey).signaled(id)) }
    }

    /// Appends a tagged buffer to a list.
    fn post_tag(sq: &mut SendQueue<transport::Rc>, tag: u64, next: TagIndex, buffer: Sge, id: WrId) -> Result<(), PostError> {
        // SAFETY: nobody looks at the memory that the entry names: there is no device.
        unsafe { sq.post_unchecked(&wqe::tag_append(tag, u64::MAX, next, buffer).reported().unexpected(0).wr_id(id)) }
    }

    /// A SEND of 8 bytes, inline.
    fn post_send(sq: &mut SendQueue<transport::Rc>, data: &[u8; 8], id: WrId) -> Result<(), PostError> {
        sq.post(&wqe::send().inline(data).signaled(id))
    }

    /// A datagram of 8 bytes, inline, to an address vector of 16 bytes.
    fn post_datagram(sq: &mut SendQueue<transport::Ud>, to: &NearAddress, data: &[u8; 8], id: WrId) -> Result<(), PostError> {
        sq.post(&wqe::send().to(*to).inline(data).signaled(id))
    }

    /// A datagram of 8 bytes, inline, to an address vector of 48 bytes.
    fn post_datagram_full(sq: &mut SendQueue<transport::Ud>, to: &UdAddress, data: &[u8; 8], id: WrId) -> Result<(), PostError> {
        sq.post(&wqe::send().to(*to).inline(data).signaled(id))
    }

    /// A datagram from registered memory, to an address vector of 48 bytes.
    fn post_datagram_entry(sq: &mut SendQueue<transport::Ud>, to: &UdAddress, from: Sge, id: WrId) -> Result<(), PostError> {
        // SAFETY: nobody looks at the memory that the entry names: there is no device.
        unsafe { sq.post_unchecked(&wqe::send().to(*to).gather([from]).signaled(id)) }
    }

    /// An RDMA WRITE of 8 bytes, inline, of an initiator to a target by an address vector of 16 bytes.
    fn post_dynamic(sq: &mut SendQueue<transport::Dci>, target: &NearTarget, to: Remote, data: &[u8; 8], id: WrId) -> Result<(), PostError> {
        sq.post(&wqe::write(to).to(*target).inline(data).signaled(id))
    }

    /// That WRITE, by an address vector of 48 bytes.
    fn post_dynamic_full(sq: &mut SendQueue<transport::Dci>, target: &DcAddress, to: Remote, data: &[u8; 8], id: WrId) -> Result<(), PostError> {
        sq.post(&wqe::write(to).to(*target).inline(data).signaled(id))
    }

    /// A WRITE to that target, on a stream.
    fn post_dynamic_stream(sq: &mut SendQueue<transport::DciStreams>, target: &DcStream, to: Remote, data: &[u8; 8], id: WrId) -> Result<(), PostError> {
        sq.post(&wqe::write(to).to(*target).inline(data).signaled(id))
    }

    /// An RDMA WRITE of 8 bytes, inline, by XRC.
    fn post_xrc(sq: &mut SendQueue<transport::XrcInitiator>, srqn: Srqn, to: Remote, data: &[u8; 8], id: WrId) -> Result<(), PostError> {
        sq.post(&wqe::write(to).to(srqn).inline(data).signaled(id))
    }

    /// An Ethernet frame: its first 18 bytes in the WQE, the rest from registered memory.
    fn post_frame(sq: &mut SendQueue<transport::RawPacket>, headers: &[u8; 18], rest: Sge, id: WrId) -> Result<(), PostError> {
        // SAFETY: nobody looks at the memory that the entry names: there is no device.
        unsafe { sq.post_unchecked(&wqe::frame().inline_headers(headers).gather([rest]).signaled(id)) }
    }

    /// An Ethernet frame of 60 bytes, inline.
    fn post_frame_inline(sq: &mut FrameQueue, frame: &[u8; 60], id: WrId) -> Result<(), PostError> {
        sq.post(&wqe::frame().l3_checksum().l4_checksum().inline(frame).signaled(id))
    }

    /// An Ethernet frame from registered memory.
    fn post_frame_pointer(sq: &mut FrameQueue, frame: Sge, id: WrId) -> Result<(), PostError> {
        // SAFETY: nobody looks at the memory that the entry names: there is no device.
        unsafe { sq.post_unchecked(&wqe::frame().l3_checksum().l4_checksum().gather([frame]).signaled(id)) }
    }

    /// A TCP packet that the device cuts up: its headers in the WQE, its payload from registered memory.
    fn post_large(sq: &mut FrameQueue, headers: &[u8; 54], payload: Sge, id: WrId) -> Result<(), PostError> {
        let packet = wqe::frame().inline_headers(headers).l3_checksum().l4_checksum().large(1460);
        // SAFETY: nobody looks at the memory that the entry names: there is no device.
        unsafe { sq.post_unchecked(&packet.gather([payload]).signaled(id)) }
    }

    /// An RDMA WRITE of 8 bytes, inline, by a request that is prepared.
    fn prepared_two_fences(sq: &mut SendQueue<transport::Rc>, write: &PreparedWrite, data: &[u8; 8]) -> Result<(), PostError> {
        sq.post(&write.inline(data))
    }

    /// That prepared WRITE, with the flush left to the next doorbell.
    fn prepared_one_fence(sq: &mut OneFenceQueue, write: &PreparedWrite, data: &[u8; 8]) -> Result<(), PostError> {
        sq.post(&write.inline(data))
    }

    /// That prepared WRITE, to another place.
    fn prepared_at(sq: &mut OneFenceQueue, write: &PreparedWrite, to: Remote, data: &[u8; 8]) -> Result<(), PostError> {
        sq.post(&write.at(to).inline(data))
    }

    /// That prepared WRITE, to the request's place, with another tag, and with a completion or without.
    fn prepared_signaled_if(
        sq: &mut OneFenceQueue,
        write: &PreparedWrite,
        signaled: bool,
        id: WrId,
        data: &[u8; 8],
    ) -> Result<(), PostError> {
        sq.post(&write.signaled_if(signaled, id).inline(data))
    }

    /// An RDMA WRITE from registered memory.
    fn prepared_entry(sq: &mut SendQueue<transport::Rc>, write: &PreparedEntry, from: Sge) -> Result<(), PostError> {
        // SAFETY: nobody looks at the memory that the entry names: there is no device.
        unsafe { sq.post_unchecked(&write.gather([from])) }
    }

    /// A SEND of 8 bytes, inline.
    fn prepared_send(sq: &mut SendQueue<transport::Rc>, send: &PreparedSend, data: &[u8; 8]) -> Result<(), PostError> {
        sq.post(&send.inline(data))
    }

    /// A datagram of 8 bytes, inline, to an address vector of 16 bytes.
    fn prepared_datagram(sq: &mut SendQueue<transport::Ud>, send: &PreparedNear, data: &[u8; 8]) -> Result<(), PostError> {
        sq.post(&send.inline(data))
    }

    /// A prepared datagram of 8 bytes, inline, to an address vector of 48 bytes.
    fn prepared_datagram_full(sq: &mut SendQueue<transport::Ud>, send: &PreparedFar, data: &[u8; 8]) -> Result<(), PostError> {
        sq.post(&send.inline(data))
    }

    /// An RDMA WRITE of 8 bytes, inline, of an initiator to a target by an address vector of 16 bytes.
    fn prepared_dynamic(sq: &mut SendQueue<transport::Dci>, write: &PreparedTarget, data: &[u8; 8]) -> Result<(), PostError> {
        sq.post(&write.inline(data))
    }

    /// An RDMA WRITE of 8 bytes, inline, by XRC, to another place.
    fn prepared_xrc_at(sq: &mut SendQueue<transport::XrcInitiator>, write: &PreparedXrc, to: Remote, data: &[u8; 8]) -> Result<(), PostError> {
        sq.post(&write.at(to).inline(data))
    }

    /// A request put into the ring but for its doorbell.
    fn stage<'q>(sq: &'q mut SendQueue<transport::Rc>, to: Remote, data: &[u8; 8], id: WrId) -> Result<RcStaged<'q>, PostError> {
        sq.stage(&wqe::write(to).inline(data).signaled(id))
    }

    /// The doorbell of such a request.
    fn ring_staged(shot: RcStaged<'_>) {
        shot.ring_doorbell();
    }

    /// RDMA WRITEs of 8 bytes, inline, by one doorbell.
    fn batch(sq: &mut SendQueue<transport::Rc>, to: Remote, data: &[[u8; 8]]) -> Result<(), PostError> {
        let mut batch = sq.batch();
        for (data, n) in data.iter().zip(0..) {
            batch.push(&wqe::write(to).inline(data).signaled(WrId(n)))?;
        }
        batch.ring_doorbell();
        Ok(())
    }

    /// Those WRITEs, with room and limits checked once.
    fn burst(sq: &mut SendQueue<transport::Rc>, to: Remote, data: &[[u8; 8]]) -> Result<(), PostError> {
        let mut burst = sq.batch_of(data.len())?;
        for (data, n) in data.iter().zip(0..) {
            burst.push(&wqe::write(to).inline(data).signaled(WrId(n)))?;
        }
        burst.ring_doorbell();
        Ok(())
    }

    /// That burst, filled by one loop.
    fn burst_fill(sq: &mut SendQueue<transport::Rc>, to: Remote, data: &[[u8; 8]]) -> Result<(), PostError> {
        let mut burst = sq.batch_of(data.len())?;
        burst.fill(|n| wqe::write(to).inline(&data[n]).signaled(WrId(n as u64)))?;
        burst.ring_doorbell();
        Ok(())
    }

    /// Frames from registered memory, a WQE each, by one doorbell, with room and limits checked once.
    fn burst_frames(sq: &mut FrameQueue, frames: &[Sge]) -> Result<(), PostError> {
        let mut burst = sq.batch_of(frames.len())?;
        let request = |n: usize| wqe::frame().l3_checksum().l4_checksum().gather([frames[n]]).signaled(WrId(n as u64));
        // SAFETY: nobody looks at the memory that the entry names: there is no device.
        unsafe { burst.fill_unchecked(request) }?;
        burst.ring_doorbell();
        Ok(())
    }

    /// Datagrams of 8 bytes, inline, to an address vector of 48 bytes, by one doorbell.
    fn batch_datagrams(sq: &mut SendQueue<transport::Ud>, to: &UdAddress, data: &[[u8; 8]]) -> Result<(), PostError> {
        let mut batch = sq.batch();
        for (data, n) in data.iter().zip(0..) {
            batch.push(&wqe::send().to(*to).inline(data).signaled(WrId(n)))?;
        }
        batch.ring_doorbell();
        Ok(())
    }

    /// A frame of 60 bytes, all of them inline headers.
    fn prepared_frame(sq: &mut FrameQueue, frame: &PreparedFrame<'_>, bytes: &[u8; 60]) -> Result<(), PostError> {
        sq.post(&frame.inline_headers(bytes))
    }

    /// A prepared TCP segment in a frame of 98 bytes: its whole payload changes.
    fn post_segment(sq: &mut FrameQueue, segment: &mut Segment, payload: &[u8; 32]) -> Result<(), PostError> {
        let _ = segment.set_payload(payload);
        sq.post(&segment.request().signaled(WrId(0)))
    }

    /// A prepared datagram in a frame of 98 bytes: four bytes of its payload change, and the checksums by these.
    fn post_order(sq: &mut FrameQueue, order: &mut Order, number: u32) -> Result<(), PostError> {
        let _ = order.set_part(0, &number.to_be_bytes());
        sq.post(&order.request().signaled(WrId(0)))
    }

    /// Brings the lines of the next such request to the cache.
    fn warm_order(sq: &FrameQueue, order: &Order) {
        sq.warm(&order.request());
    }

    /// Frames of 60 bytes, inline, in one WQE.
    fn session_inline(sq: &mut FrameQueue, frames: &[[u8; 60]], id: WrId) -> Result<(), PostError> {
        let mut batch = sq.batch();
        let mut session = batch.session(&wqe::frame().l3_checksum().l4_checksum().signaled(id))?;
        for frame in frames {
            session.inline(frame)?;
        }
        session.close();
        batch.ring_doorbell();
        Ok(())
    }

    /// Frames from registered memory, in one WQE.
    fn session_pointers(sq: &mut FrameQueue, frames: &[Sge], id: WrId) -> Result<(), PostError> {
        let mut batch = sq.batch();
        let mut session = batch.session(&wqe::frame().l3_checksum().l4_checksum().signaled(id))?;
        for frame in frames {
            // SAFETY: nobody looks at the memory that the entry names: there is no device.
            unsafe { session.gather_unchecked(*frame) }?;
        }
        session.close();
        batch.ring_doorbell();
        Ok(())
    }

    /// Takes a window away and binds it to another piece, by one doorbell.
    fn batch_rebind(sq: &mut SendQueue<transport::Rc>, window: Window, new: Rkey, piece: Sge, id: WrId) -> Result<(), PostError> {
        let mut batch = sq.batch();
        batch.push(&wqe::local_invalidate(window.rkey()))?;
        // SAFETY: nobody looks at the memory that the piece names: there is no device.
        unsafe { batch.push_unchecked(&wqe::bind_window(window, new, piece, WindowRights::WRITE).signaled(id))? };
        batch.ring_doorbell();
        Ok(())
    }

    /// Puts four pieces behind a key and writes them all to the peer, by one doorbell.
    fn batch_list(sq: &mut SendQueue<transport::Rc>, key: Rkey, pieces: &[Sge; 4], to: Remote, id: WrId) -> Result<(), PostError> {
        let all = Sge { addr: 0, length: 64, lkey: Lkey(key.0) };
        let mut batch = sq.batch();
        // SAFETY: nobody looks at the memory that the entries name: there is no device.
        unsafe {
            batch.push_unchecked(&wqe::configure_key(key, 4).list(pieces))?;
            batch.push_unchecked(&wqe::write(to).gather([all]).fence(Fence::Small).signaled(id))?;
        }
        batch.ring_doorbell();
        Ok(())
    }

    /// The tag of a completed request, and its space.
    fn retire_send(sq: &mut SendQueue<transport::Rc>, counter: u16) -> Result<Done, RetireError> {
        // SAFETY: there is no device.
        unsafe { sq.retire_index(counter) }
    }

    /// A receive buffer.
    fn post_receive(rq: &mut RecvQueue, into: &[Sge], id: WrId) -> Result<(), RecvError> {
        // SAFETY: nobody looks at the memory that the entry names: there is no device.
        unsafe { rq.post_unchecked(id, into) }
    }

    /// The tag of a completed receive.
    fn retire_receive(rq: &mut RecvQueue, counter: u16) -> Result<WrId, RetireError> {
        // SAFETY: there is no device.
        unsafe { rq.retire_index(counter) }
    }

    /// A registered buffer of a pool.
    fn pool_take(pool: &SlotPool) -> Option<PoolBuffer> {
        pool.take()
    }

    /// The way back.
    fn pool_give_back(buffer: PoolBuffer) {
        drop(buffer);
    }

    /// One completion, if there is one, read in place.
    fn poll_one(cq: &mut CompletionQueue, done: &mut Completed) -> usize {
        cq.poll_with(1, |cqe| done.add(cqe.check() == Ok(Side::Requester), cqe.wqe_counter(), cqe.qpn().get(), cqe.byte_len()))
    }

    /// Up to 16 completions, read in place.
    fn poll_sixteen(cq: &mut CompletionQueue, done: &mut Completed) -> usize {
        cq.poll_with(16, |cqe| done.add(cqe.check() == Ok(Side::Requester), cqe.wqe_counter(), cqe.qpn().get(), cqe.byte_len()))
    }

    /// Up to 16 completions, of a queue whose device is told once a call how far it may write.
    fn poll_once_per_call(cq: &mut CompletionQueue<OncePerCall>, done: &mut Completed) -> usize {
        cq.poll_with(16, |cqe| done.add(cqe.check() == Ok(Side::Requester), cqe.wqe_counter(), cqe.qpn().get(), cqe.byte_len()))
    }

    /// Up to 16 completions, of a queue whose device need not be told how far it may write.
    fn poll_no_overrun(cq: &mut CompletionQueue<NoOverrun>, done: &mut Completed) -> usize {
        cq.poll_with(16, |cqe| done.add(cqe.check() == Ok(Side::Requester), cqe.wqe_counter(), cqe.qpn().get(), cqe.byte_len()))
    }

    /// Sixteen at most, of which the device packs those that are like each other.
    fn poll_compressed(cq: &mut CompletionQueue<Compressed<Checksum>>, done: &mut Completed) -> usize {
        cq.poll_with(16, |cqe| done.add(cqe.check().is_ok(), cqe.wqe_counter(), cqe.qpn().get(), cqe.byte_len()))
    }

    /// Up to 16 frames of a striding queue, read in place. (Posting buffers again takes them from other threads.)
    fn receive_frames(cq: &mut CompletionQueue, rq: &mut StridingRecvQueue, done: &mut Completed) -> usize {
        rq.poll_with(cq, 16, |frame| done.sum += frame.len() as u64 + u64::from(frame.flow_tag())).unwrap_or(0)
    }

    /// Those frames, with the completion of each.
    fn receive_frames_and_completions(cq: &mut CompletionQueue, rq: &mut StridingRecvQueue, done: &mut Completed) -> usize {
        cq.poll_with(16, |cqe| match rq.receive(&cqe) {
            Ok(Some(frame)) => done.sum += frame.len() as u64 + u64::from(frame.flow_tag()),
            Ok(None) | Err(_) => done.failed += 1,
        })
    }

    /// Up to 16 frames, whose completions the device packs if they are like each other.
    fn receive_frames_compressed(cq: &mut CompletionQueue<Compressed<ChecksumStride>>, rq: &mut StridingRecvQueue, done: &mut Completed) -> usize {
        rq.poll_with(cq, 16, |frame| done.sum += frame.len() as u64 + u64::from(frame.flow_tag())).unwrap_or(0)
    }

    /// One completion, if there is one, copied.
    fn poll(cq: &mut CompletionQueue, done: &mut Completed) -> bool {
        let Some(cqe) = cq.poll() else { return false };
        done.add(cqe.check() == Ok(Side::Requester), cqe.wqe_counter(), cqe.qpn().get(), cqe.byte_len());
        true
    }

    /// That completion, of which only the index is read: retiring a send takes no more.
    fn poll_counter(cq: &mut CompletionQueue, done: &mut Completed) -> bool {
        let Some(cqe) = cq.poll() else { return false };
        done.add(cqe.check() == Ok(Side::Requester), cqe.wqe_counter(), 0, 0);
        true
    }

    /// Up to 16 completions of sends, and the requests they belong to.
    fn poll_and_retire(cq: &mut CompletionQueue, sq: &mut SendQueue<transport::Rc>, tags: &mut u64) -> usize {
        cq.poll_with(16, |cqe| {
            if let Ok(done) = sq.retire(&cqe)
                && cqe.check().is_ok()
            {
                *tags += done.wr_id.0;
            }
        })
    }

    /// Those completions and requests, by one call for each.
    fn poll_and_complete(cq: &mut CompletionQueue, sq: &mut SendQueue<transport::Rc>, tags: &mut u64) -> usize {
        cq.poll_with(16, |cqe| {
            if let Ok(done) = sq.complete(&cqe) {
                *tags += done.wr_id.0;
            }
        })
    }

    /// The latest completion of a collapsed queue, and the requests up to it.
    fn poll_collapsed(cq: &mut CollapsedQueue, sq: &mut SendQueue<transport::Rc>, tags: &mut u64) -> bool {
        let Some(cqe) = cq.poll() else { return false };
        if let Ok(done) = sq.complete(&cqe) {
            *tags += done.wr_id.0;
        }
        true
    }

    /// Up to 16 completions of receives, and the length of each message.
    fn poll_and_complete_receives(cq: &mut CompletionQueue, rq: &mut RecvQueue, tags: &mut u64) -> usize {
        cq.poll_with(16, |cqe| {
            if let Ok(received) = rq.complete(&cqe) {
                *tags += received.buffer.0 + u64::from(received.bytes);
            }
        })
    }
}
