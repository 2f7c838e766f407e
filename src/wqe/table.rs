//! The operations: one table, and the calls that begin a request of each. Knows no queue.
use crate::layout::Be64;
use crate::sealed::Sealed;
use crate::transport::{Dci, DciStreams, RawPacket, Rc, Signed, Transport, Uc, Ud, XrcInitiator};
use crate::types::{Rkey, Srqn};
use crate::wqe::address::vector::{AddressVector, DcAddress, DcStream, UdAddress};
use crate::wqe::data::{Nothing, Remote, ToCarry, ToFetch, ToScatter};
use crate::wqe::opcode::Opcode;
use crate::wqe::operation::{Addressed, Operation, SupportedOn};
use crate::wqe::request::Request;
use crate::wqe::seg::{AtomicSeg, RaddrSeg};

/// Makes the operations of the table.
macro_rules! operations {
    ($(
        $(#[$doc:meta])*
        $op:ident: $opcode:ident $(/ $opmod:ident)?, $ds:literal $(, @$remote:literal)? $(, $checked:ident)?,
        [$($transport:ident)*];
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $op(());

        impl Sealed for $op {}
        impl Operation for $op {
            const OPCODE: Opcode = Opcode::$opcode;
            $(const OPMOD: u8 = $opmod;)?
            const DS: usize = $ds;
            $(const REMOTE: Option<usize> = Some($remote);)?
            $(const IS_CHECKED: bool = operations!(@checked $checked);)?
            const ON: [u8; 2] = [0 $(| operations!(@bit $transport))*, 0 $(| operations!(@bit_to $transport))*];
        }
        $(operations!(@on $transport, $op);)*
    )*};

    (@checked checked) => { true };

    (@bit Rc) => { Rc::BIT };
    (@bit Uc) => { Uc::BIT };
    (@bit Own) => { XrcInitiator::BIT | Dci::BIT | DciStreams::BIT };
    (@bit ToNobody) => { Dci::BIT | DciStreams::BIT };
    (@bit Raw) => { <RawPacket>::BIT };
    (@bit Any) => { u8::MAX };
    (@bit $other:ident) => { 0 };

    (@bit_to Xrc) => { XrcInitiator::BIT };
    (@bit_to Ud) => { Ud::BIT };
    (@bit_to Dci) => { Dci::BIT | DciStreams::BIT };
    (@bit_to $other:ident) => { 0 };

    (@on Ud, $op:ident) => {
        impl<const MORE: usize> SupportedOn<Ud> for Addressed<$op, UdAddress<AddressVector<MORE>>> {}
        impl<const MORE: usize> SupportedOn<Signed<Ud>> for Addressed<$op, UdAddress<AddressVector<MORE>>> {}
    };
    (@on Dci, $op:ident) => {
        impl<const MORE: usize> SupportedOn<Dci> for Addressed<$op, DcAddress<AddressVector<MORE>>> {}
        impl<const MORE: usize> SupportedOn<Signed<Dci>> for Addressed<$op, DcAddress<AddressVector<MORE>>> {}
        impl<const MORE: usize> SupportedOn<DciStreams> for Addressed<$op, DcAddress<AddressVector<MORE>>> {}
        impl<const MORE: usize> SupportedOn<Signed<DciStreams>> for Addressed<$op, DcAddress<AddressVector<MORE>>> {}
        impl<const MORE: usize> SupportedOn<DciStreams> for Addressed<$op, DcStream<AddressVector<MORE>>> {}
        impl<const MORE: usize> SupportedOn<Signed<DciStreams>> for Addressed<$op, DcStream<AddressVector<MORE>>> {}
    };
    (@on Xrc, $op:ident) => {
        impl SupportedOn<XrcInitiator> for Addressed<$op, Srqn> {}
        impl SupportedOn<Signed<XrcInitiator>> for Addressed<$op, Srqn> {}
    };
    (@on ToNobody, $op:ident) => { operations!(@plain $op, Dci DciStreams); };
    (@on Own, $op:ident) => { operations!(@plain $op, XrcInitiator Dci DciStreams); };
    (@on Raw, $op:ident) => { impl<const HEADERS: usize> SupportedOn<RawPacket<HEADERS>> for $op {} };
    (@on Any, $op:ident) => { impl<T: Transport> SupportedOn<T> for $op {} };
    (@on $transport:ident, $op:ident) => { operations!(@plain $op, $transport); };

    (@plain $op:ident, $($transport:ident)*) => {$(
        impl SupportedOn<$transport> for $op {}
        impl SupportedOn<Signed<$transport>> for $op {}
    )*};
}

operations! {
    // operation           opcode             DS in words                    transports
    /// No operation: completes like any other request and moves nothing. Transports: all.
    Nop:                   Nop,               0,                             [Any];
    /// A message into a receive buffer of the peer. Transports: RC, UC, XRC, UD, DCI.
    Send:                  Send,              0,                             [Rc Uc Xrc Ud Dci];
    /// A message with immediate data. Transports: RC, UC, XRC, UD, DCI.
    SendImm:               SendImm,           0,                             [Rc Uc Xrc Ud Dci];
    /// A message that invalidates a key of the peer. Transports: RC, XRC, DCI.
    SendInval:             SendInval,         0,                             [Rc Xrc Dci];
    /// RDMA WRITE: data into the peer's memory. Transports: RC, UC, XRC, DCI.
    Write:                 RdmaWrite,         1, @0,                         [Rc Uc Xrc Dci];
    /// RDMA WRITE with immediate data. Transports: RC, UC, XRC, DCI.
    WriteImm:              RdmaWriteImm,      1, @0,                         [Rc Uc Xrc Dci];
    /// RDMA READ: data from the peer's memory. Transports: RC, XRC, DCI.
    Read:                  RdmaRead,          1, @0,                         [Rc Xrc Dci];
    /// Atomic fetch and add on 8 bytes, 8-byte aligned, of the peer's memory. Transports: RC, XRC, DCI.
    FetchAdd:              AtomicFa,          2, @0,                         [Rc Xrc Dci];
    /// Atomic compare and swap on 8 bytes, 8-byte aligned, of the peer's memory. Transports: RC, XRC, DCI.
    CompareSwap:           AtomicCs,          2, @0,                         [Rc Xrc Dci];
    /// Atomic fetch and add on the fields of 4 bytes, 4-byte aligned, of the peer's memory. Transports: RC, XRC, DCI.
    MaskedFetchAdd32:      AtomicMaskedFa/BYTES_4,  2, @0,                   [Rc Xrc Dci];
    /// Atomic fetch and add on the fields of 8 bytes, 8-byte aligned, of the peer's memory. Transports: RC, XRC, DCI.
    MaskedFetchAdd64:      AtomicMaskedFa/BYTES_8,  2, @0,                   [Rc Xrc Dci];
    /// Atomic compare and swap of some bits of 4 bytes, 4-byte aligned, of the peer's memory. Transports: RC, XRC, DCI.
    MaskedCompareSwap32:   AtomicMaskedCs/BYTES_4,  2, @0,                   [Rc Xrc Dci];
    /// Atomic compare and swap of some bits of 8 bytes, 8-byte aligned, of the peer's memory. Transports: RC, XRC, DCI.
    MaskedCompareSwap64:   AtomicMaskedCs/BYTES_8,  3, @0,                   [Rc Xrc Dci];
    /// Atomic fetch and add on the fields of 16 bytes, 16-byte aligned, of the peer's memory. Transports: RC, XRC, DCI.
    MaskedFetchAdd128:     AtomicMaskedFa/BYTES_16, 3, @0,                   [Rc Xrc Dci];
    /// Atomic compare and swap of some bits of 16 bytes, 16-byte aligned, of the peer's memory. Transports: RC, XRC, DCI.
    MaskedCompareSwap128:  AtomicMaskedCs/BYTES_16, 5, @0,                   [Rc Xrc Dci];
    /// Binds a memory window. When it is done, peers reach the piece by the window's new key (`IBV_WR_BIND_MW`).
    /// Transports: RC, UC, XRC, DCI.
    ///
    /// On XRC and DCI the request names no peer: the UMR control segment follows the control segment, as in libmlx5
    /// (rdma-core `providers/mlx5/qp.c`, `_mlx5_post_send` and `_build_umr_wqe`). Another driver of NVIDIA's keeps the XRC
    /// segment in such requests (MLNX_OFED `drivers/infiniband/hw/mlx5/wr.c`, `mlx5_ib_post_send`); this crate does not.
    ///
    /// ```text
    ///    0  control segment: the window's key before
    ///   16  UMR control segment
    ///   64  memory key segment: the new key's lowest byte, rights, first address and length
    ///  128  the piece: bytes, lkey and address; zeros up to 192
    /// ```
    BindWindow:            Umr,               11, checked,                   [Rc Uc Own];
    /// Takes access by a key back: it invalidates a window of type 2 (`IBV_WR_LOCAL_INV`), and binds one of type 1 to
    /// nothing. Transports: RC, UC, XRC, DCI.
    Invalidate:            Umr,               7,                             [Rc Uc Own];
    /// Sets the memory behind an indirect key, its rights, or both (`mlx5dv_wr_mkey_configure`, `mlx5dv_wr_mr_list`,
    /// `mlx5dv_wr_mr_interleaved`). When the request is done, the key is valid, even if it was free before.
    /// Transports: RC.
    ///
    /// ```text
    ///    0  control segment: the key
    ///   16  UMR control segment
    ///   64  memory key segment: the key's lowest byte, rights, length
    ///  128  the list, up to a whole WQEBB of entries; or a data segment of where it is
    /// ```
    ConfigureKey:          Umr,               7, checked,                    [Rc];
    /// Sets a signature value (PSV), with which the signatures of a key's next transfer begin. Transports: RC.
    SetPsv:                SetPsv,            1,                             [Rc];
    /// A copy from this side's memory to this side's memory ([`memcpy`](crate::wqe::memcpy)). Transports: RC, DCI.
    Memcpy:                Mmo/DMA,           3, checked,                    [Rc ToNobody];
    /// Waits for a completion ([`wait_for_completion`](crate::wqe::wait_for_completion)). Transports: RC, raw packets.
    WaitCqe:               Wait,              1,                             [Rc Raw];
    /// Waits for the clock ([`wait_until`](crate::wqe::cross_channel::ClockReading::wait_until)). Transports: RC, raw
    /// packets.
    WaitTime:              Wait/TIME,         2,                             [Rc Raw];
    /// Waits for a word of memory ([`wait_for_word`](crate::wqe::wait_for_word)). Transports: RC.
    WaitData:              Wait/DATA,         2,                             [Rc];
    /// Has another queue send ([`SendQueue::enable`](crate::SendQueue::enable)). Transports: RC, raw packets.
    SendEnable:            SendEn,            1,                             [Rc Raw];
    /// Has another queue receive ([`RecvQueue::enable`](crate::RecvQueue::enable)). Transports: RC, raw packets.
    RecvEnable:            RcvEn,             1,                             [Rc Raw];
    /// Reads data, and sends nothing ([`dump`](crate::wqe::dump)). Transports: RC, raw packets.
    Dump:                  Dump,              0,                             [Rc Raw];
    /// Appends a tagged buffer to a list ([`tag_append`](crate::wqe::tag_append)). The command queue is an RC queue.
    /// Transports: RC.
    TagAppend:             TagMatching,       2,                             [Rc];
    /// Removes a tagged buffer from a list ([`tag_remove`](crate::wqe::tag_remove)). Transports: RC.
    TagRemove:             TagMatching,       2,                             [Rc];
    /// Reports to the device how many unexpected messages software has seen ([`tag_sync`](crate::wqe::tag_sync)).
    /// Transports: RC.
    TagSync:               TagMatching,       2,                             [Rc];
    // With a destination on Ud, Dci and Xrc, before the operation's segments. Own, ToNobody: also on those, but without
    // a destination.
    //
    // Three operations are no rows:
    // Frame, LargeSend (frame/mod.rs): Send and Tso, an Ethernet segment of any size, [Raw, with the headers that its mode
    //   asks for]
    // several frames (queue/send/session.rs): EnhancedMpsw, an Ethernet segment, [Raw, by a session only]
}

/// Opcode modifiers of extended atomics: bit 3, and (log2 of the operands' bytes) - 2 (UCX
/// `src/uct/ib/mlx5/ib_mlx5.h`, `UCT_IB_MLX5_OPMOD_EXT_ATOMIC`).
const BYTES_4: u8 = 8;
const BYTES_8: u8 = 8 | 1;
const BYTES_16: u8 = 8 | 2;

/// Opcode modifier of MMO: a copy (rdma-core `providers/mlx5/wqe.h`, `MLX5_OPC_MOD_MMO_DMA`).
const DMA: u8 = 1;

/// Opcode modifiers of WAIT: for a word of memory, and for the clock (DPDK `drivers/common/mlx5/mlx5_prm.h`,
/// `MLX5_OPC_MOD_WAIT_DATA`, `MLX5_OPC_MOD_WAIT_TIME`). The modifier for a completion queue is 0,
/// `MLX5_OPC_MOD_WAIT_CQ_PI`.
const DATA: u8 = 1;
const TIME: u8 = 2;

/// A request that does nothing.
#[doc(alias = "MLX5_OPCODE_NOP")]
#[inline(always)]
pub fn nop() -> Request<'static, Nop, Nothing> {
    Request::new([])
}

/// A message of zero bytes; add data with [`Request::gather`] or [`Request::inline`].
#[doc(alias("ibv_wr_send", "IBV_WR_SEND", "MLX5_OPCODE_SEND"))]
#[inline(always)]
pub fn send() -> Request<'static, Send, ToCarry> {
    Request::new([])
}

/// A write of zero bytes to `remote`; add data with [`Request::gather`] or [`Request::inline`].
#[doc(alias("ibv_wr_rdma_write", "IBV_WR_RDMA_WRITE", "MLX5_OPCODE_RDMA_WRITE"))]
#[inline(always)]
pub fn write(remote: Remote) -> Request<'static, Write, ToCarry> {
    Request::new([RaddrSeg::from(remote).into()])
}

/// A read of zero bytes from `remote`; say where the data goes with [`Request::scatter`].
#[doc(alias("ibv_wr_rdma_read", "IBV_WR_RDMA_READ", "MLX5_OPCODE_RDMA_READ"))]
#[inline(always)]
pub fn read(remote: Remote) -> Request<'static, Read, ToScatter> {
    Request::new([RaddrSeg::from(remote).into()])
}

/// Adds `add` to the value at `remote`, wrapping; ask for the old value with [`Request::result`].
#[doc(alias("ibv_wr_atomic_fetch_add", "IBV_WR_ATOMIC_FETCH_AND_ADD", "MLX5_OPCODE_ATOMIC_FA"))]
#[inline(always)]
pub fn fetch_add(remote: Remote, add: u64) -> Request<'static, FetchAdd, ToFetch<8>> {
    let operands = AtomicSeg { swap_add: Be64::new(add), compare: Be64::new(0) };
    Request::new([RaddrSeg::from(remote).into(), operands.into()])
}

/// Stores `swap` at `remote` if the value there is `compare`; ask for the old value with [`Request::result`].
#[doc(alias("ibv_wr_atomic_cmp_swp", "IBV_WR_ATOMIC_CMP_AND_SWP", "MLX5_OPCODE_ATOMIC_CS"))]
#[inline(always)]
pub fn compare_swap(remote: Remote, compare: u64, swap: u64) -> Request<'static, CompareSwap, ToFetch<8>> {
    let operands = AtomicSeg { swap_add: Be64::new(swap), compare: Be64::new(compare) };
    Request::new([RaddrSeg::from(remote).into(), operands.into()])
}

impl<'d, D> Request<'d, Send, D> {
    /// Adds immediate data, given in the CPU's order; the peer's completion carries it in network order.
    #[doc(alias("ibv_wr_send_imm", "ibv_wr_rdma_write_imm", "IBV_WR_SEND_WITH_IMM", "IBV_WR_RDMA_WRITE_WITH_IMM"))]
    #[inline(always)]
    pub fn imm(self, imm: u32) -> Request<'d, SendImm, D> {
        self.with_imm(imm).with_types()
    }

    /// Has the peer's device invalidate its key `rkey` when the message arrives. Transports: RC, XRC, DCI.
    #[doc(alias("ibv_wr_send_inv", "IBV_WR_SEND_WITH_INV"))]
    #[inline(always)]
    pub fn invalidate(self, rkey: Rkey) -> Request<'d, SendInval, D> {
        self.with_imm(rkey.0).with_types()
    }
}

impl<'d, D> Request<'d, Write, D> {
    /// Adds immediate data, given in the CPU's order. The write then also consumes a receive buffer of the peer. The
    /// completion of that receive carries the data in network order.
    #[inline(always)]
    pub fn imm(self, imm: u32) -> Request<'d, WriteImm, D> {
        self.with_imm(imm).with_types()
    }
}

impl<'d, A, D> Request<'d, Addressed<Send, A>, D> {
    /// Adds immediate data, as for any [`send`](crate::wqe::send).
    #[inline(always)]
    pub fn imm(self, imm: u32) -> Request<'d, Addressed<SendImm, A>, D> {
        self.with_imm(imm).with_types()
    }

    /// Has the peer's device invalidate a key, as for any [`send`](crate::wqe::send).
    #[inline(always)]
    pub fn invalidate(self, rkey: Rkey) -> Request<'d, Addressed<SendInval, A>, D> {
        self.with_imm(rkey.0).with_types()
    }
}

impl<'d, A, D> Request<'d, Addressed<Write, A>, D> {
    /// Adds immediate data, as for any [`write()`](crate::wqe::write()).
    #[inline(always)]
    pub fn imm(self, imm: u32) -> Request<'d, Addressed<WriteImm, A>, D> {
        self.with_imm(imm).with_types()
    }
}
