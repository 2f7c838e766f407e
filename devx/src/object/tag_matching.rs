//! Lists of tagged buffers: an extended receive queue with a list, and its command queue.

use blueflame::queue::tags::{TagListSizes, TagRecord};
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
    /// Makes a list of tagged buffers, whose rings and records lie in `rings`: the extended receive queue, and the
    /// command queue, which is ready when this returns and has a doorbell register of its own.
    ///
    /// Operations on the list and messages of queue pairs that receive from it complete on `cq`. `path` leads to the
    /// device itself, because the command queue is connected to itself.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Capability`], [`Error::ForeignDevice`], [`Error::CqRoom`], [`Error::Receivers`],
    /// [`Error::Command`], the errors of [`connect`](crate::object::QueuePair::connect) for the command queue, or no
    /// memory for the rings.
    pub fn tag_matching(
        &self,
        rings: &ThreadRings,
        cq: &dyn AnyCq<Cq>,
        path: &Path,
        sizes: &TagListSizes,
    ) -> Result<OwnedTagMatching, Error> {
        let tags = sizes.tags;
        let context = self.context();
        in_range("tags of a list", tags, 1..=(1 << 15) - 1)?;
        let general = context.general()?;
        has("cmd_hca_cap.tag_matching", general.tag_matching())?;
        // The device needs one free entry: a list of 2^n entries has room for 2^n - 1 tags.
        let log_list = tags.ilog2() + 1;
        at_least("cmd_hca_cap.log_tag_matching_list_sz", general.log_tag_matching_list_sz(), log_list)?;
        let rendezvous = general.rndv_offload_rc();
        let xrq = self.xrq((rings, whole(cq)?), (sizes.receives, sizes.recv_sge), Some(tags), |xrqc| {
            xrqc.set_topology(TAG_MATCHING).set_offload(if rendezvous { RENDEZVOUS } else { 0 });
            xrqc.tag_matching_topology_context_mut().set_log_matching_list_sz(log_list as u8);
        })?;
        let shared = SharedReceives::from(xrq.handle());
        let builder = self.queue_pair::<Rc>(rings, cq, cq).sends(sizes.most_operations());
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
