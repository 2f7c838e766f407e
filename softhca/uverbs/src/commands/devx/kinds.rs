//! The kinds of objects that commands make, as far as a kernel driver knows them. Each has a command that makes it, one
//! that destroys it, commands that name it, and places of its number in their mailboxes (Linux
//! `drivers/infiniband/hw/mlx5/devx.c`).

use crate::abi::mailbox::{Field, HEADER_BYTES, OP_MOD, OPCODE, UID, creator, field};
use crate::context::CommandId;

/// The effect of a command on the object that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Query,
    Modify,
}

/// A command that names an object, and where.
type Naming = (u16, Use, Field);

/// A kind of objects.
#[derive(Debug)]
pub(super) struct Kind {
    /// The command that makes one.
    pub(super) create: u16,
    /// Its number: chosen by the maker in the input, or by the device in the output.
    number: Number,
    /// The command that destroys one: bytes of its mailbox, and where the number goes.
    destroy: (u16, usize, Field),
    /// A further field of it, from the same place of the mailbox that made the object.
    copied: &'static [Field],
    named: &'static [Naming],
    /// The field which says that rings and records are in user memory, the only memory of a program.
    in_umem: &'static [Field],
}

#[derive(Clone, Copy, Debug)]
enum Number {
    Input(Field),
    Output(Field),
}

/// Where most numbers are.
const N: Field = field(0x48, 24);
const N32: Field = field(0x40, 32);
const COUNTER: Field = field(0x58, 8);
const OBJ_TYPE: Field = OP_MOD;
/// Of commands on flow tables.
const OTHER_VPORT: Field = field(0x40, 1);
const VPORT: Field = field(0x50, 16);
const TABLE_TYPE: Field = field(0x80, 8);
const TABLE: Field = field(0xa8, 24);
const FLOW_GROUP: Field = field(0xc0, 32);
const FLOW_INDEX: Field = field(0x100, 32);
const ELEMENT: Field = field(0x60, 32);
const HIERARCHY: Field = field(0x40, 8);
const L2_ENTRY: Field = field(0xa8, 24);
const UDP_PORT: Field = field(0x70, 16);
/// Both halves.
const MULTICAST_GID: [Field; 2] = [field(0x80, 64), field(0xc0, 64)];
/// `num_psv`.
const PSVS: Field = field(0x40, 4);

const MODIFY_CQ: u16 = 0x403;

/// `cq_umem_valid`, of the mailboxes that make and that change a CQ.
const CQ_IN_UMEM: Field = field(0x2e0, 1);

/// `wq_umem_valid` and `dbr_umem_valid` of a work queue's context, which is this many bits from the mailbox's
/// beginning.
const fn in_wq(at: usize) -> [Field; 2] {
    [field(at + 0x120, 1), field(at + 0x121, 1)]
}
/// Of the mailboxes that make SQs, RQs and RMPs.
const WQ_IN_UMEM: [Field; 2] = in_wq(0x280);

const fn kind(create: u16, number: Field, destroy: u16, doomed: Field, named: &'static [Naming]) -> Kind {
    let destroy = (destroy, HEADER_BYTES, doomed);
    Kind { create, number: Number::Output(number), destroy, copied: &[], named, in_umem: &[] }
}

const KINDS: &[Kind] = {
    use Use::{Modify, Query};
    &[
        kind(creator::MKEY, N, 0x202, N, &[(0x201, Query, N)]),
        Kind {
            in_umem: &[field(0x86, 1), CQ_IN_UMEM],
            ..kind(creator::CQ, N, 0x401, N, &[(0x402, Query, N), (MODIFY_CQ, Modify, N)])
        },
        Kind {
            in_umem: &[field(0x743, 1), field(0x860, 1)],
            ..kind(
                creator::QP,
                N,
                0x501,
                N,
                &[
                    (0x502, Modify, N),
                    (0x503, Modify, N),
                    (0x504, Modify, N),
                    (0x505, Modify, N),
                    (0x506, Modify, N),
                    (0x507, Modify, N),
                    (0x50a, Modify, N),
                    (0x50b, Query, N),
                    (0x50e, Modify, N),
                ],
            )
        },
        kind(creator::PSV, field(0x88, 24), 0x601, N, &[]),
        kind(0x700, N, 0x701, N, &[(0x702, Query, N)]),
        Kind {
            in_umem: &[field(0xc7, 1), field(0x2e0, 1)],
            ..kind(0x705, N, 0x706, N, &[(0x707, Query, N), (0x708, Modify, N)])
        },
        kind(creator::DCT, N, 0x711, N, &[(0x713, Query, N), (0x714, Modify, N)]),
        Kind {
            in_umem: &in_wq(0x480),
            ..kind(
                0x717,
                N,
                0x718,
                N,
                &[
                    (0x719, Query, N),
                    (0x71a, Modify, N),
                    (0x725, Query, N),
                    (0x726, Modify, N),
                    (0x727, Query, N),
                    (0x729, Modify, N),
                    (0x72a, Modify, N),
                ],
            )
        },
        kind(0x771, COUNTER, 0x772, COUNTER, &[(0x773, Query, field(0xf8, 8))]),
        Kind {
            destroy: (0x783, 0x40, ELEMENT),
            copied: &[HIERARCHY],
            ..kind(0x782, field(0x80, 32), 0x783, ELEMENT, &[(0x784, Query, ELEMENT), (0x785, Modify, ELEMENT)])
        },
        kind(0x800, N, 0x801, N, &[]),
        Kind {
            number: Number::Input(N),
            destroy: (0x807, 0x20, N),
            copied: &MULTICAST_GID,
            ..kind(0x806, N, 0x807, N, &[])
        },
        kind(0x80e, N, 0x80f, N, &[]),
        kind(0x816, N, 0x817, N, &[]),
        Kind { number: Number::Input(UDP_PORT), ..kind(0x827, N, 0x828, UDP_PORT, &[(0x827, Modify, UDP_PORT)]) },
        Kind {
            number: Number::Input(L2_ENTRY),
            destroy: (0x82b, 0x40, L2_ENTRY),
            ..kind(0x829, N, 0x82b, L2_ENTRY, &[(0x829, Modify, L2_ENTRY), (0x82a, Query, L2_ENTRY)])
        },
        kind(0x900, N, 0x902, N, &[(0x901, Modify, N), (0x903, Query, N)]),
        Kind { in_umem: &WQ_IN_UMEM, ..kind(creator::SQ, N, 0x906, N, &[(0x905, Modify, N), (0x907, Query, N)]) },
        // This kind has ARM_RQ as well, which names any kind of shared receive queue.
        Kind {
            in_umem: &WQ_IN_UMEM,
            ..kind(creator::RQ, N, 0x90a, N, &[(0x909, Modify, N), (0x90b, Query, N), (0x703, Modify, N)])
        },
        Kind { in_umem: &WQ_IN_UMEM, ..kind(creator::RMP, N, 0x90e, N, &[(0x90d, Modify, N), (0x90f, Query, N)]) },
        kind(0x912, N, 0x914, N, &[(0x913, Modify, N), (0x915, Query, N)]),
        kind(0x916, N, 0x918, N, &[(0x917, Modify, N), (0x919, Query, N)]),
        Kind {
            destroy: (0x931, 0x40, TABLE),
            copied: &[OTHER_VPORT, VPORT, TABLE_TYPE],
            ..kind(0x930, N, 0x931, TABLE, &[(0x932, Query, TABLE), (0x93c, Modify, TABLE)])
        },
        Kind {
            destroy: (0x934, 0x40, FLOW_GROUP),
            copied: &[OTHER_VPORT, VPORT, TABLE_TYPE, TABLE],
            ..kind(0x933, N, 0x934, FLOW_GROUP, &[(0x935, Query, FLOW_GROUP)])
        },
        Kind {
            number: Number::Input(FLOW_INDEX),
            destroy: (0x938, 0x40, FLOW_INDEX),
            copied: &[OTHER_VPORT, VPORT, TABLE_TYPE, TABLE],
            ..kind(
                creator::FLOW_TABLE_ENTRY,
                N,
                0x938,
                FLOW_INDEX,
                &[(creator::FLOW_TABLE_ENTRY, Modify, FLOW_INDEX), (0x937, Query, FLOW_INDEX)],
            )
        },
        kind(creator::FLOW_COUNTER, N32, 0x93a, N32, &[(0x93b, Query, field(0xe0, 32))]),
        kind(0x93d, N32, 0x93e, N32, &[(0x93f, Query, N32)]),
        kind(0x940, N32, 0x941, N32, &[(0x942, Query, N32)]),
        Kind {
            copied: &[OBJ_TYPE],
            ..kind(creator::GENERAL_OBJECT, N32, 0xa03, N32, &[(0xa01, Modify, N32), (0xa02, Query, N32)])
        },
    ]
};

/// The kind of object that the command in `input` makes, if it makes one.
pub(super) fn created_by(input: &[u8]) -> Option<&'static Kind> {
    let opcode = OPCODE.get(input) as u16;
    let makes_one = match opcode {
        // Others change an entry.
        creator::FLOW_TABLE_ENTRY => OP_MOD.get(input) == 0,
        // Several at once would be several objects.
        creator::PSV => PSVS.get(input) == 1,
        _ => true,
    };
    KINDS.iter().find(|kind| kind.create == opcode && makes_one)
}

/// The object that the command in `input` names, if it does `wanted` with one.
pub(super) fn named_by(input: &[u8], wanted: Use) -> Option<CommandId> {
    let opcode = OPCODE.get(input) as u16;
    if opcode == creator::FLOW_TABLE_ENTRY && OP_MOD.get(input) != 1 {
        return None;
    }
    let names = |&(command, does, _): &Naming| command == opcode && does == wanted;
    let (kind, place) = KINDS.iter().find_map(|kind| Some((kind, kind.named.iter().copied().find(names)?.2)))?;
    Some(kind.id(input, place.get32(input)))
}

/// Says in a mailbox that changes an object that rings and records are in user memory.
pub(super) fn set_in_umem_of_change(input: &mut [u8]) {
    if OPCODE.get(input) as u16 == MODIFY_CQ {
        CQ_IN_UMEM.set(input, 1);
    }
}

impl Kind {
    /// Whether such objects have rings, and doorbells.
    pub(super) fn has_queue(&self) -> bool {
        !self.in_umem.is_empty()
    }

    /// Says in a mailbox that makes an object that rings and records are in user memory.
    pub(super) fn set_in_umem(&self, input: &mut [u8]) {
        self.in_umem.iter().for_each(|place| place.set(input, 1));
    }

    /// The number of the object that the command in `input` has made, with this output.
    pub(super) fn number(&self, input: &[u8], output: &[u8]) -> u32 {
        match self.number {
            Number::Input(place) => place.get32(input),
            Number::Output(place) => place.get32(output),
        }
    }

    /// The identity in commands of object `number`, which the command in `input` makes or names.
    pub(super) fn id(&self, input: &[u8], number: u32) -> CommandId {
        let kind = if self.create == creator::GENERAL_OBJECT { OBJ_TYPE.get(input) as u16 } else { 0 };
        CommandId { creator: self.create, kind, number }
    }

    /// The mailbox that destroys object `number`, which the one in `input` has made.
    pub(super) fn destruction(&self, input: &[u8], number: u32) -> Vec<u8> {
        let (opcode, bytes, doomed) = self.destroy;
        let mut mailbox = vec![0; bytes];
        OPCODE.set(&mut mailbox, opcode.into());
        for &place in self.copied.iter().chain([&UID]) {
            place.set(&mut mailbox, place.get(input));
        }
        doomed.set(&mut mailbox, number.into());
        mailbox
    }
}

#[cfg(test)]
mod tests;
