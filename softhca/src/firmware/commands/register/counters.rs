//! The counters of a port (`PPCNT`), by groups. Counters without a row here are 0, and stay so: frames are not damaged
//! on the way, no port pauses, and a receiver without room for a frame has never had it.

use super::entry::{Register, ethernet_port};
use crate::firmware::call::Call;
use crate::firmware::layout::{Field, View, ViewMut, layout};
use crate::firmware::status::{Refusal, Status};
use crate::nic::{Passed, PhysicalCounters};

layout! {
    /// Counters of a port. A group of them is in the bytes from 8 on.
    struct ppcnt_reg: 0x100 bytes {
        SWID: 0x0, 8;
        LOCAL_PORT: 0x8, 8;
        PNAT: 0x10, 2;
        GRP: 0x1a, 6;
        CLR: 0x20, 1;
        PRIO_TC: 0x3b, 5;
    }
    /// IEEE 802.3.
    struct eth_802_3_cntrs_grp_data_layout: 0xf8 bytes {
        A_FRAMES_TRANSMITTED_OK_HIGH: 0x0, 32;
        A_FRAMES_RECEIVED_OK_HIGH: 0x40, 32;
        A_OCTETS_TRANSMITTED_OK_HIGH: 0x100, 32;
        A_OCTETS_RECEIVED_OK_HIGH: 0x140, 32;
        A_MULTICAST_FRAMES_XMITTED_OK_HIGH: 0x180, 32;
        A_BROADCAST_FRAMES_XMITTED_OK_HIGH: 0x1c0, 32;
        A_MULTICAST_FRAMES_RECEIVED_OK_HIGH: 0x200, 32;
        A_BROADCAST_FRAMES_RECEIVED_OK_HIGH: 0x240, 32;
        A_FRAME_TOO_LONG_ERRORS_HIGH: 0x300, 32;
    }
    /// RFC 2863, an interface.
    struct eth_2863_cntrs_grp_data_layout: 0xf8 bytes {
        IF_IN_OCTETS_HIGH: 0x0, 32;
        IF_IN_UCAST_PKTS_HIGH: 0x40, 32;
        IF_IN_DISCARDS_HIGH: 0x80, 32;
        IF_IN_ERRORS_HIGH: 0xc0, 32;
        IF_OUT_OCTETS_HIGH: 0x140, 32;
        IF_OUT_UCAST_PKTS_HIGH: 0x180, 32;
        IF_OUT_DISCARDS_HIGH: 0x1c0, 32;
        IF_OUT_ERRORS_HIGH: 0x200, 32;
        IF_IN_MULTICAST_PKTS_HIGH: 0x240, 32;
        IF_IN_BROADCAST_PKTS_HIGH: 0x280, 32;
        IF_OUT_MULTICAST_PKTS_HIGH: 0x2c0, 32;
        IF_OUT_BROADCAST_PKTS_HIGH: 0x300, 32;
    }
    /// RFC 2819: frames that arrive on the network.
    struct eth_2819_cntrs_grp_data_layout: 0xf8 bytes {
        ETHER_STATS_OCTETS_HIGH: 0x40, 32;
        ETHER_STATS_PKTS_HIGH: 0x80, 32;
        ETHER_STATS_BROADCAST_PKTS_HIGH: 0xc0, 32;
        ETHER_STATS_MULTICAST_PKTS_HIGH: 0x100, 32;
        ETHER_STATS_OVERSIZE_PKTS_HIGH: 0x1c0, 32;
        ETHER_STATS_PKTS64OCTETS_HIGH: 0x2c0, 32;
        ETHER_STATS_PKTS65TO127OCTETS_HIGH: 0x300, 32;
        ETHER_STATS_PKTS128TO255OCTETS_HIGH: 0x340, 32;
        ETHER_STATS_PKTS256TO511OCTETS_HIGH: 0x380, 32;
        ETHER_STATS_PKTS512TO1023OCTETS_HIGH: 0x3c0, 32;
        ETHER_STATS_PKTS1024TO1518OCTETS_HIGH: 0x400, 32;
        ETHER_STATS_PKTS1519TO2047OCTETS_HIGH: 0x440, 32;
        ETHER_STATS_PKTS2048TO4095OCTETS_HIGH: 0x480, 32;
        ETHER_STATS_PKTS4096TO8191OCTETS_HIGH: 0x4c0, 32;
        ETHER_STATS_PKTS8192TO10239OCTETS_HIGH: 0x500, 32;
    }
    /// Frames of one priority.
    struct eth_per_prio_grp_data_layout: 0xf8 bytes {
        RX_OCTETS_HIGH: 0x0, 32;
        RX_FRAMES_HIGH: 0x100, 32;
        TX_OCTETS_HIGH: 0x140, 32;
        TX_FRAMES_HIGH: 0x240, 32;
    }
    /// The cable.
    struct phys_layer_cntrs: 0xf8 bytes { LINK_DOWN_EVENTS: 0x600, 32; }
    /// A port of InfiniBand (IBTA vol. 1, 16.1.3.5).
    struct ib_port_cntrs_grp_data_layout: 0x28 bytes { LINK_DOWNED_COUNTER: 0x18, 8; }
}

pub(super) const PPCNT: Register =
    Register { id: 0x5008, layout: &ppcnt_reg::LAYOUT, read: Some(counters), write: None };

/// First byte of the counters.
const SET_AT: usize = 8;

/// Groups (Linux `include/linux/mlx5/device.h`, `MLX5_*_COUNTERS_GROUP`).
mod group {
    pub(super) const IEEE_802_3: u64 = 0x0;
    pub(super) const RFC_2863: u64 = 0x1;
    pub(super) const RFC_2819: u64 = 0x2;
    pub(super) const PRIORITY: u64 = 0x10;
    pub(super) const PHYSICAL: u64 = 0x12;
    pub(super) const INFINIBAND: u64 = 0x20;
}

/// A counter of 64 bits, of which the header names both halves, and where it comes from.
type Row = (Field, fn(&PhysicalCounters) -> u64);

const IEEE_802_3: [Row; 9] = {
    use eth_802_3_cntrs_grp_data_layout::*;
    [
        (A_FRAMES_TRANSMITTED_OK_HIGH, |c| c.transmitted.all.packets),
        (A_FRAMES_RECEIVED_OK_HIGH, |c| c.received.all.packets),
        (A_OCTETS_TRANSMITTED_OK_HIGH, |c| c.transmitted.all.octets),
        (A_OCTETS_RECEIVED_OK_HIGH, |c| c.received.all.octets),
        (A_MULTICAST_FRAMES_XMITTED_OK_HIGH, |c| c.transmitted.multicast),
        (A_BROADCAST_FRAMES_XMITTED_OK_HIGH, |c| c.transmitted.broadcast),
        (A_MULTICAST_FRAMES_RECEIVED_OK_HIGH, |c| c.received.multicast),
        (A_BROADCAST_FRAMES_RECEIVED_OK_HIGH, |c| c.received.broadcast),
        (A_FRAME_TOO_LONG_ERRORS_HIGH, |c| c.received.too_long),
    ]
};

const RFC_2863: [Row; 12] = {
    use eth_2863_cntrs_grp_data_layout::*;
    [
        (IF_IN_OCTETS_HIGH, |c| c.received.all.octets),
        (IF_IN_UCAST_PKTS_HIGH, |c| unicast(&c.received)),
        (IF_IN_DISCARDS_HIGH, |c| c.received.no_room),
        (IF_IN_ERRORS_HIGH, |c| c.received.too_long),
        (IF_OUT_OCTETS_HIGH, |c| c.transmitted.all.octets),
        (IF_OUT_UCAST_PKTS_HIGH, |c| unicast(&c.transmitted)),
        (IF_OUT_DISCARDS_HIGH, |c| c.transmitted.no_room),
        (IF_OUT_ERRORS_HIGH, |c| c.transmitted.too_long),
        (IF_IN_MULTICAST_PKTS_HIGH, |c| c.received.multicast),
        (IF_IN_BROADCAST_PKTS_HIGH, |c| c.received.broadcast),
        (IF_OUT_MULTICAST_PKTS_HIGH, |c| c.transmitted.multicast),
        (IF_OUT_BROADCAST_PKTS_HIGH, |c| c.transmitted.broadcast),
    ]
};

const RFC_2819: [Row; 15] = {
    use eth_2819_cntrs_grp_data_layout::*;
    [
        (ETHER_STATS_OCTETS_HIGH, |c| c.received.all.octets),
        (ETHER_STATS_PKTS_HIGH, |c| c.received.all.packets),
        (ETHER_STATS_BROADCAST_PKTS_HIGH, |c| c.received.broadcast),
        (ETHER_STATS_MULTICAST_PKTS_HIGH, |c| c.received.multicast),
        (ETHER_STATS_OVERSIZE_PKTS_HIGH, |c| c.received.too_long),
        (ETHER_STATS_PKTS64OCTETS_HIGH, |c| c.received.sizes[0]),
        (ETHER_STATS_PKTS65TO127OCTETS_HIGH, |c| c.received.sizes[1]),
        (ETHER_STATS_PKTS128TO255OCTETS_HIGH, |c| c.received.sizes[2]),
        (ETHER_STATS_PKTS256TO511OCTETS_HIGH, |c| c.received.sizes[3]),
        (ETHER_STATS_PKTS512TO1023OCTETS_HIGH, |c| c.received.sizes[4]),
        (ETHER_STATS_PKTS1024TO1518OCTETS_HIGH, |c| c.received.sizes[5]),
        (ETHER_STATS_PKTS1519TO2047OCTETS_HIGH, |c| c.received.sizes[6]),
        (ETHER_STATS_PKTS2048TO4095OCTETS_HIGH, |c| c.received.sizes[7]),
        (ETHER_STATS_PKTS4096TO8191OCTETS_HIGH, |c| c.received.sizes[8]),
        (ETHER_STATS_PKTS8192TO10239OCTETS_HIGH, |c| c.received.sizes[9]),
    ]
};

fn unicast(passed: &Passed) -> u64 {
    passed.all.packets - passed.multicast - passed.broadcast
}

/// Fills in a counter of 64 bits that begins with this half.
fn set(register: &mut ViewMut<'_>, high: Field, value: u64) {
    register.set(Field { at: SET_AT * 8 + high.at, width: 64, ..high }, value);
}

fn counters(call: &mut Call<'_>, given: View<'_>, register: &mut ViewMut<'_>) -> Result<(), Refusal> {
    // They are the whole port's, of all its users.
    call.check_driver()?;
    let (port, group) = (given.get(ppcnt_reg::LOCAL_PORT), given.get(ppcnt_reg::GRP));
    if given.flag(ppcnt_reg::CLR) || given.get(ppcnt_reg::PNAT) != 0 {
        return Err(Refusal::parameter("counters of ports are named by the port's number, and are not cleared"));
    }
    let downs = match group {
        group::INFINIBAND => call.device.link(port as u8)?.downs,
        _ => call.device.link(ethernet_port(call, port)?)?.downs,
    };
    if port != 1 {
        return Err(Refusal::parameter(format!("port {port}: frames are those of port 1")));
    }
    let counts = call.device.nic().physical;
    register.set(ppcnt_reg::LOCAL_PORT, port);
    register.set(ppcnt_reg::GRP, group);
    let rows: &[Row] = match group {
        group::IEEE_802_3 => &IEEE_802_3,
        group::RFC_2863 => &RFC_2863,
        group::RFC_2819 => &RFC_2819,
        group::PRIORITY => {
            use eth_per_prio_grp_data_layout::{RX_FRAMES_HIGH, RX_OCTETS_HIGH, TX_FRAMES_HIGH, TX_OCTETS_HIGH};
            let priority = given.get(ppcnt_reg::PRIO_TC);
            register.set(ppcnt_reg::PRIO_TC, priority);
            let of = |passed: &Passed| passed.priorities.get(priority as usize).copied();
            let (Some(received), Some(transmitted)) = (of(&counts.received), of(&counts.transmitted)) else {
                return Err(Refusal::parameter(format!("priority {priority}: 0 to 7")));
            };
            set(register, RX_FRAMES_HIGH, received.packets);
            set(register, RX_OCTETS_HIGH, received.octets);
            set(register, TX_FRAMES_HIGH, transmitted.packets);
            set(register, TX_OCTETS_HIGH, transmitted.octets);
            &[]
        }
        group::PHYSICAL => {
            let mut set = ViewMut(&mut register.0[SET_AT..]);
            set.set(phys_layer_cntrs::LINK_DOWN_EVENTS, downs.into());
            &[]
        }
        group::INFINIBAND => {
            let mut set = ViewMut(&mut register.0[SET_AT..]);
            // It stays at its end (IBTA vol. 1, 16.1.3.5).
            set.set(ib_port_cntrs_grp_data_layout::LINK_DOWNED_COUNTER, downs.min(0xff).into());
            &[]
        }
        other => return Err(Refusal::new(Status::BadOperation, format!("group {other:#x} of counters"))),
    };
    for (field, value) in rows {
        set(register, *field, value(&counts));
    }
    Ok(())
}

#[cfg(test)]
pub(super) const LAYOUTS: [&crate::firmware::layout::Layout; 7] = [
    &ppcnt_reg::LAYOUT,
    &eth_802_3_cntrs_grp_data_layout::LAYOUT,
    &eth_2863_cntrs_grp_data_layout::LAYOUT,
    &eth_2819_cntrs_grp_data_layout::LAYOUT,
    &eth_per_prio_grp_data_layout::LAYOUT,
    &phys_layer_cntrs::LAYOUT,
    &ib_port_cntrs_grp_data_layout::LAYOUT,
];
