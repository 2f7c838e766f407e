//! A device's memory capabilities beyond pinning.

use blueflame_sys as sys;

use crate::verbs::error::{Error, zero};

/// A device's memory capabilities beyond pinning (`ibv_query_device_ex`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryAttr {
    /// On-demand paging.
    pub on_demand: OnDemandAttr,
    /// The most bytes of one allocation of device memory; 0 if there is none.
    pub max_device_memory: u64,
}

/// On-demand paging: which registrations there are, and which operations may name them (`struct ibv_odp_caps`).
#[doc(alias = "ibv_odp_caps")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OnDemandAttr {
    /// Registrations of a range ([`Access::ON_DEMAND`](crate::verbs::Access::ON_DEMAND)).
    pub explicit: bool,
    /// One registration of the whole address space.
    pub implicit: bool,
    /// On reliable connections.
    pub rc: OnDemandOps,
    /// On unreliable connections.
    pub uc: OnDemandOps,
    /// In datagrams.
    pub ud: OnDemandOps,
    /// On XRC.
    pub xrc: OnDemandOps,
}

/// Operations that may name memory which is paged in on demand (`enum ibv_odp_transport_cap_bits`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OnDemandOps(u32);

impl OnDemandOps {
    /// Sends.
    pub const SEND: Self = Self(1);
    /// Receives.
    pub const RECV: Self = Self(1 << 1);
    /// WRITEs.
    pub const WRITE: Self = Self(1 << 2);
    /// READs.
    pub const READ: Self = Self(1 << 3);
    /// Atomics.
    pub const ATOMIC: Self = Self(1 << 4);
    /// Receives of a shared receive queue.
    pub const SRQ_RECV: Self = Self(1 << 5);

    /// Whether all of `other` are among them.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// `enum ibv_odp_general_caps`.
const EXPLICIT: u64 = 1;
const IMPLICIT: u64 = 1 << 1;

impl MemoryAttr {
    /// Asks the device. A library or kernel that is too old for the query counts as having no such capability.
    ///
    /// # Safety
    /// The context is open.
    pub(in crate::verbs) unsafe fn query(context: *mut sys::ibv_context) -> Result<Self, Error> {
        let mut attr = sys::ibv_device_attr_ex::ZERO;
        // SAFETY: the caller promises that the context is open; the structure is ours.
        match unsafe { sys::ibv_query_device_ex(context, core::ptr::null(), &raw mut attr) } {
            libc::EOPNOTSUPP => return Ok(Self::default()),
            returned => zero("ibv_query_device_ex", returned)?,
        }
        let odp = attr.odp_caps;
        let of = odp.per_transport_caps;
        Ok(Self {
            on_demand: OnDemandAttr {
                explicit: odp.general_caps & EXPLICIT != 0,
                implicit: odp.general_caps & IMPLICIT != 0,
                rc: OnDemandOps(of.rc_odp_caps),
                uc: OnDemandOps(of.uc_odp_caps),
                ud: OnDemandOps(of.ud_odp_caps),
                xrc: OnDemandOps(attr.xrc_odp_caps),
            },
            max_device_memory: attr.max_dm_size,
        })
    }
}
