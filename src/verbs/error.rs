//! Errors of setup.

mod call;

use core::fmt;

pub use call::CallError;

use super::event::event;
use crate::cq::setup::ReceiverError;
use crate::flow::FlowError;
use crate::queue::striding::StridesError;
use crate::types::Qpn;

/// Why setup failed. Each variant names what you asked for and, if there is one, the limit or what to do about it.
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
    /// libmlx5 is not installed where the dynamic loader looks, or is too old to have a function that this crate calls.
    Library {
        /// The file.
        library: &'static str,
        /// The function; `None` if it is the file that is missing.
        symbol: Option<&'static str>,
        /// The dynamic loader's message.
        why: String,
    },
    /// A call into libibverbs or libmlx5 failed.
    Call(CallError),
    /// Two objects are of different devices, or of two opens of one.
    ForeignDevice {
        /// The object that was to be made or used.
        object: &'static str,
        /// The foreign object that the call was given.
        part: &'static str,
    },
    /// Two objects are of different protection domains.
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
    /// The device has no striding receive queues with such strides.
    Strides(StridesError),
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
    /// A queue pair is of another transport than the one it was adopted as.
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
    /// The flow contradicts itself, or asks for what no rule can do.
    Flow(FlowError),
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
    /// The registration to change has other pieces.
    InPieces,
    /// This crate cannot use the parts that libmlx5 handed out. Every call that makes or adopts a queue may return it.
    Parts {
        /// Which object.
        object: &'static str,
        /// The defect.
        why: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDevices => f.write_str(
                "no RDMA device found: is the mlx5_ib module loaded, and is /sys/class/infiniband visible here?",
            ),
            Self::UnknownDevice { name, known } => {
                write!(f, "no RDMA device is called {name:?}; there is {}", known.join(", "))
            }
            Self::NotMlx5 { name } => write!(f, "{name} is not an mlx5 device: libmlx5 does not drive it"),
            Self::Library { library, symbol: None, why } => {
                write!(f, "cannot load {library}: {why}; install rdma-core's drivers (package ibverbs-providers)")
            }
            Self::Library { library, symbol: Some(symbol), why } => {
                write!(f, "there is no {symbol} of {library}: {why}; install a later rdma-core")
            }
            Self::Call(call) => call.fmt(f),
            Self::ForeignDevice { object, part } => {
                write!(f, "the {part} for the {object} is of another device, or of another open of the same device")
            }
            Self::ForeignDomain { object, part } => {
                write!(f, "the {part} for the {object} is of another protection domain")
            }
            Self::NoPort { port, ports } => {
                write!(f, "port {port} does not exist: this device has {ports}, counted from 1")
            }
            Self::OutOfRange { what, value, min, max } => {
                write!(f, "{what}: {value} asked for, ")?;
                if min == max { write!(f, "only {min} possible") } else { write!(f, "{min} to {max} possible") }
            }
            Self::NotPowerOfTwo { what, value } => {
                write!(f, "{what}: {value} asked for, only a power of two possible")
            }
            Self::Strides(error) => error.fmt(f),
            Self::NoStrides { cqn } => write!(
                f,
                "mini-CQEs of completion queue {:#x} do not say which strides they are of: make it with the format \
                 Strided<…>",
                cqn.get()
            ),
            Self::ShortMemory { bytes, wqe_bytes } => {
                write!(f, "{bytes} bytes of memory for WQEs of {wqe_bytes} bytes: one WQE at least")
            }
            Self::CqeCompression { cqe_bytes, has_size: false, .. } => {
                write!(f, "the device does not compress CQEs of {cqe_bytes} bytes: it may compress CQEs of 64 bytes")
            }
            Self::CqeCompression { format, supported, .. } => write!(
                f,
                "the device does not compress CQEs with mini-CQEs of format {format:#x}: it has the formats {supported:#x} \
                 (MLX5DV_CQE_RES_FORMAT_*)"
            ),
            Self::CqeBytes { bytes } => write!(f, "CQEs of {bytes} bytes: a CQE has 64 or 128"),
            Self::PathMtu { bytes } => {
                write!(f, "a path MTU of {bytes} bytes: it must be 256, 512, 1024, 2048 or 4096")
            }
            Self::NoGid { port } => {
                write!(f, "the GID table of port {port} is empty: give its network interface an address")
            }
            Self::EmptyGid { port, index } => write!(
                f,
                "entry {index} of the GID table of port {port} is empty: Device::gids has those in use, Device::path chooses one"
            ),
            Self::PathWithoutGid { port } => write!(
                f,
                "the path from port {port} names no local GID, and on Ethernet there is no address without one: give \
                 Path::new one of Device::gids, for instance Device::default_gid"
            ),
            Self::PortNotActive { port, state } => {
                write!(f, "port {port} carries no data (its state is {state:?}): is its cable in, its interface up?")
            }
            Self::WrongState { is, to } => crate::verbs::qp::state::describe_wrong_state(f, *is, *to),
            Self::ResetElsewhere { qpn } => write!(
                f,
                "queue pair {:#x} was reset by other means than QueuePair::reset: the device would execute the old requests \
                 of its ring again; call QueuePair::reset, then connect",
                qpn.get()
            ),
            Self::WrongTransport { is, wanted } => {
                write!(f, "the queue pair is of type {is}, and was adopted as {wanted}")
            }
            Self::Taken { object, number } => write!(
                f,
                "{object} {number:#x} has a queue of this crate already; drop that one, and its handles, first"
            ),
            Self::MixedUp { object } => write!(f, "the {object} belongs to another queue pair"),
            Self::CqNotGiven { which } => write!(
                f,
                "the completion queue of the {which} was not given, so that completions from before the reset would stay in it"
            ),
            Self::PeerWithoutAddress { link_layer } => match link_layer {
                crate::verbs::device::LinkLayer::Ethernet => {
                    f.write_str("the peer sent no GID, which Ethernet needs: give the peer a GID index")
                }
                crate::verbs::device::LinkLayer::InfiniBand => {
                    f.write_str("the peer sent neither a LID nor a GID: is a subnet manager running?")
                }
            },
            Self::Mismatch { what, local, remote } => write!(
                f,
                "the {what} differ: {local} on this side, {remote} on the peer's, so that no packet would arrive; choose the same on \
                 both sides (Device::path takes a GID index)"
            ),
            Self::NoWayBack { why } => write!(f, "the datagram cannot be answered: {why}"),
            Self::RegisterHandedOutTwice { register } => write!(
                f,
                "the doorbell register at {register:#x} was handed out twice, so it has no single owner; \
                 create the queue pairs with build_shared(), adopt them with adopt_qp_shared()"
            ),
            Self::StaleCompletions { qpn, cqn } => write!(
                f,
                "a new queue pair got the number {:#x} of an earlier one, whose completions in completion queue {:#x} are \
                 unpolled: poll it until it is empty, or let it forget that number",
                qpn.get(),
                cqn.get()
            ),
            Self::Receivers { cqn, error } => {
                write!(f, "completion queue {:#x} cannot serve this receiver: {error}; use a separate one", cqn.get())
            }
            Self::StaleReceives { cqn } => write!(
                f,
                "completion queue {:#x} has unpolled completions of an earlier receiver, and completions of frames have no \
                 numbers: poll it until it is empty, or let it forget receives",
                cqn.get()
            ),
            Self::UnknownInterface { name, known } => {
                write!(f, "no network interface is called {name:?}; there is {}", known.join(", "))
            }
            Self::NoRdma { interface } => write!(
                f,
                "no RDMA device is behind {interface}: is it a port of an mlx5 NIC, and is the mlx5_ib module loaded?"
            ),
            Self::NotEthernet { name, kind } => {
                write!(f, "{name} is no Ethernet interface: its kind is {kind} (linux/if_arp.h)")
            }
            Self::NotMulticast { address } => {
                write!(f, "{address} is no multicast group: groups are 224.0.0.0/4 and ff00::/8")
            }
            Self::Unsupported { what } => {
                write!(f, "{what}: not supported by this device or its driver")
            }
            Self::Flow(error) => error.fmt(f),
            Self::NoFrames { qpn } => {
                write!(f, "queue pair {:#x} receives no frames: make it with RawPacket, and with receives", qpn.get())
            }
            Self::AccessMissing { needs, has } => {
                write!(f, "the registration must permit {needs}, but permits {has}")
            }
            Self::AccessExcess { not } => write!(f, "memory of this kind cannot be registered {not}"),
            Self::InPieces => f.write_str("the registration has other pieces, which the change would also affect"),
            Self::Parts { object, why } => write!(f, "libmlx5 returned a {object} that this crate cannot drive: {why}"),
        }
    }
}

impl core::error::Error for Error {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Call(call) => Some(call),
            Self::Flow(error) => Some(error),
            Self::Receivers { error, .. } => Some(error),
            Self::Strides(error) => Some(error),
            _ => None,
        }
    }
}

impl Error {
    /// The same, but [`Self::Unsupported`] for a call that kernel or driver does not have.
    pub(crate) fn unsupported(self, what: &'static str) -> Self {
        match self {
            Self::Call(CallError { errno: libc::EOPNOTSUPP | libc::EPROTONOSUPPORT | libc::ENOSYS, .. }) => {
                Self::Unsupported { what }
            }
            other => other,
        }
    }
}

impl From<FlowError> for Error {
    fn from(error: FlowError) -> Self {
        Self::Flow(error)
    }
}

impl From<CallError> for Error {
    fn from(error: CallError) -> Self {
        event!(WARN, "call failed", call = error.call, errno = error.errno, %error);
        Self::Call(error)
    }
}

/// The pointer, or the error that `errno` names if the pointer is null.
pub(crate) fn non_null<T>(call: &'static str, pointer: *mut T) -> Result<core::ptr::NonNull<T>, CallError> {
    core::ptr::NonNull::new(pointer).ok_or_else(|| CallError::last(call))
}

/// The failure of a system call that the standard library reports.
pub(crate) fn failed(call: &'static str, error: &std::io::Error) -> CallError {
    CallError { call, errno: error.raw_os_error().unwrap_or(libc::EIO) }
}

/// Success, or the error number a call returned: most return it, some return -1 and set `errno`.
pub(crate) fn zero(call: &'static str, returned: core::ffi::c_int) -> Result<(), CallError> {
    match returned {
        0 => Ok(()),
        negative if negative < 0 => Err(CallError::last(call)),
        errno => Err(CallError { call, errno }),
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

/// Whether a device of so many ports has this one.
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
    fn return_values_become_error_numbers() {
        assert_eq!(zero("call", 0), Ok(()));
        assert_eq!(zero("call", libc::EINVAL), Err(CallError { call: "call", errno: libc::EINVAL }));
        // SAFETY: the C library's errno of this thread.
        unsafe { *libc::__errno_location() = libc::ENOSPC };
        assert_eq!(zero("call", -1), Err(CallError { call: "call", errno: libc::ENOSPC }));
        assert_eq!(non_null::<u8>("call", core::ptr::null_mut()), Err(CallError { call: "call", errno: libc::ENOSPC }));
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
