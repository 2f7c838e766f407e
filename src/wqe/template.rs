//! Prepared requests: everything encoded once, except for the producer index and the payload.
use core::marker::PhantomData;

use super::error::EncodeError;
use super::operation::{Carries, MAX_OPERAND_UNITS, Operation};
use super::payload::{Inline, Payload};
use super::request::{Control, Limits, Request, WorkRequest};
use super::sealed::Sealed;
use super::seg::CtrlSeg;
use super::sink::{Line, Sink, Unit};
use super::transport::{LegalOn, Transport};
use crate::types::{Ds, SqPi, WrId};

/// Stands for `N` bytes of inline data that a [`Template`] gets when it is fired.
#[derive(Clone, Copy, Debug)]
pub struct InlineLen<const N: usize>(());

impl<O: Carries> Request<O> {
    /// Leaves room for `N` bytes of inline data, for a [`Template`].
    #[inline]
    pub fn inline_len<const N: usize>(self) -> Request<O, InlineLen<N>> {
        self.with_payload(InlineLen(()))
    }
}

/// A request of operation `O` with `N` bytes of inline data, prepared for one queue: firing it patches the producer
/// index and the bytes, and stores. Made by [`SendQueue::template`](crate::queue::SendQueue::template).
#[derive(Clone, Debug)]
pub struct Template<O, const N: usize> {
    /// Control segment with a producer index of zero, then the operation's segments.
    head: [Unit; 1 + MAX_OPERAND_UNITS],
    wr_id: WrId,
    operation: PhantomData<O>,
}

impl<O: Operation, const N: usize> Template<O, N> {
    /// Prepares `request`.
    ///
    /// # Errors
    /// If the queue's limits do not allow `N` bytes.
    pub(crate) fn new<T: Transport>(
        request: Request<O, InlineLen<N>>,
        mut control: Control,
        limits: &Limits,
    ) -> Result<Self, EncodeError>
    where
        O: LegalOn<T>,
    {
        const { assert!(O::UNITS <= MAX_OPERAND_UNITS, "the operation's segments do not fit a template") }
        let sample = request.with_payload(Inline(&[0; N]));
        let units = WorkRequest::<T>::units(&sample, limits)?;
        control.pi = SqPi(0);
        let mut line = Line::new();
        // At most 63 units: `units` has checked.
        sample.encode_head(&control, Ds(units as u8), &mut line);
        let [control, first, second, _] = line.units();
        Ok(Self { head: [control, first, second], wr_id: WorkRequest::<T>::tag(&sample), operation: PhantomData })
    }

    /// Changes the tag that the next shots carry.
    #[inline]
    pub fn set_wr_id(&mut self, wr_id: WrId) {
        self.wr_id = wr_id;
    }

    #[inline]
    pub(crate) const fn load<'a>(&'a self, payload: &'a [u8; N]) -> Shot<'a, O, N> {
        Shot { template: self, payload: Inline(payload) }
    }
}

/// A template with its payload, about to be fired.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shot<'a, O, const N: usize> {
    template: &'a Template<O, N>,
    payload: Inline<&'a [u8; N]>,
}

impl<O, const N: usize> Sealed for Shot<'_, O, N> {}

impl<'a, T: Transport, O: LegalOn<T>, const N: usize> WorkRequest<T> for Shot<'a, O, N> {
    const MAX_UNITS: Option<usize> = <Request<O, Inline<&'a [u8; N]>> as WorkRequest<T>>::MAX_UNITS;
    const INLINE: bool = true;

    #[inline]
    fn tag(&self) -> WrId {
        self.template.wr_id
    }

    /// Known by type; the limits were checked when the template was made.
    #[inline]
    fn units(&self, _: &Limits) -> Result<usize, EncodeError> {
        Ok(const { 1 + O::UNITS + Inline::<&[u8; N]>::UNITS })
    }

    #[inline(always)]
    fn encode<S: Sink>(&self, control: &Control, _: Ds, sink: &mut S) {
        let [prepared, operands @ ..] = &self.template.head;
        sink.unit(CtrlSeg::patch_pi(*prepared, control.pi));
        for unit in operands.iter().take(O::UNITS) {
            sink.unit(*unit);
        }
        self.payload.encode(sink);
    }
}
