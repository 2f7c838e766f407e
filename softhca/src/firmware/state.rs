//! What the firmware keeps besides the device's own objects.

use super::holds::Holds;
use super::objects::Umem;
use super::owners::Owners;
use crate::error::Object;
use crate::table::Table;

/// Most user memories.
const MAX_UMEMS: u32 = 1 << 20;

/// What the firmware keeps.
#[derive(Debug)]
pub(crate) struct State {
    /// Whose objects are.
    pub(super) owners: Owners,
    /// What memory they lie in.
    pub(super) holds: Holds,
    /// User memory.
    pub(super) umems: Table<Umem>,
}

impl State {
    pub(super) fn new() -> Self {
        Self { owners: Owners::default(), holds: Holds::default(), umems: Table::new(Object::Umem, 1, MAX_UMEMS) }
    }
}
