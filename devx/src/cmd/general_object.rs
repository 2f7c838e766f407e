//! General objects: one kind of command for many kinds of objects.

use super::{Opcode, Pdn, Status};
use crate::mailbox::{commands, names, structures};

names! {
    /// A kind of general object (`MLX5_OBJ_TYPE_*` of rdma-core's `providers/mlx5/mlx5_ifc.h`,
    /// `MLX5_GENERAL_OBJECT_TYPES_*` of Linux').
    pub struct ObjectType(u16) {
        FLOW_METER = 0xa,
        GENEVE_TLV_OPT = 0xb,
        ENCRYPTION_KEY = 0xc,
        VIRTIO_NET_Q = 0xd,
        IPSEC = 0x13,
        MATCH_DEFINER = 0x18,
        VIRTIO_Q_COUNTERS = 0x1c,
        CRYPTO_LOGIN = 0x1f,
        SAMPLER = 0x20,
        HEADER_MODIFY_ARGUMENT = 0x23,
        FLOW_METER_ASO = 0x24,
        ASO_FIRST_HIT = 0x25,
        SCHEDULING_ELEMENT = 0x26,
        MACSEC = 0x27,
        RESERVED_QPN = 0x2c,
        ASO_CT = 0x31,
        AV_QP_MAPPING = 0x3a,
    }
}

structures! {
    /// Creates a general object; its body follows.
    pub struct CreateGeneralObjectIn: "general_obj_in_cmd_hdr", 0x80 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        vhca_tunnel_id: 0x20, 16, u16;
        obj_type: 0x30, 16, ObjectType;
        obj_id: 0x40, 32, u32;
        alias_object: 0x60, 1, bool;
        log_obj_range: 0x63, 5, u8;
    }

    /// Changes a general object; its body follows.
    pub struct ModifyGeneralObjectIn: "general_obj_in_cmd_hdr", 0x80 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        vhca_tunnel_id: 0x20, 16, u16;
        obj_type: 0x30, 16, ObjectType;
        obj_id: 0x40, 32, u32;
        alias_object: 0x60, 1, bool;
        log_obj_range: 0x63, 5, u8;
    }

    /// Queries a general object.
    pub struct QueryGeneralObjectIn: "general_obj_in_cmd_hdr", 0x80 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        vhca_tunnel_id: 0x20, 16, u16;
        obj_type: 0x30, 16, ObjectType;
        obj_id: 0x40, 32, u32;
        alias_object: 0x60, 1, bool;
        log_obj_range: 0x63, 5, u8;
    }

    /// The header that each answer begins with.
    pub struct GeneralObjOutCmdHdr: "general_obj_out_cmd_hdr", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        obj_id: 0x40, 32, u32;
    }

    /// A key of encryption, as long as libmlx5's (rdma-core `providers/mlx5/mlx5_ifc.h`). In Linux' header, a key that
    /// software has wrapped follows.
    pub struct EncryptionKeyObj: "encryption_key_obj", 0x800 {
        modify_field_select: 0x0, 64, u64;
        state: 0x40, 8, u8;
        sw_wrapped: 0x48, 1, bool;
        key_size: 0x54, 4, u8;
        has_keytag: 0x58, 1, bool;
        key_purpose: 0x5c, 4, u8;
        pd: 0x68, 24, Pdn;
        opaque: 0x180, 64, u64;
    }
    bytes {
        key: 0x200, 128;
    }

    /// A layout of matching.
    pub struct MatchDefiner: "match_definer", 0x400 {
        modify_field_select: 0x0, 64, u64;
        format_id: 0x90, 16, u16;
        format_select_dw3: 0x100, 8, u8;
        format_select_dw2: 0x108, 8, u8;
        format_select_dw1: 0x110, 8, u8;
        format_select_dw0: 0x118, 8, u8;
        format_select_dw7: 0x120, 8, u8;
        format_select_dw6: 0x128, 8, u8;
        format_select_dw5: 0x130, 8, u8;
        format_select_dw4: 0x138, 8, u8;
        format_select_dw8: 0x158, 8, u8;
        format_select_byte3: 0x180, 8, u8;
        format_select_byte2: 0x188, 8, u8;
        format_select_byte1: 0x190, 8, u8;
        format_select_byte0: 0x198, 8, u8;
        format_select_byte7: 0x1a0, 8, u8;
        format_select_byte6: 0x1a8, 8, u8;
        format_select_byte5: 0x1b0, 8, u8;
        format_select_byte4: 0x1b8, 8, u8;
    }
    bytes {
        match_mask: 0x200, 64;
    }

    /// Arguments of header modification.
    pub struct ModifyHeaderArg: "modify_header_arg", 0xa0 {
        access_pd: 0x88, 24, u32;
    }

    /// Reserved numbers of queue pairs.
    pub struct ReservedQpn: "reserved_qpn", 0x80 {
    }

    /// Rates of a meter.
    pub struct FlowMeterParameters: "flow_meter_parameters", 0x100 {
        valid: 0x0, 1, bool;
        bucket_overflow: 0x1, 1, bool;
        start_color: 0x2, 2, u8;
        both_buckets_on_green: 0x4, 1, bool;
        meter_mode: 0x6, 2, u8;
        cbs_exponent: 0x43, 5, u8;
        cbs_mantissa: 0x48, 8, u8;
        cir_exponent: 0x53, 5, u8;
        cir_mantissa: 0x58, 8, u8;
        ebs_exponent: 0x83, 5, u8;
        ebs_mantissa: 0x88, 8, u8;
        eir_exponent: 0x93, 5, u8;
        eir_mantissa: 0x98, 8, u8;
    }

    /// Meters of flows.
    pub struct FlowMeterAsoObj: "flow_meter_aso_obj", 0x400 {
        modify_field_select: 0x0, 64, u64;
        meter_aso_access_pd: 0x88, 24, u32;
    }
    arrays {
        flow_meter_parameters: 0x200, 2, FlowMeterParameters;
    }
}

commands! {
    CreateGeneralObjectIn => GeneralObjOutCmdHdr, CREATE_GENERAL_OBJECT, Creates;
    ModifyGeneralObjectIn => GeneralObjOutCmdHdr, MODIFY_GENERAL_OBJECT, Modifies;
    QueryGeneralObjectIn => GeneralObjOutCmdHdr, QUERY_GENERAL_OBJECT, Queries;
}
