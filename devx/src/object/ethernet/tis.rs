//! Transport interfaces of sends, through which frames leave.

use std::sync::Arc;

use crate::check::in_range;
use crate::cmd::{CreateTisIn, ModifyTisIn, QueryTisIn, Tisc, Tisn};
use crate::context::Object;
use crate::error::Error;
use crate::object::simple::TransportDomain;

/// A transport interface of sends, through which send queues send. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Tis {
    object: Arc<Object>,
    tisn: Tisn,
    domain: TransportDomain,
}

impl Tis {
    /// Makes an interface of priority `prio`, 0 to 7 (CREATE_TIS).
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Command`].
    pub fn new(domain: &TransportDomain, prio: u8) -> Result<Self, Error> {
        let mut inbox = CreateTisIn::new();
        inbox.ctx_mut().set_transport_domain(domain.tdn()).set_prio(in_context(prio)?);
        let (object, out) = domain.context().make(&inbox, domain.clone())?;
        Ok(Self { object: Arc::new(object), tisn: out.tisn(), domain: domain.clone() })
    }

    /// The number that identifies it in commands.
    #[must_use]
    pub fn tisn(&self) -> Tisn {
        self.tisn
    }

    /// The object: for commands.
    #[must_use]
    pub fn object(&self) -> &Object {
        &self.object
    }

    /// Its domain.
    #[must_use]
    pub fn domain(&self) -> &TransportDomain {
        &self.domain
    }

    /// Gives frames that leave through it priority `prio`, 0 to 7, from now on (MODIFY_TIS).
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Command`].
    pub fn set_priority(&self, prio: u8) -> Result<(), Error> {
        let mut inbox = ModifyTisIn::new();
        inbox.set_tisn(self.tisn);
        inbox.bitmask_mut().set_prio(true);
        inbox.ctx_mut().set_prio(in_context(prio)?);
        self.object.change(&inbox).map(drop)
    }

    /// Queries the context (QUERY_TIS).
    ///
    /// # Errors
    /// [`Error::Command`].
    pub fn query(&self) -> Result<Tisc, Error> {
        let mut inbox = QueryTisIn::new();
        inbox.set_tisn(self.tisn);
        Ok(self.object.query(&inbox)?.tis_context().clone())
    }
}

/// A priority as contexts have it: in the field's highest three bits (Linux
/// `drivers/net/ethernet/mellanox/mlx5/core/en_main.c`, `MLX5_SET(tisc, tisc, prio, tc << 1)`).
fn in_context(prio: u8) -> Result<u8, Error> {
    in_range("priority", prio, 0..=7)?;
    Ok(prio << 1)
}
