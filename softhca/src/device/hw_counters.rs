//! The counters of a port as Linux' driver shows them in sysfs (`drivers/infiniband/hw/mlx5/counters.c`, directory
//! `hw_counters`), and those of the directory `counters` that this device has.

use super::Device;
use crate::resources::{BondedPort, PortCounters, QCounter};

/// Where a counter comes from.
enum Of {
    Queues(fn(&QCounter) -> u32),
    Port(fn(&PortCounters) -> u64),
    Link(fn(&crate::resources::Link) -> u32),
    /// A port of the bond: its place, and which counter.
    Bonded(usize, fn(&BondedPort) -> u64),
}

use Of::{Bonded, Link, Port, Queues};

/// Directory and name of each counter, and its source.
const ROWS: [(&str, &str, Of); 35] = [
    ("hw_counters", "rx_write_requests", Queues(|c| c.rx_write_requests)),
    ("hw_counters", "rx_read_requests", Queues(|c| c.rx_read_requests)),
    ("hw_counters", "rx_atomic_requests", Queues(|c| c.rx_atomic_requests)),
    ("hw_counters", "out_of_buffer", Queues(|c| c.out_of_buffer)),
    ("hw_counters", "out_of_sequence", Queues(|c| c.out_of_sequence)),
    ("hw_counters", "duplicate_request", Queues(|c| c.duplicate_request)),
    ("hw_counters", "rnr_nak_retry_err", Queues(|c| c.rnr_nak_retry_err)),
    ("hw_counters", "packet_seq_err", Queues(|c| c.packet_seq_err)),
    ("hw_counters", "implied_nak_seq_err", Queues(|c| c.implied_nak_seq_err)),
    ("hw_counters", "local_ack_timeout_err", Queues(|c| c.local_ack_timeout_err)),
    ("hw_counters", "resp_local_length_error", Queues(|c| c.resp_local_length_error)),
    ("hw_counters", "resp_cqe_error", Queues(|c| c.resp_cqe_error)),
    ("hw_counters", "req_cqe_error", Queues(|c| c.req_cqe_error)),
    ("hw_counters", "req_remote_invalid_request", Queues(|c| c.req_remote_invalid_request)),
    ("hw_counters", "req_remote_access_errors", Queues(|c| c.req_remote_access_errors)),
    ("hw_counters", "resp_remote_access_errors", Queues(|c| c.resp_remote_access_errors)),
    ("hw_counters", "resp_cqe_flush_error", Queues(|c| c.resp_cqe_flush_error)),
    ("hw_counters", "req_cqe_flush_error", Queues(|c| c.req_cqe_flush_error)),
    ("hw_counters", "req_transport_retries_exceeded", Queues(|c| c.req_transport_retries_exceeded)),
    ("hw_counters", "rp_cnp_ignored", Port(|c| c.rp_cnp_ignored)),
    ("hw_counters", "rp_cnp_handled", Port(|c| c.rp_cnp_handled)),
    ("hw_counters", "np_ecn_marked_roce_packets", Port(|c| c.np_ecn_marked_roce_packets)),
    ("hw_counters", "np_cnp_sent", Port(|c| c.np_cnp_sent)),
    ("hw_counters", "rx_icrc_encapsulated", Port(|c| c.rx_icrc_encapsulated)),
    ("counters", "port_rcv_errors", Port(|c| c.port_rcv_errors)),
    ("counters", "port_rcv_constraint_errors", Port(|c| c.bad_pkeys)),
    ("counters", "port_xmit_packets", Port(|c| c.sent.packets)),
    ("counters", "port_rcv_packets", Port(|c| c.received.packets)),
    // `PortXmitData` and `PortRcvData` count words of four octets (IBTA vol. 1, 16.1.3.5).
    ("counters", "port_xmit_data", Port(|c| c.sent.octets / 4)),
    ("counters", "port_rcv_data", Port(|c| c.received.octets / 4)),
    ("counters", "link_downed", Link(|link| link.downs)),
    // Linux has those of a bond's ports in their network interfaces.
    ("bond/1", "port_xmit_packets", Bonded(0, |port| port.sent)),
    ("bond/1", "port_rcv_packets", Bonded(0, |port| port.received)),
    ("bond/2", "port_xmit_packets", Bonded(1, |port| port.sent)),
    ("bond/2", "port_rcv_packets", Bonded(1, |port| port.received)),
];

/// Counters of a port.
pub const HW_COUNTERS: usize = ROWS.len();

/// Directory, below that of the port in sysfs, and name of each counter of [`Device::hw_counters`], in their order.
#[must_use]
pub fn hw_counter_names() -> [(&'static str, &'static str); HW_COUNTERS] {
    ROWS.map(|(directory, name, _)| (directory, name))
}

impl Device {
    /// The counters of port `port`, from 1; zeros if there is none. Queues do not count by port: each port shows those
    /// of all queues of the device.
    #[must_use]
    pub fn hw_counters(&self, port: u8) -> [u64; HW_COUNTERS] {
        let none = PortCounters::default();
        let index = usize::from(port).checked_sub(1);
        let of_port = index.and_then(|index| self.resources.port_counters.get(index)).unwrap_or(&none);
        let link = self.resources.link(port).copied().unwrap_or_default();
        ROWS.map(|(.., source)| match source {
            Queues(count) => count(&self.resources.all_queues).into(),
            Port(count) => count(of_port),
            Link(count) => count(&link).into(),
            Bonded(place, count) => self.bonded_ports().get(place).map_or(0, count),
        })
    }

    /// Packets that port `port`, from 1, has dropped for their P_Key, and datagrams for their Q_Key
    /// (`ibv_port_attr.bad_pkey_cntr`, `qkey_viol_cntr`).
    #[must_use]
    pub fn key_violations(&self, port: u8) -> (u64, u64) {
        let index = usize::from(port).checked_sub(1);
        let counters = index.and_then(|index| self.resources.port_counters.get(index));
        counters.map_or((0, 0), |counters| (counters.bad_pkeys, counters.bad_qkeys))
    }
}
