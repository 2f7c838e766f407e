//! The counted cases: the hot functions, at work.
use std::hint::black_box;
use std::net::SocketAddrV4;
use std::ptr::NonNull;

use blueflame::cq::compressed::Checksum;
use blueflame::cq::mode::{Compressed, PollMode};
use blueflame::cq::{CollapsedQueue, CompletionQueue, CqId};
use blueflame::db::{DoorbellFence, OneFence, Register};
use blueflame::packet::Host;
use blueflame::queue::owning::{PoolBuffer, SlotPool};
use blueflame::queue::{RecvQueue, SendQueue};
use blueflame::transport::Transport;
use blueflame::types::{CqCi, Cqn, DcKey, DciStream, Lkey, Qkey, Qpn, Rkey, Srqn, TagIndex, WrId};
use blueflame::wqe::address::{CompactAv, DcStream, GlobalRoute};
use blueflame::wqe::keys::Window;
use blueflame::wqe::limits::FrameOffloads;
use blueflame::wqe::operations::Prepared;
use blueflame::wqe::{self, DcAddress, Request, SupportedOn, UdAddress};
use blueflame::{Remote, Sge, transport};

use crate::case::{Case, case};
use crate::floors::PIECES;
use crate::hot::{self, Completed};
use crate::memory::{
    ENTRIES, collapsed_queue, compressed_queue, empty_queue, exclusive, full_queue, receive_queue, received_queue,
    recordless, send_queue, send_queue_on, shared, slot_pool, tail_of_send, without_blueflame,
};

/// What is posted.
struct Message {
    to: Remote,
    data: [u8; 8],
    from: Sge,
}

/// Messages to post in turn, so that nothing about one is known ahead and moved out of a loop.
static MESSAGES: [Message; 16] = {
    const ONE: Message = Message {
        to: Remote { addr: 0, rkey: Rkey(0) },
        data: [0; 8],
        from: Sge { addr: 0, length: 1, lkey: Lkey(0) },
    };
    let mut messages = [ONE; 16];
    let mut i = 0;
    while i < messages.len() {
        let n = i as u64 + 1;
        messages[i] = Message {
            to: Remote { addr: 0x7f01_0203_0400 * n, rkey: Rkey(0x0018_0700 + i as u32) },
            data: (n * 0x0102_0304_0506_0708).to_ne_bytes(),
            from: Sge { addr: 0x5501_0203_4000 * n, length: 4096 + i as u32, lkey: Lkey(0x0019_0800 + i as u32) },
        };
        i += 1;
    }
    messages
};

#[inline(always)]
fn message(n: u64) -> &'static Message {
    &MESSAGES[n as usize % MESSAGES.len()]
}

/// Whom datagrams are for.
struct Peer {
    near: UdAddress<CompactAv>,
    far: UdAddress,
}

/// Whom initiators' requests are for.
struct Target {
    near: DcAddress<CompactAv>,
    far: DcAddress,
    stream: DcStream,
}

/// Targets to send to in turn.
struct Targets([Target; 16]);

impl Targets {
    fn new() -> Self {
        let Peers(peers) = Peers::new();
        let mut n = 0;
        Self(peers.map(|Peer { near, far }| {
            n += 1;
            let key = DcKey(n * 0x0102_0304_0506_0708);
            let far = DcAddress::new(far.vector(), far.qpn(), key);
            Target { near: DcAddress::new(near.vector(), near.qpn(), key), far, stream: far.on(DciStream(n as u16)) }
        }))
    }

    #[inline(always)]
    fn target(&self, n: u64) -> &Target {
        &self.0[n as usize % self.0.len()]
    }
}

/// Peers to send to in turn.
struct Peers([Peer; 16]);

impl Peers {
    fn new() -> Self {
        Self(core::array::from_fn(|n| {
            let (qpn, qkey) = (Qpn::truncate(0x1_0203 * n as u32), Qkey(0x1111_1111));
            let near = CompactAv::new(n as u16);
            let route = GlobalRoute {
                dgid: [n as u8; 16],
                sgid_index: 1,
                flow_label: n as u32,
                hop_limit: 64,
                traffic_class: 0,
            };
            Peer { near: UdAddress::new(near, qpn, qkey), far: UdAddress::new(near.with_grh(&route), qpn, qkey) }
        }))
    }

    #[inline(always)]
    fn peer(&self, n: u64) -> &Peer {
        &self.0[n as usize % self.0.len()]
    }
}

/// A queue, and peers.
fn datagrams() -> (SendQueue<transport::Ud>, Peers) {
    (send_queue(exclusive()), Peers::new())
}

/// An initiator's queue, and targets.
fn dynamic() -> (SendQueue<transport::Dci>, Targets) {
    (send_queue(exclusive()), Targets::new())
}

/// A queue of frames that takes sessions.
fn frames() -> hot::FrameQueue {
    let mut sq = send_queue(exclusive());
    sq.set_frame_offloads(FrameOffloads { multi_packet: true, max_large_send: 1 << 18, ..FrameOffloads::NONE });
    sq
}

/// The queue of an initiator with streams, and targets.
fn streams() -> (SendQueue<transport::DciStreams>, Targets) {
    (send_queue(exclusive()), Targets::new())
}

/// Bytes of a burst, and of requests that are posted by length.
static BYTES: [[u8; 8]; 64] = [[0x5a; 8]; 64];
/// Frames of a session.
static FRAMES: [[u8; 60]; 15] = [[0x5a; 60]; 15];
/// Headers of a large send.
static HEADERS: [u8; 54] = [0x5a; 54];
static OPAQUE: wqe::operations::Opaque =
    wqe::operations::Opaque { addr: 0x4000, lkey: Lkey(0x1800), max_bytes: 1 << 21 };

/// A queue with a request in each place.
fn posted(cq: CqId) -> SendQueue<transport::Rc> {
    let mut sq = send_queue_on::<transport::Rc, _>(cq, exclusive());
    for n in 0..ENTRIES as u64 {
        let m = message(n);
        hot::called::post_two_fences(&mut sq, m.to, &m.data, WrId(n)).expect("space");
    }
    sq
}

/// A receive queue full of requests, completing to this completion queue.
fn posted_receives(cq: CqId) -> RecvQueue {
    let mut rq = receive_queue(cq);
    for n in 0..ENTRIES as u64 {
        hot::called::post_receive(&mut rq, &[message(n).from], WrId(n)).expect("space");
    }
    rq
}

/// Every case.
pub(crate) fn cases() -> Vec<Case> {
    [posts(), prepared(), retires(), polls(), crate::frames::cases(), crate::floors::cases(), pools()]
        .into_iter()
        .flatten()
        .collect()
}

fn posts() -> Vec<Case> {
    vec![
        case!("post typed two fences", 1, || send_queue(exclusive()), post_two_fences, |sq, n, post| {
            post(sq, message(n).to, &message(n).data, WrId(n)).expect("space")
        })
        .goal(58),
        case!(
            "post typed one fence",
            1,
            || send_queue(exclusive().with_mode::<OneFence>()),
            post_one_fence,
            |sq, n, post| { post(sq, message(n).to, &message(n).data, WrId(n)).expect("space") }
        )
        .goal(58),
        case!(
            "post typed doorbell fence",
            1,
            || send_queue(exclusive().with_mode::<DoorbellFence>()),
            post_doorbell_fence,
            |sq, n, post| { post(sq, message(n).to, &message(n).data, WrId(n)).expect("space") }
        )
        .goal(58),
        case!("post recordless", 1, || send_queue(recordless()), post_recordless, |sq, n, post| {
            post(sq, message(n).to, &message(n).data, WrId(n)).expect("space")
        })
        .goal(50),
        case!("post typed shared", 1, || send_queue(shared()), post_shared, |sq, n, post| {
            post(sq, message(n).to, &message(n).data, WrId(n)).expect("space")
        }),
        case!(
            "post doorbell typed two fences",
            1,
            || send_queue(without_blueflame()),
            post_two_fences,
            |sq, n, post| { post(sq, message(n).to, &message(n).data, WrId(n)).expect("space") }
        )
        .goal(60),
        case!(
            "post doorbell typed one fence",
            1,
            || send_queue(without_blueflame().with_mode::<OneFence>()),
            post_one_fence,
            |sq, n, post| { post(sq, message(n).to, &message(n).data, WrId(n)).expect("space") }
        )
        .goal(60),
        case!(
            "post doorbell one entry typed two fences",
            1,
            || send_queue(without_blueflame()),
            post_entry,
            |sq, n, post| { post(sq, message(n).to, message(n).from, WrId(n)).expect("space") }
        )
        .goal(60),
        case!("post one entry typed two fences", 1, || send_queue(exclusive()), post_entry, |sq, n, post| {
            post(sq, message(n).to, message(n).from, WrId(n)).expect("space")
        }),
        case!("post fourteen entries", 1 in 4, || send_queue(exclusive()), post_entries, |sq, n, post| {
            post(sq, message(n).to, black_box(&[message(n).from; 14]), WrId(n)).expect("space")
        }),
        case!("post 220 bytes inline", 1 in 4, || send_queue(exclusive()), post_long_inline, |sq, n, post| {
            post(sq, message(n).to, black_box(&[0x5a; 220]), WrId(n)).expect("space")
        }),
        case!("post slice of 8 bytes", 1, || send_queue(exclusive()), post_slice, |sq, n, post| {
            post(sq, message(n).to, black_box(&message(n).data), WrId(n)).expect("space")
        }),
        case!("post slice of 64 bytes", 1 in 2, || send_queue(exclusive()), post_slice, |sq, n, post| {
            post(sq, message(n).to, black_box(BYTES[..8].as_flattened()), WrId(n)).expect("space")
        }),
        case!("post send", 1, || send_queue(exclusive()), post_send, |sq, n, post| {
            post(sq, &message(n).data, WrId(n)).expect("space")
        }),
        case!("post signed", 1, || send_queue(exclusive()), post_signed, |sq, n, post| {
            post(sq, message(n).to, &message(n).data, WrId(n)).expect("space")
        }),
        case!("post send header and entry", 1, || send_queue(exclusive()), post_header, |sq, n, post| {
            post(sq, &message(n).data, message(n).from, WrId(n)).expect("space")
        }),
        case!("post wait and write", 1 in 2, || send_queue(exclusive()), post_after, |sq, n, post| {
            let m = message(n);
            post(sq, Cqn::truncate(0x40), CqCi::truncate(n as u32), m.to, &m.data, WrId(n)).expect("space")
        }),
        case!("post invalidate", 1 in 2, || send_queue(exclusive()), post_invalidate, |sq, n, post| {
            post(sq, message(n).to.rkey, WrId(n)).expect("space")
        }),
        case!("post memcpy", 1, || send_queue(exclusive()), post_memcpy, |sq, n, post| {
            let (from, id) = (message(n).from, WrId(n));
            post(sq, black_box(&OPAQUE), from, message(n).to.addr, id).expect("space")
        }),
        case!("post tag", 1, || send_queue(exclusive()), post_tag, |sq, n, post| {
            post(sq, message(n).to.addr, TagIndex(n as u16), message(n).from, WrId(n)).expect("space")
        }),
        case!(
            "post frame split",
            1,
            || send_queue::<transport::RawPacket, _>(exclusive()),
            post_frame,
            |sq, n, post| { post(sq, &[0x11; 18], message(n).from, WrId(n)).expect("space") }
        ),
        case!("post frame typed", 1 in 2, frames, post_frame_inline, |sq, n, post| {
            post(sq, black_box(&FRAMES[n as usize % FRAMES.len()]), WrId(n)).expect("space")
        }),
        case!("post frame one entry typed", 1, frames, post_frame_pointer, |sq, n, post| {
            post(sq, message(n).from, WrId(n)).expect("space")
        }),
        case!("post datagram compact", 1, datagrams, post_datagram, |state, n, post| {
            post(&mut state.0, &state.1.peer(n).near, &message(n).data, WrId(n)).expect("space")
        }),
        case!("post datagram full", 1, datagrams, post_datagram_full, |state, n, post| {
            post(&mut state.0, &state.1.peer(n).far, &message(n).data, WrId(n)).expect("space")
        }),
        case!("post datagram full one entry", 1, datagrams, post_datagram_entry, |state, n, post| {
            post(&mut state.0, &state.1.peer(n).far, message(n).from, WrId(n)).expect("space")
        }),
        case!("post dynamic compact", 1, dynamic, post_dynamic, |state, n, post| {
            let m = message(n);
            post(&mut state.0, &state.1.target(n).near, m.to, &m.data, WrId(n)).expect("space")
        }),
        case!("post dynamic full", 1, dynamic, post_dynamic_full, |state, n, post| {
            let m = message(n);
            post(&mut state.0, &state.1.target(n).far, m.to, &m.data, WrId(n)).expect("space")
        }),
        case!("post dynamic full stream", 1, streams, post_dynamic_stream, |state, n, post| {
            let m = message(n);
            post(&mut state.0, &state.1.target(n).stream, m.to, &m.data, WrId(n)).expect("space")
        }),
        case!("post xrc inline 8 typed two fences", 1, || send_queue(exclusive()), post_xrc, |sq, n, post| {
            post(sq, Srqn::truncate(n as u32 | 0x1000), message(n).to, &message(n).data, WrId(n)).expect("space")
        }),
        case!("burst of 1 batch", 1, || send_queue(exclusive()), batch, |sq, n, post| {
            post(sq, message(n).to, black_box(&BYTES[..1])).expect("space")
        }),
        case!("burst of 16 batch", 16, || send_queue(exclusive()), batch, |sq, n, post| {
            post(sq, message(n).to, black_box(&BYTES[..16])).expect("space")
        }),
        case!("burst of 64 batch", 64, || send_queue(exclusive()), batch, |sq, n, post| {
            post(sq, message(n).to, black_box(&BYTES)).expect("space")
        }),
        case!("burst of 16 batch_of", 16, || send_queue(exclusive()), burst_fill, |sq, n, post| {
            post(sq, message(n).to, black_box(&BYTES[..16])).expect("space")
        }),
        case!("burst of 64 batch_of", 64, || send_queue(exclusive()), burst_fill, |sq, n, post| {
            post(sq, message(n).to, black_box(&BYTES)).expect("space")
        })
        .goal(64 * 26),
        case!("burst of 64 batch_of, push", 64, || send_queue(exclusive()), burst, |sq, n, post| {
            post(sq, message(n).to, black_box(&BYTES)).expect("space")
        })
        .goal(64 * 26),
        case!("burst of 16 datagrams full", 16 in 32, datagrams, batch_datagrams, |state, n, post| {
            post(&mut state.0, &state.1.peer(n).far, black_box(&BYTES[..16])).expect("space")
        }),
        case!("frames inline 8 session", 8 in 9, frames, session_inline, |sq, n, post| {
            post(sq, black_box(&FRAMES[..8]), WrId(n)).expect("space")
        })
        .goal(8 * 25),
        case!("frames inline 15 session", 15 in 16, frames, session_inline, |sq, n, post| {
            post(sq, black_box(&FRAMES[..15]), WrId(n)).expect("space")
        })
        .goal(15 * 25),
        case!("frames pointer 8 session", 8 in 3, frames, session_pointers, |sq, n, post| {
            post(sq, black_box(&PIECES[..8]), WrId(n)).expect("space")
        })
        .goal(8 * 25),
        case!("frames pointer 32 session", 32 in 9, frames, session_pointers, |sq, n, post| {
            post(sq, black_box(&PIECES), WrId(n)).expect("space")
        })
        .goal(32 * 25),
        case!("frames pointer 32 single batch_of", 32, frames, burst_frames, |sq, _n, post| {
            post(sq, black_box(&PIECES)).expect("space")
        })
        .goal(32 * 26),
        case!("large send typed", 1 in 2, frames, post_large, |sq, n, post| {
            post(sq, black_box(&HEADERS), message(n).from, WrId(n)).expect("space")
        }),
        case!("burst of invalidate and bind", 2 in 5, || send_queue(exclusive()), batch_rebind, |sq, n, post| {
            let m = message(n);
            post(sq, Window::Type1 { rkey: m.to.rkey }, Rkey(n as u32), m.from, WrId(n)).expect("space")
        }),
        case!("burst of key list and write", 2 in 4, || send_queue(exclusive()), batch_list, |sq, n, post| {
            let m = message(n);
            post(sq, m.to.rkey, &[m.from; 4], m.to, WrId(n)).expect("space")
        }),
        case!("receive", 1, || receive_queue(CqId::NONE), post_receive, |rq, n, post| {
            post(rq, &[message(n).from], WrId(n)).expect("space")
        }),
    ]
}

fn prepared() -> Vec<Case> {
    /// A queue with a request that is prepared.
    fn with_prepared<T: Transport, R: Register, O: SupportedOn<T>, const BYTES: usize, const ENTRIES: usize>(
        register: R,
        request: Request<'static, O>,
    ) -> (SendQueue<T, R>, Request<'static, Prepared<O, BYTES, ENTRIES>>) {
        let sq = send_queue(register);
        let request = sq.prepare(&request.signaled(WrId(0))).expect("within the limits");
        (sq, request)
    }
    fn write() -> Request<'static, wqe::operations::Write> {
        wqe::write(message(0).to)
    }
    fn two_fences() -> (SendQueue<transport::Rc>, hot::PreparedWrite) {
        with_prepared(exclusive(), write())
    }
    fn one_fence() -> (hot::OneFenceQueue, hot::PreparedWrite) {
        with_prepared(exclusive().with_mode(), write())
    }
    fn entry() -> (SendQueue<transport::Rc>, hot::PreparedEntry) {
        with_prepared(exclusive(), write())
    }
    fn send() -> (SendQueue<transport::Rc>, hot::PreparedSend) {
        with_prepared(exclusive(), wqe::send())
    }
    fn near() -> (SendQueue<transport::Ud>, hot::PreparedNear) {
        with_prepared(exclusive(), wqe::send().to(Peers::new().peer(0).near))
    }
    fn far() -> (SendQueue<transport::Ud>, hot::PreparedFar) {
        with_prepared(exclusive(), wqe::send().to(Peers::new().peer(0).far))
    }
    fn near_target() -> (SendQueue<transport::Dci>, hot::PreparedTarget) {
        with_prepared(exclusive(), wqe::write(message(0).to).to(Targets::new().target(0).near))
    }
    fn xrc() -> (SendQueue<transport::XrcInitiator>, hot::PreparedXrc) {
        with_prepared(exclusive(), wqe::write(message(0).to).to(Srqn::truncate(0x1234)))
    }
    fn host(last: u8) -> Host<SocketAddrV4> {
        Host { mac: [2, 0, 0x5e, 0, 0x53, last], socket: SocketAddrV4::new([192, 0, 2, last].into(), 5000) }
    }
    fn order() -> (hot::FrameQueue, hot::Order) {
        let mut order = hot::Order::new(&host(1), &host(2));
        order.set_payload(&[0; 48]).expect("room");
        (send_queue(exclusive()), order)
    }
    fn frame() -> (hot::FrameQueue, hot::PreparedFrame<'static>) {
        with_prepared(exclusive(), wqe::frame().l3_checksum().l4_checksum().inline_headers(&[0; 60]))
    }
    fn segment() -> (hot::FrameQueue, hot::Segment) {
        let mut segment = hot::Segment::new(&host(1), &host(2));
        segment.set_payload(&[0; 32]).expect("room");
        (send_queue(exclusive()), segment)
    }
    /// Queues with a request each that only needs its doorbell.
    fn staged() -> Vec<hot::RcStaged<'static>> {
        let shot = |n| {
            let sq = Box::leak(Box::new(send_queue(exclusive())));
            hot::called::stage(sq, message(n).to, &message(n).data, WrId(n)).expect("space")
        };
        (0..ENTRIES as u64).map(shot).collect()
    }
    vec![
        case!("post prepared two fences", 1, two_fences, prepared_two_fences, |state, n, post| {
            post(&mut state.0, &state.1, &message(n).data).expect("space")
        })
        .goal(37),
        case!("post prepared one fence", 1, one_fence, prepared_one_fence, |state, n, post| {
            post(&mut state.0, &state.1, &message(n).data).expect("space")
        })
        .goal(37),
        case!("post prepared one fence, at", 1, one_fence, prepared_at, |state, n, post| {
            post(&mut state.0, &state.1, message(n).to, &message(n).data).expect("space")
        }),
        case!("post prepared one fence, signaled_if", 1, one_fence, prepared_signaled_if, |state, n, post| {
            post(&mut state.0, &state.1, n % 4 == 0, WrId(n), &message(n).data).expect("space")
        }),
        case!("prepared entry prepared two fences", 1, entry, prepared_entry, |state, n, post| {
            post(&mut state.0, &state.1, message(n).from).expect("space")
        }),
        case!("prepared send prepared two fences", 1, send, prepared_send, |state, n, post| {
            post(&mut state.0, &state.1, &message(n).data).expect("space")
        }),
        case!("prepared datagram compact", 1, near, prepared_datagram, |state, n, post| {
            post(&mut state.0, &state.1, &message(n).data).expect("space")
        }),
        case!("prepared datagram full", 1, far, prepared_datagram_full, |state, n, post| {
            post(&mut state.0, &state.1, &message(n).data).expect("space")
        }),
        case!("prepared dynamic compact", 1, near_target, prepared_dynamic, |state, n, post| {
            post(&mut state.0, &state.1, &message(n).data).expect("space")
        }),
        case!("prepared xrc at", 1, xrc, prepared_xrc_at, |state, n, post| {
            post(&mut state.0, &state.1, message(n).to, &message(n).data).expect("space")
        }),
        case!("post frame prepared", 1 in 2, frame, prepared_frame, |state, n, post| {
            post(&mut state.0, &state.1, black_box(&FRAMES[n as usize % FRAMES.len()])).expect("space")
        }),
        case!("order delegated", 1 in 2, segment, post_segment, |state, n, post| {
            let payload = FRAMES[n as usize % FRAMES.len()].first_chunk().expect("32 bytes");
            post(&mut state.0, &mut state.1, black_box(payload)).expect("space")
        }),
        case!("order prepared", 1 in 2, order, post_order, |state, n, post| {
            post(&mut state.0, &mut state.1, n as u32).expect("space")
        }),
        case!("order warm", 1, order, warm_order, |state, _n, warm| warm(&state.0, &state.1)),
        case!("post stage", 1, || send_queue(exclusive()), stage, |sq, n, stage| {
            drop(black_box(stage(sq, message(n).to, &message(n).data, WrId(n)).expect("space")));
        }),
        case!("post staged two fences", 1, staged, ring_staged, |shots, _n, ring| {
            ring(shots.pop().expect("one more"));
        }),
    ]
}

fn retires() -> Vec<Case> {
    fn sent() -> (SendQueue<transport::Rc>, u16) {
        (posted(CqId::NONE), 0)
    }
    fn received() -> (RecvQueue, u16) {
        (posted_receives(CqId::NONE), 0)
    }
    vec![
        case!("retire send", 1, sent, retire_send, |state, _n, retire| {
            black_box(retire(&mut state.0, state.1).expect("posted").wr_id);
            state.1 += 1;
        }),
        case!("retire receive", 1, received, retire_receive, |state, _n, retire| {
            black_box(retire(&mut state.0, state.1).expect("posted"));
            state.1 += 1;
        }),
    ]
}

fn polls() -> Vec<Case> {
    fn full<M: PollMode<Compression = ()>>() -> (CompletionQueue<M>, Completed) {
        (full_queue(), Completed::default())
    }
    fn compressed() -> (CompletionQueue<Compressed<Checksum>>, Completed) {
        (compressed_queue(), Completed::default())
    }
    fn empty() -> (CompletionQueue, Completed) {
        (empty_queue(), Completed::default())
    }
    fn sent() -> (CompletionQueue, SendQueue<transport::Rc>, u64) {
        let cq = full_queue();
        let sq = posted(cq.id());
        (cq, sq, 0)
    }
    fn collapsed() -> (CollapsedQueue, SendQueue<transport::Rc>, u64, NonNull<u32>, u64) {
        let (cq, tail) = collapsed_queue();
        let sq = posted(cq.id());
        (cq, sq, 0, tail, 0)
    }
    fn received() -> (CompletionQueue, RecvQueue, u64) {
        let cq = received_queue();
        let rq = posted_receives(cq.id());
        (cq, rq, 0)
    }
    vec![
        case!("poll poll_with(1) fields", 1, full, poll_one, |state, _n, poll| {
            poll(&mut state.0, &mut state.1);
        })
        .goal(40),
        case!("poll poll() copy", 1, full, poll, |state, _n, poll| {
            poll(&mut state.0, &mut state.1);
        }),
        case!("poll poll() copy, index", 1, full, poll_counter, |state, _n, poll| {
            poll(&mut state.0, &mut state.1);
        })
        .goal(28),
        case!("poll poll_with(16) fields", 16, full, poll_sixteen, |state, _n, poll| {
            poll(&mut state.0, &mut state.1);
        }),
        case!("poll poll_with(16) fields, once per call", 16, full, poll_once_per_call, |state, _n, poll| {
            poll(&mut state.0, &mut state.1);
        }),
        case!("poll poll_with(16) fields, no overrun", 16, full, poll_no_overrun, |state, _n, poll| {
            poll(&mut state.0, &mut state.1);
        }),
        case!("poll poll_with(16) tags", 16, sent, poll_and_retire, |state, _n, poll| {
            poll(&mut state.0, &mut state.1, &mut state.2);
        }),
        case!("poll poll_with(16) complete", 16, sent, poll_and_complete, |state, _n, poll| {
            poll(&mut state.0, &mut state.1, &mut state.2);
        }),
        case!("poll poll_with(16) complete receives", 16, received, poll_and_complete_receives, |state, _n, poll| {
            poll(&mut state.0, &mut state.1, &mut state.2);
        }),
        case!("poll collapsed complete", 1, collapsed, poll_collapsed, |state, _n, poll| {
            // SAFETY: the last four bytes of the queue's page, of which no reference lives.
            unsafe { state.3.write_volatile(tail_of_send(state.4)) };
            state.4 += 1;
            poll(&mut state.0, &mut state.1, &mut state.2);
        }),
        case!("poll poll_with(16) compressed", 16, compressed, poll_compressed, |state, _n, poll| {
            poll(&mut state.0, &mut state.1);
        }),
        case!("poll empty poll_with(1) fields", 1, empty, poll_one, |state, _n, poll| {
            poll(&mut state.0, &mut state.1);
        }),
        case!("poll empty poll() copy", 1, empty, poll, |state, _n, poll| {
            poll(&mut state.0, &mut state.1);
        }),
    ]
}

fn pools() -> Vec<Case> {
    fn taken() -> (SlotPool, Vec<PoolBuffer>) {
        let pool = slot_pool();
        let all = std::iter::from_fn(|| pool.take()).collect();
        (pool, all)
    }
    vec![
        case!("pool take", 1, slot_pool, pool_take, |pool, _n, take| {
            core::mem::forget(black_box(take(pool).expect("one more")));
        }),
        case!("pool give back", 1, taken, pool_give_back, |state, _n, give_back| {
            give_back(state.1.pop().expect("one more"));
        }),
    ]
}
