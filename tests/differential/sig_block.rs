//! libmlx5's side of block signatures: its C structures, its form of a block format, and its keys.

use std::ffi::c_void;
use std::ptr::NonNull;

use blueflame::Lkey;
use blueflame::wqe::Sge;
use blueflame::wqe::formats::{BlockSignatureKind, BlockSize, Crc, CrcKind, Escape, Guard, Seed, SignedBlocks, T10Dif};
use blueflame_sys as sys;

use crate::verbs::Fabric;

/// `struct mlx5dv_sig_t10dif`.
#[repr(C)]
struct SigT10Dif {
    bg_type: u32,
    bg: u16,
    app_tag: u16,
    ref_tag: u32,
    flags: u16,
}

/// `struct mlx5dv_sig_crc`.
#[repr(C)]
struct SigCrc {
    kind: u32,
    seed: u64,
}

/// `struct mlx5dv_sig_block_domain`.
#[repr(C)]
pub(crate) struct SigBlockDomain {
    sig_type: u32,
    sig: *const c_void,
    block_size: u32,
    comp_mask: u64,
}

/// `struct mlx5dv_sig_block_attr`.
#[repr(C)]
pub(crate) struct SigBlockAttr {
    pub(crate) mem: *const SigBlockDomain,
    pub(crate) wire: *const SigBlockDomain,
    pub(crate) flags: u32,
    pub(crate) check_mask: u8,
    pub(crate) copy_mask: u8,
    pub(crate) comp_mask: u64,
}

/// `struct mlx5dv_mkey_err`.
#[repr(C)]
#[derive(Default)]
pub(crate) struct MkeyErr {
    pub(crate) err_type: u32,
    pub(crate) actual_value: u64,
    pub(crate) expected_value: u64,
    pub(crate) offset: u64,
}

#[link(name = "mlx5")]
unsafe extern "C" {
    fn _mlx5dv_mkey_check(key: *mut sys::mlx5dv_mkey, error: *mut MkeyErr, size: usize) -> i32;
}

/// A domain as libmlx5 takes it.
pub(crate) struct Domain {
    _dif: Box<SigT10Dif>,
    _crc: Box<SigCrc>,
    pub(crate) domain: SigBlockDomain,
}

impl Domain {
    pub(crate) fn new(blocks: &SignedBlocks) -> Self {
        let ones = |seed: Seed| seed == Seed::Ones;
        let (mut dif, mut crc) = (
            Box::new(SigT10Dif { bg_type: 0, bg: 0, app_tag: 0, ref_tag: 0, flags: 0 }),
            Box::new(SigCrc { kind: 0, seed: 0 }),
        );
        let (sig_type, sig): (u32, *const c_void) = match blocks.signature {
            BlockSignatureKind::T10Dif(T10Dif { guard, seed, app_tag, ref_tag, increment, escape }) => {
                let escape = match escape {
                    Escape::Never => 0,
                    Escape::AppTag => 2,
                    Escape::AppAndRefTag => 4,
                };
                *dif = SigT10Dif {
                    bg_type: u32::from(guard == Guard::IpChecksum),
                    bg: if ones(seed) { 0xffff } else { 0 },
                    app_tag,
                    ref_tag,
                    flags: u16::from(increment) | escape,
                };
                (0, (&raw const *dif).cast())
            }
            BlockSignatureKind::Crc(Crc { kind, seed }) => {
                let (kind, all) = match kind {
                    CrcKind::Crc32 => (0, u32::MAX.into()),
                    CrcKind::Crc32c => (1, u32::MAX.into()),
                    CrcKind::Crc64Xp10 => (2, u64::MAX),
                };
                *crc = SigCrc { kind, seed: if ones(seed) { all } else { 0 } };
                (1, (&raw const *crc).cast())
            }
        };
        let block_size = BlockSize::ALL.iter().position(|&size| size == blocks.size).expect("one of them") as u32;
        Self { _dif: dif, _crc: crc, domain: SigBlockDomain { sig_type, sig, block_size, comp_mask: 0 } }
    }
}

/// A key of libmlx5's with signatures.
pub(crate) struct SignedKey {
    raw: NonNull<sys::mlx5dv_mkey>,
    pub(crate) key: u32,
}

impl SignedKey {
    pub(crate) fn new(fabric: &Fabric, entries: u16) -> Self {
        Self::with(fabric, entries, 0)
    }

    /// One that encrypts, too.
    pub(crate) fn encrypting(fabric: &Fabric, entries: u16) -> Self {
        Self::with(fabric, entries, sys::MLX5DV_MKEY_INIT_ATTR_FLAGS_CRYPTO)
    }

    fn with(fabric: &Fabric, entries: u16, flags: u32) -> Self {
        const BLOCK_SIGNATURE: u32 = 1 << 1;
        let mut attr = sys::mlx5dv_mkey_init_attr {
            pd: fabric.pd.as_raw(),
            create_flags: sys::MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT | BLOCK_SIGNATURE | flags,
            max_entries: entries,
        };
        // SAFETY: the domain is alive; the attributes live until the call returns.
        let raw = NonNull::new(unsafe { sys::mlx5dv_create_mkey(&raw mut attr) }).expect("a key with signatures");
        // SAFETY: a new key.
        let key = unsafe { (*raw.as_ptr()).lkey };
        Self { raw, key }
    }

    /// libmlx5's record of the latest error.
    pub(crate) fn check(&self) -> MkeyErr {
        let mut error = MkeyErr::default();
        // SAFETY: the key is alive, and has signatures; the error has room.
        assert_eq!(unsafe { _mlx5dv_mkey_check(self.raw.as_ptr(), &raw mut error, size_of::<MkeyErr>()) }, 0);
        error
    }

    pub(crate) fn as_raw(&self) -> *mut sys::mlx5dv_mkey {
        self.raw.as_ptr()
    }

    pub(crate) fn sge(&self, length: usize) -> Sge {
        Sge { addr: 0, length: length as u32, lkey: Lkey(self.key) }
    }
}

impl Drop for SignedKey {
    fn drop(&mut self) {
        // SAFETY: made in `new`, destroyed once.
        assert_eq!(unsafe { sys::mlx5dv_destroy_mkey(self.raw.as_ptr()) }, 0);
    }
}
