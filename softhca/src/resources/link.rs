//! The link of a port: the causes that take it down, and how often it went down.

/// A link. Three switches in a row: the cable, the driver's for the port, and the driver's for the function behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// The cable is plugged in.
    pub(crate) is_plugged: bool,
    /// The port's administrative state (`PAOS`).
    pub(crate) is_enabled: bool,
    /// The function's own (`MODIFY_VPORT_STATE`).
    pub(crate) admits: bool,
    /// RoCE is on (`roce_en`); always on InfiniBand.
    pub(crate) has_transport: bool,
    /// How often the port went down.
    pub(crate) downs: u32,
}

impl Default for Link {
    fn default() -> Self {
        Self { is_plugged: true, is_enabled: true, admits: true, has_transport: true, downs: 0 }
    }
}

impl Link {
    /// The link as a driver finds it: nothing is turned off, but the cable stays as it is.
    pub(crate) fn reset(&self) -> Self {
        Self { is_plugged: self.is_plugged, downs: self.downs, ..Self::default() }
    }

    /// The port is up, even if the function is not allowed to use it.
    pub(crate) fn is_port_up(&self) -> bool {
        self.is_plugged && self.is_enabled
    }

    /// Frames and packets pass.
    pub(crate) fn is_up(&self) -> bool {
        self.is_port_up() && self.admits
    }
}
