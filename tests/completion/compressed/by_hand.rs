//! Bytes worked out by hand from the layouts of Linux, DPDK and UCX.
//!
//! Literal bytes belong here, random sessions in `any.rs`.

use blueflame::cq::compressed::{BASIC, Checksum, ChecksumStride, ENHANCED, FlowTag, Hash, Headers, MiniFormat};

use super::packer::{Packer, headers_of};
use crate::device::Device;

/// Linux `include/linux/mlx5/device.h`, `struct mlx5_mini_cqe8`, `MLX5_MINI_CQE_ARRAY_SIZE`;
/// `drivers/net/ethernet/mellanox/mlx5/core/en_rx.c`, `mlx5e_read_title_slot`, `mlx5e_read_mini_arr_slot` (title, title
/// + 1, title + 8), `mlx5e_decompress_cqe`: byte by byte.
#[test]
fn basic_as_linux_reads_it() {
    let mut device = Device::new(16, 64, 0);
    // SAFETY: the test writes completions of this format.
    let mut cq = unsafe { device.queue::<blueflame::cq::mode::Standard>().compressed::<Checksum, BASIC>() };
    let mut title = [0; 64];
    title[16] = 0x44;
    title[20..22].copy_from_slice(&[0xee, 0xee]);
    title[29] = 0x28;
    title[44..48].copy_from_slice(&[0, 0, 0, 9]);
    title[56..60].copy_from_slice(&[0, 0, 0, 7]);
    title[60..64].copy_from_slice(&[0x12, 0x34, 0, 0x2c]);
    device.cqe(0).copy_from_slice(&title);
    for n in 0..8 {
        device.cqe(1)[n * 8..][..8].copy_from_slice(&[0xc0, n as u8, 0, 0, 0, 0, 0x05, n as u8]);
    }
    device.cqe(8)[..8].copy_from_slice(&[0xc0, 8, 0, 0, 0, 0, 0x05, 8]);
    let mut found = Vec::new();
    assert_eq!(cq.poll_with(16, |cqe| found.push((cqe.packet_sum(), cqe.byte_len(), cqe.wqe_counter()))), 9);
    let expected: Vec<_> = (0..9).map(|n| (0xc000 + n, 0x500 + u32::from(n), 0x1234 + n)).collect();
    assert_eq!(found, expected);
    assert_eq!(device.record_words()[0], 9);
    // A CQE that the device has left out is no completion in any pass.
    assert!((1..9).all(|slot| device.cqe(slot)[63] == 0xf0));
}

/// Linux `drivers/net/ethernet/mellanox/mlx5/core/en_rx.c`, `mlx5e_rx_cq_process_enhanced_cqe_comp`, `wq.h`
/// `mlx5_cqwq_get_cqe_enahnced_comp`, `device.h` `get_cqe_enhanced_num_mini_cqes`; UCX `ib_mlx5.c`,
/// `uct_ib_mlx5_iface_cqe_unzip_init` (the index goes on from block to block): byte by byte.
#[test]
fn enhanced_as_linux_and_ucx_read_it() {
    let mut packer = Packer::new(16, 64, 0, true, 0);
    let mut cq = packer.queue::<Hash, ENHANCED>();
    let device = &mut packer.device;
    device.cqe(0).fill(0);
    device.cqe(0)[60..].copy_from_slice(&[0xff, 0xff, 0, 0x20]);
    for (slot, count) in [(1, 7u8), (8, 2)] {
        for n in 0..count {
            let at = usize::from(n) * 8;
            device.cqe(slot)[at..at + 8].copy_from_slice(&[0xaa, 0xbb, 0xcc, n, 0, 0, count, n]);
        }
        device.cqe(slot)[62..].copy_from_slice(&[0, (count - 1) << 4 | 0xc]);
    }
    let mut found = Vec::new();
    cq.poll_with(16, |cqe| found.push((cqe.byte_len(), cqe.wqe_counter())));
    let lengths = [0, 0x700, 0x701, 0x702, 0x703, 0x704, 0x705, 0x706, 0x200, 0x201];
    let expected: Vec<_> = lengths.into_iter().zip((0..).map(|n| 0xffff_u16.wrapping_add(n))).collect();
    assert_eq!(found, expected);
}

/// DPDK `drivers/common/mlx5/mlx5_prm.h`, `struct mlx5_mini_cqe8` and `MLX5_CQE_RESP_FORMAT_*`;
/// `drivers/net/mlx5/mlx5_rx.c`, `rxq_cq_to_mbuf`; `MLX5_LEN_WITH_MARK_MASK` of `mlx5_defs.h`: each format, one
/// mini-CQE of known bytes.
#[test]
fn formats_as_dpdk_reads_them() {
    fn second<F: MiniFormat>() -> (u32, Option<u32>, u16, u8, u32, u16) {
        let mut device = Device::new(4, 64, 0);
        // SAFETY: the test writes completions of this format.
        let mut cq = unsafe { device.queue::<blueflame::cq::mode::Standard>().compressed::<F, BASIC>() };
        device.cqe(0).fill(0);
        device.cqe(0)[16] = 0x44;
        device.cqe(0)[29] = 0x14;
        device.cqe(0)[47] = 2;
        device.cqe(0)[57..61].copy_from_slice(&[9, 9, 9, 0]);
        device.cqe(0)[61..].copy_from_slice(&[0x40, 0, 0x2c]);
        device.cqe(1)[8..16].copy_from_slice(&[0x11, 0x28, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88]);
        assert!(cq.poll().is_some());
        let cqe = cq.poll().expect("the second");
        let hash = cqe.rx_hash().map(|hash| hash.value);
        (cqe.byte_len(), hash, cqe.packet_sum(), headers_of(&cqe), cqe.flow_tag(), cqe.wqe_counter())
    }
    assert_eq!(second::<Hash>(), (0x5566_7788, Some(0x1128_3344), 0, 0x14, 0x09_0909, 0x41));
    assert_eq!(second::<Checksum>(), (0x5566_7788, None, 0x1128, 0x14, 0x09_0909, 0x41));
    assert_eq!(second::<FlowTag>(), (0x66_7788, None, 0, 0x14, 0x55_1128, 0x3344));
    assert_eq!(second::<ChecksumStride>(), (0x5566_7788, None, 0x1128, 0x14, 0x09_0909, 0x3344));
    // The byte of the headers, 0x11: TCP, no header of layer 3, a VLAN tag.
    assert_eq!(second::<Headers>(), (0x5566_7788, None, 0, 0x10, 0x09_0909, 0x3344));
}

/// Two mini-CQEs of the headers' format as bytes: header byte, reserved byte, index of the stride, number of bytes.
/// DPDK has the header byte first in `drivers/net/mlx5/mlx5_rxtx_vec_sse.h`, `rxq_cq_decompress_v` (bytes 0 and 8 of a
/// pair of mini-CQEs), and in `struct mlx5_mini_cqe8` since its commit 5654f38eba8, which says that the two bytes were
/// swapped before.
#[test]
fn the_first_byte_has_the_headers() {
    let mut device = Device::new(4, 64, 0);
    // SAFETY: the test writes completions of this format.
    let mut cq = unsafe { device.queue::<blueflame::cq::mode::Standard>().compressed::<Headers, BASIC>() };
    device.cqe(0).fill(0);
    device.cqe(0)[47] = 2;
    device.cqe(0)[61..].copy_from_slice(&[0x40, 0, 0x2c]);
    device.cqe(1)[..16].copy_from_slice(&[
        0x29, 0x14, 0x00, 0x07, 0x00, 0x00, 0x00, 0x40, // UDP by IPv4, a VLAN tag; stride 7; 64 bytes
        0x14, 0x29, 0x00, 0x08, 0x00, 0x00, 0x05, 0xee, // TCP by IPv6, no tag; stride 8; 1,518 bytes
    ]);
    let mut next = || {
        let cqe = cq.poll().expect("a completion");
        (headers_of(&cqe), cqe.vlan().is_some(), cqe.wqe_counter(), cqe.byte_len())
    };
    assert_eq!(next(), (0x28, true, 7, 64));
    assert_eq!(next(), (0x14, false, 8, 1518));
}
