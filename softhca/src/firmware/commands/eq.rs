//! Event queues.

use crate::context::EqContext;
use crate::error::Object;
use crate::event::EQE_BYTES;
use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::layout::{View, ViewMut, layout};
use crate::firmware::owners::SHARED;
use crate::firmware::placement::{PAGE_OFFSETS, Placement};
use crate::firmware::status::Refusal;
use crate::query::EqState;

layout! {
    /// EQ context.
    struct eqc: 0x40 bytes {
        STATUS: 0x0, 4;
        EC: 0xd, 1;
        OI: 0xe, 1;
        ST: 0x14, 4;
        PAGE_OFFSET: 0x54, 6;
        LOG_EQ_SIZE: 0x63, 5;
        UAR_PAGE: 0x68, 24;
        INTR: 0xb4, 12;
        LOG_PAGE_SIZE: 0xc3, 5;
        CONSUMER_COUNTER: 0x148, 24;
        PRODUCER_COUNTER: 0x168, 24;
    }
    /// `CREATE_EQ`, with the address of each page.
    struct create_eq_in: command 0x110 bytes {
        EVENT_BITMASK: 0x2c0, 256;
    } parts { EQ_CONTEXT_ENTRY: 0x80, eqc; } list of 8 bytes
    struct create_eq_out: answer { EQ_NUMBER: 0x58, 8; }
    struct destroy_eq_in: query { EQ_NUMBER: 0x58, 8; }
    struct query_eq_in: query { EQ_NUMBER: 0x58, 8; }
    /// Output of `QUERY_EQ`: of the events, the first 64.
    struct query_eq_out: answer 0x110 bytes { EVENT_BITMASK: 0x2c0, 64; } parts { EQ_CONTEXT_ENTRY: 0x80, eqc; }
}

pub(super) const COMMANDS: &[Command] = &[
    command!(0x301, "CREATE_EQ", create_eq_in, create_eq_out, create),
    command!(0x302, "DESTROY_EQ", destroy_eq_in, bare_out, destroy),
    command!(0x303, "QUERY_EQ", query_eq_in, query_eq_out, query),
];

/// `status` of a queue that takes no more EQEs (PRM, EQC: "EQ_WRITE_FAILURE").
const WRITE_FAILURE: u64 = 0xa;
/// `st` (Linux `drivers/net/ethernet/mellanox/mlx5/core/eq.c`, `MLX5_EQ_STATE_*`).
const ARMED: u64 = 0x9;
const FIRED: u64 = 0xa;

fn create(call: &mut Call<'_>) -> Result<(), Refusal> {
    check_maker(call)?;
    let view = call.input.part(create_eq_in::EQ_CONTEXT_ENTRY);
    for (field, what) in [(eqc::EC, "one EQE for all events"), (eqc::OI, "events that overwrite others")] {
        if view.get(field) != 0 {
            return Err(Refusal::parameter(format!("{what}: not of this device")));
        }
    }
    let uar = view.get32(eqc::UAR_PAGE);
    let log_size = view.get(eqc::LOG_EQ_SIZE);
    let ring = Placement {
        umem: None,
        pages: call.input.words(&create_eq_in::LAYOUT),
        log_page_size: view.get(eqc::LOG_PAGE_SIZE),
        page_offset: view.get(eqc::PAGE_OFFSET),
        page_offsets: PAGE_OFFSETS,
        len: (EQE_BYTES as u64) << log_size,
        written: true,
    };
    let context = EqContext {
        buf: call.ring(ring)?,
        log_size: log_size as u8,
        uar,
        vector: view.get(eqc::INTR) as u16,
        events: events(call.input),
    };
    let eqn = call.device.create_eq(context)?;
    call.created(Object::Eq, eqn);
    call.output.set(create_eq_out::EQ_NUMBER, eqn.into());
    Ok(())
}

/// Refuses users: a driver makes event queues, for itself or with the number that stands for all. On its own UAR page:
/// either way it may name all there are.
fn check_maker(call: &Call<'_>) -> Result<(), Refusal> {
    if call.uid == SHARED { Ok(()) } else { call.check_driver() }
}

/// The numbers of events, a bit for each: the lowest of the first word is number 0.
fn events(input: View<'_>) -> [u64; 4] {
    let bytes: [u8; 32] = input.bytes(create_eq_in::EVENT_BITMASK);
    std::array::from_fn(|word| bytes[8 * word..][..8].iter().fold(0, |bits, &byte| bits << 8 | u64::from(byte)))
}

fn destroy(call: &mut Call<'_>) -> Result<(), Refusal> {
    call.destroy(Object::Eq, destroy_eq_in::EQ_NUMBER, |device, eqn| device.destroy_eq(eqn))
}

fn query(call: &mut Call<'_>) -> Result<(), Refusal> {
    let eqn = call.owned(Object::Eq, query_eq_in::EQ_NUMBER)?;
    let info = call.device.query_eq(eqn)?;
    let mut context = [0; eqc::LAYOUT.bytes];
    let mut view = ViewMut(&mut context);
    view.set(eqc::STATUS, if info.failed { WRITE_FAILURE } else { 0 });
    view.set(eqc::ST, if info.state == EqState::Armed { ARMED } else { FIRED });
    view.set(eqc::LOG_EQ_SIZE, info.context.log_size.into());
    view.set(eqc::UAR_PAGE, info.context.uar.into());
    view.set(eqc::INTR, info.context.vector.into());
    view.set(eqc::CONSUMER_COUNTER, info.consumer.into());
    view.set(eqc::PRODUCER_COUNTER, info.producer.into());
    call.output.put(query_eq_out::EQ_CONTEXT_ENTRY.at, &context);
    call.output.set(query_eq_out::EVENT_BITMASK, info.context.events[0]);
    Ok(())
}
