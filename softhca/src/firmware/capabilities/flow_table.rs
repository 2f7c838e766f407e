//! Features of flow tables (`MLX5_CAP_FLOW_TABLE`).

use super::row::{Row, Set, is_ethernet, log2};
use crate::config::DeviceConfig;
use crate::firmware::layout::{Field, Part, layout};
use crate::steering::{MAX_ACTIONS, MAX_LEVEL, MAX_LOG_SIZE, MAX_MODIFICATIONS, MAX_TABLES, MAX_TARGETS};

layout! {
    /// Fields of a frame that rules can match.
    struct flow_table_fields_supported: 0x10 bytes {
        OUTER_DMAC: 0x0, 1;
        OUTER_SMAC: 0x1, 1;
        OUTER_ETHER_TYPE: 0x2, 1;
        OUTER_IP_VERSION: 0x3, 1;
        OUTER_FIRST_PRIO: 0x4, 1;
        OUTER_FIRST_CFI: 0x5, 1;
        OUTER_FIRST_VID: 0x6, 1;
        OUTER_IPV4_TTL: 0x7, 1;
        OUTER_SECOND_PRIO: 0x8, 1;
        OUTER_SECOND_CFI: 0x9, 1;
        OUTER_SECOND_VID: 0xa, 1;
        OUTER_IPV6_FLOW_LABEL: 0xb, 1;
        OUTER_SIP: 0xc, 1;
        OUTER_DIP: 0xd, 1;
        OUTER_FRAG: 0xe, 1;
        OUTER_IP_PROTOCOL: 0xf, 1;
        OUTER_IP_ECN: 0x10, 1;
        OUTER_IP_DSCP: 0x11, 1;
        OUTER_UDP_SPORT: 0x12, 1;
        OUTER_UDP_DPORT: 0x13, 1;
        OUTER_TCP_SPORT: 0x14, 1;
        OUTER_TCP_DPORT: 0x15, 1;
        OUTER_TCP_FLAGS: 0x16, 1;
        METADATA_REG_B: 0x3e, 1;
        METADATA_REG_A: 0x3f, 1;
        OUTER_IPV6_HOP_LIMIT: 0x59, 1;
        OUTER_FIRST_SVLAN: 0x5d, 1;
        OUTER_SECOND_SVLAN: 0x5e, 1;
        SOURCE_SQN: 0x5f, 1;
        METADATA_REG_C_7: 0x78, 1;
        METADATA_REG_C_6: 0x79, 1;
        METADATA_REG_C_5: 0x7a, 1;
        METADATA_REG_C_4: 0x7b, 1;
        METADATA_REG_C_3: 0x7c, 1;
        METADATA_REG_C_2: 0x7d, 1;
        METADATA_REG_C_1: 0x7e, 1;
        METADATA_REG_C_0: 0x7f, 1;
    }
    /// Features of tables of one kind.
    struct flow_table_prop_layout: 0x40 bytes {
        FT_SUPPORT: 0x0, 1;
        FLOW_TAG: 0x1, 1;
        FLOW_COUNTER: 0x2, 1;
        FLOW_MODIFY_EN: 0x3, 1;
        MODIFY_ROOT: 0x4, 1;
        IDENTIFIED_MISS_TABLE_MODE: 0x5, 1;
        FLOW_TABLE_MODIFY: 0x6, 1;
        LOG_MAX_FT_SIZE: 0x22, 6;
        LOG_MAX_MODIFY_HEADER_CONTEXT: 0x28, 8;
        MAX_MODIFY_HEADER_ACTIONS: 0x30, 8;
        MAX_FT_LEVEL: 0x38, 8;
        METADATA_REG_B_WIDTH: 0x50, 8;
        METADATA_REG_A_WIDTH: 0x58, 8;
        LOG_MAX_FT_NUM: 0x78, 8;
        LOG_MAX_FLOW_COUNTER: 0x90, 8;
        LOG_MAX_DESTINATION: 0x98, 8;
        LOG_MAX_FLOW: 0xb8, 8;
    } parts {
        FT_FIELD_SUPPORT: 0x100, flow_table_fields_supported;
        FT_FIELD_BITMASK_SUPPORT: 0x180, flow_table_fields_supported;
    }
    /// Fields that rules of one kind of tables can modify. Those to copy have the places of the others
    /// (DPDK `drivers/common/mlx5/mlx5_prm.h`, `mlx5_ifc_ft_fields_support_bits`).
    struct header_modify_cap_properties: 0x80 bytes {
        COPY_ACTION_FIELD_SUPPORT: 0x200, 256;
    } parts {
        SET_ACTION_FIELD_SUPPORT: 0x0, flow_table_fields_supported;
        ADD_ACTION_FIELD_SUPPORT: 0x100, flow_table_fields_supported;
    }
    /// Flow tables of a NIC.
    struct flow_table_nic_cap: 0x1000 bytes {
        NIC_RX_MULTI_PATH_TIRS: 0x0, 1;
        ALLOW_SNIFFER_AND_NIC_RX_SHARED_TIR: 0x2, 1;
    } parts {
        HEADER_MODIFY_NIC_RECEIVE: 0x1000, header_modify_cap_properties;
        HEADER_MODIFY_NIC_TRANSMIT: 0x1c00, header_modify_cap_properties;
        FLOW_TABLE_PROPERTIES_NIC_RECEIVE: 0x200, flow_table_prop_layout;
        FLOW_TABLE_PROPERTIES_NIC_RECEIVE_SNIFFER: 0x600, flow_table_prop_layout;
        FLOW_TABLE_PROPERTIES_NIC_TRANSMIT: 0x800, flow_table_prop_layout;
        FLOW_TABLE_PROPERTIES_NIC_TRANSMIT_SNIFFER: 0xc00, flow_table_prop_layout;
    }
}

/// Features of tables: of received frames, of egress frames, whose rules have at most one destination, a table, and of
/// copies for sniffers, which no rule modifies.
#[rustfmt::skip]
const PROPERTIES: [(Field, [Value; 3]); 16] = [
    (flow_table_prop_layout::FT_SUPPORT, [yes; 3]),
    (flow_table_prop_layout::FLOW_TAG, [yes, no, yes]),
    (flow_table_prop_layout::FLOW_COUNTER, [yes; 3]),
    (flow_table_prop_layout::FLOW_MODIFY_EN, [yes; 3]),
    (flow_table_prop_layout::MODIFY_ROOT, [yes; 3]),
    (flow_table_prop_layout::IDENTIFIED_MISS_TABLE_MODE, [yes; 3]),
    (flow_table_prop_layout::FLOW_TABLE_MODIFY, [yes; 3]),
    (flow_table_prop_layout::LOG_MAX_FT_SIZE, [|_| MAX_LOG_SIZE as u64; 3]),
    (flow_table_prop_layout::LOG_MAX_MODIFY_HEADER_CONTEXT, [modifications, modifications, no]),
    (flow_table_prop_layout::MAX_MODIFY_HEADER_ACTIONS, [actions, actions, no]),
    (flow_table_prop_layout::MAX_FT_LEVEL, [|_| MAX_LEVEL as u64; 3]),
    (flow_table_prop_layout::METADATA_REG_B_WIDTH, [|_| 32, no, no]),
    (flow_table_prop_layout::METADATA_REG_A_WIDTH, [no, |_| 32, no]),
    (flow_table_prop_layout::LOG_MAX_FT_NUM, [|_| log2(MAX_TABLES); 3]),
    (flow_table_prop_layout::LOG_MAX_DESTINATION, [targets, no, targets]),
    (flow_table_prop_layout::LOG_MAX_FLOW_COUNTER, [targets; 3]),
];

/// Fields that rules modify, of those that have a bit here: numbers of TCP have none.
const MODIFIED: [Field; 25] = {
    use flow_table_fields_supported::*;
    [
        OUTER_DMAC,
        OUTER_SMAC,
        OUTER_ETHER_TYPE,
        OUTER_FIRST_VID,
        OUTER_IPV4_TTL,
        OUTER_SIP,
        OUTER_DIP,
        OUTER_IP_ECN,
        OUTER_IP_DSCP,
        OUTER_UDP_SPORT,
        OUTER_UDP_DPORT,
        OUTER_TCP_SPORT,
        OUTER_TCP_DPORT,
        OUTER_TCP_FLAGS,
        METADATA_REG_B,
        METADATA_REG_A,
        OUTER_IPV6_HOP_LIMIT,
        METADATA_REG_C_7,
        METADATA_REG_C_6,
        METADATA_REG_C_5,
        METADATA_REG_C_4,
        METADATA_REG_C_3,
        METADATA_REG_C_2,
        METADATA_REG_C_1,
        METADATA_REG_C_0,
    ]
};

type Value = fn(&DeviceConfig) -> u64;

fn yes(_: &DeviceConfig) -> u64 {
    1
}

fn no(_: &DeviceConfig) -> u64 {
    0
}

fn targets(_: &DeviceConfig) -> u64 {
    log2(MAX_TARGETS as u32)
}

fn modifications(_: &DeviceConfig) -> u64 {
    log2(MAX_MODIFICATIONS)
}

fn actions(_: &DeviceConfig) -> u64 {
    MAX_ACTIONS as u64
}

/// Rows of one direction: its properties, and each field twice, since rules may match any bits of it.
const ROWS_OF_ONE: usize = PROPERTIES.len() + 1 + 2 * flow_table_fields_supported::LAYOUT.fields.len();

/// The directions, in the order of [`PROPERTIES`], and whether the frames may come from send queues of the device.
const DIRECTIONS: [(Part, usize, bool); 4] = [
    (flow_table_nic_cap::FLOW_TABLE_PROPERTIES_NIC_RECEIVE, RECEIVE, false),
    (flow_table_nic_cap::FLOW_TABLE_PROPERTIES_NIC_TRANSMIT, TRANSMIT, true),
    (flow_table_nic_cap::FLOW_TABLE_PROPERTIES_NIC_RECEIVE_SNIFFER, SNIFFER, false),
    (flow_table_nic_cap::FLOW_TABLE_PROPERTIES_NIC_TRANSMIT_SNIFFER, SNIFFER, true),
];
const RECEIVE: usize = 0;
const TRANSMIT: usize = 1;
const SNIFFER: usize = 2;
/// The directions whose frames rules modify, by number, and the actions.
const MODIFYING: [Part; 2] =
    [flow_table_nic_cap::HEADER_MODIFY_NIC_RECEIVE, flow_table_nic_cap::HEADER_MODIFY_NIC_TRANSMIT];
const ACTIONS: [Part; 3] = [
    header_modify_cap_properties::SET_ACTION_FIELD_SUPPORT,
    header_modify_cap_properties::ADD_ACTION_FIELD_SUPPORT,
    Part {
        name: header_modify_cap_properties::COPY_ACTION_FIELD_SUPPORT.name,
        at: header_modify_cap_properties::COPY_ACTION_FIELD_SUPPORT.at / 8,
        layout: &flow_table_fields_supported::LAYOUT,
    },
];
const MODIFYING_ROWS: usize = MODIFYING.len() * ACTIONS.len() * MODIFIED.len();

static ROWS: [Row; 2 + DIRECTIONS.len() * ROWS_OF_ONE + MODIFYING_ROWS] = {
    let first = Row { field: flow_table_nic_cap::NIC_RX_MULTI_PATH_TIRS, value: yes };
    let mut rows = [first; 2 + DIRECTIONS.len() * ROWS_OF_ONE + MODIFYING_ROWS];
    rows[1] = Row { field: flow_table_nic_cap::ALLOW_SNIFFER_AND_NIC_RX_SHARED_TIR, value: yes };
    let (mut next, mut direction) = (2, 0);
    while direction < DIRECTIONS.len() {
        let (part, kind, sends) = DIRECTIONS[direction];
        let mut i = 0;
        while i < PROPERTIES.len() {
            let (field, values) = PROPERTIES[i];
            rows[next] = Row { field: inside(part, field), value: values[kind] };
            (next, i) = (next + 1, i + 1);
        }
        // All rules of a table.
        let flows: Value = |_| MAX_LOG_SIZE as u64;
        rows[next] = Row { field: inside(part, flow_table_prop_layout::LOG_MAX_FLOW), value: flows };
        next += 1;
        let supports = [flow_table_prop_layout::FT_FIELD_SUPPORT, flow_table_prop_layout::FT_FIELD_BITMASK_SUPPORT];
        let mut support = 0;
        while support < 2 {
            let fields = flow_table_fields_supported::LAYOUT.fields;
            let mut i = 0;
            while i < fields.len() {
                let field = inside(part, inside(supports[support], fields[i]));
                // A frame that arrives comes from no send queue of the device.
                let sqn = fields[i].at == flow_table_fields_supported::SOURCE_SQN.at;
                // The WQE's number is for the rules of egress frames; no rule matches the CQE's.
                let a = fields[i].at == flow_table_fields_supported::METADATA_REG_A.at;
                let b = fields[i].at == flow_table_fields_supported::METADATA_REG_B.at;
                let c = fields[i].at >= flow_table_fields_supported::METADATA_REG_C_7.at;
                let absent = sqn && !sends || a && kind != TRANSMIT || b || c && kind == SNIFFER;
                rows[next] = Row { field, value: if absent { no } else { yes } };
                (next, i) = (next + 1, i + 1);
            }
            support += 1;
        }
        direction += 1;
    }
    let (mut direction, mut action, mut i) = (0, 0, 0);
    while direction < MODIFYING.len() {
        let field = inside(MODIFYING[direction], inside(ACTIONS[action], MODIFIED[i]));
        let a = MODIFIED[i].at == flow_table_fields_supported::METADATA_REG_A.at;
        let b = MODIFIED[i].at == flow_table_fields_supported::METADATA_REG_B.at;
        let absent = a && direction != TRANSMIT || b && direction != RECEIVE;
        rows[next] = Row { field, value: if absent { no } else { yes } };
        (next, i) = (next + 1, i + 1);
        if i == MODIFIED.len() {
            (action, i) = (action + 1, 0);
        }
        if action == ACTIONS.len() {
            (direction, action) = (direction + 1, 0);
        }
    }
    rows
};

/// A field of a part, as one of the whole.
const fn inside(part: Part, field: Field) -> Field {
    Field { name: field.name, at: part.at * 8 + field.at, width: field.width }
}

pub(super) const SET: Set = Set { layout: &flow_table_nic_cap::LAYOUT, kind: 7, present: is_ethernet, rows: &ROWS };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::PortConfig;

    #[test]
    fn properties_are_in_both_directions() {
        let set = SET.of(&DeviceConfig::with_port(PortConfig::ethernet(1))).expect("the set");
        // Support, tag, counters, changes, root, misses, tables; log2 of the size and the highest level.
        // And log2 of the modify header contexts, and the actions of one.
        assert_eq!(set[0x40..0x48], [0xfe, 0, 0, 0, MAX_LOG_SIZE, 16, 16, MAX_LEVEL]);
        assert_eq!(set[0x100..0x108], [0xbe, 0, 0, 0, MAX_LOG_SIZE, 16, 16, MAX_LEVEL]);
        assert_eq!(set[0x60..0x70], [0xff, 0xff, 0xfe, 0, 0, 0, 0, 0, 0, 0, 0, 0x46, 0, 0, 0, 0xff]);
        assert_eq!(set[0x120..0x130], [0xff, 0xff, 0xfe, 0, 0, 0, 0, 1, 0, 0, 0, 0x47, 0, 0, 0, 0xff]);
        assert_eq!((&set[0x4a..0x4c], &set[0x10a..0x10c]), (&[32, 0][..], &[0, 32][..]), "bits of registers A and B");
        for sniffer in [0xc0, 0x180] {
            assert_eq!(set[sniffer..sniffer + 12], [0xfe, 0, 0, 0, MAX_LOG_SIZE, 0, 0, MAX_LEVEL, 0, 0, 0, 0]);
            assert_eq!(set[sniffer + 0x2f], 0, "registers C");
        }
        // Of received frames, then of egress ones: what is set, added to, and copied.
        for (at, registers) in [(0x200, 2), (0x380, 1)] {
            for action in [0, 0x20, 0x40] {
                let fields = [0xe3, 0x0c, 0xfe, 0, 0, 0, 0, registers, 0, 0, 0, 0x40, 0, 0, 0, 0xff];
                assert_eq!(set[at + action..at + action + 16], fields, "{at:#x} {action:#x}");
            }
        }
        assert_eq!((set[0], SET.of(&DeviceConfig::with_port(PortConfig::infiniband(1)))), (0xa0, None));
    }
}
