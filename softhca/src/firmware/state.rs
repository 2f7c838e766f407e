//! What the firmware keeps besides the device's own objects.

use super::objects::Umem;
use super::owners::Owners;
use crate::error::Object;
use crate::table::Table;

/// Most user memories.
const MAX_UMEMS: u32 = 1 << 20;

/// What the firmware keeps.
#[derive(Debug)]
pub(super) struct State {
    /// Whose objects are.
    pub(super) owners: Owners,
    /// User memory.
    pub(super) umems: Table<Umem>,
}

impl State {
    pub(super) fn new() -> Self {
        Self { owners: Owners::default(), umems: Table::new(Object::Umem, 1, MAX_UMEMS) }
    }
}
