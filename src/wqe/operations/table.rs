//! The operations: one table. Knows no request and no queue.
use crate::transport::{Dci, DciStreams, InlineMode, RawPacket, Rc, Transport, Uc, Ud, XrcInitiator};
use crate::types::{Rkey, Srqn};
use crate::wqe::address::to::To;
use crate::wqe::address::vector::{AddressVector, DcAddress, DcStream, UdAddress};
use crate::wqe::formats::seg::SetPsvSeg;
use crate::wqe::opcode::Opcode;
use crate::wqe::operations::service::{Carries, Fetches, HasRemote, OfSome, Operation, Scatters, SupportedOn};
use crate::wqe::sealed::Sealed;
use crate::wqe::seg::{
    AtomicSeg, Masked128Seg, MaskedAdd32Seg, MaskedSwap32Seg, MmoSeg, QueueSeg, RaddrSeg, WaitSeg, WaitValueSeg,
};
use crate::wqe::sink::Sink;
use crate::wqe::tags::seg::{TmSeg, TmTagSeg};
use crate::wqe::words::be::{Be32, Be128};

/// Makes the operation's traits from each row. A row names the segments and the control segment's last word by the
/// fields that they are made of.
macro_rules! operations {
    ($(
        $op:ident: $opcode:ident $(/ $opmod:ident)?, [$($segment:ident)*], [$($word:ident)?], [$($data:ident $($found:ident)?)?],
        [$($transport:ident)*];
    )*) => {$(
        impl Sealed for $op {}
        impl Operation for $op {
            const OPCODE: Opcode = Opcode::$opcode;
            $(const OPMOD: u8 = $opmod;)?
            const DS: usize = 0 $(+ { stringify!($segment); 1 })*;

            #[inline]
            fn imm(&self) -> Be32 {
                Be32::new(operations!(@word self $($word)?))
            }

            #[inline(always)]
            fn encode<S: Sink>(&self, _sink: &mut S) {
                $(_sink.ds(operations!(@segment self, $segment).into());)*
            }
        }
        $(impl $data for $op {
            $(type Found = $found;)?
        })?
        $(operations!(@names $segment, $op);)*
        $(operations!(@on $transport, $op);)*
        operations!(@of $op, $($transport)*);
    )*};

    (@of $op:ident, Any) => {};
    (@of $op:ident, $($transport:ident)*) => { impl OfSome for $op {} };

    (@word $self:ident) => { 0 };
    (@word $self:ident $word:ident) => { $self.$word };

    (@segment $self:ident, remote) => { RaddrSeg::from($self.remote) };
    (@segment $self:ident, $field:ident) => { $self.$field };

    (@names remote, $op:ident) => { impl HasRemote for $op {} };
    (@names $field:ident, $op:ident) => {};

    (@on Ud, $op:ident) => { impl<V: AddressVector> SupportedOn<Ud> for To<$op, UdAddress<V>> {} };
    (@on Dci, $op:ident) => {
        impl<V: AddressVector> SupportedOn<Dci> for To<$op, DcAddress<V>> {}
        impl<V: AddressVector> SupportedOn<DciStreams> for To<$op, DcAddress<V>> {}
        impl<V: AddressVector> SupportedOn<DciStreams> for To<$op, DcStream<V>> {}
    };
    (@on ToNobody, $op:ident) => {
        impl SupportedOn<Dci> for $op {}
        impl SupportedOn<DciStreams> for $op {}
    };
    (@on Raw, $op:ident) => { impl<M: InlineMode> SupportedOn<RawPacket<M>> for $op {} };
    (@on Any, $op:ident) => { impl<T: Transport> SupportedOn<T> for $op {} };
    (@on Xrc, $op:ident) => { impl SupportedOn<XrcInitiator> for To<$op, Srqn> {} };
    (@on $transport:ident, $op:ident) => { impl SupportedOn<$transport> for $op {} };
}

operations! {
    // operation           opcode                  segments                  last word  data            transports
    Nop:                   Nop,                    [],                       [],        [],             [Any];
    Send:                  Send,                   [],                       [],        [Carries],      [Rc Uc Xrc Ud Dci];
    SendImm:               SendImm,                [],                       [imm],     [Carries],      [Rc Uc Xrc Ud Dci];
    SendInval:             SendInval,              [],                       [rkey],    [Carries],      [Rc Xrc Dci];
    Write:                 RdmaWrite,              [remote],                 [],        [Carries],      [Rc Uc Xrc Dci];
    WriteImm:              RdmaWriteImm,           [remote],                 [imm],     [Carries],      [Rc Uc Xrc Dci];
    Read:                  RdmaRead,               [remote],                 [],        [Scatters],     [Rc Xrc Dci];
    FetchAdd:              AtomicFa,               [remote operands],        [],        [Fetches u64],  [Rc Xrc Dci];
    CompareSwap:           AtomicCs,               [remote operands],        [],        [Fetches u64],  [Rc Xrc Dci];
    MaskedFetchAdd32:      AtomicMaskedFa/BYTES_4, [remote operands],        [],        [Fetches Be32], [Rc Xrc Dci];
    MaskedFetchAdd64:      AtomicMaskedFa/BYTES_8, [remote operands],        [],        [Fetches u64],  [Rc Xrc Dci];
    MaskedCompareSwap32:   AtomicMaskedCs/BYTES_4, [remote operands],        [],        [Fetches Be32], [Rc Xrc Dci];
    MaskedCompareSwap64:   AtomicMaskedCs/BYTES_8, [remote operands masks],  [],        [Fetches u64],  [Rc Xrc Dci];
    MaskedFetchAdd128:     AtomicMaskedFa/BYTES_16, [remote add boundary],   [],        [Fetches Be128], [Rc Xrc Dci];
    MaskedCompareSwap128:  AtomicMaskedCs/BYTES_16, [remote swap compare swap_mask compare_mask], [], [Fetches Be128], [Rc Xrc Dci];
    SetPsv:                SetPsv,                 [segment],                [],        [],             [Rc];
    Memcpy:                Mmo/DMA,                [segment],                [],        [],             [Rc ToNobody];
    WaitCqe:               Wait,                   [segment],                [],        [],             [Rc Raw];
    WaitTime:              Wait/TIME,              [segment operands],       [],        [],             [Rc Raw];
    SendEnable:            SendEn,                 [segment],                [],        [],             [Rc Raw];
    RecvEnable:            RcvEn,                  [segment],                [],        [],             [Rc Raw];
    Dump:                  Dump,                   [],                       [],        [],             [Rc Raw];
    TagAppend:             TagMatching,            [segment operands],       [],        [],             [Rc];
    TagRemove:             TagMatching,            [segment operands],       [],        [],             [Rc];
    TagSync:               TagMatching,            [segment operands],       [],        [],             [Rc];
    // On Ud, Dci and Xrc the operation is `To` (address/to.rs): its address vector or SRQ, then the operation's
    // segments. ToNobody: also on Dci, where it has no address. The payload of Memcpy (copy.rs) is two data segments,
    // that of Dump (cross_channel/queues.rs) data segments, and that of TagAppend (tags/entry.rs) one data segment.
    //
    // Five operations are no rows:
    // BindWindow, Invalidate (keys/window.rs): Umr, [UMR control, memory key], [key], [a piece, or none], [Rc Uc Xrc
    //   Dci], without an address or SRQ
    // ConfigureKey (keys/configure.rs): Umr, [UMR control, memory key], [key], [a list (keys/list.rs), or none; formats
    //   (formats/formatted.rs), or none], [Rc]
    // Frame (frame.rs): Send, [an Ethernet segment of any size], [], [Carries], [Raw, with the headers that its mode
    //   asks for]
    // MultiPacket (multi_packet.rs): EnhancedMpsw, [an Ethernet segment], [], [frames], [Raw, by a session only]
}

/// Opcode modifiers of extended atomics: bit 3, and (log2 of the operands' bytes) - 2 (UCX
/// `src/uct/ib/mlx5/ib_mlx5.h`, `UCT_IB_MLX5_OPMOD_EXT_ATOMIC`).
const BYTES_4: u8 = 8;
const BYTES_8: u8 = 8 | 1;
const BYTES_16: u8 = 8 | 2;

/// Opcode modifier of MMO: a copy (rdma-core `providers/mlx5/wqe.h`, `MLX5_OPC_MOD_MMO_DMA`).
const DMA: u8 = 1;

/// Opcode modifier of WAIT: for the clock (DPDK `drivers/common/mlx5/mlx5_prm.h`, `MLX5_OPC_MOD_WAIT_TIME`). The
/// modifier for a completion queue is 0, `MLX5_OPC_MOD_WAIT_CQ_PI`.
const TIME: u8 = 2;

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

impl From<Remote> for RaddrSeg {
    #[inline(always)]
    fn from(remote: Remote) -> Self {
        Self::new(remote.addr, remote.rkey)
    }
}

/// No operation: completes like any other request and moves nothing. Transports: all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nop(pub(in crate::wqe) ());

/// A message into a receive buffer of the peer. Transports: RC, UC, XRC, UD, DCI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Send(pub(in crate::wqe) ());

/// A message with immediate data. Transports: RC, UC, XRC, UD, DCI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendImm {
    pub(in crate::wqe) imm: u32,
}

/// A message that invalidates a key of the peer. Transports: RC, XRC, DCI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendInval {
    pub(in crate::wqe) rkey: u32,
}

/// RDMA WRITE: data into the peer's memory. Transports: RC, UC, XRC, DCI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    pub(in crate::wqe) remote: Remote,
}

/// RDMA WRITE with immediate data. Transports: RC, UC, XRC, DCI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteImm {
    pub(in crate::wqe) remote: Remote,
    pub(in crate::wqe) imm: u32,
}

/// RDMA READ: data from the peer's memory. Transports: RC, XRC, DCI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    pub(in crate::wqe) remote: Remote,
}

/// Atomic fetch and add on 8 bytes, 8-byte aligned, of the peer's memory. Transports: RC, XRC, DCI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchAdd {
    pub(in crate::wqe) remote: Remote,
    pub(in crate::wqe) operands: AtomicSeg,
}

/// Atomic compare and swap on 8 bytes, 8-byte aligned, of the peer's memory. Transports: RC, XRC, DCI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompareSwap {
    pub(in crate::wqe) remote: Remote,
    pub(in crate::wqe) operands: AtomicSeg,
}

/// Atomic fetch and add on the fields of 4 bytes, 4-byte aligned, of the peer's memory. Transports: RC, XRC, DCI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaskedFetchAdd32 {
    pub(in crate::wqe) remote: Remote,
    pub(in crate::wqe) operands: MaskedAdd32Seg,
}

/// Atomic fetch and add on the fields of 8 bytes, 8-byte aligned, of the peer's memory. Transports: RC, XRC, DCI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaskedFetchAdd64 {
    pub(in crate::wqe) remote: Remote,
    pub(in crate::wqe) operands: AtomicSeg,
}

/// Atomic compare and swap of some bits of 4 bytes, 4-byte aligned, of the peer's memory. Transports: RC, XRC, DCI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaskedCompareSwap32 {
    pub(in crate::wqe) remote: Remote,
    pub(in crate::wqe) operands: MaskedSwap32Seg,
}

/// Atomic compare and swap of some bits of 8 bytes, 8-byte aligned, of the peer's memory. Transports: RC, XRC, DCI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaskedCompareSwap64 {
    pub(in crate::wqe) remote: Remote,
    pub(in crate::wqe) operands: AtomicSeg,
    pub(in crate::wqe) masks: AtomicSeg,
}

/// Atomic fetch and add on the fields of 16 bytes, 16-byte aligned, of the peer's memory. Transports: RC, XRC, DCI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaskedFetchAdd128 {
    pub(in crate::wqe) remote: Remote,
    pub(in crate::wqe) add: Masked128Seg,
    pub(in crate::wqe) boundary: Masked128Seg,
}

/// Atomic compare and swap of some bits of 16 bytes, 16-byte aligned, of the peer's memory. Transports: RC, XRC, DCI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaskedCompareSwap128 {
    pub(in crate::wqe) remote: Remote,
    pub(in crate::wqe) swap: Masked128Seg,
    pub(in crate::wqe) compare: Masked128Seg,
    pub(in crate::wqe) swap_mask: Masked128Seg,
    pub(in crate::wqe) compare_mask: Masked128Seg,
}

/// Sets a signature value (PSV), with which the signatures of a key's next transfer begin. Transports: RC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetPsv {
    pub(in crate::wqe) segment: SetPsvSeg,
}

/// A copy from this side's memory to this side's memory ([`memcpy`](crate::wqe::memcpy)). Transports: RC, DCI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memcpy {
    pub(in crate::wqe) segment: MmoSeg,
}

/// Waits for a completion ([`wait_for_completion`](crate::wqe::wait_for_completion)). Transports: RC, raw packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitCqe {
    pub(in crate::wqe) segment: QueueSeg,
}

/// Waits for the clock ([`wait_until`](crate::wqe::cross_channel::ClockReading::wait_until)). Transports: RC, raw
/// packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTime {
    pub(in crate::wqe) segment: WaitSeg,
    pub(in crate::wqe) operands: WaitValueSeg,
}

/// Has another queue send ([`SendQueue::enable`](crate::SendQueue::enable)). Transports: RC, raw packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendEnable {
    pub(in crate::wqe) segment: QueueSeg,
}

/// Has another queue receive ([`RecvQueue::enable`](crate::RecvQueue::enable)). Transports: RC, raw packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecvEnable {
    pub(in crate::wqe) segment: QueueSeg,
}

/// Reads data, and sends nothing ([`dump`](crate::wqe::dump)). Transports: RC, raw packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dump(pub(in crate::wqe) ());

/// Appends a tagged buffer to a list ([`tag_append`](crate::wqe::tag_append)). The command queue is an RC queue.
/// Transports: RC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagAppend {
    pub(in crate::wqe) segment: TmSeg,
    pub(in crate::wqe) operands: TmTagSeg,
}

/// Removes a tagged buffer from a list ([`tag_remove`](crate::wqe::tag_remove)). Transports: RC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagRemove {
    pub(in crate::wqe) segment: TmSeg,
    pub(in crate::wqe) operands: TmTagSeg,
}

/// Reports to the device how many unexpected messages software has seen ([`tag_sync`](crate::wqe::tag_sync)).
/// Transports: RC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagSync {
    pub(in crate::wqe) segment: TmSeg,
    pub(in crate::wqe) operands: TmTagSeg,
}
