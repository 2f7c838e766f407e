//! The guest's memory, as far as the machine monitor shares it, mapped into this process.

use memmap2::{MmapOptions, MmapRaw};
use softhca::memory::DmaMap;
use std::fs::File;
use std::io;
use std::ptr::NonNull;
use vfio_user::{DmaMapFlags, DmaUnmapFlags};

/// The unit of mappings of QEMU and Linux: a guest has no smaller pages.
const PAGE_BYTES: u64 = 4096;

/// A range of the guest's addresses, and where in a file it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shared {
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    pub(crate) offset: u64,
    pub(crate) flags: DmaMapFlags,
}

fn invalid(what: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

/// Lets the device reach a range. Without a file (ROM, registers of other devices) it is not shared, and the device
/// does not reach it.
pub(crate) fn map(memory: &DmaMap, shared: Shared, file: Option<&File>) -> io::Result<()> {
    let Shared { address, bytes, offset, flags } = shared;
    let (readable, writable) = (flags.contains(DmaMapFlags::READ), flags.contains(DmaMapFlags::WRITE));
    log::debug!("memory: {bytes:#x} bytes at {address:#x}, read {readable}, write {writable}, file {file:?}");
    let Some(file) = file.filter(|_| readable || writable) else { return Ok(()) };
    if [address, bytes, offset].iter().any(|number| number % PAGE_BYTES != 0) {
        return Err(invalid("memory that is not of whole pages"));
    }
    let metadata = file.metadata()?;
    // An access past the end of a file is a signal.
    if metadata.is_file() && offset.checked_add(bytes).is_none_or(|end| end > metadata.len()) {
        return Err(invalid(format!("{bytes:#x} bytes at {offset:#x} of a file of {:#x}", metadata.len())));
    }
    let mut options = MmapOptions::new();
    options.offset(offset).len(usize::try_from(bytes).map_err(invalid)?);
    let mapping: MmapRaw = if writable { options.map_raw(file)? } else { options.map_raw_read_only(file)? };
    let pointer = NonNull::new(mapping.as_mut_ptr()).ok_or_else(|| invalid("memory at address zero"))?;
    // SAFETY: the mapping is as long, may be written if `writable`, lasts until its owner, the mapping itself, is
    // dropped, and is reached by this pointer only. Others that store to it are the guest and its monitor.
    unsafe { memory.insert(address, pointer, bytes, writable, Box::new(mapping)) }.map_err(invalid)
}

/// Takes a range away, or all of them. When it returns, the device does not touch it any more.
pub(crate) fn unmap(memory: &DmaMap, address: u64, bytes: u64, flags: DmaUnmapFlags) -> io::Result<()> {
    log::debug!("memory: no more {bytes:#x} bytes at {address:#x}");
    if flags.contains(DmaUnmapFlags::GET_DIRTY_PAGE_INFO) {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "dirty pages are not watched"));
    }
    if flags.contains(DmaUnmapFlags::UNMAP_ALL) {
        memory.clear();
        return Ok(());
    }
    memory.remove(address, bytes).map_err(invalid)
}
