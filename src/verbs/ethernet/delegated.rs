//! TCP sessions of the kernel whose next segment leaves by a send queue.
//!
//! The kernel has a *repair mode* for sockets, made to move connections between machines (CRIU). In this mode a socket
//! tells its sequence numbers, and takes data as already sent (Linux: `net/ipv4/tcp.c`, `do_tcp_setsockopt`;
//! `net/ipv4/tcp_output.c`, `tcp_write_xmit`). This is all that a delegated send needs.

use core::ffi::c_int;
use core::mem::size_of;
use std::os::fd::{AsFd, AsRawFd};

use crate::packet::{Kind, Packet};
use crate::verbs::error::zero;
use crate::verbs::{CallError, Error};

/// `enum tcp_state` (`include/net/tcp_states.h`).
const ESTABLISHED: u8 = 1;
/// `tcpi_options`: both ends send timestamps.
const TIMESTAMPS: u8 = 1;
/// `TCP_REPAIR` with this value ends the mode without a probe of the window (`TCP_REPAIR_OFF_NO_WP`).
const OFF: c_int = -1;
/// `TCP_REPAIR_QUEUE`: received data, and data to send.
const RECEIVED: c_int = 1;
const SENT: c_int = 2;
/// `TCP_REPAIR_WINDOW`: the state of the windows (`struct tcp_repair_window`).
const REPAIR_WINDOW: c_int = 29;
/// `ACK` and `PSH`.
const FLAGS: u8 = 0x18;

/// `struct tcp_repair_window` (`include/uapi/linux/tcp.h`).
#[derive(Clone, Copy, Default)]
#[repr(C)]
struct Windows {
    snd_wl1: u32,
    snd_wnd: u32,
    max_window: u32,
    rcv_wnd: u32,
    rcv_wup: u32,
}

/// A TCP session of the kernel. The program sends some of its segments as frames, and tells the kernel.
///
/// The kernel does the rest: acknowledgements, retransmission, received data, ordinary writes. If a frame is lost, the
/// kernel sends its data again.
///
/// Between two shots, [`next`](Self::next) tells the numbers of the next segment. After the shot, [`sent`](Self::sent)
/// tells the kernel. Each takes some system calls, none of them between the signal and the doorbell. The socket must
/// not send anything by itself between the two.
///
/// Needs `CAP_NET_ADMIN`, and a send queue whose frames leave by the interface of the session.
///
/// ```no_run
/// use blueflame::packet::{Host, Packet, Tcp4};
/// use blueflame::verbs::ethernet::DelegatedTcp;
///
/// # fn shoot(_: &[u8]) {}
/// # fn run(here: Host<std::net::SocketAddrV4>, venue: Host<std::net::SocketAddrV4>) -> Result<(), Box<dyn std::error::Error>> {
/// let mut session = DelegatedTcp::new(std::net::TcpStream::connect(venue.socket)?)?;
/// // Both ends send timestamps, as Linux does: 12 bytes of options.
/// let mut order = Packet::<Tcp4<12>, 98>::new(&here, &venue);
/// let segment = session.next()?;
/// segment.put(&mut order, segment.timestamp_option())?;
/// order.set_payload(b"BUY 100 @ 17.25 ")?;
/// shoot(order.as_bytes()); // the signal
/// session.sent(&segment, order.payload())?;
/// # Ok(())
/// # }
/// ```
#[doc(alias("TCP_REPAIR", "onload_delegated_send_prepare"))]
#[derive(Debug)]
pub struct DelegatedTcp<S> {
    socket: S,
}

/// The numbers of the next segment of a [`DelegatedTcp`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The sequence number of the first byte.
    pub sequence: u32,
    /// The next byte that the session expects of the peer.
    pub acknowledgement: u32,
    /// The window field of the header, in units of the session's scale.
    pub window: u16,
    /// The time of the session's clock, if both ends send timestamps.
    pub timestamp: Option<u32>,
    /// Bytes of payload that the peer has room for.
    pub room: u32,
    /// Bytes of payload that a segment may have.
    pub max_payload: u32,
}

impl Segment {
    /// The option with the timestamp, behind two bytes of padding (RFC 7323, appendix A). It echoes no time of the
    /// peer: the kernel does not tell it, and zero means none. Without timestamps, padding only.
    #[must_use]
    pub fn timestamp_option(&self) -> [u8; 12] {
        const NOP: u8 = 1;
        const KIND: u8 = 8;
        const LENGTH: u8 = 10;
        let Some(time) = self.timestamp else { return [NOP; 12] };
        let [a, b, c, d] = time.to_be_bytes();
        [NOP, NOP, KIND, LENGTH, a, b, c, d, 0, 0, 0, 0]
    }

    /// Puts the numbers and `options` into a packet. Its payload is yours.
    ///
    /// # Errors
    /// [`Error::TcpOptions`] for a packet with fewer than 12 bytes of options, if the session has timestamps.
    pub fn put<K: Kind, const N: usize>(&self, packet: &mut Packet<K, N>, options: K::Options) -> Result<(), Error> {
        if self.timestamp.is_some() && size_of::<K::Options>() < self.timestamp_option().len() {
            return Err(Error::TcpOptions { bytes: size_of::<K::Options>() });
        }
        packet.set_sequence(self.sequence);
        packet.set_acknowledgement(self.acknowledgement);
        packet.set_flags(FLAGS);
        packet.set_window(self.window);
        packet.set_options(&options);
        Ok(())
    }
}

impl<S: AsFd> DelegatedTcp<S> {
    /// A session by its socket (`std::net::TcpStream`, or a reference to one).
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub fn new(socket: S) -> Result<Self, Error> {
        let mut session = Self { socket };
        session.next()?;
        Ok(session)
    }

    /// The socket, for all other uses.
    pub fn socket(&self) -> &S {
        &self.socket
    }

    /// The numbers of the next segment.
    ///
    /// # Errors
    /// [`Error::TcpState`], [`Error::TcpUnsent`], or a failed call: `TCP_REPAIR` needs `CAP_NET_ADMIN`.
    #[expect(clippy::should_implement_trait, reason = "the session is no iterator: it asks the kernel")]
    pub fn next(&mut self) -> Result<Segment, Error> {
        // SAFETY: integers.
        let info: libc::tcp_info = unsafe { self.get("TCP_INFO", libc::TCP_INFO) }?;
        if info.tcpi_state != ESTABLISHED {
            return Err(Error::TcpState { state: info.tcpi_state });
        }
        let unsent = self.queued("SIOCOUTQNSD", libc::SIOCOUTQNSD)?;
        if unsent != 0 {
            return Err(Error::TcpUnsent { bytes: unsent });
        }
        let unacknowledged = self.queued("SIOCOUTQ", libc::TIOCOUTQ)?;
        // Bit fields of four bits: C puts the first one, `tcpi_snd_wscale`, at the end that the byte order begins with.
        let scale =
            if cfg!(target_endian = "little") { info.tcpi_snd_rcv_wscale >> 4 } else { info.tcpi_snd_rcv_wscale & 15 };
        self.repaired(|session| {
            // SAFETY: an integer.
            let timestamp: u32 = unsafe { session.get("TCP_TIMESTAMP", libc::TCP_TIMESTAMP) }?;
            // SAFETY: integers.
            let windows: Windows = unsafe { session.get("TCP_REPAIR_WINDOW", REPAIR_WINDOW) }?;
            Ok(Segment {
                sequence: session.number(SENT)?,
                acknowledgement: session.number(RECEIVED)?,
                window: u16::try_from(windows.rcv_wnd >> scale).unwrap_or(u16::MAX),
                timestamp: (info.tcpi_options & TIMESTAMPS != 0).then_some(timestamp),
                room: windows.snd_wnd.saturating_sub(unacknowledged),
                max_payload: info.tcpi_snd_mss,
            })
        })
    }

    /// Tells the kernel that `segment` has left with this payload.
    ///
    /// The kernel waits for the peer's acknowledgement, and sends the payload again if none comes.
    ///
    /// # Errors
    /// [`Error::TcpMoved`], and the kernel has taken nothing; [`Error::TcpTaken`]; or a failed call.
    pub fn sent(&mut self, segment: &Segment, payload: &[u8]) -> Result<(), Error> {
        self.repaired(|session| {
            let next = session.number(SENT)?;
            if next != segment.sequence {
                return Err(Error::TcpMoved { segment: segment.sequence, session: next });
            }
            let (socket, flags) = (session.socket.as_fd().as_raw_fd(), libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL);
            // SAFETY: the kernel reads the payload.
            let taken = unsafe { libc::send(socket, payload.as_ptr().cast(), payload.len(), flags) };
            match usize::try_from(taken) {
                Ok(taken) if taken == payload.len() => Ok(()),
                Ok(taken) => Err(Error::TcpTaken { taken, payload: payload.len() }),
                Err(_) => Err(CallError::last("send").into()),
            }
        })
    }

    /// Runs `f` in the repair mode.
    fn repaired<R>(&mut self, f: impl FnOnce(&mut Self) -> Result<R, Error>) -> Result<R, Error> {
        self.set("TCP_REPAIR", libc::TCP_REPAIR, 1)?;
        let result = f(self);
        // The mode ends after an error as well: a socket in this mode sends nothing.
        self.set("TCP_REPAIR", libc::TCP_REPAIR, OFF)?;
        result
    }

    /// The sequence number behind a queue, in the repair mode. The queue stays chosen.
    fn number(&self, queue: c_int) -> Result<u32, CallError> {
        self.set("TCP_REPAIR_QUEUE", libc::TCP_REPAIR_QUEUE, queue)?;
        // SAFETY: an integer.
        unsafe { self.get("TCP_QUEUE_SEQ", libc::TCP_QUEUE_SEQ) }
    }

    fn set(&self, call: &'static str, option: c_int, value: c_int) -> Result<(), CallError> {
        let socket = self.socket.as_fd().as_raw_fd();
        // SAFETY: the kernel reads the value.
        zero(call, unsafe {
            libc::setsockopt(socket, libc::IPPROTO_TCP, option, (&raw const value).cast(), size_of::<c_int>() as u32)
        })
    }

    /// An option of plain integers.
    ///
    /// # Safety
    /// Any bytes are a value of type `V`.
    unsafe fn get<V>(&self, call: &'static str, option: c_int) -> Result<V, CallError> {
        let socket = self.socket.as_fd().as_raw_fd();
        // SAFETY: the caller promises that zero is a value.
        let mut value: V = unsafe { core::mem::zeroed() };
        let mut length = size_of::<V>() as libc::socklen_t;
        // SAFETY: the kernel writes at most `length` bytes, and the caller promises that any bytes are a value.
        zero(call, unsafe {
            libc::getsockopt(socket, libc::IPPROTO_TCP, option, (&raw mut value).cast(), &raw mut length)
        })?;
        Ok(value)
    }

    /// Bytes of one of the socket's counts.
    fn queued(&self, call: &'static str, request: libc::Ioctl) -> Result<u32, CallError> {
        let (socket, mut bytes): (_, c_int) = (self.socket.as_fd().as_raw_fd(), 0);
        // SAFETY: the kernel writes one integer.
        zero(call, unsafe { libc::ioctl(socket, request, &raw mut bytes) })?;
        Ok(u32::try_from(bytes).unwrap_or(0))
    }
}
