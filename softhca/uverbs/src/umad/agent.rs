//! Agents of a file: the parts of a program that send requests of a class (`ib_register_mad_agent` of Linux'
//! `drivers/infiniband/core/mad.c`).

use super::mad::{Mad, class};
use crate::process::Errno;
use softhca_settings::Link;
use std::sync::atomic::{AtomicU32, Ordering};

/// An agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Agent {
    /// Its QP: 0 or 1.
    pub(super) qpn: u32,
    /// The upper half of its requests' transactions, which no other agent has.
    transactions: u32,
    /// The kernel puts the segments of its messages together.
    pub(super) has_rmpp: bool,
}

/// A registration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish {
    pub(super) qpn: u32,
    /// The class whose requests the agent wants to get; 0 = none.
    pub(super) class: u8,
    pub(super) version: u8,
    pub(super) oui: [u8; 3],
    pub(super) rmpp_version: u8,
}

impl Agent {
    /// A new one, of a port with this link.
    ///
    /// # Errors
    /// `EPROTONOSUPPORT` for QP 0 of an Ethernet port, which has none; `EINVAL` for a class that does not fit the rest.
    pub(super) fn new(wish: &Wish, link: Link) -> Result<Self, Errno> {
        /// Versions and classes are below these (`MAX_MGMT_VERSION`, `MAX_MGMT_CLASS`).
        const VERSIONS: u8 = 0x83;
        const CLASSES: u8 = 80;
        /// The version of RMPP.
        const RMPP: u8 = 1;
        static LAST: AtomicU32 = AtomicU32::new(0);
        if wish.qpn > 1 || wish.rmpp_version > RMPP {
            return Err(Errno::EINVAL);
        }
        if wish.class != 0 {
            let is_subnet = matches!(wish.class, class::SUBNET | class::DIRECTED);
            let fits = wish.version < VERSIONS
                && (wish.class < CLASSES || wish.class == class::DIRECTED)
                && is_subnet == (wish.qpn == 0)
                && (!is_vendor(wish.class) || wish.oui != [0; 3])
                && (wish.rmpp_version == 0 || has_rmpp(wish.class));
            if !fits {
                return Err(Errno::EINVAL);
            }
        }
        if wish.qpn == 0 && link == Link::Ethernet {
            return Err(Errno::EPROTONOSUPPORT);
        }
        let transactions = LAST.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        Ok(Self { qpn: wish.qpn, transactions, has_rmpp: wish.rmpp_version != 0 })
    }

    /// Makes the transaction of a request one of this agent's, so that the answer comes back to it.
    pub(super) fn claim(&self, mad: &mut Mad) {
        if !mad.is_response() {
            mad.set_transaction(u64::from(self.transactions) << 32 | mad.transaction() & 0xffff_ffff);
        }
    }
}

/// Whether the class is a vendor's, told apart by OUIs.
fn is_vendor(class: u8) -> bool {
    (0x30..0x50).contains(&class)
}

/// Whether datagrams of the class can be parts of a message (`ib_is_mad_class_rmpp`).
fn has_rmpp(class: u8) -> bool {
    /// Device administration, and communication by InfiniBand (BIS).
    const OTHERS: [u8; 2] = [0x10, 0x12];
    class == class::ADMINISTRATION || OTHERS.contains(&class) || is_vendor(class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_fit_their_queue_pair() {
        let wish = |qpn, class| Wish { qpn, class, version: 1, oui: [0; 3], rmpp_version: 0 };
        let new = |wish: Wish, link| Agent::new(&wish, link).map(|agent| agent.qpn);
        for class in [1, 0x81] {
            assert_eq!(new(wish(0, class), Link::Infiniband), Ok(0));
            assert_eq!(new(wish(1, class), Link::Infiniband), Err(Errno::EINVAL));
            assert_eq!(new(wish(0, class), Link::Ethernet), Err(Errno::EPROTONOSUPPORT));
        }
        for class in [3, 4, 9] {
            assert_eq!(new(wish(1, class), Link::Ethernet), Ok(1));
            assert_eq!(new(wish(0, class), Link::Infiniband), Err(Errno::EINVAL));
        }
        assert_eq!(new(wish(1, 0), Link::Infiniband), Ok(1));
        for wrong in [
            wish(2, 0),
            wish(1, 80),
            wish(1, 0x30),
            Wish { rmpp_version: 1, ..wish(1, 4) },
            Wish { rmpp_version: 2, ..wish(1, 3) },
            Wish { version: 0x83, ..wish(1, 4) },
        ] {
            assert_eq!(new(wrong, Link::Infiniband), Err(Errno::EINVAL), "{wrong:?}");
        }
        let vendor = Wish { oui: [0, 0x14, 5], rmpp_version: 1, ..wish(1, 0x30) };
        assert_eq!(new(vendor, Link::Infiniband), Ok(1));
    }
}
