//! Structures of device memory. One table states each field with its offset, and the compiler checks it.

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
