//! Signatures of WQEs: an XOR of their bytes. The device checks it on queue pairs made with signatures. Knows no
//! queue.
use crate::arch::ds::{DsWords, HeldDs};
use crate::types::Ds;
use crate::wqe::cursor::RingCursor;
use crate::wqe::seg::CtrlSeg;

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

/// Signs a WQE in CPU registers, with zeros past its end.
#[inline(always)]
pub(crate) fn sign<F: HeldDs, const N: usize>(wqe: &mut [F; N]) {
    let sum = wqe.iter().fold(ByteXor::default(), |sum, ds| sum.with(ds.words()));
    if let Some(control) = wqe.first_mut() {
        *control = F::new(signed(control.words(), sum));
    }
}

/// The control segment with the signature of a WQE of `ds`, which lies in the ring from `wqe` on.
#[inline(always)]
pub(crate) fn signed_in_ring(mut wqe: RingCursor, ds: Ds) -> DsWords {
    let control = wqe.read();
    let sum = (1..ds.0).fold(ByteXor::default().with(control), |sum, _| sum.with(wqe.read()));
    signed(control, sum)
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
