//! Access to the core [`Device`] inside: by shared reference, and by the calls here. A mutable reference would let the
//! caller exchange the core for another device, or free pages that the parts of live queues point to.

use super::device::EmbeddedDevice;
use crate::context::QpAttr;
use crate::device::Device;
use crate::error::Error;
use crate::script::Script;

impl EmbeddedDevice {
    /// The core device, to read its configuration, its objects and its timers.
    ///
    /// It stays where its rings and pages are:
    ///
    /// ```compile_fail,E0308
    /// use softhca::embedded::EmbeddedDevice;
    /// fn exchange(a: &mut EmbeddedDevice, b: &mut EmbeddedDevice) {
    ///     std::mem::swap(a.device(), b.device());
    /// }
    /// ```
    ///
    /// The register pages that the parts of its queues point to stay as well:
    ///
    /// ```compile_fail,E0596
    /// use softhca::embedded::{EmbeddedDevice, QpParts};
    /// fn unmap(hca: &mut EmbeddedDevice, qp: QpParts) {
    ///     hca.destroy_qp(qp.qpn).expect("a QP");
    ///     hca.device().free_uar(qp.uar).expect("a page");
    /// }
    /// ```
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// [`Device::doorbell`].
    pub fn doorbell(&mut self, uar: u32, offset: usize, stored: &[u8]) {
        self.device.doorbell(uar, offset, stored);
    }

    /// [`Device::modify_qp`].
    ///
    /// # Errors
    /// As [`Device::modify_qp`].
    pub fn modify_qp(&mut self, qpn: u32, attr: &QpAttr) -> Result<(), Error> {
        self.device.modify_qp(qpn, attr)
    }

    /// [`Device::modify_srq_limit`].
    ///
    /// # Errors
    /// As [`Device::modify_srq_limit`].
    pub fn modify_srq_limit(&mut self, srqn: u32, limit: u16) -> Result<(), Error> {
        self.device.modify_srq_limit(srqn, limit)
    }

    /// [`Device::set_port_up`].
    ///
    /// # Errors
    /// As [`Device::set_port_up`].
    pub fn set_port_up(&mut self, port: u8, up: bool) -> Result<(), Error> {
        self.device.set_port_up(port, up)
    }

    /// [`Device::set_script`], except for its bad networks: they belong to the wire, which the device was made with.
    pub fn set_script(&mut self, script: Script) {
        self.device.set_script(script);
    }

    /// [`Device::destroy_qp`]. The memory that its parts point to stays until the device is dropped, but the device no
    /// longer uses it.
    ///
    /// # Errors
    /// As [`Device::destroy_qp`].
    pub fn destroy_qp(&mut self, qpn: u32) -> Result<(), Error> {
        self.device.destroy_qp(qpn)?;
        self.registers.remove(&qpn);
        Ok(())
    }

    /// [`Device::destroy_srq`]. The memory that its parts point to stays until the device is dropped.
    ///
    /// # Errors
    /// As [`Device::destroy_srq`].
    pub fn destroy_srq(&mut self, srqn: u32) -> Result<(), Error> {
        self.device.destroy_srq(srqn)
    }

    /// [`Device::destroy_cq`]. The memory that its parts point to stays until the device is dropped.
    ///
    /// # Errors
    /// As [`Device::destroy_cq`].
    pub fn destroy_cq(&mut self, cqn: u32) -> Result<(), Error> {
        self.device.destroy_cq(cqn)
    }
}
