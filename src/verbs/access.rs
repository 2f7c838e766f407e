//! The rights of a registration.

use core::fmt;
use core::ops::{BitOr, BitOrAssign};

use blueflame_sys as sys;

/// The rights of a registration (`ibv_access_flags`). Combine with `|`. This side's device may always read the memory.
///
/// ```
/// use blueflame::verbs::Access;
///
/// let inbox = Access::REMOTE_WRITE | Access::REMOTE_READ;
/// assert!(inbox.contains(Access::LOCAL_WRITE), "which a remote WRITE includes");
/// assert!(!inbox.contains(Access::REMOTE_ATOMIC));
/// assert_eq!(format!("{inbox}"), "LOCAL_WRITE | REMOTE_WRITE | REMOTE_READ");
/// ```
#[doc(alias = "ibv_access_flags")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Access(u32);

impl Access {
    /// The device may read the memory for sends, nothing else.
    pub const LOCAL_READ: Self = Self(0);
    /// The device may write it: receives, results of READs and atomics.
    pub const LOCAL_WRITE: Self = Self(sys::IBV_ACCESS_LOCAL_WRITE);
    /// Peers may READ it.
    pub const REMOTE_READ: Self = Self(sys::IBV_ACCESS_REMOTE_READ);
    /// Peers may WRITE it (includes [`Self::LOCAL_WRITE`], which IBTA vol. 1, 10.6.3.1 demands).
    pub const REMOTE_WRITE: Self = Self(sys::IBV_ACCESS_REMOTE_WRITE | Self::LOCAL_WRITE.0);
    /// Peers may do atomics on it (includes [`Self::LOCAL_WRITE`]).
    pub const REMOTE_ATOMIC: Self = Self(sys::IBV_ACCESS_REMOTE_ATOMIC | Self::LOCAL_WRITE.0);
    /// The device's accesses may overtake each other on PCIe: more bandwidth on machines whose root complex gains by
    /// it.
    ///
    /// It is a property of each registration. **Never give it to memory in which you poll** for a flag, a counter or
    /// the last byte of a message: the polled value may be there before the bytes that it stands for. Register flags
    /// and data apart, or wait for the completion, which comes after the data in any case.
    /// [`Buffer::polled`](crate::verbs::Buffer::polled) refuses such memory; this crate cannot check a flag that you
    /// read by your own means.
    ///
    /// A hint: kernels and devices that do not know it ignore it (`IBV_ACCESS_OPTIONAL_RANGE`).
    pub const RELAXED_ORDERING: Self = Self(sys::IBV_ACCESS_RELAXED_ORDERING);
    /// Pages need not be present when they are registered, are not pinned, and may change
    /// ([`OnDemandAttr`](crate::verbs::memory::OnDemandAttr) says whether the device can do this, and for which
    /// operations).
    pub const ON_DEMAND: Self = Self(sys::IBV_ACCESS_ON_DEMAND);

    /// Memory windows can be bound to it ([`MemoryWindow`](crate::verbs::memory::MemoryWindow)).
    pub const MW_BIND: Self = Self(sys::IBV_ACCESS_MW_BIND);

    /// Everything local and remote, in strict order.
    pub const ALL: Self =
        Self(Self::LOCAL_WRITE.0 | Self::REMOTE_READ.0 | Self::REMOTE_WRITE.0 | Self::REMOTE_ATOMIC.0);

    /// The `ibv_access_flags`.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Whether it permits all that `other` does.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Access {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Access {
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

/// The names of the flags.
impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [(u32, &str); 7] = [
            (sys::IBV_ACCESS_LOCAL_WRITE, "LOCAL_WRITE"),
            (sys::IBV_ACCESS_REMOTE_WRITE, "REMOTE_WRITE"),
            (sys::IBV_ACCESS_REMOTE_READ, "REMOTE_READ"),
            (sys::IBV_ACCESS_REMOTE_ATOMIC, "REMOTE_ATOMIC"),
            (sys::IBV_ACCESS_MW_BIND, "MW_BIND"),
            (sys::IBV_ACCESS_ON_DEMAND, "ON_DEMAND"),
            (sys::IBV_ACCESS_RELAXED_ORDERING, "RELAXED_ORDERING"),
        ];
        let mut names = NAMES.iter().filter(|(flag, _)| self.0 & flag != 0).map(|(_, name)| *name);
        f.write_str(names.next().unwrap_or("LOCAL_READ"))?;
        names.try_for_each(|name| write!(f, " | {name}"))
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Access({self})")
    }
}
