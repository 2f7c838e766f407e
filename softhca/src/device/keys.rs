//! A device's memory keys.

use super::Device;
use super::check::value;
use crate::config::Generation;
use crate::context::{Backing, MkeyContext, TphContext};
use crate::error::{Error, Object};
use crate::memory::Encryption;
use crate::memory::keys::mkey::{Behind, Mkey, Signatures};
use crate::memory::{KeyList, MAX_PIECE_LOG, MAX_PIECES_LOG, PAGE_LOGS, PageTable};
use crate::resources::MAX_TRANSLATIONS;

impl Generation {
    /// Memory keys have processing hints (`mkey_pcie_tph`). No public source says with which ConnectX they came, so they
    /// belong to the last one.
    pub(crate) fn has_tph(self) -> bool {
        self >= Self::ConnectX8
    }

    /// A second PCI function serves memory keys that ask for it: that of a ConnectX-8 (mlx5_ib `data_direct.c`,
    /// `mlx5_data_direct_pci_table`).
    pub(crate) fn has_data_direct(self) -> bool {
        self >= Self::ConnectX8
    }
}

/// PCIe has two bits for it.
const MAX_PROCESSING_HINT: u8 = 3;

/// Options of a new memory key, besides its context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyOptions {
    /// Memory behind it.
    pub backing: Backing,
    /// Lowest byte of the key, which the driver may choose; `None`: the device does.
    pub variant: Option<u8>,
    /// Peers may invalidate it, by SEND with invalidate.
    pub remote_invalidate: bool,
    /// It gives access to nothing until a UMR WQE enables it. Until then the memory behind it may be smaller than its
    /// region.
    pub free: bool,
    /// UMR may change it, and this is how long its list may become, in units of 16 bytes.
    pub umr_octwords: Option<u32>,
    /// Its data is encrypted on one side.
    pub encrypted: bool,
    /// Room for formats of its data, in units of 16 bytes.
    pub format_octwords: u32,
    /// The driver has been told of an odd number of errors of signatures.
    pub errors: bool,
    /// Processing hint (TPH); a device has such keys from ConnectX-8 on.
    pub tph: Option<TphContext>,
}

impl KeyOptions {
    /// A key with this backing, valid at once, that neither peers nor UMR change.
    #[must_use]
    pub const fn with(backing: Backing) -> Self {
        Self {
            backing,
            variant: None,
            remote_invalidate: false,
            free: false,
            umr_octwords: None,
            encrypted: false,
            format_octwords: 0,
            errors: false,
            tph: None,
        }
    }
}

/// Present state of a memory key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MkeyInfo {
    /// The whole key.
    pub(crate) key: u32,
    /// Region, PD and rights.
    pub(crate) context: MkeyContext,
    /// It gives access to nothing.
    pub(crate) free: bool,
    /// Peers may invalidate it.
    pub(crate) remote_invalidate: bool,
    /// The QP that it is bound to.
    pub(crate) qpn: Option<u32>,
    /// The driver has been told of an odd number of errors of signatures.
    pub(crate) errors: bool,
    /// log2 of the bytes of each of its pages or pieces, if those all have the same length.
    pub(crate) log_bytes: Option<u8>,
}

impl Device {
    /// Creates a memory key of host memory; it serves as lkey and as rkey.
    ///
    /// # Errors
    /// [`Error::NoSuch`] PD; [`Error::BadValue`] for a region that wraps around the address space, and for remote write
    /// or atomic access without local write (IBTA vol. 1, 10.6.3.1); [`Error::Exhausted`].
    pub fn create_mkey(&mut self, context: MkeyContext) -> Result<u32, Error> {
        self.create_mkey_with(context, KeyOptions { remote_invalidate: true, ..KeyOptions::with(Backing::Memory) })
    }

    /// Creates a memory key.
    ///
    /// # Errors
    /// As [`Self::create_mkey`]; [`Error::BadValue`] also for more than 2^16 pieces, for pages or pieces that have fewer
    /// bytes than the region, unless the key is free, and for a processing hint above 3; [`Error::Unsupported`] for any
    /// processing hint on a device without them. The pieces' own keys are looked for when they are used.
    pub fn create_mkey_with(&mut self, context: MkeyContext, options: KeyOptions) -> Result<u32, Error> {
        check_mkey(&context)?;
        let KeyOptions {
            backing,
            variant,
            remote_invalidate,
            free,
            umr_octwords,
            encrypted,
            format_octwords,
            errors,
            tph,
        } = options;
        self.check_tph(tph)?;
        let signatures = Signatures { octwords: format_octwords, errors, ..Signatures::default() };
        let encryption = encrypted.then(Encryption::default);
        let behind = behind(backing, context, free)?;
        let entries = behind.translations();
        if !self.resources.may_hold(entries) {
            return Err(Error::Exhausted { object: Object::Translation, limit: MAX_TRANSLATIONS });
        }
        let pd = self.resources.pds.find_mut(context.pd)?;
        let index = self.resources.mkeys.reserve()?;
        pd.users += 1;
        self.variant = self.variant.wrapping_add(1);
        let key = index << 8 | u32::from(variant.unwrap_or(self.variant));
        self.resources.translations += entries;
        let made = Mkey::of_memory(key, context);
        let made = Mkey { behind, remote_invalidate, free, umr_octwords, signatures, encryption, tph, ..made };
        self.resources.mkeys.insert(index, made);
        Ok(key)
    }

    /// Region, PD and rights of a memory key, unless it is free: not valid yet, or invalidated.
    #[must_use]
    pub fn mkey(&self, key: u32) -> Option<&MkeyContext> {
        self.resources.mkeys.get(key >> 8).filter(|m| m.key == key && !m.free).map(|m| &m.context)
    }

    /// The processing hint (TPH) of a memory key; `None` if it has none, or if there is no such key.
    #[must_use]
    pub fn tph(&self, key: u32) -> Option<TphContext> {
        self.resources.mkeys.get(key >> 8).filter(|mkey| mkey.key == key)?.tph
    }

    fn check_tph(&self, tph: Option<TphContext>) -> Result<(), Error> {
        let Some(TphContext { processing_hint, .. }) = tph else { return Ok(()) };
        if !self.config().generation.has_tph() {
            return Err(Error::Unsupported("processing hints (TPH) of memory keys"));
        }
        value("processing hint", processing_hint.into(), processing_hint <= MAX_PROCESSING_HINT, "up to 3")
    }

    /// Returns the present state of the memory key with this index.
    ///
    /// # Errors
    /// [`Error::NoSuch`].
    pub(crate) fn query_mkey(&self, index: u32) -> Result<MkeyInfo, Error> {
        let Mkey { key, context, behind, remote_invalidate, qpn, free, signatures, .. } =
            self.resources.mkeys.find(index)?;
        let log_bytes = match behind {
            Behind::Memory | Behind::Pieces(KeyList::Own { .. }) => None,
            Behind::Pages(table) => Some(table.log_bytes()),
            Behind::Pieces(KeyList::Equal { log_bytes, .. }) => Some(*log_bytes),
        };
        let (key, context, free, remote_invalidate, qpn) = (*key, *context, *free, *remote_invalidate, *qpn);
        Ok(MkeyInfo { key, context, free, remote_invalidate, qpn, errors: signatures.errors, log_bytes })
    }

    /// Creates the memory key `key`, of host memory.
    ///
    /// # Errors
    /// As [`Self::create_mkey`]; [`Error::BadValue`] for a key whose index is in use, or is none.
    pub fn create_mkey_as(&mut self, key: u32, context: MkeyContext) -> Result<(), Error> {
        check_mkey(&context)?;
        value("key", key.into(), self.resources.mkeys.is_free(key >> 8), "with a free index")?;
        self.resources.pds.find_mut(context.pd)?.users += 1;
        self.resources.mkeys.insert(key >> 8, Mkey::of_memory(key, context));
        Ok(())
    }

    /// Changes the region, the protection domain or the rights of a memory key; there is host memory behind it then.
    ///
    /// # Errors
    /// [`Error::NoSuch`]; as [`Self::create_mkey`]; [`Error::Busy`] if a peer is in the middle of a request by it.
    pub fn modify_mkey(&mut self, key: u32, context: MkeyContext) -> Result<(), Error> {
        check_mkey(&context)?;
        let missing = Error::NoSuch { object: Object::Mkey, number: key };
        let mkey = self.resources.find_mkey(key).map_err(|_| missing)?;
        let (before, entries) = (mkey.context.pd, mkey.behind.translations());
        self.take_key_back(key)?;
        self.resources.pds.find_mut(context.pd)?.users += 1;
        self.resources.mkeys.insert(key >> 8, Mkey::of_memory(key, context));
        self.resources.translations -= entries;
        self.release_pd(before);
        Ok(())
    }

    /// Destroys the memory key with this index. Its lowest byte, which may have changed, does not matter.
    ///
    /// # Errors
    /// As [`Self::destroy_mkey`].
    pub fn destroy_mkey_of(&mut self, index: u32) -> Result<(), Error> {
        let key = self.resources.mkeys.find(index)?.key;
        self.destroy_mkey(key)
    }

    /// Destroys a memory key. Uses of it fail from now on.
    ///
    /// # Errors
    /// [`Error::NoSuch`]; [`Error::Busy`] if a peer is in the middle of a request by it.
    pub fn destroy_mkey(&mut self, key: u32) -> Result<(), Error> {
        let missing = Error::NoSuch { object: Object::Mkey, number: key };
        let mkey = self.resources.find_mkey(key).map_err(|_| missing)?;
        let (pd, entries) = (mkey.context.pd, mkey.behind.translations());
        self.take_key_back(key)?;
        self.resources.mkeys.remove(key >> 8);
        self.resources.translations -= entries;
        self.release_pd(pd);
        Ok(())
    }
}

/// Returns the memory behind a key, in the form for look-ups. It has room for the region, unless the key is free.
fn behind(backing: Backing, context: MkeyContext, free: bool) -> Result<Behind, Error> {
    let behind = match backing {
        Backing::Memory => return Ok(Behind::Memory),
        Backing::Pages { log_bytes, entries } => {
            value("log2 of a page's bytes", log_bytes.into(), PAGE_LOGS.contains(&log_bytes), "12 to 31")?;
            Behind::Pages(PageTable::new(entries, log_bytes))
        }
        Backing::Pieces(pieces) => {
            value("pieces", pieces.len() as u64, pieces.len() <= 1 << MAX_PIECES_LOG, "up to 2^16")?;
            let list = KeyList::own(pieces);
            value("pieces", list.len() as u64, list.fault().is_none(), "with strided blocks of their own bytes")?;
            Behind::Pieces(list)
        }
        Backing::EqualPieces { log_bytes, pieces } => {
            value("pieces", pieces.len() as u64, pieces.len() <= 1 << MAX_PIECES_LOG, "up to 2^16")?;
            value("log2 of a piece's bytes", log_bytes.into(), log_bytes <= MAX_PIECE_LOG, "up to 31")?;
            Behind::Pieces(KeyList::Equal { pieces, log_bytes })
        }
    };
    let fits = free || context.len <= behind.room(context.iova);
    value("region", context.len, fits, "no longer than its pages or pieces")?;
    Ok(behind)
}

/// Checks the rules for any memory key.
fn check_mkey(context: &MkeyContext) -> Result<(), Error> {
    let access = context.access;
    let writes = access.remote_write || access.remote_atomic;
    value("remote access", writes.into(), access.local_write || !writes, "with local write only")?;
    value("region", context.len, context.addr.checked_add(context.len).is_some(), "inside of the address space")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::firmware::test_bench;
    use crate::memory::test_memory::BASE;

    fn context(device: &mut Device) -> MkeyContext {
        let pd = device.alloc_pd().expect("a PD");
        MkeyContext { pd, iova: 0, addr: BASE, len: 0x1000, access: Default::default() }
    }

    #[test]
    fn lists_of_all_keys_have_a_longest_length() {
        let mut device = test_bench::device();
        let context = context(&mut device);
        let with_a_page = || KeyOptions::with(Backing::Pages { log_bytes: 12, entries: vec![BASE] });
        device.resources.translations = u64::from(MAX_TRANSLATIONS) - 1;
        let key = device.create_mkey_with(context, with_a_page()).expect("the last page");
        let full = Error::Exhausted { object: Object::Translation, limit: MAX_TRANSLATIONS };
        assert_eq!(device.create_mkey_with(context, with_a_page()), Err(full));
        assert!(device.create_mkey_with(context, KeyOptions::with(Backing::Memory)).is_ok(), "it has no list");
        device.destroy_mkey(key).expect("the key");
        assert!(device.create_mkey_with(context, with_a_page()).is_ok());
    }

    #[test]
    fn a_key_goes_by_its_index_whatever_its_variant() {
        let mut device = test_bench::device();
        let context = context(&mut device);
        let [key, other] = [Some(0x5a), None].map(|variant| {
            let options = KeyOptions { variant, ..KeyOptions::with(Backing::Memory) };
            device.create_mkey_with(context, options).expect("a key")
        });
        assert_eq!(device.destroy_mkey_of(key >> 8), Ok(()));
        assert_eq!((device.mkey(key), device.mkey(other)), (None, Some(&context)));
        let missing = Error::NoSuch { object: Object::Mkey, number: key >> 8 };
        assert_eq!(device.destroy_mkey_of(key >> 8), Err(missing));
    }
}
