//! TIR: where frames go that rules send to it.

use super::work_queue::check_absent;
use crate::error::Object;
use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::layout::{Field, View, ViewMut, layout};
use crate::firmware::status::Refusal;
use crate::nic::{Dispatch, HashContext, HashFunction, HashSelect, MESSAGE_UNIT, Merging, PERIODS_USECS, TirContext};
use std::time::Duration;

layout! {
    /// Fields of a frame that are hashed.
    struct rx_hash_field_select: 0x4 bytes {
        L3_PROT_TYPE: 0x0, 1;
        L4_PROT_TYPE: 0x1, 1;
        SELECTED_FIELDS: 0x2, 30;
    }
    /// The key of a hash, of which any bytes will do.
    struct rx_hash_toeplitz_key: 0x28 bytes opaque {}
    /// TIR context.
    struct tirc: 0xf0 bytes {
        DISP_TYPE: 0x20, 4;
        TLS_EN: 0x24, 1;
        LRO_TIMEOUT_PERIOD_USECS: 0x84, 16;
        PACKET_MERGE_MASK: 0x94, 4;
        LRO_MAX_IP_PAYLOAD_SIZE: 0x98, 8;
        INLINE_RQN: 0xe8, 24;
        RX_HASH_SYMMETRIC: 0x100, 1;
        TUNNELED_OFFLOAD_EN: 0x102, 1;
        INDIRECT_TABLE: 0x108, 24;
        RX_HASH_FN: 0x120, 4;
        SELF_LB_BLOCK: 0x126, 2;
        TRANSPORT_DOMAIN: 0x128, 24;
    } parts {
        RX_HASH_TOEPLITZ_KEY: 0x140, rx_hash_toeplitz_key;
        RX_HASH_FIELD_SELECTOR_OUTER: 0x280, rx_hash_field_select;
        RX_HASH_FIELD_SELECTOR_INNER: 0x2a0, rx_hash_field_select;
    }
    struct create_tir_in: command 0x110 bytes {} parts { CTX: 0x100, tirc; }
    struct create_tir_out: answer { TIRN: 0x48, 24; }
    struct destroy_tir_in: command { TIRN: 0x48, 24; }
    struct query_tir_in: query { TIRN: 0x48, 24; }
    /// Which fields are modified.
    struct modify_tir_bitmask: 0x8 bytes {
        SELF_LB_EN: 0x3b, 1;
        HASH: 0x3d, 1;
        PACKET_MERGE: 0x3f, 1;
    }
    struct modify_tir_in: command 0x110 bytes {
        TIRN: 0x48, 24;
    } parts {
        BITMASK: 0x80, modify_tir_bitmask;
        CTX: 0x100, tirc;
    }
    struct query_tir_out: answer 0x110 bytes {} parts { TIR_CONTEXT: 0x100, tirc; }
}

pub(super) const COMMANDS: &[Command] = &[
    command!(0x900, "CREATE_TIR", create_tir_in, create_tir_out, create),
    command!(0x901, "MODIFY_TIR", modify_tir_in, bare_out, modify),
    command!(0x902, "DESTROY_TIR", destroy_tir_in, bare_out, destroy),
    command!(0x903, "QUERY_TIR", query_tir_in, query_tir_out, query),
];

/// Features that no TIR has here, as the capabilities say.
const ABSENT: [(Field, &str); 1] = [(tirc::TLS_EN, "TLS offloads")];

/// `packet_merge_mask` (`MLX5_TIRC_PACKET_MERGE_MASK_*`; DPDK `MLX5_TIRC_LRO_ENABLE_MASK_*`).
const MERGE_IPV4: u64 = 1 << 0;
const MERGE_IPV6: u64 = 1 << 1;

/// `self_lb_block` (`MLX5_TIRC_SELF_LB_BLOCK_*`).
const BLOCK_UNICAST: u64 = 1;
const BLOCK_MULTICAST: u64 = 2;

/// `selected_fields` (`MLX5_HASH_FIELD_SEL_*`).
const SOURCE_IP: u64 = 1 << 0;
const DESTINATION_IP: u64 = 1 << 1;
const SOURCE_PORT: u64 = 1 << 2;
const DESTINATION_PORT: u64 = 1 << 3;
const SECURITY_INDEX: u64 = 1 << 4;

/// The hash that a context describes.
///
/// Drivers select fields either outside of tunnels or inside (Linux `drivers/infiniband/hw/mlx5/qp.c`,
/// `create_rss_raw_qp_tir`; DPDK `drivers/net/mlx5/mlx5_devx.c`, `mlx5_devx_tir_attr_set`), and inside only where CQEs
/// tell of tunnels. No source says what a NIC does otherwise: this device refuses it.
fn hash(view: View<'_>, tunnels: bool) -> Result<HashContext, Refusal> {
    let [outside, inside] =
        [tirc::RX_HASH_FIELD_SELECTOR_OUTER, tirc::RX_HASH_FIELD_SELECTOR_INNER].map(|part| view.part(part));
    let is_inside = inside.0.iter().any(|&byte| byte != 0);
    if is_inside && !tunnels {
        return Err(Refusal::parameter("fields inside of tunnels, without tunneled_offload_en"));
    }
    if is_inside && outside.0.iter().any(|&byte| byte != 0) {
        return Err(Refusal::parameter("fields inside of tunnels and outside: one of both"));
    }
    let selected = if is_inside { inside } else { outside };
    let fields = selected.get(rx_hash_field_select::SELECTED_FIELDS);
    let known = SOURCE_IP | DESTINATION_IP | SOURCE_PORT | DESTINATION_PORT | SECURITY_INDEX;
    if fields & !known != 0 {
        return Err(Refusal::parameter(format!(
            "selected_fields {fields:#x}, of which only {known:#x} are hashed here"
        )));
    }
    let function = match view.get(tirc::RX_HASH_FN) {
        0 => HashFunction::None,
        1 => HashFunction::InvertedXor8,
        2 => HashFunction::Toeplitz,
        other => return Err(Refusal::parameter(format!("rx_hash_fn {other}: 0 to 2 (Toeplitz)"))),
    };
    let mut key = [0; 40];
    key.copy_from_slice(view.part(tirc::RX_HASH_TOEPLITZ_KEY).0);
    Ok(HashContext {
        function,
        symmetric: view.flag(tirc::RX_HASH_SYMMETRIC),
        key,
        select: HashSelect {
            ipv6: selected.flag(rx_hash_field_select::L3_PROT_TYPE),
            udp: selected.flag(rx_hash_field_select::L4_PROT_TYPE),
            source_ip: fields & SOURCE_IP != 0,
            destination_ip: fields & DESTINATION_IP != 0,
            source_port: fields & SOURCE_PORT != 0,
            destination_port: fields & DESTINATION_PORT != 0,
            security_index: fields & SECURITY_INDEX != 0,
        },
        inside: is_inside,
    })
}

/// How a context says that TCP segments are merged.
///
/// The time is the nearest that the device has and that is not longer, as DPDK's documentation says
/// (`doc/guides/nics/mlx5.rst`, `lro_timeout_usec`). Drivers say 0 in all fields of a TIR that merges nothing.
fn merging(view: View<'_>) -> Result<Option<Merging>, Refusal> {
    let [mask, usecs, units] =
        [tirc::PACKET_MERGE_MASK, tirc::LRO_TIMEOUT_PERIOD_USECS, tirc::LRO_MAX_IP_PAYLOAD_SIZE].map(|f| view.get(f));
    if mask & !(MERGE_IPV4 | MERGE_IPV6) != 0 {
        return Err(Refusal::parameter(format!("packet_merge_mask {mask:#x}: 1 (IPv4) and 2 (IPv6) alone")));
    }
    if mask == 0 {
        return match (usecs, units) {
            (0, 0) => Ok(None),
            _ => Err(Refusal::parameter(format!(
                "lro_timeout_period_usecs {usecs} and lro_max_ip_payload_size {units}, without packet_merge_mask"
            ))),
        };
    }
    let period = PERIODS_USECS.into_iter().rfind(|&period| u64::from(period) <= usecs).ok_or_else(|| {
        Refusal::parameter(format!("lro_timeout_period_usecs {usecs}: {} at least", PERIODS_USECS[0]))
    })?;
    if units == 0 {
        return Err(Refusal::parameter("lro_max_ip_payload_size 0: 1 at least (256 bytes)"));
    }
    Ok(Some(Merging {
        ipv4: mask & MERGE_IPV4 != 0,
        ipv6: mask & MERGE_IPV6 != 0,
        most: units as u32 * MESSAGE_UNIT,
        period: Duration::from_micros(period.into()),
    }))
}

/// Whether a context blocks frames that the device itself has sent: those to one station, and those to a group.
fn blocks(view: View<'_>) -> (bool, bool) {
    let block = view.get(tirc::SELF_LB_BLOCK);
    (block & BLOCK_UNICAST != 0, block & BLOCK_MULTICAST != 0)
}

fn create(call: &mut Call<'_>) -> Result<(), Refusal> {
    let view = call.input.part(create_tir_in::CTX);
    check_absent(view, &ABSENT)?;
    let dispatch = match view.get(tirc::DISP_TYPE) {
        0 => {
            let rqn = view.get32(tirc::INLINE_RQN);
            call.check_use(Object::Rq, rqn)?;
            Dispatch::Direct(rqn)
        }
        1 => {
            let rqtn = view.get32(tirc::INDIRECT_TABLE);
            call.check_use(Object::Rqt, rqtn)?;
            Dispatch::Table(rqtn)
        }
        other => return Err(Refusal::parameter(format!("disp_type {other}: 0 (direct) or 1 (by an RQT)"))),
    };
    let transport_domain = view.get32(tirc::TRANSPORT_DOMAIN);
    // 0 is no object. DPDK makes its TIR for drops with it (`mlx5_devx_drop_action_create`): a port's `tdn` is set with
    // its first send queue, which is later (`mlx5_txq_devx_obj_new`). The firmware of NICs takes it.
    if transport_domain != 0 {
        call.in_transport_domain(transport_domain)?;
    }
    let (blocks_own_unicast, blocks_own_multicast) = blocks(view);
    let tunnels = view.flag(tirc::TUNNELED_OFFLOAD_EN);
    let tirn = call.device.nic().create_tir(TirContext {
        dispatch,
        hash: hash(view, tunnels)?,
        transport_domain,
        tunnels,
        merging: merging(view)?,
        blocks_own_unicast,
        blocks_own_multicast,
    })?;
    call.created(Object::Tir, tirn);
    call.state.contexts.add(Object::Tir, tirn, view.0);
    call.output.set(create_tir_out::TIRN, tirn.into());
    Ok(())
}

fn modify(call: &mut Call<'_>) -> Result<(), Refusal> {
    let tirn = call.owned(Object::Tir, modify_tir_in::TIRN)?;
    let mut context = *call.device.nic().tir(tirn)?;
    let (mask, view) = (call.input.part(modify_tir_in::BITMASK), call.input.part(modify_tir_in::CTX));
    let mut kept = call.state.contexts.get(Object::Tir, tirn);
    let mut keep = ViewMut(&mut kept);
    if mask.flag(modify_tir_bitmask::SELF_LB_EN) {
        (context.blocks_own_unicast, context.blocks_own_multicast) = blocks(view);
        keep.set(tirc::SELF_LB_BLOCK, view.get(tirc::SELF_LB_BLOCK));
    }
    if mask.flag(modify_tir_bitmask::HASH) {
        context.hash = hash(view, context.tunnels)?;
        for field in [tirc::RX_HASH_SYMMETRIC, tirc::RX_HASH_FN] {
            keep.set(field, view.get(field));
        }
        for part in [tirc::RX_HASH_TOEPLITZ_KEY, tirc::RX_HASH_FIELD_SELECTOR_OUTER, tirc::RX_HASH_FIELD_SELECTOR_INNER]
        {
            keep.put(part.at, view.part(part).0);
        }
    }
    if mask.flag(modify_tir_bitmask::PACKET_MERGE) {
        context.merging = merging(view)?;
        for field in [tirc::PACKET_MERGE_MASK, tirc::LRO_TIMEOUT_PERIOD_USECS, tirc::LRO_MAX_IP_PAYLOAD_SIZE] {
            keep.set(field, view.get(field));
        }
    }
    call.device.end_merging();
    call.device.nic().modify_tir(tirn, context)?;
    call.state.contexts.add(Object::Tir, tirn, &kept);
    Ok(())
}

fn destroy(call: &mut Call<'_>) -> Result<(), Refusal> {
    call.destroy(Object::Tir, destroy_tir_in::TIRN, |device, tirn| {
        device.end_merging();
        device.nic().destroy_tir(tirn)
    })
}

fn query(call: &mut Call<'_>) -> Result<(), Refusal> {
    let tirn = call.usable(Object::Tir, query_tir_in::TIRN)?;
    call.device.nic().tir(tirn)?;
    let context = call.state.contexts.get(Object::Tir, tirn);
    call.output.put(query_tir_out::TIR_CONTEXT.at, &context);
    Ok(())
}
