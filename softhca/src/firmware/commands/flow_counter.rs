//! Flow counters, which rules count frames with.

use super::work_queue::check_absent;
use crate::error::Object;
use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::layout::{ViewMut, layout};
use crate::firmware::owners::Owners;
use crate::firmware::status::{Refusal, Status};

layout! {
    struct alloc_flow_counter_in: command { FLOW_COUNTER_BULK_LOG_SIZE: 0x73, 5; FLOW_COUNTER_BULK: 0x78, 8; }
    struct alloc_flow_counter_out: answer { FLOW_COUNTER_ID: 0x40, 32; }
    struct dealloc_flow_counter_in: query { FLOW_COUNTER_ID: 0x40, 32; }
    struct query_flow_counter_in: query 0x20 bytes {
        MKEY: 0x60, 32;
        ADDRESS: 0x80, 64;
        CLEAR: 0xc0, 1;
        DUMP_TO_MEMORY: 0xc1, 1;
        NUM_OF_COUNTERS: 0xd0, 16;
        FLOW_COUNTER_ID: 0xe0, 32;
    }
    /// The counts of a flow counter.
    struct traffic_counter: 0x10 bytes { PACKETS: 0x0, 64; OCTETS: 0x40, 64; }
    /// Output of `QUERY_FLOW_COUNTER`, with a [`traffic_counter`] for each counter.
    struct query_flow_counter_out: answer {} list of 16 bytes
}

pub(super) const COMMANDS: &[Command] = &[
    command!(0x939, "ALLOC_FLOW_COUNTER", alloc_flow_counter_in, alloc_flow_counter_out, alloc),
    command!(0x93a, "DEALLOC_FLOW_COUNTER", dealloc_flow_counter_in, bare_out, dealloc),
    command!(0x93b, "QUERY_FLOW_COUNTER", query_flow_counter_in, query_flow_counter_out, query),
];

fn alloc(call: &mut Call<'_>) -> Result<(), Refusal> {
    let absent = [
        (alloc_flow_counter_in::FLOW_COUNTER_BULK_LOG_SIZE, "flow counters in bulk"),
        (alloc_flow_counter_in::FLOW_COUNTER_BULK, "flow counters in bulk"),
    ];
    check_absent(call.input, &absent)?;
    let number = call.device.nic().steering().create_counter()?;
    call.created(Object::FlowCounter, number);
    call.output.set(alloc_flow_counter_out::FLOW_COUNTER_ID, number.into());
    Ok(())
}

fn dealloc(call: &mut Call<'_>) -> Result<(), Refusal> {
    call.destroy(Object::FlowCounter, dealloc_flow_counter_in::FLOW_COUNTER_ID, |device, number| {
        device.nic().steering().destroy_counter(number)
    })
}

fn query(call: &mut Call<'_>) -> Result<(), Refusal> {
    let absent = [
        (query_flow_counter_in::MKEY, "counters that are written to memory"),
        (query_flow_counter_in::ADDRESS, "counters that are written to memory"),
        (query_flow_counter_in::DUMP_TO_MEMORY, "counters that are written to memory"),
    ];
    check_absent(call.input, &absent)?;
    // 0 is one, as drivers ask that know of no others.
    let count = call.input.get32(query_flow_counter_in::NUM_OF_COUNTERS).max(1);
    let first = call.input.get32(query_flow_counter_in::FLOW_COUNTER_ID);
    let clear = call.input.flag(query_flow_counter_in::CLEAR);
    let (header, element) = (query_flow_counter_out::LAYOUT.bytes, query_flow_counter_out::LAYOUT.element);
    let room = (call.output.0.len() - header) / element;
    if room < count as usize {
        return Err(Refusal::new(Status::BadOutputLength, format!("room for {room} counters of {count}")));
    }
    let last = first.checked_add(count - 1).ok_or_else(|| Refusal::parameter("counters past the last number"))?;
    // Only its owner or the driver may clear a counter.
    let check = if clear { Owners::check } else { Owners::check_use };
    if count == 1 {
        check(&call.state.owners, Object::FlowCounter, first, call.uid)?;
        call.device.nic().steering().read_counter(first, false)?;
    }
    // Drivers ask for a row of counters in which some are missing (Linux
    // `drivers/net/ethernet/mellanox/mlx5/core/fs_counters.c`): those, and others', are 0.
    for (number, place) in (first..=last).zip(call.output.0[header..].chunks_exact_mut(element)) {
        if check(&call.state.owners, Object::FlowCounter, number, call.uid).is_err() {
            continue;
        }
        if let Ok(read) = call.device.nic().steering().read_counter(number, clear) {
            let mut place = ViewMut(place);
            place.set(traffic_counter::PACKETS, read.packets);
            place.set(traffic_counter::OCTETS, read.octets);
        }
    }
    Ok(())
}
