//! Memory keys: the memory that a number gives access to, the accessors, and their rights.

use super::list::KeyList;
use super::need::Need;
use super::page_table::PageTable;
use crate::context::{MkeyContext, QpContext, TphContext};
use crate::memory::formatted::encrypted::Encryption;
use crate::memory::formatted::signature::SignatureFormat;
use crate::memory::formatted::signed::Signed;
use crate::memory::host_memory::DmaFault;
use std::cell::Cell;
use std::ops::RangeInclusive;
use thiserror::Error;

/// The null key: a local key, of all addresses and every PD. Reads by it return zeros, and writes by it are lost. It
/// is below all keys that are given out.
pub const NULL_KEY: u32 = 0x200;

/// The reserved local key: all of the host's memory by the host's own addresses, of every PD. Only for queues that a
/// kernel has made with the right to it (IBTA vol. 1, 10.6.3.2).
pub const RESERVED_LKEY: u32 = 0x300;

/// The key that dumps and fills: as [`NULL_KEY`], but not for pieces of indirect keys. `ibv_alloc_null_mr` gives it out.
pub const DUMP_FILL_KEY: u32 = 0x500;

/// Most pieces of an indirect key, as log2.
pub(crate) const MAX_PIECES_LOG: u8 = 16;

/// log2 of the most bytes of a page, and of a piece where all have one length: what Linux takes for the limit of a
/// device that reports no other (`get_max_log_entity_size_cap`, `drivers/infiniband/hw/mlx5/mlx5_ib.h`).
pub(crate) const MAX_PIECE_LOG: u8 = 31;
/// log2 of the bytes that a page can have.
pub(crate) const PAGE_LOGS: RangeInclusive<u8> = 12..=MAX_PIECE_LOG;
/// Most keys in a row that an access goes through: an indirect key's, those of its pieces, and so on.
pub(crate) const MAX_INDIRECTION: u8 = 4;
/// Most pieces of host memory that one access may have, so that lists of tiny pieces cannot stop the device. A message
/// of 1 GiB has fewer pages.
pub(crate) const MAX_PIECES: u32 = 1 << 20;

/// The party that accesses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Accessor {
    /// Its protection domain; `None` if it serves all.
    pub(crate) pd: Option<u32>,
    /// It may use [`RESERVED_LKEY`].
    pub(crate) reserved_lkey: bool,
    /// The QP that asks for its peer: it may use keys that are bound to it.
    pub(crate) qpn: Option<u32>,
}

impl From<u32> for Accessor {
    /// An accessor with this protection domain and no other right.
    fn from(pd: u32) -> Self {
        Self { pd: Some(pd), reserved_lkey: false, qpn: None }
    }
}

impl From<&QpContext> for Accessor {
    fn from(qp: &QpContext) -> Self {
        Self { pd: qp.domain(), reserved_lkey: qp.privileges.reserved_lkey, qpn: None }
    }
}

/// Why memory cannot be reached by a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum KeyFault {
    /// No such key, or no longer.
    #[error("key {0:#x} names no memory: there is no such key, or no longer")]
    NoSuch(u32),
    /// The key belongs to another protection domain.
    #[error("key {key:#x} belongs to PD {found:#x}, the queue to PD {expected:#x}")]
    WrongPd {
        /// Key.
        key: u32,
        /// Its PD.
        found: u32,
        /// The queue's.
        expected: u32,
    },
    /// The key is bound to a QP, and it is another one that asks.
    #[error("key {key:#x} is bound to QP {bound:#x}")]
    WrongQp {
        /// Key.
        key: u32,
        /// The QP.
        bound: u32,
    },
    /// Not wholly inside of the key's region.
    #[error("key {key:#x}: {len} bytes at {addr:#x} are outside of its region, {size} bytes at {start:#x}")]
    OutOfBounds {
        /// Key.
        key: u32,
        /// First address, as the key's users name it.
        addr: u64,
        /// Bytes.
        len: u64,
        /// The region's first address.
        start: u64,
        /// Its bytes.
        size: u64,
    },
    /// The key does not permit this.
    #[error("key {key:#x} does not permit {need}")]
    NotPermitted {
        /// Key.
        key: u32,
        /// The right that was needed.
        need: Need,
    },
    /// The key gives access to nothing, yet or any more.
    #[error("key {0:#x} is free: it gives access to nothing")]
    Free(u32),
    /// There is no page, or none that permits the access.
    #[error("key {key:#x}: no page for {need} at {addr:#x}")]
    NoPage {
        /// Key.
        key: u32,
        /// Where, as the key's users name it.
        addr: u64,
        /// The right that was needed.
        need: Need,
    },
    /// Indirect keys lead to each other too often.
    #[error("key {key:#x} is one of more than {MAX_INDIRECTION} in a row")]
    TooIndirect {
        /// The last one.
        key: u32,
    },
    /// Too many pieces.
    #[error("key {key:#x}: {len} bytes at {addr:#x} are more than {MAX_PIECES} pieces")]
    TooManyPieces {
        /// Key.
        key: u32,
        /// First address, as the key's users name it.
        addr: u64,
        /// Bytes.
        len: u64,
    },
    /// Peers may not invalidate the key.
    #[error("key {0:#x} is not one that peers may invalidate")]
    NotInvalidated(u32),
    /// An atomic at an address that is not a multiple of its size.
    #[error("atomic at {0:#x}: not a multiple of its size")]
    Misaligned(u64),
    /// The key's signature value does not exist, belongs to another protection domain, or was not set to the initial
    /// content that the key's format requires.
    #[error("key {key:#x}: signature value {psv:#x} is {found:x?}, must be {expected:#x}")]
    SignatureValue {
        /// Key.
        key: u32,
        /// Number of the value.
        psv: u32,
        /// Its content, if it has any.
        found: Option<u64>,
        /// Its required content.
        expected: u64,
    },
    /// Signatures are not something that this access can do: an atomic, or through another key.
    #[error("key {0:#x} has formats: no atomics, and no other key before it")]
    Signed(u32),
    /// The fault of the region's encryption, or of the access to it.
    #[error("key {key:#x}: {what}")]
    Encryption {
        /// Key.
        key: u32,
        /// The fault.
        what: &'static str,
    },
    /// The memory behind the key is gone.
    #[error(transparent)]
    Dma(#[from] DmaFault),
}

/// The memory behind a key.
#[derive(Clone, Debug)]
pub(crate) enum Behind {
    /// Host memory, from the context's address on.
    Memory,
    /// Pages, by a table that UMR may change.
    Pages(PageTable),
    /// Pieces of other keys' regions.
    Pieces(KeyList),
}

impl Behind {
    /// Its entries, in units of a page's entry: the device counts its room in these units.
    pub(crate) fn translations(&self) -> u64 {
        match self {
            Self::Memory => 0,
            Self::Pages(table) => table.len() as u64,
            // A piece and where it ends take four times as much as a page.
            Self::Pieces(list) => 4 * list.len() as u64,
        }
    }

    /// Bytes that a region with this first address can have, by the length of the list.
    pub(crate) fn room(&self, iova: u64) -> u64 {
        match self {
            Self::Memory => u64::MAX,
            Self::Pages(table) => {
                let bytes = 1_u64 << (table.log_bytes() & 63);
                (table.len() as u64).saturating_mul(bytes).saturating_sub(iova % bytes)
            }
            Self::Pieces(list) => list.bytes(),
        }
    }
}

/// A key and its region.
#[derive(Clone, Debug)]
pub(crate) struct Mkey {
    /// The whole key: index and variant.
    pub(crate) key: u32,
    pub(crate) context: MkeyContext,
    pub(crate) behind: Behind,
    /// Peers may invalidate it.
    pub(crate) remote_invalidate: bool,
    /// The QP whose peer alone may use it: a memory window of type 2, while it is bound (`mkc.qpn`).
    pub(crate) qpn: Option<u32>,
    /// It gives access to nothing until UMR says otherwise (`mkc.free`).
    pub(crate) free: bool,
    /// UMR may change it (`mkc.umr_en`), and this is how long its list may become, in units of 16 bytes.
    pub(crate) umr_octwords: Option<u32>,
    /// Signatures.
    pub(crate) signatures: Signatures,
    /// It encrypts.
    pub(crate) encryption: Option<Encryption>,
    /// Processing hint (`mkc.pcie_tph_en`).
    pub(crate) tph: Option<TphContext>,
}

/// The signatures of a key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signatures {
    /// Room for formats, in units of 16 bytes (`mkc.bsf_octword_size`).
    pub(crate) octwords: u32,
    /// Its format, if it has one now.
    pub(crate) format: Option<Signed>,
    /// How many errors the driver has been told, modulo 2 (`mkc.expected_sigerr_count`).
    pub(crate) errors: bool,
    /// It has been told of one since it has said so.
    pub(crate) told: Cell<bool>,
}

impl Signatures {
    /// The driver says whether there is a format, which, and how many errors it has been told.
    pub(crate) fn change(&mut self, formatted: Option<bool>, format: Option<SignatureFormat>, errors: Option<bool>) {
        if formatted.is_some() {
            self.format = format.map(Signed::new);
        }
        if let Some(errors) = errors.filter(|&errors| errors != self.errors) {
            self.errors = errors;
            self.told.set(false);
        }
    }
}

impl Mkey {
    /// A key of host memory, which peers may invalidate, and UMR may not change.
    pub(crate) fn of_memory(key: u32, context: MkeyContext) -> Self {
        Self {
            key,
            context,
            behind: Behind::Memory,
            remote_invalidate: true,
            qpn: None,
            free: false,
            umr_octwords: None,
            signatures: Signatures::default(),
            encryption: None,
            tph: None,
        }
    }

    /// Its data has signatures, or is encrypted on one side.
    pub(crate) fn is_formatted(&self) -> bool {
        self.signatures.format.is_some() || self.encryption.is_some()
    }

    /// Whether this accessor may use the key at all: the checks that depend on the accessor alone.
    pub(crate) fn check_user(&self, by: &Accessor) -> Result<(), KeyFault> {
        let key = self.key;
        if let Some(expected) = by.pd.filter(|&pd| pd != self.context.pd) {
            return Err(KeyFault::WrongPd { key, found: self.context.pd, expected });
        }
        match self.qpn.filter(|_| self.qpn != by.qpn) {
            Some(bound) => Err(KeyFault::WrongQp { key, bound }),
            None => Ok(()),
        }
    }

    /// The fault of an access to `len` bytes at `addr`.
    pub(crate) fn outside(&self, addr: u64, len: u64) -> KeyFault {
        KeyFault::OutOfBounds { key: self.key, addr, len, start: self.context.iova, size: self.context.len }
    }

    /// Offset of `len` bytes at `addr` in the region, after all checks of this key.
    pub(crate) fn offset(&self, by: &Accessor, addr: u64, len: u64, need: Need) -> Result<u64, KeyFault> {
        let Self { key, context: c, .. } = self;
        let (key, c) = (*key, *c);
        self.check_user(by)?;
        if self.free {
            return Err(KeyFault::Free(key));
        }
        if !need.permitted_by(&c.access) {
            return Err(KeyFault::NotPermitted { key, need });
        }
        let offset = addr.wrapping_sub(c.iova);
        if offset > c.len || len > c.len - offset {
            return Err(self.outside(addr, len));
        }
        Ok(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Access;

    const KEY: u32 = 0x1807;

    fn mkey(iova: u64) -> Mkey {
        let access = Access { local_write: true, remote_read: true, ..Access::default() };
        let context = MkeyContext { pd: 3, iova, addr: 0x7000, len: 0x100, access };
        Mkey::of_memory(KEY, context)
    }

    #[test]
    fn bounds_are_exact() {
        let m = mkey(0x7000);
        assert_eq!(m.offset(&3.into(), 0x7000, 0x100, Need::LocalRead), Ok(0));
        assert_eq!(m.offset(&3.into(), 0x70ff, 1, Need::LocalRead), Ok(0xff));
        assert_eq!(m.offset(&3.into(), 0x7100, 0, Need::LocalRead), Ok(0x100));
        for (addr, len) in [(0x6fff, 1), (0x7000, 0x101), (0x70ff, 2), (0x7101, 0), (0, u64::MAX), (u64::MAX, 2)] {
            let fault = KeyFault::OutOfBounds { key: KEY, addr, len, start: 0x7000, size: 0x100 };
            assert_eq!(m.offset(&3.into(), addr, len, Need::LocalRead), Err(fault));
        }
    }

    #[test]
    fn zero_based_and_iova_regions_translate() {
        assert_eq!(mkey(0).offset(&3.into(), 0x10, 8, Need::RemoteRead), Ok(0x10));
        assert_eq!(mkey(u64::MAX - 0x7f).offset(&3.into(), u64::MAX, 1, Need::LocalWrite), Ok(0x7f));
        assert_eq!(mkey(u64::MAX - 0x7f).offset(&3.into(), 0, 1, Need::LocalWrite), Ok(0x80));
    }

    #[test]
    fn pd_and_access_are_checked() {
        let m = mkey(0x7000);
        let wrong = KeyFault::WrongPd { key: KEY, found: 3, expected: 4 };
        assert_eq!(m.offset(&4.into(), 0x7000, 1, Need::LocalRead), Err(wrong));
        for need in [Need::RemoteWrite, Need::RemoteAtomic] {
            assert_eq!(m.offset(&3.into(), 0x7000, 8, need), Err(KeyFault::NotPermitted { key: KEY, need }));
        }
    }

    #[test]
    fn a_bound_key_is_for_one_qp() {
        let m = Mkey { qpn: Some(0x77), ..mkey(0) };
        let own = Accessor { qpn: Some(0x77), ..3.into() };
        assert_eq!(m.offset(&own, 0, 1, Need::RemoteRead), Ok(0));
        for other in [None, Some(0x78)] {
            let other = Accessor { qpn: other, ..own };
            let fault = KeyFault::WrongQp { key: KEY, bound: 0x77 };
            assert_eq!(m.offset(&other, 0, 1, Need::RemoteRead), Err(fault));
        }
        assert_eq!(mkey(0).offset(&own, 0, 1, Need::RemoteRead), Ok(0), "one that is bound to none");
    }
}
