//! The traits of operations, and of the transports that have them. Knows no operation: they are in the
//! [table](super::operations).
use super::be::{Be32, Be128};
use super::opcode::Opcode;
use super::sealed::Sealed;
use super::sink::Sink;
use crate::transport::{Signable, Signed, Transport};
use crate::types::DciStream;

/// An operation of a send queue and its operands.
pub trait Operation: Sealed + Copy {
    /// The device's opcode.
    const OPCODE: Opcode;

    /// The opcode modifier.
    const OPMOD: u8 = 0;

    /// DS of its segments, without control segment and payload.
    const DS: usize;

    /// Whether its segments carry data. If so, a request without a payload leaves the device nothing to fetch.
    const INLINE: bool = false;

    /// The control segment's last word: immediate data, a key to invalidate, or zero.
    #[inline]
    fn imm(&self) -> Be32 {
        Be32::new(0)
    }

    /// The stream of a DCI that it is part of, for the control segment; 0 where there are none.
    #[inline]
    fn stream(&self) -> DciStream {
        DciStream(0)
    }

    /// Writes its segments.
    fn encode<S: Sink>(&self, sink: &mut S);
}

/// An operation that takes data from this side to the other, inline or from registered memory.
pub trait Carries: Operation {}

/// An operation that brings data from the other side to this one.
pub trait Scatters: Operation {}

/// An operation that returns the value it found.
pub trait Fetches: Operation {
    /// The value that the device writes into the memory for the result. It is a [`u64`], 8 bytes in the CPU's order
    /// under Linux' driver ([`result`](super::Request::result)); or a [`Be32`] or [`Be128`], 4 or 16 bytes in network
    /// order.
    type Found: Found;
}

/// The bytes that an atomic operation works on, as the device returns them.
pub trait Found: Sealed + Copy {
    /// The number of bytes.
    const BYTES: u32;
}

impl Sealed for u64 {}
impl Found for u64 {
    // rdma-core `providers/mlx5/qp.c`, `MLX5_ATOMIC_SIZE`.
    const BYTES: u32 = 8;
}

impl Sealed for Be32 {}
impl Found for Be32 {
    const BYTES: u32 = 4;
}

impl Sealed for Be128 {}
impl Found for Be128 {
    const BYTES: u32 = 16;
}

/// An operation that names a place in the peer's memory.
pub trait HasRemote: Operation {
    /// Offset of its remote address segment in the WQE, in DS.
    const REMOTE_DS: usize = 1;
}

/// An operation that the transport `T` supports (IBTA vol. 1, 9.2.1, table "OpCode field", lists the operations of
/// each service). Unsupported operations do not compile.
///
/// SEND with invalidate is for RC alone, although libmlx5 also lets an unreliable connection post it. The key travels
/// in an extended header (IETH), and only RC has packets with one: opcodes 0x16 and 0x17 of the table. On UC these are
/// reserved, also in Linux (`include/rdma/ib_pack.h`; `next_opcode_uc` in `drivers/infiniband/sw/rxe/rxe_req.c`).
///
/// ```
/// # use blueflame::{transport, wqe::{self, SupportedOn}};
/// fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Rc, wqe::Read>();
/// legal::<transport::Rc, wqe::MaskedCompareSwap32>();
/// legal::<transport::Uc, wqe::Write>();
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{self, SupportedOn}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Uc, wqe::Read>(); // an unreliable connection has no responses that could carry data
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{self, SupportedOn}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Uc, wqe::FetchAdd>();
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{self, SupportedOn}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Uc, wqe::CompareSwap>();
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{self, SupportedOn}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Uc, wqe::MaskedFetchAdd32>();
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{self, SupportedOn, To, UdAddress}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Ud, To<wqe::MaskedCompareSwap64, UdAddress>>();
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{self, SupportedOn}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Uc, wqe::SendInval>();
/// ```
///
/// Only connections bind memory windows:
///
/// ```
/// # use blueflame::{transport, wqe::{self, SupportedOn}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Rc, wqe::BindWindow>();
/// legal::<transport::Uc, wqe::Invalidate>();
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{self, SupportedOn}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Ud, wqe::BindWindow>();
/// ```
///
/// Only reliable connections configure indirect keys, as in libmlx5:
///
/// ```
/// # use blueflame::{transport, wqe::{self, SupportedOn}};
/// fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Rc, wqe::ConfigureKey>();
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{self, SupportedOn}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Uc, wqe::ConfigureKey>();
/// ```
///
/// Reliable connections copy memory of this side. Initiators do, too, without a destination:
///
/// ```
/// # use blueflame::{transport, wqe::{self, SupportedOn}};
/// fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Rc, wqe::Memcpy>();
/// legal::<transport::Dci, wqe::Memcpy>();
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{self, SupportedOn}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Uc, wqe::Memcpy>();
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{self, DcAddress, SupportedOn, To}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Dci, To<wqe::Memcpy, DcAddress>>(); // no target hears of it
/// ```
///
/// Reliable connections and send queues of frames wait for other queues and for the clock, and start other queues. No
/// public driver has these operations on other transports.
///
/// ```
/// # use blueflame::{transport, wqe::{self, SupportedOn}};
/// fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Rc, wqe::WaitCqe>();
/// legal::<transport::RawPacket, wqe::WaitTime>();
/// legal::<transport::Rc, wqe::SendEnable>();
/// legal::<transport::Rc, wqe::Dump>();
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{self, SupportedOn}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Uc, wqe::WaitCqe>();
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{self, SupportedOn}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Dci, wqe::SendEnable>();
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{self, SupportedOn}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Ud, wqe::Dump>();
/// ```
///
/// The command queues of tag lists are reliable connections, as in libmlx5 and UCX:
///
/// ```
/// # use blueflame::{transport, wqe::{self, SupportedOn}};
/// fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Rc, wqe::TagAppend>();
/// legal::<transport::Rc, wqe::TagRemove>();
/// legal::<transport::Rc, wqe::TagSync>();
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{self, SupportedOn}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Uc, wqe::TagAppend>();
/// ```
///
/// Datagrams are SENDs to an address, and an address is for datagrams only:
///
/// ```
/// # use blueflame::{transport, wqe::{self, CompactAv, FullAv, SupportedOn, To, UdAddress}};
/// fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Ud, To<wqe::Send, UdAddress<CompactAv>>>();
/// legal::<transport::Ud, To<wqe::SendImm, UdAddress<FullAv>>>();
/// legal::<transport::Ud, wqe::Nop>();
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{self, SupportedOn}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Ud, wqe::Send>(); // to whom?
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{self, SupportedOn, To, UdAddress}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Ud, To<wqe::SendInval, UdAddress>>();
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{self, SupportedOn, To, UdAddress}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Ud, To<wqe::Write, UdAddress>>(); // a datagram has no place for an address in memory
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{self, SupportedOn, To, UdAddress}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Ud, To<wqe::Read, UdAddress>>();
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{self, SupportedOn, To, UdAddress}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Ud, To<wqe::FetchAdd, UdAddress>>();
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{self, SupportedOn, To, UdAddress}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Ud, To<To<wqe::Send, UdAddress>, UdAddress>>(); // to one
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{self, SupportedOn, To, UdAddress}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Rc, To<wqe::Send, UdAddress>>(); // its peer is known already
/// ```
///
/// An initiator of dynamic connections has the operations of a reliable connection, for the target that each request
/// names:
///
/// ```
/// # use blueflame::{transport::{Dci, DciStreams}, wqe::{self, CompactAv, DcAddress, DcStream, SupportedOn, To}};
/// fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<Dci, To<wqe::Send, DcAddress<CompactAv>>>();
/// legal::<Dci, To<wqe::WriteImm, DcAddress>>();
/// legal::<Dci, To<wqe::Read, DcAddress>>();
/// legal::<Dci, To<wqe::CompareSwap, DcAddress>>();
/// legal::<Dci, wqe::Nop>();
/// legal::<DciStreams, To<wqe::Write, DcStream>>();
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{self, SupportedOn}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Dci, wqe::Write>(); // to which target?
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{self, SupportedOn}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::DciStreams, wqe::Read>();
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{self, SupportedOn, To, UdAddress}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Dci, To<wqe::Send, UdAddress>>(); // a queue pair is no target, and has no access key
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{self, DcAddress, SupportedOn, To}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Ud, To<wqe::Send, DcAddress>>();
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{self, DcAddress, SupportedOn, To}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Rc, To<wqe::Write, DcAddress>>();
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{self, DcStream, SupportedOn, To}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Dci, To<wqe::Send, DcStream>>(); // it has no streams
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{self, SupportedOn}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Dci, wqe::Frame<[u8; 42]>>();
/// ```
///
/// An initiator of XRC has the operations of RC, for a shared receive queue, and none without a destination except
/// NOP:
///
/// ```
/// # use blueflame::{transport, types::Srqn, wqe::{self, SupportedOn, To}};
/// fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::XrcInitiator, To<wqe::Send, Srqn>>();
/// legal::<transport::XrcInitiator, To<wqe::SendImm, Srqn>>();
/// legal::<transport::XrcInitiator, To<wqe::SendInval, Srqn>>();
/// legal::<transport::XrcInitiator, To<wqe::Write, Srqn>>();
/// legal::<transport::XrcInitiator, To<wqe::WriteImm, Srqn>>();
/// legal::<transport::XrcInitiator, To<wqe::Read, Srqn>>();
/// legal::<transport::XrcInitiator, To<wqe::FetchAdd, Srqn>>();
/// legal::<transport::XrcInitiator, To<wqe::CompareSwap, Srqn>>();
/// legal::<transport::XrcInitiator, wqe::Nop>();
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{self, SupportedOn}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::XrcInitiator, wqe::Write>(); // whose key is it?
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, types::Srqn, wqe::{self, SupportedOn, To}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Rc, To<wqe::Send, Srqn>>(); // receives are the peer's business
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, types::Srqn, wqe::{self, SupportedOn, To}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::XrcInitiator, To<wqe::Nop, Srqn>>(); // nobody hears of it
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{self, SupportedOn, To, UdAddress}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::XrcInitiator, To<wqe::Send, UdAddress>>();
/// ```
///
/// A raw packet queue sends frames, which begin with inline headers unless the device needs none:
///
/// ```
/// # use blueflame::{transport::{self, InlineNone}, wqe::{self, SupportedOn}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::RawPacket, wqe::Frame<[u8; 42]>>();
/// legal::<transport::RawPacket<InlineNone>, wqe::Frame>();
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{self, SupportedOn}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::RawPacket, wqe::Write>(); // there is no peer whose memory could be meant
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{self, SupportedOn}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::RawPacket, wqe::Send>(); // a message of no protocol
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{self, SupportedOn}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::RawPacket, wqe::Frame>(); // no inline headers
/// ```
///
/// Where the device requires more inline headers, frames with fewer do not compile:
///
/// ```
/// # use blueflame::{SendQueue, transport::{self, InlineTcpUdp}, wqe};
/// fn send(sq: &mut SendQueue<transport::RawPacket<InlineTcpUdp>>, headers: &[u8; 42]) {
///     let _ = sq.post(&wqe::frame().inline_headers(headers).inline(b"an order"));
/// }
/// # let _ = send as fn(_, _);
/// ```
/// ```compile_fail,E0080
/// # use blueflame::{SendQueue, transport::{self, InlineTcpUdp}, wqe};
/// # fn send(sq: &mut SendQueue<transport::RawPacket<InlineTcpUdp>>, headers: &[u8; 34]) {
/// let _ = sq.post(&wqe::frame().inline_headers(headers).inline(b"an order"));
/// # }
/// # let _ = send as fn(_, _);
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{self, SupportedOn}};
/// # fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Rc, wqe::Frame<[u8; 42]>>();
/// ```
#[diagnostic::on_unimplemented(
    message = "the transport `{T}` does not have the operation `{Self}`",
    label = "READ, atomics and SEND with invalidate need a reliable connection",
    note = "a UD queue sends `wqe::send().to(address)`, with or without immediate data",
    note = "an initiator (DCI) takes every operation of a reliable connection, each `.to(dc_address)`; `.to(dc_stream)` if it has streams",
    note = "requests of an XRC initiator name a shared receive queue: `wqe::send().to(srqn)`",
    note = "a raw packet queue sends frames only, with inline headers unless it is `RawPacket<InlineNone>`"
)]
pub trait SupportedOn<T: Transport>: Operation {
    /// Does not compile if the operation is too small for the transport.
    #[doc(hidden)]
    const FITS: () = ();
}

/// An operation that only some transports have. An operation of all transports is not one: [`Signed`] transports have
/// it anyway.
pub trait OfSome: Operation {}

/// `Signed<T>` supports all of `T`'s operations.
impl<T: Signable, O: SupportedOn<T> + OfSome> SupportedOn<Signed<T>> for O {
    const FITS: () = <O as SupportedOn<T>>::FITS;
}
