//! Memory windows: keys of pieces of regions, which programs bind by UMR WQEs.

use super::pd::Pd;
use super::request::Request;
use crate::abi::mlx5::{AllocMwReq, AllocMwUhwResp};
use crate::abi::{AllocMw, AllocMwResp, UHW_IN, UHW_OUT};
use crate::context::{Context, Object, Rank};
use crate::device::Hca;
use crate::process::Errno;
use softhca::context::{Access, Backing, MkeyContext};
use softhca::device::KeyOptions;
use std::sync::Arc;
use zerocopy::FromZeros;

/// A window.
pub(super) struct Mw {
    /// The lowest byte of its key changes with each binding.
    index: u32,
    /// Keeps the domain busy.
    _pd: Arc<Pd>,
}

impl Object for Mw {
    fn rank(&self) -> Rank {
        Rank::Mw
    }

    fn release(&self, hca: &Hca) -> Result<(), Errno> {
        hca.command(|device| device.destroy_mkey_of(self.index))
    }
}

/// Octwords of a window's list: four pieces, as Linux rounds up the one that a window needs.
const OCTWORDS: u32 = 4;
/// `enum ib_mw_type`.
const TYPE_1: u8 = 1;
const TYPE_2: u8 = 2;

/// `ALLOC_MW`.
pub(crate) fn alloc(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let wanted: AllocMw = request.core_in()?;
    let pd: Arc<Pd> = context.get(wanted.pd_handle).map_err(|_| Errno::EINVAL)?;
    if !matches!(wanted.mw_type, TYPE_1 | TYPE_2) {
        return Err(Errno::EINVAL);
    }
    let driver: AllocMwReq = request.optional(UHW_IN)?.unwrap_or_else(FromZeros::new_zeroed);
    if driver.comp_mask != 0 || driver.reserved1 != 0 || driver.reserved2 != 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    let octwords = u32::from(driver.num_klms.max(1)).next_multiple_of(OCTWORDS);
    let region = MkeyContext { pd: pd.number, iova: 0, addr: 0, len: 0, access: Access::default() };
    // `mlx5_ib_alloc_mw` makes it free and for any QP as well.
    let options = KeyOptions {
        remote_invalidate: wanted.mw_type == TYPE_2,
        free: true,
        umr_octwords: Some(octwords),
        ..KeyOptions::with(Backing::Pieces(Vec::new()))
    };
    let rkey = context.hca.command(|device| device.create_mkey_with(region, options))?;
    let mw_handle = context.insert(Arc::new(Mw { index: rkey >> 8, _pd: pd }));
    request
        .put_optional(UHW_OUT, &AllocMwUhwResp { comp_mask: 0, response_length: size_of::<AllocMwUhwResp>() as u32 })?;
    request.core_out(&AllocMwResp { mw_handle, rkey })
}
