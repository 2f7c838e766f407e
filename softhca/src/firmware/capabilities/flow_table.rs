//! Features of flow tables (`MLX5_CAP_FLOW_TABLE`).

use super::row::{Row, Set, is_ethernet, log2};
use crate::config::DeviceConfig;
use crate::firmware::layout::{Field, Part, layout};
use crate::steering::{MAX_LEVEL, MAX_LOG_SIZE, MAX_TABLES, MAX_TARGETS};

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
        METADATA_REG_A: 0x3f, 1;
        OUTER_IPV6_HOP_LIMIT: 0x59, 1;
        OUTER_FIRST_SVLAN: 0x5d, 1;
        OUTER_SECOND_SVLAN: 0x5e, 1;
        SOURCE_SQN: 0x5f, 1;
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
        MAX_FT_LEVEL: 0x38, 8;
        METADATA_REG_A_WIDTH: 0x58, 8;
        LOG_MAX_FT_NUM: 0x78, 8;
        LOG_MAX_FLOW_COUNTER: 0x90, 8;
        LOG_MAX_DESTINATION: 0x98, 8;
        LOG_MAX_FLOW: 0xb8, 8;
    } parts {
        FT_FIELD_SUPPORT: 0x100, flow_table_fields_supported;
        FT_FIELD_BITMASK_SUPPORT: 0x180, flow_table_fields_supported;
    }
    /// Flow tables of a NIC.
    struct flow_table_nic_cap: 0x1000 bytes {
        NIC_RX_MULTI_PATH_TIRS: 0x0, 1;
        ALLOW_SNIFFER_AND_NIC_RX_SHARED_TIR: 0x2, 1;
    } parts {
        FLOW_TABLE_PROPERTIES_NIC_RECEIVE: 0x200, flow_table_prop_layout;
        FLOW_TABLE_PROPERTIES_NIC_RECEIVE_SNIFFER: 0x600, flow_table_prop_layout;
        FLOW_TABLE_PROPERTIES_NIC_TRANSMIT: 0x800, flow_table_prop_layout;
        FLOW_TABLE_PROPERTIES_NIC_TRANSMIT_SNIFFER: 0xc00, flow_table_prop_layout;
    }
}

/// Features of tables that send frames to TIRs, and of those for frames that leave, whose rules have at most one
/// destination, a table.
const PROPERTIES: [(Field, Value, Value); 13] = [
    (flow_table_prop_layout::FT_SUPPORT, yes, yes),
    (flow_table_prop_layout::FLOW_TAG, yes, no),
    (flow_table_prop_layout::FLOW_COUNTER, yes, yes),
    (flow_table_prop_layout::FLOW_MODIFY_EN, yes, yes),
    (flow_table_prop_layout::MODIFY_ROOT, yes, yes),
    (flow_table_prop_layout::IDENTIFIED_MISS_TABLE_MODE, yes, yes),
    (flow_table_prop_layout::FLOW_TABLE_MODIFY, yes, yes),
    (flow_table_prop_layout::LOG_MAX_FT_SIZE, |_| MAX_LOG_SIZE as u64, |_| MAX_LOG_SIZE as u64),
    (flow_table_prop_layout::MAX_FT_LEVEL, |_| MAX_LEVEL as u64, |_| MAX_LEVEL as u64),
    (flow_table_prop_layout::METADATA_REG_A_WIDTH, no, |_| 32),
    (flow_table_prop_layout::LOG_MAX_FT_NUM, |_| log2(MAX_TABLES), |_| log2(MAX_TABLES)),
    (flow_table_prop_layout::LOG_MAX_DESTINATION, |_| log2(MAX_TARGETS as u32), no),
    (flow_table_prop_layout::LOG_MAX_FLOW_COUNTER, |_| log2(MAX_TARGETS as u32), |_| log2(MAX_TARGETS as u32)),
];

type Value = fn(&DeviceConfig) -> u64;

fn yes(_: &DeviceConfig) -> u64 {
    1
}

fn no(_: &DeviceConfig) -> u64 {
    0
}

/// Rows of one direction: its properties, and each field twice, since rules may match any bits of it.
const ROWS_OF_ONE: usize = PROPERTIES.len() + 1 + 2 * flow_table_fields_supported::LAYOUT.fields.len();

/// The directions, and whether the frames may come from send queues of the device.
const DIRECTIONS: [(Part, bool); 4] = [
    (flow_table_nic_cap::FLOW_TABLE_PROPERTIES_NIC_RECEIVE, false),
    (flow_table_nic_cap::FLOW_TABLE_PROPERTIES_NIC_TRANSMIT, true),
    (flow_table_nic_cap::FLOW_TABLE_PROPERTIES_NIC_RECEIVE_SNIFFER, false),
    (flow_table_nic_cap::FLOW_TABLE_PROPERTIES_NIC_TRANSMIT_SNIFFER, true),
];
/// The only one whose rules choose no TIR.
const TRANSMIT: usize = 1;

const ROWS: [Row; 2 + DIRECTIONS.len() * ROWS_OF_ONE] = {
    let first = Row { field: flow_table_nic_cap::NIC_RX_MULTI_PATH_TIRS, value: yes };
    let mut rows = [first; 2 + DIRECTIONS.len() * ROWS_OF_ONE];
    rows[1] = Row { field: flow_table_nic_cap::ALLOW_SNIFFER_AND_NIC_RX_SHARED_TIR, value: yes };
    let (mut next, mut direction) = (2, 0);
    while direction < DIRECTIONS.len() {
        let (part, sends) = DIRECTIONS[direction];
        let mut i = 0;
        while i < PROPERTIES.len() {
            let (field, to_tirs, transmit) = PROPERTIES[i];
            rows[next] =
                Row { field: inside(part, field), value: if direction == TRANSMIT { transmit } else { to_tirs } };
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
                // The WQE's number is for the rules of frames that leave.
                let metadata = fields[i].at == flow_table_fields_supported::METADATA_REG_A.at;
                let absent = sqn && !sends || metadata && direction != TRANSMIT;
                rows[next] = Row { field, value: if absent { no } else { yes } };
                (next, i) = (next + 1, i + 1);
            }
            support += 1;
        }
        direction += 1;
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
        assert_eq!(set[0x40..0x48], [0xfe, 0, 0, 0, MAX_LOG_SIZE, 0, 0, MAX_LEVEL]);
        assert_eq!(set[0x100..0x108], [0xbe, 0, 0, 0, MAX_LOG_SIZE, 0, 0, MAX_LEVEL]);
        assert_eq!(set[0x60..0x70], [0xff, 0xff, 0xfe, 0, 0, 0, 0, 0, 0, 0, 0, 0x46, 0, 0, 0, 0]);
        assert_eq!(set[0x120..0x130], [0xff, 0xff, 0xfe, 0, 0, 0, 0, 1, 0, 0, 0, 0x47, 0, 0, 0, 0]);
        assert_eq!((set[0x4b], set[0x10b]), (0, 32), "bits of a WQE's metadata");
        assert_eq!((&set[0xc0..0xc8], &set[0x180..0x188]), (&set[0x40..0x48], &set[0x40..0x48]), "sniffers");
        assert_eq!((set[0], SET.of(&DeviceConfig::with_port(PortConfig::infiniband(1)))), (0xa0, None));
    }
}
