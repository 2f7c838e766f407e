//! Frames, written out by RFC 791, 8200, 768 and 9293. Checksums are zero: no test here looks at them.

use std::net::IpAddr;

pub(crate) const STATION: [u8; 6] = [2, 0, 0x5e, 0, 0x53, 1];
pub(crate) const SENDER: [u8; 6] = [2, 0, 0x5e, 0, 0x53, 9];
/// For experiments.
pub(crate) const EXPERIMENT: u16 = 0x88b5;

/// The headers of a frame, and bytes of data that fill it up to what Ethernet wants at least.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) to: [u8; 6],
    pub(crate) from: [u8; 6],
    pub(crate) vlan: Option<u16>,
    pub(crate) ether_type: u16,
    pub(crate) ip: Option<Packet>,
}

/// The header of IP, and ports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub(crate) from: IpAddr,
    pub(crate) to: IpAddr,
    pub(crate) protocol: u8,
    pub(crate) class: u8,
    /// Source and destination, where the protocol has ports.
    pub(crate) ports: [u16; 2],
}

pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;

/// A frame without IP.
pub(crate) fn plain(to: [u8; 6]) -> Frame {
    Frame { to, from: SENDER, vlan: None, ether_type: EXPERIMENT, ip: None }
}

/// A UDP datagram to an address and a port.
pub(crate) fn udp(to: &str, port: u16) -> Frame {
    packet(UDP, ["10.0.0.9", "2001:db8::9"][usize::from(to.contains(':'))], to, [7, port])
}

pub(crate) fn packet(protocol: u8, from: &str, to: &str, ports: [u16; 2]) -> Frame {
    let [from, to] = [from, to].map(|address| address.parse::<IpAddr>().expect("an address"));
    let ether_type = if to.is_ipv4() { 0x0800 } else { 0x86dd };
    let ip = Some(Packet { from, to, protocol, class: 0, ports });
    Frame { ether_type, ip, ..plain(STATION) }
}

impl Frame {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = [self.to, self.from].concat();
        if let Some(tag) = self.vlan {
            bytes.extend([0x81, 0x00]);
            bytes.extend(tag.to_be_bytes());
        }
        bytes.extend(self.ether_type.to_be_bytes());
        if let Some(ip) = &self.ip {
            ip.write(&mut bytes);
        }
        bytes.resize(bytes.len().max(60), 0x5a);
        bytes
    }
}

impl Packet {
    fn write(&self, bytes: &mut Vec<u8>) {
        let transport = match self.protocol {
            TCP => 20,
            UDP => 8,
            _ => 0,
        };
        match (self.from, self.to) {
            (IpAddr::V4(from), IpAddr::V4(to)) => {
                bytes.extend([0x45, self.class, 0, 20 + transport, 0, 0, 0x40, 0, 64, self.protocol, 0, 0]);
                bytes.extend(from.octets().iter().chain(&to.octets()));
            }
            (IpAddr::V6(from), IpAddr::V6(to)) => {
                bytes.extend([0x60 | self.class >> 4, self.class << 4, 0, 0, 0, transport, self.protocol, 64]);
                bytes.extend(from.octets().iter().chain(&to.octets()));
            }
            families => panic!("{families:?}"),
        }
        let ports = self.ports.map(u16::to_be_bytes).concat();
        match self.protocol {
            UDP => bytes.extend([&ports[..], &[0, 8, 0, 0]].concat()),
            TCP => bytes.extend([&ports[..], &[0; 8], &[0x50, 0x10, 1, 0, 0, 0, 0, 0]].concat()),
            _ => {}
        }
    }
}
