//! Why a pair, an end or a buffer could not be made.

use blueflame::SetupError;
use blueflame::types::Qpn;
use softhca::wire::fault::FaultConfigError;
use softhca::wire::in_process::AddressTaken;
use thiserror::Error;

/// Why something could not be set up, or did not come to rest.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The device refused: a size past its limits, an object that does not exist.
    #[error("the device refused: {0}")]
    Device(#[from] softhca::error::Error),
    /// Two devices of one network have the same address.
    #[error(transparent)]
    Address(#[from] AddressTaken),
    /// Fault rates that add up to more than all packets.
    #[error(transparent)]
    Faults(#[from] FaultConfigError),
    /// A queue or its doorbell register.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// [`RegisterOptions::SharedWith`](softhca::embedded::RegisterOptions::SharedWith), for an end that is to own its
    /// register.
    #[error("this end has its own register, and cannot share another end's: use End::with_register")]
    SharedRegister,
    /// The completion queue is that of another end: they were exchanged.
    #[error("the completion queue belongs to another end")]
    MixedUp,
    /// Completions of an earlier queue pair with the number of the new one lie in the completion queue, and would pass
    /// for its own.
    #[error("completions of an earlier queue pair with the number {:#x} were not polled: poll or forget them", .0.get())]
    StaleCompletions(Qpn),
    /// A safe call would reset a queue pair, whose queues do not know of it.
    #[error("queue pair {:#x} would execute old requests again after RESET: see Device::reset_qp", .0.get())]
    Reset(Qpn),
    /// The system could not start a thread for the device.
    #[error("no thread for the device: {0}")]
    Thread(std::io::Error),
    /// [`run_until_idle`](crate::run_until_idle) does not end: a peer is never ready, and retries are unlimited.
    #[error("the devices do not become idle: is there a receive for each message?")]
    NoEnd,
    /// The device runs on a thread of its own, so the caller may not step it.
    #[error("the device runs on its own thread: poll instead")]
    OnThread,
}
