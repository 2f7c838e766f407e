//! Enhanced connection establishment (ECE): options that the two ends of a connection agree on (IBTA vol. 1, since
//! release 1.4).

/// Options of a vendor's devices that both ends of a connection must know, such as a way to send lost packets again or
/// to control congestion. Each end tells its own, and each device enables those that it has in common with the peer's.
///
/// [`Qp::endpoint`] tells the peer the options, and [`Qp::to_rtr`] hands the peer's to the device: nothing else is
/// needed. To connect without options, take them out of the endpoint ([`Endpoint::ece`]).
///
/// If librdmacm connects a queue pair that it has not made, carry them over: give [`Qp::ece`] to `rdma_set_local_ece(3)`
/// before `rdma_connect` or `rdma_accept`, and those of `rdma_get_remote_ece(3)` to [`Qp::set_ece`] before RTR.
///
/// [`Endpoint::ece`]: crate::verbs::Endpoint::ece
/// [`Qp::ece`]: crate::verbs::Qp::ece
/// [`Qp::endpoint`]: crate::verbs::Qp::endpoint
/// [`Qp::set_ece`]: crate::verbs::Qp::set_ece
/// [`Qp::to_rtr`]: crate::verbs::Qp::to_rtr
#[doc(alias = "ibv_ece")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Ece {
    /// Who defines the options, 24 bits (those that messages of the connection manager have). mlx5 devices have 0x15b3
    /// ([`Self::MELLANOX`]). 0 names nobody.
    pub vendor_id: u32,
    /// The options, 32 bits. For mlx5, the highest four are the version, 1 (rdma-core `providers/mlx5/verbs.c`,
    /// `create_qp`), and NVIDIA does not publish what the others mean. 0: none.
    pub options: u32,
}

impl Ece {
    /// `vendor_id` of mlx5 devices: the PCI vendor (rdma-core `providers/mlx5/verbs.c`, `mlx5_query_ece`).
    pub const MELLANOX: u32 = 0x15b3;
}
