//! The requests of a run, as types: posting one has no branch but that on its length.

use blueflame::db::Register;
use blueflame::queue::{PostError, SendBatch};
use blueflame::transport::Transport;
use blueflame::types::Srqn;
use blueflame::wqe::operations::{Addressed, CompareSwap, FetchAdd, Read, Send, Write};
use blueflame::wqe::{self, DcAddress, SupportedOn, UdAddress};
use blueflame::{Remote, Sge, WrId};

/// How an end sees that a message has come, or that its own is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// A receive completes.
    Receive,
    /// The last byte in memory becomes the message's mark.
    Memory,
    /// Its own request completes: the peer takes no part.
    Own,
}

/// A message, the same each time.
#[derive(Clone, Copy)]
pub(super) struct Message<'a> {
    /// Its bytes, if they go inline.
    pub(super) inline: Option<&'a [u8]>,
    /// Its place, or that of the result.
    pub(super) place: Sge,
}

/// Requests of one kind to one peer.
pub(super) trait Work<T: Transport>: Copy + std::marker::Send {
    const ARRIVAL: Arrival;

    /// Puts a request into a batch.
    ///
    /// # Errors
    /// There is no room.
    ///
    /// # Safety
    /// As [`SendBatch::push_unchecked`].
    unsafe fn push<R: Register>(
        &self,
        batch: &mut SendBatch<'_, T, R>,
        message: Message<'_>,
        signaled: bool,
        wr_id: WrId,
    ) -> Result<(), PostError>;
}

/// SENDs.
#[derive(Clone, Copy)]
pub(super) struct Sends;
/// WRITEs to a place.
#[derive(Clone, Copy)]
pub(super) struct Writes(pub(super) Remote);
/// READs of a place.
#[derive(Clone, Copy)]
pub(super) struct Reads(pub(super) Remote);
/// Additions at a place.
#[derive(Clone, Copy)]
pub(super) struct Adds(pub(super) Remote);
/// Compare and swap at a place.
#[derive(Clone, Copy)]
pub(super) struct Swaps(pub(super) Remote);

/// Requests to the peer that the queue pair is connected with.
#[derive(Clone, Copy)]
pub(super) struct Direct<V>(pub(super) V);
/// Requests that name their destination.
#[derive(Clone, Copy)]
pub(super) struct WithAddress<V, D>(pub(super) V, pub(super) D);

/// For each kind, its requests without and with a destination.
macro_rules! works {
    ($($kind:ident: $operation:ty, $arrival:ident, |$verb:ident| $begin:expr, $data:ident;)*) => {$(
        impl<T: Transport> Work<T> for Direct<$kind>
        where
            $operation: SupportedOn<T>,
        {
            const ARRIVAL: Arrival = Arrival::$arrival;

            #[inline(always)]
            unsafe fn push<R: Register>(
                &self,
                batch: &mut SendBatch<'_, T, R>,
                message: Message<'_>,
                signaled: bool,
                wr_id: WrId,
            ) -> Result<(), PostError> {
                let $verb = self.0;
                works!(@$data batch, $begin, message, signaled, wr_id)
            }
        }
        works!(@to UdAddress, $kind: $operation, $arrival, |$verb| $begin, $data);
        works!(@to DcAddress, $kind: $operation, $arrival, |$verb| $begin, $data);
        works!(@to Srqn, $kind: $operation, $arrival, |$verb| $begin, $data);
    )*};

    (@to $address:ident, $kind:ident: $operation:ty, $arrival:ident, |$verb:ident| $begin:expr, $data:ident) => {
        impl<T: Transport> Work<T> for WithAddress<$kind, $address>
        where
            Addressed<$operation, $address>: SupportedOn<T>,
        {
            const ARRIVAL: Arrival = Arrival::$arrival;

            #[inline(always)]
            unsafe fn push<R: Register>(
                &self,
                batch: &mut SendBatch<'_, T, R>,
                message: Message<'_>,
                signaled: bool,
                wr_id: WrId,
            ) -> Result<(), PostError> {
                let ($verb, to) = (self.0, self.1);
                works!(@$data batch, $begin.to(to), message, signaled, wr_id)
            }
        }
    };

    (@carries $batch:ident, $begin:expr, $message:ident, $signaled:ident, $wr_id:ident) => {
        // SAFETY: the caller promises that the message's memory stays registered, and the device's, until it has gone.
        unsafe {
            match $message.inline {
                Some(bytes) => $batch.push_unchecked(&$begin.inline_slice(bytes).signaled_if($signaled, $wr_id)),
                None => $batch.push_unchecked(&$begin.gather([$message.place]).signaled_if($signaled, $wr_id)),
            }
        }
    };
    (@scatters $batch:ident, $begin:expr, $message:ident, $signaled:ident, $wr_id:ident) => {
        // SAFETY: the caller promises that the place stays registered, and the device's, until the request completes.
        unsafe { $batch.push_unchecked(&$begin.scatter([$message.place]).signaled_if($signaled, $wr_id)) }
    };
    (@fetches $batch:ident, $begin:expr, $message:ident, $signaled:ident, $wr_id:ident) => {{
        let Sge { addr, lkey, .. } = $message.place;
        // SAFETY: the caller promises that the result's place stays registered, and the device's, until completion.
        unsafe { $batch.push_unchecked(&$begin.result(addr, lkey).signaled_if($signaled, $wr_id)) }
    }};
}

works! {
    Sends: Send, Receive, |_sends| wqe::send(), carries;
    Writes: Write, Memory, |writes| wqe::write(writes.0), carries;
    Reads: Read, Own, |reads| wqe::read(reads.0), scatters;
    Adds: FetchAdd, Own, |adds| wqe::fetch_add(adds.0, 1), fetches;
    // The value there is never 1, so it stays; the device compares it all the same.
    Swaps: CompareSwap, Own, |swaps| wqe::compare_swap(swaps.0, 1, 2), fetches;
}
