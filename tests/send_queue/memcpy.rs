//! Copies of memory as literal bytes, in memory filled with 0xa5: the layout of DPDK's driver for compression
//! (`drivers/common/mlx5/mlx5_prm.h`, `struct mlx5_gga_wqe`, `MLX5_OPCODE_MMO`, `MLX5_OPC_MOD_MMO_DMA`;
//! `drivers/compress/mlx5/mlx5_compress.c`). In the differential tests, libmlx5 writes them.
//!
//! Bytes of copies belong here, the copied memory in `tests/verbs/memcpy.rs`.

use blueflame::transport::{Dci, DciStreams, Rc};
use blueflame::types::{Lkey, WrId};
use blueflame::wqe::limits::MAX_MEMCPY_BYTES;
use blueflame::wqe::operations::Opaque;
use blueflame::wqe::{self, Fence};
use blueflame::{Sge, queue::PostError, wqe::EncodeError};

use crate::golden::check;
use crate::requests::{Ds, LOCAL, ctrl, entry};
use crate::rig::{Rig, Setup};

const OPAQUE: Opaque = Opaque { addr: 0x5152_5354_5556_5740, lkey: Lkey(0x6162_6364), max_bytes: MAX_MEMCPY_BYTES };
const FROM: Sge = Sge { length: 0x0a0b_0c0d, ..LOCAL };
const TO: (u64, Lkey) = (0x3132_3334_3536_3738, Lkey(0x7172_7374));

/// `gga_ctrl2`, `opaque_lkey`, `opaque_vaddr`.
const METADATA: [u8; 16] = [0, 0, 0, 0, 0x61, 0x62, 0x63, 0x64, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x40];

/// `gather` and `scatter`.
const fn segments(bytes: u32) -> [Ds; 2] {
    let [a, b, c, d] = bytes.to_be_bytes();
    [
        entry(Sge { length: bytes, ..FROM }),
        [a, b, c, d, 0x71, 0x72, 0x73, 0x74, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38],
    ]
}

#[test]
fn a_copy_is_one_wqebb() {
    let [from, to] = segments(FROM.length);
    let request = wqe::memcpy(OPAQUE, FROM, TO.0, TO.1);
    check::<Rc, _, _>(request.signaled(WrId(1)), &[ctrl(1, 0x2f, 4, 8), METADATA, from, to], false);
    let fenced = request.fence(Fence::SmallAndReads);
    check::<Dci, _, _>(fenced, &[ctrl(1, 0x2f, 4, 0x80), METADATA, from, to], false);
    check::<DciStreams, _, _>(fenced.signaled(WrId(1)), &[ctrl(1, 0x2f, 4, 0x88), METADATA, from, to], false);
    // The longest is said by 0.
    let [from, to] = segments(0);
    let longest = wqe::memcpy(OPAQUE, Sge { length: 1 << 31, ..FROM }, TO.0, TO.1);
    check::<Rc, _, _>(longest, &[ctrl(1, 0x2f, 4, 0), METADATA, from, to], false);
}

#[test]
fn nothing_is_written_of_a_copy_that_the_device_does_not_make() {
    let rig = Rig::new(Setup::default());
    let mut sq = rig.queue::<Rc>();
    let before = rig.ring();
    for (bytes, max_bytes, limit) in
        [(0, 1 << 21, 1 << 21), ((1 << 21) + 1, 1 << 21, 1 << 21), ((1 << 31) + 1, u32::MAX, 1 << 31), (1, 0, 0)]
    {
        let opaque = Opaque { max_bytes, ..OPAQUE };
        let request = wqe::memcpy(opaque, Sge { length: bytes, ..FROM }, TO.0, TO.1);
        let refused = Err(PostError::Encode(EncodeError::MemcpySize { bytes, limit }));
        // SAFETY: no device looks.
        assert_eq!(unsafe { sq.post_unchecked(&request) }, refused);
        // SAFETY: no device looks.
        assert_eq!(unsafe { sq.batch().push_unchecked(&request) }, refused);
    }
    assert_eq!(rig.ring(), before);
}
