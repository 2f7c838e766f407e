//! libmlx5's side of encryption: its structures of C, and keys.

use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};

use blueflame::types::Dek;
use blueflame::verbs::Error;
use blueflame::wqe::formats::{BlockSize, DataUnits, EncryptedSide, Encryption, SignatureOrder};
use blueflame_sys as sys;

use crate::verbs::Fabric;

pub(crate) const TAG: [u8; 8] = *b"the tag.";

/// `struct mlx5dv_dek_init_attr`.
#[repr(C)]
struct DekInitAttr {
    key_size: u32,
    has_keytag: bool,
    key_purpose: u32,
    pd: *mut sys::ibv_pd,
    opaque: [u8; 8],
    key: [u8; 128],
    comp_mask: u64,
    crypto_login: *mut c_void,
}

/// `struct mlx5dv_crypto_attr`.
#[repr(C)]
pub(crate) struct CryptoAttr {
    standard: u32,
    encrypt_on_tx: bool,
    order: u32,
    data_unit_size: u32,
    initial_tweak: [u8; 16],
    dek: *mut c_void,
    keytag: [u8; 8],
    comp_mask: u64,
}

impl CryptoAttr {
    /// `encryption` by this key, in libmlx5's structure.
    pub(crate) fn new(encryption: &Encryption, dek: &OwnedDek) -> Self {
        Self {
            standard: 0,
            encrypt_on_tx: encryption.side == EncryptedSide::Wire,
            order: u32::from(encryption.order == SignatureOrder::BeforeCrypto),
            data_unit_size: BlockSize::ALL.iter().position(|&size| size == encryption.unit).expect("one of them")
                as u32,
            initial_tweak: encryption.first_unit.to_le_bytes(),
            dek: dek.0.as_ptr(),
            keytag: encryption.keytag,
            comp_mask: 0,
        }
    }
}

#[link(name = "mlx5")]
unsafe extern "C" {
    fn mlx5dv_dek_create(context: *mut sys::ibv_context, attr: *mut DekInitAttr) -> *mut c_void;
    fn mlx5dv_dek_destroy(dek: *mut c_void) -> i32;
}

/// A key of encryption of libmlx5's.
pub(crate) struct OwnedDek(NonNull<c_void>);

impl OwnedDek {
    /// Of every length, with tags and without.
    pub(crate) fn all(fabric: &Fabric) -> Vec<Self> {
        (0..4).map(|n| Self::new(fabric, n & 1 != 0, n & 2 != 0)).collect()
    }

    /// AES-256 or AES-128, with a tag or without.
    fn new(fabric: &Fabric, long: bool, tagged: bool) -> Self {
        let mut key = [0; 128];
        let bytes = if long { 64 } else { 32 };
        key[..bytes].copy_from_slice(&std::array::from_fn::<u8, 64, _>(|n| (n * 7) as u8)[..bytes]);
        if tagged {
            key[bytes..bytes + TAG.len()].copy_from_slice(&TAG);
        }
        let mut attr = DekInitAttr {
            key_size: long.into(),
            has_keytag: tagged,
            key_purpose: 0,
            pd: fabric.pd.as_raw(),
            opaque: [0; 8],
            key,
            // Said to have no login: in plain text.
            comp_mask: 1,
            crypto_login: null_mut(),
        };
        // SAFETY: the domain and its context are alive; the attributes live until the call returns.
        let dek = unsafe { mlx5dv_dek_create((*attr.pd).context, &raw mut attr) };
        Self(NonNull::new(dek).expect("a key of encryption"))
    }
}

impl Drop for OwnedDek {
    fn drop(&mut self) {
        // SAFETY: made in `new`, destroyed once.
        assert_eq!(unsafe { mlx5dv_dek_destroy(self.0.as_ptr()) }, 0);
    }
}

/// The data units that the device encrypts with one key; `None` if it does not encrypt, which `test` needs.
pub(crate) fn units(fabric: &Fabric, test: &str) -> Option<DataUnits> {
    let units = fabric.device.attr().encryption;
    if units.is_none() {
        let key = fabric.pd.encrypting_key(1).map(drop);
        assert_eq!(key, Err(Error::Unsupported { what: "memory keys that encrypt" }));
        eprintln!("{test} needs a device that encrypts: softhca-run --generation connectx7");
    }
    units
}

/// The encryption of the request from which a test learns the numbers of libmlx5's objects.
pub(crate) const fn learnt(units: DataUnits) -> Encryption {
    Encryption {
        dek: Dek::truncate(0),
        keytag: TAG,
        side: EncryptedSide::Wire,
        unit: BlockSize::B512,
        first_unit: 0,
        units,
        order: SignatureOrder::BeforeCrypto,
    }
}
