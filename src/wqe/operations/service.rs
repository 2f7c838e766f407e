//! The traits of operations, and of the transports that have them. Knows no operation: they are in the
//! [table](crate::wqe::operations::table).
use crate::transport::{Signable, Signed, Transport};
use crate::types::DciStream;
use crate::wqe::error::EncodeError;
use crate::wqe::limits::FrameOffloads;
use crate::wqe::opcode::Opcode;
use crate::wqe::sealed::Sealed;
use crate::wqe::sink::Sink;
use crate::wqe::words::be::{Be32, Be128};

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

    /// The offloads for frames that the device must have.
    const OFFLOADS: FrameOffloads = FrameOffloads::NONE;

    /// Whether [`check`](Self::check) may refuse it.
    const CHECKED: bool = false;

    /// Checks its values, for a payload of so many bytes.
    ///
    /// # Errors
    /// A value is out of its limits, or of those of `offloads`.
    #[inline(always)]
    fn check(&self, _payload: u64, _offloads: FrameOffloads) -> Result<(), EncodeError> {
        Ok(())
    }

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
    /// under Linux' driver ([`result`](crate::wqe::Request::result)); or a [`Be32`] or [`Be128`], 4 or 16 bytes in
    /// network order.
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
/// An unreliable connection has no SEND with invalidate, although libmlx5 lets it post one. The key travels in an
/// extended header (IETH), and only reliable services have packets with one: opcodes 0x16 and 0x17 of RC. On UC these
/// are reserved, also in Linux (`include/rdma/ib_pack.h`; `next_opcode_uc` in `drivers/infiniband/sw/rxe/rxe_req.c`).
///
/// `docs/operations.md` has the whole table; its test asks the compiler for every operation on every transport. On a
/// queue without a peer of its own, a request names a destination ([`To`](crate::wqe::address::To)): an address (UD), a
/// target (DCI) or a shared receive queue (XRC). Requests that leave this side alone have none, such as NOP and memory
/// copies.
///
/// ```
/// # use blueflame::{transport, types::Srqn, wqe::{UdAddress, SupportedOn, address::To, operations}};
/// fn supported<T: transport::Transport, O: SupportedOn<T>>() {}
/// supported::<transport::Rc, operations::Read>();
/// supported::<transport::Uc, operations::Write>();
/// supported::<transport::Ud, To<operations::Send, UdAddress>>();
/// supported::<transport::XrcInitiator, To<operations::Read, Srqn>>();
/// supported::<transport::Dci, operations::Memcpy>();
/// supported::<transport::RawPacket<transport::InlineNone>, operations::Frame>();
/// ```
///
/// An unreliable connection has no responses that could carry data:
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{SupportedOn, operations}};
/// # fn supported<T: transport::Transport, O: SupportedOn<T>>() {}
/// supported::<transport::Uc, operations::Read>();
/// ```
///
/// A datagram needs a destination:
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{SupportedOn, operations}};
/// # fn supported<T: transport::Transport, O: SupportedOn<T>>() {}
/// supported::<transport::Ud, operations::Send>();
/// ```
///
/// Frames have inline headers, unless the device needs none. Frames with fewer than the device needs do not compile:
///
/// ```compile_fail,E0277
/// # use blueflame::{transport, wqe::{SupportedOn, operations}};
/// # fn supported<T: transport::Transport, O: SupportedOn<T>>() {}
/// supported::<transport::RawPacket, operations::Frame>();
/// ```
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
#[diagnostic::on_unimplemented(
    message = "the transport `{T}` does not have the operation `{Self}`",
    label = "no operation of this transport, or its destination is missing or of another transport",
    note = "RC: NOP, SEND, SEND with invalidate, WRITE, READ, atomics, memory windows, indirect keys, memory copies, WAIT and ENABLE, DUMP, tag matching",
    note = "UC: NOP, SEND, WRITE, memory windows",
    note = "XRC: NOP, SEND, SEND with invalidate, WRITE, READ, atomics, memory windows",
    note = "UD: NOP, SEND",
    note = "DCI: NOP, SEND, SEND with invalidate, WRITE, READ, atomics, memory windows, memory copies",
    note = "raw packets: NOP, WAIT and ENABLE, DUMP, frames",
    note = "requests to a peer name it on UD (`.to(address)`), DCI (`.to(dc_address)`, `.to(dc_stream)` with streams) and XRC (`.to(srqn)`)",
    note = "frames have inline headers, except on `RawPacket<InlineNone>`"
)]
pub trait SupportedOn<T: Transport>: Operation {
    /// Does not compile if the operation is too small for the transport.
    #[doc(hidden)]
    const FITS: () = ();
}

/// An operation that not every transport has. [`Signed`] takes such operations over from its transport, one by one. An
/// operation of every transport needs no such step: `Signed` is a transport as well.
pub trait OfSome: Operation {}

/// `Signed<T>` supports all of `T`'s operations.
impl<T: Signable, O: SupportedOn<T> + OfSome> SupportedOn<Signed<T>> for O {
    const FITS: () = <O as SupportedOn<T>>::FITS;
}
