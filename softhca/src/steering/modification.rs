//! Modifications: lists of actions on the fields of a frame and on its registers, for rules to name.

use super::field::{Field, Place};
use super::passing::Passing;
use super::table::Direction;
use crate::ethernet::Bits;

/// Bits of a field, the lowest of which is bit `offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) field: &'static Field,
    pub(crate) offset: u8,
    /// 1 to 32.
    pub(crate) length: u8,
}

impl Part {
    /// `None` if the field ends before.
    pub(crate) fn new(field: &'static Field, offset: u8, length: u8) -> Option<Self> {
        (1..=field.width.saturating_sub(offset)).contains(&length).then_some(Self { field, offset, length })
    }

    /// All of a field.
    pub(crate) fn whole(field: &'static Field) -> Self {
        Self { field, offset: 0, length: field.width }
    }

    fn mask(self) -> u32 {
        (u32::MAX >> (32 - self.length)) << self.offset
    }
}

/// One action. A field that a frame does not have is not modified, and nothing is copied from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Puts a number into bits of a field.
    Set(Part, u32),
    /// Adds a number to a field, without a carry out of it.
    Add(&'static Field, u32),
    /// Copies bits of a field to as many bits of another.
    Copy {
        /// From these.
        from: Part,
        /// To these.
        to: Part,
    },
}

impl Action {
    /// Carries it out.
    fn apply(self, passing: &mut Passing<'_>) {
        let (to, value) = match self {
            Self::Set(to, value) => (to, Some(value)),
            Self::Add(field, value) => {
                let sum = read(field, passing).map(|before| before.wrapping_add(value));
                (Part::whole(field), sum)
            }
            Self::Copy { from, to } => (to, read(from.field, passing).map(|value| value >> from.offset)),
        };
        let (Some(value), Some(before)) = (value, read(to.field, passing)) else { return };
        let mask = to.mask();
        write(to.field, passing, before & !mask | value << to.offset & mask);
    }
}

/// A list of actions.
#[derive(Debug)]
pub(super) struct Modification {
    pub(super) direction: Direction,
    pub(super) actions: Vec<Action>,
    /// Rules that name it.
    pub(super) users: u32,
}

impl Modification {
    /// Carries out its actions, in their order.
    pub(super) fn apply(&self, passing: &mut Passing<'_>) {
        for action in &self.actions {
            action.apply(passing);
        }
        passing.modified();
    }
}

/// The bits of a field in the first header that a frame has.
fn find(places: &[Bits], passing: &Passing<'_>) -> Option<Bits> {
    places.iter().copied().find(|bits| bits.is_in(passing.frame().1))
}

fn read(field: &Field, passing: &Passing<'_>) -> Option<u32> {
    match field.place {
        Place::Headers(places) => {
            let (bytes, headers) = passing.frame();
            find(places, passing)?.read(bytes, headers)
        }
        Place::RegisterA => Some(passing.registers.a),
        Place::RegisterB => Some(passing.registers.b),
        Place::RegisterC(index) => Some(passing.registers.c[index]),
    }
}

fn write(field: &Field, passing: &mut Passing<'_>, value: u32) {
    match field.place {
        Place::Headers(places) => {
            if let Some(bits) = find(places, passing) {
                passing.rewrite(|bytes, headers| bits.write(bytes, headers, value));
            }
        }
        Place::RegisterA => passing.registers.a = value,
        Place::RegisterB => passing.registers.b = value,
        Place::RegisterC(index) => passing.registers.c[index] = value,
    }
}

#[cfg(test)]
mod tests {
    use super::super::registers::Registers;
    use super::*;
    use crate::ethernet::Headers;

    /// A UDP packet from 10.0.0.1 to 10.0.0.2, without checksums.
    fn frame() -> Vec<u8> {
        let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
        frame.extend([0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        frame.extend([0x12, 0x34, 0x56, 0x78, 0, 8, 0, 0]);
        frame
    }

    fn field(number: u16) -> &'static Field {
        Field::of(number).expect("a field")
    }

    fn part(number: u16, offset: u8, length: u8) -> Part {
        Part::new(field(number), offset, length).expect("bits of the field")
    }

    fn apply(actions: &[Action]) -> (Vec<u8>, Registers) {
        let (bytes, direction) = (frame(), Direction::Transmit);
        let mut passing = Passing::new(&bytes, Headers::of(&bytes).unwrap(), 0, 0x0a0b_0c0d);
        Modification { direction, actions: actions.to_vec(), users: 0 }.apply(&mut passing);
        (passing.frame().0.to_vec(), passing.registers)
    }

    #[test]
    fn bits_are_counted_from_the_lowest() {
        let (bytes, registers) = apply(&[
            Action::Set(part(0x51, 4, 8), 0xfff),
            Action::Set(part(0x16, 8, 16), 0xa1a2),
            Action::Copy { from: part(0x49, 8, 16), to: part(0x50, 16, 16) },
        ]);
        assert_eq!(registers, Registers { a: 0x0a0b_0c0d, b: 0x0b0c_0000, c: [0xff0, 0, 0, 0, 0, 0, 0, 0] });
        assert_eq!(bytes[30..34], [10, 0xa1, 0xa2, 2]);
    }

    #[test]
    fn sums_stay_in_their_field() {
        // Less one, as drivers say it: all ones of a field of eight bits.
        let (bytes, registers) = apply(&[Action::Add(field(0x0a), 0xff), Action::Add(field(0x49), 0xffff_ffff)]);
        assert_eq!((bytes[22], bytes[23], registers.a), (63, 17, 0x0a0b_0c0c));
        let (bytes, _) = apply(&[Action::Add(field(0x0c), 0xffff)]);
        assert_eq!(bytes[34..38], [0x12, 0x34, 0x56, 0x77]);
    }

    #[test]
    fn actions_see_what_those_before_them_did() {
        let (bytes, registers) = apply(&[
            Action::Copy { from: part(0x15, 0, 32), to: part(0x52, 0, 32) },
            Action::Copy { from: part(0x16, 0, 32), to: part(0x15, 0, 32) },
            Action::Copy { from: part(0x52, 0, 32), to: part(0x16, 0, 32) },
        ]);
        assert_eq!((&bytes[26..34], registers.c[1]), (&[10, 0, 0, 2, 10, 0, 0, 1][..], 0x0a00_0001));
    }

    #[test]
    fn what_a_frame_has_not_is_not_modified_nor_copied() {
        // IPv6's hop limit, TCP's port, a VLAN; from TCP's numbers.
        let (bytes, registers) = apply(&[
            Action::Set(part(0x47, 0, 8), 9),
            Action::Add(field(0x09), 9),
            Action::Set(part(0x17, 0, 12), 9),
            Action::Copy { from: part(0x59, 0, 32), to: part(0x50, 0, 32) },
            Action::Copy { from: part(0x49, 0, 32), to: part(0x5b, 0, 32) },
        ]);
        assert_eq!((bytes, registers), (frame(), Registers { a: 0x0a0b_0c0d, ..Registers::default() }));
    }

    #[test]
    fn parts_end_with_their_field() {
        for (number, offset, length, is_part) in
            [(0x16, 0, 32, true), (0x16, 1, 32, false), (0x17, 0, 13, false), (0x17, 11, 1, true), (0x73, 2, 1, false)]
        {
            assert_eq!(Part::new(field(number), offset, length).is_some(), is_part, "{number:#x}");
        }
        assert_eq!(Part::new(field(0x16), 0, 0), None);
    }
}
