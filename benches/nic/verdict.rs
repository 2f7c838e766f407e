//! Whether write combining works, judged by the copies that a device took.

use serde::Serialize;

/// The counts of copies by one routine.
pub(crate) struct Copies<'a> {
    /// The routine.
    pub(crate) routine: &'a str,
    /// Whether its stores make one of 64 bytes on the bus only if they are combined.
    pub(crate) needs_combining: bool,
    /// Copies that the device executed.
    pub(crate) taken: u32,
    /// Copies that were made.
    pub(crate) made: u32,
}

/// Whether write combining works, and how it is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub(crate) enum Verdict {
    /// The device got whole copies.
    Works { because: String },
    /// It did not get one.
    DoesNotWork { because: String },
    /// There is nothing to tell it by.
    Unknown { because: String },
}

impl Verdict {
    /// The verdict on a register with halves of `half_bytes`, in memory that `ordinary` says is no device's, if so.
    pub(crate) fn new(half_bytes: usize, ordinary: Option<&str>, copies: &[Copies<'_>]) -> Self {
        let taken: u32 = copies.iter().map(|copies| copies.taken).sum();
        let made: u32 = copies.iter().map(|copies| copies.made).sum();
        if let Some(ordinary) = ordinary {
            let because = format!(
                "the register is ordinary memory ({ordinary}), so this is a software device; it executed {taken} of \
                 {made} copies in place of the WQEs in the ring"
            );
            return Self::Unknown { because };
        }
        if half_bytes == 0 {
            let because = "the register has no BlueFlame: libmlx5 got a page that is not mapped write-combining".into();
            return Self::Unknown { because };
        }
        let list = |needs_combining: bool| {
            copies
                .iter()
                .filter(|copies| copies.needs_combining == needs_combining && copies.taken > 0)
                .map(|copies| format!("{} of {} copies by {}", copies.taken, copies.made, copies.routine))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let (combined, whole) = (list(true), list(false));
        if !combined.is_empty() {
            return Self::Works { because: format!("the device executed {combined}, so they reached it in one piece") };
        }
        if !copies.iter().any(|copies| copies.needs_combining) {
            return Self::Unknown { because: "no routine was tried whose stores need combining (8x8 does)".into() };
        }
        let other = if whole.is_empty() {
            "8-byte doorbells cost less here, and bring as much".into()
        } else {
            format!("but it executed {whole}, which need no combining: use that")
        };
        Self::DoesNotWork {
            because: format!("the device executed no copy whose stores need combining, and fetched each WQE; {other}"),
        }
    }
}
