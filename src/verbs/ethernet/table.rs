//! Tables of work queues, over which frames are spread.

use core::ptr::NonNull;
use std::sync::Arc;

use blueflame_sys as sys;

use super::work_queue::Wq;
use crate::verbs::Error;
use crate::verbs::device::foreign::Part;
use crate::verbs::error::{in_range, non_null};
use crate::verbs::event::event;
use crate::verbs::leak::drop_or_leak;

const OBJECT: &str = "table of work queues";

/// The longest table that a kernel takes (Linux `include/uapi/rdma/ib_user_verbs.h`,
/// `IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE`).
const MOST: u64 = 1 << 13;

/// A table of work queues (`ibv_rwq_ind_table`): the hash of a frame is an index to it. Cheap to clone. It keeps its
/// queues alive.
#[doc(alias("ibv_rwq_ind_table", "ibv_create_rwq_ind_table"))]
#[derive(Clone, Debug)]
pub struct WqTable {
    handle: Arc<TableHandle>,
}

#[derive(Debug)]
struct TableHandle {
    raw: NonNull<sys::ibv_rwq_ind_table>,
    number: u32,
    queues: Vec<Wq>,
}

// SAFETY: used only to make receivers and to be destroyed once; libibverbs and the kernel lock both.
unsafe impl Send for TableHandle {}
// SAFETY: shared use only makes receivers; libibverbs and the kernel lock that.
unsafe impl Sync for TableHandle {}

impl Drop for TableHandle {
    fn drop(&mut self) {
        event!(DEBUG, "table of work queues destroyed", number = self.number);
        // SAFETY: made by `ibv_create_rwq_ind_table`; the receivers of it held this object and are gone.
        let returned = unsafe { sys::ibv_destroy_rwq_ind_table(self.raw.as_ptr()) };
        drop_or_leak(OBJECT, self.number, returned, core::mem::take(&mut self.queues));
    }
}

impl WqTable {
    /// Makes a table of these queues. Their number is a power of two; a queue may be there several times, to get a
    /// larger share of the frames.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] without queues or for too many, [`Error::NotPowerOfTwo`], [`Error::ForeignDevice`], or a
    /// failed call: a device may have a limit below 8192.
    pub fn new(queues: &[Wq]) -> Result<Self, Error> {
        const WHAT: &str = "queues of a table";
        let count = queues.len() as u64;
        in_range(WHAT, count, 1..=MOST)?;
        if !count.is_power_of_two() {
            return Err(Error::NotPowerOfTwo { what: WHAT, value: count });
        }
        let context = Part::from(&queues[0]).context;
        if let Some(other) = queues.iter().map(Part::from).find(|part| part.context != context) {
            return Err(Error::ForeignDevice { object: OBJECT, part: other.name });
        }
        let mut entries: Vec<_> = queues.iter().map(Wq::as_raw).collect();
        let mut attr = sys::ibv_rwq_ind_table_init_attr {
            log_ind_tbl_size: count.trailing_zeros(),
            ind_tbl: entries.as_mut_ptr(),
            comp_mask: 0,
        };
        // SAFETY: the queues are alive and of one context, which is open; the attributes name as many as there are, and
        // live until the call returns.
        let raw = unsafe { sys::ibv_create_rwq_ind_table(context, &raw mut attr) };
        let raw = non_null("ibv_create_rwq_ind_table", raw)?;
        // SAFETY: just made; written once.
        let number = unsafe { (*raw.as_ptr()).ind_tbl_num } as u32;
        event!(DEBUG, "table of work queues made", number, queues = count);
        Ok(Self { handle: Arc::new(TableHandle { raw, number, queues: queues.to_vec() }) })
    }

    /// The queues in the table, in order.
    #[must_use]
    pub fn queues(&self) -> &[Wq] {
        &self.handle.queues
    }

    /// The raw table; alive as long as `self`. Do not destroy it.
    #[must_use]
    pub fn as_raw(&self) -> *mut sys::ibv_rwq_ind_table {
        self.handle.raw.as_ptr()
    }
}
