//! Protection signature values (PSV).

use super::{Opcode, Pdn, Status};
use crate::mailbox::{commands, structures};

structures! {
    /// Creates up to four signature values.
    pub struct CreatePsvIn: "create_psv_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, u16;
        num_psv: 0x40, 4, u8;
        pd: 0x48, 24, Pdn;
    }

    /// Answer to [`CreatePsvIn`].
    pub struct CreatePsvOut: "create_psv_out", 0x100 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        psv0_index: 0x88, 24, u32;
        psv1_index: 0xa8, 24, u32;
        psv2_index: 0xc8, 24, u32;
        psv3_index: 0xe8, 24, u32;
    }
}

commands! {
    CreatePsvIn => CreatePsvOut, CREATE_PSV, Creates;
}
