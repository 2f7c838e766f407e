//! Requests about encryption as literal bytes, in memory filled with 0xa5: rdma-core `providers/mlx5/wqe.h`,
//! `struct mlx5_crypto_bsf`; `qp.c`, `mlx5_umr_fill_crypto_bsf`. In the differential tests, libmlx5 writes any such
//! request.
//!
//! Encryption belongs here, block signatures in `block_signatures.rs`.

use blueflame::PostError;
use blueflame::transport::Rc;
use blueflame::types::{Dek, WrId};
use blueflame::wqe::formats::{BlockSignature, BlockSize, Crc, CrcKind, DataUnits, EncryptedSide, Encryption, Formats};
use blueflame::wqe::formats::{BlockSignatureKind, Seed, SignatureOrder, SignedBlocks};
use blueflame::wqe::keys::KeyRights;
use blueflame::wqe::{self, EncodeError};

use crate::formatted::{DATA, KEY, PSVS, ZERO, before};
use crate::golden::check;
use crate::rig::{Rig, Setup};

const ENCRYPTION: Encryption = Encryption {
    dek: Dek::truncate(0x61_6263),
    keytag: *b"keytag!!",
    side: EncryptedSide::Memory,
    unit: BlockSize::B520,
    first_unit: 0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10,
    units: DataUnits::Many,
    order: SignatureOrder::BeforeCrypto,
};
const CRC: SignedBlocks = SignedBlocks {
    size: BlockSize::B512,
    signature: BlockSignatureKind::Crc(Crc { kind: CrcKind::Crc32c, seed: Seed::Zeros }),
};

#[test]
fn encryption_follows_the_list() {
    let request = wqe::configure_key(KEY, 4).rights(KeyRights::REMOTE_READ).list(&[DATA]);
    let mut wqe = before(16, 4);
    wqe.extend([
        // Of encryption; before signatures, in memory; any length; units of 520.
        [0x81, 3, 0, 0, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 0, 0, 0],
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
        [0, 0x61, 0x62, 0x63, 0, 0, 0, 0, b'k', b'e', b'y', b't', b'a', b'g', b'!', b'!'],
        ZERO,
    ]);
    let formats = Formats::encryption(ENCRYPTION);
    check::<Rc, _, _>(request.formats(&formats).signaled(WrId(1)), &wqe, false);
    // One unit: the number is little endian.
    let one = Encryption { units: DataUnits::One, unit: BlockSize::B4096, side: EncryptedSide::Wire, ..ENCRYPTION };
    wqe[12][1] = 0;
    wqe[12][8] = 3;
    wqe[13].reverse();
    let formats = Formats::encryption(one);
    check::<Rc, _, _>(request.formats(&formats).signaled(WrId(1)), &wqe, false);
}

#[test]
fn encryption_follows_signatures() {
    // Of a key whose list stays.
    let request = wqe::configure_key(KEY, 4).rights(KeyRights::REMOTE_READ);
    let encryption = Encryption { order: SignatureOrder::AfterCrypto, ..ENCRYPTION };
    let formats = Formats::signature(BlockSignature::on_wire(CRC), PSVS).and_encryption(encryption);
    let mut wqe = before(16, 8);
    wqe.truncate(8);
    (wqe[1][5], wqe[1][15], wqe[5][14]) = (0, 0, 0);
    wqe.extend([
        // Of both; all is checked; 512 on the wire, with CRC32C that begins with zeros.
        [0xc0, 0xff, 1, 0, 0xff, 0xff, 0xff, 0xff, 0x43, 1, 2, 3, 0, 0, 0, 0],
        ZERO,
        ZERO,
        ZERO,
        [0xc1, 1, 0, 0, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 0, 0, 0],
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
        [0, 0x61, 0x62, 0x63, 0, 0, 0, 0, b'k', b'e', b'y', b't', b'a', b'g', b'!', b'!'],
        ZERO,
    ]);
    check::<Rc, _, _>(request.formats(&formats).signaled(WrId(1)), &wqe, false);
}

#[test]
fn what_devices_cannot_encrypt_is_refused() {
    let rig = Rig::new(Setup::default());
    let mut sq = rig.queue::<Rc>();
    let list = wqe::configure_key(KEY, 4).list(&[DATA]);
    let one = Encryption { units: DataUnits::One, ..ENCRYPTION };
    // SAFETY: no device looks; nothing is posted; so below.
    let posted = unsafe { sq.post_unchecked(&list.formats(&Formats::encryption(one))) };
    let error = EncodeError::DataUnitTooShort { bytes: 0x1000, limit: 520 };
    assert_eq!(posted, Err(PostError::Encode(error)));
    assert_eq!(error.to_string(), "memory key over 4096 bytes, but it encrypts one data unit of 520");
    let both = Formats::signature(BlockSignature::on_both(CRC, CRC), PSVS);
    for (side, order) in
        [(EncryptedSide::Wire, SignatureOrder::AfterCrypto), (EncryptedSide::Memory, SignatureOrder::BeforeCrypto)]
    {
        let formats = both.and_encryption(Encryption { side, order, ..ENCRYPTION });
        // SAFETY: no device looks; nothing is posted.
        let posted = unsafe { sq.post_unchecked(&list.formats(&formats)) };
        assert_eq!(posted, Err(PostError::Encode(EncodeError::EncryptedSignatures)));
    }
}
