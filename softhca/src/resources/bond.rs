//! A bond (link aggregation, LAG): port 1 of the device stands for two ports of the machine, each with its own cable.
//!
//! The driver gives each send queue one of the two (`lag_tx_port_affinity`). While that port is down, the queue's packets
//! leave by the other one: the mapping of Linux (`drivers/net/ethernet/mellanox/mlx5/core/lag/lag.c`,
//! `mlx5_infer_tx_affinity_mapping`). The switch at the other end chooses the port of a packet by its UDP source port, as
//! for equal paths, and the port of other frames by their Ethernet addresses.

/// Ports of a bond.
pub(crate) const BONDED_PORTS: usize = 2;

/// A port of a bond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BondedPort {
    /// The cable is plugged in.
    pub is_up: bool,
    /// Packets and frames that have left by it.
    pub sent: u64,
    /// Packets and frames that have arrived by it.
    pub received: u64,
}

/// The two ports of a bond.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bond {
    pub(crate) ports: [BondedPort; BONDED_PORTS],
}

impl Bond {
    /// Both ports are up.
    pub(crate) const NEW: Self = Self { ports: [BondedPort { is_up: true, sent: 0, received: 0 }; BONDED_PORTS] };

    /// Whether any port is up.
    pub(crate) fn is_up(&self) -> bool {
        self.ports.iter().any(|port| port.is_up)
    }

    /// The ports, from 1, by which the queues of ports 1 and 2 send.
    pub(crate) fn mapping(&self) -> [u8; BONDED_PORTS] {
        match self.ports.map(|port| port.is_up) {
            [true, false] => [1, 1],
            [false, true] => [2, 2],
            // Without any, nothing leaves.
            [true, true] | [false, false] => [1, 2],
        }
    }

    /// Counts `packets` of a send queue that has port `affinity`; 0: the driver has given it none, and its number decides.
    pub(crate) fn count_sent(&mut self, affinity: u8, queue: u32, packets: u64) {
        let own = usize::from(affinity).checked_sub(1).unwrap_or(queue as usize);
        let port = self.mapping()[own % BONDED_PORTS];
        self.ports[usize::from(port) - 1].sent += packets;
    }

    /// Counts `packets` of a flow that have arrived.
    pub(crate) fn count_received(&mut self, flow: u32, packets: u64) {
        let port = self.mapping()[flow as usize % BONDED_PORTS];
        self.ports[usize::from(port) - 1].received += packets;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_is_down_hands_over() {
        let mut bond = Bond::NEW;
        let sent = |bond: &Bond| bond.ports.map(|port| port.sent);
        // Affinities 1 and 2, and queues without one.
        let send =
            |bond: &mut Bond| [(1, 7), (2, 7), (0, 6), (0, 7)].map(|(own, queue)| bond.count_sent(own, queue, 1));
        send(&mut bond);
        assert_eq!((bond.mapping(), sent(&bond)), ([1, 2], [2, 2]));
        bond.ports[0].is_up = false;
        send(&mut bond);
        bond.count_received(4, 3);
        assert_eq!((bond.mapping(), sent(&bond), bond.ports[1].received), ([2, 2], [2, 6], 3));
        bond.ports = [BondedPort { is_up: false, ..bond.ports[0] }; 2];
        assert!(!bond.is_up() && bond.mapping() == [1, 2]);
    }
}
