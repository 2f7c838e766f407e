//! Lists of tagged buffers: an extended receive queue with a list, and its command queue.

use blueflame::queue::tags::TagRecord;
use blueflame::queue::{AnyCq, Owned, SendQueue, TagMatching};
use blueflame::transport::Rc;
use blueflame::verbs::Path;

use crate::check::in_range;
use crate::error::Error;
use crate::memory::ThreadRings;
use crate::object::check_cq::whole;
use crate::object::cq::Cq;
use crate::object::pd::Pd;
use crate::object::qp::{Qp, QueuePair};
use crate::object::receives::shared::SharedReceives;
use crate::object::receives::xrq::OwnedXrq;
use crate::object::uar::Uar;
use crate::support::ask::{at_least, has};

/// `topology` of an extended receive queue (UCX `src/uct/ib/mlx5/dv/ib_mlx5_ifc.h`,
/// `UCT_IB_MLX5_XRQC_TOPOLOGY_TAG_MATCHING`).
const TAG_MATCHING: u8 = 1;
/// `offload`: the device fetches the data of rendezvous (`UCT_IB_MLX5_XRQC_OFFLOAD_RNDV`).
const RENDEZVOUS: u8 = 1;

/// A list of tagged buffers of this crate, and the queues under it.
///
/// Queue pairs that receive from it are made with [`SharedReceives`] of
/// [`shared_receives`](TagMatching::shared_receives)`().handle()`.
pub type OwnedTagMatching = TagMatching<OwnedXrq, Owned<SendQueue<Rc>, Qp>, Box<[TagRecord]>>;

impl Pd {
    /// Begins a list of tagged buffers, whose rings and records lie in `rings`. Operations on the list and messages of
    /// queue pairs that receive from it complete on `cq`. `path` leads to the device itself, because the command queue
    /// is connected to itself.
    pub fn tag_matching<'a>(
        &'a self,
        rings: &'a ThreadRings,
        cq: &'a dyn AnyCq<Cq>,
        path: &'a Path,
    ) -> TagMatchingBuilder<'a> {
        TagMatchingBuilder { pd: self, rings, cq, path, tags: 64, operations: None, receives: 128, sge: 1 }
    }
}

/// How a list of tagged buffers is made: [`Pd::tag_matching`].
#[derive(Clone, Copy, Debug)]
#[must_use = "nothing is made yet"]
pub struct TagMatchingBuilder<'a> {
    pd: &'a Pd,
    rings: &'a ThreadRings,
    cq: &'a dyn AnyCq<Cq>,
    path: &'a Path,
    tags: u32,
    operations: Option<u32>,
    receives: u32,
    sge: u32,
}

impl TagMatchingBuilder<'_> {
    /// Tags that are on the list at a time, 1 to 32767. Default 64.
    pub const fn tags(mut self, tags: u32) -> Self {
        self.tags = tags;
        self
    }

    /// Operations on the list that are outstanding at a time. Default: twice as many as tags, and two.
    pub const fn operations(mut self, operations: u32) -> Self {
        self.operations = Some(operations);
        self
    }

    /// Buffers for messages that match nothing. Default 128.
    ///
    /// Ask for 33 or more on a NIC. UCX never makes such a queue with fewer (`src/uct/ib/mlx5/ib_mlx5.h`,
    /// `UCT_IB_MLX5_XRQ_MIN_UWQ_POST`), and gives no reason. The behaviour of a NIC with fewer is undocumented, so this
    /// crate does not refuse them.
    pub const fn receives(mut self, requests: u32) -> Self {
        self.receives = requests;
        self
    }

    /// Scatter entries of each. Default 1. A tagged buffer is always one.
    pub const fn recv_sge(mut self, entries: u32) -> Self {
        self.sge = entries;
        self
    }

    /// Makes it with a doorbell register of its own: the extended receive queue, and the command queue, which is ready
    /// when this returns.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Capability`], [`Error::ForeignDevice`], [`Error::CqRoom`], [`Error::Receivers`],
    /// [`Error::Command`], the errors of [`connect`](crate::object::QueuePair::connect) for the command queue, or no
    /// memory for the rings.
    pub fn build(self) -> Result<OwnedTagMatching, Error> {
        let Self { pd, rings, cq, path, tags, operations, receives, sge } = self;
        let context = pd.context();
        in_range("tags of a list", tags, 1..=(1 << 15) - 1)?;
        let general = context.general()?;
        has("cmd_hca_cap.tag_matching", general.tag_matching())?;
        // The device needs one free entry: a list of 2^n entries has room for 2^n - 1 tags.
        let log_list = tags.ilog2() + 1;
        at_least("cmd_hca_cap.log_tag_matching_list_sz", general.log_tag_matching_list_sz(), log_list)?;
        let rendezvous = general.rndv_offload_rc();
        let xrq = pd.xrq((rings, whole(cq)?), (receives, sge), Some(tags), |xrqc| {
            xrqc.set_topology(TAG_MATCHING).set_offload(if rendezvous { RENDEZVOUS } else { 0 });
            xrqc.tag_matching_topology_context_mut().set_log_matching_list_sz(log_list as u8);
        })?;
        let shared = SharedReceives::from(xrq.handle());
        let builder = pd.queue_pair::<Rc>(rings, cq, cq).sends(operations.unwrap_or(2 * tags + 2));
        let mut pair = builder.shared_receives(&shared).build_on(Uar::new(context)?)?;
        let itself = pair.qp.endpoint(path);
        pair.qp.to_init(path)?;
        pair.connect(path, &itself, &itself)?;
        let QueuePair { sq, .. } = pair;
        let records = vec![TagRecord::default(); tags as usize + 1].into_boxed_slice();
        // SAFETY: connected above to itself; both are new, and only unsafe calls have other queues change a list.
        unsafe { TagMatching::new(xrq, sq, records) }
            .map_err(|(error, _)| Error::Parts { object: "list of tags", why: error.to_string() })
    }
}
