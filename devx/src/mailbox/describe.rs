//! Descriptions of mailbox structures, as data: for `Debug`, for checks at compile time, and for tests that compare
//! them with tables from other sources.

use core::fmt;

use super::bits;

/// A number in a structure.
#[derive(Clone, Copy)]
pub struct Field {
    /// Its name in `mlx5_ifc.h`.
    pub name: &'static str,
    /// First bit.
    pub at: usize,
    /// Bits, 1 to 64.
    pub width: usize,
    /// Shows these bits as a value of the field's type.
    pub show: fn(u64, &mut fmt::Formatter<'_>) -> fmt::Result,
}

/// Bytes in a structure that are not a number: addresses of more than 64 bits, or parts that depend on the command.
#[derive(Clone, Copy, Debug)]
pub struct Bytes {
    /// Its name in `mlx5_ifc.h`.
    pub name: &'static str,
    /// First bit.
    pub at: usize,
    /// How many bytes.
    pub len: usize,
}

/// A structure in a structure, or several in a row.
#[derive(Clone, Copy)]
pub struct Part {
    /// Its name in `mlx5_ifc.h`.
    pub name: &'static str,
    /// First bit.
    pub at: usize,
    /// How many there are in a row.
    pub many: usize,
    /// The structure of each.
    pub inner: &'static Description,
}

/// A structure.
#[derive(Clone, Copy)]
pub struct Description {
    /// Its name in `mlx5_ifc.h`, without `mlx5_ifc_` and `_bits`.
    pub name: &'static str,
    /// Its size in bits, without the list that may follow.
    pub bits: usize,
    /// Numbers, by their place.
    pub fields: &'static [Field],
    /// Bytes.
    pub bytes: &'static [Bytes],
    /// Structures inside.
    pub parts: &'static [Part],
}

impl fmt::Debug for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:#x} {:#x}", self.name, self.at, self.width)
    }
}

impl fmt::Debug for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:#x}", self.name, self.bits)
    }
}

impl Description {
    /// Does not compile for an invalid structure: a field leaves it, two fields overlap, a number has no bits or more
    /// than 64, or a part does not begin at a word.
    pub(crate) const fn check(&self) {
        assert!(self.bits % 32 == 0, "a structure is whole words");
        assert!(self.bits <= MOST_BITS, "a structure has more bits than are checked");
        let mut used = [0_u32; MOST_BITS / 32];
        let mut i = 0;
        while i < self.fields.len() {
            let field = self.fields[i];
            assert!(field.width >= 1 && field.width <= 64, "a number has 1 to 64 bits");
            assert!(field.at + field.width <= self.bits, "a field leaves its structure");
            let mut bit = field.at;
            while bit < field.at + field.width {
                assert!(used[bit / 32] >> (bit % 32) & 1 == 0, "two fields overlap");
                used[bit / 32] |= 1 << (bit % 32);
                bit += 1;
            }
            i += 1;
        }
        i = 0;
        while i < self.bytes.len() {
            let bytes = self.bytes[i];
            occupy(&mut used, bytes.at, bytes.len * 8, self.bits);
            i += 1;
        }
        i = 0;
        while i < self.parts.len() {
            let part = self.parts[i];
            occupy(&mut used, part.at, part.inner.bits * part.many, self.bits);
            i += 1;
        }
    }

    /// Writes the fields that are not zero, by name.
    ///
    /// # Errors
    /// The formatter's errors.
    pub fn show(&self, bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct(self.name);
        for field in self.fields {
            let value = bits::get(bytes, field.at, field.width);
            if value != 0 {
                out.field(field.name, &Shown(field, value));
            }
        }
        for inside in self.bytes {
            let value = bytes.get(inside.at / 8..inside.at / 8 + inside.len).unwrap_or(&[]);
            if value.iter().any(|&byte| byte != 0) {
                out.field(inside.name, &Hex(value));
            }
        }
        for part in self.parts {
            let size = part.inner.bits / 8;
            for (n, value) in bytes.get(part.at / 8..).unwrap_or(&[]).chunks_exact(size).take(part.many).enumerate() {
                if value.iter().any(|&byte| byte != 0) {
                    let inner = &Inner(part.inner, value);
                    if part.many == 1 {
                        out.field(part.name, inner)
                    } else {
                        out.field(&format!("{}[{n}]", part.name), inner)
                    };
                }
            }
        }
        out.finish()
    }
}

/// The most bits that [`Description::check`] has room for. The answer to QUERY_HCA_CAP has the most: 0x8080.
const MOST_BITS: usize = 0x8100;

/// Marks whole words as used.
const fn occupy(used: &mut [u32; MOST_BITS / 32], at: usize, bits: usize, end: usize) {
    assert!(at % 8 == 0 && bits % 8 == 0, "bytes and parts are whole bytes");
    assert!(at + bits <= end, "bytes or a part leave the structure");
    let mut bit = at;
    while bit < at + bits {
        if bit % 32 == 0 && bit + 32 <= at + bits {
            assert!(used[bit / 32] == 0, "a part overlaps with something else");
            used[bit / 32] = u32::MAX;
            bit += 32;
        } else {
            assert!(used[bit / 32] >> (bit % 32) & 0xff == 0, "a part overlaps with something else");
            used[bit / 32] |= 0xff << (bit % 32);
            bit += 8;
        }
    }
}

/// A number, as a value of its field's type.
struct Shown<'a>(&'a Field, u64);

impl fmt::Debug for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.0.show)(self.1, f)
    }
}

/// Bytes in hexadecimal.
struct Hex<'a>(&'a [u8]);

impl fmt::Debug for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Zeros at the end say nothing, and there can be thousands.
        let len = self.0.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        for byte in &self.0[..len] {
            write!(f, "{byte:02x}")?;
        }
        if len < self.0.len() { f.write_str("..") } else { Ok(()) }
    }
}

/// A structure inside.
struct Inner<'a>(&'static Description, &'a [u8]);

impl fmt::Debug for Inner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.show(self.1, f)
    }
}

#[cfg(test)]
mod tests {
    use crate::cmd::{Ads, FlowMeterAsoObj, Qpc};
    use crate::mailbox::Structure;

    #[test]
    fn what_is_not_zero_is_printed_by_name() {
        let mut path = Ads::zeroed();
        assert_eq!(format!("{path:?}"), "ads");
        path.set_grh(true).set_rmac_31_0(7);
        path.rgid_rip_mut()[..3].copy_from_slice(&[0x20, 0x01, 0x0d]);
        assert_eq!(format!("{path:?}"), "ads { grh: true, rmac_31_0: 7, rgid_rip: 20010d.. }");
        path.rgid_rip_mut().fill(0x11);
        assert!(format!("{path:?}").ends_with("rgid_rip: 11111111111111111111111111111111 }"), "{path:?}");

        let mut context = Qpc::zeroed();
        context.secondary_address_path_mut().set_mlid(5);
        assert_eq!(format!("{context:?}"), "qpc { secondary_address_path: ads { mlid: 5 } }");
        let mut meters = FlowMeterAsoObj::zeroed();
        meters.flow_meter_parameters_mut(1).expect("two").set_valid(true);
        assert!(meters.flow_meter_parameters(2).is_none() && meters.flow_meter_parameters_mut(2).is_none());
        let expected = "flow_meter_aso_obj { flow_meter_parameters[1]: flow_meter_parameters { valid: true } }";
        assert_eq!(format!("{meters:?}"), expected);
    }

    #[test]
    fn a_flag_is_one_bit() {
        let mut path = Ads::zeroed();
        path.set_free_ar(true);
        assert_eq!((path.fl(), path.free_ar(), path.as_bytes()[0]), (false, true, 0x40));
        path.set_fl(true).set_free_ar(false);
        assert_eq!((path.fl(), path.free_ar(), path.as_bytes()[0]), (true, false, 0x80));
    }
}
