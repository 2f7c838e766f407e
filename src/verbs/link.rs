//! A port's link layer and link state, as values. Knows no port.

use core::fmt;

use blueflame_sys as sys;

/// State of a port's link (IBTA vol. 1, 14.2.5.6 PortState).
#[doc(alias = "ibv_port_state")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortState {
    /// No link.
    Down,
    /// Link, not configured.
    Initialize,
    /// Configured, not yet carrying data.
    Armed,
    /// Carrying data.
    Active,
    /// Any other value of `ibv_port_state`.
    Other(u32),
}

impl PortState {
    pub(in crate::verbs) fn from_raw(raw: sys::ibv_port_state) -> Self {
        match raw {
            sys::IBV_PORT_DOWN => Self::Down,
            sys::IBV_PORT_INIT => Self::Initialize,
            sys::IBV_PORT_ARMED => Self::Armed,
            sys::IBV_PORT_ACTIVE => Self::Active,
            other => Self::Other(other),
        }
    }
}

/// The protocol of a port below the transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkLayer {
    /// InfiniBand: LIDs, and GIDs for routing beyond the subnet.
    InfiniBand,
    /// Ethernet (RoCE): GIDs alone.
    Ethernet,
}

impl fmt::Display for LinkLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InfiniBand => "InfiniBand",
            Self::Ethernet => "Ethernet",
        })
    }
}
