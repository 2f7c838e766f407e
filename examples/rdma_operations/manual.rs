//! The TCP exchange of `RDMA_RC_example` (Mellanox, *RDMA Aware Networks Programming User Manual*, "Programming
//! Examples Using IBV Verbs"): its `struct cm_con_data_t`, packed and big endian, then one byte at each step
//! (`sock_sync_data`).
//!
//! Both sides use PSN 0 and a path MTU of 256 bytes; neither is exchanged. No length is exchanged: each request of a
//! side has the same size, which is also the size of its registered memory. It is 21 bytes in the manual, and 16 in
//! copies that lost the spaces at the end of the first text. So this server SENDs 16 bytes, and this client takes the
//! size from the SEND.

use std::io::{Read, Write};

use blueflame::types::{Psn, Qpn, Rkey};
use blueflame::verbs::device::Gid;
use blueflame::verbs::{Endpoint, Path, QueuePair};
use blueflame::{Remote, transport};
use common::Failure;

/// Bytes of a SEND that every copy of the program has room for.
pub(crate) const MESSAGE: usize = 16;

/// The path MTU of both sides, bytes.
pub(crate) const MTU: u32 = 256;

/// Bytes of `struct cm_con_data_t`: address, R_Key, QP number, LID, GID.
const EXCHANGE: usize = 8 + 4 + 4 + 2 + 16;

/// Connects the queue pair, and tells the peer where `memory` is. Returns the peer's memory, once both sides take requests.
pub(crate) fn connect(
    stream: &mut (impl Read + Write),
    pair: &mut QueuePair<transport::Rc>,
    path: &Path,
    memory: Remote,
) -> Result<Remote, Failure> {
    let local = pair.qp.endpoint_with(path, Psn::truncate(0));
    stream.write_all(&to_message(&local, memory))?;
    let mut message = [0; EXCHANGE];
    stream.read_exact(&mut message).map_err(|error| format!("the peer did not tell where it is: {error}"))?;
    let (remote, target) = from_message(&message, &local)?;
    pair.connect(path, &local, &remote)?;
    step(stream, b'Q')?;
    Ok(target)
}

/// Sends a byte and waits for the peer's byte: then both sides have reached the same step. Like `RDMA_RC_example`, it
/// ignores the value.
pub(crate) fn step(stream: &mut (impl Read + Write), name: u8) -> Result<(), Failure> {
    stream.write_all(&[name])?;
    let mut answer = [0];
    stream
        .read_exact(&mut answer)
        .map_err(|error| format!("the peer did not come to step {:?}: {error}", char::from(name)).into())
}

fn to_message(endpoint: &Endpoint, memory: Remote) -> [u8; EXCHANGE] {
    let mut message = [0; EXCHANGE];
    message[..8].copy_from_slice(&memory.addr.to_be_bytes());
    message[8..12].copy_from_slice(&memory.rkey.0.to_be_bytes());
    message[12..16].copy_from_slice(&endpoint.qpn.get().to_be_bytes());
    message[16..18].copy_from_slice(&endpoint.lid.to_be_bytes());
    message[18..].copy_from_slice(&endpoint.gid.0);
    message
}

/// The peer's endpoint, without options, and memory; the PSN and the MTU are those of `local`.
fn from_message(message: &[u8; EXCHANGE], local: &Endpoint) -> Result<(Endpoint, Remote), Failure> {
    let mut rest = &message[..];
    let memory = Remote { addr: u64::from_be_bytes(take(&mut rest)), rkey: Rkey(u32::from_be_bytes(take(&mut rest))) };
    let qpn = u32::from_be_bytes(take(&mut rest));
    let endpoint = Endpoint {
        qpn: Qpn::new(qpn).ok_or_else(|| format!("the peer's QPN {qpn:#x} has more than 24 bits"))?,
        lid: u16::from_be_bytes(take(&mut rest)),
        gid: Gid(take(&mut rest)),
        gid_type: None,
        ece: None,
        ..*local
    };
    Ok((endpoint, memory))
}

/// The next `N` bytes of a message that has as many.
fn take<const N: usize>(rest: &mut &[u8]) -> [u8; N] {
    let (bytes, tail) = rest.split_first_chunk().expect("the fields add up to the message");
    *rest = tail;
    *bytes
}
