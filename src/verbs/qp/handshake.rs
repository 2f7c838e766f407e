//! The handshake: two sides of a stream tell each other their endpoints, check that they can reach each other, and
//! connect.
//!
//! The stream is any [`Read`] + [`Write`]: a TCP or Unix socket, two pipes of an SSH session, a TLS session. Both sides
//! call the same function; there is no client and no server. The functions set no time limits. Wrap a socket in a
//! [`Deadline`]: then a peer that is silent or slow gives [`Error::Stream`] at that time. Without one, the stream
//! must block: a stream in non-blocking mode fails with `WouldBlock` where it would wait.
//!
//! [`connect_over`](crate::verbs::QueuePair::connect_over) does the whole handshake for a queue pair. For programs that
//! need other actions in between, the steps are available as functions:
//!
//! ```no_run
//! # use std::{error::Error, net::TcpStream};
//! # use blueflame::{Remote, transport, verbs::{Buffer, Path, QueuePair, handshake}};
//! # fn two_sides(pair: &mut QueuePair<transport::Rc>, path: &Path, buffer: &Buffer, mut stream: TcpStream) -> Result<(), Box<dyn Error>> {
//! pair.qp.to_init(path)?;
//! let local = pair.qp.endpoint(path);
//! // Whatever the peer must know besides, up to 208 bytes: here where it may WRITE.
//! let peer = handshake::exchange(&mut stream, &local, &buffer.remote().to_bytes())?;
//! pair.connect(path, &local, &peer.endpoint)?;
//! handshake::ready(&mut stream)?; // from here on the peer takes requests
//! let theirs = Remote::from_bytes(&peer.data)?;
//! # Ok(())
//! # }
//! ```
//!
//! # What goes over the stream
//!
//! Each side writes 264 bytes and then reads 264. Neither side waits for the other to read, because any stream buffers
//! that much. Numbers are big endian.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 8 | `blueflam` |
//! | 8 | 1 | version: 1 |
//! | 9 | 1 | transport: 0 not told, else `ibv_qp_type` |
//! | 10 | 2 | bytes of user data, 0 to 208 |
//! | 12 | 1 | 0, or 1 for "this side failed": the message ends with this header then |
//! | 13 | 3 | zero |
//! | 16 | 40 | the [endpoint](crate::verbs::Endpoint::to_bytes) |
//! | 56 | 208 | user data, then zeros |
//!
//! [`ready`] writes and reads 16 bytes: the header alone, with no transport and no user data.
//!
//! The handshake neither encrypts nor authenticates: a stream that others can reach needs TLS or the like around it.
//! Invalid bytes of a hostile peer give an error, and this side reads at most 264 of them. How long it waits for them is
//! up to the stream: a socket's own time limit (`set_read_timeout`) counts for each read, so a peer that sends single
//! bytes multiplies it.

use std::io::{self, Read, Write};

use blueflame_sys as sys;

use crate::db::Register;
use crate::encoding::{DecodeError, MAGIC, sized, version, zeros};
use crate::queue::owning::Posted;
pub use crate::verbs::connect::deadline::Deadline;
use crate::verbs::device::Mtu;
use crate::verbs::error::in_range;
use crate::verbs::event::event;
use crate::verbs::{Endpoint, Error, Path, Qp, QueuePair, VerbsTransport};

/// The most user data in a handshake, bytes: thirteen [`Remote`](crate::Remote)s.
pub const MAX_DATA: usize = MESSAGE - DATA;

/// The name of a message in error texts.
const WHAT: &str = "handshake";
const VERSION: u8 = 1;
/// Bytes before the endpoint.
const HEADER: usize = 16;
/// Where the user data begins.
const DATA: usize = HEADER + Endpoint::BYTES;
/// Bytes of the whole message.
const MESSAGE: usize = 264;
/// The `ibv_qp_type` field of a side that does not tell its type.
const UNTOLD: u8 = 0;
/// States of a side.
const GOES_ON: u8 = 0;
const FAILED: u8 = 1;

/// The peer's part of the handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Where its queue pair is.
    pub endpoint: Endpoint,
    /// The path MTU in use: the lesser of both sides'.
    pub mtu: Mtu,
    /// Its user data, at most [`MAX_DATA`] bytes. The peer chose them: check them as any input.
    pub data: Vec<u8>,
}

/// Sends `local` and `data` to the peer, and receives the peer's. Connects nothing yet.
///
/// # Errors
/// [`Error::OutOfRange`] for too much user data; [`Error::Stream`], [`Error::OtherProtocol`], [`Error::Decode`],
/// [`Error::PeerFailed`], [`Error::Mismatch`]. Both sides see a mismatch, each with the values of both. After an error,
/// do not use the stream for another handshake.
pub fn exchange<S: Read + Write>(stream: &mut S, local: &Endpoint, data: &[u8]) -> Result<Peer, Error> {
    tell_and_hear(stream, local, &message(local, UNTOLD, data)?, UNTOLD)
}

/// Tells the peer that this side is connected, and waits until the peer is. A side that sends earlier may lose its
/// first messages (UC), or wait for a retry (RC).
///
/// # Errors
/// [`Error::PeerFailed`], [`Error::Stream`], [`Error::OtherProtocol`], [`Error::Decode`]. After an error, do not use
/// the stream for another handshake.
pub fn ready<S: Read + Write>(stream: &mut S) -> Result<(), Error> {
    // A failed peer has sent a message that says so, and may be gone. Report that message rather than the failed write.
    let told = send(stream, &header(UNTOLD, 0, GOES_ON));
    let mut message = [0; HEADER];
    if let Err(error) = stream.read_exact(&mut message) {
        return Err(broken(&told.err().unwrap_or(error)));
    }
    zeros(WHAT, &opened(&message)?[9..12])?;
    told.map_err(|error| broken(&error))
}

/// Tells the peer, in place of [`exchange`] or of [`ready`], that this side failed to connect: the peer's call returns
/// [`Error::PeerFailed`] at once, whether or not the stream is closed.
///
/// # Errors
/// Those of the stream.
pub fn give_up<S: Write>(stream: &mut S) -> io::Result<()> {
    send(stream, &header(UNTOLD, 0, FAILED))
}

/// The error of a stream that failed.
fn broken(error: &io::Error) -> Error {
    Error::Stream { kind: error.kind(), why: error.to_string() }
}

fn send<S: Write>(stream: &mut S, message: &[u8]) -> io::Result<()> {
    stream.write_all(message)?;
    stream.flush()
}

impl<T: VerbsTransport, R: Register, B: Posted> QueuePair<T, R, B> {
    /// Connects the queue pair with the one on the other side of `stream`, where the peer makes the same call. The
    /// queue pair goes to INIT and, after the handshake, to RTR and RTS. The call returns when the peer has come as
    /// far. `data`, at most [`MAX_DATA`] bytes, goes to the peer as well: for example the memory that the peer may
    /// access ([`Remote::to_bytes`](crate::Remote::to_bytes)), or other data of the application.
    ///
    /// The first PSN is random, the path MTU the lesser of both sides'.
    ///
    /// The peer may send as soon as its call returns, so post receives first: call [`Qp::to_init`], which permits that,
    /// post the receives, then call this. To connect several queue pairs over one stream, call this for one after the
    /// other, in the same order on both sides.
    ///
    /// The call waits for the peer as long as the stream does. [`Deadline`] limits the time of a socket.
    ///
    /// # Errors
    /// Those of [`exchange`], [`ready`] and [`connect`](Self::connect). The queue pair may then be in any state:
    /// [reset](Self::reset) it or drop it. Do not use the stream for another handshake.
    pub fn connect_over<S: Read + Write>(&mut self, stream: &mut S, path: &Path, data: &[u8]) -> Result<Peer, Error> {
        self.whole_to_send()?;
        let (qp, types) = (self.qp.clone(), (T::QP_TYPE, T::PEER_TYPE));
        shake_hands(stream, &qp, types, path, data, |local, remote| self.connect(path, local, remote))
    }
}

/// Connects `qp`, of type `types.0`, with one of type `types.1` on the other side, where the peer makes the same call:
/// INIT, the handshake, `connect`. Returns when the peer has come as far.
pub(in crate::verbs) fn shake_hands<S: Read + Write>(
    stream: &mut S,
    qp: &Qp,
    types: (sys::ibv_qp_type, sys::ibv_qp_type),
    path: &Path,
    data: &[u8],
    connect: impl FnOnce(&Endpoint, &Endpoint) -> Result<(), Error>,
) -> Result<Peer, Error> {
    let result = each_step(stream, qp, types, path, data, connect);
    #[cfg(feature = "tracing")]
    if let Err(error) = &result {
        event!(WARN, "handshake failed", qpn = qp.qpn().get(), %error);
    }
    result
}

fn each_step<S: Read + Write>(
    stream: &mut S,
    qp: &Qp,
    (ours, theirs): (sys::ibv_qp_type, sys::ibv_qp_type),
    path: &Path,
    data: &[u8],
    connect: impl FnOnce(&Endpoint, &Endpoint) -> Result<(), Error>,
) -> Result<Peer, Error> {
    let local = qp.endpoint(path);
    let message = message(&local, ours as u8, data);
    let begun = message.and_then(|message| qp.to_init(path).map(|()| message));
    let message = or_give_up(stream, begun)?;
    let heard = tell_and_hear(stream, &local, &message, theirs as u8);
    let peer = or_give_up(stream, heard)?;
    let connected = connect(&local, &peer.endpoint);
    or_give_up(stream, connected)?;
    ready(stream)?;
    event!(DEBUG, "handshake done", qpn = qp.qpn().get(), data_bytes = peer.data.len());
    Ok(peer)
}

/// Tells the peer if this side has failed.
fn or_give_up<S: Write, A>(stream: &mut S, result: Result<A, Error>) -> Result<A, Error> {
    if result.is_err() {
        // This side's error matters more than a failure to tell the peer.
        let _ = give_up(stream);
    }
    result
}

/// Sends `message`, which has the address of `local`, and reads the peer's message, which must have type `wanted`.
fn tell_and_hear<S: Read + Write>(
    stream: &mut S,
    local: &Endpoint,
    message: &[u8; MESSAGE],
    wanted: u8,
) -> Result<Peer, Error> {
    // A peer that has seen a mismatch may be gone: this side sees the same, if it reads before it gives up.
    let told = send(stream, message);
    let (theirs, told) = match (hear(stream), told) {
        (Err(Error::Stream { .. }), Err(error)) => return Err(broken(&error)),
        (theirs, told) => (theirs?, told),
    };
    let transport = message[9];
    let (peer, their_transport) = decode(local, &theirs)?;
    if wanted != UNTOLD && their_transport != UNTOLD && wanted != their_transport {
        let (local, remote) = (transport_name(transport), transport_name(their_transport));
        return Err(Error::Mismatch { what: "transports", local, remote });
    }
    local.check_reach(&peer.endpoint)?;
    told.map_err(|error| broken(&error))?;
    Ok(peer)
}

/// The peer's message. The header is read by itself: another version may have another length.
fn hear<S: Read>(stream: &mut S) -> Result<[u8; MESSAGE], Error> {
    let mut message = [0; MESSAGE];
    let (header, rest) = message.split_at_mut(HEADER);
    stream.read_exact(header).map_err(|error| broken(&error))?;
    opened(header)?;
    stream.read_exact(rest).map_err(|error| broken(&error))?;
    Ok(message)
}

/// The first bytes of every message.
fn header(transport: u8, data_len: u16, state: u8) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(&MAGIC);
    (header[8], header[9]) = (VERSION, transport);
    header[10..12].copy_from_slice(&data_len.to_be_bytes());
    header[12] = state;
    header
}

fn message(local: &Endpoint, transport: u8, data: &[u8]) -> Result<[u8; MESSAGE], Error> {
    let mut bytes = [0; MESSAGE];
    in_range("bytes of user data in a handshake", data.len() as u64, 0..=MAX_DATA as u64)?;
    bytes[DATA..DATA + data.len()].copy_from_slice(data);
    bytes[..HEADER].copy_from_slice(&header(transport, data.len() as u16, GOES_ON));
    bytes[HEADER..DATA].copy_from_slice(&local.to_bytes());
    Ok(bytes)
}

/// A header of this protocol and version, of a peer that has not failed.
fn opened(header: &[u8]) -> Result<[u8; HEADER], Error> {
    let header: [u8; HEADER] = sized(WHAT, header)?;
    let [first @ .., _, _, _, _, _, _, _, _] = header;
    if first != MAGIC {
        return Err(Error::OtherProtocol { first });
    }
    version(WHAT, header[8], VERSION)?;
    zeros(WHAT, &header[13..])?;
    match header[12] {
        GOES_ON => Ok(header),
        FAILED => Err(Error::PeerFailed),
        other => Err(DecodeError::Value { what: WHAT, field: "state", value: other.into() }.into()),
    }
}

/// Decodes a message with a good header: the peer, and its transport.
fn decode(local: &Endpoint, bytes: &[u8; MESSAGE]) -> Result<(Peer, u8), DecodeError> {
    let len = usize::from(u16::from_be_bytes([bytes[10], bytes[11]]));
    let (data, rest) = bytes[DATA..].split_at_checked(len).ok_or(DecodeError::Value {
        what: WHAT,
        field: "length of user data",
        value: len as u64,
    })?;
    zeros(WHAT, rest)?;
    let endpoint = Endpoint::from_bytes(&bytes[HEADER..DATA])?;
    Ok((Peer { endpoint, mtu: endpoint.mtu.min(local.mtu), data: data.to_vec() }, bytes[9]))
}

fn transport_name(raw: u8) -> String {
    match raw.into() {
        sys::IBV_QPT_RC => "RC".into(),
        sys::IBV_QPT_UC => "UC".into(),
        sys::IBV_QPT_XRC_SEND => "XRC initiator".into(),
        sys::IBV_QPT_XRC_RECV => "XRC target".into(),
        other => format!("ibv_qp_type {other}"),
    }
}

#[cfg(test)]
mod tests;
