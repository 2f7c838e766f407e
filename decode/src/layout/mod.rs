//! Layouts as data: the place of each field of a segment, and how the field is shown.
//!
//! The tables follow rdma-core's `providers/mlx5/{mlx5dv.h,wqe.h}`, Linux' `include/linux/mlx5/{device,qp}.h` and
//! DPDK's `drivers/common/mlx5/mlx5_prm.h`. They do not use the structs of `blueflame::wqe` and `blueflame::cq`, so
//! they reveal a wrong offset there. A test compares the tables with the installed `mlx5dv.h`.

pub mod bsf;
pub mod cqe;
pub mod wqe;

use crate::report::{Field, Part, Value};

/// A structure of fixed size.
#[derive(Debug)]
pub struct Layout {
    /// Its name in C: `mlx5_wqe_ctrl_seg`.
    pub name: &'static str,
    /// Its size in bytes.
    pub bytes: usize,
    /// Its fields, in order of their place.
    pub fields: &'static [FieldLayout],
}

/// A big endian field of a structure: several bytes, or some bits of them.
#[derive(Clone, Copy, Debug)]
pub struct FieldLayout {
    /// The name of the field in C. A composed field has the name of its bits after a colon: `qpn_ds:ds`.
    pub name: &'static str,
    /// The first bit; 0 is the most significant of the first byte.
    pub bit: usize,
    /// How many bits there are.
    pub width: usize,
    /// How its value is shown.
    pub show: Show,
}

/// How a value is shown.
#[derive(Clone, Copy, Debug)]
pub enum Show {
    /// As a hexadecimal number.
    Hex,
    /// As a decimal number.
    Dec,
    /// As a number, with its meaning.
    Named(fn(u64) -> Option<&'static str>),
    /// As a number, with the names of the bits that are set.
    Flags(&'static [(u64, &'static str)]),
    /// As bytes.
    Bytes,
    /// Reserved: must be zero. Not shown if it is.
    Zero,
    /// Reserved, or unused in most formats. Not shown if it is zero, but may be anything.
    Unused,
}

/// A field of whole bytes.
pub(crate) const fn whole(name: &'static str, offset: usize, bytes: usize, show: Show) -> FieldLayout {
    FieldLayout { name, bit: offset * 8, width: bytes * 8, show }
}

/// Bits `high` to `low` of the big endian number of 32 bits at `offset`.
pub(crate) const fn bits(name: &'static str, offset: usize, high: usize, low: usize, show: Show) -> FieldLayout {
    FieldLayout { name, bit: offset * 8 + 31 - high, width: high + 1 - low, show }
}

/// Bits `high` to `low` of the byte at `offset`.
pub(crate) const fn bits8(name: &'static str, offset: usize, high: usize, low: usize, show: Show) -> FieldLayout {
    FieldLayout { name, bit: offset * 8 + 7 - high, width: high + 1 - low, show }
}

/// Fails to compile if the fields exceed the structure, overlap, or leave bits out.
pub(crate) const fn checked(layout: Layout) -> Layout {
    let mut at = 0;
    let mut i = 0;
    while i < layout.fields.len() {
        let field = &layout.fields[i];
        assert!(field.bit == at, "the fields follow each other");
        assert!(field.width > 0, "a field has bits");
        assert!(
            field.width <= 64 || matches!(field.show, Show::Bytes | Show::Zero | Show::Unused),
            "64 bits are a number"
        );
        at += field.width;
        i += 1;
    }
    assert!(at == layout.bytes * 8, "the fields are the whole structure");
    layout
}

/// Up to 64 bits out of `bytes`, from bit `first`. Bits past the end of `bytes` are zero.
pub(crate) fn number(bytes: &[u8], first: usize, width: usize) -> u64 {
    (first..first + width.min(64)).fold(0, |value, bit| {
        let byte = bytes.get(bit / 8).copied().unwrap_or(0);
        value << 1 | u64::from(byte >> (7 - bit % 8) & 1)
    })
}

impl Layout {
    /// The value of a field of at most 64 bits; 0 if there is none of that name.
    pub(crate) fn get(&self, bytes: &[u8], name: &str) -> u64 {
        self.fields.iter().find(|field| field.name == name).map_or(0, |field| number(bytes, field.bit, field.width))
    }

    /// The fields of the structure at `bytes`, which begins `offset` bytes into the record. If the structure is cut
    /// short, only its complete fields.
    pub(crate) fn read(&self, bytes: &[u8], offset: usize, notes: &mut Vec<String>) -> Part {
        let bytes = &bytes[..bytes.len().min(self.bytes)];
        let mut fields = Vec::new();
        for field in self.fields {
            let end = (field.bit + field.width).div_ceil(8);
            let Some(of_field) = bytes.get(field.bit / 8..end) else { break };
            let is_zero = if field.width > 64 {
                of_field.iter().all(|byte| *byte == 0)
            } else {
                number(bytes, field.bit, field.width) == 0
            };
            match field.show {
                Show::Zero | Show::Unused if is_zero => continue,
                Show::Zero => notes.push(format!("{}.{} is reserved and should be 0", self.name, field.name)),
                _ => {}
            }
            fields.push(field.read(bytes, of_field, offset));
        }
        if bytes.len() < self.bytes {
            notes.push(format!("{} is cut short: {} of its {} bytes", self.name, bytes.len(), self.bytes));
        }
        Part { name: self.name.into(), offset, bytes: bytes.len(), fields }
    }
}

impl FieldLayout {
    fn read(&self, structure: &[u8], of_field: &[u8], offset: usize) -> Field {
        let at = offset + self.bit / 8;
        if self.width > 64 || matches!(self.show, Show::Bytes) {
            return Field { name: self.name.into(), offset: at, value: Value::Bytes(of_field.to_vec()), meaning: None };
        }
        let number = number(structure, self.bit, self.width);
        let meaning = match self.show {
            Show::Named(name) => name(number).map(str::to_owned),
            Show::Flags(flags) => {
                let set: Vec<_> = flags.iter().filter(|(mask, _)| number & mask != 0).map(|(_, name)| *name).collect();
                (!set.is_empty()).then(|| set.join(" | "))
            }
            _ => None,
        };
        let value = if matches!(self.show, Show::Dec) { Value::Dec(number) } else { Value::Hex(number, self.width) };
        Field { name: self.name.into(), offset: at, value, meaning }
    }
}
