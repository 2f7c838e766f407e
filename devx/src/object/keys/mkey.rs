//! Memory keys: of registered memory, and of pieces of other keys.

use core::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use blueflame::verbs::Access;
use blueflame::{Lkey, Remote, Rkey, Sge};

use crate::check::in_range;
use crate::cmd::{AccessMode, CreateMkeyIn, CreateMkeyOut, Klm, Mkc, QueryMkeyIn};
use crate::context::{Context, Object, Under};
use crate::error::Error;
use crate::mailbox::{Command, List};
use crate::memory::Umem;
use crate::object::pd::Pd;
use crate::support::ask::{at_least, has};

/// A memory key. Cheap to clone; destroyed with the last clone, and with the last key made of pieces of it.
#[derive(Clone, Debug)]
pub struct Mkey {
    handle: Arc<Handle>,
}

#[derive(Debug)]
struct Handle {
    object: Object,
    /// Index and variant, as WQEs name the key.
    key: u32,
    /// The first address.
    start: u64,
    len: u64,
}

/// Bytes of another key, of which an indirect key is made.
#[derive(Clone, Debug)]
pub struct Piece {
    key: Mkey,
    start: u64,
    len: u64,
}

/// Any queue pair of the protection domain may use the key.
const ANY_QP: u32 = 0xff_ffff;

/// log2 of the pages by which the device finds memory.
const LOG_PAGE: u8 = 12;

/// A variant of a key. Keys that get the same index one after the other differ in it, so a request with the old key
/// fails.
fn variant() -> u8 {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Mkey {
    /// A key of `range` of registered memory (bytes from its beginning). Requests name it by the program's own
    /// addresses.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] past the memory's end, [`Error::DevicePages`], [`Error::Capability`],
    /// [`Error::ForeignDevice`], [`Error::Command`].
    pub fn of_memory(pd: &Pd, umem: &Arc<Umem>, range: Range<usize>, access: Access) -> Result<Self, Error> {
        in_range("end of the memory", range.end as u64, 1..=umem.len() as u64)?;
        in_range("beginning of the memory", range.start as u64, 0..=range.end as u64 - 1)?;
        umem.check_addresses()?;
        let len = (range.end - range.start) as u64;
        let start = umem.start().addr().get() as u64 + range.start as u64;
        let pages = (start % (1 << LOG_PAGE) + len).div_ceil(1 << LOG_PAGE);
        let mut inbox = CreateMkeyIn::new();
        let octwords = u32::try_from(pages.div_ceil(2)).map_err(|_| Error::OutOfRange {
            what: "pages of a key",
            value: pages,
            min: 1,
            max: u64::from(u32::MAX),
        })?;
        inbox
            .set_mkey_umem_valid(true)
            .set_mkey_umem_id(umem.id())
            .set_mkey_umem_offset(range.start as u64)
            .set_translations_octword_actual_size(octwords);
        let context = inbox.memory_key_mkey_entry_mut();
        context.set_access_mode(AccessMode::MTT).set_log_page_size(LOG_PAGE).set_translations_octword_size(octwords);
        let key = describe(context, pd, access, start, len)?;
        Self::make(pd, &inbox, key, Arc::clone(umem), start, len)
    }

    /// A key of pieces of other keys, one behind the other (KLM). Requests name it by offsets: its first address is 0.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] without pieces or with a piece of more than 2^31 bytes, [`Error::Capability`],
    /// [`Error::ForeignDevice`], [`Error::Command`].
    pub fn of_pieces(pd: &Pd, pieces: &[Piece], access: Access) -> Result<Self, Error> {
        Self::indirect(pd, pieces, access, AccessMode::KLMS, 0)
    }

    /// A key of equally long pieces of other keys (KSM). The length is a power of two of at least 4096 bytes. The
    /// device finds the piece by a shift in place of a search.
    ///
    /// # Errors
    /// As [`of_pieces`](Self::of_pieces); [`Error::NotPowerOfTwo`]; [`Error::OutOfRange`] if one has another length.
    pub fn of_equal_pieces(pd: &Pd, pieces: &[Piece], access: Access) -> Result<Self, Error> {
        let each = pieces.first().map_or(0, |piece| piece.len);
        if !each.is_power_of_two() {
            return Err(Error::NotPowerOfTwo { what: "length of pieces", value: each });
        }
        in_range("length of pieces", each, 1 << LOG_PAGE..=1 << 31)?;
        for piece in pieces {
            in_range("length of pieces", piece.len, each..=each)?;
        }
        Self::indirect(pd, pieces, access, AccessMode::KSM, each.trailing_zeros() as u8)
    }

    fn indirect(pd: &Pd, pieces: &[Piece], access: Access, mode: AccessMode, log: u8) -> Result<Self, Error> {
        in_range("pieces of a key", pieces.len() as u64, 1..=1 << 24)?;
        let general = pd.context().general()?;
        if mode == AccessMode::KSM {
            has("cmd_hca_cap.fixed_buffer_size", general.fixed_buffer_size())?;
        }
        // Lists are counted in groups of four entries, as the device fetches them.
        let entries = pieces.len().next_multiple_of(4);
        at_least("cmd_hca_cap.log_max_klm_list_size", general.log_max_klm_list_size(), entries.ilog2())?;
        let mut inbox = List::<CreateMkeyIn, Klm>::new(&CreateMkeyIn::new());
        inbox.set_translations_octword_actual_size(entries as u32);
        let len = pieces.iter().map(|piece| piece.len).sum();
        let context = inbox.memory_key_mkey_entry_mut();
        context.set_access_mode(mode).set_log_page_size(log).set_translations_octword_size(entries as u32);
        let key = describe(context, pd, access, 0, len)?;
        for n in 0..entries {
            let mut entry = <Klm as crate::mailbox::Structure>::zeroed();
            if let Some(piece) = pieces.get(n) {
                in_range("bytes of a piece", piece.len, 1..=1 << 31)?;
                let bytes = if mode == AccessMode::KSM { 0 } else { piece.len as u32 };
                entry.set_byte_count(bytes).set_mkey(piece.key.handle.key).set_address(piece.start);
            }
            inbox.push(&entry);
        }
        let keys: Vec<Self> = pieces.iter().map(|piece| piece.key.clone()).collect();
        Self::make(pd, &inbox, key, keys, 0, len)
    }

    fn make<C: Command<Out = CreateMkeyOut>>(
        pd: &Pd,
        inbox: &C,
        variant: u8,
        under: impl Under,
        start: u64,
        len: u64,
    ) -> Result<Self, Error> {
        let (object, out) = pd.context().make(inbox, (under, pd.clone()))?;
        let key = out.mkey_index() << 8 | u32::from(variant);
        Ok(Self { handle: Arc::new(Handle { object, key, start, len }) })
    }

    /// The key, for requests of this side.
    #[must_use]
    pub fn lkey(&self) -> Lkey {
        Lkey(self.handle.key)
    }

    /// The key, for requests of the peer.
    #[must_use]
    pub fn rkey(&self) -> Rkey {
        Rkey(self.handle.key)
    }

    /// The first address by which requests name it.
    #[must_use]
    pub fn start(&self) -> u64 {
        self.handle.start
    }

    /// Bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.handle.len
    }

    /// Whether there are none: never.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.handle.len == 0
    }

    /// An entry of a scatter/gather list: `range`, bytes from the beginning.
    ///
    /// # Panics
    /// If the range is not inside of the key, or has more than 2^31 bytes.
    #[must_use]
    #[track_caller]
    pub fn sge(&self, range: Range<u64>) -> Sge {
        assert!(range.start <= range.end && range.end <= self.len(), "{range:?} of a key of {} bytes", self.len());
        let length = u32::try_from(range.end - range.start).expect("an entry has at most 2^31 bytes");
        Sge { addr: self.start() + range.start, length, lkey: self.lkey() }
    }

    /// The first address and the rkey, which the peer needs to reach the memory.
    #[must_use]
    pub fn remote(&self) -> Remote {
        Remote { addr: self.start(), rkey: self.rkey() }
    }

    /// `range`, bytes from the beginning, as a piece of another key.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if it is not inside of the key, or empty.
    pub fn piece(&self, range: Range<u64>) -> Result<Piece, Error> {
        in_range("end of a piece", range.end, 1..=self.len())?;
        in_range("beginning of a piece", range.start, 0..=range.end - 1)?;
        Ok(Piece { key: self.clone(), start: self.start() + range.start, len: range.end - range.start })
    }

    /// The device it was made on.
    #[must_use]
    pub fn context(&self) -> &Context {
        self.handle.object.context()
    }

    /// Queries the context.
    ///
    /// # Errors
    /// [`Error::Command`].
    pub fn query(&self) -> Result<Mkc, Error> {
        let mut inbox = QueryMkeyIn::new();
        inbox.set_mkey_index(self.handle.key >> 8);
        Ok(self.handle.object.query(&inbox)?.memory_key_mkey_entry().clone())
    }
}

/// Fills in the fields that all keys have; returns the variant.
fn describe(context: &mut Mkc, pd: &Pd, access: Access, start: u64, len: u64) -> Result<u8, Error> {
    let general = pd.context().general()?;
    let allows = |right: Access| access.bits() & right.bits() & !Access::LOCAL_WRITE.bits() != 0;
    if allows(Access::ON_DEMAND) {
        // The kernel has to bring in pages that are not pinned: only keys that verbs makes can have them.
        return Err(Error::Capability { name: "mkey.on_demand", needed: 1, found: 0 });
    }
    if allows(Access::RELAXED_ORDERING) {
        has("cmd_hca_cap.relaxed_ordering_write", general.relaxed_ordering_write())?;
        let reads = general.relaxed_ordering_read() || general.relaxed_ordering_read_pci_enabled();
        context.set_relaxed_ordering_write(true).set_relaxed_ordering_read(reads);
    }
    if allows(Access::REMOTE_ATOMIC) {
        has("cmd_hca_cap.atomic", general.atomic())?;
    }
    let variant = variant();
    context
        .set_lr(true)
        .set_lw(access.bits() & Access::LOCAL_WRITE.bits() != 0)
        .set_rr(allows(Access::REMOTE_READ))
        .set_rw(allows(Access::REMOTE_WRITE))
        .set_a(allows(Access::REMOTE_ATOMIC))
        .set_qpn(blueflame::types::Qpn::truncate(ANY_QP))
        .set_mkey_7_0(variant)
        .set_pd(pd.pdn())
        .set_start_addr(start)
        .set_len(len);
    Ok(variant)
}
