//! Tables of work queues, over which frames are spread (mlx5_ib `qp.c`, `mlx5_ib_create_rwq_ind_table`).

use super::request::Request;
use super::wq::Wq;
use crate::abi::frames::{CreateWqTable, CreateWqTableResp};
use crate::abi::mailbox::{creator, destroyer};
use crate::abi::{UHW_OUT, write};
use crate::context::{self, CommandId, Context, Rank};
use crate::device::Hca;
use crate::process::Errno;
use softhca::firmware::Uid;
use std::sync::Arc;

/// log2 of the longest table that a kernel reads (`IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE`).
const MAX_LOG_SIZE: u32 = 0x0d;
/// Bytes of `struct mlx5_ib_create_rwq_ind_tbl_resp`.
const DRIVER_OUTPUT: usize = 8;

/// A table.
pub(crate) struct WqTable {
    /// The device's number for it.
    pub(crate) number: u32,
    user: Uid,
    /// Its queues, kept busy.
    wqs: Vec<Arc<Wq>>,
}

impl context::Object for WqTable {
    fn rank(&self) -> Rank {
        Rank::WqTable
    }

    fn release(&self, hca: &Hca) -> Result<(), Errno> {
        hca.carry_out_on(self.user, destroyer::RQT, self.number)
    }

    fn is_named(&self, id: CommandId) -> bool {
        id == CommandId::new(creator::RQT, self.number)
    }
}

impl WqTable {
    /// Whether it has one queue, so that nothing needs to be hashed.
    pub(crate) fn has_one_queue(&self) -> bool {
        self.wqs.len() == 1
    }
}

/// `CREATE_RWQ_IND_TBL`.
pub(crate) fn create(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let wanted: CreateWqTable = request.core_in()?;
    if wanted.comp_mask != 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    if wanted.log_ind_tbl_size > MAX_LOG_SIZE {
        return Err(Errno::EINVAL);
    }
    let words: Vec<u32> = request.array(write::CORE_IN)?;
    let header = size_of::<CreateWqTable>() / size_of::<u32>();
    let handles = words.get(header..header + (1 << wanted.log_ind_tbl_size)).ok_or(Errno::ENOSPC)?;
    let wqs = handles.iter().map(|&handle| context.get(handle)).collect::<Result<Vec<Arc<Wq>>, _>>()?;
    let room = request.len(UHW_OUT);
    if wanted.log_ind_tbl_size > context.hca.capabilities.frames.log_max_table_size || room != 0 && room < DRIVER_OUTPUT
    {
        return Err(Errno::EINVAL);
    }
    // A table has one queue at least.
    let user = wqs[0].user;
    let numbers: Vec<u32> = wqs.iter().map(|wq| wq.number).collect();
    let number = context.hca.create_queue_table(user, &numbers)?;
    let ind_tbl_handle = context.insert(Arc::new(WqTable { number, user, wqs }));
    request.core_out(&CreateWqTableResp {
        comp_mask: 0,
        response_length: size_of::<CreateWqTableResp>() as u32,
        ind_tbl_handle,
        ind_tbl_num: number,
    })?;
    request.put_optional(UHW_OUT, &(size_of::<u32>() as u32))
}
