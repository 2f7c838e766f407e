//! The life of an HCA: the driver's steps before it may make objects, and the pages of host memory that it gives the
//! device.
//!
//! ```text
//!           ENABLE_HCA             boot pages, capabilities, init pages, INIT_HCA
//!   Off ───────────────> Enabled ────────────────────────────────────────────────> Initialized ──> objects
//!    ^── DISABLE_HCA ───────┘ ^──────────────── TEARDOWN_HCA ──────────────────────────┘
//! ```
//!
//! Linux `drivers/net/ethernet/mellanox/mlx5/core/main.c` (`mlx5_function_setup`) goes this way.

use super::pages::Pages;
use super::status::{Refusal, Status};
use std::fmt;

/// How far a driver has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The owner of the firmware has brought the HCA to life, and answers for it: no command changes that.
    Given,
    /// As after power-on.
    Off,
    /// The driver may give pages, and ask and choose capabilities.
    Enabled,
    /// Everything can be done.
    Initialized,
}

/// Commands that an HCA carries out before `ENABLE_HCA`.
const WHEN_OFF: &[u16] = &[op::ENABLE_HCA, op::NOP];
/// Additional commands that it carries out before `INIT_HCA`.
const WHEN_ENABLED: &[u16] = &[
    op::QUERY_HCA_CAP,
    op::QUERY_ADAPTER,
    op::INIT_HCA,
    op::DISABLE_HCA,
    op::QUERY_PAGES,
    op::MANAGE_PAGES,
    op::SET_HCA_CAP,
    op::QUERY_ISSI,
    op::SET_ISSI,
    op::ACCESS_REG,
    op::NOP,
];
/// Numbers of commands.
mod op {
    pub(super) const QUERY_HCA_CAP: u16 = 0x100;
    pub(super) const QUERY_ADAPTER: u16 = 0x101;
    pub(super) const INIT_HCA: u16 = 0x102;
    pub(super) const ENABLE_HCA: u16 = 0x104;
    pub(super) const DISABLE_HCA: u16 = 0x105;
    pub(super) const QUERY_PAGES: u16 = 0x107;
    pub(super) const MANAGE_PAGES: u16 = 0x108;
    pub(super) const SET_HCA_CAP: u16 = 0x109;
    pub(super) const QUERY_ISSI: u16 = 0x10a;
    pub(super) const SET_ISSI: u16 = 0x10b;
    pub(super) const ACCESS_REG: u16 = 0x805;
    pub(super) const NOP: u16 = 0x80d;
}

/// Whether a driver signs its commands, and the device looks: numbers of `cmdif_checksum`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checksum {
    /// It does not.
    Unsigned = 0,
    /// The driver has not decided yet: the device does not look.
    Unsaid = 1,
    /// It does.
    Signed = 3,
}

/// The state of the HCA's life.
#[derive(Debug)]
pub(crate) struct Life {
    pub(crate) stage: Stage,
    pub(crate) pages: Pages,
    /// Whether the driver signs its commands.
    pub(crate) checksum: Checksum,
    /// The driver's name for itself.
    pub(crate) driver: Option<String>,
}

impl Life {
    pub(crate) fn new(stage: Stage) -> Self {
        Self { stage, pages: Pages::default(), checksum: Checksum::Unsaid, driver: None }
    }

    /// Refuses a command that comes too early, or makes an object although pages are missing that the driver does not
    /// give.
    pub(super) fn check(&self, opcode: u16, makes_object: bool) -> Result<(), Refusal> {
        let early = match self.stage {
            Stage::Given | Stage::Initialized => false,
            Stage::Off => !WHEN_OFF.contains(&opcode),
            Stage::Enabled => !WHEN_ENABLED.contains(&opcode),
        };
        if early {
            return Err(self.refusal());
        }
        if self.stage == Stage::Initialized && makes_object && self.pages.are_out() {
            return Err(Refusal::new(Status::NoResources, "the driver has given too few pages"));
        }
        Ok(())
    }

    /// Refuses to go on from any other stage than this one.
    pub(crate) fn check_stage(&self, stage: Stage) -> Result<(), Refusal> {
        if self.stage == stage { Ok(()) } else { Err(self.refusal()) }
    }

    /// The value of the capability `cmdif_checksum`: in use, or possible.
    pub(crate) fn checksum(&self, in_use: bool) -> u64 {
        match self.stage {
            Stage::Given => 0,
            _ if in_use => self.checksum as u64,
            _ => Checksum::Signed as u64,
        }
    }

    /// The driver chooses the capability's value.
    pub(crate) fn choose_checksum(&self, number: u64) -> Result<Checksum, Refusal> {
        let all = [Checksum::Unsigned, Checksum::Unsaid, Checksum::Signed];
        let chosen = all.into_iter().find(|&checksum| checksum as u64 == number);
        let chosen = chosen.ok_or_else(|| Refusal::parameter(format!("cmdif_checksum {number}")))?;
        match self.stage {
            Stage::Enabled => Ok(chosen),
            _ if number == self.checksum(true) => Ok(self.checksum),
            _ => Err(self.refusal()),
        }
    }

    fn refusal(&self) -> Refusal {
        Refusal::new(Status::BadSystemState, format!("not while the HCA is {}", self.stage))
    }

    /// Whether commands that make objects wait until the driver has given pages, or has said that it gives none.
    pub(super) fn objects_have_to_wait(&self) -> bool {
        self.stage == Stage::Initialized && self.pages.are_awaited()
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Given => "somebody else's to start and stop",
            Self::Off => "off",
            Self::Enabled => "not initialized",
            Self::Initialized => "initialized",
        })
    }
}
