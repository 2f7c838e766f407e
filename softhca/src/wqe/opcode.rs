//! Opcodes of send WQEs (`MLX5_OPCODE_*`, the lowest byte of the control segment's first word), and what each opcode's
//! WQE consists of.

use crate::context::Transport;

/// Nothing; completes in order.
pub const NOP: u8 = 0x00;
/// SEND with invalidate.
pub const SEND_INVAL: u8 = 0x01;
/// RDMA WRITE.
pub const RDMA_WRITE: u8 = 0x08;
/// RDMA WRITE with immediate data.
pub const RDMA_WRITE_IMM: u8 = 0x09;
/// SEND.
pub const SEND: u8 = 0x0a;
/// SEND with immediate data.
pub const SEND_IMM: u8 = 0x0b;
/// Wait for a CQ, or for the clock.
pub const WAIT: u8 = 0x0f;
/// RDMA READ.
pub const RDMA_READ: u8 = 0x10;
/// A TCP or UDP packet that the device cuts up into frames.
pub const TSO: u8 = 0x0e;
/// Atomic compare and swap, 8 bytes.
pub const ATOMIC_CS: u8 = 0x11;
/// Atomic fetch and add, 8 bytes.
pub const ATOMIC_FA: u8 = 0x12;
/// Masked compare and swap, 4, 8 or 16 bytes.
pub const ATOMIC_MASKED_CS: u8 = 0x14;
/// Masked fetch and add, 4, 8 or 16 bytes.
pub const ATOMIC_MASKED_FA: u8 = 0x15;
/// Has another queue receive.
pub const RCV_EN: u8 = 0x16;
/// Has another queue send.
pub const SEND_EN: u8 = 0x17;
/// Sets a signature value.
pub const SET_PSV: u8 = 0x20;
/// Reads data and sends nothing.
pub const DUMP: u8 = 0x23;
/// Changes a memory key ("user-mode memory registration"): Linux posts registrations and invalidations as this.
pub const UMR: u8 = 0x25;
/// Changes the tags that an SRQ matches messages with.
pub const TAG_MATCHING: u8 = 0x28;
/// Ethernet frames, one for each data segment (`MLX5_OPCODE_ENHANCED_MPSW`).
pub const MULTI_PACKET: u8 = 0x29;
/// A memory-to-memory operation; by its opcode modifier, a copy.
pub const MMO: u8 = 0x2f;

/// Opcode modifier of [`MMO`]: a copy (`MLX5_OPC_MOD_MMO_DMA`).
pub(super) const MMO_DMA: u8 = 1;

/// The segments after those that the opcode and the transport call for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tail {
    /// Nothing that is looked at.
    Ignored,
    /// Data to send, by reference or inline.
    Source,
    /// Buffers for the answer, by reference only.
    Result,
    /// The change of a memory key.
    Key,
    /// The new content of a signature value.
    SignatureValue,
    /// Memory of this side, to be copied to another place of it.
    Copy,
    /// Another queue, or a time.
    Queue,
    /// Data that stays at home, by reference only.
    Dumped,
    /// The change of a list of tags.
    Tags,
}

impl Tail {
    /// A peer gets the request. So the request names the peer if the QP does not.
    pub(super) fn is_for_a_peer(self) -> bool {
        matches!(self, Self::Source | Self::Result)
    }
}

/// Which operands an atomic has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operands {
    /// It is none.
    None,
    /// An atomic segment.
    Two,
    /// Two words of the size that the opcode modifier says, in one segment.
    Extended2,
    /// Four of them.
    Extended4,
}

/// The shape of the WQEs of one opcode.
pub(super) struct Shape {
    /// Its value, as the control segment has it.
    pub(super) opcode: u8,
    /// The transports that have it.
    pub(super) transports: &'static [Transport],
    /// A remote address segment.
    pub(super) remote: bool,
    /// The operands of an atomic.
    pub(super) atomic: Operands,
    /// The remaining segments.
    pub(super) tail: Tail,
}

/// All opcodes: the transports that have each (IBTA vol. 1, table 38; of raw packets, what drivers use on them), and
/// its segments. Behind the control segment come those that the transport calls for, then those that the table names.
///
/// A UMR of XRC or DC names no peer, so nothing is between its control segment and its UMR control segment. libmlx5
/// posts it this way (rdma-core `providers/mlx5/qp.c`, `_mlx5_post_send` and `_build_umr_wqe`): `_mlx5_post_send`
/// leaves out the XRC segment. The kernel driver of MLNX_OFED keeps the XRC segment (`drivers/infiniband/hw/mlx5/wr.c`,
/// `mlx5_ib_post_send`). The two exclude each other, and only libmlx5's requests can come from a program.
///
/// SEND with invalidate is for RC, XRC and DC alone: no other transport has a packet that could carry it
/// ([`crate::packet::Opcode::of`]).
#[rustfmt::skip]
pub(super) const SHAPES: &[Shape] = {
    use Operands::{Extended2, Extended4, None, Two};
    use Tail::{Copy, Dumped, Ignored, Key, Queue, Result, SignatureValue, Source, Tags};
    use Transport::{Dc, RawPacket, Rc, RegUmr, Uc, Ud, Xrc};
    const fn row(opcode: u8, transports: &'static [Transport], remote: bool, atomic: Operands, tail: Tail) -> Shape {
        Shape { opcode, transports, remote, atomic, tail }
    }
    //                  transports                        remote address  atomic  rest
    &[
        row(NOP,            &[Rc, Uc, Ud, Dc, Xrc, RawPacket, RegUmr], false, None, Ignored),
        row(SEND,           &[Rc, Uc, Ud, Dc, Xrc, RawPacket], false,     None,   Source),
        row(TSO,            &[RawPacket],                      false,     None,   Source),
        row(MULTI_PACKET,   &[RawPacket],                      false,     None,   Source),
        row(SEND_IMM,       &[Rc, Uc, Ud, Dc, Xrc],            false,     None,   Source),
        row(SEND_INVAL,     &[Rc, Dc, Xrc],                    false,     None,   Source),
        row(RDMA_WRITE,     &[Rc, Uc, Dc, Xrc],                true,      None,   Source),
        row(RDMA_WRITE_IMM, &[Rc, Uc, Dc, Xrc],                true,      None,   Source),
        row(RDMA_READ,      &[Rc, Dc, Xrc],                    true,      None,   Result),
        row(ATOMIC_CS,      &[Rc, Dc, Xrc],                    true,      Two,    Result),
        row(ATOMIC_FA,      &[Rc, Dc, Xrc],                    true,      Two,    Result),
        row(ATOMIC_MASKED_CS, &[Rc, Dc, Xrc],                  true,      Extended4, Result),
        row(ATOMIC_MASKED_FA, &[Rc, Dc, Xrc],                  true,      Extended2, Result),
        row(UMR,            &[Rc, Uc, Dc, Xrc, RegUmr],        false,     None,   Key),
        row(SET_PSV,        &[Rc],                             false,     None,   SignatureValue),
        row(TAG_MATCHING,   &[Rc],                             false,     None,   Tags),
        row(MMO,            &[Rc, Dc],                         false,     None,   Copy),
        row(WAIT,           &[Rc, RawPacket],                  false,     None,   Queue),
        row(SEND_EN,        &[Rc, RawPacket],                  false,     None,   Queue),
        row(RCV_EN,         &[Rc, RawPacket],                  false,     None,   Queue),
        row(DUMP,           &[Rc, RawPacket],                  false,     None,   Dumped),
    ]
};
