//! Dynamic connections: targets, and initiators that are ready to send.

use super::device::EmbeddedDevice;
use super::parts::ConnectOptions;
use crate::context::{DctContext, EXTENDED_ATOMICS, QpAttr, QpState};
use crate::error::Error;
use crate::qp::dc::target::DctInfo;

impl EmbeddedDevice {
    /// Creates a target that takes its receives from SRQ `srqn`, completes them on CQ `cqn`, and lets initiators
    /// connect that name `access_key`; returns its number. It uses the MTU, the rights and the RNR timer of the
    /// options.
    ///
    /// # Errors
    /// As [`Device::create_dct`](crate::device::Device::create_dct).
    pub fn create_dct(&mut self, srqn: u32, cqn: u32, access_key: u64, o: &ConnectOptions) -> Result<u32, Error> {
        let mtu = self.mtu(o);
        self.device.create_dct(DctContext {
            pd: self.pd,
            srqn,
            cqn,
            access_key,
            access: o.access,
            extended_atomics: EXTENDED_ATOMICS,
            mtu,
            port: 1,
            hop_limit: 64,
            min_rnr_timer: o.min_rnr_timer,
            ..DctContext::default()
        })
    }

    /// [`Device::query_dct`](crate::device::Device::query_dct).
    ///
    /// # Errors
    /// As [`Device::query_dct`](crate::device::Device::query_dct).
    pub fn query_dct(&self, dctn: u32) -> Result<DctInfo, Error> {
        self.device.query_dct(dctn)
    }

    /// [`Device::drain_dct`](crate::device::Device::drain_dct).
    ///
    /// # Errors
    /// As [`Device::drain_dct`](crate::device::Device::drain_dct).
    pub fn drain_dct(&mut self, dctn: u32) -> Result<(), Error> {
        self.device.drain_dct(dctn)
    }

    /// [`Device::destroy_dct`](crate::device::Device::destroy_dct).
    ///
    /// # Errors
    /// As [`Device::destroy_dct`](crate::device::Device::destroy_dct).
    pub fn destroy_dct(&mut self, dctn: u32) -> Result<(), Error> {
        self.device.destroy_dct(dctn)
    }

    /// Takes an initiator ([`QpOptions::dci`](super::QpOptions::dci)) from reset to ready to send. Its requests name
    /// their targets.
    ///
    /// # Errors
    /// As [`Device::modify_qp`](crate::device::Device::modify_qp).
    pub fn activate_dci(&mut self, qpn: u32, o: &ConnectOptions) -> Result<(), Error> {
        let none = QpAttr::default();
        for attr in [
            QpAttr { state: Some(QpState::Init), pkey_index: Some(0), port: Some(1), ..none },
            QpAttr { state: Some(QpState::Rtr), path_mtu: Some(self.mtu(o)), ..none },
            QpAttr {
                state: Some(QpState::Rts),
                sq_psn: Some(o.psn),
                max_rd_atomic: Some(o.rd_atomic),
                timeout: Some(o.timeout),
                retry_cnt: Some(o.retry_cnt),
                rnr_retry: Some(o.rnr_retry),
                ..none
            },
        ] {
            self.device.modify_qp(qpn, &attr)?;
        }
        Ok(())
    }

    /// The MTU of the options, or the port's.
    fn mtu(&self, o: &ConnectOptions) -> u32 {
        if o.path_mtu == 0 { self.device.config().ports[0].active_mtu } else { o.path_mtu }
    }
}
