//! The firmware's capabilities that a kernel driver uses (`QUERY_HCA_CAP`).

use super::attributes::Attributes;
use super::frame_attributes::FrameAttributes;
use super::pacing::Pacing;
use crate::abi::mailbox::{self, OP_MOD, field, fields};
use softhca::context::TimestampFormat;
use softhca::device::Device;
use softhca::firmware::{Firmware, Status};

const QUERY_HCA_CAP: u16 = 0x100;
const QUERY_SPECIAL_CONTEXTS: u16 = 0x203;
/// Kinds of capabilities (`enum mlx5_cap_type`).
const GENERAL: u64 = 0;
const ETHERNET_OFFLOADS: u64 = 1;
const ON_DEMAND: u64 = 2;
const FLOW_TABLE: u64 = 7;
const QOS: u64 = 0xc;
const ROCE: u64 = 4;
const DEV_MEM: u64 = 0xf;
const DEV_EVENT: u64 = 0x14;
/// Those that are in use now, and not the most that there could be.
const CURRENT: u64 = 1;
/// Bytes of `query_special_contexts_out`.
const SPECIAL_BYTES: usize = 0x20;
/// Bytes of `query_hca_cap_out`, and of its part before the capabilities.
const OUTPUT_BYTES: usize = 0x1010;
const BEFORE: usize = 0x10;

fields! {
    ECE_SUPPORT: 0xa3, 1 = "cmd_hca_cap.ece_support";
    EVENT_CAP: 0x90, 1 = "cmd_hca_cap.event_cap";
    MKEY_PCIE_TPH: 0x2a7, 1 = "cmd_hca_cap.mkey_pcie_tph";
    DATA_DIRECT: 0x752, 1 = "cmd_hca_cap.data_direct";
    DUMP_FILL_MKEY_CAP: 0xf8, 1 = "cmd_hca_cap.dump_fill_mkey";
    DUMP_FILL_MKEY: 0x40, 32 = "query_special_contexts_out.dump_fill_mkey";
    DEVICE_MEMORY: 0x1a8, 1 = "cmd_hca_cap.device_memory";
    PG: 0x227, 1 = "cmd_hca_cap.pg";
    SQ_TS_FORMAT: 0x440, 2 = "cmd_hca_cap.sq_ts_format";
    RQ_TS_FORMAT: 0x442, 2 = "cmd_hca_cap.rq_ts_format";
    LOG_MAX_UCTX: 0x463, 5 = "cmd_hca_cap.log_max_uctx";
    APU: 0x688, 1 = "cmd_hca_cap.apu";
    UCTX_CAP: 0x6a0, 32 = "cmd_hca_cap.uctx_cap";
    VHCA_TUNNEL_COMMANDS: 0x780, 64 = "cmd_hca_cap.vhca_tunnel_commands";
    RC_ODP_CAPS: 0x80, 32 = "odp_cap.rc_odp_caps";
    UC_ODP_CAPS: 0xa0, 32 = "odp_cap.uc_odp_caps";
    UD_ODP_CAPS: 0xc0, 32 = "odp_cap.ud_odp_caps";
    XRC_ODP_CAPS: 0xe0, 32 = "odp_cap.xrc_odp_caps";
    MEMIC: 0x0, 1 = "device_mem_cap.memic";
    MAX_MEMIC_SIZE: 0xa0, 32 = "device_mem_cap.max_memic_size";
    QP_TS_FORMAT: 0x1e, 2 = "roce_cap.qp_ts_format";
}
/// `enum ibv_odp_transport_cap_bits`.
const ODP_OPERATIONS: u32 = 0x3f;
/// `MLX5_TIMESTAMP_FORMAT_CAP_REAL_TIME`, `..._FREE_RUNNING_AND_REAL_TIME`.
const WITH_REAL_TIME: [u64; 2] = [1, 2];
const WITH_FREE_RUNNING: [u64; 2] = [0, 2];

/// Which events programs may ask for, a bit each (`device_event_cap`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventMasks {
    /// Events of objects: 64 in a word.
    affiliated: [u64; 4],
    /// Of none.
    unaffiliated: [u64; 4],
}

impl EventMasks {
    /// Whether event `number` of an object, or of none, can be asked for.
    pub(crate) fn permit(&self, number: u16, of_object: bool) -> bool {
        let mask = if of_object { &self.affiliated } else { &self.unaffiliated };
        mask.get(usize::from(number / 64)).is_some_and(|word| word >> (number % 64) & 1 != 0)
    }
}

/// The abilities of a device.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Capabilities {
    /// It can tell its users apart, who may send commands.
    pub(crate) users: bool,
    /// Rights that users may get (`MLX5_UCTX_CAP_*`).
    pub(crate) user_caps: u32,
    /// CQs can be others' than a program's.
    pub(crate) apu: bool,
    /// Commands for another function pass.
    pub(crate) vhca_tunnel: bool,
    /// Queue pairs negotiate options when they connect (ECE).
    pub(crate) ece: bool,
    /// The key that dumps received data and fills sent data with zeros, if there is one.
    pub(crate) dump_fill_mkey: Option<u32>,
    /// Memory keys give hints to the host's caches.
    pub(crate) tph: bool,
    /// A second PCI function reaches memory for it.
    pub(crate) data_direct: bool,
    /// Queues of all kinds can have the time in their timestamps.
    pub(crate) real_time: bool,
    /// They can have the clock that runs freely there.
    pub(crate) free_running: bool,
    /// How much of everything it has.
    pub(crate) attributes: Attributes,
    /// Its features for Ethernet frames.
    pub(crate) frames: FrameAttributes,
    /// Its abilities to pace send queues.
    pub(crate) pacing: Pacing,
    /// Bytes of its own memory that programs may get.
    pub(crate) device_memory: u64,
    /// Operations on RC, UC, UD and XRC that may name memory whose pages are absent (`enum
    /// ibv_odp_transport_cap_bits`); zeros without on-demand paging.
    pub(crate) on_demand: [u32; 4],
    /// Which events programs may ask for, if the device says so.
    pub(crate) events: Option<EventMasks>,
}

impl Capabilities {
    /// The timestamps of queues that ask for none in particular (mlx5_ib `qp.c`, `get_ts_format`).
    pub(crate) fn default_timestamps(&self) -> TimestampFormat {
        // The others have the time alone.
        if self.free_running { TimestampFormat::FreeRunning } else { TimestampFormat::RealTime }
    }

    /// Asks the firmware.
    pub(super) fn of(firmware: &mut Firmware, device: &mut Device) -> Self {
        let special_key = special_key(firmware, device);
        let mut query = |kind: u64| {
            let mut input = mailbox::command(QUERY_HCA_CAP, 0, mailbox::HEADER_BYTES);
            OP_MOD.set(&mut input, kind << 1 | CURRENT);
            let mut output = vec![0; OUTPUT_BYTES];
            let status = firmware.execute(device, &input, &mut output);
            (status == Status::Ok).then(|| output.split_off(BEFORE))
        };
        let Some(general) = query(GENERAL) else {
            return Self { free_running: true, ..Self::default() };
        };
        let formats = [SQ_TS_FORMAT, RQ_TS_FORMAT].map(|field| field.get(&general));
        let of_qps = query(ROCE).map_or(0, |roce| QP_TS_FORMAT.get(&roce));
        let all = |some: [u64; 2]| formats.into_iter().chain([of_qps]).all(|format| some.contains(&format));
        let (real_time, free_running) = (all(WITH_REAL_TIME), all(WITH_FREE_RUNNING));
        let masks = |bytes: Vec<u8>| {
            let word = |index: usize| field(index * 64, 64).get(&bytes);
            EventMasks { affiliated: [0, 1, 2, 3].map(word), unaffiliated: [4, 5, 6, 7].map(word) }
        };
        Self {
            users: LOG_MAX_UCTX.get(&general) != 0,
            user_caps: UCTX_CAP.get32(&general),
            apu: APU.get(&general) != 0,
            vhca_tunnel: VHCA_TUNNEL_COMMANDS.get(&general) != 0,
            dump_fill_mkey: special_key.filter(|_| DUMP_FILL_MKEY_CAP.get(&general) != 0),
            ece: ECE_SUPPORT.get(&general) != 0,
            tph: MKEY_PCIE_TPH.get(&general) != 0,
            data_direct: DATA_DIRECT.get(&general) != 0,
            real_time,
            free_running,
            attributes: Attributes::of(&general),
            frames: FrameAttributes::of(&general, query(ETHERNET_OFFLOADS).as_deref(), query(FLOW_TABLE).as_deref()),
            pacing: Pacing::of(&general, query(QOS).as_deref()),
            device_memory: match DEVICE_MEMORY.get(&general) {
                0 => 0,
                _ => query(DEV_MEM).filter(|set| MEMIC.get(set) != 0).map_or(0, |set| MAX_MEMIC_SIZE.get(&set)),
            },
            on_demand: match PG.get(&general) {
                0 => [0; 4],
                _ => query(ON_DEMAND).map_or([0; 4], |set| {
                    // The commands' bits are the verbs', but from the other end (mlx5_ib `odp.c`,
                    // `internal_fill_odp_caps`).
                    [RC_ODP_CAPS, UC_ODP_CAPS, UD_ODP_CAPS, XRC_ODP_CAPS]
                        .map(|field| field.get32(&set).reverse_bits() & ODP_OPERATIONS)
                }),
            },
            events: if EVENT_CAP.get(&general) != 0 { query(DEV_EVENT).map(masks) } else { None },
        }
    }
}

/// The key of `QUERY_SPECIAL_CONTEXTS` (mlx5_ib `cmd.c`, `mlx5_cmd_query_special_mkeys`).
fn special_key(firmware: &mut Firmware, device: &mut Device) -> Option<u32> {
    let input = mailbox::command(QUERY_SPECIAL_CONTEXTS, 0, mailbox::HEADER_BYTES);
    let mut output = vec![0; SPECIAL_BYTES];
    (firmware.execute(device, &input, &mut output) == Status::Ok).then(|| DUMP_FILL_MKEY.get32(&output))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::mailbox::linux::known;

    #[test]
    fn capabilities_are_where_linux_has_them() {
        assert_eq!(known("query_hca_cap_out.capability").at, BEFORE * 8);
        assert_eq!(known("device_event_cap.user_unaffiliated_events").at, 4 * 64);
    }

    #[test]
    fn a_mask_has_a_bit_for_each_event() {
        let masks = EventMasks { affiliated: [1 << 5, 0, 0, 1 << 63], unaffiliated: [1 << 9, 0, 0, 0] };
        let permitted =
            |of_object| (0..=u16::MAX).filter(|&number| masks.permit(number, of_object)).collect::<Vec<_>>();
        assert_eq!((permitted(true), permitted(false)), (vec![5, 255], vec![9]));
    }
}
