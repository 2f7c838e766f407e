//! Queue pairs of datagrams on their way to RTS. Knows no end.

use blueflame::types::{Qkey, Qpn};
use softhca::context::{QpAttr, QpState};

use crate::device::Device;
use crate::error::Error;

/// The Q_Key of every datagram end.
pub const QKEY: Qkey = Qkey(0x1111_1111);

/// Makes a queue pair of datagrams ready to send.
pub(crate) fn activate(device: &Device, qpn: Qpn) -> Result<(), Error> {
    let none = QpAttr::default();
    for attr in [
        QpAttr { state: Some(QpState::Init), pkey_index: Some(0), port: Some(1), qkey: Some(QKEY.0), ..none },
        QpAttr { state: Some(QpState::Rtr), ..none },
        QpAttr { state: Some(QpState::Rts), sq_psn: Some(0), ..none },
    ] {
        device.modify_qp(qpn, &attr)?;
    }
    Ok(())
}
