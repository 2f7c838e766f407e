//! The structures of `/dev/infiniband/rdma_cm` (rdma-core, `kernel-headers/rdma/rdma_user_cm.h`, and its parts from
//! `ib_user_sa.h` and `ib_user_verbs.h`), ABI version 4.

use crate::abi::{AhAttr, abi};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// `RDMA_MAX_PRIVATE_DATA`.
pub(super) const MAX_PRIVATE_DATA: usize = 256;
/// Bytes of `struct __kernel_sockaddr_storage`.
pub(super) const STORAGE_BYTES: usize = 128;
/// Bytes of `struct sockaddr_in6`.
pub(super) const IN6_BYTES: usize = 28;

/// Commands (`RDMA_USER_CM_CMD_…`).
pub(super) mod command {
    pub(crate) const CREATE_ID: u32 = 0;
    pub(crate) const DESTROY_ID: u32 = 1;
    pub(crate) const BIND_IP: u32 = 2;
    pub(crate) const RESOLVE_IP: u32 = 3;
    pub(crate) const RESOLVE_ROUTE: u32 = 4;
    pub(crate) const QUERY_ROUTE: u32 = 5;
    pub(crate) const CONNECT: u32 = 6;
    pub(crate) const LISTEN: u32 = 7;
    pub(crate) const ACCEPT: u32 = 8;
    pub(crate) const REJECT: u32 = 9;
    pub(crate) const DISCONNECT: u32 = 10;
    pub(crate) const INIT_QP_ATTR: u32 = 11;
    pub(crate) const GET_EVENT: u32 = 12;
    pub(crate) const SET_OPTION: u32 = 14;
    pub(crate) const NOTIFY: u32 = 15;
    pub(crate) const JOIN_IP_MCAST: u32 = 16;
    pub(crate) const LEAVE_MCAST: u32 = 17;
    pub(crate) const MIGRATE_ID: u32 = 18;
    pub(crate) const QUERY: u32 = 19;
    pub(crate) const BIND: u32 = 20;
    pub(crate) const RESOLVE_ADDR: u32 = 21;
    pub(crate) const JOIN_MCAST: u32 = 22;
    /// Since Linux 6.17.
    pub(crate) const WRITE_CM_EVENT: u32 = 24;
    /// Commands up to here are known to kernels of this ABI; later ones are not.
    pub(crate) const LAST: u32 = WRITE_CM_EVENT;
}

/// Port spaces (`enum rdma_ucm_port_space`).
pub(super) mod port_space {
    pub(crate) const IPOIB: u16 = 0x0002;
    pub(crate) const TCP: u16 = 0x0106;
    pub(crate) const UDP: u16 = 0x0111;
    pub(crate) const IB: u16 = 0x013f;
}

/// The questions of `QUERY`.
pub(super) mod query {
    pub(crate) const ADDR: u32 = 0;
    pub(crate) const PATH: u32 = 1;
    pub(crate) const GID: u32 = 2;
}

/// Levels and names of options.
pub(super) mod option {
    pub(crate) const LEVEL_ID: u32 = 0;
    pub(crate) const LEVEL_IB: u32 = 1;
    pub(crate) const ID_TOS: u32 = 0;
    pub(crate) const ID_REUSEADDR: u32 = 1;
    pub(crate) const ID_AFONLY: u32 = 2;
    pub(crate) const ID_ACK_TIMEOUT: u32 = 3;
    pub(crate) const IB_PATH: u32 = 1;
}

/// Events (`enum rdma_cm_event_type`).
pub(super) mod event {
    pub(crate) const ADDR_RESOLVED: u32 = 0;
    pub(crate) const ADDR_ERROR: u32 = 1;
    pub(crate) const ROUTE_RESOLVED: u32 = 2;
    pub(crate) const CONNECT_REQUEST: u32 = 4;
    pub(crate) const CONNECT_RESPONSE: u32 = 5;
    pub(crate) const UNREACHABLE: u32 = 7;
    pub(crate) const REJECTED: u32 = 8;
    pub(crate) const ESTABLISHED: u32 = 9;
    pub(crate) const DISCONNECTED: u32 = 10;
    pub(crate) const MULTICAST_JOIN: u32 = 12;
    pub(crate) const TIMEWAIT_EXIT: u32 = 15;
    /// Of a program to itself.
    pub(crate) const USER: u32 = 18;
    /// Of librdmacm to itself.
    pub(crate) const INTERNAL: u32 = 19;
}

/// `IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL`.
pub(super) const PATH_FLAGS: u32 = 1 | 2 | 8 | 32;

abi! {
    /// `struct rdma_ucm_cmd_hdr`: before every command.
    struct CmdHdr {
        cmd: u32,
        /// Bytes of the command.
        len_in: u16,
        /// Bytes of room for the response.
        len_out: u16,
    }

    /// `struct rdma_ucm_create_id`.
    struct CreateId {
        uid: u64,
        response: u64,
        ps: u16,
        qp_type: u8,
        reserved: [u8; 5],
    }

    /// `struct rdma_ucm_bind_ip`.
    struct BindIp {
        response: u64,
        addr: [u8; IN6_BYTES],
        id: u32,
    }

    /// `struct rdma_ucm_bind`.
    struct Bind {
        id: u32,
        addr_size: u16,
        reserved: u16,
        addr: [u8; STORAGE_BYTES],
    }

    /// `struct rdma_ucm_resolve_ip`.
    struct ResolveIp {
        src_addr: [u8; IN6_BYTES],
        dst_addr: [u8; IN6_BYTES],
        id: u32,
        timeout_ms: u32,
    }

    /// `struct rdma_ucm_resolve_addr`.
    struct ResolveAddr {
        id: u32,
        timeout_ms: u32,
        src_size: u16,
        dst_size: u16,
        reserved: u32,
        src_addr: [u8; STORAGE_BYTES],
        dst_addr: [u8; STORAGE_BYTES],
    }

    /// `struct rdma_ucm_write_cm_event`, of whose parameters the kernel takes the first 8 bytes.
    struct WriteCmEvent {
        id: u32,
        reserved: u32,
        event: u32,
        status: i32,
        arg: u64,
    }

    /// `struct rdma_ucm_resolve_route`, `struct rdma_ucm_listen` and `struct rdma_ucm_notify`: an id and a number
    /// (timeout in ms, backlog, event).
    struct IdAndNumber {
        id: u32,
        number: u32,
    }

    /// `struct rdma_ucm_query`.
    struct Query {
        response: u64,
        id: u32,
        option: u32,
    }

    /// `struct ib_user_path_rec`.
    struct UserPathRec {
        dgid: [u8; 16],
        sgid: [u8; 16],
        /// Big endian.
        dlid: [u8; 2],
        /// Big endian.
        slid: [u8; 2],
        raw_traffic: u32,
        /// Big endian.
        flow_label: [u8; 4],
        reversible: u32,
        mtu: u32,
        /// Big endian.
        pkey: [u8; 2],
        hop_limit: u8,
        traffic_class: u8,
        numb_path: u8,
        sl: u8,
        mtu_selector: u8,
        rate_selector: u8,
        rate: u8,
        packet_life_time_selector: u8,
        packet_life_time: u8,
        preference: u8,
    }

    /// `struct rdma_ucm_query_route_resp`.
    struct QueryRouteResp {
        /// Big endian.
        node_guid: [u8; 8],
        ib_route: [UserPathRec; 2],
        src_addr: [u8; IN6_BYTES],
        dst_addr: [u8; IN6_BYTES],
        num_paths: u32,
        port_num: u8,
        reserved: [u8; 3],
    }

    /// `struct rdma_ucm_query_addr_resp`, up to what kernels without device indices fill in.
    struct QueryAddrResp {
        /// Big endian.
        node_guid: [u8; 8],
        port_num: u8,
        reserved: u8,
        /// Big endian.
        pkey: [u8; 2],
        src_size: u16,
        dst_size: u16,
        src_addr: [u8; STORAGE_BYTES],
        dst_addr: [u8; STORAGE_BYTES],
    }

    /// `struct rdma_ucm_query_path_resp` with one `struct ib_path_rec_data`.
    struct QueryPathResp {
        num_paths: u32,
        reserved: u32,
        flags: u32,
        reserved2: u32,
        /// A path record as subnet administration has it (IBTA vol. 1, 15.2.5.16).
        path_rec: [u8; 64],
    }

    /// `struct rdma_ucm_conn_param`.
    struct ConnParam {
        qp_num: u32,
        qkey: u32,
        private_data: [u8; MAX_PRIVATE_DATA],
        private_data_len: u8,
        srq: u8,
        responder_resources: u8,
        initiator_depth: u8,
        flow_control: u8,
        retry_count: u8,
        rnr_retry_count: u8,
        valid: u8,
    }

    /// `struct rdma_ucm_ud_param`.
    struct UdParam {
        qp_num: u32,
        qkey: u32,
        ah_attr: AhAttr,
        private_data: [u8; MAX_PRIVATE_DATA],
        private_data_len: u8,
        reserved: [u8; 7],
    }

    /// `struct rdma_ucm_ece`.
    struct Ece {
        vendor_id: u32,
        attr_mod: u32,
    }

    /// `struct rdma_ucm_connect`.
    struct Connect {
        conn_param: ConnParam,
        id: u32,
        reserved: u32,
        ece: Ece,
    }

    /// `struct rdma_ucm_accept`.
    struct Accept {
        uid: u64,
        conn_param: ConnParam,
        id: u32,
        reserved: u32,
        ece: Ece,
    }

    /// `struct rdma_ucm_reject`.
    struct Reject {
        id: u32,
        private_data_len: u8,
        reason: u8,
        reserved: [u8; 2],
        private_data: [u8; MAX_PRIVATE_DATA],
    }

    /// `struct rdma_ucm_init_qp_attr`.
    struct InitQpAttr {
        response: u64,
        id: u32,
        qp_state: u32,
    }

    /// `struct ib_uverbs_qp_attr`.
    struct QpAttr {
        qp_attr_mask: u32,
        qp_state: u32,
        cur_qp_state: u32,
        path_mtu: u32,
        path_mig_state: u32,
        qkey: u32,
        rq_psn: u32,
        sq_psn: u32,
        dest_qp_num: u32,
        qp_access_flags: u32,
        ah_attr: AhAttr,
        alt_ah_attr: AhAttr,
        cap: [u32; 5],
        pkey_index: u16,
        alt_pkey_index: u16,
        en_sqd_async_notify: u8,
        sq_draining: u8,
        max_rd_atomic: u8,
        max_dest_rd_atomic: u8,
        min_rnr_timer: u8,
        port_num: u8,
        timeout: u8,
        retry_cnt: u8,
        rnr_retry: u8,
        alt_port_num: u8,
        alt_timeout: u8,
        reserved: [u8; 5],
    }

    /// `struct rdma_ucm_join_ip_mcast`.
    struct JoinIp {
        response: u64,
        uid: u64,
        addr: [u8; IN6_BYTES],
        id: u32,
    }

    /// `struct rdma_ucm_join_mcast`.
    struct Join {
        response: u64,
        uid: u64,
        id: u32,
        addr_size: u16,
        join_flags: u16,
        addr: [u8; STORAGE_BYTES],
    }

    /// `struct rdma_ucm_event_resp`.
    struct EventResp {
        uid: u64,
        id: u32,
        event: u32,
        status: i32,
        /// [`ConnParam`], [`UdParam`] or 8 bytes of the program's.
        param: [u8; size_of::<UdParam>()],
        reserved: u32,
        ece: Ece,
    }

    /// `struct rdma_ucm_set_option`.
    struct SetOption {
        optval: u64,
        id: u32,
        level: u32,
        optname: u32,
        optlen: u32,
    }

    /// `struct rdma_ucm_migrate_id`.
    struct MigrateId {
        response: u64,
        id: u32,
        fd: i32,
    }
}

/// Bytes of an event's response before kernels knew of ECE: the least room of a program.
pub(super) const EVENT_RESP_MIN: usize = std::mem::offset_of!(EventResp, reserved);

const _: () = {
    assert!(size_of::<BindIp>() == 40);
    assert!(size_of::<Bind>() == 136);
    assert!(size_of::<ResolveIp>() == 64);
    assert!(size_of::<ResolveAddr>() == 272);
    assert!(size_of::<UserPathRec>() == 64);
    assert!(size_of::<QueryRouteResp>() == 200);
    assert!(size_of::<QueryAddrResp>() == 272);
    assert!(size_of::<QueryPathResp>() == 8 + 72);
    assert!(size_of::<ConnParam>() == 272);
    assert!(size_of::<AhAttr>() == 32);
    assert!(size_of::<UdParam>() == 304);
    assert!(size_of::<Connect>() == 288);
    assert!(size_of::<Accept>() == 296);
    assert!(size_of::<Reject>() == 264);
    assert!(size_of::<QpAttr>() == 144);
    assert!(size_of::<JoinIp>() == 48);
    assert!(size_of::<Join>() == 152);
    assert!(size_of::<EventResp>() == 336);
    assert!(EVENT_RESP_MIN == 324);
};
