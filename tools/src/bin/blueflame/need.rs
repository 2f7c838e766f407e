//! Capabilities of device, port and process. `info` lists them. Checks of `doctor` name those that they need, and are
//! skipped if one is missing.

use blueflame::verbs::device::{LinkLayer, PortState};
use blueflame_devx::{Context, Error};

use crate::machine;
use crate::subject::Subject;

/// A capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    Link,
    Address,
    Ethernet,
    NetRaw,
    BlueFlame,
    DeviceRegister,
    PciLink,
    InOrder,
    Atomics,
    Xrc,
    Dynamic,
    WideCqes,
    ByHash,
    ByChecksum,
    Clock,
    FreeRunning,
    RealTime,
    WindowsOfType1,
    WindowsOfType2,
    OnDemand,
    Copies,
    Tags,
    MultiPacket,
    LargeSend,
    Striding,
    Devx,
    BlockSignatures,
    Encryption,
    CrossChannel,
    WaitOnTime,
    DevxFrames,
}

use Need::*;

impl Need {
    /// All of them, in the order of `info`.
    pub(crate) const ALL: [Self; 31] = [
        Link,
        Address,
        Ethernet,
        NetRaw,
        BlueFlame,
        DeviceRegister,
        PciLink,
        InOrder,
        Atomics,
        Xrc,
        Dynamic,
        WideCqes,
        ByHash,
        ByChecksum,
        Clock,
        FreeRunning,
        RealTime,
        WindowsOfType1,
        WindowsOfType2,
        OnDemand,
        Copies,
        Tags,
        MultiPacket,
        LargeSend,
        Striding,
        Devx,
        BlockSignatures,
        Encryption,
        CrossChannel,
        WaitOnTime,
        DevxFrames,
    ];

    /// The name for people.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Link => "a link that is up",
            Address => "an address of the port",
            Ethernet => "an Ethernet port",
            NetRaw => "CAP_NET_RAW",
            BlueFlame => "BlueFlame",
            DeviceRegister => "a register of a real device",
            PciLink => "a PCIe link in sysfs",
            InOrder => "WRITEs that are visible in order",
            Atomics => "atomics",
            Xrc => "XRC",
            Dynamic => "dynamic connections",
            WideCqes => "CQEs of 128 bytes",
            ByHash => "mini-CQEs with the hash",
            ByChecksum => "mini-CQEs with the checksum",
            Clock => "the time of the device's clock",
            FreeRunning => "free-running timestamps",
            RealTime => "real-time timestamps",
            WindowsOfType1 => "memory windows of type 1",
            WindowsOfType2 => "memory windows of type 2",
            OnDemand => "on-demand paging",
            Copies => "copies of memory (MMO)",
            Tags => "tag matching",
            MultiPacket => "WQEs of several frames",
            LargeSend => "large sends (TSO)",
            Striding => "striding receive queues",
            Devx => "firmware commands (DevX)",
            BlockSignatures => "block signatures",
            Encryption => "encryption (AES-XTS)",
            CrossChannel => "cross-channel requests",
            WaitOnTime => "WAIT on time",
            DevxFrames => "frames by firmware commands",
        }
    }

    /// The features of the crate that need it.
    pub(crate) const fn offers(self) -> &'static str {
        match self {
            Link => "traffic",
            Address => "connections (verbs::Path)",
            Ethernet => "raw frames (transport::RawPacket, verbs::ethernet)",
            NetRaw => "raw frames and flow rules",
            BlueFlame => "requests copied to the register (queue::BlueFlamePolicy)",
            DeviceRegister => "doorbells over PCIe",
            PciLink => "the comparison of PCIe with the port's rate",
            InOrder => "memory polling (Buffer::polled)",
            Atomics => "wqe::compare_swap, wqe::fetch_add",
            Xrc => "transport::XrcInitiator, verbs::XrcDomain",
            Dynamic => "transport::Dci, verbs::Dct",
            WideCqes => "CqBuilder::cqe_bytes(128)",
            ByHash => "CqBuilder::compressed::<Hash>",
            ByChecksum => "CqBuilder::compressed::<Checksum>",
            Clock => "Device::clock, Clock::correlate",
            FreeRunning => "CqBuilder::free_running",
            RealTime => "CqBuilder::real_time",
            WindowsOfType1 => "WindowType::Type1",
            WindowsOfType2 => "WindowType::Type2",
            OnDemand => "Access::ON_DEMAND",
            Copies => "QpBuilder::memcpy, memory::Copier",
            Tags => "ProtectionDomain::tag_matching",
            MultiPacket => "SendBatch::session",
            LargeSend => "Request::large",
            Striding => "WqBuilder::striding",
            Devx => "the crate blueflame-devx",
            BlockSignatures => "blueflame_devx::object::SignatureKey",
            Encryption => "blueflame_devx::object::EncryptingKey",
            CrossChannel => "wqe::wait_for_completion, SendQueue::enable",
            WaitOnTime => "DeviceClock::at, ClockReading::wait_until",
            DevxFrames => "blueflame_devx: send queues, receive queues, flow tables",
        }
    }

    /// Whether it is there.
    ///
    /// # Errors
    /// The reason that it is not.
    pub(crate) fn met(self, of: &Subject) -> Result<(), String> {
        let attr = of.device.attr();
        let has = |has: bool| if has { Ok(()) } else { Err("the device's attributes say no".to_owned()) };
        match self {
            Link if of.port.state == PortState::Active => Ok(()),
            Link => Err(format!("port {} is in state {:?}", of.port.number, of.port.state)),
            Address => of.path.as_ref().map(drop).map_err(Clone::clone),
            Ethernet if of.port.link_layer == LinkLayer::Ethernet => Ok(()),
            Ethernet => Err(format!("port {} is of {}", of.port.number, of.port.link_layer)),
            NetRaw if machine::has_capability(machine::CAP_NET_RAW) => Ok(()),
            NetRaw => Err("the process does not have it".into()),
            BlueFlame => match (&of.registers, of.blueflame_off) {
                (Err(error), _) => Err(error.clone()),
                (_, Some(why)) => Err(why.into()),
                (Ok(registers), None) if registers.half_bytes < 64 => {
                    Err("the kernel gives registers without write combining (bf_reg_size 0)".into())
                }
                _ => Ok(()),
            },
            DeviceRegister => match &of.registers {
                Err(error) => Err(error.clone()),
                Ok(registers) if !registers.mapping.device => {
                    Err("the register is ordinary memory: this is a software device".into())
                }
                Ok(_) => Ok(()),
            },
            PciLink => machine::pci_link(&of.sysfs()).map(drop).ok_or_else(|| "sysfs has no such files".into()),
            InOrder => of.in_order.clone(),
            Atomics => has(attr.atomics),
            Xrc => has(attr.xrc),
            Dynamic => of.shown.dynamic.clone(),
            WideCqes => of.shown.wide_cqes.clone(),
            ByHash => of.shown.by_hash.clone(),
            ByChecksum => of.shown.by_checksum.clone(),
            Clock => of.shown.clock.clone(),
            FreeRunning => of.shown.free_running.clone(),
            RealTime => of.shown.real_time.clone(),
            WindowsOfType1 => has(attr.memory_windows),
            WindowsOfType2 => has(attr.memory_windows_2),
            OnDemand => match of.device.memory_attr() {
                Ok(memory) => has(memory.on_demand.explicit),
                Err(error) => Err(error.to_string()),
            },
            Copies => has(attr.max_memcpy != 0),
            Tags if of.port.link_layer == LinkLayer::Ethernet => Err("libmlx5 makes lists on InfiniBand only".into()),
            Tags => of.shown.tags.clone(),
            MultiPacket => has(attr.multi_packet),
            LargeSend => has(attr.max_large_send != 0),
            Striding => has(attr.striding.is_some()),
            Devx => devx(of, |_| Ok(())),
            BlockSignatures => devx(of, |context| {
                let has = context.general()?.sho();
                if has { Ok(()) } else { Err(absent("cmd_hca_cap.sho")) }
            }),
            Encryption => devx(of, |context| context.encryption().map(drop)),
            CrossChannel => devx(of, Context::cross_channel),
            WaitOnTime => devx(of, Context::wait_on_time),
            DevxFrames => devx(of, |context| {
                let has = context.general()?.eth_net_offloads();
                if has { Ok(()) } else { Err(absent("cmd_hca_cap.eth_net_offloads")) }
            }),
        }
    }
}

fn absent(name: &'static str) -> Error {
    Error::Capability { name, needed: 1, found: 0 }
}

/// A question to the firmware. Only a missing capability counts as absent.
fn devx(of: &Subject, ask: impl FnOnce(&Context) -> Result<(), Error>) -> Result<(), String> {
    let context = of.devx.as_ref().map_err(|error| format!("the device does not open for DevX: {error}"))?;
    match ask(context) {
        Err(error @ Error::Capability { .. }) => Err(error.to_string()),
        _ => Ok(()),
    }
}
