//! The services a queue pair can offer, as types. Use them qualified: `SendQueue<transport::Rc>`.
//!
//! [`SupportedOn`](crate::wqe::SupportedOn) lists the operations of each.
use core::marker::PhantomData;

use crate::sealed::Sealed;

/// The service a queue pair offers, known by the type of its queue: [`Rc`], [`Uc`], [`XrcInitiator`], [`Ud`], [`Dci`],
/// [`DciStreams`] or [`RawPacket`], or a [`Signed`] one of these.
pub trait Transport: Sealed + 'static {
    /// Whether each WQE carries a signature over its bytes: [`Signed`].
    #[doc(hidden)]
    const SIGNS: bool = false;
    /// Whether its WQEs can be [`Signed`], once.
    #[doc(hidden)]
    const SIGNABLE: bool = true;
    /// Its bit in a set of transports.
    #[doc(hidden)]
    const BIT: u8;
    /// The fewest inline headers of a frame.
    #[doc(hidden)]
    const LEAST_HEADERS: usize = 0;
    /// The form of the receives of its queue pairs: [`PlainRecv`], or [`SignedRecv`] for a [`Signed`] service.
    type RecvForm: RecvForm;
}

/// The form of the WQEs of a [receive queue](crate::queue::RecvQueue).
pub trait RecvForm: Sealed + core::fmt::Debug + 'static {
    /// 16-byte units before the scatter list of a WQE.
    #[doc(hidden)]
    const SIGNATURE_UNITS: usize;
}

/// Receives without signatures: of every service but [`Signed`] ones.
#[derive(Clone, Copy, Debug)]
pub struct PlainRecv;

/// Receives that begin with a signature: of [`Signed`] services. The first 16 bytes of each WQE are the signature's, so
/// the WQE holds one scatter entry less.
///
/// A signature covers the entries given, the number of the queue pair, and the WQE's index, like libmlx5's (rdma-core
/// `providers/mlx5/qp.c`, `set_sig_seg`). Receive checks by NICs are undocumented, and the sources disagree. libmlx5
/// gives all receives posted by one `ibv_post_recv` the index of the first. Linux
/// (`drivers/infiniband/hw/mlx5/wr.c`) has code for fewer bytes and no numbers, but never makes such queue pairs for
/// itself. Here each receive signs its own index, like libmlx5's single posts.
#[derive(Clone, Copy, Debug)]
pub struct SignedRecv;

impl RecvForm for PlainRecv {
    const SIGNATURE_UNITS: usize = 0;
}
impl RecvForm for SignedRecv {
    const SIGNATURE_UNITS: usize = 1;
}

/// Reliable connection: acknowledged, in order (IBTA vol. 1, 9.7).
///
/// Operations: NOP, SEND, SEND with invalidate, WRITE, READ, atomics, memory windows, indirect keys, memory copies,
/// WAIT and ENABLE, WAIT on data, DUMP, tag matching.
#[doc(alias = "IBV_QPT_RC")]
#[derive(Clone, Copy, Debug)]
pub struct Rc;

/// Unreliable connection: lost messages are not repeated (IBTA vol. 1, 9.8.2).
///
/// Operations: NOP, SEND, WRITE, memory windows.
#[doc(alias = "IBV_QPT_UC")]
#[derive(Clone, Copy, Debug)]
pub struct Uc;

/// Extended reliable connection, the sending end (`IBV_QPT_XRC_SEND`; IBTA vol. 1, annex A14). Each request to the
/// other end [names](crate::wqe::Request::to) a shared receive queue there, by number.
///
/// Operations: NOP, SEND, SEND with invalidate, WRITE, READ, atomics, memory windows.
///
/// So one queue pair reaches all processes of a machine, where RC needs one for each. The other end is a target
/// (`verbs::XrcTarget`), which has no queues. A message is received into the shared queue that it names and completes
/// on that queue's completion queue. It accesses the memory of that queue's protection domain. This holds for every
/// request, even for a WRITE, which receives nothing.
///
/// ```
/// use blueflame::queue::{PostError, SendQueue};
/// use blueflame::types::{Srqn, WrId};
/// use blueflame::{transport, wqe};
///
/// fn tell(sq: &mut SendQueue<transport::XrcInitiator>, workers: &[Srqn], job: &[u8; 8]) -> Result<(), PostError> {
///     let mut batch = sq.batch();
///     for worker in workers {
///         batch.push(&wqe::send().to(*worker).inline(job).signaled(WrId(1)))?;
///     }
///     batch.ring_doorbell();
///     Ok(())
/// }
/// ```
/// ```compile_fail,E0277
/// # use blueflame::{queue::SendQueue, transport, wqe};
/// fn send(sq: &mut SendQueue<transport::XrcInitiator>) {
///     let _ = sq.post(&wqe::send().inline(b"to whom?"));
/// }
/// ```
#[doc(alias = "IBV_QPT_XRC_SEND")]
#[derive(Clone, Copy, Debug)]
pub struct XrcInitiator;

/// Unreliable datagrams: one packet each, to any queue pair. The [request names](crate::wqe::Request::to) the queue
/// pair. Lost datagrams are not repeated (IBTA vol. 1, 9.8.3).
///
/// Operations: NOP, SEND.
///
/// ```
/// use blueflame::queue::{PostError, SendQueue};
/// use blueflame::types::WrId;
/// use blueflame::wqe::UdAddress;
/// use blueflame::{transport, wqe};
///
/// fn tell(sq: &mut SendQueue<transport::Ud>, peers: &[UdAddress], price: &[u8; 8]) -> Result<(), PostError> {
///     let mut batch = sq.batch();
///     for peer in peers {
///         batch.push(&wqe::send().to(*peer).inline(price).signaled(WrId(1)))?;
///     }
///     batch.ring_doorbell();
///     Ok(())
/// }
/// ```
///
/// A datagram without a destination does not compile:
///
/// ```compile_fail,E0277
/// # use blueflame::{queue::SendQueue, transport, wqe};
/// fn send(sq: &mut SendQueue<transport::Ud>) {
///     let _ = sq.post(&wqe::send().inline(b"to whom?"));
/// }
/// ```
///
/// Each received datagram follows a header of 40 bytes, and the buffer needs room for it: [`Grh`](crate::cq::cqe::Grh).
#[doc(alias = "IBV_QPT_UD")]
#[derive(Clone, Copy, Debug)]
pub struct Ud;

/// The initiator's side of dynamic connections (DCI): reliable, in order, to any target. The
/// [request names](crate::wqe::Request::to) the target. An initiator receives nothing. One such queue pair replaces a
/// reliable connection to each peer. The peers have targets (DCT, `verbs::Dct`), which send nothing.
///
/// Operations: NOP, SEND, SEND with invalidate, WRITE, READ, atomics, memory windows, memory copies.
///
/// The device reconnects when a request names another target than the one before, so runs of requests for one target
/// are cheapest. A request that fails ends the queue pair for all targets. With [`DciStreams`] the other streams go
/// on.
///
/// ```
/// use blueflame::queue::{PostError, SendQueue};
/// use blueflame::types::WrId;
/// use blueflame::wqe::{DcAddress, Remote};
/// use blueflame::{transport, wqe};
///
/// fn tell(sq: &mut SendQueue<transport::Dci>, peers: &[(DcAddress, Remote)], price: &[u8; 8]) -> Result<(), PostError> {
///     let mut batch = sq.batch();
///     for (target, place) in peers {
///         batch.push(&wqe::write(*place).to(*target).inline(price).signaled(WrId(1)))?;
///     }
///     batch.ring_doorbell();
///     Ok(())
/// }
/// ```
///
/// A request without a target does not compile:
///
/// ```compile_fail,E0277
/// # use blueflame::{queue::SendQueue, transport, wqe};
/// fn send(sq: &mut SendQueue<transport::Dci>) {
///     let _ = sq.post(&wqe::send().inline(b"to whom?"));
/// }
/// ```
#[doc(alias = "MLX5DV_DCTYPE_DCI")]
#[derive(Clone, Copy, Debug)]
pub struct Dci;

/// A [`Dci`] with streams. Each stream fails alone: [`DcAddress::on`](crate::wqe::DcAddress::on) puts a request into
/// one. The creation of the queue pair sets the number of streams, and how many may have failed before the queue pair
/// fails.
///
/// ```
/// use blueflame::queue::{PostError, SendQueue};
/// use blueflame::types::{DciStream, WrId};
/// use blueflame::wqe::DcAddress;
/// use blueflame::{transport, wqe};
///
/// fn tell(sq: &mut SendQueue<transport::DciStreams>, peers: &[DcAddress], price: &[u8; 8]) -> Result<(), PostError> {
///     for (n, target) in peers.iter().enumerate() {
///         sq.post(&wqe::send().to(target.on(DciStream(n as u16))).inline(price).signaled(WrId(1)))?;
///     }
///     Ok(())
/// }
/// ```
///
/// A queue pair without streams has no place for one:
///
/// ```compile_fail,E0277
/// # use blueflame::{queue::SendQueue, transport, types::DciStream, wqe::{self, DcAddress}};
/// fn send(sq: &mut SendQueue<transport::Dci>, target: DcAddress) {
///     let _ = sq.post(&wqe::send().to(target.on(DciStream(1))).inline(b"which?"));
/// }
/// ```
#[doc(alias = "mlx5dv_dci_streams")]
#[derive(Clone, Copy, Debug)]
pub struct DciStreams;

/// The service `T` with signed WQEs. Each WQE carries a signature, an XOR of all its bytes, and the device checks it.
/// The queue pair must be created with signatures (PRM "QPC.wq_signature"). A WQE that was damaged on its way to the
/// device completes with an error and is not executed.
///
/// The queues of all other services compute no signatures and pay nothing for them. Here each post pays for reading
/// its WQE once more, in CPU registers if it is composed there. `Signed<T>` supports all operations of `T`:
///
/// ```
/// use blueflame::queue::{PostError, SendQueue};
/// use blueflame::types::WrId;
/// use blueflame::{transport, wqe};
///
/// fn tell(sq: &mut SendQueue<transport::Signed<transport::Rc>>, order: &[u8; 16]) -> Result<(), PostError> {
///     sq.post(&wqe::send().inline(order).signaled(WrId(1)))
/// }
/// ```
/// ```compile_fail,E0277
/// # use blueflame::{Remote, Sge, queue::SendQueue, transport, wqe};
/// fn read(sq: &mut SendQueue<transport::Signed<transport::Uc>>, remote: Remote, local: Sge) {
///     // SAFETY: (never called: it does not compile)
///     let _ = unsafe { sq.post_unchecked(&wqe::read(remote).scatter([local])) };
/// }
/// ```
///
/// `blueflame-devx` creates such queue pairs. `verbs` creates them where libmlx5 does: in processes with the
/// environment variable `MLX5_QP_SIGNATURE`. Receives of a queue pair's own receive queue are also signed
/// ([`SignedRecv`]). Receives of shared queues are not: no public driver computes their signatures. Frames are not
/// signed: Linux creates the send queue of raw packets as an object of its own, without signatures (`sqc.wq`;
/// `drivers/infiniband/hw/mlx5/qp.c`, `create_raw_packet_qp_sq`).
///
/// ```compile_fail,E0080
/// # use blueflame::transport::{RawPacket, Signed};
/// # use blueflame::{SendQueue, wqe};
/// fn frames(sq: &mut SendQueue<Signed<RawPacket>>) {
///     let _ = sq.post(&wqe::nop());
/// }
/// # let _ = frames as fn(&mut _);
/// ```
/// ```compile_fail,E0080
/// # use blueflame::transport::{Rc, Signed};
/// # use blueflame::{SendQueue, wqe};
/// fn twice(sq: &mut SendQueue<Signed<Signed<Rc>>>) {
///     let _ = sq.post(&wqe::nop());
/// }
/// # let _ = twice as fn(&mut _);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Signed<T>(PhantomData<T>);

/// Ethernet [frames](crate::wqe::operations::Frame) as they are (`IBV_QPT_RAW_PACKET`). Each frame has at least its first
/// `HEADERS` bytes inline: a frame with fewer does not compile. [`InlineLayers`] has the bytes that devices need. The
/// default, [`MIN_INLINE_HEADERS`], is right for every device that nobody configured. ConnectX-5 and later need none:
/// `RawPacket<0>`.
///
/// Operations: NOP, WAIT and ENABLE, DUMP, frames.
///
/// ```
/// use blueflame::queue::{PostError, SendQueue};
/// use blueflame::types::WrId;
/// use blueflame::{transport, wqe};
///
/// fn send(sq: &mut SendQueue<transport::RawPacket>, headers: &[u8; 42], order: &[u8; 32]) -> Result<(), PostError> {
///     let frame = wqe::frame().inline_headers(headers).l3_checksum().l4_checksum().inline(order);
///     sq.post(&frame.signaled(WrId(1)))
/// }
/// ```
/// ```compile_fail,E0277
/// # use blueflame::{Remote, queue::SendQueue, transport, wqe};
/// fn write(sq: &mut SendQueue<transport::RawPacket>, remote: Remote) {
///     let _ = sq.post(&wqe::write(remote).inline(b"no"));
/// }
/// ```
#[doc(alias = "IBV_QPT_RAW_PACKET")]
#[derive(Clone, Copy, Debug)]
pub struct RawPacket<const HEADERS: usize = MIN_INLINE_HEADERS>(());

/// The fewest bytes of a frame's inline headers: two MAC addresses, a VLAN tag and the type. The number is the same
/// for frames without a tag (rdma-core `providers/mlx5/wqe.h`, `MLX5_ETH_L2_INLINE_HEADER_SIZE`; DPDK
/// `drivers/common/mlx5/mlx5_prm.h`, `MLX5_ESEG_MIN_INLINE_SIZE`).
#[doc(alias = "MLX5_ETH_L2_INLINE_HEADER_SIZE")]
pub const MIN_INLINE_HEADERS: usize = 18;

/// The headers of a frame that lie inline in its WQE, up to a layer. In the order of the device's numbers: each of the
/// first four includes those before it (PRM "min_wqe_inline_mode"; Linux `include/linux/mlx5/device.h`,
/// `enum mlx5_inline_modes`).
///
/// A device needs a minimum: more does no harm. It needs more than [`L2`](Self::L2) only if an administrator has
/// configured it so (`devlink dev eswitch set ... inline-mode`). With the feature `verbs`, making a queue pair asks the
/// device (`Device::inline_layers`), and fails if it needs more than the [`RawPacket`] has.
///
/// The required number of bytes follows from the frame's own headers, as Linux computes it
/// (`drivers/net/ethernet/mellanox/mlx5/core/en_tx.c`, `mlx5e_calc_min_inline`). The compiler checks the bytes of the
/// shortest packet only. A frame with VLAN tags, options or IPv6 needs more. If it has too few inline bytes, `softhca`
/// completes it with "local QP operation error"; public sources do not say which error a NIC gives.
#[doc(alias("min_wqe_inline_mode", "mlx5_inline_modes", "MLX5_INLINE_MODE_L2"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InlineLayers {
    /// No bytes: inline headers are optional. This is the default of ConnectX-5 and later (DPDK
    /// `doc/guides/nics/mlx5.rst`, `txq_inline_min`).
    None,
    /// The layer 2 headers: [`MIN_INLINE_HEADERS`] bytes, and 4 more for each VLAN tag past the first. ConnectX-4 and
    /// ConnectX-4 Lx need it. libmlx5 assumes it when the kernel does not say.
    L2,
    /// The layer 2 headers, and for an IP packet the IP header: 34 bytes of the shortest. 58 are enough for one VLAN tag
    /// and IPv6. An eSwitch that steers by addresses requires it.
    Ip,
    /// The layer 2 headers, an IP packet's IP header, and a TCP or UDP packet's TCP or UDP header. The shortest take 42
    /// bytes. 78 are enough for one VLAN tag, IPv6 and TCP without options. An eSwitch that steers by ports requires
    /// it.
    TcpUdp,
    /// All headers of a tunnel, and those inside of it up to layer 2. No [`RawPacket`] promises this or the next two.
    InnerL2,
    /// All headers of a tunnel, and those inside of it up to IP.
    InnerIp,
    /// All headers of a tunnel, and those inside of it up to TCP or UDP.
    InnerTcpUdp,
}

/// Bytes of the shortest packet up to IP, and up to TCP or UDP: Ethernet without a VLAN tag, IP version 4 and UDP, all
/// without options.
const UP_TO_IP: usize = 14 + 20;
const UP_TO_UDP: usize = UP_TO_IP + 8;

impl InlineLayers {
    /// The layers that the first `bytes` of a frame hold, if its headers are the shortest.
    #[must_use]
    pub const fn of(bytes: usize) -> Self {
        match bytes {
            UP_TO_UDP.. => Self::TcpUdp,
            UP_TO_IP.. => Self::Ip,
            MIN_INLINE_HEADERS.. => Self::L2,
            _ => Self::None,
        }
    }

    /// The fewest bytes that hold these layers: those of a [`RawPacket`] for a device that needs them. `None` for the
    /// headers inside of a tunnel.
    #[must_use]
    pub const fn bytes(self) -> Option<usize> {
        match self {
            Self::None => Some(0),
            Self::L2 => Some(MIN_INLINE_HEADERS),
            Self::Ip => Some(UP_TO_IP),
            Self::TcpUdp => Some(UP_TO_UDP),
            Self::InnerL2 | Self::InnerIp | Self::InnerTcpUdp => None,
        }
    }
}

impl Sealed for Rc {}
impl Sealed for Uc {}
impl Sealed for Ud {}
impl Sealed for Dci {}
impl Sealed for DciStreams {}
impl Sealed for XrcInitiator {}
impl<const HEADERS: usize> Sealed for RawPacket<HEADERS> {}
impl<T> Sealed for Signed<T> {}
impl Sealed for PlainRecv {}
impl Sealed for SignedRecv {}
impl Transport for Rc {
    const BIT: u8 = 1 << 0;
    type RecvForm = PlainRecv;
}
impl Transport for Uc {
    const BIT: u8 = 1 << 1;
    type RecvForm = PlainRecv;
}
impl Transport for Ud {
    const BIT: u8 = 1 << 2;
    type RecvForm = PlainRecv;
}
impl Transport for Dci {
    const BIT: u8 = 1 << 3;
    type RecvForm = PlainRecv;
}
impl Transport for DciStreams {
    const BIT: u8 = 1 << 4;
    type RecvForm = PlainRecv;
}
impl Transport for XrcInitiator {
    const BIT: u8 = 1 << 5;
    type RecvForm = PlainRecv;
}
impl<const HEADERS: usize> Transport for RawPacket<HEADERS> {
    const SIGNABLE: bool = false;
    const BIT: u8 = 1 << 6;
    const LEAST_HEADERS: usize = HEADERS;
    type RecvForm = PlainRecv;
}
impl<T: Transport> Transport for Signed<T> {
    const SIGNS: bool = {
        assert_signable::<T>();
        true
    };
    const SIGNABLE: bool = false;
    const BIT: u8 = {
        assert_signable::<T>();
        T::BIT
    };
    type RecvForm = SignedRecv;
}

/// Called in constants only: [`Signed`] over another transport does not compile.
const fn assert_signable<T: Transport>() {
    assert!(T::SIGNABLE, "the WQEs of this transport cannot be signed");
}

#[cfg(test)]
mod tests {
    use super::InlineLayers::{self, Ip, L2, None, TcpUdp};

    #[test]
    fn bytes_hold_the_layers_from_their_fewest_on() {
        // Ethernet has 14 bytes, and a VLAN tag 4; IP version 4 has 20, and UDP 8.
        for (layers, bytes, fewer) in [(L2, 18, None), (Ip, 34, L2), (TcpUdp, 42, Ip)] {
            assert_eq!(layers.bytes(), Some(bytes));
            assert_eq!((InlineLayers::of(bytes), InlineLayers::of(bytes - 1)), (layers, fewer), "{layers:?}");
        }
        assert_eq!((None.bytes(), InlineLayers::of(0), InlineLayers::of(1514)), (Some(0), None, TcpUdp));
    }
}
