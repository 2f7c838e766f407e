//! Completion queues.

use crate::config::Generation;
use crate::context::{CqCompression, CqContext, MiniFormat, PeriodStart};
use crate::error::Object;
use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::layout::{Field, View, ViewMut, layout};
use crate::firmware::objects::{CQC_BYTES, CqRecord};
use crate::firmware::placement::{PAGE_OFFSETS, Placement};
use crate::firmware::status::{Refusal, Status};
use crate::query::{CqArming, CqFault};
use std::time::Duration;

layout! {
    /// CQ context.
    struct cqc: 0x40 bytes {
        STATUS: 0x0, 4;
        DBR_UMEM_VALID: 0x6, 1;
        APU_CQ: 0x7, 1;
        CQE_SZ: 0x8, 3;
        CC: 0xb, 1;
        SCQE_BREAK_MODERATION_EN: 0xd, 1;
        OI: 0xe, 1;
        CQ_PERIOD_MODE: 0xf, 2;
        CQE_COMP_EN: 0x11, 1;
        MINI_CQE_RES_FORMAT: 0x12, 2;
        ST: 0x14, 4;
        CQE_COMPRESSION_LAYOUT: 0x1e, 2;
        DBR_UMEM_ID: 0x20, 32;
        PAGE_OFFSET: 0x54, 6;
        MINI_CQE_RES_FORMAT_EXT: 0x5c, 2;
        LOG_CQ_SIZE: 0x63, 5;
        UAR_PAGE: 0x68, 24;
        CQ_PERIOD: 0x84, 12;
        CQ_MAX_COUNT: 0x90, 16;
        C_EQN_OR_APU_ELEMENT: 0xa0, 32;
        LOG_PAGE_SIZE: 0xc3, 5;
        LAST_NOTIFIED_INDEX: 0x108, 24;
        LAST_SOLICIT_INDEX: 0x128, 24;
        CONSUMER_COUNTER: 0x148, 24;
        PRODUCER_COUNTER: 0x168, 24;
        DBR_ADDR: 0x1c0, 64;
    }
    /// `CREATE_CQ`, with the address of each page if it lies in no user memory.
    struct create_cq_in: command 0x110 bytes {
        CQ_UMEM_OFFSET: 0x280, 64;
        CQ_UMEM_ID: 0x2c0, 32;
        CQ_UMEM_VALID: 0x2e0, 1;
    } parts { CQ_CONTEXT: 0x80, cqc; } list of 8 bytes
    struct create_cq_out: answer { CQN: 0x48, 24; }
    struct destroy_cq_in: command { CQN: 0x48, 24; }
    struct query_cq_in: query { CQN: 0x48, 24; }
    struct query_cq_out: answer 0x110 bytes {} parts { CQ_CONTEXT: 0x80, cqc; }
    /// `MODIFY_CQ`, with the address of each page of a new ring. The header names the user memory's number and offset
    /// in `create_cq_in` only; they are in the same places here, where it has reserved bits before the same
    /// `cq_umem_valid`.
    struct modify_cq_in: command 0x110 bytes {
        CQN: 0x48, 24;
        MODIFY_FIELD_SELECT_RESIZE_FIELD_SELECT: 0x60, 32;
        CQ_UMEM_OFFSET: 0x280, 64;
        CQ_UMEM_ID: 0x2c0, 32;
        CQ_UMEM_VALID: 0x2e0, 1;
    } parts { CQ_CONTEXT: 0x80, cqc; } list of 8 bytes
}

pub(super) const COMMANDS: &[Command] = &[
    command!(0x400, "CREATE_CQ", create_cq_in, create_cq_out, create),
    command!(0x401, "DESTROY_CQ", destroy_cq_in, bare_out, destroy),
    command!(0x402, "QUERY_CQ", query_cq_in, query_cq_out, query),
    command!(0x403, "MODIFY_CQ", modify_cq_in, bare_out, modify).with_modifiers(),
];

/// Bytes of a CQ's doorbell record.
const RECORD_BYTES: u64 = 8;

/// `op_mod` of `MODIFY_CQ` (`MLX5_MODIFY_CQ_IN_OP_MOD_*`): change fields, or move to another ring.
const MODIFY_FIELDS: u16 = 0;
const RESIZE: u16 = 1;

/// Which fields are changed (Linux `include/linux/mlx5/cq.h`, `MLX5_CQ_MODIFY_*`).
const MODIFY_PERIOD: u32 = 1 << 0;
const MODIFY_COUNT: u32 = 1 << 1;
const MODIFY_OVERRUN: u32 = 1 << 2;
const MODIFY_PERIOD_MODE: u32 = 1 << 4;

/// Parts of the new ring that a resize gives (Linux `drivers/infiniband/hw/mlx5/mlx5_ib.h`, `MLX5_MODIFY_CQ_MASK_*`):
/// the size, the offset in the first page, and the size of a page.
const RESIZE_LOG_SIZE: u32 = 1 << 0;
const RESIZE_ALL: u32 = 7;

/// Where one ring lies in the mailboxes that name one, which have it in the same places.
const RING: [Field; 3] = [create_cq_in::CQ_UMEM_VALID, create_cq_in::CQ_UMEM_ID, create_cq_in::CQ_UMEM_OFFSET];

fn create(call: &mut Call<'_>) -> Result<(), Refusal> {
    let view = call.input.part(create_cq_in::CQ_CONTEXT);
    check_capabilities(view)?;
    period_start(view)?;
    let eqn = view.get32(cqc::C_EQN_OR_APU_ELEMENT);
    call.check_use(Object::Eq, eqn)?;
    if !call.device.has_eq(eqn) {
        return Err(Refusal::resource(format!("no event queue {eqn:#x}")));
    }
    let uar = view.get32(cqc::UAR_PAGE);
    call.check_use(Object::Uar, uar)?;
    let context = CqContext {
        buf: ring(call, view)?,
        log_size: view.get(cqc::LOG_CQ_SIZE) as u8,
        cqe_bytes: cqe_bytes(view)?,
        dbr: record(call, view)?,
        uar,
        ignore_overrun: view.flag(cqc::OI),
        collapsed: view.flag(cqc::CC),
        compression: compression(call, view)?,
    };
    let cqn = call.device.create_cq(context)?;
    call.device.set_cq_eq(cqn, eqn)?;
    call.created(Object::Cq, cqn);
    let mut given = [0; CQC_BYTES];
    given.copy_from_slice(&view.0[..CQC_BYTES]);
    call.state.queues.cqs.insert(cqn, CqRecord { cqc: given, made: true });
    moderate(call, cqn, view)?;
    call.output.set(create_cq_out::CQN, cqn.into());
    Ok(())
}

/// The event queue that a CQ names.
pub(crate) fn eqn(record: &CqRecord) -> u32 {
    View(&record.cqc).get32(cqc::C_EQN_OR_APU_ELEMENT)
}

/// Refuses features that the device lacks, as its capabilities say.
fn check_capabilities(view: View<'_>) -> Result<(), Refusal> {
    let absent =
        [(cqc::APU_CQ, "application processors"), (cqc::SCQE_BREAK_MODERATION_EN, "events past the moderation")];
    match absent.into_iter().find(|&(field, _)| view.get(field) != 0) {
        None => Ok(()),
        Some((_, what)) => Err(Refusal::parameter(format!("{what} are not a capability of this device"))),
    }
}

/// How completions are compressed, if they are.
fn compression(call: &Call<'_>, view: View<'_>) -> Result<Option<CqCompression>, Refusal> {
    let [format, ext, layout] = [cqc::MINI_CQE_RES_FORMAT, cqc::MINI_CQE_RES_FORMAT_EXT, cqc::CQE_COMPRESSION_LAYOUT]
        .map(|field| view.get(field));
    if !view.flag(cqc::CQE_COMP_EN) {
        return match [format, ext, layout] {
            [0, 0, 0] => Ok(None),
            _ => Err(Refusal::parameter(format!(
                "format {format}, {ext} and layout {layout} of CQEs that are not compressed"
            ))),
        };
    }
    if view.flag(cqc::CC) {
        return Err(Refusal::parameter("compressed CQEs that are all written to one place"));
    }
    let generation = call.device.config().generation;
    let has = |least, what: &str| match generation >= least {
        true => Ok(()),
        false => Err(Refusal::parameter(format!("{what} are not a capability of this device"))),
    };
    let format = match (format, ext) {
        (0, 0) => MiniFormat::Hash,
        (1, 0) => MiniFormat::Checksum,
        (2, 0) => MiniFormat::FlowTag,
        (3, 0) => MiniFormat::ChecksumStride,
        (0, 1) => MiniFormat::Headers,
        _ => return Err(Refusal::parameter(format!("mini-CQEs of format {format}, {ext}"))),
    };
    if matches!(format, MiniFormat::FlowTag | MiniFormat::Headers) {
        has(Generation::ConnectX6Dx, "mini-CQEs with flow tags or headers")?;
    }
    let enhanced = match layout {
        0 => false,
        1 => true,
        other => return Err(Refusal::parameter(format!("cqe_compression_layout {other}: 0 (basic) or 1 (enhanced)"))),
    };
    if enhanced {
        has(Generation::ConnectX6Dx, "compressed CQEs of the enhanced layout")?;
    }
    Ok(Some(CqCompression { format, enhanced }))
}

/// Bytes of a CQE (`MLX5_CQC_CQE_SZ_*`).
fn cqe_bytes(view: View<'_>) -> Result<u32, Refusal> {
    match view.get(cqc::CQE_SZ) {
        0 => Ok(64),
        1 => Ok(128),
        other => Err(Refusal::parameter(format!("cqe_sz {other}: 0 (64 bytes) or 1 (128 bytes)"))),
    }
}

/// Where the ring of the mailbox's context lies.
fn ring(call: &mut Call<'_>, view: View<'_>) -> Result<u64, Refusal> {
    let [valid, id, offset] = RING;
    let umem = call.input.flag(valid).then(|| (call.input.get32(id), call.input.get(offset)));
    call.ring(Placement {
        umem,
        pages: call.input.words(&create_cq_in::LAYOUT),
        // DPDK has the host's page size here with a UMEM (`drivers/common/mlx5/mlx5_common_devx.c`,
        // `mlx5_devx_cq_create`).
        log_page_size: if umem.is_some() { 0 } else { view.get(cqc::LOG_PAGE_SIZE) },
        page_offset: view.get(cqc::PAGE_OFFSET),
        page_offsets: PAGE_OFFSETS,
        len: u64::from(cqe_bytes(view)?) << view.get(cqc::LOG_CQ_SIZE),
        written: true,
    })
}

/// Where the doorbell record of a context lies.
fn record(call: &mut Call<'_>, view: View<'_>) -> Result<u64, Refusal> {
    let umem = view.flag(cqc::DBR_UMEM_VALID).then(|| view.get32(cqc::DBR_UMEM_ID));
    let at = view.get(cqc::DBR_ADDR);
    if at % RECORD_BYTES != 0 {
        return Err(Refusal::parameter(format!("a doorbell record at {at:#x}: not a multiple of {RECORD_BYTES}")));
    }
    call.record(umem, at, RECORD_BYTES)
}

fn destroy(call: &mut Call<'_>) -> Result<(), Refusal> {
    let cqn = call.owned(Object::Cq, destroy_cq_in::CQN)?;
    call.device.destroy_cq(cqn)?;
    call.destroyed(Object::Cq, cqn);
    call.state.queues.cqs.remove(&cqn);
    Ok(())
}

fn query(call: &mut Call<'_>) -> Result<(), Refusal> {
    let cqn = call.usable(Object::Cq, query_cq_in::CQN)?;
    let info = call.device.query_cq(cqn)?;
    let record = call.state.queues.cqs.get(&cqn);
    let mut context = record.map_or([0; CQC_BYTES], |record| record.cqc);
    let mut view = ViewMut(&mut context);
    view.set(
        cqc::STATUS,
        match info.fault {
            None => 0x0,
            Some(CqFault::Overrun) => 0x9,
            Some(CqFault::Unreachable) => 0xa,
        },
    );
    view.set(
        cqc::ST,
        match info.arming {
            CqArming::Solicited => 0x6,
            CqArming::Any => 0x9,
            CqArming::Fired => 0xa,
        },
    );
    view.set(cqc::CQE_SZ, u64::from(info.context.cqe_bytes == 128));
    view.set(cqc::CC, info.context.collapsed.into());
    view.set(cqc::OI, info.context.ignore_overrun.into());
    view.set(cqc::LOG_CQ_SIZE, info.context.log_size.into());
    view.set(cqc::UAR_PAGE, info.context.uar.into());
    view.set(cqc::LAST_NOTIFIED_INDEX, info.last_notified.into());
    view.set(cqc::LAST_SOLICIT_INDEX, info.last_solicited.into());
    view.set(cqc::CONSUMER_COUNTER, info.consumer.into());
    view.set(cqc::PRODUCER_COUNTER, info.producer.into());
    if !record.is_some_and(|record| record.made) {
        view.set(cqc::DBR_ADDR, info.context.dbr);
    }
    call.output.put(query_cq_out::CQ_CONTEXT.at, &context);
    Ok(())
}

fn modify(call: &mut Call<'_>) -> Result<(), Refusal> {
    let cqn = call.owned(Object::Cq, modify_cq_in::CQN)?;
    // Even in the middle of a resize the CQ stays as it was, unless the resize succeeds.
    call.device.query_cq(cqn)?;
    match call.op_mod {
        MODIFY_FIELDS => modify_fields(call, cqn),
        RESIZE => resize(call, cqn),
        other => Err(Refusal::parameter(format!("op_mod {other}: 0 (fields) or 1 (resize)"))),
    }
}

fn modify_fields(call: &mut Call<'_>, cqn: u32) -> Result<(), Refusal> {
    let select = call.input.get32(modify_cq_in::MODIFY_FIELD_SELECT_RESIZE_FIELD_SELECT);
    let view = call.input.part(modify_cq_in::CQ_CONTEXT);
    let fields = [
        (MODIFY_PERIOD, cqc::CQ_PERIOD),
        (MODIFY_COUNT, cqc::CQ_MAX_COUNT),
        (MODIFY_OVERRUN, cqc::OI),
        (MODIFY_PERIOD_MODE, cqc::CQ_PERIOD_MODE),
    ];
    let known = fields.iter().fold(0, |known, (bit, _)| known | bit);
    if select == 0 || select & !known != 0 {
        return Err(Refusal::parameter(format!("fields {select:#x}, of which only {known:#x} can be modified")));
    }
    if select & MODIFY_PERIOD_MODE != 0 {
        period_start(view)?;
    }
    if select & MODIFY_OVERRUN != 0 {
        call.device.set_ignore_overrun(cqn, view.flag(cqc::OI))?;
    }
    let record = call.state.queues.cqs.entry(cqn).or_insert(CqRecord { cqc: [0; CQC_BYTES], made: false });
    for (_, field) in fields.into_iter().filter(|(bit, _)| select & bit != 0) {
        ViewMut(&mut record.cqc).set(field, view.get(field));
    }
    let changed = record.cqc;
    moderate(call, cqn, View(&changed))
}

/// Holds events back as a context says; its periods are in microseconds.
fn moderate(call: &mut Call<'_>, cqn: u32, view: View<'_>) -> Result<(), Refusal> {
    let period = Duration::from_micros(view.get(cqc::CQ_PERIOD));
    Ok(call.device.moderate_cq(cqn, view.get(cqc::CQ_MAX_COUNT) as u16, period, period_start(view)?)?)
}

/// Start of a CQ's periods (Linux `include/linux/mlx5/mlx5_ifc.h`, `MLX5_CQ_PERIOD_MODE_START_FROM_*`).
fn period_start(view: View<'_>) -> Result<PeriodStart, Refusal> {
    match view.get(cqc::CQ_PERIOD_MODE) {
        0 => Ok(PeriodStart::Event),
        1 => Ok(PeriodStart::Cqe),
        other => {
            Err(Refusal::parameter(format!("cq_period_mode {other}: 0 (from the last event) or 1 (from the last CQE)")))
        }
    }
}

fn resize(call: &mut Call<'_>, cqn: u32) -> Result<(), Refusal> {
    let select = call.input.get32(modify_cq_in::MODIFY_FIELD_SELECT_RESIZE_FIELD_SELECT);
    if select & !RESIZE_ALL != 0 || select & RESIZE_LOG_SIZE == 0 {
        return Err(Refusal::parameter(format!(
            "resize of {select:#x}: the log size (1), and where the ring lies (6)"
        )));
    }
    let Some(CqRecord { cqc: mut context, made: true }) = call.state.queues.cqs.get(&cqn).copied() else {
        return Err(Refusal::new(Status::BadResourceState, format!("CQ {cqn:#x} was made by no command")));
    };
    let view = call.input.part(modify_cq_in::CQ_CONTEXT);
    let buf = ring(call, view)?;
    // The record stays where it is. It is taken again because the memory of the CQ is replaced as a whole.
    record(call, View(&context))?;
    call.device.resize_cq(cqn, buf, view.get(cqc::LOG_CQ_SIZE) as u8, cqe_bytes(view)?)?;
    call.moved(Object::Cq, cqn);
    for field in [cqc::CQE_SZ, cqc::LOG_CQ_SIZE, cqc::LOG_PAGE_SIZE, cqc::PAGE_OFFSET] {
        ViewMut(&mut context).set(field, view.get(field));
    }
    call.state.queues.cqs.insert(cqn, CqRecord { cqc: context, made: true });
    Ok(())
}
