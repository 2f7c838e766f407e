//! The texts of errors of `verbs`. Each says what to do where that is known.

use core::fmt;
use std::io::ErrorKind;

use super::Error;
use crate::encoding::MAGIC;
use crate::transport::InlineLayers;

/// The headers of a mode.
fn layers(layers: InlineLayers) -> &'static str {
    match layers {
        InlineLayers::None => "no headers",
        InlineLayers::L2 => "the headers of layer 2",
        InlineLayers::Ip => "the headers up to IP",
        InlineLayers::TcpUdp => "the headers up to TCP or UDP",
        InlineLayers::InnerL2 => "the headers up to the inner layer 2",
        InlineLayers::InnerIp => "the headers up to the inner IP",
        InlineLayers::InnerTcpUdp => "the headers up to the inner TCP or UDP",
    }
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
            Self::Library(unavailable) => unavailable.fmt(f),
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
            Self::InlineLayers { has, needs } => {
                write!(f, "frames have {} inline, but the device needs {}: ", layers(*has), layers(*needs))?;
                match needs.bytes() {
                    Some(bytes) => write!(f, "make a RawPacket<{bytes}>"),
                    None => f.write_str("`devlink dev eswitch set … inline-mode` changes that"),
                }
            }
            Self::Setup(error) => error.fmt(f),
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
                "the device does not compress CQEs with mini-CQEs of format {format:#x}: it has the formats \
                 {supported:#x} (MLX5DV_CQE_RES_FORMAT_*)"
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
                "entry {index} of the GID table of port {port} is empty: Device::gids has those in use, Device::path \
                chooses one"
            ),
            Self::PathWithoutGid { port } => write!(
                f,
                "the path from port {port} names no local GID, and on Ethernet there is no address without one: give \
                 Path::new one of Device::gids, for instance Device::default_gid"
            ),
            Self::PortNotActive { port, state } => {
                write!(f, "port {port} carries no data (its state is {state:?}): is its cable in, its interface up?")
            }
            Self::WrongState { is, to } => crate::verbs::state::describe_wrong_state(f, *is, *to),
            Self::ResetElsewhere { qpn } => write!(
                f,
                "queue pair {:#x} was reset by other means than QueuePair::reset: the device would execute the old \
                 requests of its ring again; call QueuePair::reset, then connect",
                qpn.get()
            ),
            Self::StillReceiving { qpn, timeout } => write!(
                f,
                "queue pair {:#x} may still take receives from its shared queue, {timeout:?} after it went to the error \
                 state: no event said otherwise, so do not drop it yet",
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
                "the completion queue of the {which} was not given, so that completions from before the reset would \
                stay in it"
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
                "the {what} differ: {local} on this side, {remote} on the peer's, so that no packet would arrive; \
                 choose the same on both sides (Device::path takes a GID index)"
            ),
            Self::Stream { kind: ErrorKind::UnexpectedEof, .. } => {
                f.write_str("the peer closed the stream during the handshake")
            }
            // The errors of a socket's time limit, on Linux and elsewhere.
            Self::Stream { kind: ErrorKind::WouldBlock | ErrorKind::TimedOut, .. } => {
                f.write_str("the peer did not finish the handshake within the stream's time limit")
            }
            Self::Stream { why, .. } => write!(f, "the stream of the handshake failed: {why}"),
            Self::OtherProtocol { first } => write!(
                f,
                "the peer speaks another protocol: it began with \"{}\", a handshake begins with \"{}\"",
                first.escape_ascii(),
                MAGIC.escape_ascii()
            ),
            Self::Decode(error) => error.fmt(f),
            Self::PeerFailed => f.write_str("the peer failed to connect its queue pair; its own error says why"),
            Self::NoWayBack { why } => write!(f, "the datagram cannot be answered: {why}"),
            Self::RegisterHandedOutTwice { register } => write!(
                f,
                "the doorbell register at {register:#x} was handed out twice, so it has no single owner; \
                 create the queue pairs with build_shared(), adopt them with adopt_qp_shared()"
            ),
            Self::StaleCompletions { qpn, cqn } => write!(
                f,
                "a new queue pair got the number {:#x} of an earlier one, whose completions in completion queue {:#x} \
                 are unpolled: poll it until it is empty, or let it forget that number",
                qpn.get(),
                cqn.get()
            ),
            Self::Receivers { cqn, error } => {
                write!(f, "completion queue {:#x} cannot serve this receiver: {error}; use a separate one", cqn.get())
            }
            Self::CqRoom { cqn, error } => write!(
                f,
                "completion queue {:#x} has {error}; make it larger, or oversubscribe it if fewer ever wait",
                cqn.get()
            ),
            Self::StaleReceives { cqn } => write!(
                f,
                "completion queue {:#x} has unpolled completions of an earlier receiver, and completions of frames \
                 have no numbers: poll it until it is empty, or let it forget receives",
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
            Self::NoFrames { qpn } => {
                write!(f, "queue pair {:#x} receives no frames: make it with RawPacket, and with receives", qpn.get())
            }
            Self::AccessMissing { needs, has } => {
                write!(f, "the registration must permit {needs}, but permits {has}")
            }
            Self::AccessExcess { not } => write!(f, "memory of this kind cannot be registered {not}"),
            Self::PeersMayWrite { access } => {
                write!(f, "memory registered {access} cannot be borrowed, because peers may write it: copy it")
            }
            Self::ClockUpdating { attempts } => {
                write!(f, "the clock page was being written during each of {attempts} reads: try again")
            }
            Self::NoRealTime => f.write_str(
                "the device shows no real time: it has none, or the firmware's setting REAL_TIME_CLOCK_ENABLE is off",
            ),
            Self::EitherClock => f.write_str(
                "timestamps of this completion queue may be cycles or real time: make it with free_running(true) or \
                 real_time(true)",
            ),
            Self::ClockStopped { value } => write!(f, "the device's clock stays at {value:#x}"),
            Self::TcpState { state } => {
                write!(f, "the TCP session is in state {state}, and must be established (1)")
            }
            Self::TcpUnsent { bytes } => write!(f, "the kernel has {bytes} bytes of the session to send first"),
            Self::TcpMoved { segment, session } => write!(
                f,
                "the segment begins at sequence number {segment}, the session goes on at {session}: the socket has \
                 sent data of its own"
            ),
            Self::TcpTaken { taken, payload } => {
                write!(f, "the kernel has taken {taken} of {payload} bytes: raise SO_SNDBUF")
            }
            Self::TcpOptions { bytes } => write!(
                f,
                "the session has timestamps, which take 12 bytes of options, and the packet has {bytes}: use Tcp4<12>"
            ),
            Self::InPieces => f.write_str("the registration has other pieces, which the change would also affect"),
            Self::AllInUse { what, used, wanted, limit } => write!(
                f,
                "the registration cache has {used} {what} in use, so {wanted} more exceed its limit of {limit}: drop \
                 regions whose requests have completed, or raise the limit"
            ),
            Self::Parts { object, why } => write!(f, "libmlx5 returned a {object} that this crate cannot drive: {why}"),
        }
    }
}
