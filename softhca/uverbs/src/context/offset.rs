//! Where a device file has which UAR page, and device memory: mmap offsets, in pages, have a command in bits 15:8, an
//! index in bits 7:0 and from bit 16 on (`mlx5_vma_to_pgoff`).

/// `enum mlx5_ib_mmap_cmd`.
pub(crate) const REGULAR: u64 = 0;
pub(crate) const WRITE_COMBINING: u64 = 2;
pub(crate) const NON_CACHED: u64 = 3;
pub(crate) const CORE_CLOCK: u64 = 5;
pub(crate) const ALLOC_WRITE_COMBINING: u64 = 6;
pub(crate) const CLOCK_INFO: u64 = 7;
/// Device memory (`MLX5_IB_MMAP_DEVICE_MEM`).
pub(crate) const DEVICE_MEMORY: u64 = 8;
/// Pages allocated by themselves (`MLX5_IB_MMAP_OFFSET_START`).
pub(crate) const ALLOCATED: u64 = 9;

pub(crate) fn encode(command: u64, index: u64) -> u64 {
    (index >> 8 << 16 | command << 8 | index & 0xff) << 12
}

pub(crate) fn decode(offset: u64) -> (u64, u64) {
    let page = offset >> 12;
    (page >> 8 & 0xff, page >> 16 << 8 | page & 0xff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_what_the_kernel_decodes() {
        assert_eq!(encode(ALLOCATED, 0x123), 0x1_0923 << 12);
        for index in [0, 1, 0xff, 0x100, 0xffff] {
            let encoded = encode(ALLOCATED, index);
            assert_eq!(decode(encoded), (ALLOCATED, index));
        }
        // libmlx5: command 2, index 3.
        assert_eq!(decode(0x203 << 12), (2, 3));
    }
}
