//! The firmware's state besides the device's own objects.

use super::holds::Holds;
use super::life::{Life, Stage};
use super::objects::{Contexts, Domain, Queues, Umem};
use super::owners::Owners;
use crate::error::Object;
use crate::table::Table;
use std::collections::BTreeMap;

/// Most transport domains.
const MAX_DOMAINS: u32 = 1 << 16;
/// Most user memories.
const MAX_UMEMS: u32 = 1 << 20;

/// The firmware's state.
#[derive(Debug)]
pub(crate) struct State {
    /// How far the driver has got, and its pages.
    pub(super) life: Life,
    /// Owners of the objects.
    pub(super) owners: Owners,
    /// Memory that they lie in, and domains that they name.
    pub(super) holds: Holds,
    /// Contexts of objects that commands have made; those of queues of work requests are in `queues`.
    pub(super) contexts: Contexts,
    /// Queues.
    pub(super) queues: Queues,
    /// The driver's name for the node (`NODE_DESC`).
    pub(super) node_name: [u8; 64],
    /// The Ethernet addresses that GIDs were given with, by port and index.
    pub(super) roce_macs: BTreeMap<(u8, u8), [u8; 6]>,
    /// Transport domains.
    pub(super) transport_domains: Table<Domain>,
    /// User memory.
    pub(super) umems: Table<Umem>,
}

impl State {
    pub(super) fn new(stage: Stage) -> Self {
        Self {
            life: Life::new(stage),
            owners: Owners::default(),
            holds: Holds::default(),
            contexts: Contexts::default(),
            queues: Queues::default(),
            node_name: [0; 64],
            roce_macs: BTreeMap::new(),
            transport_domains: Table::new(Object::TransportDomain, 1, MAX_DOMAINS),
            umems: Table::new(Object::Umem, 1, MAX_UMEMS),
        }
    }
}
