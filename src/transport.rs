//! The services a queue pair can offer, as types. Meant to be used qualified: `SendQueue<transport::Rc>`.
//!
//! Which operations each has: [`SupportedOn`](crate::wqe::SupportedOn).
use core::marker::PhantomData;

use sealed::Sealed;

/// The service a queue pair offers, known by the type of its queue: [`Rc`], [`Uc`], [`XrcInitiator`], [`Ud`], [`Dci`],
/// [`DciStreams`] or
/// [`RawPacket`]; or one of them whose WQEs are [`Signed`].
pub trait Transport: Sealed + 'static {
    /// Whether each WQE carries a signature of itself: [`Signed`].
    #[doc(hidden)]
    const SIGNS: bool = false;
}

/// A service whose queue pairs have one peer each, which they are connected to: [`Rc`], [`Uc`] and [`XrcInitiator`]. The others name whom a request
/// is for in each of them, or have no peers, and are not connected:
///
/// ```compile_fail,E0277
/// # fn connected<T: blueflame::transport::Connected>() {}
/// connected::<blueflame::transport::Ud>();
/// ```
///
/// ```compile_fail,E0277
/// # fn connected<T: blueflame::transport::Connected>() {}
/// connected::<blueflame::transport::Dci>();
/// ```
#[diagnostic::on_unimplemented(
    message = "queue pairs of the transport `{Self}` are not connected",
    note = "`QueuePair::activate` makes those of datagrams, dynamic connections and raw packets ready"
)]
pub trait Connected: Transport {}
impl Connected for Rc {}
impl Connected for Uc {}
impl Connected for XrcInitiator {}

/// A service whose queue pairs receive, too: all but initiators.
///
/// ```compile_fail,E0277
/// # fn receives<T: blueflame::transport::Receives>() {}
/// receives::<blueflame::transport::XrcInitiator>();
/// ```
/// ```compile_fail,E0277
/// # fn receives<T: blueflame::transport::Receives>() {}
/// receives::<blueflame::transport::Dci>();
/// ```
#[diagnostic::on_unimplemented(message = "queue pairs of the transport `{Self}` receive nothing")]
pub trait Receives: Transport {}
impl Receives for Rc {}
impl Receives for Uc {}
impl Receives for Ud {}
impl<M: InlineMode> Receives for RawPacket<M> {}

/// Reliable connection: acknowledged, in order, with READ and atomics (IBTA vol. 1, 9.7).
#[derive(Clone, Copy, Debug)]
pub struct Rc;

/// Unreliable connection: SEND and WRITE only, lost messages are not repeated (IBTA vol. 1, 9.8.2).
#[derive(Clone, Copy, Debug)]
pub struct Uc;

/// Extended reliable connection, the end that sends (`IBV_QPT_XRC_SEND`; IBTA vol. 1, annex A14): what [`Rc`] does, but each request
/// [names](crate::wqe::Request::to) the shared receive queue at the other end that it is for, by its number.
///
/// So one queue pair reaches all processes of a machine, where RC needs one for each. The other end is a target
/// (`verbs::XrcTarget`), which has no queues: messages are received into the shared queue that they name, complete where that queue
/// does, and access the memory of its protection domain. That holds for every request, also for a WRITE, which receives nothing.
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
#[derive(Clone, Copy, Debug)]
pub struct XrcInitiator;

/// Unreliable datagrams: one packet each, to any queue pair, which the [request names](crate::wqe::Request::to); lost ones are not
/// repeated (IBTA vol. 1, 9.8.3).
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
/// A datagram for nobody does not compile:
///
/// ```compile_fail,E0277
/// # use blueflame::{queue::SendQueue, transport, wqe};
/// fn send(sq: &mut SendQueue<transport::Ud>) {
///     let _ = sq.post(&wqe::send().inline(b"to whom?"));
/// }
/// ```
///
/// In front of each datagram received are 40 bytes, which the buffer needs room for: [`Grh`](crate::cq::Grh).
#[derive(Clone, Copy, Debug)]
pub struct Ud;

/// The initiator's side of dynamic connections (DCI): reliable, in order, with READ and atomics, to any target, which the
/// [request names](crate::wqe::Request::to). It receives nothing. One such queue pair takes the place of a reliable connection to each
/// peer; the peers have targets (DCT, `verbs::Dct`), which send nothing.
///
/// The device connects when a request is for another target than the one before, so runs of requests for one target are cheapest. A
/// request that fails ends the queue pair for all targets; [`DciStreams`] go on.
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
/// A request for nobody does not compile:
///
/// ```compile_fail,E0277
/// # use blueflame::{queue::SendQueue, transport, wqe};
/// fn send(sq: &mut SendQueue<transport::Dci>) {
///     let _ = sq.post(&wqe::send().inline(b"to whom?"));
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Dci;

/// A [`Dci`] with streams, each of which fails alone: [`DcAddress::on`](crate::wqe::DcAddress::on) puts a request into one. How many
/// there are, and how many may have failed before the queue pair fails, is said when it is made.
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
#[derive(Clone, Copy, Debug)]
pub struct DciStreams;

/// The services of dynamic connections: [`Dci`] and [`DciStreams`].
pub trait Initiator: Transport {}
impl Initiator for Dci {}
impl Initiator for DciStreams {}

/// The service of an initiator that has streams: [`DciStreams`].
pub trait Streams: Initiator {}
impl Streams for DciStreams {}

/// The service `T` with WQEs that carry a signature, an XOR of all their bytes, which the device checks: of a queue pair that was made
/// so (PRM "QPC.wq_signature"). A WQE that was damaged on its way to the device completes with an error and is not executed.
///
/// The queues of all other services compute none and pay nothing for that. Here each post pays for reading its WQE once more, in
/// CPU registers where it is composed there. All operations of `T` are there:
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
/// Who makes such queue pairs: `blueflame-devx`, and `verbs` where libmlx5 does, which is in processes with the environment variable
/// `MLX5_QP_SIGNATURE`. Receives that come from a queue of the queue pair's own are signed, too
/// ([`RecvQueue::signed_batch`](crate::queue::RecvQueue::signed_batch)); those of shared ones are not: no public driver computes them.
/// Frames are not [signed](Signable): Linux has no word for that.
#[derive(Clone, Copy, Debug)]
pub struct Signed<T>(PhantomData<T>);

/// A service whose WQEs can be [`Signed`]: all but raw packets, whose send queue is an object that Linux makes without (`sqc.wq`;
/// `drivers/infiniband/hw/mlx5/qp.c`, `create_raw_packet_qp_sq`).
///
/// ```compile_fail,E0277
/// # fn signable<T: blueflame::transport::Signable>() {}
/// signable::<blueflame::transport::RawPacket>();
/// ```
/// ```compile_fail,E0277
/// # fn signable<T: blueflame::transport::Signable>() {}
/// signable::<blueflame::transport::Signed<blueflame::transport::Rc>>(); // once
/// ```
pub trait Signable: Transport {}
impl Signable for Rc {}
impl Signable for Uc {}
impl Signable for XrcInitiator {}
impl Signable for Ud {}
impl Signable for Dci {}
impl Signable for DciStreams {}

impl<T: Signable + Connected> Connected for Signed<T> {}
impl<T: Signable + Receives> Receives for Signed<T> {}
impl<T: Signable + Initiator> Initiator for Signed<T> {}
impl<T: Signable + Streams> Streams for Signed<T> {}

/// Ethernet [frames](crate::wqe::Frame) as they are (`IBV_QPT_RAW_PACKET`). `M` is what the device needs of each: [`InlineL2`], the
/// default, is right for every device.
///
/// Frames are all that its queues send:
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
#[derive(Clone, Copy, Debug)]
pub struct RawPacket<M: InlineMode = InlineL2>(PhantomData<M>);

/// The fewest bytes that a frame's inline headers can be: two MAC addresses, a VLAN tag and the type, whether the frame
/// has a tag or not (rdma-core `providers/mlx5/wqe.h`, `MLX5_ETH_L2_INLINE_HEADER_SIZE`; DPDK
/// `drivers/common/mlx5/mlx5_prm.h`, `MLX5_ESEG_MIN_INLINE_SIZE`).
pub const MIN_INLINE_HEADERS: usize = 18;

/// What a device needs in the Ethernet segment of each frame (PRM "min_wqe_inline_mode"; Linux
/// `include/linux/mlx5/device.h`, `enum mlx5_inline_modes`).
///
/// It is a least: more does no harm. The kernel tells libmlx5, and `mlx5dv` has no way to ask libmlx5; where it is more than
/// [`InlineL2`], an administrator has made it so (`devlink dev eswitch set ... inline-mode`).
///
/// What a frame needs follows from its own headers, as Linux reckons (`drivers/net/ethernet/mellanox/mlx5/core/en_tx.c`,
/// `mlx5e_calc_min_inline`). The compiler checks [`LEAST`](Self::LEAST) only: a frame with VLAN tags, options or IPv6 needs more,
/// and if it has less, its completion says "local QP operation error".
pub trait InlineMode: Sealed + Copy + core::fmt::Debug + 'static {
    /// Bytes of inline headers that this crate asks of every frame: what the shortest packet of the kind needs.
    const LEAST: usize;
    /// Bytes of inline headers that are enough for every frame with one VLAN tag at most and without IP options, extension headers
    /// and TCP options (DPDK `drivers/net/mlx5/mlx5_defs.h`, `MLX5_INLINE_HSIZE_L2` and so on).
    const SUFFICIENT: usize;
}

/// The layer 2 headers: [`MIN_INLINE_HEADERS`] bytes, 4 more for each VLAN tag past the
/// first. ConnectX-4 and ConnectX-4 Lx need it; what libmlx5 assumes when the kernel does not say.
#[derive(Clone, Copy, Debug)]
pub struct InlineL2;

/// The layer 2 headers, and of an IP packet the IP header: what an eSwitch needs that steers by addresses.
#[derive(Clone, Copy, Debug)]
pub struct InlineIp;

/// The layer 2 headers, of an IP packet the IP header, and of a TCP or UDP packet that one, too: what an eSwitch needs that steers
/// by ports.
#[derive(Clone, Copy, Debug)]
pub struct InlineTcpUdp;

/// Nothing: inline headers are optional. So are ConnectX-5 and later by default (DPDK `doc/guides/nics/mlx5.rst`,
/// `txq_inline_min`).
#[derive(Clone, Copy, Debug)]
pub struct InlineNone;

impl Sealed for InlineL2 {}
impl Sealed for InlineIp {}
impl Sealed for InlineTcpUdp {}
impl Sealed for InlineNone {}

/// Bytes of headers: Ethernet, without and with a VLAN tag; IP versions 4 and 6; UDP and TCP. All without options.
const ETHERNET: usize = 14;
const TAGGED: usize = MIN_INLINE_HEADERS;
const IPV4: usize = 20;
const IPV6: usize = 40;
const UDP: usize = 8;
const TCP: usize = 20;

impl InlineMode for InlineNone {
    const LEAST: usize = 0;
    const SUFFICIENT: usize = 0;
}
impl InlineMode for InlineL2 {
    const LEAST: usize = MIN_INLINE_HEADERS;
    const SUFFICIENT: usize = TAGGED;
}
impl InlineMode for InlineIp {
    const LEAST: usize = ETHERNET + IPV4;
    const SUFFICIENT: usize = TAGGED + IPV6;
}
impl InlineMode for InlineTcpUdp {
    const LEAST: usize = ETHERNET + IPV4 + UDP;
    const SUFFICIENT: usize = TAGGED + IPV6 + TCP;
}

impl Sealed for Rc {}
impl Sealed for Uc {}
impl Sealed for Ud {}
impl Sealed for Dci {}
impl Sealed for DciStreams {}
impl Sealed for XrcInitiator {}
impl<M: InlineMode> Sealed for RawPacket<M> {}
impl<T> Sealed for Signed<T> {}
impl Transport for Rc {}
impl Transport for Uc {}
impl Transport for Ud {}
impl Transport for Dci {}
impl Transport for DciStreams {}
impl Transport for XrcInitiator {}
impl<M: InlineMode> Transport for RawPacket<M> {}
impl<T: Signable> Transport for Signed<T> {
    const SIGNS: bool = true;
}

/// The crate relies on what these traits say: nobody else implements them.
mod sealed {
    pub trait Sealed {}
}
