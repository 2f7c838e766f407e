//! Transports as commands name them.

use blueflame::transport::{Rc, Transport, Uc};

use crate::cmd::ServiceType;

/// A transport of which queue pairs can be made by CREATE_QP.
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
