//! Receivers of frames over work queues: queue pairs of verbs that have a table in place of queues.

use core::ptr::NonNull;
use std::sync::Arc;

use blueflame_sys as sys;

use super::table::WqTable;
use super::work_queue::Wq;
use crate::flow::Rss;
use crate::verbs::domain::protection::PdHandle;
use crate::verbs::error::{in_range, non_null};
use crate::verbs::event::event;
use crate::verbs::leak::drop_or_leak;
use crate::verbs::{Error, ProtectionDomain};

const OBJECT: &str = "receiver of frames";

/// The target of [flow rules](Self::steer) over work queues (an RSS queue pair of verbs, a TIR of the device): all
/// frames go to one queue, or are spread over a table by a hash. It sends nothing and has no states. Cheap to clone. It
/// keeps its queues alive.
#[doc(alias("ibv_rx_hash_conf", "RSS", "TIR"))]
#[derive(Clone, Debug)]
pub struct FrameReceiver {
    handle: Arc<ReceiverHandle>,
}

#[derive(Debug)]
struct ReceiverHandle {
    raw: NonNull<sys::ibv_qp>,
    under: Option<(Arc<PdHandle>, WqTable)>,
}

// SAFETY: used only to make rules and to be destroyed once; libibverbs and the kernel lock both.
unsafe impl Send for ReceiverHandle {}
// SAFETY: shared use only makes rules; libibverbs and the kernel lock that.
unsafe impl Sync for ReceiverHandle {}

impl Drop for ReceiverHandle {
    fn drop(&mut self) {
        // SAFETY: alive; written once.
        let handle = unsafe { (*self.raw.as_ptr()).handle };
        event!(DEBUG, "receiver of frames destroyed", handle);
        // SAFETY: made by `mlx5dv_create_qp`; the rules to it held this object and are gone.
        let returned = unsafe { sys::ibv_destroy_qp(self.raw.as_ptr()) };
        drop_or_leak(OBJECT, handle, returned, self.under.take());
    }
}

impl FrameReceiver {
    /// All frames go to one queue.
    ///
    /// # Errors
    /// As [`spread`](Self::spread).
    pub fn direct(pd: &ProtectionDomain, wq: &Wq) -> Result<Self, Error> {
        Self::to_one(pd, wq, 0)
    }

    /// All frames go to one queue, whose completions tell of the headers inside of tunnels
    /// ([`CqeView::tunnel`](crate::cq::CqeView::tunnel), [`CqeView::verdicts`](crate::cq::CqeView::verdicts)).
    ///
    /// # Errors
    /// As [`spread_into_tunnels`](Self::spread_into_tunnels).
    #[doc(alias("MLX5DV_QP_CREATE_TUNNEL_OFFLOADS", "tunneled_offload_en"))]
    pub fn into_tunnels(pd: &ProtectionDomain, wq: &Wq) -> Result<Self, Error> {
        pd.handle.context.attr().check_looks_into_tunnels()?;
        Self::to_one(pd, wq, sys::MLX5DV_QP_CREATE_TUNNEL_OFFLOADS)
    }

    /// Frames are spread over the queues of a table by a hash. The lowest bits of the hash are the index.
    ///
    /// Verbs have no [symmetric](Rss::symmetric) hash, so the two directions of a connection go to different queues,
    /// unless the key makes the hash symmetric ([`Rss::SYMMETRIC_KEY`]).
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Unsupported`] for a symmetric hash, [`Error::ForeignDevice`], or a failed call:
    /// without `CAP_NET_RAW` (`EPERM`).
    pub fn spread(pd: &ProtectionDomain, table: &WqTable, rss: &Rss) -> Result<Self, Error> {
        Self::to_several(pd, table, rss, 0)
    }

    /// Frames are spread over the queues of a table, as by [`spread`](Self::spread), and completions tell of the headers
    /// inside of tunnels. The hash covers the outer headers.
    ///
    /// # Errors
    /// As [`spread`](Self::spread); [`Error::Unsupported`] also if the device finds no tunnel's headers
    /// ([`DeviceAttr::tunnels`](crate::verbs::device::DeviceAttr::tunnels)).
    #[doc(alias("MLX5DV_QP_CREATE_TUNNEL_OFFLOADS", "tunneled_offload_en"))]
    pub fn spread_into_tunnels(pd: &ProtectionDomain, table: &WqTable, rss: &Rss) -> Result<Self, Error> {
        pd.handle.context.attr().check_looks_into_tunnels()?;
        Self::to_several(pd, table, rss, sys::MLX5DV_QP_CREATE_TUNNEL_OFFLOADS)
    }

    fn to_one(pd: &ProtectionDomain, wq: &Wq, create_flags: u32) -> Result<Self, Error> {
        pd.handle.context.check(OBJECT, [wq.into()])?;
        // No field is hashed, which the kernel permits with a single queue (Linux `drivers/infiniband/hw/mlx5/qp.c`,
        // `create_rss_raw_qp_tir`). It wants a whole key nevertheless.
        Self::new(pd, &WqTable::new(core::slice::from_ref(wq))?, ([0; 40], 0), create_flags)
    }

    fn to_several(pd: &ProtectionDomain, table: &WqTable, rss: &Rss, create_flags: u32) -> Result<Self, Error> {
        in_range("fields to hash", rss.fields.into(), 1..=Rss::ALL_FIELDS.into())?;
        if rss.symmetric {
            return Err(Error::Unsupported { what: "symmetric hashes by verbs" });
        }
        pd.handle.context.check(OBJECT, [table.into()])?;
        Self::new(pd, table, (rss.key, hash_fields(rss)), create_flags)
    }

    /// Makes the receiver, by the key and the fields of a hash, and by flags of libmlx5.
    fn new(
        pd: &ProtectionDomain,
        table: &WqTable,
        (mut key, fields): ([u8; 40], u64),
        create_flags: u32,
    ) -> Result<Self, Error> {
        let mut attr = sys::ibv_qp_init_attr_ex::ZERO;
        attr.qp_type = sys::IBV_QPT_RAW_PACKET;
        attr.comp_mask = sys::IBV_QP_INIT_ATTR_PD | sys::IBV_QP_INIT_ATTR_IND_TABLE | sys::IBV_QP_INIT_ATTR_RX_HASH;
        (attr.pd, attr.rwq_ind_tbl) = (pd.as_raw(), table.as_raw());
        attr.rx_hash_conf = sys::ibv_rx_hash_conf {
            rx_hash_function: sys::IBV_RX_HASH_FUNC_TOEPLITZ as u8,
            rx_hash_key_len: key.len() as u8,
            rx_hash_key: key.as_mut_ptr(),
            rx_hash_fields_mask: fields,
        };
        let mut mlx5 = sys::mlx5dv_qp_init_attr {
            comp_mask: sys::MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS,
            create_flags,
            ..sys::mlx5dv_qp_init_attr::default()
        };
        // SAFETY: domain and table are alive, and of one context, as was checked; the attributes and the key live until
        // the call returns.
        let raw = unsafe { sys::mlx5dv_create_qp(pd.handle.context.raw(), &raw mut attr, &raw mut mlx5) };
        let raw = non_null("mlx5dv_create_qp", raw)?;
        event!(DEBUG, "receiver of frames made", queues = table.queues().len());
        let under = Some((Arc::clone(&pd.handle), table.clone()));
        Ok(Self { handle: Arc::new(ReceiverHandle { raw, under }) })
    }

    /// Ports of the device.
    pub(super) fn ports(&self) -> u8 {
        // There are parts until the receiver is dropped.
        self.handle.under.as_ref().map_or(0, |(pd, _)| pd.context.attr().ports)
    }

    /// The raw queue pair; alive as long as `self`. Do not destroy it.
    #[must_use]
    pub fn as_raw(&self) -> *mut sys::ibv_qp {
        self.handle.raw.as_ptr()
    }
}

/// The fields to hash in the words of verbs (`enum ibv_rx_hash_fields`).
fn hash_fields(rss: &Rss) -> u64 {
    let addresses = match rss.ipv6 {
        false => [sys::IBV_RX_HASH_SRC_IPV4, sys::IBV_RX_HASH_DST_IPV4],
        true => [sys::IBV_RX_HASH_SRC_IPV6, sys::IBV_RX_HASH_DST_IPV6],
    };
    let ports = match rss.udp {
        false => [sys::IBV_RX_HASH_SRC_PORT_TCP, sys::IBV_RX_HASH_DST_PORT_TCP],
        true => [sys::IBV_RX_HASH_SRC_PORT_UDP, sys::IBV_RX_HASH_DST_PORT_UDP],
    };
    let fields = addresses.into_iter().chain(ports).enumerate();
    fields.filter(|(bit, _)| rss.fields & 1 << bit != 0).fold(0, |all, (_, field)| all | u64::from(field))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of `verbs.h`: 1 and 2 of IPv4, 4 and 8 of IPv6, 0x10 and 0x20 of TCP, 0x40 and 0x80 of UDP.
    #[test]
    fn fields_are_those_of_verbs() {
        let of = |fields, ipv6, udp| hash_fields(&Rss { fields, ipv6, udp, ..Rss::udp([0; 40]) });
        assert_eq!([of(0xf, false, false), of(0xf, true, true)], [0x33, 0xcc]);
        assert_eq!([of(0xf, true, false), of(0xf, false, true)], [0x3c, 0xc3]);
        assert_eq!([1, 2, 4, 8].map(|field| of(field, false, true)), [1, 2, 0x40, 0x80]);
    }
}
