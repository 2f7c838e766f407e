//! Steering tags of a device, as a kernel driver hands them out (Linux
//! `drivers/net/ethernet/mellanox/mlx5/core/lib/st.c`): users of the same tag share an entry of the device's table, and
//! memory keys name the entry.
//!
//! The platform chooses the tag of a CPU's cache (Linux `pcie_tph_get_cpu_st` asks ACPI). There is no cache to choose
//! here: a CPU and a type of memory are a tag.

use crate::process::Errno;
use std::collections::BTreeMap;

/// The type of the memory that a tag leads to (`enum tph_mem_type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryType {
    Volatile,
    Persistent,
}

type Tag = (u32, MemoryType);

/// The entries in use, with their numbers of users. Index 0 stands for no tag; `mkc.pcie_tph_steering_tag_index` has 8
/// bits.
#[derive(Debug, Default)]
pub(crate) struct SteeringTags(BTreeMap<u8, (Tag, u32)>);

impl SteeringTags {
    /// Adds a user of a tag: its index (`mlx5_st_alloc_index`).
    pub(crate) fn add(&mut self, tag: Tag) -> Result<u8, Errno> {
        if let Some((index, (_, users))) = self.0.iter_mut().find(|(_, (known, _))| *known == tag) {
            *users += 1;
            return Ok(*index);
        }
        // `xa_alloc` of a full table.
        let index = (1..=u8::MAX).find(|index| !self.0.contains_key(index)).ok_or(Errno::EBUSY)?;
        self.0.insert(index, (tag, 1));
        Ok(index)
    }

    /// Drops one user of an index (`mlx5_st_dealloc_index`); index 0 has none.
    pub(crate) fn remove(&mut self, index: u8) {
        if let Some((_, users)) = self.0.get_mut(&index) {
            *users -= 1;
            if *users == 0 {
                self.0.remove(&index);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_tags_share_an_entry_until_the_last_user_goes() {
        let mut tags = SteeringTags::default();
        assert_eq!(tags.add((0, MemoryType::Volatile)), Ok(1));
        assert_eq!(tags.add((0, MemoryType::Persistent)), Ok(2));
        assert_eq!(tags.add((0, MemoryType::Volatile)), Ok(1));
        tags.remove(1);
        assert_eq!(tags.add((7, MemoryType::Volatile)), Ok(3));
        tags.remove(1);
        assert_eq!(tags.add((8, MemoryType::Volatile)), Ok(1));
        // None that anybody has.
        tags.remove(0);
        tags.remove(200);
        assert_eq!(tags.add((0, MemoryType::Persistent)), Ok(2));
    }

    #[test]
    fn the_table_has_255_entries() {
        let mut tags = SteeringTags::default();
        for cpu in 0..255 {
            assert_eq!(tags.add((cpu, MemoryType::Volatile)), Ok(cpu as u8 + 1));
        }
        assert_eq!(tags.add((255, MemoryType::Volatile)), Err(Errno::EBUSY));
        assert_eq!(tags.add((254, MemoryType::Volatile)), Ok(255));
    }
}
