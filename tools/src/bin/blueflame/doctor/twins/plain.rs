//! Twins of RC, UD and raw frames.

use blueflame::WrId;
use blueflame::transport::{InlineL2, InlineLayers, InlineMode, InlineNone, RawPacket, Rc, Ud};
use blueflame::types::Qkey;
use blueflame::wqe::{self, Fence, Sge};

use super::compare::ring;
use super::pair::{Sizes, poll};
use super::request::{Data, Request, To, Verb, WAYS, Way};
use super::twin::{RELIABLE, TAKEN, Twins, reliable};
use crate::doctor::ethernet::Frames;
use crate::doctor::found::{Failure, Seen, ensure};
use crate::doctor::lab::{End, Lab, pattern};

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

pub(super) fn frames(lab: &Lab) -> Result<Seen, Failure> {
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
