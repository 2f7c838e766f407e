//! Requests about block signatures as literal bytes, in memory filled with 0xa5. In the differential tests, libmlx5
//! writes any such request.
//!
//! Block signatures belong here, WQE signatures in `wqe_signatures.rs`.

use blueflame::PostError;
use blueflame::transport::Rc;
use blueflame::types::WrId;
use blueflame::wqe::Sge;
use blueflame::wqe::formats::{BlockSignature, BlockSize, Crc, CrcKind, DifferentBlocks, Escape, Formats, Guard};
use blueflame::wqe::formats::{BlockSignatureKind, Seed, SignatureBytes, SignedBlocks, T10Dif};
use blueflame::wqe::keys::{KeyRights, Strided};
use blueflame::wqe::limits::MAX_SGE_BYTES;
use blueflame::wqe::{self, EncodeError, Fence};

use crate::formatted::{DATA, KEY, PSVS, ZERO, before};
use crate::golden::check;
use crate::rig::{Rig, Setup};

const DIF: T10Dif = T10Dif {
    guard: Guard::IpChecksum,
    seed: Seed::Ones,
    app_tag: 0x5152,
    ref_tag: 0x6162_6364,
    increment: true,
    escape: Escape::AppAndRefTag,
};
const CRC: SignedBlocks = SignedBlocks {
    size: BlockSize::B4096,
    signature: BlockSignatureKind::Crc(Crc { kind: CrcKind::Crc32c, seed: Seed::Zeros }),
};
const DIFS: SignedBlocks = SignedBlocks { size: BlockSize::B520, signature: BlockSignatureKind::T10Dif(DIF) };

/// rdma-core `providers/mlx5/wqe.h`, `struct mlx5_wqe_set_psv_seg`; `qp.c`, `mlx5_umr_set_psv`.
#[test]
fn a_signature_value_is_set() {
    let wqe = [
        [0, 0x12, 0x34, 0x20, 0xc0, 0xff, 0xee, 2, 0, 0, 0, 0x28, 0, 0, 0, 0],
        [0, 0x0a, 0x0b, 0x0c, 0, 0, 0, 0, 0xff, 0xff, 0x51, 0x52, 0x61, 0x62, 0x63, 0x64],
    ];
    let request = wqe::set_psv(PSVS.memory, DIFS.initial_value()).fence(Fence::Small).signaled(WrId(1));
    check::<Rc, _, _>(request, &wqe, false);
}

/// `wqe.h`, `struct mlx5_bsf`; `qp.c`, `mlx5_umr_fill_sig_bsf`.
#[test]
fn formats_follow_the_list() {
    let signature = BlockSignature::on_both(CRC, DIFS).check(SignatureBytes::GUARD | SignatureBytes(1));
    let request = wqe::configure_key(KEY, 4).rights(KeyRights::REMOTE_READ).signature_errors(3);
    let formats = Formats::signature(signature, PSVS);
    let request = request.list(&[DATA]).formats(&formats).signaled(WrId(1));
    let mut wqe = before(16, 4);
    // The number of errors changes, too, and is odd.
    wqe[1][14] |= 0x02;
    wqe[4][12] |= 0x04;
    wqe.extend([
        // With T10-DIFs; check; 520 on the wire, 4096 in memory; any length; PSVs, memory's with CRC32C that begins
        // with zeros.
        [0x80, 0xc1, 2, 3, 0xff, 0xff, 0xff, 0xff, 0, 1, 2, 3, 0x43, 0x0a, 0x0b, 0x0c],
        ZERO,
        // Valid, begins anew; tags; a checksum that begins with ones; counts, escapes.
        [0xc0, 0, 0x51, 0x52, 0x61, 0x62, 0x63, 0x64, 2, 0x88, 0, 0, 0, 0x42, 0xff, 0xff],
        ZERO,
    ]);
    check::<Rc, _, _>(request, &wqe, false);
}

#[test]
fn what_is_not_of_one_structure_is_not_copied() {
    let all = SignatureBytes::ALL;
    assert_eq!(BlockSignature::on_both(CRC, DIFS).copy(all), Err(DifferentBlocks));
    assert_eq!(BlockSignature::on_wire(CRC).copy(all), Err(DifferentBlocks));
    let larger = SignedBlocks { size: BlockSize::B4160, ..CRC };
    assert_eq!(BlockSignature::on_both(CRC, larger).copy(all), Err(DifferentBlocks));
    assert!(BlockSignature::on_both(CRC, CRC).copy(all).is_ok());
}

#[test]
fn what_formats_cannot_count_is_refused() {
    let rig = Rig::new(Setup::default());
    let mut sq = rig.queue::<Rc>();
    let formats = Formats::signature(BlockSignature::on_wire(CRC), PSVS);
    let long = Sge { length: MAX_SGE_BYTES, ..DATA };
    // SAFETY: no device looks; so below.
    let posted = unsafe { sq.post_unchecked(&wqe::configure_key(KEY, 4).list(&[long; 3]).formats(&formats)) };
    let error = EncodeError::FormattedTooLong { bytes: 3 * u64::from(MAX_SGE_BYTES), limit: u32::MAX };
    assert_eq!(posted, Err(PostError::Encode(error)));
    assert_eq!(error.to_string(), "memory key with formats over 6442450941 bytes, at most 4294967295 are possible");
    // One byte less than 2^32 are possible, as pieces and as strides.
    let last = Sge { length: u32::MAX - 2 * MAX_SGE_BYTES, ..DATA };
    let pieces = [long, long, last];
    let request = wqe::configure_key(KEY, 4).list(&pieces).formats(&formats);
    // SAFETY: no device looks.
    assert_eq!(unsafe { sq.post_unchecked(&request) }, Ok(()));
    let strided = Strided { addr: DATA.addr, bytes: 0x8000, stride: 0x8000, lkey: DATA.lkey };
    let strided = [strided; 2];
    let strides = |count| wqe::configure_key(KEY, 4).interleaved(count, &strided).formats(&formats);
    // SAFETY: no device looks.
    let posted = unsafe { sq.post_unchecked(&strides(0x1_0000)) };
    assert_eq!(posted, Err(EncodeError::FormattedTooLong { bytes: 1 << 32, limit: u32::MAX }.into()));
    // SAFETY: no device looks.
    assert_eq!(unsafe { sq.post_unchecked(&strides(0xffff)) }, Ok(()));
    // With 48 entries there would be 60 DS.
    let list = [Sge { length: 1, ..DATA }; 52];
    let request = wqe::configure_key(KEY, 52).list(&list).formats(&formats);
    // SAFETY: no device looks.
    let posted = unsafe { sq.post_unchecked(&request) };
    assert_eq!(posted, Err(PostError::Encode(EncodeError::WqeTooLong { ds: 64, limit: 63 })));
}
