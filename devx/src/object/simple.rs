//! Objects that are a number: domains, counters, signature values.

use std::sync::Arc;

use super::pd::Pd;
use crate::cmd::{
    AllocFlowCounterIn, AllocQCounterIn, AllocTransportDomainIn, AllocXrcdIn, CreatePsvIn, QueryFlowCounterIn,
    QueryFlowCounterOut, QueryQCounterIn, QueryQCounterOut, Tdn, TrafficCounter, Xrcdn,
};
use crate::context::{Context, Object};
use crate::error::Error;
use crate::mailbox::List;

/// A transport domain, to which transport interfaces of sends and receives belong. Cheap to clone.
#[derive(Clone, Debug)]
pub struct TransportDomain {
    object: Arc<Object>,
    tdn: Tdn,
}

impl TransportDomain {
    /// Makes a transport domain (ALLOC_TRANSPORT_DOMAIN).
    ///
    /// # Errors
    /// [`Error::Command`].
    pub fn new(context: &Context) -> Result<Self, Error> {
        let (object, out) = context.make(&AllocTransportDomainIn::new(), ())?;
        Ok(Self { object: Arc::new(object), tdn: out.transport_domain() })
    }

    /// The number that identifies it in commands.
    #[must_use]
    pub fn tdn(&self) -> Tdn {
        self.tdn
    }

    /// The device it was made on.
    #[must_use]
    pub fn context(&self) -> &Context {
        self.object.context()
    }
}

/// An XRC domain. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Xrcd {
    object: Arc<Object>,
    xrcdn: Xrcdn,
}

impl Xrcd {
    /// Makes an XRC domain (ALLOC_XRCD).
    ///
    /// # Errors
    /// [`Error::Capability`], [`Error::Command`].
    pub fn new(context: &Context) -> Result<Self, Error> {
        crate::support::ask::has("cmd_hca_cap.xrc", context.general()?.xrc())?;
        let (object, out) = context.make(&AllocXrcdIn::new(), ())?;
        Ok(Self { object: Arc::new(object), xrcdn: out.xrcd() })
    }

    /// The number that identifies it in commands.
    #[must_use]
    pub fn xrcdn(&self) -> Xrcdn {
        self.xrcdn
    }

    /// The device it was made on.
    #[must_use]
    pub fn context(&self) -> &Context {
        self.object.context()
    }
}

/// A signature value, named by requests with signatures.
#[derive(Debug)]
pub struct Psv {
    _object: Object,
    index: u32,
}

impl Psv {
    /// Makes one (CREATE_PSV). The command could make four, but kernels let user space make only one at a time, because
    /// they destroy one at a time (`drivers/infiniband/hw/mlx5/devx.c`, `devx_is_obj_create_cmd`).
    ///
    /// # Errors
    /// [`Error::Command`].
    pub fn new(pd: &Pd) -> Result<Self, Error> {
        let mut inbox = CreatePsvIn::new();
        inbox.set_num_psv(1).set_pd(pd.pdn());
        let (object, out) = pd.context().make(&inbox, pd.clone())?;
        Ok(Self { _object: object, index: out.psv0_index() })
    }

    /// The number that identifies it in requests, 24 bits.
    #[must_use]
    pub fn index(&self) -> u32 {
        self.index
    }
}

/// Counters of the queues that name them: retries, errors, drops.
#[derive(Debug)]
pub struct QCounter {
    object: Object,
    id: u8,
}

impl QCounter {
    /// Makes a set of counters (ALLOC_Q_COUNTER).
    ///
    /// # Errors
    /// [`Error::Command`].
    pub fn new(context: &Context) -> Result<Self, Error> {
        let (object, out) = context.make(&AllocQCounterIn::new(), ())?;
        Ok(Self { object, id: out.counter_set_id() })
    }

    /// The number that identifies it in contexts of queues (`counter_set_id`).
    #[must_use]
    pub fn id(&self) -> u8 {
        self.id
    }

    /// Reads the counters; `clear` sets them to zero at the same time.
    ///
    /// # Errors
    /// [`Error::Command`].
    pub fn read(&self, clear: bool) -> Result<QueryQCounterOut, Error> {
        let mut inbox = QueryQCounterIn::new();
        inbox.set_counter_set_id(self.id).set_clear(clear);
        self.object.query(&inbox)
    }
}

/// A counter of packets for the flow rules that name it.
#[derive(Debug)]
pub struct FlowCounter {
    object: Object,
    id: u32,
}

impl FlowCounter {
    /// Makes a counter (ALLOC_FLOW_COUNTER).
    ///
    /// # Errors
    /// [`Error::Command`].
    pub fn new(context: &Context) -> Result<Self, Error> {
        let (object, out) = context.make(&AllocFlowCounterIn::new(), ())?;
        Ok(Self { object, id: out.flow_counter_id() })
    }

    /// The device it was made on.
    #[must_use]
    pub fn context(&self) -> &Context {
        self.object.context()
    }

    /// The number that identifies it in rules.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Reads packets and bytes; `clear` sets them to zero at the same time.
    ///
    /// # Errors
    /// [`Error::Command`].
    pub fn read(&self, clear: bool) -> Result<TrafficCounter, Error> {
        let mut inbox = QueryFlowCounterIn::new();
        inbox.set_flow_counter_id(self.id).set_clear(clear);
        let outbox = List::<QueryFlowCounterOut, TrafficCounter>::zeroed(1);
        let outbox = self.object.query_into(&inbox, outbox)?;
        outbox.iter().next().ok_or(Error::Parts { object: "flow counter", why: "an answer without it".into() })
    }
}
