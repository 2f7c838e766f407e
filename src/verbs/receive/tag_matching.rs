//! Lists of tagged buffers: a shared receive queue with a list, and its command queue.
//!
//! libmlx5 makes a command queue of its own for each such queue, and has no call that hands it over. It is a queue pair
//! like any other: connected to itself, with its receives from the shared receive queue. So this crate makes a command
//! queue as well, like UCX (`src/uct/ib/mlx5/rc/rc_mlx5_common.c`, `uct_rc_mlx5_verbs_create_cmd_qp`).

use blueflame_sys as sys;

use crate::queue::tags::{TagListSizes, TagRecord};
use crate::queue::{Owned, SendQueue, TagMatching};
use crate::transport::Rc;
use crate::types::Psn;
use crate::verbs::cq::any::whole;
use crate::verbs::error::{in_range, zero};
use crate::verbs::{AnyCq, Cq, Device, Error, OwnedSrq, Path, ProtectionDomain, Qp, QueuePair};

const OBJECT: &str = "tag matching";

/// A device's capabilities of tag matching (`struct ibv_tm_caps`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagAttr {
    /// Tags of a list.
    pub max_tags: u32,
    /// Operations on a list that are outstanding.
    pub max_operations: u32,
    /// It fetches the data of a rendezvous itself; else software does.
    pub rendezvous: bool,
    /// Bytes of a rendezvous that it fetches: its headers, and the bytes that follow them.
    pub max_rendezvous_bytes: u32,
}

/// A list of tagged buffers of this crate, and the queues under it.
///
/// Make queue pairs that receive from it with [`shared_receives`](TagMatching::shared_receives)`().handle()`. For queue
/// pairs that also send, pass it to [`QpBuilder::shared_recv_queue`](crate::verbs::QpBuilder::shared_recv_queue). For
/// queue pairs whose rendezvous the device fetches, pass it to [`ProtectionDomain::tag_receiver`].
#[doc(alias = "IBV_SRQT_TM")]
pub type OwnedTagMatching = TagMatching<OwnedSrq, Owned<SendQueue<Rc>, Qp>, Box<[TagRecord]>>;

impl Device {
    /// The device's capabilities of tag matching; `None` if it has none.
    ///
    /// # Errors
    /// A failed call.
    pub fn tag_matching(&self) -> Result<Option<TagAttr>, Error> {
        let mut attr = sys::ibv_device_attr_ex::ZERO;
        // SAFETY: the context is open; the structure is ours.
        match unsafe { sys::ibv_query_device_ex(self.as_raw(), core::ptr::null(), &raw mut attr) } {
            libc::EOPNOTSUPP => return Ok(None),
            returned => zero("ibv_query_device_ex", returned)?,
        }
        let caps = attr.tm_caps;
        // Linux sets this flag only if the device also fetches the data of a rendezvous
        // (`drivers/infiniband/hw/mlx5/main.c`, `IB_TM_CAP_RNDV_RC`). A nonzero size of lists says that the device has
        // lists.
        Ok((caps.max_num_tags != 0).then_some(TagAttr {
            max_tags: caps.max_num_tags,
            max_operations: caps.max_ops,
            rendezvous: caps.flags & sys::IBV_TM_CAP_RC != 0,
            max_rendezvous_bytes: caps.max_rndv_hdr_size,
        }))
    }
}

impl ProtectionDomain {
    /// Makes a list of tagged buffers: the shared receive queue, and the command queue, which is ready when this
    /// returns.
    ///
    /// `cq` gets the completions of operations on the list, and of messages to the queue pairs that receive from its
    /// shared receive queue. It needs room for [`TagListSizes::completions`]. `path` must lead back to this device,
    /// because the command queue is connected to itself.
    ///
    /// # Errors
    /// [`Error::Unsupported`], [`Error::OutOfRange`], [`Error::Receivers`], [`Error::CqRoom`], the errors of
    /// [`QpBuilder::build`](crate::verbs::QpBuilder::build) and [`connect`](crate::verbs::QueuePair::connect) for the
    /// command queue, or a failed call.
    pub fn tag_matching(
        &self,
        cq: &dyn AnyCq<Cq>,
        path: &Path,
        sizes: &TagListSizes,
    ) -> Result<OwnedTagMatching, Error> {
        let Some(attr) = self.device().tag_matching()? else {
            return Err(Error::Unsupported { what: OBJECT });
        };
        let most = attr.max_tags.min((1 << 15) - 1);
        in_range("tags of a list", sizes.tags.into(), 1..=most.into())?;
        let operations = sizes.operations.unwrap_or(sizes.most_operations().min(attr.max_operations));
        in_range("operations on a list of tags", operations.into(), 1..=attr.max_operations.into())?;
        let shared = self.tagged_shared_recv_queue(whole(cq)?, sizes.receives, sizes.recv_sge, sizes.tags)?;
        let pair = self.queue_pair::<Rc>(cq, cq).sends(operations).send_sge(1).shared_recv_queue(shared.handle());
        let mut pair = pair.build()?;
        let itself = pair.qp.endpoint_with(path, Psn::random());
        pair.connect(path, &itself, &itself)?;
        let QueuePair { sq, .. } = pair;
        let records = vec![TagRecord::default(); sizes.tags as usize + 1].into_boxed_slice();
        // SAFETY: connected above to itself; both are new, and only unsafe calls have other queues change a list.
        unsafe { TagMatching::new(shared, sq, records) }
            .map_err(|(error, _)| Error::Parts { object: OBJECT, why: error.to_string() })
    }
}
