//! Send requests whose kind, size and flags are known only at run time. Property tests, fuzz targets and comparisons
//! with other drivers use them.
//!
//! ```
//! use blueflame::transport;
//! use blueflame_testkit::request::{Data, Kind, Wr};
//!
//! let mut pair = blueflame_testkit::connected_pair::<transport::Rc>()?;
//! let inbox = pair.far.buffer(64)?;
//! for (id, message) in [b"one", b"two"].into_iter().enumerate() {
//!     let wr = Wr::new(Kind::Write(inbox.remote()), Data::Inline(message.to_vec()), id as u64);
//!     // SAFETY: an inline request names no memory of this side.
//!     unsafe { pair.near.post(&wr)? };
//! }
//! pair.run_until_idle()?;
//! assert_eq!(inbox.to_vec(..3), b"two");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Requests go [erased](Request::erased), except for messages and WRITEs of some lengths, frames, and READs and atomics
//! with an even identifier: these go by their types, so that the crate composes them in registers. So both ways of encoding run.

use blueflame::db::Register;
use blueflame::queue::SendBatch;
use blueflame::transport::{self, RawPacket, Transport};
use blueflame::wqe::data::{self, Given, ToCarry, ToFetch, ToScatter};
use blueflame::wqe::operations::{Frame, Operation};
use blueflame::wqe::{self, Erased, Request, SupportedOn};
use blueflame::{PostError, SendQueue};

pub use crate::wr::{Data, Extended, Kind, Target, Whom, Wr};

/// Where requests go: a queue, which rings for each, or a batch, which rings once.
pub trait Poster<T: Transport> {
    /// Puts one request.
    ///
    /// # Errors
    /// See [`PostError`].
    ///
    /// # Safety
    /// As [`SendQueue::post_unchecked`].
    unsafe fn put<O: SupportedOn<T>, D: data::Data>(&mut self, request: &Request<'_, O, D>) -> Result<(), PostError>;

    /// Puts one request whose type is not known.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    ///
    /// # Safety
    /// As [`SendQueue::post_unchecked`].
    unsafe fn put_erased(&mut self, request: &Erased<'_>) -> Result<(), PostError>;
}

impl<T: Transport, R: Register> Poster<T> for SendQueue<T, R> {
    unsafe fn put<O: SupportedOn<T>, D: data::Data>(&mut self, request: &Request<'_, O, D>) -> Result<(), PostError> {
        // SAFETY: the caller promises that named memory stays registered, and its use fits the request, until it completes.
        unsafe { self.post_unchecked(request) }
    }

    unsafe fn put_erased(&mut self, request: &Erased<'_>) -> Result<(), PostError> {
        // SAFETY: the caller promises that named memory stays registered, and its use fits the request, until it completes.
        unsafe { self.post_erased_unchecked(request) }
    }
}

impl<T: Transport, R: Register> Poster<T> for SendBatch<'_, T, R> {
    unsafe fn put<O: SupportedOn<T>, D: data::Data>(&mut self, request: &Request<'_, O, D>) -> Result<(), PostError> {
        // SAFETY: the caller promises that named memory stays registered, and its use fits the request, until it completes.
        unsafe { self.push_unchecked(request) }
    }

    unsafe fn put_erased(&mut self, request: &Erased<'_>) -> Result<(), PostError> {
        // SAFETY: the caller promises that named memory stays registered, and its use fits the request, until it completes.
        unsafe { self.push_erased_unchecked(request) }
    }
}

/// A transport of the software device, which takes requests by value of [`Kind`].
pub trait Service: Transport + Sized {
    /// The device's name of this transport.
    const TRANSPORT: softhca::context::Transport;

    /// Puts `wr`.
    ///
    /// # Errors
    /// See [`PostError`]. [`PostError::NotSupported`]: the transport does not have the kind.
    ///
    /// # Panics
    /// If the kind does not have the data: inline data for a READ, say.
    ///
    /// # Safety
    /// The conditions of [`SendQueue::post_unchecked`]: the memory that the request names stays registered and unused
    /// until the request has completed. Nothing writes to the memory that a frame's entries name.
    unsafe fn put<P: Poster<Self>>(poster: &mut P, wr: &Wr) -> Result<(), PostError>;
}

/// Returns from the function with the request put, if the data of `$wr` has one of a few types. These are short inline
/// data, data that just fits a WQEBB or just does not, and at most two entries.
macro_rules! put_typed {
    ($poster:ident, $wr:expr, $request:expr, [$($len:literal)*]) => {
        match &$wr.data {
            Data::Inline(bytes) => {
                $(if let Ok(array) = <&[u8; $len]>::try_from(&bytes[..]) {
                    return $poster.put(&$wr.flag($request.inline(array)));
                })*
            }
            Data::Sges(sges) => match sges[..] {
                [] => return $poster.put(&$wr.flag($request)),
                [a] => return $poster.put(&$wr.flag($request.gather([a]))),
                [a, b] => return $poster.put(&$wr.flag($request.gather([a, b]))),
                _ => {}
            },
        }
    };
}

/// `$then` with the atomic of a kind, by its type; `$other` of another kind.
macro_rules! atomic {
    ($wr:ident $(, $to:ident)?; |$atomic:ident| $then:expr, else $other:expr) => {
        atomic!(@ $wr, open, fetching(open$(.to($to))?, $wr), $atomic, $then, $other,
            Kind::CompareSwap(remote, compare, swap) => wqe::compare_swap(remote, compare, swap);
            Kind::FetchAdd(remote, add) => wqe::fetch_add(remote, add);
            Kind::Extended(remote, Extended::Swap32 { compare, swap }) => wqe::masked_compare_swap(remote, compare, swap);
            Kind::Extended(remote, Extended::Swap64 { compare, swap }) => wqe::masked_compare_swap(remote, compare, swap);
            Kind::Extended(remote, Extended::Swap128 { compare, swap }) => wqe::masked_compare_swap(remote, compare, swap);
            Kind::Extended(remote, Extended::Add32(add, boundary)) => wqe::masked_fetch_add(remote, add, boundary);
            Kind::Extended(remote, Extended::Add64(add, boundary)) => wqe::masked_fetch_add(remote, add, boundary);
            Kind::Extended(remote, Extended::Add128(add, boundary)) => wqe::masked_fetch_add(remote, add, boundary);
        )
    };
    (
        @ $wr:ident, $open:ident, $given:expr, $atomic:ident, $then:expr, $other:expr,
        $($kind:pat => $request:expr;)*
    ) => {
        match $wr.kind {
            $($kind => {
                let $open = $request;
                let $atomic = $given;
                $then
            })*
            _ => $other,
        }
    };
}

/// Returns from the function with a READ into one entry or an atomic put, if its identifier is even. Others go erased,
/// so that a test of many requests has both.
macro_rules! put_fetched {
    ($poster:ident, $wr:ident $(, $to:ident)?) => {
        match (&$wr.data, $wr.kind) {
            (Data::Sges(sges), Kind::Read(remote)) if sges.len() == 1 && $wr.id % 2 == 0 => {
                return $poster.put(&$wr.flag(wqe::read(remote)$(.to($to))?.scatter([sges[0]])));
            }
            (Data::Sges(_), _) if $wr.id % 2 == 0 => {
                atomic!($wr $(, $to)?; |request| return $poster.put(&request), else {});
            }
            _ => {}
        }
    };
}

/// Does so for the kinds that some transports have.
macro_rules! put_kinds {
    (connected, $poster:ident, $wr:ident) => {
        match $wr.kind {
            Kind::Send => put_typed!($poster, $wr, wqe::send(), [3 8 44 45]),
            Kind::Write(remote) => put_typed!($poster, $wr, wqe::write(remote), [3 8 28 29]),
            Kind::SendImm(imm) => put_typed!($poster, $wr, wqe::send().imm(imm), [8]),
            Kind::WriteImm(remote, imm) => put_typed!($poster, $wr, wqe::write(remote).imm(imm), [8]),
            _ => {}
        }
    };
    (reliable, $poster:ident, $wr:ident) => {
        match $wr.kind {
            Kind::SendInval(rkey) => put_typed!($poster, $wr, wqe::send().invalidate(rkey), [8]),
            _ => put_fetched!($poster, $wr),
        }
    };
    (datagrams, $poster:ident, $wr:ident) => {
        match $wr.kind {
            Kind::Datagram(Whom::Compact(to), None) => put_typed!($poster, $wr, wqe::send().to(to), [3 8 28 29]),
            Kind::Datagram(Whom::Compact(to), Some(imm)) => put_typed!($poster, $wr, wqe::send().to(to).imm(imm), [8]),
            Kind::Datagram(Whom::Full(to), None) => put_typed!($poster, $wr, wqe::send().to(to), [8 28]),
            Kind::Datagram(Whom::Full(to), Some(imm)) => put_typed!($poster, $wr, wqe::send().imm(imm).to(to), [3 8 44]),
            _ => {}
        }
    };
    ($target:ident, $poster:ident, $wr:ident) => {
        match ($wr.kind, $wr.to) {
            (Kind::Send, Some(Target::$target(to))) => put_typed!($poster, $wr, wqe::send().to(to), [3 8 28 29]),
            (Kind::Write(remote), Some(Target::$target(to))) => {
                put_typed!($poster, $wr, wqe::write(remote).to(to), [3 8 12 13 28 29])
            }
            (Kind::SendImm(imm), Some(Target::$target(to))) => put_typed!($poster, $wr, wqe::send().imm(imm).to(to), [8]),
            (Kind::WriteImm(remote, imm), Some(Target::$target(to))) => {
                put_typed!($poster, $wr, wqe::write(remote).to(to).imm(imm), [8])
            }
            (Kind::SendInval(rkey), Some(Target::$target(to))) => {
                put_typed!($poster, $wr, wqe::send().to(to).invalidate(rkey), [8])
            }
            (_, Some(Target::$target(to))) => put_fetched!($poster, $wr, to),
            _ => {}
        }
    };
}

/// Implements services, each with the groups of kinds that go by their types.
macro_rules! services {
    ($($transport:ty, $device:ident: $($group:ident)*;)*) => {
        $(impl Service for $transport {
            const TRANSPORT: softhca::context::Transport = softhca::context::Transport::$device;

            unsafe fn put<P: Poster<Self>>(poster: &mut P, wr: &Wr) -> Result<(), PostError> {
                // SAFETY: the caller promises that named memory stays registered and unused until completion.
                unsafe {
                    $(put_kinds!($group, poster, wr);)*
                    poster.put_erased(&erased(wr))
                }
            }
        })*
    };
}
services! {
    transport::Uc, Uc: connected;
    transport::Signed<transport::Uc>, Uc: connected;
    transport::Rc, Rc: connected reliable;
    transport::Signed<transport::Rc>, Rc: connected reliable;
    transport::Ud, Ud: datagrams;
    transport::Signed<transport::Ud>, Ud: datagrams;
    transport::Dci, Dc: Compact Full;
    transport::Signed<transport::Dci>, Dc: Compact Full;
    transport::DciStreams, Dc: Compact Full Stream;
    transport::Signed<transport::DciStreams>, Dc: Compact Full Stream;
    transport::XrcInitiator, Xrc: Srq;
    transport::Signed<transport::XrcInitiator>, Xrc: Srq;
}

impl Service for RawPacket {
    const TRANSPORT: softhca::context::Transport = softhca::context::Transport::RawPacket;

    unsafe fn put<P: Poster<Self>>(poster: &mut P, wr: &Wr) -> Result<(), PostError> {
        // SAFETY: the caller promises registered memory, and that nothing writes what a frame's entries name.
        unsafe { put_frame(poster, wr) }
    }
}

impl Service for RawPacket<0> {
    const TRANSPORT: softhca::context::Transport = softhca::context::Transport::RawPacket;

    unsafe fn put<P: Poster<Self>>(poster: &mut P, wr: &Wr) -> Result<(), PostError> {
        // SAFETY: the caller promises registered memory, and that nothing writes what a frame's entries name.
        unsafe {
            let Kind::Frame(0, checksums) = wr.kind else { return put_frame(poster, wr) };
            let frame = checksummed(wqe::frame(), checksums);
            put_typed!(poster, wr, frame, [28 29]);
            poster.put_erased(&carrying(frame, wr))
        }
    }
}

/// The request of a kind, `to` a destination if there is one.
macro_rules! any_kind {
    ($wr:ident $(, $to:ident)?) => {
        match $wr.kind {
            Kind::Nop => $wr.flag(wqe::nop()).erased(),
            Kind::Send => carrying(wqe::send()$(.to($to))?, $wr),
            // In either order, which must not matter.
            Kind::SendImm(imm) if imm & 1 == 0 => carrying(wqe::send()$(.to($to))?.imm(imm), $wr),
            Kind::SendImm(imm) => carrying(wqe::send().imm(imm)$(.to($to))?, $wr),
            Kind::SendInval(rkey) => carrying(wqe::send().invalidate(rkey)$(.to($to))?, $wr),
            Kind::Write(remote) => carrying(wqe::write(remote)$(.to($to))?, $wr),
            Kind::WriteImm(remote, imm) if imm & 1 == 0 => carrying(wqe::write(remote)$(.to($to))?.imm(imm), $wr),
            Kind::WriteImm(remote, imm) => carrying(wqe::write(remote).imm(imm)$(.to($to))?, $wr),
            Kind::Read(remote) => scattering(wqe::read(remote)$(.to($to))?, $wr),
            Kind::Datagram(Whom::Compact(to), None) => carrying(wqe::send().to(to), $wr),
            Kind::Datagram(Whom::Compact(to), Some(imm)) => carrying(wqe::send().to(to).imm(imm), $wr),
            Kind::Datagram(Whom::Full(to), None) => carrying(wqe::send().to(to), $wr),
            Kind::Datagram(Whom::Full(to), Some(imm)) => carrying(wqe::send().imm(imm).to(to), $wr),
            kind => atomic!($wr $(, $to)?; |atomic| atomic.erased(), else panic!("{kind:?} needs a raw packet queue")),
        }
    };
}

/// The request, of any kind but frames.
fn erased(wr: &Wr) -> Erased<'_> {
    match wr.to {
        _ if wr.kind == Kind::Nop => wr.flag(wqe::nop()).erased(),
        None => any_kind!(wr),
        Some(Target::Compact(to)) => any_kind!(wr, to),
        Some(Target::Full(to)) => any_kind!(wr, to),
        Some(Target::Stream(to)) => any_kind!(wr, to),
        Some(Target::Srq(to)) => any_kind!(wr, to),
    }
}

/// The request with the data of `wr` to carry.
fn carrying<'d, O: Operation>(request: Request<'d, O, ToCarry>, wr: &'d Wr) -> Erased<'d> {
    match &wr.data {
        Data::Inline(bytes) => wr.flag(request.inline_slice(bytes)).erased(),
        Data::Sges(sges) => wr.flag(request.gather_slice(sges)).erased(),
    }
}

/// A READ into the memory of `wr`.
fn scattering<'d, O: Operation>(request: Request<'d, O, ToScatter>, wr: &'d Wr) -> Erased<'d> {
    wr.flag(request.scatter_slice(wr.sges())).erased()
}

/// An atomic, whose result goes to the memory of `wr`.
fn fetching<O: Operation, const BYTES: u32>(
    request: Request<'static, O, ToFetch<BYTES>>,
    wr: &Wr,
) -> Request<'static, O, Given<0, 1>> {
    let [result] = wr.sges() else { panic!("an atomic has one result") };
    wr.flag(request.result(result.addr, result.lkey))
}

fn checksummed<const N: usize, D>(frame: Request<'_, Frame<N>, D>, checksums: bool) -> Request<'_, Frame<N>, D> {
    if checksums { frame.l3_checksum().l4_checksum() } else { frame }
}

/// Puts a frame with inline headers, or a NOP.
///
/// # Safety
/// As [`Service::put`].
unsafe fn put_frame<const HEADERS: usize, P: Poster<RawPacket<HEADERS>>>(
    poster: &mut P,
    wr: &Wr,
) -> Result<(), PostError> {
    macro_rules! by_length {
        ($len:expr, $($array:literal)*, |$frame:ident| $made:expr) => {
            match $len {
                $($array => {
                    let headers: [u8; $array] = wr.data.head($array).try_into().expect("as many bytes in the frame");
                    let wr = Wr { data: wr.data.rest($array), ..wr.clone() };
                    let $frame = wqe::frame().inline_headers(&headers);
                    let frame = $made;
                    put_typed!(poster, wr, frame, [8]);
                    poster.put_erased(&carrying(frame, &wr))
                })*
                len => panic!("inline headers of {len} bytes"),
            }
        };
    }
    // SAFETY: the caller promises registered memory, and that nothing writes what a frame's entries name.
    unsafe {
        match wr.kind {
            Kind::Nop => poster.put(&wr.flag(wqe::nop())),
            Kind::Frame(len, checksums) => by_length!(len, 18 34 42 66 130, |frame| checksummed(frame, checksums)),
            Kind::LargeFrame(len, checksums, mss) => {
                by_length!(len, 54 66 74 130, |frame| checksummed(frame, checksums).large(mss))
            }
            kind => panic!("{kind:?} is no frame"),
        }
    }
}
