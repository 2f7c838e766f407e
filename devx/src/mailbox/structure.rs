//! Structures of mailboxes as types: bytes with named fields.

use super::{Description, Value};

/// A structure of a mailbox: bytes as the device reads and writes them.
///
/// # Safety
/// The type is `BYTES` bytes with alignment of 4 at most, any of which may have any value, and `DESCRIPTION` has passed
/// its checks.
pub unsafe trait Structure: Clone + Sized {
    /// Its size in bytes, without the list that may follow.
    const BYTES: usize;
    /// Its fields, as data.
    const DESCRIPTION: &'static Description;

    /// The structure before any field is set: all zero.
    fn zeroed() -> Self;

    /// The bytes.
    fn as_bytes(&self) -> &[u8];

    /// The bytes, mutable.
    fn as_bytes_mut(&mut self) -> &mut [u8];

    /// A copy of the structure at the beginning of `bytes`; missing bytes are zero.
    #[must_use]
    fn copied(bytes: &[u8]) -> Self {
        let mut copy = Self::zeroed();
        let len = bytes.len().min(Self::BYTES);
        copy.as_bytes_mut()[..len].copy_from_slice(&bytes[..len]);
        copy
    }
}

/// The bits of a field's value.
///
/// # Panics
/// If the value has more bits than the field: truncation would silently change a computed number.
#[inline]
#[track_caller]
pub(crate) fn fitting<T: Value>(name: &str, width: usize, value: T) -> u64 {
    let bits = value.into_bits();
    assert!(bits >> (width - 1) <= 1, "{name} is {bits:#x}, but the field has {width} bits");
    bits
}

/// The structure that lies at byte `at` of another.
///
/// # Safety
/// It is inside of `bytes`, and `at` is a multiple of 4 past an address that is one.
#[inline]
pub(crate) unsafe fn part<T: Structure>(bytes: &[u8], at: usize) -> &T {
    debug_assert!(at + T::BYTES <= bytes.len());
    // SAFETY: the caller promises that the structure is inside of `bytes`, and aligned; any bytes are a `T`.
    unsafe { &*bytes.as_ptr().add(at).cast() }
}

/// As [`part`], mutable.
///
/// # Safety
/// As there.
#[inline]
pub(crate) unsafe fn part_mut<T: Structure>(bytes: &mut [u8], at: usize) -> &mut T {
    debug_assert!(at + T::BYTES <= bytes.len());
    // SAFETY: the caller promises that the structure is inside of `bytes`, and aligned; any bytes are a `T`.
    unsafe { &mut *bytes.as_mut_ptr().add(at).cast() }
}

/// Declares structures, each by one description: its name in `mlx5_ifc.h`, its size in bits, and its fields with first
/// bit, width, and type. Each field gets a getter, and a setter with the prefix `set_`. `parts` are nested structures,
/// `arrays` are several structures in a row, `bytes` are not numbers.
///
/// Setters panic if a value has more bits than the field.
macro_rules! structures {
    ($(
        $(#[$doc:meta])*
        pub struct $Name:ident: $name:literal, $bits:literal {
            $($field:ident: $at:literal, $width:literal, $ty:ty;)*
        }
        $(bytes { $($inside:ident: $bytes_at:literal, $len:literal;)* })?
        $(parts { $($part:ident: $part_at:literal, $Inner:ident;)* })?
        $(arrays { $($array:ident: $array_at:literal, $many:literal, $Each:ident;)* })?
    )*) => {$(
        $(#[$doc])*
        #[doc = ""]
        #[doc = concat!("`", $name, "`, ", stringify!($bits), " bits.")]
        #[doc(alias = $name)]
        #[derive(Clone, PartialEq, Eq)]
        #[repr(C, align(4))]
        pub struct $Name([u8; $bits / 8]);

        const _: () = <$Name as $crate::mailbox::Structure>::DESCRIPTION.check();

        // SAFETY: an array of bytes, aligned to 4; the description is checked above.
        unsafe impl $crate::mailbox::Structure for $Name {
            const BYTES: usize = $bits / 8;
            const DESCRIPTION: &'static $crate::mailbox::Description = &$crate::mailbox::Description {
                name: $name,
                bits: $bits,
                fields: &[$($crate::mailbox::Field {
                    name: stringify!($field),
                    at: $at,
                    width: $width,
                    show: |bits, f| core::fmt::Debug::fmt(&<$ty as $crate::mailbox::Value>::from_bits(bits), f),
                }),*],
                bytes: &[$($($crate::mailbox::Bytes { name: stringify!($inside), at: $bytes_at, len: $len }),*)?],
                parts: &[
                    $($($crate::mailbox::Part {
                        name: stringify!($part),
                        at: $part_at,
                        many: 1,
                        inner: <$Inner as $crate::mailbox::Structure>::DESCRIPTION,
                    },)*)?
                    $($($crate::mailbox::Part {
                        name: stringify!($array),
                        at: $array_at,
                        many: $many,
                        inner: <$Each as $crate::mailbox::Structure>::DESCRIPTION,
                    },)*)?
                ],
            };

            fn zeroed() -> Self {
                Self([0; $bits / 8])
            }

            fn as_bytes(&self) -> &[u8] {
                &self.0
            }

            fn as_bytes_mut(&mut self) -> &mut [u8] {
                &mut self.0
            }
        }

        impl core::fmt::Debug for $Name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                <Self as $crate::mailbox::Structure>::DESCRIPTION.show(&self.0, f)
            }
        }

        ::pastey::paste! {
            #[allow(clippy::len_without_is_empty, reason = "fields have the names of mlx5_ifc.h")]
            impl $Name {
                $(
                    #[doc = concat!("Bits ", stringify!($at), " and on, ", stringify!($width), " of them.")]
                    #[inline]
                    #[must_use]
                    pub fn $field(&self) -> $ty {
                        const { assert!($width <= <$ty as $crate::mailbox::Value>::BITS, "the type is too narrow") };
                        <$ty as $crate::mailbox::Value>::from_bits($crate::mailbox::bits::get(&self.0, $at, $width))
                    }

                    #[doc = concat!("Sets [`", stringify!($field), "`](Self::", stringify!($field), ").")]
                    #[inline]
                    #[track_caller]
                    pub fn [<set_ $field>](&mut self, value: $ty) -> &mut Self {
                        let bits = $crate::mailbox::fitting(stringify!($field), $width, value);
                        $crate::mailbox::bits::set(&mut self.0, $at, $width, bits);
                        self
                    }
                )*
                $($(
                    #[doc = concat!("Bits ", stringify!($bytes_at), " and on, ", stringify!($len), " bytes.")]
                    #[inline]
                    #[must_use]
                    pub fn $inside(&self) -> &[u8; $len] {
                        self.0[$bytes_at / 8..].first_chunk().expect("checked when compiled")
                    }

                    #[doc = concat!("[`", stringify!($inside), "`](Self::", stringify!($inside), "), to be changed.")]
                    #[inline]
                    pub fn [<$inside _mut>](&mut self) -> &mut [u8; $len] {
                        self.0[$bytes_at / 8..].first_chunk_mut().expect("checked when compiled")
                    }
                )*)?
                $($(
                    #[doc = concat!("Bits ", stringify!($part_at), " and on.")]
                    #[inline]
                    #[must_use]
                    pub fn $part(&self) -> &$Inner {
                        const { assert!($part_at % 32 == 0, "a part begins at a word") };
                        // SAFETY: inside, as the checks of the description say; words of an aligned structure.
                        unsafe { $crate::mailbox::part(&self.0, $part_at / 8) }
                    }

                    #[doc = concat!("[`", stringify!($part), "`](Self::", stringify!($part), "), to be changed.")]
                    #[inline]
                    pub fn [<$part _mut>](&mut self) -> &mut $Inner {
                        // SAFETY: inside, as the checks of the description say; words of an aligned structure.
                        unsafe { $crate::mailbox::part_mut(&mut self.0, $part_at / 8) }
                    }
                )*)?
                $($(
                    #[doc = concat!("Bits ", stringify!($array_at), " and on; `n` below ", stringify!($many), ", else `None`.")]
                    #[inline]
                    #[must_use]
                    pub fn $array(&self, n: usize) -> Option<&$Each> {
                        const { assert!($array_at % 32 == 0, "a part begins at a word") };
                        let bytes = <$Each as $crate::mailbox::Structure>::BYTES;
                        // SAFETY: inside, as the checks of the description say; words of an aligned structure.
                        (n < $many).then(|| unsafe { $crate::mailbox::part(&self.0, $array_at / 8 + n * bytes) })
                    }

                    #[doc = concat!("[`", stringify!($array), "`](Self::", stringify!($array), "), to be changed.")]
                    #[inline]
                    pub fn [<$array _mut>](&mut self, n: usize) -> Option<&mut $Each> {
                        let bytes = <$Each as $crate::mailbox::Structure>::BYTES;
                        // SAFETY: inside, as the checks of the description say; words of an aligned structure.
                        (n < $many).then(|| unsafe { $crate::mailbox::part_mut(&mut self.0, $array_at / 8 + n * bytes) })
                    }
                )*)?
            }
        }
    )*

        /// All structures that this crate describes.
        pub const STRUCTURES: &[&$crate::mailbox::Description] =
            &[$(<$Name as $crate::mailbox::Structure>::DESCRIPTION),*];
    };
}
pub(crate) use structures;
