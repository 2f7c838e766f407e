//! The port of a bond by which a queue pair sends.

use blueflame_sys as sys;

use crate::verbs::error::zero;
use crate::verbs::{Error, Qp};

/// The port of a bond (link aggregation, LAG) that a queue pair has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LagPort {
    /// The port that it has been given, from 1.
    pub configured: u8,
    /// The port by which its packets leave now: another one while that is down.
    pub active: u8,
}

impl Qp {
    /// The port of the bond by which it sends.
    ///
    /// Linux gives queue pairs the ports in turns when they go to INIT, unless the firmware spreads them by a hash
    /// (`drivers/infiniband/hw/mlx5/qp.c`, `get_tx_affinity_rr`; `mlx5_ib.h`, `mlx5_ib_lag_should_assign_affinity`).
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the device is no bond, if the queue pair has got no port yet, and by services without
    /// one; or a failed call.
    #[doc(alias = "mlx5dv_query_qp_lag_port")]
    pub fn lag_port(&self) -> Result<LagPort, Error> {
        let _changing = self.changing();
        let (mut configured, mut active) = (0, 0);
        // SAFETY: the queue pair is alive, and both places are ours.
        let queried = unsafe { sys::mlx5dv_query_qp_lag_port(self.as_raw(), &raw mut configured, &raw mut active) };
        let queried = zero("mlx5dv_query_qp_lag_port", queried);
        queried.map_err(|error| Error::from(error).unsupported("a port of a bond"))?;
        Ok(LagPort { configured, active })
    }

    /// Sends by port `port` of the bond from now on, 1 or 2.
    ///
    /// For RC, UC, UD and initiators of dynamic connections in RTS, and for raw packet queue pairs. The packets of peers
    /// come by the port that the switch chooses.
    ///
    /// # Errors
    /// As [`lag_port`](Self::lag_port), [`Error::Unsupported`] in other states, and a failed call for a port that the
    /// bond does not have.
    #[doc(alias = "mlx5dv_modify_qp_lag_port")]
    pub fn set_lag_port(&self, port: u8) -> Result<(), Error> {
        // libmlx5 reads the state without a lock.
        let _changing = self.changing();
        // SAFETY: the queue pair is alive.
        let set = zero("mlx5dv_modify_qp_lag_port", unsafe { sys::mlx5dv_modify_qp_lag_port(self.as_raw(), port) });
        set.map_err(|error| Error::from(error).unsupported("another port of a bond"))
    }
}
