//! Memory keys.

use blueflame::types::Qpn;

use super::{Opcode, Pdn, Status, UmemId};
use crate::mailbox::{commands, names, structures};

structures! {
    /// Context of a memory key.
    pub struct Mkc: "mkc", 0x200 {
        free: 0x1, 1, bool;
        access_mode_4_2: 0x3, 3, u8;
        alter_pd_to_vhca_id: 0x6, 1, bool;
        crossed_side_mkey: 0x7, 1, bool;
        relaxed_ordering_write: 0xd, 1, bool;
        small_fence_on_rdma_read_response: 0xf, 1, bool;
        umr_en: 0x10, 1, bool;
        a: 0x11, 1, bool;
        rw: 0x12, 1, bool;
        rr: 0x13, 1, bool;
        lw: 0x14, 1, bool;
        lr: 0x15, 1, bool;
        access_mode_1_0: 0x16, 2, u8;
        ma_translation_mode: 0x1a, 2, u8;
        qpn: 0x20, 24, Qpn;
        mkey_7_0: 0x38, 8, u8;
        length64: 0x60, 1, bool;
        bsf_en: 0x61, 1, bool;
        sync_umr: 0x62, 1, bool;
        expected_sigerr_count: 0x65, 1, bool;
        en_rinval: 0x67, 1, bool;
        pd: 0x68, 24, Pdn;
        start_addr: 0x80, 64, u64;
        len: 0xc0, 64, u64;
        bsf_octword_size: 0x100, 32, u32;
        crossing_target_vhca_id: 0x180, 16, u16;
        translations_octword_size: 0x1a0, 32, u32;
        order_read_after_write: 0x1d6, 2, u8;
        relaxed_ordering_read: 0x1d9, 1, bool;
        log_page_size: 0x1da, 6, u8;
        crypto_en: 0x1e3, 2, u8;
        pcie_tph_en: 0x1e5, 1, bool;
        pcie_tph_ph: 0x1e6, 2, u8;
        pcie_tph_steering_tag_index: 0x1e8, 8, u8;
    }

    /// An entry of an indirect key: bytes of another key.
    pub struct Klm: "klm", 0x80 {
        byte_count: 0x0, 32, u32;
        mkey: 0x20, 32, u32;
        address: 0x40, 64, u64;
    }

    /// A page.
    pub struct Mtt: "mtt", 0x40 {
        ptag_63_32: 0x0, 32, u32;
        ptag_31_8: 0x20, 24, u32;
        wr_en: 0x3e, 1, bool;
        rd_en: 0x3f, 1, bool;
    }

    /// Creates a memory key.
    pub struct CreateMkeyIn: "create_mkey_in", 0x880 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
        input_mkey_index: 0x48, 24, u32;
        pg_access: 0x60, 1, bool;
        mkey_umem_valid: 0x61, 1, bool;
        data_direct: 0x62, 1, bool;
        function_id: 0x70, 16, u16;
        translations_octword_actual_size: 0x300, 32, u32;
        mkey_umem_id: 0x320, 32, UmemId;
        mkey_umem_offset: 0x340, 64, u64;
    }
    parts {
        memory_key_mkey_entry: 0x80, Mkc;
    }

    /// Answer to [`CreateMkeyIn`].
    pub struct CreateMkeyOut: "create_mkey_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        mkey_index: 0x48, 24, u32;
    }

    /// Queries a memory key.
    pub struct QueryMkeyIn: "query_mkey_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, u16;
        mkey_index: 0x48, 24, u32;
        pg_access: 0x60, 1, bool;
    }

    /// Answer to [`QueryMkeyIn`].
    pub struct QueryMkeyOut: "query_mkey_out", 0x980 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }
    bytes {
        bsf0_klm0_pas_mtt0_1: 0x880, 16;
        bsf1_klm1_pas_mtt2_3: 0x900, 16;
    }
    parts {
        memory_key_mkey_entry: 0x80, Mkc;
    }
}

commands! {
    CreateMkeyIn => CreateMkeyOut, CREATE_MKEY, Creates;
    QueryMkeyIn => QueryMkeyOut, QUERY_MKEY, Queries;
}

names! {
    /// How a memory key finds memory (`mkc.access_mode`). The context has its lower and its upper bits in two places.
    pub struct AccessMode(u8) {
        /// Addresses are physical.
        PA = 0x0,
        /// By a list of pages.
        MTT = 0x1,
        /// By a list of parts of other keys, each as long as it says.
        KLMS = 0x2,
        /// By a list of parts of other keys, all equally long.
        KSM = 0x3,
        /// By ICM that software owns.
        SW_ICM = 0x4,
        /// Memory of the device.
        MEMIC = 0x5,
    }
}

impl Mkc {
    /// How the key finds memory.
    #[must_use]
    pub fn access_mode(&self) -> AccessMode {
        AccessMode(self.access_mode_4_2() << 2 | self.access_mode_1_0())
    }

    /// Sets [`access_mode`](Self::access_mode).
    ///
    /// # Panics
    /// If it has more than 5 bits.
    #[track_caller]
    pub fn set_access_mode(&mut self, mode: AccessMode) -> &mut Self {
        self.set_access_mode_4_2(mode.0 >> 2).set_access_mode_1_0(mode.0 & 3)
    }
}
