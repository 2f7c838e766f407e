//! On-demand paging (`MLX5_CAP_ODP`).

use super::row::capability_set;

/// Operations that may name memory whose pages are absent, a bit each from the highest (`odp_per_transport_service_cap`).
const SEND: u64 = 1 << 31;
const RECEIVE: u64 = 1 << 30;
const WRITE: u64 = 1 << 29;
const READ: u64 = 1 << 28;
const ATOMIC: u64 = 1 << 27;
const SRQ_RECEIVE: u64 = 1 << 26;
/// Of transports whose receives all come from SRQs.
const BY_SRQ: u64 = SEND | WRITE | READ | ATOMIC | SRQ_RECEIVE;

capability_set! {
    /// On-demand paging, by transports. Real devices report the same for UC, UD, XRC and DC, but for atomics
    /// (`ibv_devinfo -v`). The other scheme, in which the host need not read WQEs (`mem_page_fault`), is absent.
    odp_cap: 0x100 bytes, set 2, if |c| c.on_demand;
    RC_ODP_CAPS: 0x80, 32 = |_| BY_SRQ | RECEIVE;
    UD_ODP_CAPS: 0xc0, 32 = |_| SEND;
    XRC_ODP_CAPS: 0xe0, 32 = |_| BY_SRQ;
    DC_ODP_CAPS: 0x100, 32 = |_| BY_SRQ;
}
