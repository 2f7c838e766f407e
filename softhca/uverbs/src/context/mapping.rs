//! What the program maps of a device file: UAR pages.

use super::{Context, offset};
use crate::process::{Errno, identity};
use crate::strict;
use softhca::uar::UAR_PAGE_BYTES;
use std::os::fd::AsRawFd;

/// The page that a device file has at byte `at`.
fn page_at(context: &Context, at: u64) -> Result<u32, Errno> {
    let (command, index) = offset::decode(at);
    let index = if command == offset::ALLOCATED { index.wrapping_sub(context.first_uar()) } else { index };
    let index = u32::try_from(index).map_err(|_| Errno::EINVAL)?;
    let uars = || context.static_uars.get().ok_or(Errno::EINVAL);
    match command {
        offset::ALLOCATED => Ok(index),
        offset::REGULAR | offset::WRITE_COMBINING | offset::NON_CACHED => uars()?.page(index).ok_or(Errno::EINVAL),
        offset::ALLOC_WRITE_COMBINING => uars()?.added(index).ok_or(Errno::EINVAL),
        // Core clock, clock info, device memory.
        _ => Err(Errno::EOPNOTSUPP),
    }
}

/// Maps what a device file has at `at`: a UAR page. The address, or why not.
///
/// What the file has can be mapped without our help, too, by whoever calls the kernel himself: the pages are there. This
/// refuses what the kernel would, and has strict mode watch the mapping before anything can be stored to it.
pub(crate) fn map(
    context: &Context,
    address: *mut libc::c_void,
    len: usize,
    protection: i32,
    flags: i32,
    at: u64,
) -> Result<*mut libc::c_void, Errno> {
    if len != UAR_PAGE_BYTES || protection & libc::PROT_EXEC != 0 || flags & libc::MAP_SHARED == 0 {
        return Err(Errno::EINVAL);
    }
    let (command, _) = offset::decode(at);
    let write_combining = matches!(command, offset::WRITE_COMBINING | offset::ALLOC_WRITE_COMBINING);
    if write_combining && context.hca.settings.no_write_combining {
        return Err(Errno::EPERM);
    }
    if let (offset::ALLOC_WRITE_COMBINING, index) = offset::decode(at) {
        let index = u32::try_from(index).map_err(|_| Errno::EINVAL)?;
        context.static_uars.get().ok_or(Errno::EINVAL)?.add_page(
            (&context.hca, context.user()),
            &context.file,
            index,
        )?;
    }
    let page = page_at(context, at)?;
    context.hca.map_uar(page, &context.file, (address, protection, flags))
}

/// Adds the pages to `context` that the program has mapped without our help: with an older kernel's pages, it is by mapping that
/// a program asks for more. To be called when it names one that we have not seen it ask for.
pub(crate) fn add_unseen(context: &Context) -> Result<(), Errno> {
    let Some(uars) = context.static_uars.get() else { return Ok(()) };
    for (_, at) in mappings(context) {
        if let (offset::ALLOC_WRITE_COMBINING, index) = offset::decode(at)
            && let Ok(index) = u32::try_from(index)
            && uars.added(index).is_none()
        {
            uars.add_page((&context.hca, context.user()), &context.file, index)?;
        }
    }
    Ok(())
}

/// Has strict mode watch the pages of `context` that were mapped without our help. To be called when a queue is made:
/// nothing that was stored before can have been a doorbell.
pub(crate) fn watch_unseen(context: &Context) {
    if !context.hca.settings.strict {
        return;
    }
    for (address, at) in mappings(context) {
        if let Ok(page) = page_at(context, at)
            && !strict::is_watched(address)
            && let Err(error) = context.hca.watch_uar(page, address)
            // A page that is freed, but still mapped, rings nothing.
            && error != Errno::EINVAL
        {
            log::error!("UAR page {page} is not watched: {error:?}");
        }
    }
}

/// The mapped pages of a device file: address and offset in the file.
fn mappings(context: &Context) -> Vec<(usize, u64)> {
    let Some((_, inode)) = identity(context.file.fd().as_raw_fd()) else { return Vec::new() };
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let pages = |line: &str| {
        // address-end protection offset device inode path (proc_pid_maps(5)).
        let mut fields = line.split_ascii_whitespace();
        let (from, to) = fields.next()?.split_once('-')?;
        let hex = |text| usize::from_str_radix(text, 16).ok();
        let (from, to, at) = (hex(from)?, hex(to)?, hex(fields.nth(1)?)?);
        let of_file = fields.nth(1)?.parse() == Ok(inode) && line.contains("/memfd:");
        of_file.then(|| (from..to).step_by(UAR_PAGE_BYTES).map(move |page| (page, (at + page - from) as u64)))
    };
    maps.lines().filter_map(pages).flatten().collect()
}
