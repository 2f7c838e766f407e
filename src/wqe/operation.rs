//! What a request asks for, with its operands: the segments between the control segment and the payload.
use super::be::{Be32, Be64};
use super::payload::{AtomicResult, Empty, Inline, InlineBytes, Registered, SgList};
use super::request::Request;
use super::sealed::Sealed;
use super::seg::{AtomicSeg, RaddrSeg};
use super::sink::Sink;
use crate::types::{Lkey, Rkey};
use crate::wqe::Opcode;

/// A place in the peer's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Remote {
    /// Address in the address space of the key.
    pub addr: u64,
    /// The peer's key of that memory.
    pub rkey: Rkey,
}

impl Remote {
    /// The place `offset` bytes further; wraps at 2^64 like the device's arithmetic.
    #[inline]
    #[must_use]
    pub const fn at(self, offset: u64) -> Self {
        Self { addr: self.addr.wrapping_add(offset), rkey: self.rkey }
    }
}

/// An operation of a send queue and its operands.
pub trait Operation: Sealed + Copy {
    /// The device's opcode.
    const OPCODE: Opcode;

    /// DS of its segments, without control segment and payload.
    const DS: usize;

    /// Whether its segments carry data, so that a request without a payload leaves the device nothing to fetch.
    const INLINE: bool = false;

    /// The control segment's last word: immediate data, a key to invalidate, or zero.
    #[inline]
    fn imm(&self) -> Be32 {
        Be32::new(0)
    }

    /// Writes its segments.
    #[inline(always)]
    fn encode<S: Sink>(&self, _sink: &mut S) {}
}

/// The most DS that the segments of an operation without data take: remote address and atomic segment.
pub(crate) const MAX_OPERAND_DS: usize = 2;

/// An operation that takes data from this side to the other, inline or from registered memory.
pub trait Carries: Operation {}

/// An operation that names a place in the peer's memory: its remote address segment follows the control segment.
pub trait HasRemote: Operation {}
impl HasRemote for Write {}
impl HasRemote for WriteImm {}
impl HasRemote for Read {}
impl HasRemote for FetchAdd {}
impl HasRemote for CompareSwap {}

/// No operation: completes like any other request and moves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nop(());

impl Sealed for Nop {}
impl Operation for Nop {
    const OPCODE: Opcode = Opcode::Nop;
    const DS: usize = 0;
}

/// A request that does nothing.
#[inline]
pub const fn nop() -> Request<Nop> {
    Request::new(Nop(()), Empty)
}

/// A message into a receive buffer of the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Send(());

impl Sealed for Send {}
impl Operation for Send {
    const OPCODE: Opcode = Opcode::Send;
    const DS: usize = 0;
}
impl Carries for Send {}

/// A message of zero bytes; add data with [`Request::gather`] or [`Request::inline`].
#[inline]
pub const fn send() -> Request<Send> {
    Request::new(Send(()), Empty)
}

impl<P> Request<Send, P> {
    /// Adds immediate data, given in the CPU's order; the peer's completion carries it in network order.
    #[inline]
    pub fn imm(self, imm: u32) -> Request<SendImm, P> {
        self.with_operation(|_| SendImm { imm })
    }

    /// Has the peer's device invalidate its key `rkey` when the message arrives. Reliable connections only.
    #[inline]
    pub fn invalidate(self, rkey: Rkey) -> Request<SendInval, P> {
        self.with_operation(|_| SendInval { rkey })
    }
}

/// A message with immediate data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendImm {
    imm: u32,
}

impl Sealed for SendImm {}
impl Operation for SendImm {
    const OPCODE: Opcode = Opcode::SendImm;
    const DS: usize = 0;

    #[inline]
    fn imm(&self) -> Be32 {
        Be32::new(self.imm)
    }
}
impl Carries for SendImm {}

/// A message that invalidates a key of the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendInval {
    rkey: Rkey,
}

impl Sealed for SendInval {}
impl Operation for SendInval {
    const OPCODE: Opcode = Opcode::SendInval;
    const DS: usize = 0;

    #[inline]
    fn imm(&self) -> Be32 {
        Be32::new(self.rkey.0)
    }
}
impl Carries for SendInval {}

/// RDMA WRITE: data into the peer's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    remote: Remote,
}

impl Sealed for Write {}
impl Operation for Write {
    const OPCODE: Opcode = Opcode::RdmaWrite;
    const DS: usize = 1;

    #[inline(always)]
    fn encode<S: Sink>(&self, sink: &mut S) {
        sink.ds(RaddrSeg::new(self.remote.addr, self.remote.rkey).into());
    }
}
impl Carries for Write {}

/// A write of zero bytes to `remote`; add data with [`Request::gather`] or [`Request::inline`].
#[inline]
pub const fn write(remote: Remote) -> Request<Write> {
    Request::new(Write { remote }, Empty)
}

impl<P> Request<Write, P> {
    /// Adds immediate data, given in the CPU's order: the write then also consumes a receive buffer of the peer, whose
    /// completion carries the data in network order.
    #[inline]
    pub fn imm(self, imm: u32) -> Request<WriteImm, P> {
        self.with_operation(|write| WriteImm { write, imm })
    }
}

/// RDMA WRITE with immediate data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteImm {
    write: Write,
    imm: u32,
}

impl Sealed for WriteImm {}
impl Operation for WriteImm {
    const OPCODE: Opcode = Opcode::RdmaWriteImm;
    const DS: usize = Write::DS;

    #[inline]
    fn imm(&self) -> Be32 {
        Be32::new(self.imm)
    }

    #[inline(always)]
    fn encode<S: Sink>(&self, sink: &mut S) {
        self.write.encode(sink);
    }
}
impl Carries for WriteImm {}

impl<O: Carries> Request<O> {
    /// Takes the message's bytes from registered memory: an array `[Sge; N]` or a slice `&[Sge]`.
    #[inline]
    pub fn gather<L: SgList>(self, list: L) -> Request<O, Registered<L>> {
        self.with_payload(Registered(list))
    }

    /// Copies the message's bytes into the WQE: `&[u8; N]` or a slice `&[u8]`.
    #[inline]
    pub fn inline<D: InlineBytes>(self, data: D) -> Request<O, Inline<D>> {
        self.with_payload(Inline(data))
    }
}

/// RDMA READ: data from the peer's memory. Reliable connections only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    remote: Remote,
}

impl Sealed for Read {}
impl Operation for Read {
    const OPCODE: Opcode = Opcode::RdmaRead;
    const DS: usize = 1;

    #[inline(always)]
    fn encode<S: Sink>(&self, sink: &mut S) {
        sink.ds(RaddrSeg::new(self.remote.addr, self.remote.rkey).into());
    }
}

/// A read of zero bytes from `remote`; say where the data goes with [`Request::scatter`].
#[inline]
pub const fn read(remote: Remote) -> Request<Read> {
    Request::new(Read { remote }, Empty)
}

impl Request<Read> {
    /// Puts the data read into registered memory: an array `[Sge; N]` or a slice `&[Sge]`.
    #[inline]
    pub fn scatter<L: SgList>(self, list: L) -> Request<Read, Registered<L>> {
        self.with_payload(Registered(list))
    }
}

/// Atomic fetch and add on 8 bytes, 8-byte aligned, of the peer's memory. Reliable connections only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchAdd {
    remote: Remote,
    add: u64,
}

impl Sealed for FetchAdd {}
impl Operation for FetchAdd {
    const OPCODE: Opcode = Opcode::AtomicFa;
    const DS: usize = MAX_OPERAND_DS;

    #[inline(always)]
    fn encode<S: Sink>(&self, sink: &mut S) {
        sink.ds(RaddrSeg::new(self.remote.addr, self.remote.rkey).into());
        sink.ds(AtomicSeg { swap_add: Be64::new(self.add), compare: Be64::new(0) }.into());
    }
}

/// Adds `add` to the value at `remote`, wrapping; ask for the old value with [`Request::result`].
#[inline]
pub const fn fetch_add(remote: Remote, add: u64) -> Request<FetchAdd> {
    Request::new(FetchAdd { remote, add }, Empty)
}

/// Atomic compare and swap on 8 bytes, 8-byte aligned, of the peer's memory. Reliable connections only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompareSwap {
    remote: Remote,
    compare: u64,
    swap: u64,
}

impl Sealed for CompareSwap {}
impl Operation for CompareSwap {
    const OPCODE: Opcode = Opcode::AtomicCs;
    const DS: usize = MAX_OPERAND_DS;

    #[inline(always)]
    fn encode<S: Sink>(&self, sink: &mut S) {
        sink.ds(RaddrSeg::new(self.remote.addr, self.remote.rkey).into());
        sink.ds(AtomicSeg { swap_add: Be64::new(self.swap), compare: Be64::new(self.compare) }.into());
    }
}

/// Stores `swap` at `remote` if the value there is `compare`; ask for the old value with [`Request::result`].
#[inline]
pub const fn compare_swap(remote: Remote, compare: u64, swap: u64) -> Request<CompareSwap> {
    Request::new(CompareSwap { remote, compare, swap }, Empty)
}

/// An operation that returns the 8 bytes it found.
pub trait Fetches: Operation {}
impl Fetches for FetchAdd {}
impl Fetches for CompareSwap {}

impl<O: Fetches> Request<O> {
    /// Puts the value found before the operation into 8 bytes of registered memory, in the CPU's order.
    #[inline]
    pub fn result(self, addr: u64, lkey: Lkey) -> Request<O, AtomicResult> {
        self.with_payload(AtomicResult { addr, lkey })
    }
}
