//! Targets of dynamic connections.

use super::atomic_mode;
use super::lag;
use crate::config::GidType;
use crate::context::{Access, DctContext, DctState};
use crate::error::Object;
use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::layout::{View, ViewMut, layout};
use crate::firmware::status::Refusal;

layout! {
    /// DCT context. Bits without a name here ask for features that the device lacks: receives by the reserved key,
    /// and atomics that are done like writes.
    struct dctc: 0x40 bytes {
        STATE: 0x4, 4;
        USER_INDEX: 0x28, 24;
        CQN: 0x48, 24;
        COUNTER_SET_ID: 0x60, 8;
        ATOMIC_MODE: 0x68, 4;
        RRE: 0x6c, 1;
        RWE: 0x6d, 1;
        RAE: 0x6e, 1;
        LATENCY_SENSITIVE: 0x70, 1;
        // In UCX it is `force_full_handshake`: that no data come with Connect, which none ever does here.
        FREE_AR: 0x72, 1;
        CS_RES: 0x88, 8;
        MIN_RNR_NAK: 0x93, 5;
        SRQN_XRQN: 0xa8, 24;
        PD: 0xc8, 24;
        TCLASS: 0xe0, 8;
        FLOW_LABEL: 0xec, 20;
        DC_ACCESS_KEY: 0x100, 64;
        MTU: 0x145, 3;
        PORT: 0x148, 8;
        PKEY_INDEX: 0x150, 16;
        MY_ADDR_INDEX: 0x168, 8;
        HOP_LIMIT: 0x178, 8;
        DC_ACCESS_KEY_VIOLATION_COUNT: 0x180, 32;
        DEI_CFI: 0x1b4, 1;
        ETH_PRIO: 0x1b5, 3;
        ECN: 0x1b8, 2;
        DSCP: 0x1ba, 6;
        ECE: 0x1e0, 32;
    }
    struct create_dct_in: command 0x80 bytes {
        // UCX has the context's options one word later than Linux (`ib_mlx5_ifc.h`, `dctc.ece` at 0x200).
        ECE_OF_UCX: 0x280, 32;
    } parts { DCT_CONTEXT_ENTRY: 0x80, dctc; }
    struct create_dct_out: answer { DCTN: 0x48, 24; ECE: 0x60, 32; }
    struct destroy_dct_in: command { DCTN: 0x48, 24; }
    struct drain_dct_in: command { DCTN: 0x48, 24; }
    struct query_dct_in: query { DCTN: 0x48, 24; }
    struct arm_dct_in: query { DCT_NUMBER: 0x48, 24; }
    struct query_dct_out: answer 0x80 bytes {} parts { DCT_CONTEXT_ENTRY: 0x80, dctc; }
}

pub(super) const COMMANDS: &[Command] = &[
    command!(0x710, "CREATE_DCT", create_dct_in, create_dct_out, create),
    command!(0x711, "DESTROY_DCT", destroy_dct_in, bare_out, destroy),
    command!(0x712, "DRAIN_DCT", drain_dct_in, bare_out, drain),
    command!(0x713, "QUERY_DCT", query_dct_in, query_dct_out, query),
    command!(0x714, "ARM_DCT_FOR_KEY_VIOLATION", arm_dct_in, bare_out, arm),
];

/// `cs_res` (`MLX5_DCTC_CS_RES_*`): messages do not go into CQEs, or those of up to 64 bytes do.
const SCATTER_OFF: u64 = 0;
const SCATTER_64: u64 = 2;

fn create(call: &mut Call<'_>) -> Result<(), Refusal> {
    let view = call.input.part(create_dct_in::DCT_CONTEXT_ENTRY);
    let mut context = context(view)?;
    if call.device.config().bonded {
        // Its port is one of the bond (Linux `drivers/infiniband/hw/mlx5/qp.c`, `mlx5_ib_modify_dct`; UCX
        // `src/uct/ib/mlx5/dc/dc_mlx5.c`, `dct_affinity`).
        context.lag_port = lag::port(call, context.port.into())?;
        context.port = 1;
    }
    context.traffic_class = traffic_class(call, view, &context);
    context.ece |= call.input.get32(create_dct_in::ECE_OF_UCX);
    for (kind, number) in [(Object::Pd, context.pd), (Object::Cq, context.cqn), (Object::Srq, context.srqn)] {
        call.check_use(kind, number)?;
    }
    let number = call.device.create_dct(context)?;
    call.created(Object::Dct, number);
    call.state.contexts.add(Object::Dct, number, view.0);
    call.output.set(create_dct_out::DCTN, number.into());
    let accepted = call.device.query_dct(number)?.context.ece;
    call.output.set(create_dct_out::ECE, accepted.into());
    Ok(())
}

/// The traffic class of answers. RoCE v2 has an IP header, whose DSCP and ECN the context has apart (UCX
/// `src/uct/ib/mlx5/dc/dc_mlx5_devx.c`, `uct_dc_mlx5_iface_devx_create_dct`).
fn traffic_class(call: &Call<'_>, view: View<'_>, context: &DctContext) -> u8 {
    let port = usize::from(context.port).checked_sub(1).and_then(|index| call.device.config().ports.get(index));
    match port.and_then(|port| port.gid(context.sgid_index)).map(|gid| gid.kind) {
        Some(GidType::RoceV2) => (view.get(dctc::DSCP) << 2 | view.get(dctc::ECN)) as u8,
        _ => view.get(dctc::TCLASS) as u8,
    }
}

/// The fields that the device acts on, except for the traffic class.
fn context(view: View<'_>) -> Result<DctContext, Refusal> {
    let state = view.get(dctc::STATE);
    if state != 0 {
        return Err(Refusal::parameter(format!("state {state}: a new DCT is active (0)")));
    }
    let atomic_mode = view.get(dctc::ATOMIC_MODE);
    let extended_atomics = atomic_mode::extended(atomic_mode)?;
    let scatter_to_cqe_res = match view.get(dctc::CS_RES) {
        SCATTER_OFF => 0,
        SCATTER_64 => 64,
        other => return Err(Refusal::parameter(format!("cs_res {other}: 0 (off) or 2 (up to 64 bytes)"))),
    };
    Ok(DctContext {
        pd: view.get32(dctc::PD),
        srqn: view.get32(dctc::SRQN_XRQN),
        cqn: view.get32(dctc::CQN),
        access_key: view.get(dctc::DC_ACCESS_KEY),
        access: Access {
            local_write: true,
            remote_write: view.flag(dctc::RWE),
            remote_read: view.flag(dctc::RRE),
            remote_atomic: view.flag(dctc::RAE) && atomic_mode != 0,
        },
        extended_atomics,
        // 1 is 256 bytes, 5 is 4096; the device refuses others.
        mtu: 128 << view.get(dctc::MTU),
        port: view.get(dctc::PORT) as u8,
        lag_port: 0,
        pkey_index: view.get(dctc::PKEY_INDEX) as u16,
        sgid_index: view.get(dctc::MY_ADDR_INDEX) as u8,
        traffic_class: 0,
        flow_label: view.get32(dctc::FLOW_LABEL),
        hop_limit: view.get(dctc::HOP_LIMIT) as u8,
        min_rnr_timer: view.get(dctc::MIN_RNR_NAK) as u8,
        uidx: view.get32(dctc::USER_INDEX),
        scatter_to_cqe_res,
        ece: view.get32(dctc::ECE),
    })
}

fn destroy(call: &mut Call<'_>) -> Result<(), Refusal> {
    call.destroy(Object::Dct, destroy_dct_in::DCTN, |device, number| device.destroy_dct(number))
}

fn drain(call: &mut Call<'_>) -> Result<(), Refusal> {
    let number = call.owned(Object::Dct, drain_dct_in::DCTN)?;
    Ok(call.device.drain_dct(number)?)
}

fn query(call: &mut Call<'_>) -> Result<(), Refusal> {
    let number = call.usable(Object::Dct, query_dct_in::DCTN)?;
    let info = call.device.query_dct(number)?;
    let kept = call.state.contexts.get(Object::Dct, number);
    let mut context = if kept.is_empty() { describe(&info.context) } else { kept };
    let mut view = ViewMut(&mut context);
    let state = match info.state {
        DctState::Active => 0,
        DctState::Draining => 1,
        DctState::Drained => 2,
    };
    view.set(dctc::STATE, state);
    view.set(dctc::DC_ACCESS_KEY_VIOLATION_COUNT, info.key_violations.into());
    view.set(dctc::ECE, info.context.ece.into());
    call.output.put(query_dct_out::DCT_CONTEXT_ENTRY.at, &context);
    Ok(())
}

/// The context of a DCT that was made on the device itself.
fn describe(c: &DctContext) -> Vec<u8> {
    let mut bytes = vec![0; dctc::LAYOUT.bytes];
    let mut view = ViewMut(&mut bytes);
    for (field, value) in [
        (dctc::USER_INDEX, u64::from(c.uidx)),
        (dctc::CQN, c.cqn.into()),
        (dctc::ATOMIC_MODE, if c.access.remote_atomic { atomic_mode::of(c.extended_atomics) } else { 0 }),
        (dctc::RRE, c.access.remote_read.into()),
        (dctc::RWE, c.access.remote_write.into()),
        (dctc::RAE, c.access.remote_atomic.into()),
        (dctc::CS_RES, if c.scatter_to_cqe_res == 0 { SCATTER_OFF } else { SCATTER_64 }),
        (dctc::MIN_RNR_NAK, c.min_rnr_timer.into()),
        (dctc::SRQN_XRQN, c.srqn.into()),
        (dctc::PD, c.pd.into()),
        (dctc::TCLASS, c.traffic_class.into()),
        (dctc::FLOW_LABEL, c.flow_label.into()),
        (dctc::DC_ACCESS_KEY, c.access_key),
        (dctc::MTU, u64::from(c.mtu.ilog2()) - 7),
        (dctc::PORT, c.port.into()),
        (dctc::PKEY_INDEX, c.pkey_index.into()),
        (dctc::MY_ADDR_INDEX, c.sgid_index.into()),
        (dctc::HOP_LIMIT, c.hop_limit.into()),
    ] {
        view.set(field, value);
    }
    bytes
}

fn arm(call: &mut Call<'_>) -> Result<(), Refusal> {
    let number = call.owned(Object::Dct, arm_dct_in::DCT_NUMBER)?;
    Ok(call.device.arm_dct(number)?)
}
