//! Further frames that an interface receives, as long as a socket asks the kernel for them.

use core::ffi::c_int;
use core::net::IpAddr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::verbs::error::zero;
use crate::verbs::{CallError, Error};

/// A socket that nothing is sent to: the kernel undoes its requests when it is closed.
#[derive(Debug)]
pub(in crate::verbs) struct Socket(OwnedFd);

/// Opens one.
pub(in crate::verbs) fn socket(family: c_int, kind: c_int) -> Result<Socket, Error> {
    // Protocol 0: of an AF_PACKET socket, that it receives nothing (packet(7)).
    // SAFETY: integers only.
    let descriptor = unsafe { libc::socket(family, kind | libc::SOCK_CLOEXEC, 0) };
    if descriptor < 0 {
        return Err(CallError::last("socket").into());
    }
    // SAFETY: just opened, and nothing else has it.
    Ok(Socket(unsafe { OwnedFd::from_raw_fd(descriptor) }))
}

impl Socket {
    pub(in crate::verbs) fn as_raw(&self) -> c_int {
        self.0.as_raw_fd()
    }

    fn set<T>(&self, call: &'static str, level: c_int, option: c_int, value: &T) -> Result<(), Error> {
        // SAFETY: the kernel reads as many bytes of the value as it has.
        let returned = unsafe {
            let value: *const T = value;
            libc::setsockopt(self.as_raw(), level, option, value.cast(), size_of::<T>() as libc::socklen_t)
        };
        zero(call, returned)?;
        Ok(())
    }
}

/// Membership in a multicast group, by a socket of its own. Dropping it leaves the group.
#[derive(Debug)]
#[must_use = "dropping it leaves the group"]
pub struct Membership {
    _socket: Socket,
    group: IpAddr,
}

impl Membership {
    pub(super) fn new(interface: u32, group: IpAddr) -> Result<Self, Error> {
        if !group.is_multicast() {
            return Err(Error::NotMulticast { address: group });
        }
        let socket = match group {
            IpAddr::V4(address) => {
                let socket = socket(libc::AF_INET, libc::SOCK_DGRAM)?;
                let request = libc::ip_mreqn {
                    imr_multiaddr: libc::in_addr { s_addr: u32::from(address).to_be() },
                    imr_address: libc::in_addr { s_addr: libc::INADDR_ANY },
                    imr_ifindex: interface as c_int,
                };
                socket.set("IP_ADD_MEMBERSHIP", libc::IPPROTO_IP, libc::IP_ADD_MEMBERSHIP, &request)?;
                socket
            }
            IpAddr::V6(address) => {
                let socket = socket(libc::AF_INET6, libc::SOCK_DGRAM)?;
                let request = libc::ipv6_mreq {
                    ipv6mr_multiaddr: libc::in6_addr { s6_addr: address.octets() },
                    ipv6mr_interface: interface,
                };
                socket.set("IPV6_ADD_MEMBERSHIP", libc::IPPROTO_IPV6, libc::IPV6_ADD_MEMBERSHIP, &request)?;
                socket
            }
        };
        Ok(Self { _socket: socket, group })
    }

    /// The group.
    #[must_use]
    pub fn group(&self) -> IpAddr {
        self.group
    }
}

/// Promiscuous mode of an interface. Dropping it ends the mode, unless something else has asked for it as well.
#[derive(Debug)]
#[must_use = "dropping it ends the mode"]
pub struct Promiscuous {
    _socket: Socket,
}

impl Promiscuous {
    pub(super) fn new(interface: u32) -> Result<Self, Error> {
        let socket = socket(libc::AF_PACKET, libc::SOCK_DGRAM)?;
        let request = libc::packet_mreq {
            mr_ifindex: interface as c_int,
            mr_type: libc::PACKET_MR_PROMISC as u16,
            mr_alen: 0,
            mr_address: [0; 8],
        };
        socket.set("PACKET_ADD_MEMBERSHIP", libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &request)?;
        Ok(Self { _socket: socket })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::ethernet::Interface;

    /// The index of the loopback interface.
    fn lo() -> u32 {
        Interface::named("lo").expect("every machine has it").index()
    }

    #[test]
    fn the_kernel_knows_of_a_group_as_long_as_the_guard_lives() {
        // Of the range for documentation (RFC 5771, 9.2), in the byte order of x86, as the kernel prints it.
        let group: IpAddr = "233.252.0.77".parse().expect("an address");
        let joined = || std::fs::read_to_string("/proc/net/igmp").expect("the kernel's table").contains("4D00FCE9");
        assert!(!joined());
        let membership = Membership::new(lo(), group).expect("anybody may");
        assert_eq!((joined(), membership.group()), (cfg!(target_endian = "little"), group));
        drop(membership);
        assert!(!joined());
        let alone: IpAddr = "10.0.0.1".parse().expect("an address");
        let error = Membership::new(lo(), alone).expect_err("no group");
        assert_eq!(error, Error::NotMulticast { address: alone });
        let error = Membership::new(u32::MAX >> 1, group).expect_err("no interface");
        assert!(matches!(&error, Error::Call(CallError { call: "IP_ADD_MEMBERSHIP", .. })), "{error}");
    }

    #[test]
    fn groups_of_ipv6_are_joined() {
        let group: IpAddr = "ff12::77:4d".parse().expect("an address");
        let joined = || {
            std::fs::read_to_string("/proc/net/igmp6")
                .is_ok_and(|table| table.contains("ff12000000000000000000000077004d"))
        };
        match Membership::new(lo(), group) {
            Ok(membership) => {
                assert!(joined());
                drop(membership);
                assert!(!joined());
            }
            // A machine without IPv6.
            Err(Error::Call(CallError { call, errno })) => {
                assert!(matches!((call, errno), ("socket", libc::EAFNOSUPPORT) | (_, libc::ENODEV)), "{call}: {errno}");
            }
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn promiscuous_mode_ends_with_the_guard() {
        const IFF_PROMISC: u32 = libc::IFF_PROMISC as u32;
        let is_on = || {
            let flags = std::fs::read_to_string("/sys/class/net/lo/flags").expect("its flags");
            u32::from_str_radix(flags.trim().trim_start_matches("0x"), 16).expect("hexadecimal") & IFF_PROMISC != 0
        };
        match Promiscuous::new(lo()) {
            Ok(mode) => {
                assert!(is_on());
                drop(mode);
                assert!(!is_on());
            }
            Err(error) => {
                assert!(matches!(&error, Error::Call(CallError { call: "socket", errno: libc::EPERM })), "{error}");
                assert!(error.to_string().contains("CAP_NET_RAW"), "{error}");
            }
        }
    }
}
