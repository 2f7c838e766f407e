//! The way back from a fuzz target's input to the bytes that `arbitrary` makes it of: seeds are written as values.

/// A value that knows bytes from which [`arbitrary::Arbitrary`] makes it.
///
/// Numbers are little endian. Each item of a list follows a byte 1, and a byte 0 ends the list. An enum begins with 32
/// bits; `arbitrary` takes their fraction of 2^32 for the variant's place. A test reads every seed back, so a version
/// of `arbitrary` that does it differently is noticed.
pub trait Encode {
    /// Appends the bytes.
    fn encode(&self, out: &mut Vec<u8>);
}

macro_rules! encode_numbers {
    ($($number:ty)*) => {
        $(impl Encode for $number {
            fn encode(&self, out: &mut Vec<u8>) {
                out.extend(self.to_le_bytes());
            }
        })*
    };
}
encode_numbers!(u8 u16 u32 u64);

impl Encode for bool {
    fn encode(&self, out: &mut Vec<u8>) {
        out.push((*self).into());
    }
}

impl<T: Encode> Encode for Vec<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        for item in self {
            true.encode(out);
            item.encode(out);
        }
        false.encode(out);
    }
}

impl<const N: usize> Encode for [u8; N] {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self);
    }
}

/// The first 32 bits of variant `place` of `count`.
pub fn variant(place: u32, count: u32) -> u32 {
    ((u64::from(place) << 32).div_ceil(u64::from(count))) as u32
}

/// Defines a struct that `arbitrary` makes of bytes, and that knows those bytes.
macro_rules! input_struct {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $ty:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, arbitrary::Arbitrary)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $ty,)*
        }

        impl $crate::encode::Encode for $name {
            fn encode(&self, out: &mut Vec<u8>) {
                $(self.$field.encode(out);)*
            }
        }
    };
}

/// Defines an enum in the same way.
macro_rules! input_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident { $($field:ident: $ty:ty),* },)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, arbitrary::Arbitrary)]
        pub enum $name {
            $($(#[$variant_doc])* $variant {
                $(#[doc = stringify!($field)] $field: $ty,)*
            },)*
        }

        impl $crate::encode::Encode for $name {
            fn encode(&self, out: &mut Vec<u8>) {
                const NAMES: &[&str] = &[$(stringify!($variant)),*];
                let variant = |name: &str| {
                    let place = NAMES.iter().position(|n| *n == name).unwrap_or(0);
                    $crate::encode::variant(place as u32, NAMES.len() as u32)
                };
                match self {
                    $(Self::$variant { $($field),* } => {
                        variant(stringify!($variant)).encode(out);
                        $($field.encode(out);)*
                    })*
                }
            }
        }
    };
}
