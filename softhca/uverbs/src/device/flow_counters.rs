//! Flow counters, as the kernel's driver makes and reads them (Linux
//! `drivers/net/ethernet/mellanox/mlx5/core/fs_cmd.c`, `mlx5_cmd_fc_alloc`, `mlx5_cmd_fc_query`).

use super::firmware::command_errno;
use super::hca::Hca;
use crate::abi::mailbox::{self, Field, HEADER_BYTES, creator, field, fields, sizes};
use crate::process::Errno;
use softhca::firmware::{DRIVER, Status};

fields! {
    // The number of a counter: in the answer that makes it, and in the commands that destroy and read it.
    CREATED: 0x40, 32 = "alloc_flow_counter_out.flow_counter_id";
    DESTROYED: 0x40, 32 = "dealloc_flow_counter_in.flow_counter_id";
    READ: 0xe0, 32 = "query_flow_counter_in.flow_counter_id";
}
const DESTROY: u16 = 0x93a;
const QUERY: u16 = 0x93b;
sizes! { QUERY_BYTES: 0x20 = "query_flow_counter_in"; }
/// `traffic_counter`, which follows the header of an answer.
const PACKETS: Field = field(0x80, 64);
const OCTETS: Field = field(0xc0, 64);
const ANSWER_BYTES: usize = HEADER_BYTES + 0x10;

/// The counts of a flow counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FlowCounts {
    pub(crate) packets: u64,
    pub(crate) octets: u64,
}

impl Hca {
    /// Makes a flow counter; its number.
    pub(crate) fn create_flow_counter(&self) -> Result<u32, Errno> {
        let input = mailbox::command(creator::FLOW_COUNTER, DRIVER.0, HEADER_BYTES);
        self.carry_out(&input).map(|output| CREATED.get32(&output))
    }

    /// Destroys a flow counter: `EBUSY` if a rule counts with it.
    pub(crate) fn destroy_flow_counter(&self, number: u32) -> Result<(), Errno> {
        let mut input = mailbox::command(DESTROY, DRIVER.0, HEADER_BYTES);
        DESTROYED.set(&mut input, number.into());
        self.carry_out(&input).map(drop)
    }

    /// Reads a flow counter.
    pub(crate) fn read_flow_counter(&self, number: u32) -> Result<FlowCounts, Errno> {
        let mut input = mailbox::command(QUERY, DRIVER.0, QUERY_BYTES);
        READ.set(&mut input, number.into());
        let mut output = [0; ANSWER_BYTES];
        match self.execute(&input, &mut output) {
            Status::Ok => Ok(FlowCounts { packets: PACKETS.get(&output), octets: OCTETS.get(&output) }),
            status => Err(command_errno(status)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::mailbox::linux::{bytes, known};

    #[test]
    fn counters_are_where_linux_has_them() {
        let short = ["alloc_flow_counter_in", "dealloc_flow_counter_in", "query_flow_counter_out"];
        assert_eq!(short.map(bytes), [HEADER_BYTES; 3]);
        let count = |name: &str| {
            let place = known(&format!("traffic_counter.{name}"));
            field(place.at + HEADER_BYTES * 8, place.width)
        };
        assert_eq!([PACKETS, OCTETS], ["packets", "octets"].map(count));
        assert_eq!(ANSWER_BYTES, HEADER_BYTES + bytes("traffic_counter"));
    }
}
