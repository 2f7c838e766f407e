//! The limits of a device, as programs see them. The figures are those of a ConnectX-5, unless they depend on the
//! software device.

/// QPs, CQs and SRQs of a device, each.
pub(crate) const MAX_QUEUES: u32 = 1 << 18;
/// WQEBBs in a send queue, and WQEs in a receive queue.
pub(crate) const MAX_QUEUE_WR: u32 = 32768;
/// Bytes of a send WQE.
pub(crate) const MAX_SQ_WQE: u16 = 1024;
/// Bytes of a receive WQE.
pub(crate) const MAX_RQ_WQE: u16 = 512;
/// CQEs in a CQ.
pub(crate) const MAX_CQE: u32 = (1 << 22) - 1;
/// How long the device takes to acknowledge: 4.096 us times a power of two.
pub(crate) const LOCAL_ACK_DELAY: u8 = 16;
/// Completion vectors.
pub(crate) const COMP_VECTORS: u32 = 2;
/// The event queue of the first of them; those before are the driver's own.
pub(crate) const FIRST_EQN: u32 = 4;
/// Bytes that an open file has, and the most that one allocation gets: the figure of a ConnectX-5 (`max_memic_size`).
pub(crate) const DEVICE_MEMORY_BYTES: u32 = 128 << 10;
