//! Which operations each transport has.
use super::ethernet::{Frame, InlineHeaders};
use super::operation::{CompareSwap, FetchAdd, Nop, Operation, Read, Send, SendImm, SendInval, Write, WriteImm};
use crate::transport::{InlineIp, InlineMode as _, InlineNone, InlineTcpUdp, RawPacket, Rc, Transport, Uc};

/// An operation that the transport `T` knows (IBTA vol. 1, 9.2.1, table "OpCode field": which operations each service
/// has). What it does not know does not compile.
///
/// SEND with invalidate is for RC alone, although libmlx5 lets an unreliable connection post it, too. The key travels in
/// an extended header (IETH), and RC alone has packets with one: opcodes 0x16 and 0x17 of the table. On UC these are
/// reserved (so in Linux, too: `include/rdma/ib_pack.h`; `next_opcode_uc` in `drivers/infiniband/sw/rxe/rxe_req.c`).
///
/// ```
/// # use blueflame::{transport, wqe::{self, SupportedOn}};
/// fn legal<T: blueflame::transport::Transport, O: SupportedOn<T>>() {}
/// legal::<transport::Rc, wqe::Read>();
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
/// legal::<transport::Uc, wqe::SendInval>();
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
/// Where the device wants more headers inline, frames with fewer do not compile:
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
    note = "a raw packet queue sends frames only, with inline headers unless it is `RawPacket<InlineNone>`"
)]
pub trait SupportedOn<T: Transport>: Operation {
    /// Does not compile if the operation is too small for the transport.
    #[doc(hidden)]
    const FITS: () = ();
}

impl<T: Transport> SupportedOn<T> for Nop {}
impl SupportedOn<Rc> for Send {}
impl SupportedOn<Uc> for Send {}
impl SupportedOn<Rc> for SendImm {}
impl SupportedOn<Uc> for SendImm {}
impl SupportedOn<Rc> for Write {}
impl SupportedOn<Uc> for Write {}
impl SupportedOn<Rc> for WriteImm {}
impl SupportedOn<Uc> for WriteImm {}
impl SupportedOn<Rc> for SendInval {}
impl SupportedOn<Rc> for Read {}
impl SupportedOn<Rc> for FetchAdd {}
impl SupportedOn<Rc> for CompareSwap {}
impl<const N: usize> SupportedOn<RawPacket> for Frame<[u8; N]> {}
impl<const N: usize> SupportedOn<RawPacket> for Frame<&[u8; N]> {}
impl<H: InlineHeaders> SupportedOn<RawPacket<InlineNone>> for Frame<H> {}
impl<H: InlineHeaders> SupportedOn<RawPacket<InlineIp>> for Frame<H> {
    const FITS: () = assert!(H::BYTES >= InlineIp::LEAST, "inline headers are at least 34 bytes here");
}
impl<H: InlineHeaders> SupportedOn<RawPacket<InlineTcpUdp>> for Frame<H> {
    const FITS: () = assert!(H::BYTES >= InlineTcpUdp::LEAST, "inline headers are at least 42 bytes here");
}
