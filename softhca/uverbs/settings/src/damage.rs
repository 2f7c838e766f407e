//! Damage by a broken device: bits that turn over in its writes, for tests of programs that look for broken devices.

use std::str::FromStr;

/// A byte of each write that is damaged: its offset, and the bits that turn over.
type Spot = (usize, u8);

/// The bytes that turn over in each write of a kind. Written as `cqe@55=0x06,data@0=0x80`: offset and mask, any number
/// of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    /// In the last 64 bytes of each CQE, which have its fields.
    cqe: Vec<Spot>,
    /// In all other writes to the program's memory: messages, results, mini-CQEs.
    data: Vec<Spot>,
}

/// A text that is no damage.
#[derive(Debug, thiserror::Error)]
#[error("'{0}' is not cqe@OFFSET=MASK or data@OFFSET=MASK, with an offset in a CQE below 64, and a mask of one byte")]
pub struct BadDamage(String);

/// Bytes of a CQE's fields.
const FIELDS: usize = 64;

fn number(text: &str) -> Option<usize> {
    match text.strip_prefix("0x") {
        Some(digits) => usize::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

impl FromStr for Damage {
    type Err = BadDamage;

    fn from_str(text: &str) -> Result<Self, BadDamage> {
        let mut damage = Self::default();
        for part in text.split(',') {
            let bad = || BadDamage(part.to_owned());
            let (kind, spot) = part.split_once('@').ok_or_else(bad)?;
            let (offset, mask) = spot.split_once('=').ok_or_else(bad)?;
            let (offset, mask) = number(offset).zip(number(mask)).ok_or_else(bad)?;
            let spot = (offset, u8::try_from(mask).map_err(|_| bad())?);
            match kind {
                "cqe" if offset < FIELDS => damage.cqe.push(spot),
                "data" => damage.data.push(spot),
                _ => return Err(bad()),
            }
        }
        Ok(damage)
    }
}

fn damaged(bytes: &[u8], from: usize, spots: &[Spot]) -> Option<Vec<u8>> {
    let mut copy = None;
    for (offset, mask) in spots {
        let at = from + offset;
        if at < bytes.len() {
            copy.get_or_insert_with(|| bytes.to_vec())[at] ^= mask;
        }
    }
    copy
}

impl Damage {
    /// A CQE as it is to be written, if it is damaged.
    #[must_use]
    pub fn of_cqe(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        damaged(bytes, bytes.len().checked_sub(FIELDS)?, &self.cqe)
    }

    /// Other bytes as they are to be written, if they are damaged.
    #[must_use]
    pub fn of_data(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        damaged(bytes, 0, &self.data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_turn_over_where_the_text_says() {
        let damage: Damage = "cqe@1=0x81,data@2=4,cqe@63=1".parse().expect("damage");
        let mut cqe = [0; 128];
        (cqe[65], cqe[127]) = (0x81, 1);
        assert_eq!(damage.of_cqe(&[0; 128]), Some(cqe.to_vec()));
        assert_eq!(damage.of_cqe(&[0; 64]), Some(cqe[64..].to_vec()));
        assert_eq!(damage.of_cqe(&[0]), None, "no whole CQE");
        assert_eq!(damage.of_data(&[0, 0, 1]), Some(vec![0, 0, 5]));
        assert_eq!(damage.of_data(&[0, 0]), None, "too short");
        assert_eq!(Damage::default().of_data(&[0; 64]), None);
    }

    #[test]
    fn other_texts_are_refused() {
        for bad in ["", "cqe", "cqe@1", "cqe@64=1", "data@1=256", "wqe@1=1", "cqe@x=1", "cqe@1=1,"] {
            assert!(bad.parse::<Damage>().is_err(), "{bad}");
        }
    }
}
