//! State changes of the services that are not connected: UD, and initiators of dynamic connections.

use blueflame::types::Psn;
use blueflame::verbs::Path;
use blueflame::verbs::device::LinkLayer;

use super::handle::Qp;
use super::states::{LOG_ACK_REQ_FREQ, log_of, optional};
use crate::cmd::{
    Init2rtrQpIn, PathMigration, PathMtu, QpcState, Rst2initQpIn, Rtr2rtsQpIn, ServiceType, Sqerr2rtsQpIn,
};
use crate::error::Error;

/// log2 of the bytes of the longest datagram (Linux `drivers/infiniband/hw/mlx5/qp.c`, `__mlx5_ib_modify_qp`).
const LOG_MAX_DATAGRAM: u8 = 12;

impl Qp {
    /// RESET to RTS of a datagram queue pair, which accepts packets with this Q_Key. You may post to its queues from
    /// here on.
    ///
    /// # Errors
    /// [`Error::Foreign`] if it has another service, [`Error::OutOfRange`], [`Error::WrongState`], or
    /// [`Error::Command`].
    pub fn start_datagrams(&self, path: &Path, q_key: u32) -> Result<(), Error> {
        self.is_of(ServiceType::UD)?;
        self.check(path)?;
        let mut inbox = Rst2initQpIn::new();
        inbox.set_qpn(self.qpn());
        let qpc = inbox.qpc_mut().set_pm_state(PathMigration::MIGRATED).set_q_key(q_key);
        qpc.primary_address_path_mut().set_vhca_port_num(path.port.number).set_pkey_index(path.pkey_index);
        self.transition(&inbox, QpcState::INIT)?;

        let mut inbox = Init2rtrQpIn::new();
        inbox.set_qpn(self.qpn());
        // A message is one packet.
        inbox.qpc_mut().set_mtu(PathMtu::BYTES_4096).set_log_msg_max(LOG_MAX_DATAGRAM);
        self.transition(&inbox, QpcState::RTR)?;

        let mut inbox = Rtr2rtsQpIn::new();
        inbox.set_qpn(self.qpn());
        inbox.qpc_mut().set_next_send_psn(Psn::random());
        self.transition(&inbox, QpcState::RTS)
    }

    /// RESET to RTS of an initiator of dynamic connections (DCI): requests name the target.
    ///
    /// # Errors
    /// As [`start_datagrams`](Self::start_datagrams).
    pub fn start_initiator(&self, path: &Path) -> Result<(), Error> {
        self.is_of(ServiceType::DCI)?;
        self.check(path)?;
        let general = self.object().context().general()?;
        let mut inbox = Rst2initQpIn::new();
        inbox.set_qpn(self.qpn());
        let qpc = inbox.qpc_mut().set_pm_state(PathMigration::MIGRATED);
        qpc.primary_address_path_mut().set_vhca_port_num(path.port.number).set_pkey_index(path.pkey_index);
        self.transition(&inbox, QpcState::INIT)?;

        let mut inbox = Init2rtrQpIn::new();
        inbox.set_qpn(self.qpn());
        let qpc = inbox
            .qpc_mut()
            .set_pm_state(PathMigration::MIGRATED)
            .set_mtu(PathMtu(path.mtu as u8))
            .set_log_msg_max(general.log_max_msg());
        // As UCX (`src/uct/ib/mlx5/dc/dc_mlx5_devx.c`, `uct_dc_mlx5_iface_devx_dci_connect`).
        let way = qpc.primary_address_path_mut();
        match path.port.link_layer {
            LinkLayer::Ethernet => way.set_eth_prio(path.service_level & 7),
            LinkLayer::InfiniBand => way.set_sl(path.service_level),
        };
        if general.atomic() {
            qpc.set_atomic_mode(self.object().context().atomic_mode()?).set_rae(true);
            inbox.set_opt_param_mask(optional::RAE);
        }
        self.transition(&inbox, QpcState::RTR)?;

        let mut inbox = Rtr2rtsQpIn::new();
        inbox.set_qpn(self.qpn());
        let qpc = inbox
            .qpc_mut()
            .set_pm_state(PathMigration::MIGRATED)
            .set_log_ack_req_freq(LOG_ACK_REQ_FREQ)
            .set_log_sra_max(log_of(path.max_rd_atomic).min(general.log_max_ra_req_dc()))
            .set_retry_count(path.retry_cnt)
            .set_rnr_retry(path.rnr_retry);
        qpc.primary_address_path_mut().set_ack_timeout(path.timeout);
        self.transition(&inbox, QpcState::RTS)
    }

    /// SQER to RTS: a datagram or unreliable queue pair whose send queue has failed sends again.
    ///
    /// # Errors
    /// [`Error::WrongState`], or [`Error::Command`].
    pub fn sqer_to_rts(&self) -> Result<(), Error> {
        let mut inbox = Sqerr2rtsQpIn::new();
        inbox.set_qpn(self.qpn());
        self.transition(&inbox, QpcState::RTS)
    }

    fn is_of(&self, service: ServiceType) -> Result<(), Error> {
        if self.service() == service { Ok(()) } else { Err(Error::Foreign { object: "queue pair", of: "service" }) }
    }
}
