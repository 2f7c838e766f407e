//! Transports as commands name them.

use blueflame::transport::{Rc, Transport, Uc};

use crate::cmd::ServiceType;

/// `qpc.st` of a queue pair of transport `T`.
///
/// # Panics
/// If CREATE_QP makes no queue pairs of this transport. The call is a constant, so the code does not compile then.
pub(super) const fn service<T: Transport>() -> ServiceType {
    const RC: u8 = Rc::BIT;
    const UC: u8 = Uc::BIT;
    match T::BIT {
        RC => ServiceType::RC,
        UC => ServiceType::UC,
        _ => panic!("CREATE_QP makes no queue pairs of this transport"),
    }
}
