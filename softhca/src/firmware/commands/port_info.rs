//! The answers of a port's agent of subnet management: PortInfo, as drivers in user space ask for it (rdma-core
//! `tests/mlx5_base.py`). There is no subnet manager to set it.

use crate::config::{GidType, LinkLayer, PortConfig};
use crate::firmware::layout::{Field, ViewMut};

/// `PortInfo`, as attributes are numbered (IBTA vol. 1, 14.2.5).
pub(super) const ATTRIBUTE: u64 = 0x15;
/// Where an attribute begins in a datagram of subnet management, in bits (IBTA vol. 1, 14.2.1).
const DATA: usize = 64 * 8;

const fn field(name: &'static str, at: usize, width: usize) -> Field {
    Field { name, at: DATA + at, width }
}

// IBTA vol. 1, 14.2.5.6.
const GID_PREFIX: Field = field("GidPrefix", 64, 64);
const LID: Field = field("LID", 128, 16);
const CAPABILITY_MASK: Field = field("CapabilityMask", 160, 32);
const LOCAL_PORT_NUM: Field = field("LocalPortNum", 224, 8);
const LINK_WIDTH_ENABLED: Field = field("LinkWidthEnabled", 232, 8);
const LINK_WIDTH_SUPPORTED: Field = field("LinkWidthSupported", 240, 8);
const LINK_WIDTH_ACTIVE: Field = field("LinkWidthActive", 248, 8);
const LINK_SPEED_SUPPORTED: Field = field("LinkSpeedSupported", 256, 4);
const PORT_STATE: Field = field("PortState", 260, 4);
const PORT_PHYSICAL_STATE: Field = field("PortPhysicalState", 264, 4);
const LINK_DOWN_DEFAULT_STATE: Field = field("LinkDownDefaultState", 268, 4);
const LINK_SPEED_ACTIVE: Field = field("LinkSpeedActive", 280, 4);
const LINK_SPEED_ENABLED: Field = field("LinkSpeedEnabled", 284, 4);
const NEIGHBOR_MTU: Field = field("NeighborMTU", 288, 4);
const VL_CAP: Field = field("VLCap", 296, 4);
const MTU_CAP: Field = field("MTUCap", 332, 4);
const OPERATIONAL_VLS: Field = field("OperationalVLs", 344, 4);
const LINK_SPEED_EXT_ACTIVE: Field = field("LinkSpeedExtActive", 496, 4);
const LINK_SPEED_EXT_SUPPORTED: Field = field("LinkSpeedExtSupported", 500, 4);
const LINK_SPEED_EXT_ENABLED: Field = field("LinkSpeedExtEnabled", 507, 5);

/// `IsExtendedSpeedsSupported`.
const EXTENDED_SPEEDS: u64 = 1 << 14;
/// 4X.
const WIDTH: u64 = 2;
/// SDR, DDR and QDR; and of the extended ones, EDR.
const SPEEDS: u64 = 7;
const QDR: u64 = 4;
const EDR: u64 = 2;
/// Down and active; disabled and up; polling.
const DOWN: u64 = 1;
const ACTIVE: u64 = 4;
const DISABLED: u64 = 3;
const LINK_UP: u64 = 5;
const POLLING: u64 = 2;
/// 4096 bytes, as MTUs are numbered from 256 bytes on.
const MTU_4096: u64 = 5;

/// Fills in the attribute of port `number`, which is `up`. `false`: nothing is filled in, because an Ethernet port has
/// no agent.
pub(super) fn tell(mad: &mut ViewMut<'_>, number: u8, port: &PortConfig, up: bool) -> bool {
    if port.link != LinkLayer::InfiniBand {
        return false;
    }
    let gid = port.gids.iter().find(|gid| gid.kind == GidType::InfiniBand);
    let prefix = gid.map_or(0, |gid| gid.raw[..8].iter().fold(0, |prefix, &byte| prefix << 8 | u64::from(byte)));
    // Sizes are powers of two from 256 on.
    let mtu = u64::from(port.active_mtu.max(256).ilog2() - 7);
    for (field, value) in [
        (GID_PREFIX, prefix),
        (LID, port.lid.into()),
        (CAPABILITY_MASK, EXTENDED_SPEEDS),
        (LOCAL_PORT_NUM, number.into()),
        (LINK_WIDTH_ENABLED, WIDTH),
        (LINK_WIDTH_SUPPORTED, WIDTH),
        (LINK_WIDTH_ACTIVE, WIDTH),
        (LINK_SPEED_SUPPORTED, SPEEDS),
        (PORT_STATE, if up { ACTIVE } else { DOWN }),
        (PORT_PHYSICAL_STATE, if up { LINK_UP } else { DISABLED }),
        (LINK_DOWN_DEFAULT_STATE, POLLING),
        (LINK_SPEED_ACTIVE, QDR),
        (LINK_SPEED_ENABLED, SPEEDS),
        (NEIGHBOR_MTU, mtu),
        // One lane.
        (VL_CAP, 1),
        (MTU_CAP, MTU_4096),
        (OPERATIONAL_VLS, 1),
        (LINK_SPEED_EXT_ACTIVE, EDR),
        (LINK_SPEED_EXT_SUPPORTED, EDR),
        (LINK_SPEED_EXT_ENABLED, EDR),
    ] {
        mad.set(field, value);
    }
    true
}
