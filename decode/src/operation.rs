//! The segments of each operation's WQEs.
use blueflame::wqe::seg::Opcode;

use crate::layout::{Layout, wqe as seg};

/// A segment after the control segment, and after the transport's address if there is one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// A segment of fixed size.
    Fixed(&'static Layout),
    /// Operands of a masked compare and swap. The opcode modifier gives their size.
    MaskedSwap,
    /// Operands of a masked fetch and add. The opcode modifier gives their size.
    MaskedAdd,
    /// An Ethernet segment with its inline headers.
    Eth,
    /// Data segments, and inline segments, up to the end.
    Data,
    /// A control segment of UMR and the segments that it announces: a memory key's context, translation, signature
    /// configuration.
    Umr,
    /// The target of a WAIT: a queue or a value, by the opcode modifier.
    Wait,
}

/// An operation of a send queue.
#[derive(Debug)]
pub(crate) struct Operation {
    opcode: u8,
    pub(crate) steps: &'static [Step],
    /// Whether an address vector or an XRC segment may come first.
    pub(crate) addressed: bool,
}

const fn operation(opcode: u8, addressed: bool, steps: &'static [Step]) -> Operation {
    Operation { opcode, steps, addressed }
}

/// Operations with segments of their own, beside the control segment.
const OPERATIONS: &[Operation] = &[
    operation(Opcode::SendInval as u8, true, &[Step::Data]),
    operation(Opcode::RdmaWrite as u8, true, &[Step::Fixed(&seg::RADDR), Step::Data]),
    operation(Opcode::RdmaWriteImm as u8, true, &[Step::Fixed(&seg::RADDR), Step::Data]),
    operation(Opcode::Send as u8, true, &[Step::Data]),
    operation(Opcode::SendImm as u8, true, &[Step::Data]),
    operation(Opcode::Tso as u8, false, &[Step::Eth, Step::Data]),
    operation(Opcode::Wait as u8, false, &[Step::Wait]),
    operation(Opcode::RdmaRead as u8, true, &[Step::Fixed(&seg::RADDR), Step::Data]),
    operation(Opcode::AtomicCs as u8, true, ATOMIC),
    operation(Opcode::AtomicFa as u8, true, ATOMIC),
    operation(Opcode::AtomicMaskedCs as u8, true, &[Step::Fixed(&seg::RADDR), Step::MaskedSwap, Step::Data]),
    operation(Opcode::AtomicMaskedFa as u8, true, &[Step::Fixed(&seg::RADDR), Step::MaskedAdd, Step::Data]),
    operation(Opcode::RcvEn as u8, false, &[Step::Fixed(&seg::QUEUE)]),
    operation(Opcode::SendEn as u8, false, &[Step::Fixed(&seg::QUEUE)]),
    operation(Opcode::SetPsv as u8, false, &[Step::Fixed(&seg::SET_PSV)]),
    operation(Opcode::Dump as u8, false, &[Step::Data]),
    operation(Opcode::Umr as u8, false, &[Step::Umr]),
    operation(Opcode::TagMatching as u8, false, &[Step::Fixed(&seg::TAG_MATCHING), Step::Data]),
    operation(0x29, false, &[Step::Eth, Step::Data]),
    operation(Opcode::FlowTblAccess as u8, false, &[Step::Fixed(&seg::FLOW_UPDATE)]),
    operation(Opcode::Mmo as u8, false, &[Step::Fixed(&seg::MMO), Step::Data]),
];

const ATOMIC: &[Step] = &[Step::Fixed(&seg::RADDR), Step::Fixed(&seg::ATOMIC), Step::Data];

/// The operation with an opcode of a control segment.
pub(crate) fn of(opcode: u8) -> Option<&'static Operation> {
    OPERATIONS.iter().find(|operation| operation.opcode == opcode)
}
