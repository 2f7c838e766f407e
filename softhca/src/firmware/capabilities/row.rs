//! A capability: a field of a set, and its value for a device.

use crate::config::{DeviceConfig, Generation, LinkLayer};
use crate::context::InlineHeaders;
use crate::firmware::layout::{Field, Layout, ViewMut};

/// A capability.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    /// Its field in the set.
    pub(super) field: Field,
    /// Its value.
    pub(super) value: fn(&DeviceConfig) -> u64,
}

/// A set of capabilities, as `QUERY_HCA_CAP` gives it.
pub(crate) struct Set {
    /// The structure.
    pub(crate) layout: &'static Layout,
    /// Number of the set (`enum mlx5_cap_type`).
    pub(crate) kind: u16,
    /// The device has the set. A device without the set has none of the features that the set describes.
    pub(super) present: fn(&DeviceConfig) -> bool,
    /// Capabilities, each in its place in the structure. Capabilities without a row are absent, and their fields are
    /// 0.
    pub(super) rows: &'static [Row],
}

impl Set {
    /// The set of a device with this configuration; `None` if it has none.
    pub(crate) fn of(&self, config: &DeviceConfig) -> Option<Vec<u8>> {
        (self.present)(config).then(|| {
            let mut bytes = vec![0; self.layout.bytes];
            for row in self.rows {
                ViewMut(&mut bytes).set(row.field, (row.value)(config));
            }
            bytes
        })
    }

    /// A capability whose value its field has no room for.
    #[cfg(test)]
    pub(crate) fn misfit(&self, config: &DeviceConfig) -> Option<&'static str> {
        let fits = |row: &Row| u128::from((row.value)(config)) < 1 << row.field.width;
        self.rows.iter().find(|row| !fits(row)).map(|row| row.field.name)
    }

    /// The capability that byte `at` of the set is of, for people.
    pub(crate) fn name_at(&self, at: usize) -> Option<&'static str> {
        let fields = self.rows.iter().map(|row| row.field);
        fields.into_iter().find(|field| field.at / 8 <= at && at <= (field.at + field.width - 1) / 8).map(|f| f.name)
    }
}

/// Describes a set: its structure, and a row for each capability of it, `NAME: first bit, bits = what it says;`. A list
/// of words is one field: `[NAME]: first bit, bits { first bit of a word = what it says; }`.
macro_rules! capability_set {
    (
        $(#[$doc:meta])*
        $name:ident: $bytes:literal bytes, set $kind:literal, if $present:expr;
        $($field:ident: $at:literal, $width:literal = $value:expr;)*
        $([$list:ident]: $list_at:literal, $bits:literal { $($word_at:literal = $word:expr;)* })?
    ) => {
        $crate::firmware::layout::layout! {
            $(#[$doc])*
            struct $name: $bytes bytes {
                $($field: $at, $width;)*
                $($list: $list_at, $bits;)?
            }
        }
        pub(super) const SET: $crate::firmware::capabilities::row::Set = $crate::firmware::capabilities::row::Set {
            layout: &$name::LAYOUT,
            kind: $kind,
            present: $present,
            rows: &[
                $($crate::firmware::capabilities::row::Row { field: $name::$field, value: $value },)*
                $($($crate::firmware::capabilities::row::Row {
                    field: $crate::firmware::layout::Field { at: $word_at, width: 32, ..$name::$list },
                    value: $word,
                },)*)?
            ],
        };
    };
}
pub(super) use capability_set;

/// log2 of the most that `count` objects are, rounded down.
pub(super) fn log2(count: u32) -> u64 {
    count.max(1).ilog2().into()
}

/// Which timestamps queues can have: those of a clock that runs freely (0), the time (1), or both (2)
/// (`MLX5_TIMESTAMP_FORMAT_CAP_*`).
pub(super) fn timestamps(config: &DeviceConfig) -> u64 {
    match (config.has_free_running(), config.has_real_time()) {
        (_, false) => 0,
        (false, true) => 1,
        (true, true) => 2,
    }
}

/// The source of the mode that says which headers are needed inline (`wqe_inline_mode`; Linux
/// `include/linux/mlx5/vport.h`, `MLX5_CAP_INLINE_MODE_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InlineMode {
    /// The capability: those of layer 2.
    L2 = 0,
    /// The context of the function's port.
    VportContext = 1,
    /// The capability: none.
    NotRequired = 2,
}

/// The source on a device with this configuration.
pub(crate) fn inline_mode(config: &DeviceConfig) -> InlineMode {
    match config.inline_headers {
        InlineHeaders::None => InlineMode::NotRequired,
        InlineHeaders::L2 => InlineMode::L2,
        InlineHeaders::Ip | InlineHeaders::TcpUdp => InlineMode::VportContext,
    }
}

/// log2 of the WQEBBs of a ring whose WQEs are executed again and again. Drivers ask whether it is zero (DPDK
/// `drivers/net/mlx5/linux/mlx5_os.c`); no public source has a device's value.
pub(crate) const MAX_STATIC_SQ_LOG: u64 = 8;

/// Whether there are queues that tick: paced by WQEs, with WQEs that stay in the ring. The documentation of DPDK names
/// ConnectX-6 Dx and later for `tx_pp` (`doc/guides/nics/mlx5.rst`).
pub(crate) fn has_clock_queues(config: &DeviceConfig) -> bool {
    is_ethernet(config) && config.generation >= Generation::ConnectX6Dx
}

/// All ports are RoCE's.
pub(super) fn is_ethernet(config: &DeviceConfig) -> bool {
    config.ports.iter().all(|port| port.link == LinkLayer::Ethernet)
}
