//! Transport interfaces of receives: where rules send frames, and the tables over which frames are spread.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use blueflame::flow::Rss;

use super::queues::Rq;
use crate::check::in_range;
use crate::cmd::{
    CreateRqtIn, CreateTirIn, ModifyRqtIn, ModifyTirIn, QueryRqtIn, QueryRqtOut, QueryTirIn, RqNum, Rqn, Rqtn,
    RxHashFunction, TirDispatch, Tirc, Tirn,
};
use crate::context::{Object, Under};
use crate::error::Error;
use crate::mailbox::{List, Structure};
use crate::object::simple::TransportDomain;
use crate::support::ask::at_least;

/// A table of receive queues, over which packets are spread. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Rqt {
    handle: Arc<RqtHandle>,
}

#[derive(Debug)]
struct RqtHandle {
    object: Object,
    rqtn: Rqtn,
    size: u16,
    /// The object also keeps them.
    queues: Arc<Mutex<Vec<Rq>>>,
}

impl RqtHandle {
    fn kept(&self) -> MutexGuard<'_, Vec<Rq>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rqt {
    /// Makes a table of these queues. Their number is a power of two; a queue may be there several times.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] without queues, [`Error::NotPowerOfTwo`], [`Error::Capability`], [`Error::ForeignDevice`],
    /// [`Error::Command`].
    pub fn new(queues: &[Rq]) -> Result<Self, Error> {
        check_count(queues.len(), 1 << 15)?;
        let context = queues[0].object().context();
        let needed = queues.len().next_power_of_two().trailing_zeros();
        at_least("cmd_hca_cap.log_max_rqt_size", context.general()?.log_max_rqt_size(), needed)?;
        let mut inbox = List::<CreateRqtIn, RqNum>::new(&CreateRqtIn::new());
        let size = queues.len() as u16;
        inbox.rqt_context_mut().set_rqt_max_size(size).set_rqt_actual_size(size);
        list(queues, &mut inbox);
        let queues = Arc::new(Mutex::new(queues.to_vec()));
        let (object, out) = context.make(&inbox, Arc::clone(&queues))?;
        let handle = RqtHandle { object, rqtn: out.rqtn(), size, queues };
        Ok(Self { handle: Arc::new(handle) })
    }

    /// The number that identifies it in commands.
    #[must_use]
    pub fn rqtn(&self) -> Rqtn {
        self.handle.rqtn
    }

    /// The object: for commands.
    #[must_use]
    pub fn object(&self) -> &Object {
        &self.handle.object
    }

    /// The queues in the table, in order. The table keeps them alive.
    #[must_use]
    pub fn queues(&self) -> Vec<Rq> {
        self.handle.kept().clone()
    }

    /// Replaces all queues in the table (MODIFY_RQT). There must be as many as at its creation, or a lower power of
    /// two. Frames that are on their way may still arrive at the earlier queues.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::NotPowerOfTwo`], [`Error::ForeignDevice`], [`Error::Command`]. The table is
    /// unchanged then, unless the answer got lost (a status of OK): the device may spread over the new queues, and
    /// [`queues`](Self::queues) has the earlier ones.
    pub fn set_queues(&self, queues: &[Rq]) -> Result<(), Error> {
        let handle = &*self.handle;
        check_count(queues.len(), handle.size)?;
        let mut inbox = List::<ModifyRqtIn, RqNum>::new(ModifyRqtIn::new().set_rqtn(handle.rqtn));
        inbox.bitmask_mut().set_rqn_list(true);
        inbox.ctx_mut().set_rqt_max_size(handle.size).set_rqt_actual_size(queues.len() as u16);
        list(queues, &mut inbox);
        let queues = queues.to_vec();
        // The lock is held over the command, so that the queues kept are those that the last command named.
        let mut kept = handle.kept();
        handle.object.change_to(&inbox, &queues)?;
        let before = std::mem::replace(&mut *kept, queues);
        // Dropping the earlier queues may destroy them. That takes commands of its own, so the lock is released first.
        drop(kept);
        drop(before);
        Ok(())
    }

    /// Queries the numbers of the queues that are in the table, in order (QUERY_RQT).
    ///
    /// # Errors
    /// [`Error::Command`].
    pub fn query(&self) -> Result<Vec<Rqn>, Error> {
        let mut inbox = QueryRqtIn::new();
        inbox.set_rqtn(self.rqtn());
        let outbox = List::<QueryRqtOut, RqNum>::zeroed(self.handle.size.into());
        let outbox = self.object().query_into(&inbox, outbox)?;
        let count = outbox.rqt_context().rqt_actual_size();
        Ok(outbox.iter().take(count.into()).map(|entry| entry.rq_num()).collect())
    }
}

/// Returns an error for an invalid number of queues. Bits of the hash are the index, and drivers make only tables of
/// powers of two (Linux `drivers/net/ethernet/mellanox/mlx5/core/en/rqt.h`, `MLX5E_INDIR_RQT_SIZE`;
/// `drivers/infiniband/hw/mlx5/qp.c`, `log_ind_tbl_size`).
fn check_count(count: usize, most: u16) -> Result<(), Error> {
    const WHAT: &str = "queues of a table";
    in_range(WHAT, count as u64, 1..=most.into())?;
    if !count.is_power_of_two() {
        return Err(Error::NotPowerOfTwo { what: WHAT, value: count as u64 });
    }
    Ok(())
}

/// Appends the numbers of queues to a mailbox.
fn list<H: Structure>(queues: &[Rq], inbox: &mut List<H, RqNum>) {
    for queue in queues {
        inbox.push(RqNum::zeroed().set_rq_num(queue.rqn()));
    }
}

fn check_hash(rss: &Rss) -> Result<(), Error> {
    in_range("fields to hash", rss.fields, 1..=Rss::ALL_FIELDS.into())
}

/// Fills in the hash in a context.
fn describe(rss: &Rss, tirc: &mut Tirc) {
    tirc.set_rx_hash_fn(RxHashFunction::TOEPLITZ).set_rx_hash_symmetric(rss.symmetric);
    *tirc.rx_hash_toeplitz_key_mut() = rss.key;
    tirc.rx_hash_field_selector_outer_mut()
        .set_l3_prot_type(rss.ipv6)
        .set_l4_prot_type(rss.udp)
        .set_selected_fields(rss.fields);
}

/// A transport interface of receives: where rules send frames.
#[derive(Debug)]
pub struct Tir {
    object: Object,
    tirn: Tirn,
}

impl Tir {
    /// All packets go to one queue.
    ///
    /// # Errors
    /// [`Error::ForeignDevice`], [`Error::Command`].
    pub fn direct(domain: &TransportDomain, rq: &Rq) -> Result<Self, Error> {
        let mut inbox = CreateTirIn::new();
        inbox.ctx_mut().set_disp_type(TirDispatch::DIRECT).set_inline_rqn(rq.rqn()).set_transport_domain(domain.tdn());
        Self::make(domain, &inbox, rq.clone())
    }

    /// All packets go to one queue, whose completions tell of the headers inside of tunnels
    /// ([`CqeView::tunnel`](blueflame::cq::CqeView::tunnel)). Devices report the tunnels that they know
    /// (`tunnel_stateless_*` of `per_protocol_networking_offload_caps`).
    ///
    /// # Errors
    /// [`Error::ForeignDevice`], [`Error::Command`].
    pub fn into_tunnels(domain: &TransportDomain, rq: &Rq) -> Result<Self, Error> {
        let mut inbox = CreateTirIn::new();
        inbox.ctx_mut().set_disp_type(TirDispatch::DIRECT).set_inline_rqn(rq.rqn()).set_transport_domain(domain.tdn());
        inbox.ctx_mut().set_tunneled_offload_en(true);
        Self::make(domain, &inbox, rq.clone())
    }

    /// Packets are spread over the queues of a table.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::ForeignDevice`], [`Error::Command`].
    pub fn spread(domain: &TransportDomain, rqt: &Rqt, rss: &Rss) -> Result<Self, Error> {
        check_hash(rss)?;
        let mut inbox = CreateTirIn::new();
        let tirc = inbox.ctx_mut();
        tirc.set_disp_type(TirDispatch::INDIRECT).set_indirect_table(rqt.rqtn()).set_transport_domain(domain.tdn());
        describe(rss, tirc);
        Self::make(domain, &inbox, rqt.clone())
    }

    fn make(domain: &TransportDomain, inbox: &CreateTirIn, under: impl Under) -> Result<Self, Error> {
        let (object, out) = domain.context().make(inbox, (under, domain.clone()))?;
        Ok(Self { object, tirn: out.tirn() })
    }

    /// The number that identifies it in rules.
    #[must_use]
    pub fn tirn(&self) -> Tirn {
        self.tirn
    }

    /// The object: for commands, events, and rules that libmlx5 makes (`mlx5dv_create_flow`,
    /// `MLX5DV_FLOW_ACTION_DEST_DEVX`).
    #[must_use]
    pub fn object(&self) -> &Object {
        &self.object
    }

    /// Changes how packets are spread from now on (MODIFY_TIR). On an interface of one queue, the hash does not affect
    /// where packets go.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Command`].
    pub fn set_hash(&self, rss: &Rss) -> Result<(), Error> {
        check_hash(rss)?;
        let mut inbox = ModifyTirIn::new();
        inbox.set_tirn(self.tirn);
        inbox.bitmask_mut().set_hash(true);
        describe(rss, inbox.ctx_mut());
        self.object.change(&inbox).map(drop)
    }

    /// Queries the context (QUERY_TIR).
    ///
    /// # Errors
    /// [`Error::Command`].
    pub fn query(&self) -> Result<Tirc, Error> {
        let mut inbox = QueryTirIn::new();
        inbox.set_tirn(self.tirn);
        Ok(self.object.query(&inbox)?.tir_context().clone())
    }
}
