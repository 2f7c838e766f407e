//! The commands that change the state of a queue pair (IBTA vol. 1, 10.3.1), as Linux fills them in
//! (`drivers/infiniband/hw/mlx5/qp.c`, `__mlx5_ib_modify_qp`).

use std::sync::{MutexGuard, PoisonError};

use blueflame::types::Psn;
use blueflame::verbs::{Access, Ece, Endpoint, Path};

use super::super::address;
use super::handle::Qp;
use crate::check::in_range;
use crate::cmd::{
    Init2initQpIn, Init2rtrQpIn, PathMigration, PathMtu, Qp2ErrIn, Qp2RstIn, Qpc, QpcExt, QpcState, Rst2initQpIn,
    Rtr2rtsQpIn, Rts2rtsQpIn, ServiceType, Status,
};
use crate::error::Error;
use crate::mailbox::{Command, List, Structure};
use crate::support::ask::has;

/// Parts of a context that a transition may change but need not (`opt_param_mask`; Linux `include/linux/mlx5/qp.h`,
/// `enum mlx5_qp_optpar`).
pub(super) mod optional {
    pub(super) const RRE: u32 = 1 << 1;
    pub(in super::super) const RAE: u32 = 1 << 2;
    pub(super) const RWE: u32 = 1 << 3;
    pub(super) const PKEY_INDEX: u32 = 1 << 4;
    pub(super) const PRI_PORT: u32 = 1 << 16;
    /// rdma-core `MLX5_QPC_OPT_MASK_RTS2RTS_LAG_TX_PORT_AFFINITY`.
    pub(super) const LAG_TX_PORT_AFFINITY: u32 = 1 << 15;
    /// In `opt_param_mask_95_32` (rdma-core `MLX5_QPC_OPT_MASK_32_UDP_SPORT`).
    pub(super) const UDP_SPORT: u64 = 1 << 2;
    /// In `opt_param_mask_95_32` (rdma-core `MLX5_QPC_OPT_MASK_32_INIT2INIT_MMO`).
    pub(super) const MMO: u64 = 1 << 3;
}

/// After how many packets, as log2, the peer is asked for an acknowledgement (Linux `MLX5_IB_ACK_REQ_FREQ`).
pub(super) const LOG_ACK_REQ_FREQ: u8 = 8;

impl Qp {
    /// RESET to INIT: receives may be posted from here on.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::WrongState`], or [`Error::Command`].
    pub fn to_init(&self, path: &Path) -> Result<(), Error> {
        self.check(path)?;
        let mut inbox = Rst2initQpIn::new();
        inbox.set_qpn(self.qpn());
        let qpc = inbox.qpc_mut();
        qpc.set_pm_state(PathMigration::MIGRATED);
        qpc.primary_address_path_mut().set_vhca_port_num(path.port.number).set_pkey_index(path.pkey_index);
        self.set_access(qpc, path.access)?;
        self.transition(&inbox, QpcState::INIT)?;
        self.enable_memcpy()
    }

    /// In INIT: enables memory copies, if they are configured and the device needs the command (rdma-core
    /// `providers/mlx5/verbs.c`, `qp_enable_mmo`).
    fn enable_memcpy(&self) -> Result<(), Error> {
        if !self.handle.memcpy || !self.object().context().general()?.dma_mmo_qp() {
            return Ok(());
        }
        let mut inbox = Init2initQpIn::new();
        inbox.set_qpn(self.qpn()).set_qpc_ext(true).set_opt_param_mask_95_32(optional::MMO);
        let mut inbox = List::<_, QpcExt>::new(&inbox);
        let mut extension = QpcExt::zeroed();
        extension.set_mmo(true);
        inbox.push(&extension);
        self.transition(&inbox, QpcState::INIT)
    }

    /// Changes port, partition and rights of a queue pair in INIT.
    ///
    /// # Errors
    /// As [`to_init`](Self::to_init).
    pub fn init_to_init(&self, path: &Path) -> Result<(), Error> {
        self.check(path)?;
        let mut inbox = Init2initQpIn::new();
        inbox.set_qpn(self.qpn());
        let qpc = inbox.qpc_mut();
        qpc.primary_address_path_mut().set_vhca_port_num(path.port.number).set_pkey_index(path.pkey_index);
        let changed = self.set_access(qpc, path.access)?;
        inbox.set_opt_param_mask(changed | optional::PKEY_INDEX | optional::PRI_PORT);
        self.transition(&inbox, QpcState::INIT)
    }

    /// INIT to RTR: the queue pair answers `remote` from here on. The device enables the options that both have
    /// ([`Endpoint::ece`]).
    ///
    /// # Errors
    /// [`Error::Verbs`] if there is no way from the path to the peer or its address does not resolve,
    /// [`Error::OutOfRange`], [`Error::WrongState`], or [`Error::Command`].
    pub fn to_rtr(&self, path: &Path, remote: &Endpoint) -> Result<(), Error> {
        self.check(path)?;
        let context = self.object().context();
        let general = context.general()?;
        let mut inbox = Init2rtrQpIn::new();
        inbox.set_qpn(self.qpn());
        if let Some(peers) = remote.ece.filter(|peers| peers.vendor_id == Ece::MELLANOX && self.handle.ece != 0) {
            inbox.set_ece(peers.options);
        }
        let qpc = inbox.qpc_mut();
        qpc.set_mtu(PathMtu(path.mtu.min(remote.mtu) as u8))
            .set_log_msg_max(general.log_max_msg())
            .set_remote_qpn(remote.qpn)
            .set_next_rcv_psn(remote.psn)
            .set_log_ack_req_freq(LOG_ACK_REQ_FREQ);
        address::fill(qpc.primary_address_path_mut(), context.device(), path, self.qpn(), remote)?;
        qpc.primary_address_path_mut().set_pkey_index(path.pkey_index);
        let changed = self.set_access(qpc, path.access)?;
        if self.service() == ServiceType::RC {
            let most = general.log_max_ra_res_qp();
            qpc.set_log_rra_max(log_of(path.max_dest_rd_atomic).min(most)).set_min_rnr_nak(path.min_rnr_timer);
        }
        inbox.set_opt_param_mask(changed);
        self.transition(&inbox, QpcState::RTR)
    }

    /// RTR to RTS. The send queue must be opened afterwards: [`QueuePair::connect`](super::QueuePair::connect) does
    /// both.
    pub(super) fn rtr_to_rts(&self, path: &Path, psn: Psn) -> Result<(), Error> {
        self.check(path)?;
        let general = self.object().context().general()?;
        let mut inbox = Rtr2rtsQpIn::new();
        inbox.set_qpn(self.qpn());
        let qpc = inbox.qpc_mut();
        qpc.set_next_send_psn(psn).set_log_ack_req_freq(LOG_ACK_REQ_FREQ).set_pm_state(PathMigration::MIGRATED);
        if self.service() == ServiceType::RC {
            qpc.set_retry_count(path.retry_cnt)
                .set_rnr_retry(path.rnr_retry)
                .set_log_sra_max(log_of(path.max_rd_atomic).min(general.log_max_ra_req_qp()));
            qpc.primary_address_path_mut().set_ack_timeout(path.timeout);
        }
        self.transition(&inbox, QpcState::RTS)
    }

    /// Changes the peer's access rights to a queue pair in RTS.
    ///
    /// # Errors
    /// [`Error::WrongState`], or [`Error::Command`].
    pub fn set_remote_access(&self, access: Access) -> Result<(), Error> {
        let mut inbox = Rts2rtsQpIn::new();
        inbox.set_qpn(self.qpn());
        let changed = self.set_access(inbox.qpc_mut(), access)?;
        inbox.set_opt_param_mask(changed);
        self.transition(&inbox, QpcState::RTS)
    }

    /// Sends from UDP port `port` from now on: see `set_udp_source_port` of [`blueflame::verbs::Qp`]. For RC and UC in
    /// RTS.
    ///
    /// # Errors
    /// [`Error::Capability`], [`Error::WrongState`], or [`Error::Command`].
    pub fn set_udp_source_port(&self, port: u16) -> Result<(), Error> {
        let general = self.object().context().general()?;
        has("cmd_hca_cap.rts2rts_qp_udp_sport", general.rts2rts_qp_udp_sport())?;
        let mut inbox = Rts2rtsQpIn::new();
        inbox.set_qpn(self.qpn()).set_opt_param_mask_95_32(optional::UDP_SPORT);
        inbox.qpc_mut().primary_address_path_mut().set_udp_sport(port);
        self.transition(&inbox, QpcState::RTS)
    }

    /// Sends by port `port` of the bond from now on, 1 or 2: see `set_lag_port` of [`blueflame::verbs::Qp`]. For RC, UC, UD
    /// and initiators in RTS. A [query](Self::query) has the port in `lag_tx_port_affinity`.
    ///
    /// # Errors
    /// [`Error::Capability`], [`Error::WrongState`], or [`Error::Command`]: the bond does not have this port.
    pub fn set_lag_port(&self, port: u8) -> Result<(), Error> {
        let general = self.object().context().general()?;
        has("cmd_hca_cap.rts2rts_lag_tx_port_affinity", general.rts2rts_lag_tx_port_affinity())?;
        let mut inbox = Rts2rtsQpIn::new();
        inbox.set_qpn(self.qpn()).set_opt_param_mask(optional::LAG_TX_PORT_AFFINITY);
        inbox.qpc_mut().set_lag_tx_port_affinity(port);
        self.transition(&inbox, QpcState::RTS)
    }

    /// To the error state. All outstanding requests complete as "flushed", including unsignalled ones.
    ///
    /// # Errors
    /// [`Error::WrongState`] in RESET, or [`Error::Command`].
    pub fn to_error(&self) -> Result<(), Error> {
        let mut inbox = Qp2ErrIn::new();
        inbox.set_qpn(self.qpn());
        self.transition(&inbox, QpcState::ERR)
    }

    /// To RESET. The state stays until the result is dropped, even if other threads have clones of the handle: the
    /// queues must follow before the device uses them again. [`QueuePair::reset`](super::QueuePair::reset) does both.
    pub(super) fn to_reset(&self) -> Result<MutexGuard<'_, bool>, Error> {
        let mut inbox = Qp2RstIn::new();
        inbox.set_qpn(self.qpn());
        let mut is_unknown = self.changing();
        match self.command(&inbox, QpcState::RST) {
            Ok(()) => *is_unknown = false,
            Err(error) => {
                // A handled signal is enough: libmlx5's VFIO driver waits for the answer in a `poll`.
                *is_unknown |= matches!(&error, Error::Command(command) if command.may_be_done());
                return Err(error);
            }
        }
        Ok(is_unknown)
    }

    /// Keeps others from changing the state.
    fn changing(&self) -> MutexGuard<'_, bool> {
        self.handle.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the peer's access rights, as far as the transport and the device support them. Returns the changed parts of
    /// the context.
    fn set_access(&self, qpc: &mut Qpc, access: Access) -> Result<u32, Error> {
        let allows = |right: Access| access.bits() & right.bits() & !Access::LOCAL_WRITE.bits() != 0;
        qpc.set_rwe(allows(Access::REMOTE_WRITE));
        if self.service() != ServiceType::RC {
            return Ok(optional::RWE);
        }
        qpc.set_rre(allows(Access::REMOTE_READ));
        if self.object().context().general()?.atomic() && allows(Access::REMOTE_ATOMIC) {
            qpc.set_rae(true).set_atomic_mode(self.object().context().atomic_mode()?);
        }
        Ok(optional::RRE | optional::RAE | optional::RWE)
    }

    pub(super) fn check(&self, path: &Path) -> Result<(), Error> {
        path.check()?;
        let ports = self.object().context().general()?.num_ports();
        in_range("port", path.port.number, 1..=ports.into())
    }

    /// Sends a command that changes the state.
    pub(super) fn transition<C: Command>(&self, inbox: &C, to: QpcState) -> Result<(), Error> {
        let is_unknown = self.changing();
        if *is_unknown && to != QpcState::ERR {
            return Err(Error::ResetUnknown { qpn: self.qpn() });
        }
        self.command(inbox, to)
    }

    fn command<C: Command>(&self, inbox: &C, to: QpcState) -> Result<(), Error> {
        let Err(error) = self.object().change(inbox) else { return Ok(()) };
        // The firmware reports that the state is wrong, but not the actual state.
        match &error {
            Error::Command(command) if command.status == Status::BAD_QP_STATE_ERR => {
                self.state().map_or(Err(error), |is| Err(Error::WrongState { is, to }))
            }
            _ => Err(error),
        }
    }
}

/// log2 of a number of requests, rounded up; 0 for none, and at most 7: a context has three bits for it.
pub(super) fn log_of(requests: u8) -> u8 {
    u32::from(requests).max(1).next_power_of_two().trailing_zeros().min(7) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_requests_are_rounded_up() {
        assert_eq!([0, 1, 2, 3, 16, 17, 128].map(log_of), [0, 0, 1, 2, 4, 5, 7]);
    }

    #[test]
    fn numbers_without_a_power_of_two_above_them_have_the_largest() {
        assert_eq!([129, 200, 255].map(log_of), [7, 7, 7]);
    }
}
