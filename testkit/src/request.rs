//! Send requests whose kind, size and flags are known only at run time, posted through the typed API. Property tests,
//! fuzz targets and comparisons with other drivers use them.
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
//! Lengths for which the crate composes a WQE in registers become arrays, so that both ways of encoding run. All other
//! lengths go through slices.

use blueflame::db::Register;
use blueflame::queue::SendBatch;
use blueflame::transport::{self, InlineNone, Transport};
use blueflame::wqe::address::{CompactAv, Destination, To};
use blueflame::wqe::operations::{Frame, Large};
use blueflame::wqe::parts::{Carries, Fetches, InlineHeaders, Payload, Scatters};
use blueflame::wqe::{self, Request, SupportedOn, UdAddress, WorkRequest};
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
    unsafe fn put<W: WorkRequest<T>>(&mut self, request: &W) -> Result<(), PostError>;
}

impl<T: Transport, R: Register> Poster<T> for SendQueue<T, R> {
    unsafe fn put<W: WorkRequest<T>>(&mut self, request: &W) -> Result<(), PostError> {
        // SAFETY: the caller's promise.
        unsafe { self.post_unchecked(request) }
    }
}

impl<T: Transport, R: Register> Poster<T> for SendBatch<'_, T, R> {
    unsafe fn put<W: WorkRequest<T>>(&mut self, request: &W) -> Result<(), PostError> {
        // SAFETY: the caller's promise.
        unsafe { self.push_unchecked(request) }
    }
}

/// A transport of the software device, which takes requests by value of [`Kind`].
pub trait Service: Transport + Sized {
    /// The same to the device.
    const TRANSPORT: softhca::context::Transport;

    /// Puts `wr`.
    ///
    /// # Errors
    /// See [`PostError`].
    ///
    /// # Panics
    /// If the transport does not have the kind, or the kind not the data: inline data for a READ, say.
    ///
    /// # Safety
    /// As [`SendQueue::post_unchecked`]: memory that is named stays registered, and nobody uses it, until the request
    /// has completed.
    unsafe fn put<D: Poster<Self>>(poster: &mut D, wr: &Wr) -> Result<(), PostError>;
}

/// Implements services whose requests name no target, each with its function that puts requests.
macro_rules! services {
    ($($transport:ty, $device:ident, $put:ident;)*) => {
        $(impl Service for $transport {
            const TRANSPORT: softhca::context::Transport = softhca::context::Transport::$device;

            unsafe fn put<D: Poster<Self>>(poster: &mut D, wr: &Wr) -> Result<(), PostError> {
                // SAFETY: the caller's promise.
                unsafe { $put(poster, wr) }
            }
        })*
    };
}
services! {
    transport::Uc, Uc, put_common;
    transport::Signed<transport::Uc>, Uc, put_common;
    transport::Rc, Rc, put_reliable;
    transport::Signed<transport::Rc>, Rc, put_reliable;
    transport::Ud, Ud, put_datagram;
    transport::Signed<transport::Ud>, Ud, put_datagram;
    transport::RawPacket, RawPacket, put_frame;
}

/// Puts any operation of a reliable connection.
///
/// # Safety
/// As [`SendQueue::post_unchecked`].
unsafe fn put_reliable<T, D: Poster<T>>(poster: &mut D, wr: &Wr) -> Result<(), PostError>
where
    T: Transport,
    wqe::operations::Nop: SupportedOn<T>,
    wqe::operations::Send: SupportedOn<T>,
    wqe::operations::SendImm: SupportedOn<T>,
    wqe::operations::SendInval: SupportedOn<T>,
    wqe::operations::Write: SupportedOn<T>,
    wqe::operations::WriteImm: SupportedOn<T>,
    wqe::operations::Read: SupportedOn<T>,
    wqe::operations::CompareSwap: SupportedOn<T>,
    wqe::operations::FetchAdd: SupportedOn<T>,
    wqe::operations::MaskedCompareSwap32: SupportedOn<T>,
    wqe::operations::MaskedCompareSwap64: SupportedOn<T>,
    wqe::operations::MaskedCompareSwap128: SupportedOn<T>,
    wqe::operations::MaskedFetchAdd32: SupportedOn<T>,
    wqe::operations::MaskedFetchAdd64: SupportedOn<T>,
    wqe::operations::MaskedFetchAdd128: SupportedOn<T>,
{
    // SAFETY: the caller's promise, throughout.
    unsafe {
        match wr.kind {
            Kind::SendInval(rkey) => put_carrying(poster, wqe::send().invalidate(rkey), wr),
            Kind::Read(remote) => put_scattering(poster, wqe::read(remote), wr),
            Kind::CompareSwap(remote, compare, swap) => {
                put_fetching(poster, wqe::compare_swap(remote, compare, swap), wr)
            }
            Kind::FetchAdd(remote, add) => put_fetching(poster, wqe::fetch_add(remote, add), wr),
            Kind::Extended(remote, Extended::Swap32 { compare, swap }) => {
                put_fetching(poster, wqe::masked_compare_swap(remote, compare, swap), wr)
            }
            Kind::Extended(remote, Extended::Swap64 { compare, swap }) => {
                put_fetching(poster, wqe::masked_compare_swap(remote, compare, swap), wr)
            }
            Kind::Extended(remote, Extended::Swap128 { compare, swap }) => {
                put_fetching(poster, wqe::masked_compare_swap(remote, compare, swap), wr)
            }
            Kind::Extended(remote, Extended::Add32(add, boundary)) => {
                put_fetching(poster, wqe::masked_fetch_add(remote, add, boundary), wr)
            }
            Kind::Extended(remote, Extended::Add64(add, boundary)) => {
                put_fetching(poster, wqe::masked_fetch_add(remote, add, boundary), wr)
            }
            Kind::Extended(remote, Extended::Add128(add, boundary)) => {
                put_fetching(poster, wqe::masked_fetch_add(remote, add, boundary), wr)
            }
            _ => put_common(poster, wr),
        }
    }
}

/// Puts a datagram, or a NOP.
///
/// # Safety
/// As [`SendQueue::post_unchecked`].
unsafe fn put_datagram<T, D: Poster<T>>(poster: &mut D, wr: &Wr) -> Result<(), PostError>
where
    T: Transport,
    wqe::operations::Nop: SupportedOn<T>,
    To<wqe::operations::Send, UdAddress<CompactAv>>: SupportedOn<T>,
    To<wqe::operations::SendImm, UdAddress<CompactAv>>: SupportedOn<T>,
    To<wqe::operations::Send, UdAddress>: SupportedOn<T>,
    To<wqe::operations::SendImm, UdAddress>: SupportedOn<T>,
{
    // SAFETY: the caller's promise, throughout.
    unsafe {
        match wr.kind {
            Kind::Nop => poster.put(&wr.flag(wqe::nop())),
            // In either order, which must not matter.
            Kind::Datagram(Whom::Compact(to), None) => put_carrying(poster, wqe::send().to(to), wr),
            Kind::Datagram(Whom::Compact(to), Some(imm)) => put_carrying(poster, wqe::send().to(to).imm(imm), wr),
            Kind::Datagram(Whom::Full(to), None) => put_carrying(poster, wqe::send().to(to), wr),
            Kind::Datagram(Whom::Full(to), Some(imm)) => put_carrying(poster, wqe::send().imm(imm).to(to), wr),
            kind => panic!("{kind:?} is no datagram"),
        }
    }
}

/// Implements initiators, each with the kinds of [`Target`] that its requests may name.
macro_rules! initiators {
    ($($transport:ty, $device:ident: $($target:ident)+;)*) => {
        $(impl Service for $transport {
            const TRANSPORT: softhca::context::Transport = softhca::context::Transport::$device;

            unsafe fn put<D: Poster<Self>>(poster: &mut D, wr: &Wr) -> Result<(), PostError> {
                // SAFETY: the caller's promise, throughout.
                unsafe {
                    match wr.to {
                        _ if wr.kind == Kind::Nop => poster.put(&wr.flag(wqe::nop())),
                        $(Some(Target::$target(to)) => put_to(poster, to, wr),)+
                        other => panic!("{other:?} is no target of this initiator, for {:?}", wr.kind),
                    }
                }
            }
        })*
    };
}
initiators! {
    transport::Dci, Dc: Compact Full;
    transport::Signed<transport::Dci>, Dc: Compact Full;
    transport::DciStreams, Dc: Compact Full Stream;
    transport::Signed<transport::DciStreams>, Dc: Compact Full Stream;
    transport::XrcInitiator, Xrc: Srq;
    transport::Signed<transport::XrcInitiator>, Xrc: Srq;
}

/// Puts any operation of an initiator, for `to`.
///
/// # Safety
/// As [`SendQueue::post_unchecked`].
unsafe fn put_to<T, A, D: Poster<T>>(poster: &mut D, to: A, wr: &Wr) -> Result<(), PostError>
where
    T: Transport,
    A: Destination,
    To<wqe::operations::Send, A>: SupportedOn<T>,
    To<wqe::operations::SendImm, A>: SupportedOn<T>,
    To<wqe::operations::SendInval, A>: SupportedOn<T>,
    To<wqe::operations::Write, A>: SupportedOn<T>,
    To<wqe::operations::WriteImm, A>: SupportedOn<T>,
    To<wqe::operations::Read, A>: SupportedOn<T>,
    To<wqe::operations::CompareSwap, A>: SupportedOn<T>,
    To<wqe::operations::FetchAdd, A>: SupportedOn<T>,
    To<wqe::operations::MaskedCompareSwap32, A>: SupportedOn<T>,
    To<wqe::operations::MaskedCompareSwap64, A>: SupportedOn<T>,
    To<wqe::operations::MaskedCompareSwap128, A>: SupportedOn<T>,
    To<wqe::operations::MaskedFetchAdd32, A>: SupportedOn<T>,
    To<wqe::operations::MaskedFetchAdd64, A>: SupportedOn<T>,
    To<wqe::operations::MaskedFetchAdd128, A>: SupportedOn<T>,
{
    // SAFETY: the caller's promise, throughout.
    unsafe {
        match wr.kind {
            Kind::Send => put_carrying(poster, wqe::send().to(to), wr),
            // In either order, which must not matter.
            Kind::SendImm(imm) if imm & 1 == 0 => put_carrying(poster, wqe::send().to(to).imm(imm), wr),
            Kind::SendImm(imm) => put_carrying(poster, wqe::send().imm(imm).to(to), wr),
            Kind::SendInval(rkey) => put_carrying(poster, wqe::send().invalidate(rkey).to(to), wr),
            Kind::Write(remote) => put_carrying(poster, wqe::write(remote).to(to), wr),
            Kind::WriteImm(remote, imm) if imm & 1 == 0 => put_carrying(poster, wqe::write(remote).to(to).imm(imm), wr),
            Kind::WriteImm(remote, imm) => put_carrying(poster, wqe::write(remote).imm(imm).to(to), wr),
            Kind::Read(remote) => put_scattering(poster, wqe::read(remote).to(to), wr),
            Kind::CompareSwap(remote, compare, swap) => {
                put_fetching(poster, wqe::compare_swap(remote, compare, swap).to(to), wr)
            }
            Kind::FetchAdd(remote, add) => put_fetching(poster, wqe::fetch_add(remote, add).to(to), wr),
            Kind::Extended(remote, Extended::Swap32 { compare, swap }) => {
                put_fetching(poster, wqe::masked_compare_swap(remote, compare, swap).to(to), wr)
            }
            Kind::Extended(remote, Extended::Swap64 { compare, swap }) => {
                put_fetching(poster, wqe::masked_compare_swap(remote, compare, swap).to(to), wr)
            }
            Kind::Extended(remote, Extended::Swap128 { compare, swap }) => {
                put_fetching(poster, wqe::masked_compare_swap(remote, compare, swap).to(to), wr)
            }
            Kind::Extended(remote, Extended::Add32(add, boundary)) => {
                put_fetching(poster, wqe::masked_fetch_add(remote, add, boundary).to(to), wr)
            }
            Kind::Extended(remote, Extended::Add64(add, boundary)) => {
                put_fetching(poster, wqe::masked_fetch_add(remote, add, boundary).to(to), wr)
            }
            Kind::Extended(remote, Extended::Add128(add, boundary)) => {
                put_fetching(poster, wqe::masked_fetch_add(remote, add, boundary).to(to), wr)
            }
            kind => panic!("{kind:?} is nothing for an initiator"),
        }
    }
}

impl Service for transport::RawPacket<InlineNone> {
    const TRANSPORT: softhca::context::Transport = softhca::context::Transport::RawPacket;

    unsafe fn put<D: Poster<Self>>(poster: &mut D, wr: &Wr) -> Result<(), PostError> {
        // SAFETY: the caller's promise.
        unsafe {
            match wr.kind {
                Kind::Frame(0, checksums) => put_carrying(poster, checksummed(wqe::frame(), checksums), wr),
                _ => put_frame(poster, wr),
            }
        }
    }
}

fn checksummed<H: InlineHeaders, X>(frame: Request<Frame<H, X>>, checksums: bool) -> Request<Frame<H, X>> {
    if checksums { frame.l3_checksum().l4_checksum() } else { frame }
}

/// Puts a frame with inline headers, or a NOP.
///
/// # Safety
/// As [`SendQueue::post_unchecked`]; and nothing writes to the memory that a frame's entries name.
unsafe fn put_frame<T, D: Poster<T>>(poster: &mut D, wr: &Wr) -> Result<(), PostError>
where
    T: Transport,
    wqe::operations::Nop: SupportedOn<T>,
    Frame<[u8; 18]>: SupportedOn<T>,
    Frame<[u8; 34]>: SupportedOn<T>,
    Frame<[u8; 42]>: SupportedOn<T>,
    Frame<[u8; 66]>: SupportedOn<T>,
    Frame<[u8; 130]>: SupportedOn<T>,
    Frame<[u8; 54], Large>: SupportedOn<T>,
    Frame<[u8; 66], Large>: SupportedOn<T>,
    Frame<[u8; 74], Large>: SupportedOn<T>,
    Frame<[u8; 130], Large>: SupportedOn<T>,
{
    macro_rules! by_length {
        ($len:expr, $($array:literal)*, |$frame:ident| $made:expr) => {
            match $len {
                $($array => {
                    let headers: [u8; $array] = wr.data.head($array).try_into().expect("as many bytes in the frame");
                    let $frame = wqe::frame().inline_headers(headers);
                    put_carrying(poster, $made, &Wr { data: wr.data.rest($array), ..wr.clone() })
                })*
                len => panic!("inline headers of {len} bytes"),
            }
        };
    }
    // SAFETY: the caller's promise, throughout.
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

/// Puts a request that every connected transport has.
///
/// # Safety
/// As [`SendQueue::post_unchecked`].
unsafe fn put_common<T, D: Poster<T>>(poster: &mut D, wr: &Wr) -> Result<(), PostError>
where
    T: Transport,
    wqe::operations::Nop: SupportedOn<T>,
    wqe::operations::Send: SupportedOn<T>,
    blueflame::wqe::operations::SendImm: SupportedOn<T>,
    wqe::operations::Write: SupportedOn<T>,
    blueflame::wqe::operations::WriteImm: SupportedOn<T>,
{
    // SAFETY: the caller's promise, throughout.
    unsafe {
        match wr.kind {
            Kind::Nop => poster.put(&wr.flag(wqe::nop())),
            Kind::Send => put_carrying(poster, wqe::send(), wr),
            Kind::SendImm(imm) => put_carrying(poster, wqe::send().imm(imm), wr),
            Kind::Write(remote) => put_carrying(poster, wqe::write(remote), wr),
            Kind::WriteImm(remote, imm) => put_carrying(poster, wqe::write(remote).imm(imm), wr),
            Kind::SendInval(_) | Kind::Read(_) | Kind::CompareSwap(..) | Kind::FetchAdd(..) | Kind::Extended(..) => {
                panic!("{:?} needs a reliable connection", wr.kind)
            }
            Kind::Frame(..) | Kind::LargeFrame(..) => panic!("{:?} needs a raw packet queue", wr.kind),
            Kind::Datagram(..) => panic!("{:?} needs a datagram queue", wr.kind),
        }
    }
}

/// Whether inline data of `len` bytes, a length fixed by its type, makes an unusual WQE: a short one, one that just
/// fits a WQEBB, or one that just does not. Each such length takes code of its own, and compile time.
const fn composed_at_the_edge<O: Carries>(len: usize) -> bool {
    // The bytes of a WQEBB, but for the control segment, those of the operation, and the count before inline data.
    let room = 44_usize.checked_sub(16 * O::DS);
    len <= 8 || matches!(room, Some(room) if len == room || len == room + 1)
}

/// Puts `request` with the data of `wr`.
///
/// # Safety
/// As [`SendQueue::post_unchecked`].
unsafe fn put_carrying<T, O, D>(poster: &mut D, request: Request<O>, wr: &Wr) -> Result<(), PostError>
where
    T: Transport,
    O: Carries + SupportedOn<T>,
    D: Poster<T>,
{
    macro_rules! inline_by_length {
        ($bytes:expr, $($len:literal)*) => {
            match $bytes.len() {
                $($len if const { composed_at_the_edge::<O>($len) } => {
                    let array: &[u8; $len] = $bytes[..].try_into().expect("the length that was matched");
                    finish(poster, request.inline(array), wr)
                })*
                _ => finish(poster, request.inline(&$bytes[..]), wr),
            }
        };
    }
    // SAFETY: the caller's promise, throughout.
    unsafe {
        match &wr.data {
            Data::Inline(bytes) => inline_by_length!(bytes, 3 8 12 13 28 29 44 45),
            Data::Sges(sges) => match sges[..] {
                [] => finish(poster, request, wr),
                [a] => finish(poster, request.gather([a]), wr),
                [a, b] => finish(poster, request.gather([a, b]), wr),
                _ => finish(poster, request.gather(&sges[..]), wr),
            },
        }
    }
}

/// Puts a READ into the memory of `wr`.
///
/// # Safety
/// As [`SendQueue::post_unchecked`].
unsafe fn put_scattering<T, O, D>(poster: &mut D, request: Request<O>, wr: &Wr) -> Result<(), PostError>
where
    T: Transport,
    O: Scatters + SupportedOn<T>,
    D: Poster<T>,
{
    // SAFETY: the caller's promise, throughout.
    unsafe {
        match wr.sges() {
            [] => finish(poster, request, wr),
            &[a] => finish(poster, request.scatter([a]), wr),
            &[a, b] => finish(poster, request.scatter([a, b]), wr),
            sges => finish(poster, request.scatter(sges), wr),
        }
    }
}

/// Puts an atomic, whose result goes to the memory of `wr`.
///
/// # Safety
/// As [`SendQueue::post_unchecked`].
unsafe fn put_fetching<T, O, D>(poster: &mut D, request: Request<O>, wr: &Wr) -> Result<(), PostError>
where
    T: Transport,
    O: Fetches + SupportedOn<T>,
    D: Poster<T>,
{
    let [result] = wr.sges() else { panic!("an atomic has one result") };
    // SAFETY: the caller's promise.
    unsafe { finish(poster, request.result(result.addr, result.lkey), wr) }
}

/// # Safety
/// As [`SendQueue::post_unchecked`].
unsafe fn finish<T, O, P, D>(poster: &mut D, request: Request<O, P>, wr: &Wr) -> Result<(), PostError>
where
    T: Transport,
    O: SupportedOn<T>,
    P: Payload,
    D: Poster<T>,
{
    // SAFETY: the caller's promise.
    unsafe { poster.put(&wr.flag(request)) }
}
