//! A slot: one device instance's place in the fabric's directory.
//!
//! The slot's file is locked (`flock`) for the life of the instance, so a slot is free again as soon as its process
//! is dead. The file holds what the others must know of the owner:
//!
//! ```text
//! 0    magic            4 last generation   8 generation while the owner is there, else 0
//! 64   wake-up words    128 arrivals: counts rings announced
//! 192  number of LIDs   196 number of GIDs  256 LIDs (u16)   512 types of GIDs (u8)   1024 GIDs
//! 4096 per sending slot: generation of the sender that has made a ring to this owner, else 0
//! ```
//! The file is never removed or replaced, so a mapping of it stays good over all its owners; the generation tells
//! them apart. It is part of the names of ring files, so rings of the dead are never mistaken for those of the
//! living.

use std::{
    fs::{File, OpenOptions},
    io,
    ops::Range,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use rustix::fs::{FallocateFlags, FlockOperation, fallocate, flock};

use super::memory::Shared;
use crate::{
    config::{Gid, GidType},
    notify::Notify,
    wire::Address,
};

/// Slots of a fabric: 2^24 QPNs in shares of 2^14.
pub const SLOTS: u32 = 1 << (24 - LOG_QPNS);
/// log2 of the QPNs of a slot.
const LOG_QPNS: u32 = 14;
/// QPNs of a slot that are for no QP of a program: as in the whole space, management (0 and 1) and others that mlx5
/// devices keep for themselves.
const RESERVED_QPNS: u32 = 0x40;
/// The multicast QPN, no QP's.
const QPN_MULTICAST: u32 = 0xff_ffff;

/// The most LIDs, and the most GIDs, of one instance.
pub const MAX_ADDRESSES: usize = 128;

const MAGIC: u32 = 0x4c53_4354;
const MAGIC_AT: usize = 0;
const LAST_GENERATION_AT: usize = 4;
const GENERATION_AT: usize = 8;
const NOTIFY_AT: usize = 64;
const ARRIVALS_AT: usize = 128;
const LID_COUNT_AT: usize = 192;
const GID_COUNT_AT: usize = 196;
const LIDS_AT: usize = 256;
const GID_TYPES_AT: usize = 512;
const GIDS_AT: usize = 1024;
const INBOUND_AT: usize = 4096;
const FILE_BYTES: usize = INBOUND_AT + SLOTS as usize * 4;

/// The QPNs of a slot, reserved ones first.
fn qpns(slot: u32) -> Range<u32> {
    slot << LOG_QPNS..((slot + 1) << LOG_QPNS).min(QPN_MULTICAST)
}

/// Those of them that are for QPs.
pub(super) fn qp_qpns(slot: u32) -> Range<u32> {
    let Range { start, end } = qpns(slot);
    start + RESERVED_QPNS..end
}

/// The one that stands for QP 1; slot 0's is QP 1 itself.
pub(super) fn gsi_qpn(slot: u32) -> u32 {
    qpns(slot).start + 1
}

/// The life that the slot with `qpn` is in: its owner's generation, `None` if nobody is there.
pub(super) fn life(directory: &Path, qpn: u32) -> Option<u32> {
    let control = Control::of_peer(directory, slot_of(qpn)).ok()?;
    let generation = control.generation();
    (generation != 0 && !control.is_abandoned()).then_some(generation)
}

/// The slot that has a QPN of 24 bits.
pub(super) fn slot_of(qpn: u32) -> u32 {
    (qpn >> LOG_QPNS) & (SLOTS - 1)
}

/// How shared memory says of which type a GID is; 0 is none.
pub(super) fn gid_type_code(kind: GidType) -> u8 {
    match kind {
        GidType::InfiniBand => 1,
        GidType::RoceV1 => 2,
        GidType::RoceV2 => 3,
    }
}

/// What [`gid_type_code`] has made a number of.
pub(super) fn gid_type(code: u8) -> Option<GidType> {
    [GidType::InfiniBand, GidType::RoceV1, GidType::RoceV2].into_iter().find(|&kind| gid_type_code(kind) == code)
}

/// One owner of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) slot: u32,
    /// Not 0.
    pub(super) generation: u32,
}

/// Name of the ring's file from one owner to another.
pub(super) fn ring_path(directory: &Path, from: Owner, to: Owner) -> PathBuf {
    let [Owner { slot: a, generation: b }, Owner { slot: c, generation: d }] = [from, to];
    directory.join(format!("ring-{a:04}.{b:08x}-{c:04}.{d:08x}"))
}

/// The slots that a ring's file name names.
fn ring_ends(name: &str) -> Option<(u32, u32)> {
    let (from, to) = name.strip_prefix("ring-")?.split_once('-')?;
    Some((from.split_once('.')?.0.parse().ok()?, to.split_once('.')?.0.parse().ok()?))
}

/// Opens a file of the fabric that another device has made.
pub(super) fn open_shared(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOFOLLOW).open(path)
}

/// Makes the file of a new ring, with all its memory, so that touching it cannot fail later.
pub(super) fn create_ring_file(path: &Path, len: usize) -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)?;
    if let Err(error) = fallocate(&file, FallocateFlags::empty(), 0, len as u64) {
        // Best effort: whoever takes one of the slots next removes it, too.
        let _ = std::fs::remove_file(path);
        return Err(error.into());
    }
    Ok(file)
}

/// The shared page of a slot.
#[derive(Clone, Debug)]
pub(super) struct Control {
    shared: Arc<Shared>,
    /// To ask for the lock.
    file: Arc<File>,
}

impl Control {
    fn path(directory: &Path, slot: u32) -> PathBuf {
        directory.join(format!("slot-{slot:04}"))
    }

    fn open(file: File) -> io::Result<Self> {
        Ok(Self { shared: Arc::new(Shared::map(&file, FILE_BYTES)?), file: Arc::new(file) })
    }

    /// The page of a slot that has had an owner; an error of kind `NotFound` if it never had one.
    pub(super) fn of_peer(directory: &Path, slot: u32) -> io::Result<Self> {
        let control = Self::open(open_shared(&Self::path(directory, slot))?)?;
        if control.shared.word(MAGIC_AT).load(Ordering::Acquire) != MAGIC {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "not a slot of a fabric"));
        }
        Ok(control)
    }

    /// The owner's generation; 0 if nobody answers.
    pub(super) fn generation(&self) -> u32 {
        self.shared.word(GENERATION_AT).load(Ordering::Acquire)
    }

    /// Whether the owner's process is dead, or has left.
    pub(super) fn is_abandoned(&self) -> bool {
        // The owner's lock is exclusive; one that we get we give back at once.
        let got = flock(&self.file, FlockOperation::NonBlockingLockShared).is_ok();
        if got {
            let _ = flock(&self.file, FlockOperation::Unlock);
        }
        got
    }

    /// Counts rings announced to the owner.
    pub(super) fn arrivals(&self) -> &AtomicU32 {
        self.shared.word(ARRIVALS_AT)
    }

    /// Generation of the sender that has made a ring from this slot, or 0.
    pub(super) fn inbound(&self, from: u32) -> &AtomicU32 {
        self.shared.word(INBOUND_AT + (from & (SLOTS - 1)) as usize * 4)
    }

    /// Tells the owner that `from` has made a ring to it.
    pub(super) fn announce(&self, from: Owner) {
        self.inbound(from.slot).store(from.generation, Ordering::Release);
        self.arrivals().fetch_add(1, Ordering::Release);
    }

    /// What wakes the owner.
    pub(super) fn notify(&self) -> Notify {
        let words = self.shared.address(NOTIFY_AT);
        let owner: Arc<dyn std::any::Any + Send + Sync> = Arc::new(self.shared.clone());
        // SAFETY: inside the mapping and aligned, both checked by `address`; the mapping lives as long as `owner`,
        // and every process accesses the words through `Notify` only.
        unsafe { Notify::at(words, owner) }
    }

    /// Whom the owner of `slot` answers for, as far as it says anything sensible.
    pub(super) fn address(&self, slot: u32) -> Address {
        let count = |at| (self.shared.word(at).load(Ordering::Relaxed) as usize).min(MAX_ADDRESSES);
        let lid = |index: usize| u16::from_ne_bytes(self.shared.read_array(LIDS_AT + index * 2));
        let gid = |index: usize| {
            let [code] = self.shared.read_array(GID_TYPES_AT + index);
            Some(Gid { raw: self.shared.read_array(GIDS_AT + index * 16), kind: gid_type(code)? })
        };
        Address {
            lids: (0..count(LID_COUNT_AT)).map(lid).collect(),
            gids: (0..count(GID_COUNT_AT)).filter_map(gid).collect(),
            qpns: qpns(slot),
        }
    }
}

/// A slot that is ours, until dropped or until the process dies.
#[derive(Debug)]
pub(super) struct OwnSlot {
    pub(super) owner: Owner,
    pub(super) address: Address,
    pub(super) control: Control,
    directory: PathBuf,
    /// The process that took the slot: a forked child that drops its copy must not give the slot up.
    pid: u32,
}

impl OwnSlot {
    /// Takes the first free slot; `None` if there is none.
    pub(super) fn take(directory: &Path, lids: &[u16], gids: &[Gid]) -> io::Result<Option<Self>> {
        for slot in 0..SLOTS {
            let path = Control::path(directory, slot);
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(libc::O_NOFOLLOW);
            let file = options.open(path)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Self::set_up(directory, slot, file, lids, gids).map(Some),
                Err(rustix::io::Errno::WOULDBLOCK) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }

    fn set_up(directory: &Path, slot: u32, file: File, lids: &[u16], gids: &[Gid]) -> io::Result<Self> {
        fallocate(&file, FallocateFlags::empty(), 0, FILE_BYTES as u64)?;
        let control = Control::open(file)?;
        let shared = &control.shared;
        shared.word(GENERATION_AT).store(0, Ordering::Release);
        let last = shared.word(LAST_GENERATION_AT).load(Ordering::Relaxed);
        let generation = last.wrapping_add(1).max(1);
        shared.word(LAST_GENERATION_AT).store(generation, Ordering::Relaxed);
        remove_rings(directory, slot);
        for from in 0..SLOTS {
            control.inbound(from).store(0, Ordering::Relaxed);
        }
        shared.word(LID_COUNT_AT).store(lids.len() as u32, Ordering::Relaxed);
        shared.word(GID_COUNT_AT).store(gids.len() as u32, Ordering::Relaxed);
        for (index, lid) in lids.iter().enumerate() {
            shared.write(LIDS_AT + index * 2, &lid.to_ne_bytes());
        }
        for (index, gid) in gids.iter().enumerate() {
            shared.write(GID_TYPES_AT + index, &[gid_type_code(gid.kind)]);
            shared.write(GIDS_AT + index * 16, &gid.raw);
        }
        shared.word(MAGIC_AT).store(MAGIC, Ordering::Release);
        shared.word(GENERATION_AT).store(generation, Ordering::Release);
        let address = Address { lids: lids.to_vec(), gids: gids.to_vec(), qpns: qpns(slot) };
        let owner = Owner { slot, generation };
        Ok(Self { owner, address, control, directory: directory.to_path_buf(), pid: std::process::id() })
    }
}

impl Drop for OwnSlot {
    fn drop(&mut self) {
        if self.pid == std::process::id() {
            self.control.shared.word(GENERATION_AT).store(0, Ordering::Release);
            // Announced rings that their reader has not opened yet must stay: only those to us go.
            remove_files(&self.directory, |_, to| to == self.owner.slot);
        }
        // Closing the file gives the lock up.
    }
}

/// Removes the files of all rings that former owners of the slot have left.
fn remove_rings(directory: &Path, slot: u32) {
    remove_files(directory, |from, to| from == slot || to == slot);
}

fn remove_files(directory: &Path, condemned: impl Fn(u32, u32) -> bool) {
    // Best effort: a file that stays costs memory but is never opened again.
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_str().and_then(ring_ends).is_some_and(|(from, to)| condemned(from, to)) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
