//! Capabilities of device, port and process. `info` lists them. Checks of `doctor` name those that they need, and are
//! skipped if one is missing.

use blueflame::verbs::device::{LinkLayer, PortState};
use blueflame_devx::{Context, Error};

use crate::machine;
use crate::subject::Subject;

/// Makes the capabilities from one table: each has a name for people, and the features of the crate that need it.
macro_rules! needs {
    ($($need:ident: $name:literal, $offers:literal;)*) => {
        /// A capability.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Need {
            $($need,)*
        }

        use Need::*;

        impl Need {
            /// All of them, in the order of `info`.
            pub(crate) const ALL: &[Self] = &[$($need,)*];

            /// The name for people.
            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $($need => $name,)*
                }
            }

            /// The features of the crate that need it.
            pub(crate) const fn offers(self) -> &'static str {
                match self {
                    $($need => $offers,)*
                }
            }
        }
    };
}

needs! {
    Link: "a link that is up", "traffic";
    Address: "an address of the port", "connections (verbs::Path)";
    SecondPort: "a second port that is up", "Device::port, Path of each port";
    Ethernet: "an Ethernet port", "raw frames (transport::RawPacket, verbs::ethernet)";
    NetRaw: "CAP_NET_RAW", "raw frames and flow rules";
    BlueFlame: "BlueFlame", "requests copied to the register (queue::BlueFlamePolicy)";
    DeviceRegister: "a register of a real device", "doorbells over PCIe";
    PciLink: "a PCIe link in sysfs", "the comparison of PCIe with the port's rate";
    InOrder: "WRITEs that are visible in order", "memory polling (Buffer::polled)";
    Atomics: "atomics", "wqe::compare_swap, wqe::fetch_add";
    Xrc: "XRC", "transport::XrcInitiator, verbs::XrcDomain";
    Dynamic: "dynamic connections", "transport::Dci, verbs::Dct";
    WideCqes: "CQEs of 128 bytes", "CqBuilder::cqe_bytes(128)";
    ByHash: "mini-CQEs with the hash", "CqBuilder::compressed::<Hash>";
    ByChecksum: "mini-CQEs with the checksum", "CqBuilder::compressed::<Checksum>";
    Clock: "the time of the device's clock", "Device::clock, Clock::correlate";
    FreeRunning: "free-running timestamps", "CqBuilder::free_running";
    RealTime: "real-time timestamps", "CqBuilder::real_time";
    WindowsOfType1: "memory windows of type 1", "WindowType::Type1";
    WindowsOfType2: "memory windows of type 2", "WindowType::Type2";
    OnDemand: "on-demand paging", "Access::ON_DEMAND";
    Copies: "copies of memory (MMO)", "QpBuilder::memcpy, memory::Copier";
    Tags: "tag matching", "ProtectionDomain::tag_matching";
    MultiPacket: "WQEs of several frames", "SendBatch::session";
    LargeSend: "large sends (TSO)", "Request::large";
    Pacing: "packet pacing", "QueuePair::set_rate_limit";
    Striding: "striding receive queues", "WqBuilder::striding";
    Devx: "firmware commands (DevX)", "the crate blueflame-devx";
    BlockSignatures: "block signatures", "blueflame_devx::object::SignatureKey";
    Encryption: "encryption (AES-XTS)", "blueflame_devx::object::EncryptingKey";
    CrossChannel: "cross-channel requests", "wqe::wait_for_completion, SendQueue::enable";
    WaitOnTime: "WAIT on time", "DeviceClock::at, ClockReading::wait_until";
    WaitOnData: "WAIT on data", "wqe::wait_for_word";
    HeaderMinis: "mini-CQEs with the headers", "cq::compressed::Headers, by blueflame_devx";
    DevxFrames: "frames by firmware commands", "blueflame_devx: send queues, receive queues, flow tables";
    Pingpong: "rdma-core's ping-pong programs", "the comparison with them";
    Perftest: "perftest", "the comparison with it";
}

impl Need {
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
            SecondPort => of.second.as_ref().map(drop).map_err(Clone::clone),
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
            Tags => of.shown.tags.clone(),
            MultiPacket => has(attr.multi_packet),
            LargeSend => has(attr.max_large_send != 0),
            Pacing => has(attr.rate_limits.is_some()),
            Striding => has(attr.striding.is_some()),
            Devx => devx(of, |_| Ok(())),
            BlockSignatures => devx(of, |context| {
                let has = context.general()?.sho();
                if has { Ok(()) } else { Err(absent("cmd_hca_cap.sho")) }
            }),
            Encryption => devx(of, |context| context.encryption().map(drop)),
            CrossChannel => devx(of, Context::cross_channel),
            WaitOnTime => devx(of, Context::wait_on_time),
            WaitOnData => devx(of, Context::wait_on_data),
            HeaderMinis => devx(of, |context| {
                let general = context.general()?;
                let (has, name) = match general.cqe_compression() {
                    true => (general.mini_cqe_resp_l3_l4_tag(), "cmd_hca_cap.mini_cqe_resp_l3_l4_tag"),
                    false => (false, "cmd_hca_cap.cqe_compression"),
                };
                if has { Ok(()) } else { Err(absent(name)) }
            }),
            DevxFrames => devx(of, |context| {
                let has = context.general()?.eth_net_offloads();
                if has { Ok(()) } else { Err(absent("cmd_hca_cap.eth_net_offloads")) }
            }),
            Pingpong => machine::PINGPONG.into_iter().try_for_each(machine::installed),
            Perftest => machine::installed(machine::PERFTEST),
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
