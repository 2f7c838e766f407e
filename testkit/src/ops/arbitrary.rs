//! Requests made from a fuzzer's bytes.

use arbitrary::{Arbitrary, Result, Unstructured};

use super::{Carry, MAX_MESSAGE, Op, Tail, ring_ds};
use crate::shape::Shape;

impl<'a> Arbitrary<'a> for Tail {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(match u.int_in_range(0..=2)? {
            0 => Self::None,
            1 => Self::Imm(u.arbitrary()?),
            _ => Self::Invalidate,
        })
    }
}

impl Carry {
    /// A message behind `head` DS of control and operands, in a WQE that fits the ring.
    fn fitting(u: &mut Unstructured<'_>, shape: &Shape, head: usize) -> Result<Self> {
        let room = ring_ds(shape) - head;
        Ok(match u.arbitrary()? {
            true => Self::Inline(u.int_in_range(0..=(room * 16 - 4).min(shape.max_inline as usize))?),
            false => Self::Gather(pieces(u, shape, room)?),
        })
    }
}

fn pieces(u: &mut Unstructured<'_>, shape: &Shape, room: usize) -> Result<Vec<usize>> {
    let count = u.int_in_range(0..=room.min(shape.max_sge as usize))?;
    let longest = MAX_MESSAGE / count.max(1);
    (0..count).map(|_| u.int_in_range(0..=longest)).collect()
}

impl Op {
    /// A request of a reliable connection that fits the rings and limits of an end of this shape.
    ///
    /// # Errors
    /// None: missing bytes count as zeros.
    pub fn fitting(u: &mut Unstructured<'_>, shape: &Shape) -> Result<Self> {
        Ok(match u.int_in_range(0..=5)? {
            0 => Self::Nop,
            1 => Self::Send(Carry::fitting(u, shape, 1)?, u.arbitrary()?),
            2 => Self::Write(u.arbitrary()?, Carry::fitting(u, shape, 2)?, u.arbitrary()?),
            3 => Self::Read(u.arbitrary()?, pieces(u, shape, ring_ds(shape) - 2)?),
            4 => Self::CompareSwap(u.arbitrary()?, u.arbitrary()?, u.arbitrary()?),
            _ => Self::FetchAdd(u.arbitrary()?, u.arbitrary()?),
        })
    }
}

/// For an end of the [usual shape](Shape::default); [`Op::fitting`] takes another.
impl<'a> Arbitrary<'a> for Op {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Self::fitting(u, &Shape::default())
    }
}
