//! Operations as types: the parts of an operation's WQE, and the transports that have it. The operations themselves are
//! in `table.rs`.
use core::marker::PhantomData;

use crate::sealed::Sealed;
use crate::transport::Transport;
use crate::types::DS_BYTES;
use crate::wqe::address::destination::Destination;
use crate::wqe::opcode::Opcode;

/// An operation of a send queue, with the facts about its WQE that are known at compile time. The operands are in the
/// [request](crate::wqe::Request).
pub trait Operation: Sealed + Copy {
    /// The device's opcode.
    const OPCODE: Opcode;

    /// The opcode modifier.
    #[doc(hidden)]
    const OPMOD: u8 = 0;

    /// DS of its segments, without control segment and data.
    const DS: usize;

    /// How many of those DS the request stores. The others come from its inline headers.
    #[doc(hidden)]
    const STORED_DS: usize = Self::DS;

    /// Bytes of inline headers.
    #[doc(hidden)]
    const HEADERS: usize = 0;

    /// Which of its DS is the remote address segment, if it has one.
    #[doc(hidden)]
    const REMOTE: Option<usize> = None;

    /// Whether it is a frame, which may need offloads of the device.
    #[doc(hidden)]
    const IS_FRAME: bool = false;

    /// Whether the device cuts its data up, up to a limit.
    #[doc(hidden)]
    const IS_LARGE: bool = false;

    /// Whether its operands have limits, apart from those of entries.
    #[doc(hidden)]
    const IS_CHECKED: bool = false;

    /// The bytes and entries of the data that it is [prepared](Prepared) for.
    #[doc(hidden)]
    const PREPARED: Option<(usize, usize)> = None;

    /// The transports that have it, [by their bits](Transport::BIT): as it is, and with a destination.
    #[doc(hidden)]
    const ON: [u8; 2];
}

/// An operation that the transport `T` supports (IBTA vol. 1, 9.2.1, table "OpCode field", lists the operations of
/// each service). Unsupported operations do not compile.
///
/// An unreliable connection has no SEND with invalidate, although libmlx5 lets it post one. The key travels in an
/// extended header (IETH), and only reliable services have packets with one: opcodes 0x16 and 0x17 of RC. On UC these
/// are reserved, also in Linux (`include/rdma/ib_pack.h`; `next_opcode_uc` in `drivers/infiniband/sw/rxe/rxe_req.c`).
///
/// `docs/operations.md` has the whole table; its test asks the compiler for every operation on every transport. On a
/// queue without a peer of its own, a request names a destination ([`Addressed`]): an address (UD), a target (DCI) or a
/// shared receive queue (XRC). Requests that leave this side alone have none, such as NOP and memory copies.
///
/// ```
/// # use blueflame::{transport, types::Srqn, wqe::{UdAddress, SupportedOn, operations::{self, Addressed}}};
/// fn supported<T: transport::Transport, O: SupportedOn<T>>() {}
/// supported::<transport::Rc, operations::Read>();
/// supported::<transport::Uc, operations::Write>();
/// supported::<transport::Ud, Addressed<operations::Send, UdAddress>>();
/// supported::<transport::XrcInitiator, Addressed<operations::Read, Srqn>>();
/// supported::<transport::Dci, operations::Memcpy>();
/// supported::<transport::RawPacket<0>, operations::Frame>();
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
/// ```
/// # use blueflame::{SendQueue, transport, wqe};
/// fn send(sq: &mut SendQueue<transport::RawPacket<42>>, headers: &[u8; 42]) {
///     let _ = sq.post(&wqe::frame().inline_headers(headers).inline(b"an order"));
/// }
/// # let _ = send as fn(_, _);
/// ```
/// ```compile_fail,E0080
/// # use blueflame::{SendQueue, transport, wqe};
/// # fn send(sq: &mut SendQueue<transport::RawPacket<42>>, headers: &[u8; 34]) {
/// let _ = sq.post(&wqe::frame().inline_headers(headers).inline(b"an order"));
/// # }
/// # let _ = send as fn(_, _);
/// ```
/// ```compile_fail,E0080
/// # use blueflame::{SendQueue, transport, wqe};
/// # fn send(sq: &mut SendQueue<transport::RawPacket>) {
/// let _ = sq.post(&wqe::frame().inline(b"an order"));
/// # }
/// # let _ = send as fn(_);
/// ```
#[diagnostic::on_unimplemented(
    message = "the transport `{T}` does not have the operation `{Self}`",
    label = "no operation of this transport, or its destination is missing or of another transport",
    note = "RC: NOP, SEND, SEND with invalidate, WRITE, READ, atomics, memory windows, indirect keys, memory copies, WAIT and ENABLE, WAIT on data, DUMP, tag matching",
    note = "UC: NOP, SEND, WRITE, memory windows",
    note = "XRC: NOP, SEND, SEND with invalidate, WRITE, READ, atomics, memory windows",
    note = "UD: NOP, SEND",
    note = "DCI: NOP, SEND, SEND with invalidate, WRITE, READ, atomics, memory windows, memory copies",
    note = "raw packets: NOP, WAIT and ENABLE, DUMP, frames",
    note = "requests to a peer name it on UD (`.to(address)`), DCI (`.to(dc_address)`, `.to(dc_stream)` with streams) and XRC (`.to(srqn)`)"
)]
pub trait SupportedOn<T: Transport>: Operation {
    /// Does not compile if the operation is too small for the transport.
    #[doc(hidden)]
    const FITS: () = ();
}

/// The operation `O`, for the destination `A`: made by [`Request::to`](crate::wqe::Request::to).
///
/// ```text
///    0  control segment
///   16  destination: of a datagram or a dynamic connection, 16 or 48 bytes of address vector; of XRC, 16 bytes with an SRQ's
///       number
///    A  the operation's own segments
///    D  data segments, or one inline segment       SEND to a CompactAv: D = 32     SEND to a FullAv: D = 64
///                                                  WRITE to a CompactAv: D = 48    WRITE to a FullAv: D = 80
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Addressed<O, A>(PhantomData<(O, A)>);

impl<O, A> Sealed for Addressed<O, A> {}
impl<O: Operation, A: Destination> Operation for Addressed<O, A> {
    const OPCODE: Opcode = O::OPCODE;
    const OPMOD: u8 = O::OPMOD;
    const DS: usize = A::DS + O::DS;
    const REMOTE: Option<usize> = match O::REMOTE {
        Some(at) => Some(A::DS + at),
        None => None,
    };
    const IS_CHECKED: bool = O::IS_CHECKED;
    const ON: [u8; 2] = [O::ON[1] & A::ON, 0];
}

/// The operation `O`, prepared for `BYTES` inline bytes and `ENTRIES` entries: made by
/// [`SendQueue::prepare`](crate::SendQueue::prepare).
#[derive(Clone, Copy, Debug)]
pub struct Prepared<O, const BYTES: usize = 0, const ENTRIES: usize = 0>(PhantomData<O>);

impl<O, const BYTES: usize, const ENTRIES: usize> Sealed for Prepared<O, BYTES, ENTRIES> {}
impl<O: Operation, const BYTES: usize, const ENTRIES: usize> Operation for Prepared<O, BYTES, ENTRIES> {
    const OPCODE: Opcode = O::OPCODE;
    const OPMOD: u8 = O::OPMOD;
    const DS: usize = O::DS;
    const STORED_DS: usize = O::STORED_DS;
    const HEADERS: usize = O::HEADERS;
    const REMOTE: Option<usize> = O::REMOTE;
    const IS_FRAME: bool = O::IS_FRAME;
    const IS_LARGE: bool = O::IS_LARGE;
    const IS_CHECKED: bool = O::IS_CHECKED;
    const PREPARED: Option<(usize, usize)> = Some((BYTES, ENTRIES));
    const ON: [u8; 2] = O::ON;
}
impl<T: Transport, O: SupportedOn<T>, const BYTES: usize, const ENTRIES: usize> SupportedOn<T>
    for Prepared<O, BYTES, ENTRIES>
{
    const FITS: () = O::FITS;
}

/// The DS that `bytes` bytes fill, rounded up.
pub(super) const fn whole_ds(bytes: usize) -> usize {
    bytes.div_ceil(DS_BYTES)
}
