//! Signatures of WQEs: an XOR of their bytes. The device checks it on queue pairs made with signatures. Knows no
//! queue.
use crate::wqe::seg::CtrlSeg;
use crate::wqe::sink::{Composed, Sink};
use crate::wqe::words::ds::{DsWords, HeldDs};

/// The XOR of bytes, eight at a time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ByteXor(u64);

impl ByteXor {
    /// Adds the bytes of one DS.
    #[inline(always)]
    pub(crate) fn with(self, DsWords([first, second]): DsWords) -> Self {
        Self(self.0 ^ first ^ second)
    }

    /// Adds the bytes of a number; their order does not matter.
    #[inline(always)]
    pub(crate) fn with_word(self, word: u64) -> Self {
        Self(self.0 ^ word)
    }

    /// The signature byte: the XOR of all bytes and of this one is 255.
    #[inline(always)]
    pub(crate) fn signature(self) -> u8 {
        let half = self.0 ^ self.0 >> 32;
        let quarter = half ^ half >> 16;
        !(quarter ^ quarter >> 8) as u8
    }
}

/// Signs a control segment so that the XOR of its WQE, this segment included, is right (rdma-core
/// `providers/mlx5/qp.c`, `wq_sig`). `wqe` is the XOR of the WQE with a signature of zero.
#[inline(always)]
fn signed(DsWords([first, second]): DsWords, wqe: ByteXor) -> DsWords {
    DsWords([first, second | CtrlSeg::signature(wqe.signature())])
}

impl<D: HeldDs, const N: usize> Composed<D, N> {
    /// The XOR of its bytes.
    #[inline(always)]
    pub(crate) fn xor(&self, before: ByteXor) -> ByteXor {
        self.all().iter().fold(before, |sum, ds| sum.with(ds.words()))
    }

    /// Signs a composed part that is a whole WQE.
    #[inline(always)]
    pub(crate) fn sign_whole(&mut self) {
        self.sign(self.xor(ByteXor::default()));
    }

    /// Puts the signature into the control segment at its start. `wqe` is the XOR of the whole WQE.
    #[inline(always)]
    pub(crate) fn sign(&mut self, wqe: ByteXor) {
        self.change_first(|control| D::new(signed(control.words(), wqe)));
    }
}

/// A sink that passes every DS on, and computes the signature.
pub(crate) struct Signing<'s, S> {
    sink: &'s mut S,
    control: Option<DsWords>,
    sum: ByteXor,
}

impl<'s, S: Sink> Signing<'s, S> {
    #[inline(always)]
    pub(crate) fn new(sink: &'s mut S) -> Self {
        Self { sink, control: None, sum: ByteXor::default() }
    }

    /// The control segment with the signature of all DS passed on.
    #[inline(always)]
    pub(crate) fn control(self) -> DsWords {
        signed(self.control.unwrap_or(DsWords::ZERO), self.sum)
    }
}

impl<S: Sink> Sink for Signing<'_, S> {
    const HAS_STATIC_SIZE: bool = S::HAS_STATIC_SIZE;

    #[inline(always)]
    fn ds(&mut self, ds: DsWords) {
        self.control.get_or_insert(ds);
        self.sum = self.sum.with(ds);
        self.sink.ds(ds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_together_are_255() {
        let bytes: [u8; 16] = core::array::from_fn(|n| (n * n + 3) as u8);
        let words = [0, 8].map(|at| u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap()));
        let expected = bytes.iter().fold(0xff, |sum, byte| sum ^ byte);
        assert_eq!(ByteXor::default().with(DsWords(words)).signature(), expected);
        assert_eq!(ByteXor::default().signature(), 0xff);
    }
}
