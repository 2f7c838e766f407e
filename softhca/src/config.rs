//! Configuration of a device: its ports, its limits, and how it learns of doorbells.

use std::time::Duration;

use crate::context::{InlineHeaders, TimestampFormat};

/// Which network a port is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkLayer {
    /// InfiniBand: LIDs route, the GRH is optional.
    InfiniBand,
    /// Ethernet (RoCE): GIDs route, every packet has a GRH and no LID.
    Ethernet,
}

/// How packets with a GID travel. On Ethernet this is part of the address. A port whose GID is for one version of RoCE
/// does not accept packets of the other (IBTA annex A17.4.5.1): Ethertype 0x8915 and the Ethertype of IP tell them
/// apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GidType {
    /// InfiniBand: a GRH.
    InfiniBand,
    /// RoCE v1: a GRH in an Ethernet frame.
    RoceV1,
    /// RoCE v2: UDP over IP.
    RoceV2,
}

/// An entry of a port's GID table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gid {
    /// The GID.
    pub raw: [u8; 16],
    /// How its packets travel.
    pub kind: GidType,
}

impl Gid {
    /// A free entry of a GID table (IBTA vol. 1, 4.1.1: the unspecified address belongs to no port).
    pub const FREE: Self = Self { raw: [0; 16], kind: GidType::RoceV1 };
}

/// One port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortConfig {
    /// Base LID, 1 to 0xbfff; 0 on Ethernet.
    pub lid: u16,
    /// GID table, from index 0. Entries of zeros are free.
    pub gids: Vec<Gid>,
    /// P_Key table, from index 0: bit 15 is full membership, bits 14:0 the partition. The default key is 0xffff.
    pub pkeys: Vec<u16>,
    /// Network.
    pub link: LinkLayer,
    /// Active path MTU in bytes: 256, 512, 1024, 2048 or 4096.
    pub active_mtu: u32,
    /// GUID.
    pub guid: u64,
    /// Ethernet address; zeros on InfiniBand.
    pub mac: [u8; 6],
}

impl PortConfig {
    /// An InfiniBand port with this LID, one link-local GID made of it, the default P_Key and an MTU of 4096 bytes.
    #[must_use]
    pub fn infiniband(lid: u16) -> Self {
        Self { lid, ..Self::with_interface_id(lid, LinkLayer::InfiniBand) }
    }

    /// A RoCE port: no LID, one link-local GID for RoCE v2 with `interface_id` in its last bytes, the default P_Key and
    /// an MTU of 1024 bytes.
    #[must_use]
    pub fn ethernet(interface_id: u16) -> Self {
        Self { active_mtu: 1024, ..Self::with_interface_id(interface_id, LinkLayer::Ethernet) }
    }

    /// The GID at an index of the table; `None` if there is none.
    #[must_use]
    pub fn gid(&self, index: u8) -> Option<Gid> {
        self.gids.get(usize::from(index)).copied().filter(|gid| gid.raw != Gid::FREE.raw)
    }

    fn with_interface_id(id: u16, link: LinkLayer) -> Self {
        let mut raw = [0; 16];
        raw[0] = 0xfe;
        raw[1] = 0x80;
        raw[8] = 0x02;
        raw[14..].copy_from_slice(&id.to_be_bytes());
        let kind = match link {
            LinkLayer::InfiniBand => GidType::InfiniBand,
            LinkLayer::Ethernet => GidType::RoceV2,
        };
        let guid = 0x0200_0000_0000_0000 | u64::from(id);
        let [high, low] = id.to_be_bytes();
        let mac = match link {
            LinkLayer::InfiniBand => [0; 6],
            LinkLayer::Ethernet => [0x02, 0, 0, 0, high, low],
        };
        Self { lid: 0, gids: vec![Gid { raw, kind }], pkeys: vec![0xffff], link, active_mtu: 4096, guid, mac }
    }
}

/// How the device learns that a doorbell was rung.
///
/// A real device sees the store on the bus. Ordinary memory gives no notice of a store, so each way has its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoorbellSource {
    /// Each step reads the register halves of all UAR pages and overwrites the stores that it has taken. For callers
    /// that step the device after each doorbell. If a half is written twice between two steps, the device sees one
    /// doorbell, and compares a mixture of both BlueFlame copies with the ring.
    Registers,
    /// Each step polls the send doorbell records and the CQs' arm words, of all queues. For a device on a thread of its
    /// own with few queues. It does not notice when a driver forgets to write the register.
    Records,
    /// Each step reads the registers of the UAR pages, and the records of the queues that they name. The cost does not
    /// grow with the number of queues. For a device on a thread of its own. A register holds two doorbells. If the
    /// device may have missed one, the following steps read the records of all queues of the page, some in each. That
    /// happens if a driver stores three times between two steps, or does not use the halves in turn.
    RungRecords,
    /// Only [`crate::device::Device::doorbell`] counts. For front ends that trap the stores.
    Calls,
}

impl DoorbellSource {
    /// Whether the values of doorbells come from records.
    pub(crate) const fn has_records(self) -> bool {
        matches!(self, Self::Records | Self::RungRecords)
    }
}

/// Limits of a device. It refuses to create or change an object beyond them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most CQEs of a CQ, as log2.
    pub max_cqe_log: u8,
    /// Most WQEBBs of a send ring, and most WQEs of a receive ring, as log2; up to 15, since their indices have 16
    /// bits.
    pub max_wqe_log: u8,
    /// Most bytes of a receive WQE, as log2.
    pub max_rq_stride_log: u8,
    /// Most outstanding READs and atomics of a QP, in each direction.
    pub max_rd_atomic: u8,
    /// Most bytes of a message, up to 2^31 (IBTA vol. 1, 9.7.1).
    pub max_msg: u32,
    /// Most UAR pages, and as many PDs and CQs; of SRQs, see [`DeviceConfig::max_srqs`]. 1 to 2^24 - 2.
    pub max_objects: u32,
    /// Most memory keys, 1 to 2^24 - 2^16 - 1.
    pub max_mkeys: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_cqe_log: 22,
            max_wqe_log: 15,
            max_rq_stride_log: 10,
            max_rd_atomic: 16,
            max_msg: 1 << 31,
            max_objects: 1 << 16,
            max_mkeys: 1 << 20,
        }
    }
}

/// Rates at which good receives from SRQs fail, per mille of those that RC QPs begin; their sum is at most 1000.
/// Failures come evenly, not at random.
///
/// Such a receive ends in an error CQE of syndrome 0x22 (aborted). Its sender is told that the receiver is not ready,
/// and repeats its message. The QP stays as it is, and the SRQ's WQE is the host's again, to be posted once more.
/// Drivers know the two by the vendor syndrome: rdma-core `providers/mlx5/cq.c` (`is_odp_pfault_err`), UCX
/// `src/uct/ib/mlx5/rc/rc_mlx5_iface.c`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SrqFaults {
    /// The buffer's page was not there, as happens with memory that is registered on demand: vendor syndrome 0x93.
    pub page: u16,
    /// The WQE was taken for a packet that turned out to be out of sequence: vendor syndrome 0x99.
    pub sequence: u16,
}

/// WRITEs that are placed out of order, as where packets take several ways through a fabric ("adaptive routing"). It
/// concerns all reliable QPs but those that insist on the order ([`crate::context::QpAttr::in_order`]), as where the
/// firmware decides so for each of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LateWrites {
    /// How many of a thousand packets of WRITEs come to memory after later ones.
    pub rate: u16,
    /// Where the random numbers start.
    pub seed: u64,
}

/// Which ConnectX a device is. It decides which capabilities the device reports. The device does as its capabilities
/// say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Generation {
    /// ConnectX-5.
    #[default]
    ConnectX5,
    /// ConnectX-6 Dx.
    ConnectX6Dx,
    /// ConnectX-7.
    ConnectX7,
    /// ConnectX-8.
    ConnectX8,
}

impl Generation {
    /// All of them, the oldest first.
    pub const ALL: [Self; 4] = [Self::ConnectX5, Self::ConnectX6Dx, Self::ConnectX7, Self::ConnectX8];
}

/// Configuration of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceConfig {
    /// Which ConnectX it is.
    pub generation: Generation,
    /// GUID of the device.
    pub node_guid: u64,
    /// First QPN of this instance, at least 2. Processes that share a device divide the 24-bit space among them, since
    /// a packet finds its process by QPN. SRQs have the same numbers.
    pub qpn_first: u32,
    /// How many QPNs belong to this instance, at least 1; the last is at most 2^24 - 2.
    pub qpn_count: u32,
    /// `true`: a new QP gets the lowest free QPN, as firmware may do. That may be the QPN of a QP destroyed a moment
    /// ago, so a late packet or address handle for the old QP reaches the new one. `false`: it gets the QPN that has
    /// been free for longest.
    pub reuse_qpns: bool,
    /// Ports, 1 to 255 of them; port 1 is the first.
    pub ports: Vec<PortConfig>,
    /// Its one port, of Ethernet, is a bond (LAG) of two ports of the machine: see [`crate::device::BondedPort`]. Take a
    /// wire without loans, or packets that these spare go by neither port.
    pub bonded: bool,
    /// Where doorbells come from.
    pub doorbells: DoorbellSource,
    /// Limits.
    pub limits: Limits,
    /// Receives from SRQs that fail.
    pub srq_faults: SrqFaults,
    /// WRITEs that are placed out of order.
    pub late_writes: LateWrites,
    /// UMR changes the length of a key's pages, so that drivers can register memory by WQEs, with keys that they keep
    /// at hand: as on a ConnectX-5. `false`: they make a key for each region, by a command
    /// (`umr_modify_entity_size_disabled`).
    pub umr_registers: bool,
    /// The time since 1970 at which the clock of [`crate::device::Device::step`] was 0. With it, queues can have real
    /// time in their timestamps (`REAL_TIME_CLOCK_ENABLE` of a ConnectX-6 Dx and later). `None`: timestamps show the
    /// clock of `step` alone.
    pub real_time: Option<Duration>,
    /// Queues have the time in their timestamps and nothing else, if they can have it:
    /// `MLX5_TIMESTAMP_FORMAT_CAP_REAL_TIME`.
    pub real_time_only: bool,
    /// The headers of a frame that the device needs inline. The capability `wqe_inline_mode` tells: NOT_REQUIRED, L2,
    /// or, for more, VPORT_CONTEXT, and then the context of the port tells. Queue pairs for frames have theirs in
    /// [`crate::context::SqContext`].
    pub inline_headers: InlineHeaders,
    /// The options of enhanced connection establishment that the device offers, 28 bits. NVIDIA does not publish their
    /// meanings, and here they mean nothing: queue pairs negotiate them, and work the same with and without.
    pub ece: u32,
    /// Bytes of device memory, which capabilities report (`max_memic_size`); 0: none. A front end allocates it: the
    /// device itself has no command for that.
    pub device_memory: u32,
    /// On-demand paging: the memory behind the device finds absent pages itself, at each access, so that keys may name
    /// them. `false`: pages stay where they are, and capabilities deny the feature, for the device reports no faults.
    pub on_demand: bool,
    /// A sink: every send WQE completes with success as soon as it is fetched, with any opcode. It completes as if the
    /// peer had carried it out at once. Nothing goes onto the wire, so a QP in RTS needs no peer. WQEs are decoded and
    /// checked as always, and malformed ones complete in error. Keys are not checked. No data is read or written: the
    /// buffers of READs and atomics stay as they are, and CQEs carry no inline data. For measuring what posting and
    /// polling cost the host.
    pub sink: bool,
}

impl DeviceConfig {
    /// A device with one port, all QPNs from 0x100 up to 2^18, and doorbells from the registers.
    #[must_use]
    pub fn with_port(port: PortConfig) -> Self {
        Self {
            generation: Generation::default(),
            node_guid: port.guid,
            qpn_first: 0x100,
            qpn_count: (1 << 18) - 0x100,
            reuse_qpns: false,
            ports: vec![port],
            bonded: false,
            doorbells: DoorbellSource::Registers,
            limits: Limits::default(),
            srq_faults: SrqFaults::default(),
            late_writes: LateWrites::default(),
            umr_registers: true,
            real_time: None,
            real_time_only: false,
            inline_headers: InlineHeaders::None,
            ece: 0,
            device_memory: 0,
            on_demand: false,
            sink: false,
        }
    }

    /// The options of enhanced connection establishment that the device accepts of `wanted`. The highest four bits are
    /// the version, of which the device has 1 (libmlx5 begins with that, rdma-core `providers/mlx5/verbs.c`,
    /// `create_qp`). 0, and so version 0, asks for nothing. A later version is reduced to 1: programs ask for all that a
    /// device has by ones in all bits (UCX `UCT_IB_DEVICE_ECE_MAX`).
    pub(crate) fn accepted_ece(&self, wanted: u32) -> u32 {
        const VERSION: u32 = 1 << 28;
        match wanted >> 28 {
            0 => 0,
            _ => VERSION | wanted & self.ece & (VERSION - 1),
        }
    }

    /// Most SRQs: a power of two, as capabilities give its logarithm.
    #[must_use]
    pub fn max_srqs(&self) -> u32 {
        1 << self.limits.max_objects.min(self.qpn_count).max(1).ilog2()
    }

    /// Whether SRQs can match tags. A ConnectX-6 whose port is Ethernet says no (firmware 20.24, `ibv_devinfo -v`: "tag
    /// matching not supported"). libmlx5 cannot make a list there: it connects the list's command queue without a GRH
    /// (`create_cmd_qp`). Linux refuses that for RoCE (`mlx5_set_path`).
    #[must_use]
    pub fn matches_tags(&self) -> bool {
        self.ports.iter().all(|port| port.link == LinkLayer::InfiniBand)
    }

    /// Whether queues can have the clock that runs freely in their timestamps.
    #[must_use]
    pub fn has_free_running(&self) -> bool {
        !(self.real_time_only && self.has_real_time())
    }

    /// Whether queues can have real time in their timestamps. A capability of RoCE reports it for QPs; InfiniBand
    /// ports lack that capability.
    #[must_use]
    pub fn has_real_time(&self) -> bool {
        self.real_time.is_some() && self.ports.iter().all(|port| port.link == LinkLayer::Ethernet)
    }

    /// Format of the device's own clock. A WAIT compares with this clock, whatever timestamps the queues have.
    #[must_use]
    pub fn clock_format(&self) -> TimestampFormat {
        if self.has_real_time() { TimestampFormat::RealTime } else { TimestampFormat::FreeRunning }
    }
}
