//! The TCP exchange of `ibv_rc_pingpong` (rdma-core `libibverbs/examples/rc_pingpong.c`, `pp_client_exch_dest`,
//! `pp_server_exch_dest`).

use std::io::{Read, Write};
use std::net::TcpStream;

use blueflame::types::{Psn, Qpn};
use blueflame::verbs::Endpoint;
use blueflame::verbs::device::{Gid, Mtu};

use crate::{Failure, limited};

/// An endpoint as the C tool writes it: `LLLL:QPQPQP:PSNPSN:GID`, hexadecimal, with the C string's final zero byte.
const MESSAGE_BYTES: usize = 4 + 1 + 6 + 1 + 6 + 1 + 32 + 1;

/// The client's answer after it has read the server's message; again a C string.
const DONE: &[u8; 5] = b"done\0";

fn to_message(endpoint: &Endpoint) -> [u8; MESSAGE_BYTES] {
    let gid = u128::from_be_bytes(endpoint.gid.0);
    let text = format!("{:04x}:{:06x}:{:06x}:{gid:032x}\0", endpoint.lid, endpoint.qpn.get(), endpoint.psn.get());
    text.into_bytes().try_into().expect("every field has a fixed width")
}

/// MTU and type of the GID are not exchanged: start both sides with the same values.
fn from_message(message: &[u8; MESSAGE_BYTES]) -> Result<Endpoint, Failure> {
    let text = std::str::from_utf8(message)?.trim_end_matches('\0');
    let bad = || format!("not an endpoint: {text:?}");
    let fields: Vec<&str> = text.split(':').collect();
    let [lid, qpn, psn, gid] = fields[..] else { return Err(bad().into()) };
    let number = |field| u32::from_str_radix(field, 16).map_err(|_| bad());
    Ok(Endpoint {
        lid: number(lid)?.try_into().map_err(|_| bad())?,
        gid: Gid(u128::from_str_radix(gid, 16).map_err(|_| bad())?.to_be_bytes()),
        gid_type: None,
        qpn: Qpn::new(number(qpn)?).ok_or_else(bad)?,
        psn: Psn::new(number(psn)?).ok_or_else(bad)?,
        mtu: Mtu::B4096,
        ece: None,
    })
}

fn show(side: &str, endpoint: &Endpoint) {
    let Endpoint { lid, gid, qpn, psn, .. } = endpoint;
    eprintln!("{side:>8} address: LID {lid:#06x}, QPN {:#08x}, PSN {:#08x}, GID {gid}", qpn.get(), psn.get());
}

pub(super) fn as_client(mut stream: TcpStream, local: &Endpoint) -> Result<Endpoint, Failure> {
    show("local", local);
    let mut stream = limited(&mut stream);
    stream.write_all(&to_message(local))?;
    let mut message = [0; MESSAGE_BYTES];
    stream.read_exact(&mut message).map_err(|error| format!("the server's endpoint did not come: {error}"))?;
    stream.write_all(DONE)?;
    let remote = from_message(&message)?;
    show("remote", &remote);
    Ok(remote)
}

/// Tells the client's endpoint to `connect`, then answers: the server connects before it answers, because the client
/// sends as soon as it has the answer.
pub(super) fn as_server(
    mut stream: TcpStream,
    local: &Endpoint,
    connect: impl FnOnce(&Endpoint) -> Result<(), Failure>,
) -> Result<(), Failure> {
    show("local", local);
    let mut stream = limited(&mut stream);
    let mut message = [0; MESSAGE_BYTES];
    stream.read_exact(&mut message).map_err(|error| format!("the client's endpoint did not come: {error}"))?;
    let remote = from_message(&message)?;
    show("remote", &remote);
    connect(&remote)?;
    stream.write_all(&to_message(local))?;
    let mut done = [0; DONE.len()];
    stream.read_exact(&mut done).map_err(|error| format!("the client did not confirm: {error}"))?;
    if &done != DONE { Err(format!("the client answered {done:?}").into()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exchange_is_that_of_the_c_tool() {
        let mut gid = [0; 16];
        (gid[0], gid[1], gid[15]) = (0xfe, 0x80, 0x1a);
        let psn = Psn::truncate(0x00_00ff);
        let qpn = Qpn::truncate(0x12_3456);
        let endpoint = Endpoint { lid: 0x1b, gid: Gid(gid), gid_type: None, qpn, psn, mtu: Mtu::B4096, ece: None };
        let message = to_message(&endpoint);
        assert_eq!(&message, b"001b:123456:0000ff:fe80000000000000000000000000001a\0");
        assert_eq!(from_message(&message).expect("our own"), endpoint);
        // The C tool's `%04x` of a negative or wide value would be longer; nothing else of this length passes.
        for bad in
            [b"001b:123456:0000ff:fe80000000000000000000000000001g\0", &[b':'; MESSAGE_BYTES], &[0xff; MESSAGE_BYTES]]
        {
            assert!(from_message(bad).is_err());
        }
    }
}
