//! Errors of calls of `verbs`.

mod call;
mod text;

use blueflame_sys as sys;

use super::event::event;
use crate::cq::setup::{ReceiverError, RoomError};
use crate::encoding::DecodeError;
use crate::setup::SetupError;
use crate::transport::InlineLayers;
use crate::types::Qpn;
pub use call::CallError;
pub(crate) use call::{failed, non_null, zero};

/// Why a call of `verbs` failed. Each variant names what you asked for and, if there is one, the limit or what to do
/// about it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The machine has no RDMA device, or libibverbs has no driver for it.
    NoDevices,
    /// No device has this name.
    UnknownDevice {
        /// The requested name.
        name: String,
        /// The devices that the machine has.
        known: Vec<String>,
    },
    /// The device is driven by a library other than libmlx5.
    NotMlx5 {
        /// The device.
        name: String,
    },
    /// libibverbs or libmlx5 is not where the dynamic loader looks, or lacks a function that this crate calls.
    Library(&'static sys::Unavailable),
    /// A call into libibverbs or libmlx5 failed.
    Call(CallError),
    /// Two objects belong to different devices, or to two opens of one.
    ForeignDevice {
        /// The object that was to be made or used.
        object: &'static str,
        /// The foreign object that the call was given.
        part: &'static str,
    },
    /// Two objects belong to different protection domains.
    ForeignDomain {
        /// The object that was to be made or used.
        object: &'static str,
        /// The foreign object that the call was given.
        part: &'static str,
    },
    /// The device has no such port.
    NoPort {
        /// The port asked for.
        port: u8,
        /// How many ports the device has; the first is 1.
        ports: u8,
    },
    /// A number is out of range.
    OutOfRange {
        /// The meaning of the number.
        what: &'static str,
        /// The requested value.
        value: u64,
        /// The least allowed.
        min: u64,
        /// The most allowed.
        max: u64,
    },
    /// A number must be a power of two.
    NotPowerOfTwo {
        /// The meaning of the number.
        what: &'static str,
        /// The requested value.
        value: u64,
    },
    /// Frames of the queue pair have fewer headers inline than the device needs: make it of another
    /// [`RawPacket`](crate::transport::RawPacket).
    InlineLayers {
        /// The headers that its frames have inline.
        has: InlineLayers,
        /// The headers that the device needs ([`inline_layers`](crate::verbs::Device::inline_layers)).
        needs: InlineLayers,
    },
    /// The strides of a receive queue or a flow are invalid, or the device does not support them.
    Setup(SetupError),
    /// A striding receive queue completes to a queue whose compressed completions do not say which strides they are of:
    /// make that queue with the format [`Strided`](crate::cq::compressed::Strided).
    NoStrides {
        /// The completion queue.
        cqn: crate::types::Cqn,
    },
    /// Memory for a striding receive queue is shorter than a WQE's strides.
    ShortMemory {
        /// Bytes of the memory.
        bytes: usize,
        /// Bytes of a WQE.
        wqe_bytes: u32,
    },
    /// CQEs have 64 or 128 bytes.
    CqeBytes {
        /// The requested size.
        bytes: u16,
    },
    /// The device does not compress completions in this format or CQE size.
    CqeCompression {
        /// The format asked for (`MLX5DV_CQE_RES_FORMAT_*`).
        format: u8,
        /// The formats that the device has, one bit each; 0: it compresses none.
        supported: u32,
        /// The size of CQEs asked for.
        cqe_bytes: u16,
        /// Whether it compresses completions in CQEs of that size.
        has_size: bool,
    },
    /// Path MTUs have 256, 512, 1024, 2048 or 4096 bytes.
    PathMtu {
        /// The requested size.
        bytes: u32,
    },
    /// The port's GID table is empty, and on Ethernet there is no address without a GID.
    NoGid {
        /// The port, from 1.
        port: u8,
    },
    /// The GID table has nothing at this index.
    EmptyGid {
        /// The port, from 1.
        port: u8,
        /// The index.
        index: u8,
    },
    /// The path names no local GID, and on Ethernet there is no address without one.
    PathWithoutGid {
        /// The port, from 1.
        port: u8,
    },
    /// The port carries no data.
    PortNotActive {
        /// The port, from 1.
        port: u8,
        /// Its state.
        state: crate::verbs::device::PortState,
    },
    /// The queue pair does not go from one state to the other.
    WrongState {
        /// The state it is in.
        is: super::QpState,
        /// The state it was to go to.
        to: super::QpState,
    },
    /// The queue pair was reset by other means than this crate: the device starts again at index 0, the queue here does
    /// not. Only [`QueuePair::reset`](super::QueuePair::reset) brings both together.
    ResetElsewhere {
        /// The queue pair.
        qpn: Qpn,
    },
    /// A queue pair in the error state may still take receives from its shared queue: no event said otherwise. Do not
    /// drop it yet, or those receives never become free again.
    StillReceiving {
        /// The queue pair.
        qpn: Qpn,
        /// How long the call waited for the event.
        timeout: std::time::Duration,
    },
    /// A queue pair has another transport than the one it was adopted as.
    WrongTransport {
        /// The transport that it has.
        is: String,
        /// The transport that it was adopted as.
        wanted: &'static str,
    },
    /// A queue of this crate drives the object already.
    Taken {
        /// Which object.
        object: &'static str,
        /// Its number.
        number: u32,
    },
    /// A queue does not belong to its handle: safe code can exchange the queues of two handles.
    MixedUp {
        /// Which queue.
        object: &'static str,
    },
    /// A queue pair is to be reset, but the call lacks a completion queue of this crate in which its completions may
    /// wait.
    CqNotGiven {
        /// Which one: where its sends complete, or its receives.
        which: &'static str,
    },
    /// The peer gave neither a GID nor a LID that this port could reach it by.
    PeerWithoutAddress {
        /// The port's link layer.
        link_layer: crate::verbs::device::LinkLayer,
    },
    /// The two sides are set up so that no packet of one reaches the other.
    Mismatch {
        /// What differs.
        what: &'static str,
        /// This side's value.
        local: String,
        /// The peer's value.
        remote: String,
    },
    /// The stream of a [handshake](super::handshake) failed, ended, or reached its time limit: its own, or that of a
    /// [`Deadline`](super::handshake::Deadline).
    Stream {
        /// The kind of the failure. `UnexpectedEof`: the peer closed the stream.
        kind: std::io::ErrorKind,
        /// The system's message.
        why: String,
    },
    /// The peer of a [handshake](super::handshake) speaks another protocol.
    OtherProtocol {
        /// The first bytes it sent.
        first: [u8; 8],
    },
    /// The message of a [handshake](super::handshake) has another version, or is invalid.
    Decode(DecodeError),
    /// The peer of a [handshake](super::handshake) reports that it failed to connect. The peer's own error says why.
    PeerFailed,
    /// A received datagram does not tell how to answer it ([`Path::route_back`](super::Path::route_back)).
    NoWayBack {
        /// Why.
        why: String,
    },
    /// Two queue pairs were given the same register with BlueFlame, though each was created in a thread domain of its
    /// own. Using it for both would silently corrupt requests; see [`super::QpBuilder::build_shared`].
    RegisterHandedOutTwice {
        /// Address of the register.
        register: usize,
    },
    /// New queue pairs got the numbers of earlier queue pairs with unpolled completions. These would pass for
    /// completions of the new queue pairs. Poll the completion queue until it is empty, or call
    /// [`forget`](crate::CompletionQueue::forget) on it.
    StaleCompletions {
        /// The number of one of them.
        qpn: crate::types::Qpn,
        /// The completion queue.
        cqn: crate::types::Cqn,
    },
    /// A receiver of frames must be the only receiver of its completion queue. Here, a receiver of frames is to be made
    /// where others receive, or another receiver where a receiver of frames is. Give it a completion queue of its own.
    Receivers {
        /// The completion queue.
        cqn: crate::types::Cqn,
        /// How many receive there, and which of them receives frames.
        error: ReceiverError,
    },
    /// A completion queue is too small for the queues that are to complete there: it would overrun, and be lost with
    /// all of them. Make it larger, or [oversubscribe](super::Cq::oversubscribe) it.
    CqRoom {
        /// The completion queue.
        cqn: crate::types::Cqn,
        /// How many completions fit, and how many may wait.
        error: RoomError,
    },
    /// The completion queue of a new receiver of frames holds unpolled completions of an earlier receiver. They would
    /// pass for completions of the new receiver, because completions of frames have no number. Poll the queue until it
    /// is empty, or call [`forget`](crate::CompletionQueue::forget) with
    /// [`Whose::Receives`](crate::cq::setup::Whose::Receives) on it.
    StaleReceives {
        /// The completion queue.
        cqn: crate::types::Cqn,
    },
    /// No network interface has this name.
    UnknownInterface {
        /// The requested name.
        name: String,
        /// The interfaces that the machine has.
        known: Vec<String>,
    },
    /// No RDMA device is behind the network interface.
    NoRdma {
        /// The interface.
        interface: String,
    },
    /// The network interface has no MAC address.
    NotEthernet {
        /// The interface.
        name: String,
        /// Its kind, a number of `linux/if_arp.h`.
        kind: u16,
    },
    /// The address is no multicast group's.
    NotMulticast {
        /// The address.
        address: std::net::IpAddr,
    },
    /// The device, its kernel driver or libmlx5 does not support it. The capabilities say so, or a call failed that
    /// fails for this reason alone.
    Unsupported {
        /// The unsupported feature or operation.
        what: &'static str,
    },
    /// A flow rule for an object that receives no frames: a queue pair of another transport, or without receives.
    NoFrames {
        /// The number of the queue pair.
        qpn: Qpn,
    },
    /// A registration lacks a right that the use needs.
    AccessMissing {
        /// The rights that it must permit.
        needs: super::Access,
        /// The rights that it permits.
        has: super::Access,
    },
    /// A registration asked for rights that this memory does not support.
    AccessExcess {
        /// The unsupported rights.
        not: super::Access,
    },
    /// Peers may write the memory at any time, so it can be copied, and not borrowed.
    PeersMayWrite {
        /// The rights of the registration.
        access: super::Access,
    },
    /// The kernel was writing the clock's page at each read. Try again: the kernel writes it once in many seconds.
    ClockUpdating {
        /// How many times the page was read.
        attempts: u32,
    },
    /// The device has no real time, or it is off.
    NoRealTime,
    /// Timestamps of the completion queue may come from either clock: it was made without a choice, or by other code,
    /// and the device has both. Make it with [`free_running`](super::CqBuilder::free_running) or
    /// [`real_time`](super::CqBuilder::real_time).
    EitherClock,
    /// The device's clock did not move while it was read.
    ClockStopped {
        /// Its value.
        value: u64,
    },
    /// The TCP session to delegate is not established.
    TcpState {
        /// The state, of `enum tcp_state` (Linux `include/net/tcp_states.h`): 1 is "established".
        state: u8,
    },
    /// The kernel still has data of the TCP session to send. The next segment is the kernel's.
    TcpUnsent {
        /// Bytes.
        bytes: u32,
    },
    /// The socket has sent data of its own since [`DelegatedTcp::next`](super::ethernet::DelegatedTcp::next). The
    /// delegated segment has the numbers of other bytes: close the session.
    TcpMoved {
        /// The segment's sequence number.
        segment: u32,
        /// The session's.
        session: u32,
    },
    /// The kernel has taken a part of a segment's payload, because the socket's buffer is full (`SO_SNDBUF`). Close the
    /// session.
    TcpTaken {
        /// Bytes taken.
        taken: usize,
        /// Bytes of the payload.
        payload: usize,
    },
    /// The TCP session has timestamps, and the packet no room for them.
    TcpOptions {
        /// Bytes of the packet's options; 12 are needed.
        bytes: usize,
    },
    /// The registration to change has other pieces.
    InPieces,
    /// A registration cache is full, and each of its regions is in use. Room comes when a request has completed and its
    /// region is dropped.
    AllInUse {
        /// Which limit is reached: "regions" or "bytes".
        what: &'static str,
        /// How many the cache has.
        used: u64,
        /// How many more were needed.
        wanted: u64,
        /// How many it may have.
        limit: u64,
    },
    /// This crate cannot use the parts that libmlx5 handed out. Every call that makes or adopts a queue may return it.
    Parts {
        /// Which object.
        object: &'static str,
        /// The defect.
        why: String,
    },
}

impl core::error::Error for Error {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Call(call) => Some(call),
            Self::Receivers { error, .. } => Some(error),
            Self::CqRoom { error, .. } => Some(error),
            Self::Decode(error) => Some(error),
            Self::Setup(error) => Some(error),
            _ => None,
        }
    }
}

impl Error {
    /// Replaces the error by [`Self::Unsupported`] for a call that kernel or driver does not have.
    pub(crate) fn unsupported(self, what: &'static str) -> Self {
        match self {
            Self::Call(CallError { errno: libc::EOPNOTSUPP | libc::EPROTONOSUPPORT | libc::ENOSYS, .. }) => {
                Self::Unsupported { what }
            }
            other => other,
        }
    }
}

impl From<SetupError> for Error {
    fn from(error: SetupError) -> Self {
        Self::Setup(error)
    }
}

impl From<DecodeError> for Error {
    fn from(error: DecodeError) -> Self {
        Self::Decode(error)
    }
}

impl From<&'static sys::Unavailable> for Error {
    fn from(unavailable: &'static sys::Unavailable) -> Self {
        Self::Library(unavailable)
    }
}

impl From<CallError> for Error {
    fn from(error: CallError) -> Self {
        event!(WARN, "call failed", call = error.call, errno = error.errno, %error);
        Self::Call(error)
    }
}

/// Whether `value` lies in `range`.
pub(crate) fn in_range(what: &'static str, value: u64, range: core::ops::RangeInclusive<u64>) -> Result<(), Error> {
    if range.contains(&value) {
        Ok(())
    } else {
        Err(Error::OutOfRange { what, value, min: *range.start(), max: *range.end() })
    }
}

/// Returns an error unless a device of `ports` ports has the port `port`.
pub(crate) fn has_port(port: u8, ports: u8) -> Result<(), Error> {
    if (1..=ports).contains(&port) { Ok(()) } else { Err(Error::NoPort { port, ports }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_said_as_one_would() {
        let text = |error: Error| error.to_string();
        assert_eq!(has_port(1, 1), Ok(()));
        let error = has_port(2, 1).expect_err("one port");
        assert_eq!(text(error), "port 2 does not exist: this device has 1, counted from 1");
        assert_eq!(has_port(0, 2), Err(Error::NoPort { port: 0, ports: 2 }));
        let error = in_range("bytes inline", 5000, 0..=828).expect_err("too many");
        assert_eq!(text(error), "bytes inline: 5000 asked for, 0 to 828 possible");
        let error = in_range("offset in device memory modulo 4", 2, 0..=0).expect_err("not a word");
        assert_eq!(text(error), "offset in device memory modulo 4: 2 asked for, only 0 possible");
    }

    #[test]
    fn messages_name_the_call_and_the_way_out() {
        let text = Error::from(CallError { call: "ibv_reg_mr_iova2", errno: libc::ENOMEM }).to_string();
        assert!(text.starts_with("ibv_reg_mr_iova2 failed: ") && text.contains("ulimit -l"), "{text}");
        let text = Error::from(CallError { call: "ibv_dealloc_pd", errno: libc::EIO }).to_string();
        assert!(!text.contains(';'), "no hint where there is none: {text}");
        let unknown = Error::UnknownDevice { name: "mlx4_0".into(), known: vec!["mlx5_0".into(), "mlx5_1".into()] };
        assert!(unknown.to_string().ends_with("there is mlx5_0, mlx5_1"), "{unknown}");
    }
}
