//! Capabilities: the abilities that a device reports, by sets and generations. They are true: a capability is there
//! only if the commands and the core keep to it, and limits are those that the core checks.
//!
//! Each file is one set, and each of its lines one capability. When you make the device do more, add the line.

mod atomic;
mod device_memory;
mod encryption;
mod ethernet;
mod flow_table;
mod general;
mod general_2;
mod on_demand;
mod qos;
mod roce;
mod row;

use crate::config::DeviceConfig;
pub(crate) use atomic::atomic_caps::ATOMIC_REQ_8B_ENDIANNESS_MODE;
pub(crate) use general::cmd_hca_cap::CMDIF_CHECKSUM;
pub(crate) use general::{DEK_TYPE, RESERVED_QPN_TYPE, user_caps};
pub(crate) use general_2::has_recordless_queues;
pub(crate) use roce::ADDRESSES as ROCE_ADDRESSES;
pub(crate) use row::{InlineMode, MAX_STATIC_SQ_LOG, Set, has_clock_queues, inline_mode};

/// Number of the set of general capabilities.
pub(crate) const GENERAL: u16 = 0;
/// Number of the set of atomics.
pub(crate) const ATOMIC: u16 = 3;
/// Bytes of the longest set, which mailboxes have room for (`hca_cap_union`).
pub(crate) const SET_BYTES: usize = 0x1000;

/// All sets.
const SETS: [&Set; 10] = [
    &general::SET,
    &device_memory::SET,
    &encryption::SET,
    &ethernet::SET,
    &flow_table::SET,
    &on_demand::SET,
    &atomic::SET,
    &roce::SET,
    &qos::SET,
    &general_2::SET,
];

/// Sets that libmlx5 asks for without looking at a general capability first (rdma-core `providers/mlx5/dr_devx.c`,
/// `dr_devx_query_device`), so that every device answers them.
const ALWAYS_ANSWERED: [&Set; 2] = [&flow_table::SET, &device_memory::SET];

/// The bytes of a set. A device without its features answers zeros if drivers ask all devices for it, and otherwise
/// has no such set.
pub(crate) fn answer(set: &Set, config: &DeviceConfig) -> Option<Vec<u8>> {
    let always = ALWAYS_ANSWERED.iter().any(|other| other.kind == set.kind);
    set.of(config).or_else(|| always.then(|| vec![0; set.layout.bytes]))
}

/// The set with this number.
pub(crate) fn set(kind: u16) -> Option<&'static Set> {
    SETS.into_iter().find(|set| set.kind == kind)
}

#[cfg(test)]
pub(crate) fn sets() -> impl Iterator<Item = &'static Set> {
    SETS.into_iter()
}
