//! Requests without addresses, for generators and models.
//!
//! An [`Op`] describes a request by lengths and places, which are taken modulo the sizes at hand. [`Op::wr`] makes a
//! request from it, for the buffers of a test. A generator therefore needs no device, and a failing case shrinks to few
//! and short requests.

#[cfg(feature = "arbitrary")]
mod arbitrary;
#[cfg(feature = "proptest")]
mod strategy;

#[cfg(feature = "proptest")]
pub use strategy::{connected, fixed, reliable};

use blueflame::SetupError;
use blueflame::queue::Moderation;
use blueflame::types::Wqebbs;
use blueflame::{Rkey, Sge};

use crate::buffer::Buffer;
use crate::request::{Data, Kind, Wr};
use crate::shape::Shape;

/// The longest message of the generators, in bytes: longer than a path MTU of 1024.
pub const MAX_MESSAGE: usize = 1500;
/// The most DS that one WQE can have (6 bits; rdma-core `providers/mlx5/mlx5dv.h`, `struct mlx5_wqe_ctrl_seg`).
#[cfg(any(feature = "arbitrary", feature = "proptest"))]
const MAX_DS: usize = 63;

/// How the bytes of a message are given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Carry {
    /// In the WQE: this many bytes.
    Inline(usize),
    /// Gathered by entries of these lengths; 0 is permitted.
    Gather(Vec<usize>),
}

impl Carry {
    /// Bytes of the message.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "of a message, not of a container")]
    pub fn len(&self) -> usize {
        match self {
            Self::Inline(len) => *len,
            Self::Gather(lens) => lens.iter().sum(),
        }
    }
}

/// The addition to a SEND: immediate data, or a key to invalidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// Nothing.
    None,
    /// Immediate data.
    Imm(u32),
    /// A key of the peer to invalidate.
    Invalidate,
}

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// Nothing, with a completion.
    Nop,
    /// A message.
    Send(Carry, Tail),
    /// Place in the peer's target, data, immediate data.
    Write(usize, Carry, Option<u32>),
    /// Place in the peer's target, lengths of the entries that take it.
    Read(usize, Vec<usize>),
    /// Word of 8 bytes in the target, whether the comparison is to succeed, new value.
    CompareSwap(usize, bool, u64),
    /// Word of 8 bytes in the target, number to add.
    FetchAdd(usize, u64),
}

/// The memory and the key that requests of [`Op::wr`] use.
#[derive(Clone, Copy, Debug)]
pub struct Memory<'a> {
    /// This side's buffer, and the byte from which messages and WRITEs take their data.
    pub source: (&'a Buffer, usize),
    /// This side's buffer, and the byte from which READs and atomics put their results.
    pub landing: (&'a Buffer, usize),
    /// The peer's buffer, on which WRITEs, READs and atomics work. At least [`MAX_MESSAGE`] bytes.
    pub target: &'a Buffer,
    /// A key of the peer that requests may invalidate.
    pub invalidate: Rkey,
}

impl Op {
    /// The signalled request for this operation. A compare-and-swap compares with the present contents of the target.
    ///
    /// # Panics
    /// If the memory is too small for the operation.
    #[must_use]
    pub fn wr(&self, id: u64, memory: &Memory<'_>) -> Wr {
        let remote = |len| memory.target.remote().at(self.place(memory.target.len(), len) as u64);
        let kind = match self {
            Self::Nop => Kind::Nop,
            Self::Send(_, Tail::None) => Kind::Send,
            Self::Send(_, Tail::Imm(imm)) => Kind::SendImm(*imm),
            Self::Send(_, Tail::Invalidate) => Kind::SendInval(memory.invalidate),
            Self::Write(_, carry, None) => Kind::Write(remote(carry.len())),
            Self::Write(_, carry, Some(imm)) => Kind::WriteImm(remote(carry.len()), *imm),
            Self::Read(_, lens) => Kind::Read(remote(lens.iter().sum())),
            Self::CompareSwap(_, hit, swap) => {
                let mut found = [0; 8];
                memory.target.read(self.place(memory.target.len(), 8), &mut found);
                let found = u64::from_ne_bytes(found);
                Kind::CompareSwap(remote(8), if *hit { found } else { !found }, *swap)
            }
            Self::FetchAdd(_, add) => Kind::FetchAdd(remote(8), *add),
        };
        let data = match self {
            Self::Nop => Data::Sges(Vec::new()),
            Self::Send(carry, _) | Self::Write(_, carry, _) => match carry {
                Carry::Inline(len) => Data::Inline(memory.source.0.to_vec(memory.source.1..memory.source.1 + len)),
                Carry::Gather(lens) => Data::Sges(entries(memory.source, lens)),
            },
            Self::Read(_, lens) => Data::Sges(entries(memory.landing, lens)),
            Self::CompareSwap(..) | Self::FetchAdd(..) => Data::Sges(entries(memory.landing, &[8])),
        };
        Wr::new(kind, data, id)
    }

    /// The byte of a target of `target` bytes where the request begins to work, if it works on `len` bytes.
    #[must_use]
    pub fn place(&self, target: usize, len: usize) -> usize {
        match self {
            Self::Nop | Self::Send(..) => 0,
            Self::Write(place, ..) | Self::Read(place, _) => place % (target - len + 1),
            Self::CompareSwap(word, ..) | Self::FetchAdd(word, _) => word % (target / 8) * 8,
        }
    }

    /// WQEBBs that the request takes.
    #[must_use]
    pub fn wqebbs(&self) -> u16 {
        let carried = |carry: &Carry| match carry {
            Carry::Inline(0) => 0,
            Carry::Inline(len) => (len + 4).div_ceil(16),
            Carry::Gather(lens) => lens.iter().filter(|&&len| len != 0).count(),
        };
        let ds = match self {
            Self::Nop => 1,
            Self::Send(carry, _) => 1 + carried(carry),
            Self::Write(_, carry, _) => 2 + carried(carry),
            Self::Read(_, lens) => 2 + lens.iter().filter(|&&len| len != 0).count(),
            Self::CompareSwap(..) | Self::FetchAdd(..) => 4,
        };
        ds.div_ceil(4) as u16
    }
}

/// Entries of these lengths, one behind the other.
fn entries((buffer, mut at): (&Buffer, usize), lens: &[usize]) -> Vec<Sge> {
    let entry = |&len: &usize| {
        at += len;
        buffer.sge(at - len..at)
    };
    lens.iter().map(entry).collect()
}

/// DS of a ring, limited to the most DS of one WQE.
#[cfg(any(feature = "arbitrary", feature = "proptest"))]
fn ring_ds(shape: &Shape) -> usize {
    (shape.sq_wqebbs.next_power_of_two() as usize * 4).min(MAX_DS)
}

/// Which of some requests ask for a completion: every `every`-th, and any that would leave no room for one of the
/// largest.
///
/// # Errors
/// [`SetupError`] if the ring is too small for them.
pub fn moderated(every: u16, shape: &Shape, ops: Vec<Op>) -> Result<Vec<(Op, bool)>, SetupError> {
    let ring = Wqebbs(shape.sq_wqebbs.next_power_of_two() as u16);
    let largest = ops.iter().map(Op::wqebbs).max().unwrap_or(1);
    let mut moderation = Moderation::new(every, ring, Wqebbs(largest))?;
    let mut all = Vec::with_capacity(ops.len());
    for op in ops {
        moderation.post(Wqebbs(op.wqebbs()), |signaled| {
            all.push((op, signaled));
            Ok(())
        })?;
    }
    Ok(all)
}
