//! Features of the device for Ethernet frames (`MLX5_CAP_ETHERNET_OFFLOADS`).

use super::row::{capability_set, inline_mode, is_ethernet, log2};
use crate::config::DeviceConfig;
use crate::context::InlineHeaders;
use crate::ethernet::LOG_MAX_LARGE;
use crate::nic::{MAX_RQT, MIN_DATA, PERIODS_USECS};
use crate::resources::MAX_VXLAN_PORTS;

fn takes_many_frames(config: &DeviceConfig) -> u64 {
    (config.inline_headers == InlineHeaders::None).into()
}

capability_set! {
    /// Offloads.
    per_protocol_networking_offload_caps: 0x100 bytes, set 1, if is_ethernet;
    CSUM_CAP: 0x0, 1 = |_| 1;
    // Tags are taken out of received frames.
    VLAN_CAP: 0x1, 1 = |_| 1;
    // TCP segments become one frame: also those with time stamps, and those with PSH (a ConnectX-6 Dx says that it does
    // not merge the latter). Software that reads the flag of the CQE finds it set here.
    LRO_CAP: 0x2, 1 = |_| 1;
    LRO_PSH_FLAG: 0x3, 1 = |_| 1;
    LRO_TIME_STAMP: 0x4, 1 = |_| 1;
    // The most bytes of a message count from TCP's header on.
    LRO_MAX_MSG_SZ_MODE: 0x5, 2 = |_| 0;
    SELF_LB_EN_MODIFIABLE: 0x8, 1 = |_| 1;
    // Large packets are cut up.
    MAX_LSO_CAP: 0xb, 5 = |_| LOG_MAX_LARGE.into();
    // WQEs of several frames. They have no headers inline, so a device that needs some has no such WQEs.
    MULTI_PKT_SEND_WQE: 0x10, 2 = takes_many_frames;
    // The source of the mode that says which headers are needed inline.
    WQE_INLINE_MODE: 0x12, 2 = |c| inline_mode(c) as u64;
    RSS_IND_TBL_CAP: 0x14, 4 = |_| log2(MAX_RQT.into());
    // Opcode 0x29. The older form (opcode 0x0e, modifier 1) is refused: drivers use it only where this bit is 0 (DPDK
    // `drivers/net/mlx5/linux/mlx5_os.c`, `mps`).
    ENHANCED_MULTI_PKT_SEND_WQE: 0x1a, 1 = takes_many_frames;
    // Tunnels whose inner headers get checksums, are cut up, and are looked at when they arrive.
    TUNNEL_STATELESS_GRE: 0x1e, 1 = |_| 1;
    TUNNEL_STATELESS_VXLAN: 0x1f, 1 = |_| 1;
    // A WQE may say where the headers are ("software parser"), for checksums and for large packets.
    SWP: 0x20, 1 = |_| 1;
    SWP_CSUM: 0x21, 1 = |_| 1;
    SWP_LSO: 0x22, 1 = |_| 1;
    TUNNEL_STATELESS_GENEVE_TX: 0x24, 1 = |_| 1;
    TUNNEL_STATELESS_IP_OVER_IP_RX: 0x2c, 1 = |_| 1;
    TUNNEL_STATELESS_IP_OVER_IP_TX: 0x2d, 1 = |_| 1;
    MAX_VXLAN_UDP_PORTS: 0x30, 8 = |_| MAX_VXLAN_PORTS as u64;
    TUNNEL_STATELESS_GENEVE_RX: 0x3f, 1 = |_| 1;
    LRO_MIN_MSS_SIZE: 0x50, 16 = |_| MIN_DATA.into();
    [LRO_TIMER_SUPPORTED_PERIODS]: 0x180, 128 {
        0x180 = |_| PERIODS_USECS[0].into();
        0x1a0 = |_| PERIODS_USECS[1].into();
        0x1c0 = |_| PERIODS_USECS[2].into();
        0x1e0 = |_| PERIODS_USECS[3].into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::PortConfig;

    /// A ConnectX-6 Dx's numbers, as mlx5ctl prints them, but for PSH; at the places of the headers' fields.
    #[test]
    fn merged_segments_have_the_limits_of_a_nic() {
        let set = SET.of(&DeviceConfig::with_port(PortConfig::ethernet(1))).expect("the set");
        assert_eq!((set[0] & 0x3e, &set[8..12]), (0x38, &[0, 0, 0x05, 0x44][..]));
        assert_eq!(set[0x30..0x40], [0, 0, 0, 8, 0, 0, 0, 16, 0, 0, 0, 32, 0, 0, 4, 0]);
    }
}
