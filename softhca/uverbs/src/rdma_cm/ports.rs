//! Ports of the communication manager. All processes of a fabric share them as they would share a kernel. Each bound
//! port has a file in the fabric's directory, which its owner locks during its life.

use super::address::is_any;
use crate::abi::abi;
use crate::process::Errno;
use crate::process::fds::Own;
use crate::process::lock_file::{Locked, failed, flock, locked, open};
use softhca_settings::{Gid, MAX_DEVICES, gid_of};
use std::fs::File;
use std::net::IpAddr;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout};

/// Ports that are chosen for those who name none: `ip_local_port_range`.
const EPHEMERAL: std::ops::RangeInclusive<u16> = 32768..=60999;
/// Its file is locked while the table is read (shared) or changed.
const TABLE: &str = "cm-table";
const PREFIX: &str = "cm-port-";

const MAGIC: u32 = 0x504d_4353;
const REUSE: u32 = 1;
const FAMILY_ONLY: u32 = 1 << 1;
const IPV6: u32 = 1 << 2;
const LISTENING: u32 = 1 << 3;

abi! {
    /// The content of the file of a port.
    struct Record {
        magic: u32,
        flags: u32,
        /// Zeros: any.
        address: [u8; 16],
        /// The receiver of each device's ingress requests: the number of its QP 1; 0 if it has none.
        agents: [u32; MAX_DEVICES as usize],
    }
}

impl Record {
    fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    fn is_any(&self) -> bool {
        self.address == [0; 16]
    }

    /// The error if the new owner `self` cannot have the port beside `other` (`cma_check_port` of the kernel).
    fn conflict(&self, other: &Self) -> Option<Errno> {
        let reused = self.has(REUSE) && other.has(REUSE) && !other.has(LISTENING);
        let apart = self.has(FAMILY_ONLY) && other.has(FAMILY_ONLY) && (self.flags ^ other.flags) & IPV6 != 0;
        if reused || apart {
            None
        } else if self.is_any() || other.is_any() {
            Some(Errno(libc::EADDRNOTAVAIL))
        } else {
            (self.address == other.address).then_some(Errno(libc::EADDRINUSE))
        }
    }

    /// How well a listener fits requests for `address`; 0 if it does not.
    fn fits(&self, address: &Gid, ipv4: bool) -> u32 {
        if !self.has(LISTENING) {
            0
        } else if self.address == *address {
            3
        } else if self.is_any() && self.has(IPV6) != ipv4 {
            2
        } else {
            u32::from(self.is_any() && ipv4 && !self.has(FAMILY_ONLY))
        }
    }
}

/// The request to bind a port.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) space: u16,
    /// 0: any that is free.
    pub(super) port: u16,
    pub(super) ip: IpAddr,
    pub(super) reuse: bool,
    pub(super) family_only: bool,
}

/// A port that is bound, until dropped.
#[derive(Debug)]
pub(super) struct Lease {
    pub(super) port: u16,
    directory: PathBuf,
    path: PathBuf,
    space: u16,
    _own: Own,
    /// Holds the lock.
    file: File,
    record: Record,
    /// The process that bound it: a forked child must not give it up.
    pid: u32,
}

/// Locks the table.
fn table(directory: &Path, operation: i32) -> Result<Locked, Errno> {
    locked(&directory.join(TABLE), operation)
}

fn read(file: &File) -> Option<Record> {
    let mut record = Record::new_zeroed();
    file.read_exact_at(record.as_mut_bytes(), 0).ok()?;
    (record.magic == MAGIC).then_some(record)
}

/// Ports and records of everybody in a port space. Files that the dead have left are removed.
fn entries(directory: &Path, space: u16) -> Result<Vec<(u16, PathBuf, Record)>, Errno> {
    let prefix = format!("{PREFIX}{space:04x}-");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(failed)?.flatten() {
        let name = entry.file_name();
        let rest = name.to_str().and_then(|name| name.strip_prefix(&prefix));
        let Some(port) = rest.and_then(|rest| rest.split('-').next()?.parse().ok()) else { continue };
        let path = entry.path();
        let Ok(file) = open(&path, false) else { continue };
        if flock(&file, libc::LOCK_SH | libc::LOCK_NB).is_ok() {
            // Best effort: what stays is removed next time.
            let _ = std::fs::remove_file(&path);
        } else if let Some(record) = read(&file) {
            found.push((port, path, record));
        }
    }
    Ok(found)
}

/// Binds a port.
pub(super) fn bind(directory: &Path, wanted: Wanted) -> Result<Lease, Errno> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let _table = table(directory, libc::LOCK_EX)?;
    let flags = [(wanted.reuse, REUSE), (wanted.family_only, FAMILY_ONLY), (wanted.ip.is_ipv6(), IPV6)];
    let record = Record {
        magic: MAGIC,
        flags: flags.into_iter().filter_map(|(set, flag)| set.then_some(flag)).sum(),
        address: if is_any(wanted.ip) { [0; 16] } else { gid_of(wanted.ip) },
        agents: [0; MAX_DEVICES as usize],
    };
    let others = entries(directory, wanted.space)?;
    let port = match wanted.port {
        0 => {
            let free = |port: &u16| others.iter().all(|(other, ..)| other != port);
            let first = fastrand::u16(EPHEMERAL);
            let mut all = (first..=*EPHEMERAL.end()).chain(*EPHEMERAL.start()..first);
            all.find(free).ok_or(Errno(libc::EADDRNOTAVAIL))?
        }
        port => {
            let mut same = others.iter().filter(|(other, ..)| *other == port);
            same.find_map(|(.., other)| record.conflict(other)).map_or(Ok(port), Err)?
        }
    };
    let pid = std::process::id();
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = directory.join(format!("{PREFIX}{:04x}-{port:05}-{pid}-{number}", wanted.space));
    let file = open(&path, true).map_err(failed)?;
    let (directory, _own) = (directory.to_owned(), Own::new(&file));
    let lease = Lease { port, directory, path, space: wanted.space, _own, file, record, pid };
    flock(&lease.file, libc::LOCK_EX | libc::LOCK_NB).map_err(failed)?;
    lease.store()?;
    Ok(lease)
}

impl Lease {
    fn store(&self) -> Result<(), Errno> {
        self.file.write_all_at(self.record.as_bytes(), 0).map_err(failed)
    }

    /// From now on requests to the port are for the owner: `agents` are the numbers of its QP 1, by device.
    pub(super) fn listen(&mut self, agents: &[u32]) -> Result<(), Errno> {
        let _table = table(&self.directory, libc::LOCK_EX)?;
        for (port, path, other) in entries(&self.directory, self.space)? {
            // An id that shares a port by agreement cannot also listen on it (`cma_bind_listen` of the kernel).
            let mine = Record { flags: self.record.flags & !REUSE, ..self.record };
            if port == self.port && path != self.path && self.record.has(REUSE) {
                mine.conflict(&other).map_or(Ok(()), Err)?;
            }
        }
        self.record.flags |= LISTENING;
        for (place, agent) in self.record.agents.iter_mut().zip(agents) {
            *place = *agent;
        }
        self.store()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if self.pid == std::process::id() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// The receiver of requests to `port` of `ip`, which belongs to device `device`: the number of its QP 1.
pub(super) fn listener(directory: &Path, space: u16, ip: IpAddr, port: u16, device: u32) -> Option<u32> {
    let _table = table(directory, libc::LOCK_SH).ok()?;
    let address = gid_of(ip);
    let mut best = (0, 0);
    for (other, _, record) in entries(directory, space).ok()? {
        let fit = if other == port { record.fits(&address, ip.is_ipv4()) } else { 0 };
        if fit > best.0 {
            best = (fit, record.agents.get(device as usize).copied().unwrap_or(0));
        }
    }
    (best.1 != 0).then_some(best.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TCP: u16 = 0x0106;

    fn wanted(ip: &str, port: u16) -> Wanted {
        Wanted { space: TCP, port, ip: ip.parse().unwrap(), reuse: false, family_only: false }
    }

    #[test]
    fn a_port_has_one_owner() {
        let directory = tempfile::tempdir().unwrap();
        let bind = |wanted| bind(directory.path(), wanted);
        let first = bind(wanted("192.0.2.2", 7471)).unwrap();
        assert_eq!(bind(wanted("192.0.2.2", 7471)).unwrap_err(), Errno(libc::EADDRINUSE));
        assert_eq!(bind(wanted("0.0.0.0", 7471)).unwrap_err(), Errno(libc::EADDRNOTAVAIL));
        assert_eq!(bind(wanted("127.0.0.1", 7471)).unwrap_err(), Errno(libc::EADDRNOTAVAIL));
        let other = bind(wanted("192.0.2.1", 7471)).unwrap();
        let udp = bind(Wanted { space: 0x0111, ..wanted("192.0.2.2", 7471) }).unwrap();
        assert_eq!([first.port, other.port, udp.port], [7471; 3]);
        drop(first);
        bind(wanted("192.0.2.2", 7471)).unwrap();
        let chosen = bind(wanted("0.0.0.0", 0)).unwrap();
        assert!(EPHEMERAL.contains(&chosen.port));
        let reuse = |port| Wanted { reuse: true, ..wanted("192.0.2.2", port) };
        let (mut a, mut b) = (bind(reuse(9)).unwrap(), bind(reuse(9)).unwrap());
        assert_eq!(a.listen(&[1]), Err(Errno(libc::EADDRINUSE)));
        drop(std::mem::replace(&mut b, bind(reuse(10)).unwrap()));
        a.listen(&[1]).unwrap();
        assert_eq!(bind(reuse(9)).unwrap_err(), Errno(libc::EADDRINUSE));
    }

    #[test]
    fn the_listener_that_fits_best_is_found() {
        let directory = tempfile::tempdir().unwrap();
        let at = |ip: &str, device| listener(directory.path(), TCP, ip.parse().unwrap(), 7471, device);
        assert_eq!(at("127.0.0.1", 0), None);
        let mut any = bind(directory.path(), wanted("::", 7471)).unwrap();
        assert_eq!(at("127.0.0.1", 0), None);
        any.listen(&[0x4001, 0x8001]).unwrap();
        assert_eq!([at("127.0.0.1", 0), at("::1", 1), at("::1", 2)], [Some(0x4001), Some(0x8001), None]);
        drop(any);
        let mut v4 = bind(directory.path(), wanted("0.0.0.0", 7471)).unwrap();
        v4.listen(&[1]).unwrap();
        assert_eq!([at("127.0.0.1", 0), at("::1", 0)], [Some(1), None]);
        drop(v4);
        // A loopback address is every address of its family.
        let mut loopback = bind(directory.path(), wanted("127.0.0.1", 7471)).unwrap();
        loopback.listen(&[1, 2]).unwrap();
        assert_eq!([at("192.0.2.1", 0), at("127.0.0.1", 1), at("::1", 0)], [Some(1), Some(2), None]);
    }

    #[test]
    fn files_of_the_dead_and_of_strangers_do_no_harm() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join(format!("{PREFIX}0106-07471-1-1"));
        std::fs::write(&file, b"short").unwrap();
        bind(directory.path(), wanted("127.0.0.1", 7471)).unwrap();
        assert!(!file.exists());
        let locked = open(&file, true).unwrap();
        flock(&locked, libc::LOCK_EX).unwrap();
        locked.write_all_at(&[0xff; 200], 0).unwrap();
        bind(directory.path(), wanted("127.0.0.1", 7471)).unwrap();
        assert_eq!(listener(directory.path(), TCP, "127.0.0.1".parse().unwrap(), 7471, 0), None);
    }
}
