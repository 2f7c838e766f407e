//! Prefetching pages of regions that are paged in on demand.

use super::mr::Mr;
use super::pd::Pd;
use super::request::Request;
use crate::abi::Sge;
use crate::context::Context;
use crate::process::{Errno, page_bytes};
use std::sync::Arc;

/// `enum ib_uverbs_advise_mr_advice`.
const PREFETCH: u64 = 0;
const PREFETCH_WRITE: u64 = 1;
const PREFETCH_NO_FAULT: u64 = 2;
/// `IB_UVERBS_ADVISE_MR_FLAG_FLUSH`: the pages are there when the command returns.
const FLUSH: u32 = 1;

/// `ADVISE_MR`: 0 PD, 1 advice, 2 flags, 3 scatter/gather entries. Without the flag, the kernel prefetches later and
/// reports no result, and this object does the same.
pub(crate) fn advise(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let pd: Arc<Pd> = context.get(request.handle(0)?)?;
    let advice: u64 = request.input(1)?;
    let flags: u32 = request.input(2)?;
    if flags & !FLUSH != 0 {
        return Err(Errno::EINVAL);
    }
    if advice > PREFETCH_NO_FAULT {
        return Err(Errno::EOPNOTSUPP);
    }
    let entries: Vec<Sge> = request.array(3)?;
    if entries.is_empty() {
        return Err(Errno::EINVAL);
    }
    let ranges = entries.iter().map(|sge| range(context, &pd, advice, sge)).collect::<Result<Vec<_>, _>>()?;
    for (sge, range) in entries.iter().zip(ranges) {
        let fetched = range.and_then(|address| prefetch(address, sge.length.into(), advice));
        if flags & FLUSH != 0 {
            fetched?;
        }
    }
    Ok(())
}

/// The range that `sge` names: `Err` for a key that cannot be prefetched, `Ok(Err)` for addresses outside of its
/// region.
fn range(context: &Context, pd: &Pd, advice: u64, sge: &Sge) -> Result<Result<u64, Errno>, Errno> {
    let mkey = context.hca.command(|device| Ok(device.mkey(sge.lkey).copied()))?.ok_or(Errno::ENOENT)?;
    let range = context.find(|mr: Arc<Mr>| mr.on_demand(sge.lkey, sge.addr, sge.length.into()));
    if mkey.pd != pd.number {
        return Err(Errno::EPERM);
    }
    let range = range.ok_or(Errno::ENOENT)?;
    if advice == PREFETCH_WRITE && !mkey.access.local_write {
        return Err(Errno::EPERM);
    }
    Ok(range)
}

/// Makes the pages of `len` bytes at `address` present.
fn prefetch(address: u64, len: u64, advice: u64) -> Result<(), Errno> {
    let how = match advice {
        PREFETCH => libc::MADV_POPULATE_READ,
        PREFETCH_WRITE => libc::MADV_POPULATE_WRITE,
        // Pages that are there need nothing.
        _ => return Ok(()),
    };
    let page = page_bytes();
    let start = address / page * page;
    let end = address.checked_add(len).and_then(|end| end.checked_next_multiple_of(page)).ok_or(Errno::EFAULT)?;
    let at = std::ptr::without_provenance_mut(start as usize);
    // SAFETY: populating changes neither contents nor protection, for any range; a bad range is an error.
    let done = unsafe { libc::madvise(at, (end - start) as usize, how) } == 0;
    match Errno::last() {
        _ if done => Ok(()),
        // Kernels before 5.14 fetch the pages when they are accessed.
        Errno::EINVAL => Ok(()),
        _ => Err(Errno::EFAULT),
    }
}
