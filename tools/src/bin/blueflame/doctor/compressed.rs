//! The formats of compressed CQEs that the device has, and the place of the headers in one of them.

use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::time::{Duration, Instant};

use blueflame::WrId;
use blueflame::cq::compressed::{BASIC, Checksum, ChecksumStride, ENHANCED, FlowTag, Hash, Headers, MiniFormat};
use blueflame::cq::cqe::{L3Header, L4Header};
use blueflame::flow::Flow;
use blueflame_devx::cmd::FteMatchParam;
use blueflame_devx::mailbox::Structure;
use blueflame_devx::memory::{Rings, ThreadRings};
use blueflame_devx::object::{Pd, Tir, TransportDomain, Uar};
use blueflame_devx::{Context, Error};
use blueflame_sys as sys;

use super::check::Check;
use super::ethernet::{Frames, Receiver, Sender};
use super::found::{Failure, Seen, ensure};
use super::lab::{Lab, memory};
use crate::need::Need;

pub(crate) const CHECKS: &[Check] = &[Check {
    id: "completions.formats",
    title: "the formats of compressed CQEs: each that the device reports can be had",
    fault: "The device reports a format and refuses a queue of it. The text has the firmware's reason.",
    needs: &[Need::Devx],
    run: formats,
}];

/// With frames.
pub(crate) const OF_FRAMES: &[Check] = &[Check {
    id: "ethernet.header_minis",
    title: "compressed CQEs whose mini-CQEs have the headers (L34H) tell the same headers as whole CQEs",
    fault: "The headers lie elsewhere in mini-CQEs of this format than expected: the text has the bytes. Do not use \
                cq::compressed::Headers, and report it.",
    needs: &[Need::Ethernet, Need::Link, Need::NetRaw, Need::Devx, Need::DevxFrames, Need::HeaderMinis],
    run: header_minis,
}];

/// How a queue of a format ended.
fn outcome<T>(made: Result<T, Error>) -> Result<&'static str, Failure> {
    match made {
        Ok(_) => Ok("accepted"),
        Err(Error::Capability { .. }) => Ok("absent"),
        Err(other) => Err(other.into()),
    }
}

fn by_verbs<F: MiniFormat>(lab: &Lab) -> Result<&'static str, Failure> {
    match lab.device().completion_queue(16).compressed::<F>().build() {
        Ok(_) => Ok("accepted"),
        Err(blueflame::verbs::Error::Unsupported { .. } | blueflame::verbs::Error::CqeCompression { .. }) => {
            Ok("absent")
        }
        Err(other) => Err(other.into()),
    }
}

fn by_command<F: MiniFormat, const ENHANCED: bool>(rings: &ThreadRings, uar: &Uar) -> Result<&'static str, Failure> {
    outcome(rings.completion_queue(uar.page(), 16).compressed::<F, ENHANCED>().build())
}

fn formats(lab: &Lab) -> Result<Seen, Failure> {
    let context = lab.devx()?;
    let (rings, uar) = (ThreadRings::new(&Rings::new(context)?), Uar::new(context)?);
    let (rings, uar) = (&rings, &uar);
    let found = [
        ("hash, by verbs", by_verbs::<Hash>(lab)),
        ("checksum, by verbs", by_verbs::<Checksum>(lab)),
        ("checksum and stride, by verbs", by_verbs::<ChecksumStride>(lab)),
        ("hash", by_command::<Hash, BASIC>(rings, uar)),
        ("checksum", by_command::<Checksum, BASIC>(rings, uar)),
        ("checksum and stride", by_command::<ChecksumStride, BASIC>(rings, uar)),
        ("flow tag and stride", by_command::<FlowTag, BASIC>(rings, uar)),
        ("headers and stride (L34H)", by_command::<Headers, BASIC>(rings, uar)),
        ("hash, enhanced layout", by_command::<Hash, ENHANCED>(rings, uar)),
        ("headers and stride, enhanced layout", by_command::<Headers, ENHANCED>(rings, uar)),
    ];
    let mut seen = Seen::new("each format of the device's capabilities was accepted");
    for (format, outcome) in found {
        seen = seen.figure(format, outcome.map_err(|error| format!("{format}: {error}"))?);
    }
    Ok(seen)
}

/// Layer 3 and layer 4.
type Kinds = (L3Header, L4Header);

/// Receives, bytes of each, and frames of a burst.
const RECEIVES: u32 = 64;
const SLOT: usize = 256;
const BURST: u32 = 16;
/// Bytes of a CQE, of a mini-CQE, and of the word of a CQE that has its headers.
const CQE: usize = 64;
const MINI: usize = 8;
const HEADERS: usize = 29;
/// `MLX5_COMPRESSED`, of the last byte's bits 2 and 3.
const COMPRESSED: u8 = 3;

fn header_minis(lab: &Lab) -> Result<Seen, Failure> {
    let own = Frames::new(lab)?;
    let mut sender = Sender::new(lab)?;
    // UDP and TCP in turns, after some of one kind.
    let is_tcp = |n: u32| n >= BURST / 2 && n % 2 == 1;
    let frame = |n: u32| if is_tcp(n) { own.tcp(n, 60 + n as usize) } else { own.frame(n, 60 + n as usize) };
    let frames: Vec<_> = (0..BURST).map(frame).collect();
    let whole = |flow: &Flow, tcp: bool, sender: &mut Sender| -> Result<Kinds, Failure> {
        let mut receiver = Receiver::new(lab, flow)?;
        let n = (0..BURST).position(|n| is_tcp(n) == tcp).ok_or("no such frame")?;
        sender.send(lab, &frames[n..=n])?;
        Ok(receiver.next_of(lab, |cqe| (cqe.l3_header(), cqe.l4_header()))?.1)
    };
    let udp = whole(&own.flow(), false, &mut sender)?;
    let tcp = whole(&own.tcp_flow(), true, &mut sender)?;

    let context = lab.devx()?;
    let verbs_pd = context.device().protection_domain()?;
    let pd = Pd::of_verbs(context, &verbs_pd)?;
    let rings = ThreadRings::new(&Rings::new(context)?);
    let uar = Uar::new(context)?;
    let mut cq = rings.completion_queue(uar.page(), RECEIVES).compressed::<Headers, BASIC>().build()?;
    let mut rq = pd.recv_queue(&rings, &cq, RECEIVES, 1)?;
    let place = memory(&verbs_pd, RECEIVES as usize * SLOT)?;
    let slot = |n: u32| n as usize * SLOT..(n as usize + 1) * SLOT;
    for n in 0..BURST {
        // SAFETY: the memory is registered longer than the queue lives, and read after completions.
        unsafe { rq.post_unchecked(WrId(n.into()), &[place.sge_of(slot(n))]) }?;
    }
    let domain = TransportDomain::new(context)?;
    let tir = Arc::new(Tir::direct(&domain, rq.handle())?);
    let _rules = [Rule::new(context, &own, &tir, false)?, Rule::new(context, &own, &tir, true)?];
    sender.send(lab, &frames)?;
    let ring = Ring { addr: cq.ring_addr(), bytes: cq.capacity() as usize * CQE };
    // Before the first poll: polling clears the ring.
    let session = ring.session(Duration::from_millis(50));
    let mut found = Vec::new();
    lab.until("frames by a queue of firmware commands", || {
        cq.try_poll_with(16, |cqe| -> Result<(), Failure> {
            let frame = rq.complete(&cqe)?;
            found.push((frame.buffer.0, frame.bytes, (cqe.l3_header(), cqe.l4_header())));
            Ok(())
        })?;
        Ok((found.len() == BURST as usize).then_some(()))
    })?;
    let bytes = session.as_ref().map_or("no session was seen before the first poll".to_owned(), Session::text);
    for (n, found) in (0..BURST).zip(found) {
        let expected = (u64::from(n), 60 + n, if is_tcp(n) { tcp } else { udp });
        ensure(found == expected, || format!("frame {n} is {found:?}, not {expected:?}; {bytes}"))?;
    }
    Ok(Seen::new("16 frames of UDP and TCP, each with the headers that its like has in a whole CQE")
        .figure("UDP, in a whole CQE", format!("{udp:?}"))
        .figure("TCP, in a whole CQE", format!("{tcp:?}"))
        .figure("the first session", bytes))
}

/// The memory of a ring of CQEs.
struct Ring {
    addr: usize,
    bytes: usize,
}

/// A compressed title, and the array of mini-CQEs behind it.
#[derive(Debug, PartialEq)]
struct Session {
    title: [u8; CQE],
    minis: [u8; CQE],
}

impl Ring {
    /// The first compressed session, as soon as the device has written one. `None`: there is none in time.
    fn session(&self, patience: Duration) -> Option<Session> {
        let begin = Instant::now();
        loop {
            let start = ptr::with_exposed_provenance::<u8>(self.addr);
            // SAFETY: the queue's own ring, which the device writes; a copy of any bytes is harmless.
            let bytes: Vec<u8> = (0..self.bytes).map(|at| unsafe { start.add(at).read_volatile() }).collect();
            if let Some(session) = first_session(&bytes) {
                return Some(session);
            }
            if begin.elapsed() > patience {
                return None;
            }
            std::thread::yield_now();
        }
    }
}

/// The first compressed session in a new ring.
fn first_session(ring: &[u8]) -> Option<Session> {
    let cqes: Vec<&[u8; CQE]> = ring.chunks(CQE).filter_map(|cqe| cqe.try_into().ok()).collect();
    let is_title = |cqe: &[u8; CQE]| cqe[CQE - 1] >> 4 != 0xf && cqe[CQE - 1] >> 2 & 3 == COMPRESSED;
    let at = cqes.iter().position(|cqe| is_title(cqe))?;
    Some(Session { title: *cqes[at], minis: **cqes.get(at + 1)? })
}

impl Session {
    /// The bytes of the headers: in the title, and of the first mini-CQE. Its first byte has them by DPDK since 23.11,
    /// the second by older releases.
    fn text(&self) -> String {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ");
        let minis: Vec<_> = self.minis.chunks(MINI).map(hex).collect();
        let headers = self.title[HEADERS];
        let place = match self.minis.iter().take(2).position(|&byte| byte == headers) {
            Some(0) => "byte 0 of the first mini-CQE equals it",
            Some(_) => "byte 1 of the first mini-CQE equals it",
            None => "neither byte 0 nor byte 1 of the first mini-CQE equals it",
        };
        format!("headers {headers:#04x} in the title, {place}; mini-CQEs: {}", minis.join(", "))
    }
}

/// A rule of libmlx5's to an interface of frames that a command has made. Dropping it removes it.
struct Rule {
    raw: NonNull<sys::ibv_flow>,
    matcher: NonNull<sys::mlx5dv_flow_matcher>,
    /// Outlives the rule.
    _tir: Arc<Tir>,
}

/// `MLX5DV_FLOW_ACTION_DEST_DEVX`.
const TO_DEVX: u32 = 5;
/// `MLX5_MATCH_OUTER_HEADERS`, as a bit.
const OUTER: u8 = 1;
/// `MLX5DV_FLOW_TABLE_TYPE_NIC_RX`.
const NIC_RX: u32 = 0;

/// Frames to our station and our port: the fields' values, or the bits that count.
fn fields(own: &Frames, tcp: bool, mask: bool) -> sys::mlx5dv_flow_match_parameters {
    let ([a, b, c, d, e, f], port) = own.place();
    let mut fields = FteMatchParam::zeroed();
    let outer = fields.outer_headers_mut();
    let of = |value, ones| if mask { ones } else { value };
    outer.set_dmac_47_16(of(u32::from_be_bytes([a, b, c, d]), u32::MAX));
    let (end, port) = ([u16::from_be_bytes([e, f]), port], port);
    outer.set_dmac_15_0(if mask { u16::MAX } else { end[0] });
    outer.set_ethertype(if mask { u16::MAX } else { 0x0800 });
    outer.set_ip_protocol(match (mask, tcp) {
        (true, _) => u8::MAX,
        (_, true) => 6,
        (_, false) => 17,
    });
    let port = if mask { u16::MAX } else { port };
    if tcp {
        outer.set_tcp_dport(port)
    } else {
        outer.set_udp_dport(port)
    };
    let mut parameters =
        sys::mlx5dv_flow_match_parameters { match_sz: sys::MATCH_BYTES, match_buf: [0; sys::MATCH_BYTES] };
    let bytes = fields.as_bytes();
    let len = bytes.len().min(sys::MATCH_BYTES);
    parameters.match_buf[..len].copy_from_slice(&bytes[..len]);
    parameters
}

impl Rule {
    fn new(context: &Context, own: &Frames, tir: &Arc<Tir>, tcp: bool) -> Result<Self, Failure> {
        let failed = |call: &str| format!("{call}: {}", std::io::Error::last_os_error());
        let mut mask = fields(own, tcp, true);
        let mut attr = sys::mlx5dv_flow_matcher_attr {
            r#type: sys::IBV_FLOW_ATTR_NORMAL,
            flags: 0,
            priority: 0,
            match_criteria_enable: OUTER,
            match_mask: &raw mut mask,
            comp_mask: sys::MLX5DV_FLOW_MATCHER_MASK_FT_TYPE,
            ft_type: NIC_RX,
        };
        // SAFETY: the context is open; attributes and fields live until the call returns.
        let matcher = unsafe { sys::mlx5dv_create_flow_matcher(context.device().as_raw(), &raw mut attr) };
        let matcher = NonNull::new(matcher).ok_or_else(|| failed("mlx5dv_create_flow_matcher"))?;
        let mut values = fields(own, tcp, false);
        let mut action = sys::mlx5dv_flow_action_attr { r#type: TO_DEVX, obj: tir.object().as_raw().cast() };
        // SAFETY: matcher and interface are alive; values and the one action live until the call returns.
        let raw = unsafe { sys::mlx5dv_create_flow(matcher.as_ptr(), &raw mut values, 1, &raw mut action) };
        let Some(raw) = NonNull::new(raw) else {
            let why = failed("mlx5dv_create_flow");
            // SAFETY: made above, and without rules.
            unsafe { sys::mlx5dv_destroy_flow_matcher(matcher.as_ptr()) };
            return Err(why.into());
        };
        Ok(Self { raw, matcher, _tir: Arc::clone(tir) })
    }
}

impl Drop for Rule {
    fn drop(&mut self) {
        // SAFETY: made in `new`, destroyed once, the rule before its matcher.
        unsafe {
            sys::ibv_destroy_flow(self.raw.as_ptr());
            sys::mlx5dv_destroy_flow_matcher(self.matcher.as_ptr());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring of four CQEs: an ordinary one, a title, its mini-CQEs, and one that was not written.
    #[test]
    fn the_headers_of_a_session_are_told() {
        let mut ring = [[0; CQE]; 4];
        (ring[0][CQE - 1], ring[3][CQE - 1]) = (0x20, 0xf1);
        (ring[1][HEADERS], ring[1][CQE - 1]) = (0x28, 0x2c);
        assert_eq!(first_session(&ring[..1].concat()), None);
        assert_eq!(first_session(&ring[3..].concat()), None);
        for (at, place) in [(0, "byte 0 of"), (1, "byte 1 of"), (2, "neither")] {
            ring[2].fill(0);
            ring[2][at] = 0x28;
            let session = first_session(&ring.concat()).expect("a session");
            let text = session.text();
            assert!(text.starts_with("headers 0x28 in the title") && text.contains(place), "{text}");
        }
    }
}
