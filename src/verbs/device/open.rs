//! Devices: finding one, opening it, querying its capabilities.

use core::ffi::CStr;
use core::ptr::NonNull;
use std::collections::HashMap;
use std::os::fd::{BorrowedFd, IntoRawFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use blueflame_sys as sys;

use crate::queue::BlueFlamePolicy;
use crate::queue::striding::StridesLimits;
use crate::transport::InlineLayers;
use crate::types::Qpn;
use crate::verbs::device::blueflame::blueflame_policy;
use crate::verbs::device::frames::{self, SoftwareParser, Tunnels};
use crate::verbs::device::inline::Needed;
use crate::verbs::device::rate::RateLimits;
use crate::verbs::error::{non_null, zero};
use crate::verbs::event::event;
use crate::verbs::memory::MemoryAttr;
use crate::verbs::{CallError, Error};
use crate::wqe::formats::DataUnits;
use crate::wqe::limits::{FrameOffloads, MAX_MEMCPY_BYTES};

/// The array that `ibv_get_device_list` allocates.
struct DeviceList {
    array: NonNull<*mut sys::ibv_device>,
    len: usize,
}

impl DeviceList {
    fn get() -> Result<Self, Error> {
        sys::available::verbs()?;
        let mut len = 0;
        // SAFETY: the call writes the length and returns an array of that length, or null and errno.
        let array = unsafe { sys::ibv_get_device_list(&raw mut len) };
        match NonNull::new(array) {
            Some(array) => Ok(Self { array, len: usize::try_from(len).unwrap_or(0) }),
            // The kernel has no RDMA support at all: the same as no devices.
            None if matches!(CallError::last("").errno, libc::ENOSYS | libc::ENOENT) => Err(Error::NoDevices),
            None => Err(CallError::last("ibv_get_device_list").into()),
        }
    }

    fn devices(&self) -> &[*mut sys::ibv_device] {
        // SAFETY: the library vouches for `len` entries until the list is freed, which borrows forbid while they live.
        unsafe { core::slice::from_raw_parts(self.array.as_ptr(), self.len) }
    }

    fn names(&self) -> Vec<String> {
        // SAFETY: the devices are of this list, which is alive.
        self.devices().iter().map(|&device| unsafe { name_of(device) }).collect()
    }
}

impl Drop for DeviceList {
    fn drop(&mut self) {
        // SAFETY: from `ibv_get_device_list`, freed once; a device that is open keeps itself alive.
        unsafe { sys::ibv_free_device_list(self.array.as_ptr()) };
    }
}

/// # Safety
/// The device belongs to a device list that is alive, or is open.
unsafe fn name_of(device: *mut sys::ibv_device) -> String {
    // SAFETY: the caller promises that the device is alive; the name is a C string inside it.
    unsafe { CStr::from_ptr(sys::ibv_get_device_name(device)) }.to_string_lossy().into_owned()
}

/// The names of the RDMA devices of this machine, mlx5 or not, in libibverbs' order.
///
/// # Errors
/// If libibverbs cannot list devices. No devices is not an error here but an empty list.
#[doc(alias("ibv_get_device_list", "ibv_get_device_name", "mlx5dv_is_supported"))]
pub fn device_names() -> Result<Vec<String>, Error> {
    match DeviceList::get() {
        Ok(list) => Ok(list.names()),
        Err(Error::NoDevices) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// An open device (`ibv_context`). Cheap to clone; closed when the last object made from it is gone.
#[doc(alias("ibv_context", "ibv_open_device", "mlx5dv_open_device"))]
#[derive(Clone, Debug)]
pub struct Device {
    pub(crate) context: Arc<Context>,
}

/// The open context that every object made from it keeps alive.
#[derive(Debug)]
pub(crate) struct Context {
    raw: NonNull<sys::ibv_context>,
    /// Whether it is another library's to close.
    adopted: bool,
    name: String,
    /// Queried once: it does not change, and each query is a command to the firmware.
    attr: Arc<DeviceAttr>,
    /// Queried when it is needed, and once.
    memory: OnceLock<MemoryAttr>,
    /// As above.
    inline: OnceLock<Needed>,
    /// As the environment said when the device was opened (or adopted): libmlx5 reads it then.
    blueflame: BlueFlamePolicy,
    /// Queue pairs that receive from shared queues, and whether an event said that they take no further receives.
    left_shared_queue: Mutex<HashMap<Qpn, bool>>,
}

// SAFETY: libibverbs locks the state that its calls share; a context may be used from any thread and from several at
// once.
unsafe impl Send for Context {}
// SAFETY: libibverbs locks the state that its calls share, so several threads may use a context at once.
unsafe impl Sync for Context {}

impl Context {
    /// For events.
    #[cfg(feature = "tracing")]
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn raw(&self) -> *mut sys::ibv_context {
        self.raw.as_ptr()
    }

    pub(crate) fn attr(&self) -> &Arc<DeviceAttr> {
        &self.attr
    }

    pub(crate) fn memory_attr(&self) -> Result<&MemoryAttr, Error> {
        if let Some(attr) = self.memory.get() {
            return Ok(attr);
        }
        // SAFETY: the context is open.
        let attr = unsafe { MemoryAttr::query(self.raw()) }?;
        Ok(self.memory.get_or_init(|| attr))
    }

    pub(in crate::verbs) fn inline_layers(&self) -> Needed {
        // SAFETY: the context is open, and of an mlx5 device.
        *self.inline.get_or_init(|| unsafe { Needed::query(self.raw()) })
    }

    pub(crate) fn blueflame(&self) -> BlueFlamePolicy {
        self.blueflame
    }

    /// The queue pairs that receive from shared queues. The value is true once an event said that a queue pair takes no
    /// further receives. Only its handle, as long as it lives, puts a queue pair there.
    pub(in crate::verbs) fn left_shared_queue(&self) -> MutexGuard<'_, HashMap<Qpn, bool>> {
        self.left_shared_queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        event!(DEBUG, "device closed", name = self.name, adopted = self.adopted);
        if !self.adopted {
            // SAFETY: opened by `ibv_open_device`; everything made from it held this object and is gone.
            unsafe { sys::ibv_close_device(self.raw.as_ptr()) };
        }
    }
}

/// The device's limits and capabilities: the part of `ibv_device_attr` that setup needs, and mlx5's own attributes.
#[doc(alias("ibv_device_attr", "ibv_query_device_ex", "mlx5dv_query_device", "ibv_query_device"))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceAttr {
    /// Firmware version.
    pub fw_ver: String,
    /// GUID of the node, host byte order.
    pub node_guid: u64,
    /// The company number (OUI) that the IEEE gave the vendor: 0x02c9 for Mellanox. The PCI vendor is another number,
    /// 0x15b3.
    pub vendor_id: u32,
    /// PCI device, for example 0x101d for a ConnectX-6 Dx and 0x1021 for a ConnectX-7.
    pub vendor_part_id: u32,
    /// Number of ports.
    pub ports: u8,
    /// Queue pairs.
    pub max_qp: u32,
    /// Requests per queue.
    pub max_qp_wr: u32,
    /// Scatter/gather entries per request.
    pub max_sge: u32,
    /// CQEs per completion queue.
    pub max_cqe: u32,
    /// Requests per shared receive queue.
    pub max_srq_wr: u32,
    /// Scatter entries per request of a shared receive queue.
    pub max_srq_sge: u32,
    /// READs and atomics a queue pair answers at once.
    pub max_qp_rd_atom: u8,
    /// READs and atomics a queue pair asks for at once.
    pub max_qp_init_rd_atom: u8,
    /// Memory regions. The kernel and other programs take some of them.
    pub max_mr: u32,
    /// Bytes in one memory region.
    pub max_mr_size: u64,
    /// Registers for thread domains beyond the static ones; 0 where the kernel allocates registers one by one, without
    /// such a limit (Linux 5.7 and later, `lib_uar_dyn`).
    pub max_dynamic_bfregs: u32,
    /// Ports that the device can bond (LAG), be they bonded or not; 0 or 1: none. [`Qp::lag_port`](crate::verbs::Qp::lag_port)
    /// tells whether they are.
    pub lag_ports: u8,
    /// log2 of the streams of an initiator of dynamic connections; 0 where there is but one.
    pub max_log_dci_streams: u8,
    /// Limit for an initiator's failed streams, as log2: with that many, the initiator fails itself. 0: it fails with
    /// the first.
    pub max_log_dci_errored: u8,
    /// Most bytes of a [copy](crate::verbs::memory::Copier) that the device makes; 0: it makes none.
    pub max_memcpy: u32,
    /// How much data the device encrypts by one memory key (AES-XTS); `None`: it does not encrypt.
    pub encryption: Option<DataUnits>,
    /// The strides that receive queues of frames can have; `None`: the device has no striding receive queues.
    pub striding: Option<StridesLimits>,
    /// The device does atomics. Linux reports this only for a device that returns 8 bytes in the CPU's order
    /// (`get_atomic_caps`).
    pub atomics: bool,
    /// The device has extended reliable connections.
    pub xrc: bool,
    /// There are memory windows of type 1.
    pub memory_windows: bool,
    /// There are memory windows of type 2B.
    pub memory_windows_2: bool,
    /// Raw packet queue pairs send several frames from one WQE ([`Session`](crate::queue::send::Session)). Not on
    /// devices that need headers inline.
    pub multi_packet: bool,
    /// Most bytes of payload of a [large send](crate::wqe::Request::large) of a raw packet queue pair; 0: it has none.
    pub max_large_send: u32,
    /// The tunnels whose inner headers the device finds: for checksums and large sends
    /// ([`Request::inner_l3_checksum`](crate::wqe::Request::inner_l3_checksum)), and in received frames
    /// ([`CqeView::tunnel`](crate::cq::CqeView::tunnel)).
    pub tunnels: Tunnels,
    /// The abilities of raw packet queue pairs with [offsets of headers](crate::wqe::Request::header_offsets).
    pub software_parser: SoftwareParser,
    /// The rates that raw packet queue pairs can have
    /// ([`set_rate_limit`](crate::verbs::QueuePair::set_rate_limit)); `None`: the device has none.
    pub rate_limits: Option<RateLimits>,
    /// CQEs have version 1 (they carry a user index).
    pub cqe_version_1: bool,
}

impl DeviceAttr {
    /// The offloads of raw packet queue pairs. The kernel allows WQEs of several frames for each of them, if the device
    /// has such WQEs (Linux `drivers/infiniband/hw/mlx5/qp.c`, `create_raw_packet_qp_sq`).
    ///
    /// Linux lets all of them use the software parser, if the device has one. Verbs does not say whether rules can
    /// match metadata: a device without this refuses the rules.
    pub(crate) const fn frame_offloads(&self) -> FrameOffloads {
        let Self { multi_packet, max_large_send, tunnels, software_parser, .. } = *self;
        FrameOffloads {
            multi_packet,
            inner_checksums: tunnels.any(),
            header_offsets: software_parser.checksums,
            header_offsets_of_large: software_parser.large_sends,
            metadata: true,
            max_large_send,
        }
    }

    /// Refuses receivers that look into tunnels of a device that finds none. Linux refuses them on the same grounds, and
    /// its errno would not say so (`drivers/infiniband/hw/mlx5/qp.c`, `tunnel_offload_supported`).
    pub(in crate::verbs) fn check_looks_into_tunnels(&self) -> Result<(), Error> {
        if self.tunnels.any() { Ok(()) } else { Err(Error::Unsupported { what: "headers inside of received tunnels" }) }
    }
}

/// A count the C interface keeps in an `int`.
fn count(value: core::ffi::c_int) -> u32 {
    u32::try_from(value).unwrap_or(0)
}

/// How a device is opened: [`Device::options`].
#[derive(Clone, Copy, Debug, Default)]
#[must_use = "nothing is opened yet"]
pub struct OpenOptions {
    devx: bool,
}

impl OpenOptions {
    /// The context may send firmware commands of its own (`MLX5DV_CONTEXT_FLAGS_DEVX`). The crate `blueflame-devx`
    /// needs this. Off by default. If on, a kernel or device without DevX refuses to open.
    pub const fn devx(mut self, on: bool) -> Self {
        self.devx = on;
        self
    }

    /// Opens the device of this name.
    ///
    /// # Errors
    /// [`Error::NoDevices`], [`Error::UnknownDevice`] with a list of the devices, [`Error::NotMlx5`],
    /// [`Error::Library`], or a failed call.
    pub fn open(self, name: &str) -> Result<Device, Error> {
        let list = DeviceList::get()?;
        let known = list.names();
        match known.iter().position(|known| known == name) {
            // SAFETY: the device is of a list that is alive.
            Some(index) => unsafe { self.open_raw(list.devices()[index]) },
            None if known.is_empty() => Err(Error::NoDevices),
            None => Err(Error::UnknownDevice { name: name.to_string(), known }),
        }
    }

    /// Opens the first mlx5 device.
    ///
    /// # Errors
    /// [`Error::NoDevices`], [`Error::NotMlx5`] naming the first device if none is mlx5, [`Error::Library`], or a
    /// failed call.
    pub fn open_first(self) -> Result<Device, Error> {
        let list = DeviceList::get()?;
        let first = *list.devices().first().ok_or(Error::NoDevices)?;
        for &device in list.devices() {
            // SAFETY: the devices are of a list that is alive.
            if unsafe { is_mlx5(device) }? {
                // SAFETY: the device is of `list`.
                return unsafe { self.open_raw(device) };
            }
        }
        // SAFETY: the device is of `list`.
        unsafe { self.open_raw(first) }
    }

    /// # Safety
    /// The device belongs to a device list that is alive.
    unsafe fn open_raw(self, device: *mut sys::ibv_device) -> Result<Device, Error> {
        // SAFETY: the caller promises that the device is of a list that is alive.
        let (name, is_mlx5) = unsafe { (name_of(device), is_mlx5(device)?) };
        if !is_mlx5 {
            return Err(Error::NotMlx5 { name });
        }
        let raw = if self.devx {
            let mut attr = sys::mlx5dv_context_attr { flags: sys::MLX5DV_CONTEXT_FLAGS_DEVX, comp_mask: 0 };
            // SAFETY: the caller promises that the list is alive; the device is libmlx5's. The attributes live until the
            // call returns.
            non_null("mlx5dv_open_device", unsafe { sys::mlx5dv_open_device(device, &raw mut attr) })?
        } else {
            // SAFETY: the caller promises that the device is of a list that is alive.
            non_null("ibv_open_device", unsafe { sys::ibv_open_device(device) })?
        };
        // SAFETY: just opened, and libmlx5's.
        let attr = unsafe { query(raw.as_ptr()) }.inspect_err(|_| {
            // SAFETY: just opened; nothing was made of it.
            unsafe { sys::ibv_close_device(raw.as_ptr()) };
        })?;
        Ok(Device::over(raw, false, name, attr))
    }
}

impl Device {
    /// Begins to open a device in a particular way.
    pub fn options() -> OpenOptions {
        OpenOptions::default()
    }

    /// Opens the device of this name.
    ///
    /// # Errors
    /// As [`OpenOptions::open`].
    pub fn open(name: &str) -> Result<Self, Error> {
        Self::options().open(name)
    }

    /// Opens the first mlx5 device.
    ///
    /// # Errors
    /// As [`OpenOptions::open_first`].
    pub fn open_first() -> Result<Self, Error> {
        Self::options().open_first()
    }

    /// Imports a device that is open already, in another process or in this one, by a descriptor of its file: a
    /// duplicate of [`cmd_fd`](Self::cmd_fd), received by a socket (`SCM_RIGHTS`) or inherited. The objects of the file
    /// live until its last descriptor is closed, whichever process that has. Dropping the device closes this one.
    ///
    /// If it fails, the descriptor may stay open: libibverbs does not say whether it has closed it.
    ///
    /// # Errors
    /// [`Error::NotMlx5`], [`Error::Library`], or a failed call: `EINVAL` if the file is no device's, `ENODEV` if its
    /// device is not there.
    #[doc(alias = "ibv_import_device")]
    pub fn import(cmd_fd: OwnedFd) -> Result<Self, Error> {
        sys::available::verbs()?;
        // SAFETY: the descriptor is given away.
        let raw = non_null("ibv_import_device", unsafe { sys::ibv_import_device(cmd_fd.into_raw_fd()) })?;
        // SAFETY: just opened.
        let imported = unsafe { Self::described(raw) };
        let (name, attr) = imported.inspect_err(|_| {
            // SAFETY: just opened; nothing was made of it.
            unsafe { sys::ibv_close_device(raw.as_ptr()) };
        })?;
        Ok(Self::over(raw, false, name, attr))
    }

    /// The descriptor of the device's file. Give another process a duplicate, for it to [import](Self::import) the
    /// device.
    #[must_use]
    pub fn cmd_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the context is open as long as `self`, and its descriptor with it; written once, when it was opened.
        unsafe { BorrowedFd::borrow_raw((*self.as_raw()).cmd_fd) }
    }

    pub(in crate::verbs) fn over(
        raw: NonNull<sys::ibv_context>,
        adopted: bool,
        name: String,
        attr: DeviceAttr,
    ) -> Self {
        event!(INFO, "device opened", name, firmware = attr.fw_ver, ports = attr.ports, adopted);
        let (attr, blueflame) = (Arc::new(attr), blueflame_policy());
        Self {
            context: Arc::new(Context {
                raw,
                adopted,
                name,
                attr,
                memory: OnceLock::new(),
                inline: OnceLock::new(),
                blueflame,
                left_shared_queue: Mutex::default(),
            }),
        }
    }

    /// # Safety
    /// As [`adopt_context`](crate::verbs::adopt::adopt_context).
    pub(in crate::verbs) unsafe fn adopt(raw: NonNull<sys::ibv_context>) -> Result<Self, Error> {
        // SAFETY: the caller vouches for the context.
        let (name, attr) = unsafe { Self::described(raw) }?;
        Ok(Self::over(raw, true, name, attr))
    }

    /// The name and the attributes of an open device.
    ///
    /// # Safety
    /// `raw` is open.
    unsafe fn described(raw: NonNull<sys::ibv_context>) -> Result<(String, DeviceAttr), Error> {
        // SAFETY: the caller vouches for the context, which has its device written once.
        let device = unsafe { (*raw.as_ptr()).device };
        // SAFETY: the device of an open context.
        let (name, is_mlx5) = unsafe { (name_of(device), is_mlx5(device)?) };
        if !is_mlx5 {
            return Err(Error::NotMlx5 { name });
        }
        // SAFETY: open, and libmlx5's.
        Ok((name, unsafe { query(raw.as_ptr()) }?))
    }

    /// The device's name, as `ibv_devices` prints it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.context.name
    }

    /// The device's capabilities, as it reported them when it was opened.
    #[must_use]
    pub fn attr(&self) -> &DeviceAttr {
        self.context.attr()
    }

    /// The device's memory capabilities beyond pinning. The first call queries them.
    ///
    /// # Errors
    /// A failed call.
    pub fn memory_attr(&self) -> Result<MemoryAttr, Error> {
        self.context.memory_attr().copied()
    }

    /// The headers that the device needs inline in each frame: the reason to choose a
    /// [`RawPacket`](crate::transport::RawPacket). The first call asks the device.
    ///
    /// `None`: it cannot be asked, because the kernel has no DevX for this program, or the port is InfiniBand. Then
    /// queue pairs are made without this check.
    #[doc(alias("wqe_inline_mode", "eth_min_inline"))]
    #[must_use]
    pub fn inline_layers(&self) -> Option<InlineLayers> {
        self.context.inline_layers().0
    }

    /// The raw context, for calls this crate does not wrap. It is open as long as `self` or anything made from it
    /// lives.
    #[must_use]
    pub fn as_raw(&self) -> *mut sys::ibv_context {
        self.context.raw()
    }
}

/// Whether libmlx5 drives the device.
///
/// # Errors
/// [`Error::Library`].
///
/// # Safety
/// The device belongs to a device list that is alive, or is open.
pub(in crate::verbs) unsafe fn is_mlx5(device: *mut sys::ibv_device) -> Result<bool, Error> {
    sys::available::mlx5dv()?;
    // SAFETY: the caller promises that the device is of a list that is alive, or open.
    Ok(unsafe { sys::mlx5dv_is_supported(device) })
}

/// Queries the mlx5-specific attributes of an open context.
///
/// # Safety
/// The context is open and of an mlx5 device.
pub(in crate::verbs) unsafe fn query_mlx5(context: *mut sys::ibv_context) -> Result<sys::mlx5dv_context, Error> {
    let asked = sys::MLX5DV_CONTEXT_MASK_CQE_COMPRESION
        | sys::MLX5DV_CONTEXT_MASK_SWP
        | sys::MLX5DV_CONTEXT_MASK_STRIDING_RQ
        | sys::MLX5DV_CONTEXT_MASK_TUNNEL_OFFLOADS
        | sys::MLX5DV_CONTEXT_MASK_DYN_BFREGS
        | sys::MLX5DV_CONTEXT_MASK_CLOCK_INFO_UPDATE
        | sys::MLX5DV_CONTEXT_MASK_HCA_CORE_CLOCK
        | sys::MLX5DV_CONTEXT_MASK_NUM_LAG_PORTS
        | sys::MLX5DV_CONTEXT_MASK_DCI_STREAMS
        | sys::MLX5DV_CONTEXT_MASK_WR_MEMCPY_LENGTH
        | sys::MLX5DV_CONTEXT_MASK_CRYPTO_OFFLOAD;
    let mut mlx5 = sys::mlx5dv_context { comp_mask: asked, ..sys::mlx5dv_context::ZERO };
    // SAFETY: the context is open and libmlx5's; only the fields asked for are written, and those we declare.
    zero("mlx5dv_query_device", unsafe { sys::mlx5dv_query_device(context, &raw mut mlx5) })?;
    Ok(mlx5)
}

/// How much the device encrypts by one key.
fn data_units(caps: &sys::mlx5dv_crypto_caps) -> Option<DataUnits> {
    if caps.crypto_engines & sys::MLX5DV_CRYPTO_ENGINES_CAP_AES_XTS_MULTI_BLOCK != 0 {
        Some(DataUnits::Many)
    } else if caps.crypto_engines & sys::MLX5DV_CRYPTO_ENGINES_CAP_AES_XTS_SINGLE_BLOCK != 0 {
        Some(DataUnits::One)
    } else {
        None
    }
}

/// The strides of raw packets' receive queues.
fn striding(caps: &sys::mlx5dv_striding_rq_caps) -> Option<StridesLimits> {
    let log = |log: u32| u8::try_from(log).unwrap_or(u8::MAX);
    let limits = StridesLimits {
        min_log_count: log(caps.min_single_wqe_log_num_of_strides),
        max_log_count: log(caps.max_single_wqe_log_num_of_strides),
        min_log_bytes: log(caps.min_single_stride_log_num_of_bytes),
        max_log_bytes: log(caps.max_single_stride_log_num_of_bytes),
    };
    (caps.supported_qpts & 1 << sys::IBV_QPT_RAW_PACKET != 0).then_some(limits)
}

/// Queries the capabilities of an open context's device.
///
/// # Safety
/// The context is open and of an mlx5 device.
pub(crate) unsafe fn query(context: *mut sys::ibv_context) -> Result<DeviceAttr, Error> {
    let mut attr = sys::ibv_device_attr::ZERO;
    // SAFETY: the caller vouches for the context, the structure is ours.
    zero("ibv_query_device", unsafe { sys::ibv_query_device(context, &raw mut attr) })?;
    // SAFETY: the caller promises that the context is open, and of an mlx5 device.
    let mlx5 = unsafe { query_mlx5(context) }?;
    // SAFETY: the caller promises that the context is open.
    let (max_large_send, rate_limits) = unsafe { frames::extended(context) }?;
    let several = sys::MLX5DV_CONTEXT_FLAGS_MPW_ALLOWED | sys::MLX5DV_CONTEXT_FLAGS_ENHANCED_MPW;
    let has = |flag: u32| attr.device_cap_flags & flag != 0;
    let fw_ver: Vec<u8> = attr.fw_ver.iter().map(|&c| c as u8).take_while(|&c| c != 0).collect();
    Ok(DeviceAttr {
        fw_ver: String::from_utf8_lossy(&fw_ver).into_owned(),
        node_guid: u64::from_be(attr.node_guid),
        vendor_id: attr.vendor_id,
        vendor_part_id: attr.vendor_part_id,
        ports: attr.phys_port_cnt,
        max_qp: count(attr.max_qp),
        max_qp_wr: count(attr.max_qp_wr),
        max_sge: count(attr.max_sge),
        max_cqe: count(attr.max_cqe),
        max_srq_wr: count(attr.max_srq_wr),
        max_srq_sge: count(attr.max_srq_sge),
        max_qp_rd_atom: u8::try_from(attr.max_qp_rd_atom).unwrap_or(u8::MAX),
        max_qp_init_rd_atom: u8::try_from(attr.max_qp_init_rd_atom).unwrap_or(u8::MAX),
        max_mr: count(attr.max_mr),
        max_mr_size: attr.max_mr_size,
        max_dynamic_bfregs: mlx5.max_dynamic_bfregs,
        lag_ports: mlx5.num_lag_ports,
        max_log_dci_streams: mlx5.dci_streams_caps.max_log_num_concurent,
        max_log_dci_errored: mlx5.dci_streams_caps.max_log_num_errored,
        max_memcpy: u32::try_from(mlx5.max_wr_memcpy_length).unwrap_or(u32::MAX).min(MAX_MEMCPY_BYTES),
        encryption: data_units(&mlx5.crypto_caps),
        striding: striding(&mlx5.striding_rq_caps),
        memory_windows: has(sys::IBV_DEVICE_MEM_WINDOW),
        memory_windows_2: has(sys::IBV_DEVICE_MEM_WINDOW_TYPE_2B),
        atomics: attr.atomic_cap != sys::IBV_ATOMIC_NONE,
        xrc: attr.device_cap_flags & sys::IBV_DEVICE_XRC != 0,
        multi_packet: mlx5.flags & several == several,
        max_large_send,
        rate_limits,
        tunnels: Tunnels::of(mlx5.tunnel_offloads_caps),
        software_parser: SoftwareParser::of(mlx5.sw_parsing_caps),
        cqe_version_1: mlx5.flags & sys::MLX5DV_CONTEXT_FLAGS_CQE_V1 != 0,
    })
}
