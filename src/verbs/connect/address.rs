//! Address handles: routes that the kernel has resolved, and their address vectors.

use core::ptr::NonNull;
use std::collections::HashMap;
use std::sync::Arc;

use blueflame_sys as sys;

use crate::types::{DcKey, Qkey, Qpn};
use crate::verbs::domain::protection::PdHandle;
use crate::verbs::error::{non_null, zero};
use crate::verbs::event::event;
use crate::verbs::{Error, ProtectionDomain, Route};
use crate::wqe::address::{CompactAv, FullAv};
use crate::wqe::seg::DatagramSeg;
use crate::wqe::{DcAddress, UdAddress};

/// An address handle (`ibv_ah`): a [`Route`] with the address vector that libmlx5 has made from it. On RoCE, the kernel
/// has resolved the MAC address of the next hop, which takes a while the first time.
///
/// ```no_run
/// use blueflame::types::{Qkey, WrId};
/// use blueflame::verbs::{Endpoint, Owned, Path, ProtectionDomain, Qp};
/// use blueflame::{SendQueue, transport, wqe};
///
/// fn greet(
///     pd: &ProtectionDomain, path: &Path, peer: &Endpoint, sq: &mut Owned<SendQueue<transport::Ud>, Qp>,
/// ) -> Result<(), Box<dyn std::error::Error>> {
///     let address = pd.address(&path.route(peer)?)?;
///     let to = address.queue_pair(peer.qpn, Qkey(0x1111_1111));
///     sq.post(&wqe::send().to(to).inline(b"hello").signaled(WrId(1)))?;
///     Ok(())
/// }
/// ```
///
/// [`queue_pair`](Self::queue_pair) returns an independent value. Dropping the handle destroys the kernel's object. On
/// RoCE, that object holds on to the local GID: keep the handle as long as you send there.
#[doc(alias("ibv_ah", "ibv_create_ah"))]
#[derive(Debug)]
pub struct AddressHandle {
    raw: NonNull<sys::ibv_ah>,
    vector: FullAv,
    route: Route,
    _pd: Arc<PdHandle>,
}

// SAFETY: only the destruction, by the single owner, touches the handle; libmlx5 locks the state that it shares.
unsafe impl Send for AddressHandle {}
// SAFETY: shared references read copied values only; libmlx5 locks the state that its calls share.
unsafe impl Sync for AddressHandle {}

impl ProtectionDomain {
    /// Makes an address handle of a route.
    ///
    /// # Errors
    /// A failed call: on RoCE if the peer's address does not resolve, or the GID index is empty.
    pub fn address(&self, route: &Route) -> Result<AddressHandle, Error> {
        let mut attr = route.attr();
        // SAFETY: the domain is alive; the attributes live until the call returns.
        let raw = non_null("ibv_create_ah", unsafe { sys::ibv_create_ah(self.as_raw(), &raw mut attr) })?;
        let vector = vector(raw).inspect_err(|_| {
            // SAFETY: just made, and nobody's.
            unsafe { sys::ibv_destroy_ah(raw.as_ptr()) };
        })?;
        event!(DEBUG, "address handle made", port = route.port, lid = route.lid);
        Ok(AddressHandle { raw, vector, route: *route, _pd: Arc::clone(&self.handle) })
    }
}

/// libmlx5's address vector of a handle.
fn vector(raw: NonNull<sys::ibv_ah>) -> Result<FullAv, Error> {
    let mut parts = sys::mlx5dv_ah { av: core::ptr::null_mut(), comp_mask: 0 };
    let pair = sys::mlx5dv_pair { r#in: raw.as_ptr(), out: &raw mut parts };
    let mut obj = sys::mlx5dv_obj { ah: pair, ..sys::mlx5dv_obj::ZERO };
    // SAFETY: the handle is alive, of libmlx5, and the parts are ours.
    zero("mlx5dv_init_obj", unsafe { sys::mlx5dv_init_obj(&raw mut obj, sys::MLX5DV_OBJ_AH) })?;
    let av = NonNull::new(parts.av.cast::<DatagramSeg>())
        .ok_or_else(|| Error::Parts { object: "address handle", why: "no address vector".into() })?;
    // SAFETY: the vector is part of the handle, initialised, and written no more.
    Ok(FullAv::from_seg(unsafe { av.read_unaligned() }))
}

impl Drop for AddressHandle {
    fn drop(&mut self) {
        // SAFETY: made by `ibv_create_ah`; its vector was copied out.
        unsafe { sys::ibv_destroy_ah(self.raw.as_ptr()) };
    }
}

impl AddressHandle {
    /// The queue pair `qpn` at the end of the route, which takes datagrams with `qkey`.
    #[must_use]
    pub fn queue_pair(&self, qpn: Qpn, qkey: Qkey) -> UdAddress {
        UdAddress::new(self.vector, qpn, qkey)
    }

    /// The target `dctn` of dynamic connections at the end of the route, which serves requests with `key`.
    #[must_use]
    pub fn target(&self, dctn: Qpn, key: DcKey) -> DcAddress {
        DcAddress::new(self.vector, dctn, key)
    }

    /// How to get there, in full.
    #[must_use]
    pub fn vector(&self) -> FullAv {
        self.vector
    }

    /// How to get there in 16 bytes, if that is enough: on InfiniBand without a GRH.
    #[must_use]
    pub fn compact(&self) -> Option<CompactAv> {
        self.vector.to_compact()
    }

    /// The route that it was made of.
    #[must_use]
    pub fn route(&self) -> &Route {
        &self.route
    }

    /// The raw handle; alive as long as `self`. Not to be destroyed.
    #[must_use]
    pub fn as_raw(&self) -> *mut sys::ibv_ah {
        self.raw.as_ptr()
    }
}

/// Address handles of the most recent peers: for a server that answers datagrams of any sender.
///
/// ```
/// use blueflame::cq::{CqeView, Source};
/// use blueflame::cq::cqe::Grh;
/// use blueflame::types::Qkey;
/// use blueflame::verbs::{AddressCache, Error, Path};
/// use blueflame::wqe::UdAddress;
///
/// fn reply_to<S: Source>(
///     cqe: &CqeView<S>, header: &Grh, path: &Path, cache: &mut AddressCache, qkey: Qkey,
/// ) -> Result<UdAddress, Error> {
///     let vector = cache.vector(&path.route_back(cqe, header)?)?;
///     Ok(UdAddress::new(vector, cqe.src_qp(), qkey))
/// }
/// ```
///
/// A known route costs one look-up, without a call or an allocation. A new route costs calls, on RoCE into the kernel.
/// If the cache is full, a new route also evicts the least recently used handle. So a sender with ever new addresses
/// cannot fill the memory, but does slow the server down.
#[derive(Debug)]
pub struct AddressCache {
    pd: ProtectionDomain,
    handles: HashMap<Route, (AddressHandle, u64)>,
    most: usize,
    /// How many times it was asked.
    asked: u64,
}

impl AddressCache {
    /// A cache of `most` handles; one at least.
    #[must_use]
    pub fn new(pd: &ProtectionDomain, most: usize) -> Self {
        Self { pd: pd.clone(), handles: HashMap::new(), most: most.max(1), asked: 0 }
    }

    /// The address vector of a route.
    ///
    /// # Errors
    /// The errors of [`ProtectionDomain::address`], for a route that the cache does not hold.
    pub fn vector(&mut self, route: &Route) -> Result<FullAv, Error> {
        self.asked += 1;
        if let Some((handle, last)) = self.handles.get_mut(route) {
            *last = self.asked;
            return Ok(handle.vector);
        }
        let handle = self.pd.address(route)?;
        if self.handles.len() >= self.most {
            if let Some(oldest) = self.handles.iter().min_by_key(|(_, (_, last))| *last).map(|(route, _)| *route) {
                self.handles.remove(&oldest);
            }
        }
        let vector = handle.vector;
        self.handles.insert(*route, (handle, self.asked));
        Ok(vector)
    }

    /// Drops the handle of a route, so that the next look-up makes it again: for use when a peer's MAC address has
    /// changed.
    pub fn forget(&mut self, route: &Route) {
        self.handles.remove(route);
    }

    /// Handles in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.handles.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.handles.is_empty()
    }
}
