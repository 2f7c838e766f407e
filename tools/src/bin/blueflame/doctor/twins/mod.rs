//! Twin queues: the same requests through libmlx5 and through this crate must leave the same bytes in their rings.

mod compare;
mod pair;
mod request;
mod services;
mod wraps;

use std::ops::Range;

use blueflame::WrId;
use blueflame::transport::{InlineL2, InlineLayers, InlineMode, InlineNone, RawPacket, Rc, Ud};
use blueflame::types::{Psn, Qkey};
use blueflame::verbs::adopt::adopt_qp;
use blueflame::verbs::{OwnedCq, Qp, QueuePair, VerbsTransport};
use blueflame::wqe::{self, Fence, Sge, WorkRequest};

use super::check::Check;
use super::ethernet::Frames;
use super::found::{Failure, Seen, ensure};
use super::lab::{End, Lab, ROOM, pattern};
use crate::need::Need;
use compare::{Ring, Rules, fill, record, ring};
use pair::{Sizes, TheirPair, parts, poll};
use request::{Data, Request, To, Verb, WAYS, Way};

pub(crate) const CHECKS: &[Check] = &[
    Check {
        id: "twins.rc",
        title: "RC: WQEs, receives and doorbell records are those of ibv_post_send, ibv_wr_* and ibv_post_recv",
        fault: "This crate encodes a request otherwise than the libmlx5 of this machine. The text has the first byte. \
                Report it with the release of rdma-core.",
        needs: &[Need::Link, Need::Address],
        run: rc,
    },
    Check {
        id: "twins.ud",
        title: "UD: WQEs with the address of a handle are those of ibv_post_send and ibv_wr_*",
        fault: "As twins.rc.",
        needs: &[Need::Link, Need::Address],
        run: ud,
    },
    Check {
        id: "twins.xrc",
        title: "XRC: WQEs that name a shared receive queue are those of ibv_post_send and ibv_wr_*",
        fault: "As twins.rc.",
        needs: &[Need::Link, Need::Address, Need::Xrc],
        run: services::xrc,
    },
    Check {
        id: "twins.dc",
        title: "DC: WQEs with the address of a target are those of mlx5dv_wr_set_dc_addr",
        fault: "As twins.rc.",
        needs: &[Need::Link, Need::Address, Need::Dynamic],
        run: services::dc,
    },
    Check {
        id: "twins.frames",
        title: "raw frames: WQEs are those of ibv_post_send and ibv_wr_*",
        fault: "As twins.rc.",
        needs: &[Need::Ethernet, Need::Link, Need::NetRaw],
        run: frames,
    },
    Check {
        id: "twins.wraps",
        title: "RC: WQEs that wrap after each WQEBB, until the index of 16 bits begins again, with CQEs of 64 bytes",
        fault: "At the end of a ring, this crate writes or reads elsewhere than libmlx5. The text has the request.",
        needs: &[Need::Link, Need::Address],
        run: wraps::wraps,
    },
    Check {
        id: "twins.wraps_wide",
        title: "RC: WQEs that wrap after each WQEBB, with CQEs of 128 bytes",
        fault: "As twins.wraps.",
        needs: &[Need::Link, Need::Address, Need::WideCqes],
        run: wraps::wide,
    },
];

/// libmlx5's queue pair. Its queues in this crate were dropped unused.
struct Theirs {
    /// For state changes.
    _qp: Qp,
    pair: TheirPair,
    sent: OwnedCq,
    received: OwnedCq,
}

/// Twins of one geometry.
struct Twins<T: VerbsTransport> {
    theirs: Theirs,
    ours: End<T>,
    rules: Rules,
    /// The index of the next WQEBB.
    index: usize,
    posted: usize,
}

impl<T: VerbsTransport> Twins<T> {
    /// `ready` takes each of the two to RTS: libmlx5's is 0, ours 1.
    fn new(
        lab: &Lab,
        sizes: Sizes,
        ready: impl Fn(usize, &mut QueuePair<T>) -> Result<(), Failure>,
    ) -> Result<Self, Failure> {
        let cq = || lab.device().completion_queue(2 * sizes.sends).cqe_bytes(sizes.cqe_bytes).build();
        let (sent, received) = (cq()?, cq()?);
        let raw = TheirPair::new::<T>(lab, [&sent, &received], sizes)?;
        // SAFETY: alive as long as the handle in `Theirs`, which comes first there; new, and in a domain of its own.
        // The queues are dropped here, and never post.
        let mut adopted = unsafe { adopt_qp::<T>(raw.as_raw()) }?;
        ready(0, &mut adopted)?;
        let theirs = Theirs { _qp: adopted.qp, pair: raw, sent, received };

        let (sent, received) = (cq()?, cq()?);
        let builder = lab.pd().queue_pair::<T>(&sent, &received).sends(sizes.sends);
        let mut pair = builder.send_sge(sizes.send_sge).inline(sizes.inline).build()?;
        ready(1, &mut pair)?;
        let ours = End { pair, sent, received, memory: lab.memory(ROOM)? };
        let own = parts(ours.pair.qp.as_raw())?;
        for (theirs, ours) in [(theirs.pair.parts().sq, own.sq), (theirs.pair.parts().rq, own.rq)] {
            let [a, b] = [(theirs.wqe_cnt, theirs.stride), (ours.wqe_cnt, ours.stride)];
            ensure(a == b, || format!("rings of {a:?} and {b:?}: twins need one length"))?;
            // SAFETY: nothing was posted yet.
            unsafe {
                fill(&theirs);
                fill(&ours);
            }
        }
        Ok(Self { theirs, ours, rules: Rules::of(T::QP_TYPE), index: 0, posted: 0 })
    }

    /// The numbers of both queue pairs.
    fn numbers(&self) -> [u32; 2] {
        [self.theirs.pair.number(), self.ours.pair.qp.qpn().get()]
    }

    /// Both post a request and wait for it. Compares the WQEs, and the doorbell records.
    fn post(&mut self, lab: &Lab, way: Way, theirs: &Request<'_>, ours: &impl WorkRequest<T>) -> Result<(), Failure> {
        // SAFETY: requests of twins name memory of our end, which is registered longer than either queue pair lives.
        unsafe { self.theirs.pair.post(way, &[*theirs]) }?;
        self.ours.post(ours)?;
        self.ours.sent(lab, "our request")?;
        poll(lab, "libmlx5's request", &self.theirs.sent)?;
        self.compare(way, 1)
    }

    /// Compares the last WQEs, so many, and the doorbell records.
    fn compare(&mut self, way: Way, count: usize) -> Result<(), Failure> {
        let own = parts(self.ours.pair.qp.as_raw())?;
        let rings = [Ring(&self.theirs.pair.parts().sq), Ring(&own.sq)];
        self.index += self.rules.compare(way, rings, self.numbers(), self.index, count)?;
        self.posted += count;
        let (theirs, ours) = (record(self.theirs.pair.parts()), record(&own));
        ensure(theirs == ours, || format!("doorbell records differ: libmlx5 {theirs:x?}, this crate {ours:x?}"))?;
        let index = self.index as u32 & 0xffff;
        ensure(ours[1] == index, || format!("the doorbell record has index {:#x}, not {index:#x}", ours[1]))
    }

    /// Both post a receive to a range of our memory.
    fn receive(&mut self, wr_id: WrId, range: Range<usize>) -> Result<(), Failure> {
        let sge = self.ours.memory.sge_of(range);
        let rq = self.ours.pair.rq.as_mut().ok_or("no receive queue")?;
        // SAFETY: the memory is registered longer than the queues live.
        unsafe {
            rq.post_unchecked(wr_id, &[sge])?;
            self.theirs.pair.receive(wr_id.0, sge)
        }
    }

    /// Compares the rings of receives as a whole.
    fn compare_receives(&self) -> Result<(), Failure> {
        let own = parts(self.ours.pair.qp.as_raw())?;
        let (a, b) = (ring(&self.theirs.pair.parts().rq), ring(&own.rq));
        let differs = a.iter().zip(&b).position(|(a, b)| a != b);
        ensure(differs.is_none() && a.len() == b.len(), || format!("receive rings differ at byte {differs:?}"))
    }
}

impl Twins<Rc> {
    /// Each is connected to itself.
    fn of_rc(lab: &Lab, sizes: Sizes) -> Result<Self, Failure> {
        let path = lab.path()?;
        Self::new(lab, sizes, |_, pair| {
            let itself = pair.qp.endpoint_with(&path, Psn::truncate(0xff_fff0));
            pair.qp.to_init(&path)?;
            Ok(pair.sq.connect(&path, &itself, &itself)?)
        })
    }
}

/// Posts each kind of request of a reliable service to twins, by one way. `$to`: the destination of ours, on queues
/// whose requests name it; `$whom`: the same for libmlx5. Returns a result.
macro_rules! reliable {
    ($lab:expr, $twins:expr, $way:expr, $whom:expr $(, $to:expr)?) => {{
        let (lab, way, whom): (&Lab, Way, To<'_>) = ($lab, $way, $whom);
        let twins: &mut Twins<_> = $twins;
        let place = twins.ours.memory.remote().at(4096);
        let [a, b] = [twins.ours.memory.sge_of(0..100), twins.ours.memory.sge_of(200..1000)];
        let (one, other, both, word) = ([a], [b], [a, b], [Sge { length: 8, ..a }]);
        // Inline data of whole units, so that no bytes are left over.
        for len in [12, 28, 44, 60, 108] {
            let data = pattern(len as u32, len);
            let theirs = Request::new(Verb::Write(place), Data::Inline(&data)).to(whom);
            let ours = wqe::write(place)$(.to($to))?.inline(&data[..]);
            twins.post(lab, way, &theirs, &ours.signaled(WrId(1)))?;
        }
        let theirs = |verb, list| Request::new(verb, Data::Memory(list)).to(whom);
        let ours = wqe::write(place)$(.to($to))?.gather(both);
        twins.post(lab, way, &theirs(Verb::Write(place), &both), &ours.signaled(WrId(2)))?;
        let ours = wqe::read(place)$(.to($to))?.scatter(other);
        twins.post(lab, way, &theirs(Verb::Read(place), &other), &ours.signaled(WrId(3)))?;
        let fenced = Request { fence: true, ..theirs(Verb::Write(place), &one) };
        let ours = wqe::write(place)$(.to($to))?.gather(one).fence(Fence::SmallAndReads);
        twins.post(lab, way, &fenced, &ours.signaled(WrId(4)))?;
        if lab.device().attr().atomics {
            let (addr, lkey, swap) = (a.addr, a.lkey, 0x0102_0304_0506_0708);
            let ours = wqe::compare_swap(place, 5, swap)$(.to($to))?.result(addr, lkey);
            twins.post(lab, way, &theirs(Verb::CompareSwap(place, 5, swap), &word), &ours.signaled(WrId(5)))?;
            let ours = wqe::fetch_add(place, 77)$(.to($to))?.result(addr, lkey);
            twins.post(lab, way, &theirs(Verb::FetchAdd(place, 77), &word), &ours.signaled(WrId(6)))?;
        }
        // Each of these takes a receive.
        let solicited = Request { solicited: true, ..theirs(Verb::Send, &one) };
        let ours = wqe::send()$(.to($to))?.gather(one).solicited();
        twins.post(lab, way, &solicited, &ours.signaled(WrId(7)))?;
        let ours = wqe::send().imm(0x1122_3344)$(.to($to))?.gather(other);
        twins.post(lab, way, &theirs(Verb::SendImm(0x1122_3344), &other), &ours.signaled(WrId(8)))?;
        let ours = wqe::write(place).imm(0x5566_7788)$(.to($to))?.gather(one);
        twins.post(lab, way, &theirs(Verb::WriteImm(place, 0x5566_7788), &one), &ours.signaled(WrId(9)))
    }};
}
use reliable;

/// Receives that the requests of [`reliable`] take.
const TAKEN: u64 = 3;

const RELIABLE: &str = "WRITEs, a READ, atomics where there are any, messages: the same bytes";

fn rc(lab: &Lab) -> Result<Seen, Failure> {
    let mut twins = Twins::<Rc>::of_rc(lab, Sizes::default())?;
    for way in WAYS {
        (0..TAKEN).try_for_each(|n| twins.receive(WrId(n), 8192..9000))?;
        reliable!(lab, &mut twins, way, To::Peer)?;
        twins.compare_receives()?;
    }
    Ok(Seen::new(format!("{RELIABLE}, by both of libmlx5's ways")).figure("requests", twins.posted))
}

fn ud(lab: &Lab) -> Result<Seen, Failure> {
    const QKEY: Qkey = Qkey(0x1234_5678);
    let path = lab.path()?;
    let mut twins = Twins::<Ud>::new(lab, Sizes::default(), |_, pair| Ok(pair.activate(&path, QKEY)?))?;
    // To a queue pair without receives.
    let mut nobody = End::<Ud>::new(lab)?;
    nobody.pair.activate(&path, QKEY)?;
    let handle = lab.pd().address(&path.route(&nobody.pair.qp.endpoint(&path))?)?;
    let number = nobody.pair.qp.qpn();
    let (to, whom) = (handle.queue_pair(number, QKEY), To::Datagram(&handle, number, QKEY));
    let list = [twins.ours.memory.sge_of(0..1000)];
    for way in WAYS {
        for len in [12, 28, 60] {
            let data = pattern(len as u32, len);
            let theirs = Request::new(Verb::Send, Data::Inline(&data)).to(whom);
            twins.post(lab, way, &theirs, &wqe::send().to(to).inline(&data[..]).signaled(WrId(1)))?;
        }
        let theirs = |verb| Request::new(verb, Data::Memory(&list)).to(whom);
        twins.post(lab, way, &theirs(Verb::Send), &wqe::send().to(to).gather(list).signaled(WrId(2)))?;
        twins.post(lab, way, &theirs(Verb::SendImm(9)), &wqe::send().to(to).imm(9).gather(list).signaled(WrId(3)))?;
    }
    Ok(Seen::new("datagrams inline and from memory: the same bytes, by both of libmlx5's ways")
        .figure("requests", twins.posted))
}

/// Bytes of inline headers in the first WQE of a ring: the low 10 bits of `mlx5_wqe_eth_seg::inline_hdr_sz`.
fn inline_headers(ring: &[u8]) -> usize {
    const SIZE: usize = 16 + 12;
    ring.get(SIZE..SIZE + 2).map_or(0, |size| usize::from(u16::from_be_bytes([size[0], size[1]]) & 0x3ff))
}

fn frames(lab: &Lab) -> Result<Seen, Failure> {
    match lab.device().inline_layers() {
        // This inline mode takes frames with headers in the WQE and without.
        None | Some(InlineLayers::None) => {
            twin_frames::<InlineNone>(lab, |twins, inline, [whole, rest], headers| match inline {
                0 => twins.ours.post(&wqe::frame().gather([whole]).signaled(WrId(1))),
                _ => twins.ours.post(&wqe::frame().inline_headers(headers).gather([rest]).signaled(WrId(1))),
            })
        }
        Some(_) => twin_frames::<InlineL2>(lab, |twins, _, [_, rest], headers| {
            twins.ours.post(&wqe::frame().inline_headers(headers).gather([rest]).signaled(WrId(1)))
        }),
    }
}

/// `post` posts a frame: as a whole from memory, or the headers inline and the rest from memory, if libmlx5 has put so
/// many bytes inline.
fn twin_frames<M: InlineMode>(
    lab: &Lab,
    post: impl Fn(&mut Twins<RawPacket<M>>, usize, [Sge; 2], &[u8; 18]) -> Result<(), Failure>,
) -> Result<Seen, Failure> {
    let own = Frames::new(lab)?;
    let mut twins = Twins::<RawPacket<M>>::new(lab, Sizes::default(), |_, pair| Ok(pair.activate(&lab.subject.port)?))?;
    let mut headers = None;
    for (way, len) in WAYS.into_iter().flat_map(|way| [60, 200, 1514].map(|len| (way, len))) {
        let bytes = own.frame(len as u32, len);
        twins.ours.memory.write(0, &bytes);
        let (first, _) = bytes.split_first_chunk::<18>().ok_or("too short a frame")?;
        let (whole, rest) = (twins.ours.memory.sge_of(0..len), twins.ours.memory.sge_of(18..len));
        // SAFETY: memory of our end, which is registered longer than the queue pair lives.
        unsafe { twins.theirs.pair.post(way, &[Request::new(Verb::Send, Data::Memory(&[whole]))]) }?;
        // The kernel has told libmlx5 how many bytes the device needs.
        let inline = match headers {
            Some(inline) => inline,
            None => *headers.insert(inline_headers(&ring(&twins.theirs.pair.parts().sq))),
        };
        ensure(inline == 0 || inline == 18, || format!("libmlx5 puts headers of {inline} bytes into WQEs of frames"))?;
        post(&mut twins, inline, [whole, rest], first)?;
        twins.ours.sent(lab, "our frame")?;
        poll(lab, "libmlx5's frame", &twins.theirs.sent)?;
        twins.compare(way, 1)?;
    }
    let seen = Seen::new("frames of 60, 200 and 1514 bytes: the same bytes, by both of libmlx5's ways");
    Ok(seen.figure("requests", twins.posted).figure("bytes of headers inline", headers.unwrap_or_default()))
}
