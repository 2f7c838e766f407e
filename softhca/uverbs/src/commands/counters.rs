//! Counters of flows (Linux `drivers/infiniband/core/uverbs_std_types_counters.c`, and
//! `drivers/infiniband/hw/mlx5/counters.c`).

use super::request::Request;
use crate::abi::mlx5::FlowCountersDesc;
use crate::context::{self, Context, Rank};
use crate::device::Hca;
use crate::process::{Errno, lock};
use std::sync::{Arc, Mutex};

/// `enum ib_counters_description`.
const PACKETS: u32 = 0;
const BYTES: u32 = 1;
/// Attributes of `COUNTERS_READ`, and the one flag (`IB_UVERBS_READ_COUNTERS_PREFER_CACHED`).
const BUFFER: u16 = 1;
const FLAGS: u16 = 2;
const PREFER_CACHED: u32 = 1;

/// Counters, which flows count with.
#[derive(Default)]
pub(crate) struct Counters {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The device's flow counter, from the first flow on.
    number: Option<u32>,
    /// Which count goes to which place, as long as there is a flow.
    places: Vec<FlowCountersDesc>,
    flows: u32,
}

impl State {
    /// How many counts a program must have room for.
    fn room(&self) -> u64 {
        self.places.iter().map(|place| u64::from(place.index) + 1).max().unwrap_or(0)
    }

    /// Checks the places that come with a flow (`mlx5_ib_flow_counters_set_data`).
    fn check(&self, places: Option<&[FlowCountersDesc]>) -> Result<(), Errno> {
        let known = |place: &FlowCountersDesc| matches!(place.description, PACKETS | BYTES);
        match places {
            // Those of an earlier flow hold.
            None if self.room() == 0 => Err(Errno::EINVAL),
            Some(places) if self.room() != 0 || !places.iter().all(known) => Err(Errno::EINVAL),
            _ => Ok(()),
        }
    }
}

impl Counters {
    /// Another flow counts: the device's flow counter. The first flow says which count goes to which place.
    pub(super) fn join(&self, hca: &Hca, places: Option<Vec<FlowCountersDesc>>) -> Result<u32, Errno> {
        let mut state = lock(&self.state);
        state.check(places.as_deref())?;
        let number = state.number.map_or_else(|| hca.create_flow_counter(), Ok)?;
        state.number = Some(number);
        if let Some(places) = places {
            state.places = places;
        }
        state.flows += 1;
        Ok(number)
    }

    /// A flow is gone. After the last one, the counts stay, and their places are forgotten.
    pub(super) fn leave(&self) {
        let mut state = lock(&self.state);
        state.flows -= 1;
        if state.flows == 0 {
            state.places.clear();
        }
    }
}

impl context::Object for Counters {
    fn rank(&self) -> Rank {
        Rank::Counters
    }

    fn release(&self, hca: &Hca) -> Result<(), Errno> {
        let mut state = lock(&self.state);
        state.number.map_or(Ok(()), |number| hca.destroy_flow_counter(number))?;
        state.number = None;
        Ok(())
    }
}

/// `COUNTERS_CREATE`: 0 handle.
pub(crate) fn create(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let handle = context.insert(Arc::new(Counters::default()));
    request.put_handle(0, handle)
}

/// `COUNTERS_READ`: 0 handle, 1 counts, 2 flags.
pub(crate) fn read(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let counters: Arc<Counters> = context.get(request.handle(0)?)?;
    let state = lock(&counters.state);
    let flags: u32 = request.optional(FLAGS)?.unwrap_or(0);
    let room = request.len(BUFFER) / size_of::<u64>();
    let Some(number) = state.number.filter(|_| state.flows > 0) else { return Err(Errno::EINVAL) };
    if flags & !PREFER_CACHED != 0 || state.room() > room as u64 {
        return Err(Errno::EINVAL);
    }
    let read = context.hca.read_flow_counter(number)?;
    let mut counts = vec![0_u64; room];
    for place in &state.places {
        counts[place.index as usize] += if place.description == PACKETS { read.packets } else { read.octets };
    }
    let bytes: Vec<u8> = counts.into_iter().flat_map(u64::to_ne_bytes).collect();
    request.put_bytes(BUFFER, &bytes)
}
