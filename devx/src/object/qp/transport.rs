//! Transports as commands name them.

use blueflame::transport::{Rc, Signable, Signed, Transport, Uc};

use crate::cmd::ServiceType;

/// A transport whose queue pairs CREATE_QP can make.
pub trait DevxTransport: Transport {
    /// `qpc.st`.
    const SERVICE: ServiceType;
}

impl DevxTransport for Rc {
    const SERVICE: ServiceType = ServiceType::RC;
}

impl DevxTransport for Uc {
    const SERVICE: ServiceType = ServiceType::UC;
}

impl<T: DevxTransport + Signable> DevxTransport for Signed<T> {
    const SERVICE: ServiceType = T::SERVICE;
}
