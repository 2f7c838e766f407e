//! Match parameters of rules, in mailboxes: a set of fields for each bit of `match_criteria_enable`. The device knows
//! three sets.

use crate::firmware::layout::{View, layout};
use crate::firmware::status::Refusal;
use crate::steering::{Direction, Key};

layout! {
    /// All sets. Which bits of them a rule may have is for the flow tables to say.
    struct fte_match_param: 0x200 bytes opaque {}
}

/// Sets that the device knows: outer headers, others, and registers (`MLX5_MATCH_OUTER_HEADERS`,
/// `MLX5_MATCH_MISC_PARAMETERS`, `MLX5_MATCH_MISC_PARAMETERS_2`).
const KNOWN_SETS: u64 = 1 << 0 | 1 << 1 | 1 << 3;
/// Bytes of a set.
const SET_BYTES: usize = 64;

/// The first bytes of a match parameter, which are the key.
pub(super) fn key(view: View<'_>) -> Key {
    let mut key = Key::default();
    for (to, from) in key.0.iter_mut().zip(view.0) {
        *to = *from;
    }
    key
}

/// The mask of a group of rules: of the sets that `enable` names, and no other.
pub(super) fn mask(view: View<'_>, enable: u64) -> Result<Key, Refusal> {
    if enable & !KNOWN_SETS != 0 {
        return Err(Refusal::parameter(format!(
            "match_criteria_enable {enable:#x}: outer headers (1), miscellaneous (2) and miscellaneous 2 (8) are known \
            here"
        )));
    }
    for (set, bytes) in view.0.chunks(SET_BYTES).enumerate() {
        if enable >> set & 1 == 0 && bytes.iter().any(|&byte| byte != 0) {
            return Err(Refusal::parameter(format!("match criteria in set {set}, which is not enabled")));
        }
    }
    Ok(key(view))
}

/// The sets in which a mask has bits.
pub(super) fn enabled(mask: &Key) -> u64 {
    let has = |set: &[u8]| u64::from(set.iter().any(|&byte| byte != 0));
    mask.0.chunks(SET_BYTES).zip(0..).map(|(set, bit)| has(set) << bit).sum()
}

/// Which frames a table of this type is for (`FS_FT_NIC_RX`, `FS_FT_NIC_TX`, `FS_FT_SNIFFER_RX`, `FS_FT_SNIFFER_TX`).
pub(super) fn direction(table_type: u64) -> Result<Direction, Refusal> {
    match table_type {
        0 => Ok(Direction::Receive),
        1 => Ok(Direction::Transmit),
        5 => Ok(Direction::SniffReceived),
        6 => Ok(Direction::SniffTransmitted),
        other => {
            let reason = format!("table_type {other}: only those of a NIC (0, 1) and its sniffers (5, 6) are here");
            Err(Refusal::parameter(reason))
        }
    }
}
