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

/// Of every input (`general_obj_in_cmd_hdr`).
pub(crate) const OPCODE: Field = field(0, 16);
/// On whose behalf the command is.
pub(crate) const UID: Field = field(0x10, 16);
/// Another function, on which the command is to be carried out.
pub(crate) const VHCA_TUNNEL_ID: Field = field(0x20, 16);
/// Which of its kinds the command is.
pub(crate) const OP_MOD: Field = field(0x30, 16);
/// How the command ended (`mbox_out`).
pub(crate) const STATUS: Field = field(0, 8);
/// Why, in the firmware's own numbers.
pub(crate) const SYNDROME: Field = field(0x20, 32);
/// Bytes of the smallest input, and of the smallest output.
pub(crate) const HEADER_BYTES: usize = 16;

/// Where most outputs have the number of an object that was made, and most inputs that of the object they are about.
pub(crate) const NUMBER: Field = field(0x48, 24);

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
    pub(crate) const RQT: u16 = 0x916;
    pub(crate) const FLOW_TABLE: u16 = 0x930;
    pub(crate) const FLOW_GROUP: u16 = 0x933;
    pub(crate) const FLOW_TABLE_ENTRY: u16 = 0x936;
    pub(crate) const FLOW_COUNTER: u16 = 0x939;
    pub(crate) const GENERAL_OBJECT: u16 = 0xa00;
}

/// Opcodes of commands that destroy objects.
pub(crate) mod destroyer {
    pub(crate) const TRANSPORT_DOMAIN: u16 = 0x817;
    pub(crate) const TIR: u16 = 0x902;
    pub(crate) const RQ: u16 = 0x90a;
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
    fn what_all_mailboxes_have_is_where_linux_has_it() {
        use linux::known;
        let header = |name: &str| known(&format!("general_obj_in_cmd_hdr.{name}"));
        assert_eq!([OPCODE, UID, VHCA_TUNNEL_ID, OP_MOD], ["opcode", "uid", "vhca_tunnel_id", "obj_type"].map(header));
        let output = |name: &str| known(&format!("general_obj_out_cmd_hdr.{name}"));
        assert_eq!([STATUS, SYNDROME], ["status", "syndrome"].map(output));
    }

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
