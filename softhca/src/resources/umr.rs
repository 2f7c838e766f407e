//! Changing memory keys by WQEs (UMR): Linux registers and invalidates memory so.
//!
//! A change happens as a whole or not at all. The permitted changes depend on the queue. A queue made for it
//! ([`Transport::RegUmr`]) changes keys of every protection domain. Other queues change keys of their own domain.
//! Among them, only a kernel's queues set the host's pages behind a key: this right reaches all of the host's memory.
//! Users change indirect keys alone, whose pieces' keys are looked at when they are used.

use super::Resources;
use crate::config::Generation;
use crate::context::{Access, KeyPiece, MkeyContext, QpContext, Transport};
use crate::crypto::{EncryptionFormat, Properties, has_many_units};
use crate::memory::keys::fault::UmrFault;
use crate::memory::keys::mkey::{Accessor, Behind, KeyFault};
use crate::memory::{ENTRY_BYTES, KeyList, MAX_PIECE_LOG, MAX_PIECES_LOG, PAGE_LOGS};
use crate::wqe::{KeyChange, OCTWORD, Umr, UmrList};

impl Resources {
    /// Executes a UMR WQE of the QP `qpn`.
    ///
    /// # Errors
    /// [`UmrFault`]; nothing has changed then.
    pub(crate) fn change_mkey(&mut self, qpn: u32, qp: &QpContext, umr: &Umr) -> Result<(), UmrFault> {
        let bytes = self.list_of(qp, umr)?;
        let index = umr.key >> 8;
        let mkey = self.mkeys.get(index).ok_or(KeyFault::NoSuch(umr.key))?;
        let (key, before) = (mkey.key, mkey.context);
        if umr.change.variant.is_none() && key != umr.key {
            return Err(KeyFault::NoSuch(umr.key).into());
        }
        let room = mkey.umr_octwords.ok_or(UmrFault::NotEnabled(key))?;
        check_rights(qp, key, before.pd, &mkey.behind, &umr.change)?;
        if umr.must_be_free.is_some_and(|free| free != mkey.free) {
            return Err(UmrFault::State { key, free: mkey.free });
        }
        match mkey.qpn {
            Some(bound) if umr.must_be_of_qp && bound != qpn => return Err(KeyFault::WrongQp { key, bound }.into()),
            // Only windows of type 2 can be invalidated by peers (Linux `drivers/infiniband/hw/mlx5/mr.c`,
            // `mlx5_ib_alloc_mw`). This request also invalidates a key made for lists, which belongs to no QP
            // (rdma-core `tests/test_mlx5_mkey.py`), and a window of type 1, whose context is alike.
            None if umr.must_be_of_qp && mkey.remote_invalidate => return Err(UmrFault::Unbound(key)),
            _ => {}
        }
        if let Some(Some(qpn)) = umr.change.qpn.filter(|&new| new.is_some_and(|new| new != qpn)) {
            return Err(UmrFault::OtherQp { key, qpn });
        }
        let is_list = matches!(mkey.behind, Behind::Pieces(_));
        let after = self.changed(key, before, is_list, &umr.change)?;
        let free = umr.change.free.unwrap_or(mkey.free);
        let end = umr.at.checked_add(umr.octwords.into()).filter(|&end| end <= room.into());
        if umr.octwords != 0 && end.is_none() {
            return Err(UmrFault::Length { key, at: umr.at, octwords: umr.octwords, room });
        }
        let formats = u32::from(umr.format_octwords);
        if formats > mkey.signatures.octwords || umr.change.formatted.is_some() && mkey.signatures.octwords == 0 {
            let room = mkey.signatures.octwords;
            return Err(UmrFault::Formats { key, octwords: umr.format_octwords, room });
        }
        // SPDK and DPDK leave `bsf_en` as it is: their keys have it from the first.
        let has_formats = umr.signatures.is_some() || umr.encryption.is_some();
        let formatted = umr.change.formatted.or(has_formats.then_some(true));
        if has_formats != (formatted == Some(true)) {
            return Err(UmrFault::Change {
                key,
                what: "formats that are there and not enabled, or the other way round",
            });
        }
        let encryption = self.encryption_of(key, before.pd, mkey.encryption.is_some(), umr.encryption)?;
        let list = list_after(&mkey.behind, umr, &bytes).map_err(|what| UmrFault::Change { key, what })?;
        if !free && after.len != u64::MAX && after.len > list.room(&mkey.behind, after.iova) {
            return Err(UmrFault::Change { key, what: "a region that is longer than its list" });
        }
        let (before_entries, entries) = (mkey.behind.translations(), list.translations(&mkey.behind));
        if !self.may_hold(entries.saturating_sub(before_entries)) {
            return Err(UmrFault::Full(key));
        }

        // From here on nothing fails.
        self.translations = self.translations - before_entries + entries;
        if let Some(mkey) = self.mkeys.get_mut(index) {
            list.apply(&mut mkey.behind);
            mkey.context = after;
            mkey.free = free;
            mkey.qpn = umr.change.qpn.unwrap_or(mkey.qpn);
            mkey.remote_invalidate = umr.change.remote_invalidate.unwrap_or(mkey.remote_invalidate);
            if let Some(state) = mkey.encryption.as_mut().filter(|_| formatted.is_some()) {
                state.set(encryption);
            }
            mkey.signatures.change(formatted, umr.signatures, umr.change.errors);
            if let Some(variant) = umr.change.variant {
                mkey.key = index << 8 | u32::from(variant);
            }
        }
        for (pd, change) in [(before.pd, -1), (after.pd, 1)] {
            if let Some(pd) = self.pds.get_mut(pd) {
                pd.users = pd.users.wrapping_add_signed(change);
            }
        }
        Ok(())
    }

    /// How a key is to encrypt, if it may and the key of encryption is there.
    fn encryption_of(
        &self,
        key: u32,
        pd: u32,
        encrypts: bool,
        format: Option<EncryptionFormat>,
    ) -> Result<Option<Properties>, UmrFault> {
        let Some(EncryptionFormat { dek, order, unit, first, tag }) = format else { return Ok(None) };
        let wrong = |what| Err(UmrFault::Change { key, what });
        if !encrypts {
            return wrong("encryption of a key that was not made for it (crypto_en)");
        }
        let Some(found) = self.deks.get(dek).filter(|dek| dek.info.pd == pd) else {
            return wrong("a key of encryption that the protection domain does not have");
        };
        if found.info.tag.is_some_and(|expected| expected != tag) {
            return wrong("a tag that is not that of the key of encryption");
        }
        let many = has_many_units(self.generation);
        let first = if many { u128::from_be_bytes(first) } else { u128::from_le_bytes(first) };
        Ok(Some(Properties { dek, order, unit, first, one: !many }))
    }

    /// The bytes of the list: 1 MiB at most, by the width of their count.
    fn list_of(&self, qp: &QpContext, umr: &Umr) -> Result<Vec<u8>, UmrFault> {
        match &umr.list {
            UmrList::Inline(bytes) => Ok(bytes.clone()),
            UmrList::Reference(seg) => {
                let mut bytes = vec![0; usize::from(umr.octwords) * OCTWORD];
                self.gather(Accessor::from(qp), &[*seg], 0, &mut bytes)?;
                Ok(bytes)
            }
        }
    }

    /// The context after the change, if a key can have it.
    fn changed(
        &self,
        key: u32,
        before: MkeyContext,
        is_list: bool,
        change: &KeyChange,
    ) -> Result<MkeyContext, UmrFault> {
        let wrong = |what| Err(UmrFault::Change { key, what });
        let access = Access {
            local_write: change.local_write.unwrap_or(before.access.local_write),
            remote_write: change.remote_write.unwrap_or(before.access.remote_write),
            remote_read: change.remote_read.unwrap_or(before.access.remote_read),
            remote_atomic: change.remote_atomic.unwrap_or(before.access.remote_atomic),
        };
        // Pieces have keys of their own, which must permit local writes; libmlx5 binds windows without.
        if (access.remote_write || access.remote_atomic) && !access.local_write && !is_list {
            return wrong("remote write or atomic access without local write");
        }
        if change.local_read == Some(false) {
            return wrong("a key that the device may not even read by itself");
        }
        if change.relaxed_ordering == Some(true) && self.generation < Generation::ConnectX6Dx {
            return wrong("relaxed ordering, which a ConnectX-5 does not have");
        }
        if change.log_bytes_5.is_some() && self.generation < UMR_LOG_ENTITY_SIZE_5 {
            return wrong("bit 5 of the length of pages: not a capability (umr_log_entity_size_5)");
        }
        if (change.log_bytes.is_some() || change.log_bytes_5.is_some()) && !self.umr_registers {
            return wrong("another length of pages, which this device does not change");
        }
        if change.pd.is_some_and(|pd| self.pds.get(pd).is_none()) {
            return wrong("a protection domain that does not exist");
        }
        Ok(MkeyContext {
            pd: change.pd.unwrap_or(before.pd),
            iova: change.start.unwrap_or(before.iova),
            addr: before.addr,
            len: change.len.unwrap_or(before.len),
            access,
        })
    }
}

/// The first devices with `cmd_hca_cap_2.umr_log_entity_size_5`. No source says which they are.
pub(crate) const UMR_LOG_ENTITY_SIZE_5: Generation = Generation::ConnectX8;

/// Effect of a WQE on a key's list.
enum ListChange {
    /// Nothing.
    None,
    /// Pages of this length, and entries from a place on: of what may be a very long table, nothing else is touched.
    Pages {
        /// log2 of the bytes of a page.
        log_bytes: u8,
        /// Number of the first entry.
        at: usize,
        /// The entries.
        entries: Vec<u64>,
    },
    /// A new list of pieces.
    Pieces(KeyList),
}

impl ListChange {
    /// Bytes that a region with this first address can have afterwards.
    fn room(&self, before: &Behind, iova: u64) -> u64 {
        match self {
            Self::None => before.room(iova),
            Self::Pages { log_bytes, .. } => {
                let bytes = 1_u64 << (log_bytes & 63);
                self.translations(before).saturating_mul(bytes).saturating_sub(iova % bytes)
            }
            Self::Pieces(list) => list.bytes(),
        }
    }

    /// [`Behind::translations`] afterwards.
    fn translations(&self, before: &Behind) -> u64 {
        match self {
            Self::None => before.translations(),
            Self::Pages { entries, .. } if entries.is_empty() => before.translations(),
            Self::Pages { at, entries, .. } => before.translations().max((at + entries.len()) as u64),
            Self::Pieces(list) => Behind::Pieces(list.clone()).translations(),
        }
    }

    fn apply(self, behind: &mut Behind) {
        match (self, behind) {
            (Self::Pages { log_bytes, at, entries }, Behind::Pages(table)) => {
                table.set_log_bytes(log_bytes);
                if !entries.is_empty() {
                    table.put(at, entries.into_iter());
                }
            }
            (Self::Pieces(new), Behind::Pieces(list)) => *list = new,
            _ => {}
        }
    }
}

/// The effect of a WQE on the list of a key, or the reason why it is impossible.
fn list_after(behind: &Behind, umr: &Umr, bytes: &[u8]) -> Result<ListChange, &'static str> {
    let KeyChange { log_bytes, log_bytes_5, start, len, .. } = umr.change;
    // Each mask changes its bits alone.
    let log = |before: u8| {
        let low = log_bytes.unwrap_or(before & 0x1f);
        low | if log_bytes_5.unwrap_or(before & 0x20 != 0) { 0x20 } else { 0 }
    };
    let changes_log = log_bytes.is_some() || log_bytes_5.is_some();
    // The place of no list was not checked. Lists have no more than 2^26 entries.
    let at = if umr.octwords == 0 { 0 } else { umr.at as usize };
    match behind {
        Behind::Memory if umr.octwords != 0 || changes_log => Err("a list, which it does not have"),
        Behind::Memory if start.is_some() || len.is_some() => Err("another region, and it has no list"),
        Behind::Memory => Ok(ListChange::None),
        Behind::Pages(table) => {
            let log_bytes = log(table.log_bytes());
            if !PAGE_LOGS.contains(&log_bytes) {
                return Err("pages of a length that no page has");
            }
            let entries = bytes.chunks_exact(ENTRY_BYTES).map(be64).collect();
            Ok(ListChange::Pages { log_bytes, at: at * (OCTWORD / ENTRY_BYTES), entries })
        }
        Behind::Pieces(list) => {
            let mut list = list.clone();
            if let (KeyList::Equal { log_bytes, .. }, true) = (&mut list, changes_log) {
                *log_bytes = log(*log_bytes);
                if *log_bytes > MAX_PIECE_LOG {
                    return Err("pieces of a length that no piece has");
                }
            }
            let pieces: Vec<KeyPiece> = bytes.chunks_exact(OCTWORD).map(piece).collect();
            if at.saturating_add(pieces.len()) > 1 << MAX_PIECES_LOG {
                return Err("more than 2^16 pieces");
            }
            if !pieces.is_empty() {
                list.put(at, pieces);
            }
            if let Some(fault) = list.fault() {
                return Err(fault);
            }
            Ok(ListChange::Pieces(list))
        }
    }
}

/// Refuses changes that the QP may not make.
fn check_rights(qp: &QpContext, key: u32, pd: u32, behind: &Behind, change: &KeyChange) -> Result<(), UmrFault> {
    if qp.transport == Transport::RegUmr {
        return Ok(());
    }
    if pd != qp.pd {
        return Err(KeyFault::WrongPd { key, found: pd, expected: qp.pd }.into());
    }
    if change.pd.is_some() {
        return Err(UmrFault::NotPermitted { key, what: "another protection domain" });
    }
    match behind {
        Behind::Pieces(_) => Ok(()),
        _ if qp.privileges.fast_registration => Ok(()),
        _ => Err(UmrFault::NotPermitted { key, what: "a key of memory itself" }),
    }
}

/// A number of 8 bytes.
fn be64(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// A piece as a list has it (`mlx5_ifc_klm_bits`).
fn piece(bytes: &[u8]) -> KeyPiece {
    let first = be64(&bytes[..8]);
    KeyPiece { key: first as u32, addr: be64(&bytes[8..]), len: first >> 32 }
}
