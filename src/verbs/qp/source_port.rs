//! The UDP source port of a connection.

use blueflame_sys as sys;

use crate::verbs::error::zero;
use crate::verbs::{Error, Qp};

impl Qp {
    /// Sends from UDP port `port` from now on. Networks spread connections over their paths (ECMP, link aggregation) by
    /// the ports of packets, so connections that share a link can be moved apart.
    ///
    /// For RC and UC in RTS, over RoCE v2. Any 16 bits; IANA has the ports from 0xc000 on for dynamic use, and Linux
    /// takes one of these (`include/rdma/ib_verbs.h`, `rdma_flow_label_to_udp_sport`). The queue pair keeps the port
    /// until it goes to RTR again. The answers of the peer have a port of its own.
    ///
    /// # Errors
    /// [`Error::Unsupported`] by other services and in other states, and by devices and ports without it (InfiniBand);
    /// or a failed call.
    #[doc(alias = "mlx5dv_modify_qp_udp_sport")]
    pub fn set_udp_source_port(&self, port: u16) -> Result<(), Error> {
        // libmlx5 reads the state without a lock.
        let _changing = self.changing();
        // SAFETY: the queue pair is alive.
        let set = zero("mlx5dv_modify_qp_udp_sport", unsafe { sys::mlx5dv_modify_qp_udp_sport(self.as_raw(), port) });
        set.map_err(|error| Error::from(error).unsupported("another UDP source port"))
    }
}
