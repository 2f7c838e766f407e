//! Layouts of mailboxes: which bits of a structure have which name. All numbers are big endian, and bits are counted
//! from the first, the most significant one. The names are those of Linux' `include/linux/mlx5/mlx5_ifc.h`, in
//! capitals.

/// A number in a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// Name, in capitals.
    pub(crate) name: &'static str,
    /// First bit.
    pub(crate) at: usize,
    /// Bits: 1 to 64; or whole bytes, which are no number ([`View::bytes`]).
    pub(crate) width: usize,
}

/// A structure, or several in a row, inside of another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// Name, in capitals.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests compare it with Linux' header"))]
    pub(crate) name: &'static str,
    /// First byte.
    pub(crate) at: usize,
    /// Its layout.
    pub(crate) layout: &'static Layout,
}

/// A structure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// Name in `mlx5_ifc.h`.
    pub(crate) name: &'static str,
    /// Bytes, less the list that may follow.
    pub(crate) bytes: usize,
    /// Numbers.
    pub(crate) fields: &'static [Field],
    /// Structures inside.
    pub(crate) parts: &'static [Part],
    /// Bytes of each element of the list that follows; 0 if none does.
    pub(crate) element: usize,
    /// It is a union, or a register: its reader knows the meaning of its bytes, so none of them counts as reserved.
    pub(crate) opaque: bool,
}

impl Layout {
    /// The first byte at which `bytes` has bits that have no name: those are reserved, and must be 0.
    pub(crate) fn reserved_byte_set(&self, bytes: &[u8]) -> Option<usize> {
        let mut rest = bytes[..self.bytes.min(bytes.len())].to_vec();
        self.clear_named(&mut rest);
        rest.iter().position(|&byte| byte != 0)
    }

    /// Clears all bits that have a name.
    pub(crate) fn clear_named(&self, bytes: &mut [u8]) {
        if self.opaque {
            bytes.fill(0);
        }
        for field in self.fields {
            let end = field.at + field.width;
            for (at, byte) in bytes.iter_mut().enumerate().take(end.div_ceil(8)).skip(field.at / 8) {
                let (first, after) = (field.at.max(at * 8) % 8, end.min(at * 8 + 8) - at * 8);
                *byte &= !(0xff >> first & 0xff << (8 - after)) as u8;
            }
        }
        for part in self.parts {
            if let Some(inner) = bytes.get_mut(part.at..) {
                let len = inner.len().min(part.layout.bytes);
                part.layout.clear_named(&mut inner[..len]);
            }
        }
    }
}

/// Describes structures: for each a module of its name, in which each field and part is a constant, and `LAYOUT` is all
/// of it. Offsets are in bits, as in `mlx5_ifc.h`; the size is in bytes. Fields that leave the structure, overlap, or
/// have more than 64 bits and are not whole bytes, do not compile.
///
/// A mailbox begins with the fields of its kind: of a `command` with its user, of a `query` without, or of the `answer`
/// to a command. It has 16 bytes unless it says otherwise.
///
/// ```text
/// layout! {
///     /// CQ context.
///     struct cqc: 0x40 bytes { STATUS: 0x0, 4; } parts { INNER: 0x80, other_structure; }
///     struct create_cq_in: command 0x110 bytes {} parts { CQ_CONTEXT: 0x80, cqc; } list of 8 bytes
///     struct create_cq_out: answer { CQN: 0x48, 24; }
/// }
/// ```
///
/// `0x40 bytes opaque {` begins a structure whose bytes may be anything.
macro_rules! layout {
    ($(
        $(#[$doc:meta])*
        struct $name:ident: $($kind:ident)? $($bytes:literal bytes $($opaque:ident)?)? { $($fields:tt)* }
        $(parts { $($part:ident: $part_at:literal, $inner:ident;)* })?
        $(list of $element:literal bytes)?
    )*) => {$(
        $crate::firmware::layout::structure! {
            [$($kind)?] [$($bytes $(opaque $opaque)?)?]
            $(#[$doc])* $name { $($fields)* } [$($($part: $part_at, $inner;)*)?] [$($element)?]
        }
    )*};
}
pub(crate) use layout;

/// One of [`layout`].
macro_rules! structure {
    ([$($kind:ident)?] [] $($rest:tt)*) => {
        $crate::firmware::layout::structure! { [$($kind)?] [0x10] $($rest)* }
    };
    ([command] $size:tt $(#[$doc:meta])* $name:ident { $($fields:tt)* } $($rest:tt)*) => {
        $crate::firmware::layout::structure! {
            [] $size $(#[$doc])* $name { OPCODE: 0x0, 16; UID: 0x10, 16; OP_MOD: 0x30, 16; $($fields)* } $($rest)*
        }
    };
    ([query] $size:tt $(#[$doc:meta])* $name:ident { $($fields:tt)* } $($rest:tt)*) => {
        $crate::firmware::layout::structure! {
            [] $size $(#[$doc])* $name { OPCODE: 0x0, 16; OP_MOD: 0x30, 16; $($fields)* } $($rest)*
        }
    };
    ([answer] $size:tt $(#[$doc:meta])* $name:ident { $($fields:tt)* } $($rest:tt)*) => {
        $crate::firmware::layout::structure! {
            [] $size $(#[$doc])* $name { STATUS: 0x0, 8; SYNDROME: 0x20, 32; $($fields)* } $($rest)*
        }
    };
    (
        [] [$bytes:literal $(opaque $opaque:ident)?]
        $(#[$doc:meta])* $name:ident { $($field:ident: $at:literal, $width:literal;)* }
        [$($part:ident: $part_at:literal, $inner:ident;)*] [$($element:literal)?]
    ) => {
        $(#[$doc])*
        pub(crate) mod $name {
            $(
                pub(crate) const $field: $crate::firmware::layout::Field = $crate::firmware::layout::Field { name: stringify!($field), at: $at, width: $width };
            )*
            $(
                pub(crate) const $part: $crate::firmware::layout::Part = $crate::firmware::layout::Part {
                    name: stringify!($part),
                    at: $part_at / 8,
                    layout: &super::$inner::LAYOUT,
                };
            )*
            pub(crate) const LAYOUT: $crate::firmware::layout::Layout = $crate::firmware::layout::Layout {
                name: stringify!($name),
                bytes: $bytes,
                fields: &[$($field),*],
                parts: &[$($part),*],
                element: 0 $(+ $element)?,
                opaque: false $(|| !stringify!($opaque).is_empty())?,
            };
            const _: () = $crate::firmware::layout::check(&LAYOUT);
        }
    };
}
pub(crate) use structure;

/// Does not compile for a layout that cannot be.
pub(crate) const fn check(layout: &Layout) {
    let mut i = 0;
    let mut end = 0;
    while i < layout.fields.len() {
        let field = layout.fields[i];
        let in_bytes = field.at % 8 == 0 && field.width % 8 == 0;
        assert!(field.width >= 1 && (field.width <= 64 || in_bytes), "a field has 1 to 64 bits, or whole bytes");
        assert!(field.at >= end, "fields overlap, or are not in order");
        end = field.at + field.width;
        assert!(end <= layout.bytes * 8, "a field leaves its structure");
        i += 1;
    }
    let mut i = 0;
    while i < layout.parts.len() {
        assert!(layout.parts[i].at + layout.parts[i].layout.bytes <= layout.bytes, "a part leaves its structure");
        i += 1;
    }
}

/// A structure that is read. Bytes past its end read as 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a>(pub(crate) &'a [u8]);

impl<'a> View<'a> {
    /// A number.
    pub(crate) fn get(&self, field: Field) -> u64 {
        let last = (field.at + field.width - 1) / 8;
        let bytes = (field.at / 8..=last).map(|at| self.0.get(at).copied().unwrap_or(0));
        let all = bytes.fold(0_u128, |all, byte| all << 8 | u128::from(byte));
        let below = last * 8 + 8 - (field.at + field.width);
        (all >> below) as u64 & (u64::MAX >> (64 - field.width))
    }

    /// A number of up to 32 bits.
    pub(crate) fn get32(&self, field: Field) -> u32 {
        debug_assert!(field.width <= 32);
        self.get(field) as u32
    }

    /// A number of one bit.
    pub(crate) fn flag(&self, field: Field) -> bool {
        self.get(field) != 0
    }

    /// Whole bytes.
    pub(crate) fn bytes<const N: usize>(&self, field: Field) -> [u8; N] {
        debug_assert!(field.width == N * 8 && field.at % 8 == 0);
        std::array::from_fn(|index| self.0.get(field.at / 8 + index).copied().unwrap_or(0))
    }

    /// A structure inside.
    pub(crate) fn part(&self, part: Part) -> View<'a> {
        View(self.0.get(part.at..).map_or(&[], |rest| &rest[..rest.len().min(part.layout.bytes)]))
    }

    /// The elements of the list that follows the structure.
    pub(crate) fn list(&self, layout: &Layout) -> impl Iterator<Item = View<'a>> + use<'a> {
        let rest = self.0.get(layout.bytes..).unwrap_or(&[]);
        rest.chunks_exact(layout.element.max(1)).map(View)
    }

    /// The list that follows the structure, as numbers of 64 bits.
    pub(crate) fn words(&self, layout: &Layout) -> Vec<u64> {
        self.list(layout).map(|view| view.get(Field { name: "", at: 0, width: 64 })).collect()
    }
}

/// A structure that is written. Bytes past its end are lost, as in a mailbox that the driver made too short.
#[derive(Debug)]
pub(crate) struct ViewMut<'a>(pub(crate) &'a mut [u8]);

impl ViewMut<'_> {
    /// Writes a number; bits above the field's width are lost.
    pub(crate) fn set(&mut self, field: Field, value: u64) {
        for bit in 0..field.width {
            let at = field.at + field.width - 1 - bit;
            if let Some(byte) = self.0.get_mut(at / 8) {
                let mask = 0x80 >> (at % 8);
                *byte = if value >> bit & 1 != 0 { *byte | mask } else { *byte & !mask };
            }
        }
    }

    /// A structure inside.
    pub(crate) fn part(&mut self, part: Part) -> ViewMut<'_> {
        let rest = self.0.get_mut(part.at..).unwrap_or(&mut []);
        let len = rest.len().min(part.layout.bytes);
        ViewMut(&mut rest[..len])
    }

    /// Copies `bytes` to byte `at`.
    pub(crate) fn put(&mut self, at: usize, bytes: &[u8]) {
        let rest = self.0.get_mut(at..).unwrap_or(&mut []);
        let len = rest.len().min(bytes.len());
        rest[..len].copy_from_slice(&bytes[..len]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    layout! {
        /// Eight bytes of an example.
        struct inner: 0x8 bytes { LOW: 0x3c, 4; }
        /// An example.
        struct outer: 0x20 bytes {
            FIRST: 0x0, 1;
            ACROSS: 0x4, 8;
            WIDE: 0x20, 64;
        } parts { INNER: 0x80, inner; } list of 8 bytes
    }

    #[test]
    fn numbers_are_where_they_are_said_to_be() {
        let mut bytes = [0; 0x20];
        let mut view = ViewMut(&mut bytes);
        view.set(outer::FIRST, 1);
        view.set(outer::ACROSS, 0x5a);
        view.set(outer::WIDE, 0x0102_0304_0506_0708);
        view.part(outer::INNER).set(inner::LOW, 0xff);
        assert_eq!(bytes[..12], [0x85, 0xa0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(bytes[0x17], 0x0f, "bits that do not fit are lost");
        let view = View(&bytes);
        assert_eq!(view.get(outer::ACROSS), 0x5a);
        assert_eq!(view.get(outer::WIDE), 0x0102_0304_0506_0708);
        assert!(view.flag(outer::FIRST));
        assert_eq!(view.part(outer::INNER).get32(inner::LOW), 0xf);
        assert_eq!(outer::LAYOUT.reserved_byte_set(&bytes), None);
    }

    #[test]
    fn reserved_bits_are_found_also_in_parts() {
        for (byte, mask) in [(0, 0x40), (1, 0x0f), (0xc, 1), (0x17, 0x10), (0x1f, 1)] {
            let mut bytes = [0; 0x28];
            bytes[byte] = mask;
            assert_eq!(outer::LAYOUT.reserved_byte_set(&bytes), Some(byte));
        }
        let mut bytes = [0; 0x28];
        bytes[0x27] = 1;
        assert_eq!(outer::LAYOUT.reserved_byte_set(&bytes), None, "the list is not the structure's");
        assert_eq!(View(&bytes).words(&outer::LAYOUT), [1]);
    }

    #[test]
    fn what_is_past_the_end_reads_as_zero_and_is_lost() {
        let mut bytes = [0xff; 2];
        ViewMut(&mut bytes).set(outer::WIDE, 0);
        ViewMut(&mut bytes).part(outer::INNER).set(inner::LOW, 0);
        ViewMut(&mut bytes).put(7, &[0]);
        assert_eq!(bytes, [0xff; 2]);
        assert_eq!(View(&bytes).get(outer::WIDE), 0);
        assert_eq!(View(&bytes).part(outer::INNER).get(inner::LOW), 0);
    }
}
