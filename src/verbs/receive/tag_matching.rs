//! Lists of tagged buffers: a shared receive queue with a list, and its command queue.
//!
//! libmlx5 makes a command queue of its own for each such queue, and has no call that hands it over. It is a queue pair
//! like any other: connected to itself, with its receives from the shared receive queue. So this crate makes a command
//! queue as well, like UCX (`src/uct/ib/mlx5/rc/rc_mlx5_common.c`, `uct_rc_mlx5_verbs_create_cmd_qp`).

use blueflame_sys as sys;

use crate::queue::tags::TagRecord;
use crate::queue::{Owned, SendQueue, TagMatching};
use crate::transport::Rc;
use crate::types::Psn;
use crate::verbs::cq::any::whole;
use crate::verbs::error::{in_range, zero};
use crate::verbs::srq::capacity;
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
    /// Begins a list of tagged buffers. `cq` gets the completions of operations on the list, and of messages to the
    /// queue pairs that receive from its shared receive queue. `path` must lead back to this device, because the
    /// command queue is connected to itself.
    pub fn tag_matching<'a>(&'a self, cq: &'a dyn AnyCq<Cq>, path: &'a Path) -> TagMatchingBuilder<'a> {
        TagMatchingBuilder { pd: self, cq, path, tags: 64, operations: None, receives: 128, max_sge: 1 }
    }
}

/// How a list of tagged buffers is made: [`ProtectionDomain::tag_matching`].
#[derive(Clone, Copy, Debug)]
#[must_use = "nothing is made yet"]
pub struct TagMatchingBuilder<'a> {
    pd: &'a ProtectionDomain,
    cq: &'a dyn AnyCq<Cq>,
    path: &'a Path,
    tags: u32,
    operations: Option<u32>,
    receives: u32,
    max_sge: u32,
}

impl TagMatchingBuilder<'_> {
    /// Tags on the list at a time. Default 64.
    pub const fn tags(mut self, tags: u32) -> Self {
        self.tags = tags;
        self
    }

    /// Operations on the list that may be outstanding at a time. Default: twice the number of tags plus two, or the
    /// device's limit if that is lower.
    pub const fn operations(mut self, operations: u32) -> Self {
        self.operations = Some(operations);
        self
    }

    /// Buffers for messages that match nothing. Default 128.
    ///
    /// Ask for 33 or more on a NIC. UCX never makes such a queue with fewer (`src/uct/ib/mlx5/ib_mlx5.h`,
    /// `UCT_IB_MLX5_XRQ_MIN_UWQ_POST`), and gives no reason. The effect of fewer on a NIC is undocumented, so this
    /// crate does not refuse fewer.
    pub const fn receives(mut self, requests: u32) -> Self {
        self.receives = requests;
        self
    }

    /// Scatter entries of each. Default 1. A tagged buffer is always one.
    pub const fn recv_sge(mut self, entries: u32) -> Self {
        self.max_sge = entries;
        self
    }

    /// The most completions that can wait in the completion queue: one of each operation, two of each tag, and one of
    /// each buffer that the shared receive queue has place for. It is one more, for the [drain](QueuePair::drain) of
    /// the command queue.
    #[must_use]
    pub const fn completions(&self) -> u32 {
        self.wanted_operations() + 1 + 2 * self.tags + capacity(self.receives)
    }

    const fn wanted_operations(&self) -> u32 {
        match self.operations {
            Some(operations) => operations,
            None => 2 * self.tags + 2,
        }
    }

    /// Makes it: the shared receive queue, and the command queue, which is ready when this returns.
    ///
    /// # Errors
    /// [`Error::Unsupported`], [`Error::OutOfRange`], [`Error::Receivers`], [`Error::CqRoom`], the errors of
    /// [`QpBuilder::build`](crate::verbs::QpBuilder::build) and [`connect`](crate::verbs::QueuePair::connect) for the
    /// command queue, or a failed call.
    pub fn build(self) -> Result<OwnedTagMatching, Error> {
        let Self { pd, cq, path, tags, receives, max_sge, .. } = self;
        let Some(attr) = pd.device().tag_matching()? else {
            return Err(Error::Unsupported { what: OBJECT });
        };
        let most = attr.max_tags.min((1 << 15) - 1);
        in_range("tags of a list", tags.into(), 1..=most.into())?;
        let operations = self.operations.unwrap_or(self.wanted_operations().min(attr.max_operations));
        in_range("operations on a list of tags", operations.into(), 1..=attr.max_operations.into())?;
        let shared = pd.tagged_shared_recv_queue(whole(cq)?, receives, max_sge, tags)?;
        let pair = pd.queue_pair::<Rc>(cq, cq).sends(operations).send_sge(1).shared_recv_queue(shared.handle());
        let mut pair = pair.build()?;
        let itself = pair.qp.endpoint_with(path, Psn::random());
        pair.connect(path, &itself, &itself)?;
        let QueuePair { sq, .. } = pair;
        let records = vec![TagRecord::default(); tags as usize + 1].into_boxed_slice();
        // SAFETY: connected above to itself; both are new, and only unsafe calls have other queues change a list.
        unsafe { TagMatching::new(shared, sq, records) }
            .map_err(|(error, _)| Error::Parts { object: OBJECT, why: error.to_string() })
    }
}
