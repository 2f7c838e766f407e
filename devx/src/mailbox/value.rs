//! Rust types of the numbers in mailboxes: flags, numbers, identifiers, and named values.

use blueflame::types::{Cqn, Psn, Qpn, Srqn};
use blueflame::{Lkey, Rkey};

/// A type that a field of a mailbox can have. Every pattern of bits is a value: this crate refuses no number from the
/// device.
pub trait Value: Copy + core::fmt::Debug {
    /// The most bits a value has.
    const BITS: usize;

    /// The value of a field's bits. Bits above [`Self::BITS`] are 0.
    fn from_bits(bits: u64) -> Self;

    /// The bits of the value.
    fn into_bits(self) -> u64;
}

impl Value for bool {
    const BITS: usize = 1;

    #[inline]
    fn from_bits(bits: u64) -> Self {
        bits & 1 != 0
    }

    #[inline]
    fn into_bits(self) -> u64 {
        self.into()
    }
}

macro_rules! numbers {
    ($($ty:ty),*) => {$(
        impl Value for $ty {
            const BITS: usize = <$ty>::BITS as usize;

            #[inline]
            fn from_bits(bits: u64) -> Self {
                bits as Self
            }

            #[inline]
            fn into_bits(self) -> u64 {
                self.into()
            }
        }
    )*};
}
numbers!(u8, u16, u32, u64);

macro_rules! numbers_of_24_bits {
    ($($ty:ty),*) => {$(
        impl Value for $ty {
            const BITS: usize = 24;

            #[inline]
            fn from_bits(bits: u64) -> Self {
                Self::truncate(bits as u32)
            }

            #[inline]
            fn into_bits(self) -> u64 {
                self.get().into()
            }
        }
    )*};
}
numbers_of_24_bits!(Qpn, Cqn, Srqn, Psn);

macro_rules! keys {
    ($($ty:ident),*) => {$(
        impl Value for $ty {
            const BITS: usize = 32;

            #[inline]
            fn from_bits(bits: u64) -> Self {
                Self(bits as u32)
            }

            #[inline]
            fn into_bits(self) -> u64 {
                self.0.into()
            }
        }
    )*};
}
keys!(Lkey, Rkey);

/// Declares a type of named values: a number with constants, because a device may know more values than this crate.
/// `Debug` prints the name, or the number.
macro_rules! names {
    ($(
        $(#[$doc:meta])*
        $vis:vis struct $Name:ident($number:ident) {
            $($(#[$value_doc:meta])* $value:ident = $bits:literal,)*
        }
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
        $vis struct $Name(pub $number);

        impl $Name {
            $($(#[$value_doc])* #[doc = concat!("`", stringify!($bits), "`")] pub const $value: Self = Self($bits);)*

            /// The value's name, if this crate knows it.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($bits => Some(stringify!($value)),)*
                    _ => None,
                }
            }
        }

        impl core::fmt::Debug for $Name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self.name() {
                    Some(name) => f.write_str(name),
                    None => write!(f, "{:#x}", self.0),
                }
            }
        }

        impl $crate::mailbox::Value for $Name {
            const BITS: usize = $number::BITS as usize;

            #[inline]
            fn from_bits(bits: u64) -> Self {
                Self(bits as $number)
            }

            #[inline]
            fn into_bits(self) -> u64 {
                self.0.into()
            }
        }
    )*};
}
pub(crate) use names;

/// Declares an identifier that the device gives out: a number of `$bits` bits.
macro_rules! identifiers {
    ($($(#[$doc:meta])* $vis:vis struct $Name:ident: $bits:literal bits;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
        $vis struct $Name(u32);

        impl $Name {
            /// The identifier with this number; `None` if it has more bits than identifiers of the kind have.
            #[must_use]
            pub const fn new(number: u32) -> Option<Self> {
                if $bits == 32 || number >> ($bits % 32) == 0 { Some(Self(number)) } else { None }
            }

            /// The number.
            #[must_use]
            pub const fn get(self) -> u32 {
                self.0
            }
        }

        impl core::fmt::Debug for $Name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, "{:#x}", self.0)
            }
        }

        impl $crate::mailbox::Value for $Name {
            const BITS: usize = $bits;

            #[inline]
            fn from_bits(bits: u64) -> Self {
                Self(bits as u32 & (u32::MAX >> (32 - $bits)))
            }

            #[inline]
            fn into_bits(self) -> u64 {
                self.0.into()
            }
        }
    )*};
}
pub(crate) use identifiers;
