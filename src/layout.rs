//! Structures of device memory, and their big-endian integers. One table states each field with its offset, and the
//! compiler checks it.

/// Defines structures of device memory: `struct Name[size in bytes]`, and in front of each field its offset in bytes.
///
/// A structure whose size is another, or whose field is elsewhere, does not compile. A field without an offset is a
/// syntax error.
macro_rules! layout {
    ($(
        $(#[$attribute:meta])*
        $visible:vis struct $name:ident[$size:expr] {
            $($(#[$of_field:meta])* $at:literal => $field_visible:vis $field:ident: $type:ty,)*
        }
    )*) => {$(
        $(#[$attribute])*
        $visible struct $name {
            $($(#[$of_field])* $field_visible $field: $type,)*
        }

        static_assertions::const_assert_eq!(core::mem::size_of::<$name>(), $size);
        $(static_assertions::const_assert_eq!(core::mem::offset_of!($name, $field), $at);)*
    )*};
}

/// Defines a big-endian integer as the device reads it from memory.
macro_rules! big_endian {
    ($(#[$doc:meta])* $name:ident, $int:ty) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[repr(transparent)]
        pub struct $name($int);

        impl $name {
            /// Stores `value`, given in the CPU's order.
            #[inline]
            #[must_use]
            pub const fn new(value: $int) -> Self {
                Self(value.to_be())
            }

            /// The value in the CPU's order.
            #[inline]
            #[must_use]
            pub const fn get(self) -> $int {
                <$int>::from_be(self.0)
            }

            /// The bits as they lie in memory, as an integer in the CPU's order.
            #[inline]
            #[must_use]
            pub const fn to_bits(self) -> $int {
                self.0
            }

            /// The bits set in either value.
            #[inline]
            #[must_use]
            pub const fn or(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }
    };
}

big_endian! {
    /// A 16-bit integer in the device's byte order (`__be16`).
    Be16, u16
}
big_endian! {
    /// A 32-bit integer in the device's byte order (`__be32`).
    Be32, u32
}
big_endian! {
    /// A 64-bit integer in the device's byte order (`__be64`).
    Be64, u64
}
big_endian! {
    /// A 128-bit integer in the device's byte order: its high half first.
    Be128, u128
}
