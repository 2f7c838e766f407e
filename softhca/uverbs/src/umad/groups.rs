//! The multicast groups of the subnet: `MCMemberRecord` of subnet administration (IBTA vol. 1, 15.2.5.17). Each
//! membership of a port is a file in the fabric's directory. The processes that have asked for it lock it during their
//! lives, so the memberships of the dead end with them.

use super::mad::Status;
use super::subnet::Subnet;
use crate::process::fds::Own;
use crate::process::forked::StaticLock;
use crate::process::lock;
use crate::process::lock_file::{flock, locked, open};
use softhca_settings::{self as settings, Gid};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Its file is locked while memberships are read (shared) or changed.
const TABLE: &str = "mc-table";
const PREFIX: &str = "mc-member-";

/// Bytes of a record, with its padding.
pub(super) const RECORD_BYTES: usize = 56;
pub(super) type Record = [u8; RECORD_BYTES];

/// Fields of a record.
pub(super) mod field {
    use std::ops::Range;
    pub(in super::super) const MGID: Range<usize> = 0..16;
    pub(in super::super) const PORT_GID: Range<usize> = 16..32;
    pub(in super::super) const QKEY: Range<usize> = 32..36;
    pub(in super::super) const MLID: Range<usize> = 36..38;
    pub(in super::super) const PKEY: Range<usize> = 40..42;
    /// Selectors and values of the MTU, the rate and the packet life time.
    pub(super) const MTU: usize = 38;
    pub(super) const RATE: usize = 42;
    pub(super) const LIFE_TIME: usize = 43;
    /// Scope, and the kinds of the membership: full, non-member, only sending.
    pub(super) const STATE: usize = 48;
}
/// The kinds of a membership in [`field::STATE`].
const KINDS: u8 = 0xf;

/// Components: their bits in the mask.
mod component {
    pub(super) const MGID: u64 = 1;
    pub(super) const PORT_GID: u64 = 1 << 1;
    pub(super) const QKEY: u64 = 1 << 2;
    pub(super) const PKEY: u64 = 1 << 7;
    pub(super) const SL: u64 = 1 << 12;
    pub(super) const FLOW_LABEL: u64 = 1 << 13;
    pub(super) const STATE: u64 = 1 << 16;
}
/// Those that name a membership, and those that a new group needs besides.
const OF_MEMBER: u64 = component::MGID | component::PORT_GID | component::STATE;
const OF_GROUP: u64 = component::QKEY | component::PKEY | component::SL | component::FLOW_LABEL;

/// "Exactly", of a limit; 4096 bytes, 100 Gb/s, and 4.096 us times two to the power of 18, as paths have.
const EXACTLY: u8 = 2 << 6;
const MTU: u8 = EXACTLY | 5;
const RATE: u8 = EXACTLY | 16;
const LIFE_TIME: u8 = EXACTLY | 18;

/// LIDs of groups. The first is that of the broadcast group of IP, by custom.
const LIDS: std::ops::Range<u16> = 0xc001..0xffff;

/// A membership that this process has asked for: its file, locked.
struct Held {
    _own: Own,
    _file: File,
}

static HELD: Mutex<BTreeMap<PathBuf, Held>> = Mutex::new(BTreeMap::new());

/// The locks of this module, for forks.
pub(crate) static LOCKS: [&dyn StaticLock; 1] = [&HELD];

fn path(directory: &Path, record: &Record) -> PathBuf {
    let hex = |gid: &[u8]| gid.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    directory.join(format!("{PREFIX}{}-{}", hex(&record[field::MGID]), hex(&record[field::PORT_GID])))
}

fn read(file: &File) -> Option<Record> {
    let mut record = [0; RECORD_BYTES];
    file.read_exact_at(&mut record, 0).ok()?;
    Some(record)
}

/// All memberships, by group and port. Files that the dead have left are removed. The table must be locked.
fn entries(directory: &Path) -> Vec<Record> {
    let Ok(files) = std::fs::read_dir(directory) else { return Vec::new() };
    let mut records = Vec::new();
    for entry in files.flatten() {
        let (name, path) = (entry.file_name(), entry.path());
        if !name.to_str().is_some_and(|name| name.starts_with(PREFIX)) {
            continue;
        }
        let Ok(file) = open(&path, false) else { continue };
        if flock(&file, libc::LOCK_EX | libc::LOCK_NB).is_ok() {
            // Best effort: what stays is removed next time.
            let _ = std::fs::remove_file(&path);
        } else {
            records.extend(read(&file));
        }
    }
    records.sort();
    records
}

/// All memberships of the subnet.
pub(super) fn all(subnet: Subnet<'_>) -> Vec<Record> {
    let directory = &subnet.settings.fabric;
    locked(&directory.join(TABLE), libc::LOCK_SH).map_or_else(|_| Vec::new(), |_table| entries(directory))
}

/// Refuses a port that the subnet does not have.
fn check_port(subnet: Subnet<'_>, record: &Record) -> Result<(), Status> {
    let gid = |port| (u128::from(settings::SUBNET_PREFIX) << 64 | u128::from(port)).to_be_bytes();
    let mut ports =
        subnet.ports().map(|port| gid(settings::port_guid(subnet.settings.number(port.device), port.number)));
    if ports.any(|gid: Gid| gid == record[field::PORT_GID]) { Ok(()) } else { Err(Status::InvalidGid) }
}

/// Joins a group, which is made if it is not there: the record of the membership.
pub(super) fn join(subnet: Subnet<'_>, mask: u64, wanted: &Record) -> Result<Record, Status> {
    if mask & OF_MEMBER != OF_MEMBER || wanted[field::STATE] & KINDS == 0 {
        return Err(Status::InsufficientComponents);
    }
    if wanted[0] != 0xff {
        return Err(Status::InvalidGid);
    }
    check_port(subnet, wanted)?;
    let directory = &subnet.settings.fabric;
    let no_resources = |_| Status::NoResources;
    let _table = locked(&directory.join(TABLE), libc::LOCK_EX).map_err(|_| Status::NoResources)?;
    let known = entries(directory);
    let mut record = match known.iter().find(|known| known[field::MGID] == wanted[field::MGID]) {
        Some(group) => {
            let differs =
                |bit: u64, bytes: std::ops::Range<usize>| mask & bit != 0 && group[bytes.clone()] != wanted[bytes];
            if differs(component::QKEY, field::QKEY) || differs(component::PKEY, field::PKEY) {
                return Err(Status::InvalidRequest);
            }
            let mut record = *group;
            record[field::PORT_GID].copy_from_slice(&wanted[field::PORT_GID]);
            record[field::STATE] = wanted[field::STATE];
            record
        }
        None if mask & OF_GROUP != OF_GROUP => return Err(Status::InsufficientComponents),
        None => {
            let is_free = |lid: &u16| known.iter().all(|known| known[field::MLID] != lid.to_be_bytes());
            let lid = LIDS.into_iter().find(is_free).ok_or(Status::NoResources)?;
            let mut record = *wanted;
            record[field::MLID].copy_from_slice(&lid.to_be_bytes());
            (record[field::MTU], record[field::RATE], record[field::LIFE_TIME]) = (MTU, RATE, LIFE_TIME);
            record
        }
    };
    let same = |known: &&Record| known[..field::PORT_GID.end] == record[..field::PORT_GID.end];
    record[field::STATE] |= known.iter().find(same).map_or(0, |known| known[field::STATE] & KINDS);
    let path = path(directory, &record);
    let file = open(&path, true).map_err(no_resources)?;
    file.write_all_at(&record, 0).map_err(no_resources)?;
    flock(&file, libc::LOCK_SH | libc::LOCK_NB).map_err(no_resources)?;
    lock(&HELD).insert(path, Held { _own: Own::new(&file), _file: file });
    Ok(record)
}

/// Leaves a group, as a member of these kinds. Returns the record of the memberships that ended.
pub(super) fn leave(subnet: Subnet<'_>, mask: u64, wanted: &Record) -> Result<Record, Status> {
    if mask & OF_MEMBER != OF_MEMBER {
        return Err(Status::InsufficientComponents);
    }
    let directory = &subnet.settings.fabric;
    let _table = locked(&directory.join(TABLE), libc::LOCK_EX).map_err(|_| Status::NoResources)?;
    let same = |known: &Record| known[..field::PORT_GID.end] == wanted[..field::PORT_GID.end];
    let mut record = entries(directory).into_iter().find(same).ok_or(Status::InvalidRequest)?;
    let (had, leaves) = (record[field::STATE] & KINDS, wanted[field::STATE] & KINDS);
    if leaves == 0 || leaves & !had != 0 {
        return Err(Status::InvalidRequest);
    }
    let path = path(directory, &record);
    record[field::STATE] &= !leaves;
    if had == leaves {
        // Of several processes that have joined for one port, each leaves for itself.
        let was_held = lock(&HELD).remove(&path).is_some();
        let is_last = || open(&path, false).is_ok_and(|file| flock(&file, libc::LOCK_EX | libc::LOCK_NB).is_ok());
        if !was_held || is_last() {
            std::fs::remove_file(&path).map_err(|_| Status::NoResources)?;
        }
    } else {
        let stored = open(&path, false).and_then(|file| file.write_all_at(&record, 0));
        stored.map_err(|_| Status::NoResources)?;
    }
    record[field::STATE] = record[field::STATE] & !KINDS | leaves;
    Ok(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::umad::test_settings;

    const ALL: u64 = OF_MEMBER | OF_GROUP;

    /// A wish of the port with this number of the first device.
    fn wish(group: u8, port: u8, kinds: u8) -> Record {
        let mut record = [0; RECORD_BYTES];
        record[field::MGID].copy_from_slice(&[0xff, 0x12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, group]);
        record[field::PORT_GID].copy_from_slice(&[0xfe, 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0x5f, 3, 0, 0, 0, port]);
        record[field::QKEY].copy_from_slice(&[0x11; 4]);
        record[field::PKEY].copy_from_slice(&[0xff; 2]);
        record[field::STATE] = 0x20 | kinds;
        record
    }

    #[test]
    fn groups_live_as_long_as_their_members() {
        let directory = tempfile::tempdir().unwrap();
        let settings = settings::Settings { fabric: directory.path().into(), ..test_settings("infiniband") };
        let subnet = Subnet { settings: &settings };
        let lids = || all(subnet).iter().map(|record| record[37]).collect::<Vec<_>>();
        assert_eq!(join(subnet, OF_MEMBER, &wish(1, 1, 1)), Err(Status::InsufficientComponents), "a new group");
        let first = join(subnet, ALL, &wish(1, 1, 1)).unwrap();
        assert_eq!(
            (&first[32..44], first[48]),
            (&[0x11, 0x11, 0x11, 0x11, 0xc0, 1, 0x85, 0, 0xff, 0xff, 0x90, 0x92][..], 0x21)
        );
        assert_eq!(join(subnet, ALL, &wish(2, 1, 1)).unwrap()[field::MLID], [0xc0, 2]);
        // The second member needs no more than the names, and gets the group's.
        let second = join(subnet, OF_MEMBER, &Record::map(wish(1, 2, 4), |byte| if byte == 0x11 { 0 } else { byte }));
        assert_eq!(second.unwrap()[field::QKEY], [0x11; 4]);
        assert_eq!(lids(), [1, 1, 2]);
        for (mask, record, refusal) in [
            (ALL, Record::map(wish(1, 1, 1), |byte| if byte == 0x11 { 0x12 } else { byte }), Status::InvalidRequest),
            (ALL, wish(1, 9, 1), Status::InvalidGid),
            (ALL, wish(1, 1, 0), Status::InsufficientComponents),
            (OF_GROUP, wish(1, 1, 1), Status::InsufficientComponents),
        ] {
            assert_eq!(join(subnet, mask, &record), Err(refusal));
        }
        assert_eq!(join(subnet, ALL, &wish(1, 1, 2)).unwrap()[48], 0x23);
        assert_eq!(leave(subnet, ALL, &wish(1, 1, 1)).unwrap()[48], 0x21);
        assert_eq!(leave(subnet, ALL, &wish(1, 1, 1)), Err(Status::InvalidRequest), "left already");
        assert_eq!(lids(), [1, 1, 2]);
        leave(subnet, ALL, &wish(1, 1, 2)).unwrap();
        assert_eq!(lids(), [1, 2]);
        // Another process has joined for the port, too.
        let elsewhere = open(&path(directory.path(), &wish(2, 1, 1)), false).unwrap();
        flock(&elsewhere, libc::LOCK_SH).unwrap();
        leave(subnet, ALL, &wish(2, 1, 1)).unwrap();
        assert_eq!(lids(), [1, 2]);
        drop(elsewhere);
        assert_eq!(lids(), [1]);
        // A process that dies gives its locks up.
        lock(&HELD).retain(|path, _| !path.starts_with(directory.path()));
        assert_eq!(lids(), [] as [u8; 0]);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "the table's lock alone");
    }
}
