//! QPs that spread received frames over a table of work queues (mlx5_ib `qp.c`, `create_rss_raw_qp_tir`). They send
//! nothing, and have no states.

use super::event_file;
use super::pd::Pd;
use super::request::Request;
use super::wq_table::WqTable;
use crate::abi::mailbox::{creator, destroyer};
use crate::abi::mlx5::{CreateQpResp, CreateQpRss, qp_flag, qp_resp, rx_hash};
use crate::abi::{EventsReported, QpCap, UHW_IN, UHW_OUT};
use crate::context::{self, CommandId, Context, Rank};
use crate::device::{Dispatch, Hca, Source, Spread};
use crate::process::{Errno, capability, has_capability};
use softhca::firmware::{DRIVER, Uid};
use std::sync::Arc;
use zerocopy::FromZeros;

/// Bytes of Toeplitz' key.
const KEY: usize = 40;
/// `IB_UVERBS_QPT_RAW_PACKET`.
const RAW_PACKET: u64 = 8;
/// Which fields are hashed (`MLX5_HASH_FIELD_SEL_*`), and what programs call them.
const SELECTED: [(u64, u32); 5] = [
    (rx_hash::SRC_IPV4 | rx_hash::SRC_IPV6, 1),
    (rx_hash::DST_IPV4 | rx_hash::DST_IPV6, 1 << 1),
    (rx_hash::SRC_PORT_TCP | rx_hash::SRC_PORT_UDP, 1 << 2),
    (rx_hash::DST_PORT_TCP | rx_hash::DST_PORT_UDP, 1 << 3),
    (rx_hash::IPSEC_SPI, 1 << 4),
];

/// Such a QP.
pub(crate) struct RssQp {
    /// The TIR that it is.
    pub(crate) tirn: u32,
    user: Uid,
    events: Arc<Source>,
    /// Kept busy.
    _pd: Arc<Pd>,
    _table: Arc<WqTable>,
}

impl context::Object for RssQp {
    fn rank(&self) -> Rank {
        Rank::Qp
    }

    fn release(&self, hca: &Hca) -> Result<(), Errno> {
        hca.carry_out_on(self.user, destroyer::TIR, self.tirn)
    }

    fn is_named(&self, id: CommandId) -> bool {
        id == CommandId::new(creator::TIR, self.tirn)
    }
}

impl RssQp {
    /// Events that the program has read.
    pub(crate) fn reported(&self) -> EventsReported {
        EventsReported { events_reported: self.events.retire() }
    }
}

/// How the program wants frames spread over `table`.
fn spread(driver: &CreateQpRss, table: &WqTable) -> Result<Spread, Errno> {
    let mask = driver.rx_hash_fields_mask;
    let inside = mask & rx_hash::INNER != 0;
    // A program that hashes headers inside of tunnels must ask for tunnels, too (`create_rss_raw_qp_tir`).
    let is_asked_for = driver.flags & qp_flag::TUNNEL_OFFLOADS != 0;
    if driver.comp_mask != 0 || inside && !is_asked_for || driver.rx_hash_function != rx_hash::TOEPLITZ {
        return Err(Errno::EOPNOTSUPP);
    }
    if usize::from(driver.rx_key_len) != KEY {
        return Err(Errno::EINVAL);
    }
    let mut key = [0; KEY];
    key.copy_from_slice(&driver.rx_hash_key[..KEY]);
    let has = |bits| mask & bits != 0;
    let l3 = [rx_hash::SRC_IPV4 | rx_hash::DST_IPV4, rx_hash::SRC_IPV6 | rx_hash::DST_IPV6].map(has);
    let l4 = [
        rx_hash::SRC_PORT_TCP | rx_hash::DST_PORT_TCP,
        rx_hash::SRC_PORT_UDP | rx_hash::DST_PORT_UDP,
        rx_hash::IPSEC_SPI,
    ]
    .map(has);
    let several = |found: &[bool]| found.iter().filter(|&&found| found).count() > 1;
    // Without fields everything goes to the one queue there is.
    if mask == 0 && !table.has_one_queue() || several(&l3) || several(&l4) {
        return Err(Errno::EINVAL);
    }
    let selected = SELECTED.iter().filter(|(bits, _)| has(*bits)).fold(0, |all, (_, field)| all | field);
    Ok(Spread { table: table.number, key, ipv6: l3[1], udp: l4[1], selected, inside })
}

/// `QP_CREATE` with a table of work queues, which is attribute 6; the others are those of other QPs.
pub(crate) fn create(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    const FLAG_SQ_SIG_ALL: u32 = 1 << 12;
    let qp_type: u64 = request.input(9)?;
    if qp_type == RAW_PACKET && !has_capability(capability::NET_RAW) {
        return Err(Errno::EPERM);
    }
    let cap: QpCap = request.input(8)?;
    let receives = cap.max_recv_wr != 0 || cap.max_recv_sge != 0;
    // The table's queues have CQs, and nothing is sent.
    let named = [1, 3, 5].into_iter().any(|id| request.optional_handle(id).is_some());
    if receives || named || cap.max_send_wr != 0 || qp_type != RAW_PACKET {
        return Err(Errno::EINVAL);
    }
    let pd: Arc<Pd> = context.get(request.handle(2)?)?;
    let table: Arc<WqTable> = context.get(request.handle(6)?)?;
    let flags: u32 = request.optional(10)?.unwrap_or(0);
    if flags & !FLAG_SQ_SIG_ALL != 0 || request.len(UHW_IN) < size_of::<CreateQpRss>() {
        return Err(Errno::EINVAL);
    }
    let driver: CreateQpRss = request.input(UHW_IN)?;
    if driver.flags & !(qp_flag::SELF_LB | qp_flag::TUNNEL_OFFLOADS) != 0 {
        return Err(Errno::EINVAL);
    }
    // A frame that a QP has sent has no transport domain here, so that none could be told from others.
    if driver.flags & qp_flag::SELF_LB != 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    let dispatch = Dispatch::Spread(spread(&driver, &table)?);
    let user_handle: u64 = request.input(7)?;
    let events = Source::new(context.async_events(event_file::named(context, request, 12)?), user_handle);
    let (user, tunnels) = (context.user(), driver.flags & qp_flag::TUNNEL_OFFLOADS != 0);
    let tirn = context.hca.create_tir(user, context.transport_domain()?, &dispatch, tunnels)?;
    let qp = Arc::new(RssQp { tirn, user, events, _pd: pd, _table: table });
    request.put_handle(0, context.insert(qp))?;
    request.put(13, &cap)?;
    // It has no number.
    request.put(14, &0_u32)?;
    let (comp_mask, tirn) = if user == DRIVER { (0, 0) } else { (qp_resp::TIRN, tirn) };
    request.put_optional(UHW_OUT, &CreateQpResp { comp_mask, tirn, ..FromZeros::new_zeroed() })
}
