//! A device's abilities to pace send queues, from the firmware's capabilities.

use crate::abi::mailbox::fields;

fields! {
    QOS: 0x21b, 1 = "cmd_hca_cap.qos";
    PACKET_PACING: 0x0, 1 = "qos_cap.packet_pacing";
    BURST_BOUND: 0x5, 1 = "qos_cap.packet_pacing_burst_bound";
    TYPICAL_SIZE: 0x6, 1 = "qos_cap.packet_pacing_typical_size";
    UID: 0xb, 1 = "qos_cap.packet_pacing_uid";
    WQE_RATE: 0x20, 1 = "qos_cap.wqe_rate_pp";
    MAX_RATE: 0x40, 32 = "qos_cap.packet_pacing_max_rate";
    MIN_RATE: 0x60, 32 = "qos_cap.packet_pacing_min_rate";
    RATE_TABLE_SIZE: 0x90, 16 = "qos_cap.packet_pacing_rate_table_size";
}

/// `MLX5_IB_PP_SUPPORT_BURST`.
const SUPPORT_BURST: u32 = 1;
/// `IBV_QPT_RAW_PACKET`, as a bit.
const RAW_PACKET: u32 = 1 << 8;

/// Abilities to pace send queues; rates are in kbit/s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pacing {
    pub(crate) min: u32,
    pub(crate) max: u32,
    /// Entries of the table of rates, with that for no limit; 0: there are no rates.
    pub(crate) table_size: u32,
    pub(crate) burst: bool,
    pub(crate) typical: bool,
    /// A rate may be one user's.
    pub(crate) user: bool,
    /// A rate may count WQEs.
    pub(crate) wqes: bool,
}

impl Pacing {
    /// By the general capabilities, and those of quality of service.
    pub(super) fn of(general: &[u8], qos: Option<&[u8]>) -> Self {
        let Some(qos) = qos.filter(|qos| QOS.get(general) != 0 && PACKET_PACING.get(qos) != 0) else {
            return Self::default();
        };
        Self {
            min: MIN_RATE.get32(qos),
            max: MAX_RATE.get32(qos),
            table_size: RATE_TABLE_SIZE.get32(qos),
            burst: BURST_BOUND.get(qos) != 0,
            typical: TYPICAL_SIZE.get(qos) != 0,
            user: UID.get(qos) != 0,
            wqes: WQE_RATE.get(qos) != 0,
        }
    }

    /// `struct mlx5_packet_pacing_caps` (Linux `drivers/infiniband/hw/mlx5/main.c`, `mlx5_ib_query_device`).
    pub(crate) fn caps(&self) -> [u32; 4] {
        if self.table_size == 0 {
            return [0; 4];
        }
        [self.min, self.max, RAW_PACKET, if self.burst && self.typical { SUPPORT_BURST } else { 0 }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_without_rates_has_no_caps() {
        let (mut general, mut qos) = (vec![0; 0x100], vec![0; 0x100]);
        for (field, value) in
            [(MIN_RATE, 1), (MAX_RATE, 9), (RATE_TABLE_SIZE, 128), (BURST_BOUND, 1), (TYPICAL_SIZE, 1)]
        {
            field.set(&mut qos, value);
        }
        PACKET_PACING.set(&mut qos, 1);
        assert_eq!(Pacing::of(&general, Some(&qos)).caps(), [0; 4]);
        QOS.set(&mut general, 1);
        assert_eq!(Pacing::of(&general, Some(&qos)).caps(), [1, 9, 256, 1]);
        TYPICAL_SIZE.set(&mut qos, 0);
        assert_eq!(Pacing::of(&general, Some(&qos)).caps(), [1, 9, 256, 0]);
        assert_eq!(Pacing::of(&general, None).caps(), [0; 4]);
    }
}
