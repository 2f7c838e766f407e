//! Network interfaces of the kernel, and the RDMA device behind each.

use core::ffi::CStr;
use std::ffi::CString;
use std::fs;
use std::path::Path;

use crate::verbs::device::Port;
use crate::verbs::error::zero;
use crate::verbs::ethernet::membership::{Membership, Promiscuous, socket};
use crate::verbs::{CallError, Device, Error, OpenOptions, device_names};

/// Where the kernel describes devices.
const SYSFS: &str = "/sys";

/// A network interface (`eth0`, `enp65s0f0np0`), by its index in this network namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    name: CString,
    index: u32,
}

impl Interface {
    /// The interface of this name.
    ///
    /// # Errors
    /// [`Error::UnknownInterface`] with a list of the interfaces.
    #[doc(alias = "if_nametoindex")]
    pub fn named(name: &str) -> Result<Self, Error> {
        let unknown = || Error::UnknownInterface { name: name.into(), known: known() };
        let c_name = CString::new(name).map_err(|_| unknown())?;
        // SAFETY: a string.
        match unsafe { libc::if_nametoindex(c_name.as_ptr()) } {
            0 => Err(unknown()),
            index => Ok(Self { name: c_name, index }),
        }
    }

    /// The interface with this index.
    fn at(index: u32) -> Result<Self, Error> {
        let mut name: [core::ffi::c_char; libc::IF_NAMESIZE] = [0; libc::IF_NAMESIZE];
        // SAFETY: room for the longest name, and its end.
        if unsafe { libc::if_indextoname(index, name.as_mut_ptr()) }.is_null() {
            return Err(CallError::last("if_indextoname").into());
        }
        // SAFETY: a string, as the call has succeeded; it ends within the array.
        Ok(Self { name: unsafe { CStr::from_ptr(name.as_ptr()) }.to_owned(), index })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> std::borrow::Cow<'_, str> {
        self.name.to_string_lossy()
    }

    /// Its index (`if_nametoindex(3)`).
    #[must_use]
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Its MAC address: the source of frames, and what peers send to.
    ///
    /// # Errors
    /// [`Error::NotEthernet`], or a failed call.
    #[doc(alias = "SIOCGIFHWADDR")]
    pub fn mac(&self) -> Result<[u8; 6], Error> {
        let socket = socket(libc::AF_INET, libc::SOCK_DGRAM)?;
        // SAFETY: integers, and a union of them, for which zero is a value.
        let mut request: libc::ifreq = unsafe { core::mem::zeroed() };
        // The name of an interface is shorter than the field.
        for (to, from) in request.ifr_name.iter_mut().zip(self.name.as_bytes()) {
            *to = *from as core::ffi::c_char;
        }
        // SAFETY: the call reads the name, and writes the address into the same structure, which is ours.
        zero("SIOCGIFHWADDR", unsafe { libc::ioctl(socket.as_raw(), libc::SIOCGIFHWADDR, &raw mut request) })?;
        // SAFETY: written by the call.
        let address = unsafe { request.ifr_ifru.ifru_hwaddr };
        if address.sa_family != libc::ARPHRD_ETHER && address.sa_family != libc::ARPHRD_LOOPBACK {
            return Err(Error::NotEthernet { name: self.name().into_owned(), kind: address.sa_family });
        }
        Ok(core::array::from_fn(|at| address.sa_data[at] as u8))
    }

    /// Joins a multicast group, as long as the returned value lives. The kernel then has the NIC receive frames for the
    /// group's MAC address, and tells switches and routers (IGMP, MLD). A flow rule alone does neither.
    ///
    /// # Errors
    /// [`Error::NotMulticast`], or a failed call.
    #[doc(alias("IP_ADD_MEMBERSHIP", "IPV6_ADD_MEMBERSHIP"))]
    pub fn join(&self, group: core::net::IpAddr) -> Result<Membership, Error> {
        Membership::new(self.index, group)
    }

    /// Has the interface receive frames for all stations, as long as the returned value lives. Needs `CAP_NET_RAW`.
    ///
    /// # Errors
    /// A failed call.
    #[doc(alias = "PACKET_MR_PROMISC")]
    pub fn promiscuous(&self) -> Result<Promiscuous, Error> {
        Promiscuous::new(self.index)
    }
}

/// The names of this machine's network interfaces.
fn known() -> Vec<String> {
    let mut names = Vec::new();
    // SAFETY: returns an array that ends with a null name, or null.
    let list = unsafe { libc::if_nameindex() };
    let mut next = list;
    // SAFETY: null, or an entry of the array.
    while let Some(entry) = unsafe { next.as_ref() }.filter(|entry| !entry.if_name.is_null()) {
        // SAFETY: a string of the array, which is freed below.
        names.push(unsafe { CStr::from_ptr(entry.if_name) }.to_string_lossy().into_owned());
        // SAFETY: the array goes on to the entry with the null name.
        next = unsafe { next.add(1) };
    }
    if !list.is_null() {
        // SAFETY: from `if_nameindex`, freed once.
        unsafe { libc::if_freenameindex(list) };
    }
    names
}

impl OpenOptions {
    /// Opens the RDMA device behind a network interface: `Device::options().open_interface("eth0")`.
    ///
    /// The kernel names the interface at each entry of a port's GID table, VLANs and bonds included. UCX looks there as
    /// well (`src/uct/ib/base/ib_device.c`, `uct_ib_device_get_roce_ndev_name`). A port without addresses is found by
    /// the PCI function that both share.
    ///
    /// # Errors
    /// [`Error::UnknownInterface`], [`Error::NoRdma`] if no RDMA device is behind it, and as [`open`](Self::open).
    pub fn open_interface(self, name: &str) -> Result<Device, Error> {
        let interface = Interface::named(name)?;
        match behind(Path::new(SYSFS), &device_names()?, &interface.name()) {
            Some(device) => self.open(&device),
            None => Err(Error::NoRdma { interface: name.into() }),
        }
    }
}

impl Device {
    /// Opens the RDMA device behind a network interface: `Device::of_interface("eth0")`.
    ///
    /// # Errors
    /// As [`OpenOptions::open_interface`].
    pub fn of_interface(name: &str) -> Result<Self, Error> {
        Self::options().open_interface(name)
    }

    /// The network interface of a port, as the port's GID table names it; `None` on InfiniBand, and without addresses.
    ///
    /// # Errors
    /// A failed call.
    pub fn interface(&self, port: &Port) -> Result<Option<Interface>, Error> {
        for index in 0..=u8::MAX {
            if u32::from(index) >= port.gid_tbl_len {
                break;
            }
            if let Some(entry) = self.gid_entry(port.number, index)?.filter(|entry| entry.ndev_ifindex != 0) {
                return Interface::at(entry.ndev_ifindex).map(Some);
            }
        }
        Ok(None)
    }
}

/// The RDMA device behind an interface, by the kernel's tree at `sysfs`.
fn behind(sysfs: &Path, devices: &[String], interface: &str) -> Option<String> {
    let of_port = |device: &Path, port: u32| {
        let ndevs = device.join(format!("ports/{port}/gid_attrs/ndevs"));
        (0..=u8::MAX).any(|index| {
            // An entry that is not in use cannot be read (Linux `drivers/infiniband/core/sysfs.c`, `print_ndev`).
            fs::read_to_string(ndevs.join(index.to_string())).is_ok_and(|name| name.trim_end() == interface)
        })
    };
    let by_addresses = |name: &&String| {
        let device = sysfs.join("class/infiniband").join(name);
        let ports = (1..=u32::from(u8::MAX)).take_while(|port| device.join(format!("ports/{port}/state")).exists());
        ports.into_iter().any(|port| of_port(&device, port))
    };
    let by_function =
        |name: &&String| sysfs.join("class/net").join(interface).join("device/infiniband").join(name).exists();
    devices.iter().find(by_addresses).or_else(|| devices.iter().find(by_function)).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_found_by_addresses_then_by_function() {
        let root = tempfile::tempdir().expect("a directory");
        let put = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("below the root")).expect("a directory");
            fs::write(path, text).expect("a file");
        };
        let devices = ["mlx5_0", "mlx5_1", "mlx5_2"].map(String::from);
        let found = |interface| behind(root.path(), &devices, interface);
        assert_eq!(found("eth0"), None);
        for device in &devices {
            put(&format!("class/infiniband/{device}/ports/1/state"), "4: ACTIVE\n");
        }
        put("class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0", "eth0\n");
        put("class/infiniband/mlx5_1/ports/1/gid_attrs/ndevs/3", "eth0.5\n");
        put("class/infiniband/mlx5_1/ports/2/state", "1: DOWN\n");
        put("class/infiniband/mlx5_1/ports/2/gid_attrs/ndevs/1", "eth1\n");
        put("class/net/eth2/device/infiniband/mlx5_2/node_type", "1: CA\n");
        // The addresses of a bond are those of one device; its function is another's.
        put("class/net/eth1/device/infiniband/mlx5_2/node_type", "1: CA\n");
        let named = |interface| found(interface).unwrap_or_else(|| "none".into());
        assert_eq!(["eth0", "eth0.5", "eth1", "eth2"].map(named), ["mlx5_0", "mlx5_1", "mlx5_1", "mlx5_2"]);
        assert_eq!(["eth", "eth3", "../net"].map(found), [None, None, None]);
    }

    #[test]
    fn interfaces_without_a_device_are_refused() {
        let error = Interface::named("nosuch0").expect_err("none of this name");
        let Error::UnknownInterface { name, known } = &error else { panic!("{error}") };
        assert!(name == "nosuch0" && known.contains(&"lo".to_string()), "{error}");
        assert!(error.to_string().contains("lo"), "{error}");
        assert!(matches!(Interface::named("a\0b"), Err(Error::UnknownInterface { .. })));
        let lo = Interface::named("lo").expect("every machine has it");
        assert_eq!((&*lo.name(), Interface::at(lo.index()), lo.mac()), ("lo", Ok(lo.clone()), Ok([0; 6])));
    }
}
