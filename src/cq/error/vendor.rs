//! Public knowledge of vendor syndromes. There is no public list. These are the values that open source code
//! distinguishes, and values that people have reported, each beside the syndrome that it came with.

use crate::cq::error::completion::ErrorCqe;
use crate::cq::error::status::{KnownSyndrome as Known, Syndrome};

/// A vendor syndrome that came with a syndrome.
struct Row {
    syndrome: Known,
    vendor: u8,
    text: &'static str,
}

const fn row(syndrome: Known, vendor: u8, text: &'static str) -> Row {
    Row { syndrome, vendor, text }
}

const USUAL: &str = "the usual one beside this syndrome: it says nothing more";

/// All of them.
const ROWS: &[Row] = &[
    // rdma-core `providers/mlx5/cq.c`, `is_odp_pfault_err`; UCX `src/uct/ib/mlx5/rc/rc_mlx5_iface.c`,
    // `uct_rc_mlx5_iface_check_rx_completion`.
    row(
        Known::RemoteAborted,
        0x93,
        "a page of memory registered on demand was not there when a message came: prefetch it (ibv_advise_mr), or \
        register it pinned",
    ),
    // UCX, as above.
    row(
        Known::RemoteAborted,
        0x99,
        "a receive of a shared queue was taken for a packet out of sequence: post the buffer again, the sender \
        repeats its message",
    ),
    // UCX issues 2973, 5199, 5732, 6000, 6669, 7586, 9590.
    row(
        Known::TransportRetryExc,
        0x81,
        "the usual one beside this syndrome: nothing came back from the peer, however often the request was sent",
    ),
    // UCX issue 1569, libfabric issue 4283.
    row(Known::RemoteAccess, 0x88, USUAL),
    // UCX issue 5472.
    row(Known::RemoteOp, 0x89, USUAL),
    // charm++ issue 2532, UCX issue 1770.
    row(Known::RemoteInvalReq, 0x8a, USUAL),
    // UCX pull request 9167.
    row(
        Known::LocalProt,
        0x32,
        "met with the buffer of a receive: the lkey must cover the whole buffer and allow IBV_ACCESS_LOCAL_WRITE",
    ),
    // perftest issues 140 and 173: memory of a GPU. The maintainers' guess, which nothing confirms: PCIe settings.
    row(
        Known::LocalProt,
        0x51,
        "met with a GPU's memory, perhaps out of the device's reach over PCIe: try the host's (perftest without \
        --use_cuda)",
    ),
    // SPDK issue 961, UCX issue 6414, FDio/csit issue 3988.
    row(
        Known::LocalProt,
        0x52,
        "met with buffers to send in the host's memory: look for a wrong lkey, or for memory that was deregistered",
    ),
    // Juniper/warp17 issue 81.
    row(
        Known::LocalProt,
        0x53,
        "met with frames to send (DPDK): look for a packet buffer outside of the registered pools, or for a wrong lkey",
    ),
    // UCX issues 1151 (a masked compare-and-swap of a DCI) and 3618 (a SEND of UD).
    row(
        Known::LocalQpOp,
        0x68,
        "met with send requests: the device cannot execute the WQE on this queue pair. Compare its opcode, segments and \
        size with the transport",
    ),
    // UCX pull request 11444, by a maintainer: "RDE_MAL_WQE".
    row(
        Known::LocalQpOp,
        0xd6,
        "a receive WQE is malformed: its segments, or its place in a ring that was posted too far",
    ),
    // nvme-cli issue 3268; NCCL issues 1353, 1405 and 1814.
    row(Known::WrFlush, 0xf9, "the usual one beside this syndrome: the request was never executed"),
];

/// Public knowledge of `vendor`, a vendor syndrome, beside `syndrome`: its meaning, and a remedy to try.
///
/// ```
/// use blueflame::cq::Syndrome;
/// use blueflame::cq::error::vendor_advice;
///
/// assert!(vendor_advice(Syndrome::new(0x15), 0x81).is_some_and(|text| text.contains("nothing came back")));
/// assert_eq!(vendor_advice(Syndrome::new(0x15), 0x80), None);
/// ```
#[must_use]
pub fn vendor_advice(syndrome: Syndrome, vendor: u8) -> Option<&'static str> {
    let Syndrome::Known(known) = syndrome else { return None };
    ROWS.iter().find(|row| row.syndrome == known && row.vendor == vendor).map(|row| row.text)
}

impl ErrorCqe {
    /// [`vendor_advice`] of its syndromes.
    #[must_use]
    pub fn vendor_advice(&self) -> Option<&'static str> {
        vendor_advice(self.syndrome, self.vendor_err_synd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cq::Side;
    use crate::types::Qpn;

    #[test]
    fn each_is_found_beside_its_syndrome_alone() {
        for (n, row) in ROWS.iter().enumerate() {
            assert_eq!(vendor_advice(Syndrome::Known(row.syndrome), row.vendor), Some(row.text));
            assert!(ROWS[..n].iter().all(|other| (other.syndrome, other.vendor) != (row.syndrome, row.vendor)));
            let error = ErrorCqe {
                side: Side::Requester,
                syndrome: Syndrome::Known(row.syndrome),
                vendor_err_synd: row.vendor,
                hw_err_synd: 0,
                hw_synd_type: 0,
                qpn: Qpn::truncate(7),
                wqe_counter: 0,
            };
            assert_eq!(error.vendor_advice(), Some(row.text));
            let others = Known::ALL.iter().filter(|known| **known != row.syndrome);
            assert!(
                others.into_iter().all(|known| vendor_advice(Syndrome::Known(*known), row.vendor) != Some(row.text))
            );
        }
        assert_eq!(vendor_advice(Syndrome::Unknown(0x77), 0x93), None);
    }
}
