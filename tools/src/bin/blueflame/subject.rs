//! The device in question, opened once for verbs and once for firmware commands, and all that was learnt on the way.

use std::env;

use anyhow::Result;
use blueflame::cq::compressed::{Checksum, Hash};
use blueflame::transport::{Dci, Rc};
use blueflame::verbs::device::{GidEntry, LinkLayer, Port, PortState};
use blueflame::verbs::{Device, Error, Path, ProtectionDomain, device_names};
use blueflame_devx::Context;

use crate::nic::queue::NopQueue;
use crate::nic::register::Mapping;

/// The doorbell register of a queue pair.
#[derive(Clone, Debug)]
pub(crate) struct Registers {
    /// Bytes of a half that BlueFlame copies to; 0 without BlueFlame.
    pub(crate) half_bytes: usize,
    /// The file that it is mapped from, and whether that is a device.
    pub(crate) mapping: Mapping,
}

/// An open device, and one of its ports.
pub(crate) struct Subject {
    /// Opened for verbs.
    pub(crate) device: Device,
    /// A domain of it.
    pub(crate) pd: ProtectionDomain,
    /// Opened for firmware commands, or the reason that it is not.
    pub(crate) devx: Result<Context, String>,
    /// The port that is used.
    pub(crate) port: Port,
    /// The index of its GID, if connections need one.
    pub(crate) gid: Option<u8>,
    /// How queue pairs on this port reach each other, or why they cannot.
    pub(crate) path: Result<Path, String>,
    /// How queue pairs on the first other port that is up reach each other, or why they cannot.
    pub(crate) second: Result<Path, String>,
    /// The register of a queue pair of its own, or why there is none.
    pub(crate) registers: Result<Registers, String>,
    /// The environment variable that turns BlueFlame off, if there is one.
    pub(crate) blueflame_off: Option<&'static str>,
    /// Whether the bytes of a WRITE become visible in order, or why this is not promised.
    pub(crate) in_order: Result<(), String>,
    /// Capabilities that only a call shows: `Err` has the reason that they are absent.
    pub(crate) shown: Shown,
}

/// Capabilities that no attribute tells. A call that fails for any other reason than a missing capability counts as
/// present, so that checks find the failure.
pub(crate) struct Shown {
    pub(crate) dynamic: Result<(), String>,
    pub(crate) by_hash: Result<(), String>,
    pub(crate) by_checksum: Result<(), String>,
    pub(crate) wide_cqes: Result<(), String>,
    pub(crate) real_time: Result<(), String>,
    pub(crate) free_running: Result<(), String>,
    pub(crate) clock: Result<(), String>,
    pub(crate) tags: Result<(), String>,
}

impl Subject {
    /// Opens the device of this name, or the first one, and looks at a port: the one asked for, the first that carries
    /// data, or port 1.
    pub(crate) fn open(name: Option<&str>, port: Option<u8>) -> Result<Self> {
        let device = match name {
            Some(name) => Device::open(name)?,
            None => Device::open_first()?,
        };
        let pd = device.protection_domain()?;
        let ports: Vec<Port> = (1..=device.attr().ports).map(|number| device.port(number)).collect::<Result<_, _>>()?;
        let port = match port {
            Some(number) => device.port(number)?,
            None => {
                let active = ports.iter().position(|port| port.state == PortState::Active);
                *ports.get(active.unwrap_or(0)).ok_or(Error::NoPort { port: 1, ports: 0 })?
            }
        };
        let devx = Context::open(device.name()).map_err(|error| error.to_string());
        let gid = gid(&device, port).ok().flatten().map(|entry| entry.index);
        let path = path(&device, port).map_err(|error| error.to_string());
        let second = second(&device, port, &ports);
        let registers = registers(&device, port);
        let shown = Shown::by(&device, &pd);
        let in_order = match &path {
            Ok(path) => in_order(&pd, path),
            Err(error) => Err(error.clone()),
        };
        Ok(Self {
            device,
            pd,
            devx,
            port,
            gid,
            path,
            second,
            registers,
            blueflame_off: blueflame_off(),
            in_order,
            shown,
        })
    }

    /// The name of the first mlx5 device's port as sysfs has it.
    pub(crate) fn sysfs(&self) -> std::path::PathBuf {
        sysfs_of(self.device.name())
    }
}

/// The names of all devices.
pub(crate) fn names() -> Result<Vec<String>> {
    Ok(device_names()?)
}

/// The folder of a device in sysfs. libibverbs reads the same variable.
pub(crate) fn sysfs_of(name: &str) -> std::path::PathBuf {
    let root = env::var_os("SYSFS_PATH").unwrap_or_else(|| "/sys".into());
    std::path::Path::new(&root).join("class/infiniband").join(name)
}

/// The GID of the port, if connections need one.
fn gid(device: &Device, port: Port) -> Result<Option<GidEntry>, Error> {
    let needs_gid = port.link_layer == LinkLayer::Ethernet || port.grh_required;
    needs_gid.then(|| device.default_gid(&port)).transpose()
}

/// A path of the port, whether its link is up or not.
fn path(device: &Device, port: Port) -> Result<Path, Error> {
    let mut path = Path::new(port, gid(device, port)?);
    let most = device.attr();
    path.max_dest_rd_atomic = most.max_qp_rd_atom.min(16);
    path.max_rd_atomic = most.max_qp_init_rd_atom.min(path.max_dest_rd_atomic);
    Ok(path)
}

/// A path of the first port that is up, besides `first`.
fn second(device: &Device, first: Port, ports: &[Port]) -> Result<Path, String> {
    let mut others = ports.iter().filter(|port| port.number != first.number).peekable();
    others.peek().ok_or("the device has one port")?;
    let other = others.find(|port| port.state == PortState::Active).ok_or("no other port is up")?;
    path(device, *other).map_err(|error| format!("port {}: {error}", other.number))
}

fn registers(device: &Device, port: Port) -> Result<Registers, String> {
    let queue = NopQueue::new(device, port.number).map_err(|error| error.to_string())?;
    let mapping = Mapping::of(queue.register()).ok_or("the kernel does not tell what the register is mapped from")?;
    Ok(Registers { half_bytes: queue.half_bytes, mapping })
}

/// Asks a queue pair that is connected to itself: the device tells in RTS only. If connecting fails, the answer is
/// yes, so that checks find the failure.
fn in_order(pd: &ProtectionDomain, path: &Path) -> Result<(), String> {
    let ready = || -> Result<_, Error> {
        let cq = pd.device().completion_queue(16).build()?;
        let mut pair = pd.queue_pair::<Rc>(&cq, &cq).sends(4).no_receives().build()?;
        let itself = pair.qp.endpoint(path);
        pair.qp.to_init(path)?;
        pair.connect(path, &itself, &itself)?;
        Ok(pair.qp.writes_in_order().is_some())
    };
    match ready() {
        Ok(false) => Err("the device does not promise it (ibv_query_qp_data_in_order)".into()),
        _ => Ok(()),
    }
}

/// As libmlx5 and the crate read them (`docs/environment.md`).
fn blueflame_off() -> Option<&'static str> {
    let is = |name: &str, off: fn(&str) -> bool| env::var(name).is_ok_and(|value| off(&value));
    is("MLX5_SHUT_UP_BF", |value| value != "0").then_some("MLX5_SHUT_UP_BF is set")
}

/// Whether a call succeeded, or failed for another reason than a missing capability.
fn shown<T>(made: Result<T, Error>) -> Result<(), String> {
    match made {
        Err(error @ (Error::Unsupported { .. } | Error::CqeCompression { .. })) => Err(error.to_string()),
        _ => Ok(()),
    }
}

impl Shown {
    fn by(device: &Device, pd: &ProtectionDomain) -> Self {
        let queue = || device.completion_queue(16);
        let dynamic = match queue().build() {
            Ok(cq) => shown(pd.queue_pair::<Dci>(&cq, &cq).sends(4).build()),
            Err(_) => Ok(()),
        };
        let tags = match device.tag_matching() {
            Ok(None) => Err("the device has no lists of tags".into()),
            _ => Ok(()),
        };
        Self {
            dynamic,
            by_hash: shown(queue().compressed::<Hash>().build()),
            by_checksum: shown(queue().compressed::<Checksum>().build()),
            wide_cqes: shown(queue().cqe_bytes(128).build()),
            real_time: shown(queue().real_time(true).build()),
            free_running: free_running(device, pd),
            clock: shown(device.clock()),
            tags,
        }
    }
}

/// Whether queue pairs can have stamps of the free-running clock. The kernel refuses the queue pair, not the completion
/// queue (`CqBuilder::free_running`).
fn free_running(device: &Device, pd: &ProtectionDomain) -> Result<(), String> {
    const EOPNOTSUPP: i32 = 95;
    let Ok(cq) = device.completion_queue(16).free_running(true).build() else { return Ok(()) };
    match pd.queue_pair::<Rc>(&cq, &cq).sends(4).no_receives().build() {
        Err(Error::Call(error)) if error.errno == EOPNOTSUPP => Err("the device stamps in real time alone".into()),
        _ => Ok(()),
    }
}
