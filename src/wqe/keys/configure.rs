//! Indirect memory keys: the request that sets a key's memory and its rights. Knows no queue.
use core::ops::BitOr;

use crate::transport::Rc;
use crate::types::Rkey;
use crate::wqe::keys::change::{ANY_QPN, KeySegs, LIST_ENTRIES, NO_CHANGE, changes_keys};
use crate::wqe::keys::seg::{MkeySeg, umr};
use crate::wqe::words::be::{Be16, Be32, Be64};

/// The operations that an indirect key permits. Combine with `|`. The keys behind it must permit this side's access:
/// local read, or local write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyRights(u8);

impl KeyRights {
    /// Only reads by this side's own requests. This right cannot be taken away.
    pub const NONE: Self = Self(0);
    /// This side's device writes: receives, and the data of READs.
    pub const LOCAL_WRITE: Self = Self(umr::LOCAL_WRITE);
    /// Peers READ.
    pub const REMOTE_READ: Self = Self(umr::REMOTE_READ);
    /// Peers WRITE.
    pub const REMOTE_WRITE: Self = Self(umr::REMOTE_WRITE);
    /// Peers' atomics.
    pub const REMOTE_ATOMIC: Self = Self(umr::ATOMIC);
}

impl BitOr for KeyRights {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Sets the memory behind an indirect key, its rights, or both (`mlx5dv_wr_mkey_configure`, `mlx5dv_wr_mr_list`,
/// `mlx5dv_wr_mr_interleaved`). When the request is done, the key is valid, even if it was free before. Transports: RC.
///
/// ```text
///    0  control segment: the key
///   16  UMR control segment
///   64  memory key segment: the key's lowest byte, rights, length
///  128  the list, up to a whole WQEBB of entries; or a data segment of where it is
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfigureKey(KeySegs);

impl ConfigureKey {
    pub(in crate::wqe) const fn new(key: Rkey) -> Self {
        let qpn_mkey = Be32::new(ANY_QPN << 8 | key.0 & 0xff);
        Self(KeySegs::new(key, 0, 0, 0, MkeySeg { qpn_mkey, ..NO_CHANGE }))
    }

    pub(in crate::wqe) fn rights(mut self, rights: KeyRights) -> Self {
        let all = umr::MASK_LOCAL_WRITE | umr::MASK_REMOTE_READ | umr::MASK_REMOTE_WRITE | umr::MASK_ATOMIC;
        self.0.umr.mkey_mask = self.0.umr.mkey_mask.or(Be64::new(all));
        self.0.mkey.access_flags = rights.0;
        self
    }

    /// Adds a list of `entries` that has so many `bytes`.
    pub(in crate::wqe) fn layout(mut self, entries: usize, bytes: u64) -> Self {
        // The encoder refuses longer lists.
        self.0.umr.klm_octowords = Be16::new(entries.next_multiple_of(LIST_ENTRIES) as u16);
        self.0.umr.mkey_mask = self.0.umr.mkey_mask.or(Be64::new(umr::MASK_LEN));
        self.0.mkey.len = Be64::new(bytes);
        self
    }

    /// Announces so many DS of formats.
    pub(in crate::wqe) fn formats(mut self, ds: usize) -> Self {
        self.0.umr.translation_offset = Be16::new(ds as u16);
        self.0.mkey.flags_pd = self.0.mkey.flags_pd.or(Be32::new(umr::BSF_ENABLE));
        self.plain()
    }

    /// Replaces the key's formats with those that follow, or with none.
    pub(in crate::wqe) fn plain(mut self) -> Self {
        self.0.umr.mkey_mask = self.0.umr.mkey_mask.or(Be64::new(umr::MASK_BSF_ENABLE));
        self
    }

    /// Sets the number of reported signature errors.
    pub(in crate::wqe) fn signature_errors(mut self, count: u32) -> Self {
        self.0.umr.mkey_mask = self.0.umr.mkey_mask.or(Be64::new(umr::MASK_SIG_ERR));
        self.0.mkey.flags_pd = self.0.mkey.flags_pd.or(Be32::new((count & 1) << umr::SIG_ERR_SHIFT));
        self
    }

    /// Marks the list as one in memory.
    pub(in crate::wqe) fn pointed(mut self) -> Self {
        self.0.umr.flags = 0;
        self
    }
}

changes_keys! {
    ConfigureKey: Rc;
}
