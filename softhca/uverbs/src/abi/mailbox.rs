//! Mailboxes of the device's commands, as far as a kernel driver looks into them: numbers are big endian, and bits are
//! counted from the first, the most significant one (`include/linux/mlx5/mlx5_ifc.h`).

/// A number in a mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// First bit.
    pub(crate) at: usize,
    /// Bits, up to 64.
    pub(crate) width: usize,
}

/// A [`Field`].
pub(crate) const fn field(at: usize, width: usize) -> Field {
    assert!(width <= 64, "a number has up to 64 bits");
    Field { at, width }
}

/// Fields of mailboxes, each with its first bit, its bits, and the names that Linux' header has for it. A test compares
/// them: `CQN: 0x148, 24 = "create_rq_in.ctx.cqn";`.
macro_rules! fields {
    ($($(#[$doc:meta])* $vis:vis $name:ident: $at:literal, $width:literal = $($path:literal),+;)*) => {
        $(
            $(#[$doc])*
            $vis const $name: $crate::abi::mailbox::Field = $crate::abi::mailbox::field($at, $width);
        )*

        #[cfg(test)]
        mod places {
            #[test]
            fn are_those_of_linux() {
                use $crate::abi::mailbox::linux::known;
                $($(assert_eq!(super::$name, known($path), $path);)+)*
            }
        }
    };
}
pub(crate) use fields;

/// Bytes of structures, likewise: `CREATE_BYTES: 0x110 = "create_rq_in";`.
macro_rules! sizes {
    ($($(#[$doc:meta])* $vis:vis $name:ident: $bytes:literal = $($structure:literal),+;)*) => {
        $(
            $(#[$doc])*
            $vis const $name: usize = $bytes;
        )*

        #[cfg(test)]
        mod sizes {
            #[test]
            fn are_those_of_linux() {
                use $crate::abi::mailbox::linux::bytes;
                $($(assert_eq!(super::$name, bytes($structure), $structure);)+)*
            }
        }
    };
}
pub(crate) use sizes;

impl Field {
    /// Its value; bits past the end of the mailbox are 0.
    pub(crate) fn get(self, mailbox: &[u8]) -> u64 {
        (self.at..self.at + self.width).fold(0, |value, bit| {
            let byte = mailbox.get(bit / 8).copied().unwrap_or(0);
            value << 1 | u64::from(byte >> (7 - bit % 8) & 1)
        })
    }

    /// A value of at most 32 bits.
    pub(crate) fn get32(self, mailbox: &[u8]) -> u32 {
        debug_assert!(self.width <= 32, "a number of 32 bits");
        self.get(mailbox) as u32
    }

    /// Stores a value, or as much of it as the mailbox has room for.
    pub(crate) fn set(self, mailbox: &mut [u8], value: u64) {
        for index in 0..self.width {
            let bit = self.at + self.width - 1 - index;
            if let Some(byte) = mailbox.get_mut(bit / 8) {
                let mask = 0x80 >> (bit % 8);
                *byte = if value >> index & 1 == 0 { *byte & !mask } else { *byte | mask };
            }
        }
    }
}

fields! {
    // Of every input: the command, on whose behalf it is, another function on which it is to be carried out, and which
    // of its kinds it is.
    pub(crate) OPCODE: 0x0, 16 = "general_obj_in_cmd_hdr.opcode";
    pub(crate) UID: 0x10, 16 = "general_obj_in_cmd_hdr.uid";
    pub(crate) VHCA_TUNNEL_ID: 0x20, 16 = "general_obj_in_cmd_hdr.vhca_tunnel_id";
    pub(crate) OP_MOD: 0x30, 16 = "general_obj_in_cmd_hdr.obj_type";
    // How the command ended, and why, in the firmware's own numbers.
    pub(crate) STATUS: 0x0, 8 = "general_obj_out_cmd_hdr.status";
    pub(crate) SYNDROME: 0x20, 32 = "general_obj_out_cmd_hdr.syndrome";
    // Where most outputs have the number of an object that was made, and most inputs that of the object they are about.
    pub(crate) NUMBER: 0x48, 24 = "create_rq_out.rqn", "destroy_rq_in.rqn", "modify_rq_in.rqn", "create_rqt_out.rqtn",
        "destroy_rqt_in.rqtn", "create_tir_out.tirn", "destroy_tir_in.tirn", "create_tis_out.tisn", "destroy_tis_in.tisn",
        "modify_tis_in.tisn", "drain_dct_in.dctn",
        "alloc_transport_domain_out.transport_domain", "dealloc_transport_domain_in.transport_domain",
        "create_umem_out.umem_id", "destroy_umem_in.umem_id", "create_flow_table_out.table_id",
        "create_flow_group_out.group_id";
}
/// Bytes of the smallest input, and of the smallest output.
pub(crate) const HEADER_BYTES: usize = 16;

/// Opcodes of commands that make objects.
pub(crate) mod creator {
    pub(crate) const MKEY: u16 = 0x200;
    pub(crate) const CQ: u16 = 0x400;
    pub(crate) const QP: u16 = 0x500;
    pub(crate) const PSV: u16 = 0x600;
    pub(crate) const XRC_SRQ: u16 = 0x705;
    pub(crate) const DCT: u16 = 0x710;
    pub(crate) const XRQ: u16 = 0x717;
    pub(crate) const TRANSPORT_DOMAIN: u16 = 0x816;
    pub(crate) const TIR: u16 = 0x900;
    pub(crate) const SQ: u16 = 0x904;
    pub(crate) const RQ: u16 = 0x908;
    pub(crate) const RMP: u16 = 0x90c;
    pub(crate) const TIS: u16 = 0x912;
    pub(crate) const RQT: u16 = 0x916;
    pub(crate) const FLOW_TABLE: u16 = 0x930;
    pub(crate) const FLOW_GROUP: u16 = 0x933;
    pub(crate) const FLOW_TABLE_ENTRY: u16 = 0x936;
    pub(crate) const FLOW_COUNTER: u16 = 0x939;
    pub(crate) const MODIFY_HEADER: u16 = 0x940;
    pub(crate) const GENERAL_OBJECT: u16 = 0xa00;
}

/// Opcodes of commands that destroy objects.
pub(crate) mod destroyer {
    pub(crate) const TRANSPORT_DOMAIN: u16 = 0x817;
    pub(crate) const TIR: u16 = 0x902;
    pub(crate) const RQ: u16 = 0x90a;
    pub(crate) const TIS: u16 = 0x914;
    pub(crate) const RQT: u16 = 0x918;
}

/// An input of `bytes` bytes with this opcode, on behalf of `uid`.
pub(crate) fn command(opcode: u16, uid: u16, bytes: usize) -> Vec<u8> {
    let mut input = vec![0; bytes];
    OPCODE.set(&mut input, opcode.into());
    UID.set(&mut input, uid.into());
    input
}

#[cfg(test)]
pub(crate) mod linux;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_keep_to_their_bits_and_to_the_mailbox() {
        let mut mailbox = [0xff; 4];
        field(4, 8).set(&mut mailbox, 0x1a5);
        assert_eq!(mailbox, [0xfa, 0x5f, 0xff, 0xff]);
        assert_eq!(field(4, 8).get(&mailbox), 0xa5);
        field(24, 16).set(&mut mailbox, 0);
        assert_eq!(mailbox, [0xfa, 0x5f, 0xff, 0]);
        assert_eq!(field(16, 64).get(&mailbox), 0xff00 << 48);
        field(320, 8).set(&mut mailbox, 1);
        assert_eq!(command(0x800, 3, HEADER_BYTES)[..4], [8, 0, 0, 3]);
    }
}
