//! QPs taken from reset to ready to send.

use super::device::EmbeddedDevice;
use super::parts::ConnectOptions;
use crate::config::LinkLayer;
use crate::context::{EXTENDED_ATOMICS, Path, PathGrh, QpAttr, QpContext, QpState, ReceiveSource, Transport};
use crate::error::Error;

/// Where a QP is to be found by its peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// QPN.
    pub qpn: u32,
    /// LID of port 1.
    pub lid: u16,
    /// First GID of port 1.
    pub gid: [u8; 16],
    /// Active MTU of port 1 in bytes.
    pub mtu: u32,
}

impl EmbeddedDevice {
    /// Where a QP is to be found by its peer.
    #[must_use]
    pub fn endpoint(&self, qpn: u32) -> Endpoint {
        let port = &self.device.config().ports[0];
        let gid = port.gids.first().map(|gid| gid.raw).unwrap_or_default();
        Endpoint { qpn, lid: port.lid, gid, mtu: port.active_mtu }
    }

    /// Takes an RC or UC QP, or an end of XRC, from reset to ready to send, connected to `peer`.
    ///
    /// # Errors
    /// As [`Device::modify_qp`](crate::device::Device::modify_qp).
    pub fn connect_to(&mut self, qpn: u32, peer: &Endpoint, o: &ConnectOptions) -> Result<(), Error> {
        let QpContext { transport, rq, .. } = *self.device.qp_context(qpn)?;
        // One end of an XRC connection sends requests, the other answers them.
        let is_target = matches!(rq, ReceiveSource::Domain { .. });
        let reliable = matches!(transport, Transport::Rc | Transport::Xrc);
        let asks = reliable && !is_target;
        let answers = transport == Transport::Rc || is_target;
        let port = &self.device.config().ports[0];
        let ethernet = port.link == LinkLayer::Ethernet;
        let grh = PathGrh { dgid: peer.gid, sgid_index: 0, flow_label: 0, hop_limit: 64, traffic_class: 0 };
        let path = Path {
            dlid: if ethernet { 0 } else { peer.lid },
            sl: 0,
            src_path_bits: 0,
            grh: ethernet.then_some(grh),
            dmac: [0; 6],
        };
        let mtu = if o.path_mtu == 0 { port.active_mtu.min(peer.mtu) } else { o.path_mtu };
        let none = QpAttr::default();
        self.device.modify_qp(
            qpn,
            &QpAttr {
                state: Some(QpState::Init),
                pkey_index: Some(0),
                port: Some(1),
                access: Some(o.access),
                extended_atomics: Some(EXTENDED_ATOMICS),
                out_of_order: o.out_of_order.then_some(true),
                ..none
            },
        )?;
        self.device.modify_qp(
            qpn,
            &QpAttr {
                state: Some(QpState::Rtr),
                path: Some(path),
                path_mtu: Some(mtu),
                dest_qpn: Some(peer.qpn),
                rq_psn: Some(o.psn),
                max_dest_rd_atomic: answers.then_some(o.rd_atomic),
                min_rnr_timer: answers.then_some(o.min_rnr_timer),
                ..none
            },
        )?;
        self.device.modify_qp(
            qpn,
            &QpAttr {
                state: Some(QpState::Rts),
                sq_psn: Some(o.psn),
                max_rd_atomic: asks.then_some(o.rd_atomic),
                timeout: reliable.then_some(o.timeout),
                retry_cnt: asks.then_some(o.retry_cnt),
                rnr_retry: asks.then_some(o.rnr_retry),
                ..none
            },
        )
    }

    /// Connects two QPs of this device with each other.
    ///
    /// # Errors
    /// As [`Device::modify_qp`](crate::device::Device::modify_qp).
    pub fn connect_own(&mut self, a: u32, b: u32, o: &ConnectOptions) -> Result<(), Error> {
        self.connect_to(a, &self.endpoint(b), o)?;
        self.connect_to(b, &self.endpoint(a), o)
    }

    /// Takes a UD QP from reset to ready to send.
    ///
    /// # Errors
    /// As [`Device::modify_qp`](crate::device::Device::modify_qp).
    pub fn activate_ud(&mut self, qpn: u32, qkey: u32) -> Result<(), Error> {
        let none = QpAttr::default();
        for attr in [
            QpAttr { state: Some(QpState::Init), pkey_index: Some(0), port: Some(1), qkey: Some(qkey), ..none },
            QpAttr { state: Some(QpState::Rtr), ..none },
            QpAttr { state: Some(QpState::Rts), sq_psn: Some(0), ..none },
        ] {
            self.device.modify_qp(qpn, &attr)?;
        }
        Ok(())
    }

    /// Takes a raw packet QP from reset to ready to send. The device's port must be Ethernet.
    ///
    /// # Errors
    /// As [`Device::modify_qp`](crate::device::Device::modify_qp).
    pub fn activate_raw_packet(&mut self, qpn: u32) -> Result<(), Error> {
        let none = QpAttr::default();
        for attr in [
            QpAttr { state: Some(QpState::Init), port: Some(1), ..none },
            QpAttr { state: Some(QpState::Rtr), ..none },
            QpAttr { state: Some(QpState::Rts), ..none },
        ] {
            self.device.modify_qp(qpn, &attr)?;
        }
        Ok(())
    }
}

/// Connects an RC or UC QP of one device with one of another.
///
/// # Errors
/// As [`Device::modify_qp`](crate::device::Device::modify_qp).
pub fn connect(
    (a, qpn_a): (&mut EmbeddedDevice, u32),
    (b, qpn_b): (&mut EmbeddedDevice, u32),
    o: &ConnectOptions,
) -> Result<(), Error> {
    a.connect_to(qpn_a, &b.endpoint(qpn_b), o)?;
    b.connect_to(qpn_b, &a.endpoint(qpn_a), o)
}
