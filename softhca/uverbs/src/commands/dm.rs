//! Device memory.

use super::request::Request;
use crate::context::Context;
use crate::process::{Errno, page_bytes};
use std::sync::Arc;

/// `DM_ALLOC`: 0 handle, 1 bytes, 2 log2 of the alignment; the driver's 0x1000 where in its page it begins, 0x1001
/// which page that is, 0x1002 which kind of memory.
pub(crate) fn alloc(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    /// `MLX5_IB_UAPI_DM_TYPE_MEMIC`; the others are for steering.
    const MEMIC: u64 = 0;
    const START_OFFSET: u16 = 0x1000;
    const PAGE_INDEX: u16 = 0x1001;
    if request.optional::<u64>(0x1002)?.is_some_and(|kind| kind != MEMIC) {
        return Err(Errno::EOPNOTSUPP);
    }
    let piece = context.allocate_device_memory(request.input(1)?, request.input(2)?)?;
    let page = u16::try_from(piece.first_page()).map_err(|_| Errno::ENOMEM)?;
    // It begins where the page begins.
    request.put(START_OFFSET, &(piece.address() % page_bytes()))?;
    request.put(PAGE_INDEX, &page)?;
    request.put_handle(0, context.insert(Arc::new(piece)))
}
