//! Twins of each transport.

use blueflame::WrId;
use blueflame::transport::{Dci, InlineLayers, MIN_INLINE_HEADERS, RawPacket, Rc, Ud, XrcInitiator};
use blueflame::types::{DcKey, Psn, Qkey};
use blueflame::verbs::{Buffer, OwnedSrq};
use blueflame::wqe::{self, Fence, Sge};

use super::compare::ring;
use super::pair::{Sizes, poll};
use super::request::{Data, Request, To, Verb, WAYS, Way};
use super::twin::Twins;
use crate::doctor::ethernet::Frames;
use crate::doctor::found::{Failure, Seen, ensure};
use crate::doctor::lab::{DEPTH, End, Lab, pattern};

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
            let ours = wqe::write(place)$(.to($to))?.inline_slice(&data[..]);
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
/// Receives that the requests of [`reliable`] take.
const TAKEN: u64 = 3;

const RELIABLE: &str = "WRITEs, a READ, atomics where there are any, messages: the same bytes";

pub(super) fn rc(lab: &Lab) -> Result<Seen, Failure> {
    let mut twins = Twins::<Rc>::of_rc(lab, Sizes::default())?;
    for way in WAYS {
        (0..TAKEN).try_for_each(|n| twins.receive(WrId(n), 8192..9000))?;
        reliable!(lab, &mut twins, way, To::Peer)?;
        twins.compare_receives()?;
    }
    Ok(Seen::new(format!("{RELIABLE}, by both of libmlx5's ways")).figure("requests", twins.posted))
}

pub(super) fn ud(lab: &Lab) -> Result<Seen, Failure> {
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
            twins.post(lab, way, &theirs, &wqe::send().to(to).inline_slice(&data[..]).signaled(WrId(1)))?;
        }
        let theirs = |verb| Request::new(verb, Data::Memory(&list)).to(whom);
        twins.post(lab, way, &theirs(Verb::Send), &wqe::send().to(to).gather(list).signaled(WrId(2)))?;
        twins.post(lab, way, &theirs(Verb::SendImm(9)), &wqe::send().to(to).imm(9).gather(list).signaled(WrId(3)))?;
    }
    Ok(Seen::new("datagrams inline and from memory: the same bytes, by both of libmlx5's ways")
        .figure("requests", twins.posted))
}

/// Posts the receives that both twins take. Nothing polls them.
fn receives(srq: &mut OwnedSrq, memory: &Buffer) -> Result<(), Failure> {
    for n in 0..2 * TAKEN * WAYS.len() as u64 {
        // SAFETY: the memory is registered longer than the queue lives.
        unsafe { srq.post_unchecked(WrId(n), &[memory.sge()]) }?;
    }
    Ok(())
}

pub(super) fn xrc(lab: &Lab) -> Result<Seen, Failure> {
    let path = lab.path()?;
    let memory = lab.memory(4096)?;
    let domain = lab.device().xrc_domain()?;
    let received = lab.device().completion_queue(DEPTH).build()?;
    let mut srq = lab.pd().xrc_shared_recv_queue(&domain, received.handle(), DEPTH, 1)?;
    receives(&mut srq, &memory)?;
    // A target is connected with one initiator.
    let targets = [domain.target()?, domain.target()?];
    let mut twins = Twins::<XrcInitiator>::new(lab, Sizes::default(), |n, pair| {
        let target = &targets[n];
        let here = pair.qp.endpoint_with(&path, Psn::truncate(0xff_fff0));
        let there = target.endpoint(&path);
        target.qp().to_init(&path)?;
        target.connect(&path, &there, &here)?;
        pair.qp.to_init(&path)?;
        Ok(pair.connect(&path, &here, &there)?)
    })?;
    let srqn = srq.handle().srqn();
    for way in WAYS {
        reliable!(lab, &mut twins, way, To::Shared(srqn), srqn)?;
    }
    Ok(Seen::new(format!("{RELIABLE}, by both of libmlx5's ways")).figure("requests", twins.posted))
}

pub(super) fn dc(lab: &Lab) -> Result<Seen, Failure> {
    const KEY: DcKey = DcKey(0x0123_4567_89ab_cdef);
    let path = lab.path()?;
    let memory = lab.memory(4096)?;
    let received = lab.device().completion_queue(DEPTH).build()?;
    let mut srq = lab.pd().shared_recv_queue(DEPTH, 1)?;
    receives(&mut srq, &memory)?;
    let target = lab.pd().target(&received, srq.handle()).build(&path, KEY)?;
    let mut twins = Twins::<Dci>::new(lab, Sizes::default(), |_, pair| Ok(pair.activate(&path)?))?;
    let handle = lab.pd().address(&path.route(&target.endpoint(&path))?)?;
    let to = handle.target(target.dctn(), target.key());
    // `ibv_post_send` has no dynamic connections.
    reliable!(lab, &mut twins, Way::Builders, To::Target(&handle, target.dctn(), KEY), to)?;
    Ok(Seen::new(RELIABLE).figure("requests", twins.posted))
}

/// Bytes of inline headers in the first WQE of a ring: the low 10 bits of `mlx5_wqe_eth_seg::inline_hdr_sz`.
fn inline_headers(ring: &[u8]) -> usize {
    const SIZE: usize = 16 + 12;
    ring.get(SIZE..SIZE + 2).map_or(0, |size| usize::from(u16::from_be_bytes([size[0], size[1]]) & 0x3ff))
}

pub(super) fn frames(lab: &Lab) -> Result<Seen, Failure> {
    match lab.device().inline_layers() {
        // This inline mode takes frames with headers in the WQE and without.
        None | Some(InlineLayers::None) => {
            twin_frames::<0>(lab, |twins, inline, [whole, rest], headers| match inline {
                0 => twins.ours.post(&wqe::frame().gather([whole]).signaled(WrId(1))),
                _ => twins.ours.post(&wqe::frame().inline_headers(headers).gather([rest]).signaled(WrId(1))),
            })
        }
        Some(_) => twin_frames::<MIN_INLINE_HEADERS>(lab, |twins, _, [_, rest], headers| {
            twins.ours.post(&wqe::frame().inline_headers(headers).gather([rest]).signaled(WrId(1)))
        }),
    }
}

/// `post` posts a frame: as a whole from memory, or with the headers inline and the rest from memory, if libmlx5 has
/// put `HEADERS` bytes inline.
fn twin_frames<const HEADERS: usize>(
    lab: &Lab,
    post: impl Fn(&mut Twins<RawPacket<HEADERS>>, usize, [Sge; 2], &[u8; 18]) -> Result<(), Failure>,
) -> Result<Seen, Failure> {
    let own = Frames::new(lab)?;
    let mut twins =
        Twins::<RawPacket<HEADERS>>::new(lab, Sizes::default(), |_, pair| Ok(pair.activate(&lab.subject.port)?))?;
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
        twins.compare(way, 1)?;
        poll(lab, "libmlx5's frame", &twins.theirs.sent)?;
        twins.ours.sent(lab, "our frame")?;
    }
    let seen = Seen::new("frames of 60, 200 and 1514 bytes: the same bytes, by both of libmlx5's ways");
    Ok(seen.figure("requests", twins.posted).figure("bytes of headers inline", headers.unwrap_or_default()))
}
