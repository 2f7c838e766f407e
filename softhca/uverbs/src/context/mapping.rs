//! The program's mappings of a device file: UAR pages, clocks, device memory.

use super::allocated::UarPage;
use super::{Context, offset, registry, uars};
use crate::process::{Errno, identity, page_bytes, real};
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
        offset::ALLOCATED => context.allocated.page(index).ok_or(Errno::EINVAL),
        offset::REGULAR | offset::WRITE_COMBINING | offset::NON_CACHED => uars()?.page(index).ok_or(Errno::EINVAL),
        offset::ALLOC_WRITE_COMBINING => uars()?.added(index).ok_or(Errno::EINVAL),
        // No UAR page: clocks.
        _ => Err(Errno::EOPNOTSUPP),
    }
}

/// Maps the UAR page at `at` of a device file. Returns the address, or the error.
///
/// A program that calls the kernel itself can map the file without our help, because the pages are there. This function
/// refuses the same calls as the kernel, and makes strict mode watch the mapping before the first store to it.
pub(crate) fn map(
    context: &Context,
    address: *mut libc::c_void,
    len: usize,
    protection: i32,
    flags: i32,
    at: u64,
) -> Result<*mut libc::c_void, Errno> {
    context.hca.is_here()?;
    let (command, index) = offset::decode(at);
    if matches!(command, offset::CORE_CLOCK | offset::CLOCK_INFO) {
        return map_clock(context, (address, len, protection, flags), (command, index));
    }
    if command == offset::DEVICE_MEMORY {
        return map_device_memory(context, (address, len, protection, flags), index);
    }
    if len != UAR_PAGE_BYTES || protection & libc::PROT_EXEC != 0 || flags & libc::MAP_SHARED == 0 {
        return Err(Errno::EINVAL);
    }
    let write_combining = matches!(command, offset::WRITE_COMBINING | offset::ALLOC_WRITE_COMBINING);
    if write_combining && context.hca.settings.no_write_combining {
        return Err(Errno::EPERM);
    }
    if command == offset::ALLOC_WRITE_COMBINING {
        let index = u32::try_from(index).map_err(|_| Errno::EINVAL)?;
        context.static_uars.get().ok_or(Errno::EINVAL)?.add_page(
            (&context.hca, context.user()),
            &context.file,
            index,
        )?;
    }
    if let (offset::ALLOCATED, true) = (command, index < context.first_uar()) {
        return map_makers(context, (address, protection, flags), index);
    }
    let page = page_at(context, at)?;
    context.hca.map_uar(page, &context.file, (address, protection, flags))
}

/// Maps the UAR page at `place` of the process that has opened the file. That process's device sees the doorbells.
/// Strict mode cannot trap them for it.
fn map_makers(
    context: &Context,
    (address, protection, flags): (*mut libc::c_void, i32, i32),
    place: u64,
) -> Result<*mut libc::c_void, Errno> {
    let handle = u32::try_from(place).map_err(|_| Errno::EINVAL)?;
    context.registry.find(registry::UAR, handle, registry::own_pid()).map_err(|_| Errno::EINVAL)?;
    if context.hca.settings.strict {
        log::warn!("strict mode sees no doorbells of another process: its UAR page is not mapped");
        return Err(Errno::EOPNOTSUPP);
    }
    let (fd, at) = (context.file.fd().as_raw_fd(), offset::encode(offset::ALLOCATED, place));
    // SAFETY: the program asks for a mapping of a UAR page, and answers for the memory that the mapping replaces.
    let mapped = unsafe { real::mmap(address, UAR_PAGE_BYTES, protection, flags, fd, at as libc::off_t) };
    if mapped == libc::MAP_FAILED { Err(Errno::last()) } else { Ok(mapped) }
}

/// Maps device memory that begins at page `first`: all of it, or nothing (`rdma_user_mmap_io`).
fn map_device_memory(
    context: &Context,
    (address, len, protection, flags): (*mut libc::c_void, usize, i32, i32),
    first: u64,
) -> Result<*mut libc::c_void, Errno> {
    let pages = context.device_memory.pages_at(first).ok_or(Errno::EINVAL)?;
    if len as u64 != pages * page_bytes() || flags & libc::MAP_SHARED == 0 {
        return Err(Errno::EINVAL);
    }
    let (fd, at) = (context.file.fd().as_raw_fd(), offset::encode(offset::DEVICE_MEMORY, first));
    // SAFETY: as in `map_clock`.
    let mapped = unsafe { real::mmap(address, len, protection, flags, fd, at as libc::off_t) };
    if mapped == libc::MAP_FAILED { Err(Errno::last()) } else { Ok(mapped) }
}

/// Maps a page in which the device's clock is read. Which errors there are, and in which order, is as in
/// `mlx5_ib_mmap`.
fn map_clock(
    context: &Context,
    (address, len, protection, flags): (*mut libc::c_void, usize, i32, i32),
    (command, index): (u64, u64),
) -> Result<*mut libc::c_void, Errno> {
    let is_info = command == offset::CLOCK_INFO;
    let is_shared = flags & libc::MAP_SHARED != 0;
    if len != UAR_PAGE_BYTES || is_info && !is_shared {
        return Err(Errno::EINVAL);
    }
    // There is one version of it.
    if is_info && index != 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    let forbidden = if is_info { libc::PROT_WRITE | libc::PROT_EXEC } else { libc::PROT_WRITE };
    if protection & forbidden != 0 {
        return Err(Errno::EPERM);
    }
    if !is_shared {
        return Err(Errno::EINVAL);
    }
    let (fd, at) = (context.file.fd().as_raw_fd(), offset::encode(command, 0));
    // SAFETY: the program asks for a mapping of one of our pages, and answers for the memory that the mapping replaces.
    let mapped = unsafe { real::mmap(address, len, protection, flags, fd, at as libc::off_t) };
    if mapped == libc::MAP_FAILED { Err(Errno::last()) } else { Ok(mapped) }
}

/// Adds the pages to `context` that the program has mapped without our help: with an older kernel's pages, it is by
/// mapping that a program asks for more. To be called when it names one that we have not seen it ask for.
pub(crate) fn add_unseen(context: &Context) -> Result<(), Errno> {
    let Some(uars) = context.static_uars.get() else { return Ok(()) };
    for (_, at) in mappings(context) {
        let (offset::ALLOC_WRITE_COMBINING, index) = offset::decode(at) else { continue };
        let Ok(index) = u32::try_from(index) else { continue };
        if uars.added(index).is_none() {
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
        let Ok(page) = page_at(context, at) else { continue };
        if strict::is_watched(address) {
            continue;
        }
        match context.hca.watch_uar(page, address) {
            // A page that is freed, but still mapped, rings nothing.
            Ok(()) | Err(Errno::EINVAL) => {}
            Err(error) => log::error!("UAR page {page} is not watched: {error:?}"),
        }
    }
}

/// Allocates a UAR page by itself, and says where the device file has it.
pub(crate) fn allocate(context: &Context, non_cached: bool) -> Result<(UarPage, u64), Errno> {
    let at = |place: u32| offset::encode(offset::ALLOCATED, context.first_uar() + u64::from(place));
    let is_mapped = |place| mappings(context).iter().any(|(_, mapped)| *mapped == at(place));
    let make = |place| uars::allocate((&context.hca, context.user()), &context.file, non_cached, |_| at(place));
    let (page, place) = context.allocated.add(is_mapped, make)?;
    Ok((page, at(place)))
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
