//! The machine's IP addresses. A kernel gives an Ethernet port GIDs for the addresses of its network interface; here
//! port 1 of the first device stands for all interfaces.

use std::net::IpAddr;

pub use softhca::wire::cable::gid_of;

/// Bytes in a GID.
pub type Gid = [u8; 16];

/// Most addresses that get GIDs.
pub const MAX_LOCAL_ADDRESSES: usize = 48;

/// An IP address of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalAddress {
    /// The network interface that has it.
    pub interface: String,
    /// The address.
    pub ip: IpAddr,
}

/// Between the parts of an address, and between addresses: neither occurs in the name of an interface.
const INNER: char = '/';
const OUTER: char = ' ';

/// `addresses` as one string.
pub(crate) fn to_text(addresses: &[LocalAddress]) -> String {
    let parts: Vec<String> = addresses.iter().map(|a| format!("{}{INNER}{}", a.interface, a.ip)).collect();
    parts.join(&OUTER.to_string())
}

/// Reads a string that [`to_text`] made.
pub(crate) fn from_text(text: &str) -> Option<Vec<LocalAddress>> {
    let parts = text.split(OUTER).filter(|part| !part.is_empty());
    let addresses: Option<Vec<_>> = parts
        .map(|part| {
            let (interface, ip) = part.split_once(INNER)?;
            Some(LocalAddress { interface: interface.to_owned(), ip: ip.parse().ok()? })
        })
        .collect();
    addresses.filter(|addresses| addresses.len() <= MAX_LOCAL_ADDRESSES)
}
