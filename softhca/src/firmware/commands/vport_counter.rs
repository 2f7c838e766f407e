//! Counters of the port's Ethernet traffic.

use super::flow_counter::traffic_counter;
use super::work_queue::check_absent;
use crate::firmware::call::{Call, Command, command};
use crate::firmware::layout::layout;
use crate::firmware::status::Refusal;
use crate::nic::PortCounters;
use crate::resources::Traffic;

layout! {
    struct query_vport_counter_in: query 0x20 bytes {
        OTHER_VPORT: 0x40, 1;
        PORT_NUM: 0x4c, 4;
        VPORT_NUMBER: 0x50, 16;
        CLEAR: 0xc0, 1;
    }
    /// Output of `QUERY_VPORT_COUNTER`: the fields that this device counts.
    struct query_vport_counter_out: answer 0x210 bytes {} parts {
        RECEIVED_IB_UNICAST: 0x180, traffic_counter;
        TRANSMITTED_IB_UNICAST: 0x200, traffic_counter;
        RECEIVED_ETH_BROADCAST: 0x380, traffic_counter;
        TRANSMITTED_ETH_BROADCAST: 0x400, traffic_counter;
        RECEIVED_ETH_UNICAST: 0x480, traffic_counter;
        TRANSMITTED_ETH_UNICAST: 0x500, traffic_counter;
        RECEIVED_ETH_MULTICAST: 0x580, traffic_counter;
        TRANSMITTED_ETH_MULTICAST: 0x600, traffic_counter;
    }
}

pub(super) const COMMANDS: &[Command] =
    &[command!(0x770, "QUERY_VPORT_COUNTER", query_vport_counter_in, query_vport_counter_out, query)];

fn query(call: &mut Call<'_>) -> Result<(), Refusal> {
    // They are the whole port's, of all its users.
    call.check_driver()?;
    let absent = [
        (query_vport_counter_in::OTHER_VPORT, "vports of other functions"),
        (query_vport_counter_in::VPORT_NUMBER, "vports of other functions"),
    ];
    check_absent(call.input, &absent)?;
    let port = call.input.get(query_vport_counter_in::PORT_NUM);
    if port > 1 {
        return Err(Refusal::parameter(format!("port_num {port}: Ethernet frames go by port 1")));
    }
    let nic = call.device.nic();
    let (received, transmitted) = (nic.received, nic.transmitted);
    if call.input.flag(query_vport_counter_in::CLEAR) {
        (nic.received, nic.transmitted) = (PortCounters::default(), PortCounters::default());
    }
    for (part, Traffic { packets, octets }) in [
        (query_vport_counter_out::RECEIVED_IB_UNICAST, received.transport),
        (query_vport_counter_out::TRANSMITTED_IB_UNICAST, transmitted.transport),
        (query_vport_counter_out::RECEIVED_ETH_BROADCAST, received.broadcast),
        (query_vport_counter_out::TRANSMITTED_ETH_BROADCAST, transmitted.broadcast),
        (query_vport_counter_out::RECEIVED_ETH_UNICAST, received.unicast),
        (query_vport_counter_out::TRANSMITTED_ETH_UNICAST, transmitted.unicast),
        (query_vport_counter_out::RECEIVED_ETH_MULTICAST, received.multicast),
        (query_vport_counter_out::TRANSMITTED_ETH_MULTICAST, transmitted.multicast),
    ] {
        let mut view = call.output.part(part);
        view.set(traffic_counter::PACKETS, packets);
        view.set(traffic_counter::OCTETS, octets);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::firmware::Status;
    use crate::firmware::test_bench::Bench;

    #[test]
    fn frames_are_counted_at_the_first_port_alone() {
        let mut bench = Bench::new();
        for (port, expected) in [(0, Ok(0x210)), (1, Ok(0x210)), (2, Err(Status::BadParameter))] {
            let mut input = [0; 0x20];
            (input[0], input[1], input[9]) = (0x07, 0x70, port);
            assert_eq!(bench.execute(&input, 0x210).map(|output| output.len()), expected, "port {port}");
        }
    }
}
