//! A PCI function that this program drives itself, by libmlx5's VFIO driver: no kernel driver and no other program has
//! it.
//!
//! ```no_run
//! use blueflame_devx::vfio::Function;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let function = Function::open("0000:3b:00.0")?;
//! let (context, path) = (function.context(), function.infiniband_path(1)?);
//! // Objects are made of `context` as on any device; `path` connects queue pairs. Meanwhile:
//! function.process_events()?;
//! # Ok(())
//! # }
//! ```
//!
//! Verbs has no queues, ports or addresses there. Protection domains of verbs register memory, and commands make
//! queues. All doorbells of a function are 8 bytes long, to one register.

use core::ptr::NonNull;
use std::ffi::CString;
use std::os::fd::{BorrowedFd, RawFd};
use std::sync::{Arc, Mutex, PoisonError};

use blueflame::verbs::adopt::take_context;
use blueflame::verbs::device::{DeviceAttr, LinkLayer, Mtu, Port, PortState, SoftwareParser, Tunnels};
use blueflame::verbs::{CallError, Path};
use blueflame::wqe::formats::DataUnits;
use blueflame_sys as sys;

use crate::caps;
use crate::cmd::{CapabilitySelector, CapabilitySet, CmdHcaCap, QueryHcaCapIn, QueryHcaCapOut};
use crate::context::{Context, failure};
use crate::error::Error;
use crate::mailbox::{Structure, bits};
use crate::memory::last;
use crate::support::{copies, strides};

/// A function. Its device stays open as long as any object made from it lives.
#[derive(Clone, Debug)]
pub struct Function {
    context: Context,
    /// Held while the driver processes events: it looks at the function's health without a lock of its own.
    events: Arc<Mutex<()>>,
}

/// An open context, closed when dropped.
struct Opened(NonNull<sys::ibv_context>);

impl Drop for Opened {
    fn drop(&mut self) {
        // SAFETY: opened, and nothing was made of it.
        unsafe { sys::ibv_close_device(self.0.as_ptr()) };
    }
}

impl Function {
    /// Opens and initializes the function of this name, such as `0000:3b:00.0`.
    ///
    /// # Errors
    /// [`Error::Call`]: there is no such function, VFIO's driver does not have it, or it is open (`EBUSY`).
    #[doc(alias = "mlx5dv_get_vfio_device_list")]
    pub fn open(pci_name: &str) -> Result<Self, Error> {
        let name = CString::new(pci_name).unwrap_or_default();
        let mut attr = sys::mlx5dv_vfio_context_attr { pci_name: name.as_ptr(), flags: 0, comp_mask: 0 };
        // SAFETY: the name ends with a zero byte, and is copied.
        let list = NonNull::new(unsafe { sys::mlx5dv_get_vfio_device_list(&raw mut attr) })
            .ok_or_else(|| last("mlx5dv_get_vfio_device_list"))?;
        // SAFETY: a list of one device, which ends with null.
        let raw = NonNull::new(unsafe { sys::ibv_open_device(*list.as_ptr()) }).ok_or_else(|| last("ibv_open_device"));
        // SAFETY: the list, freed once; a device that is open keeps itself alive.
        unsafe { sys::ibv_free_device_list(list.as_ptr()) };
        let opened = Opened(raw?);
        let attr = attributes(&opened)?;
        let raw = opened.0;
        core::mem::forget(opened);
        // SAFETY: opened above, and nobody else's.
        let device = unsafe { take_context(raw, pci_name, attr) };
        Ok(Self { context: Context::over(device), events: Arc::default() })
    }

    /// The device, for commands and objects.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The descriptor, which is readable when there are events for [`process_events`](Self::process_events).
    #[doc(alias = "mlx5dv_vfio_get_events_fd")]
    #[must_use]
    pub fn events_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the context is open, and of the VFIO driver.
        let fd: RawFd = unsafe { sys::mlx5dv_vfio_get_events_fd(self.context.raw()) };
        // SAFETY: the driver's as long as the context is open.
        unsafe { BorrowedFd::borrow_raw(fd) }
    }

    /// Makes the driver process the function's events: requests for memory, and events of commands. Call it when
    /// [`events_fd`](Self::events_fd) is readable. Call it once a second as well, for the function's health: the driver
    /// ends the program if the health is bad.
    ///
    /// # Errors
    /// [`Error::Call`].
    #[doc(alias = "mlx5dv_vfio_process_events")]
    pub fn process_events(&self) -> Result<(), Error> {
        let _alone = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the context is open, and of the VFIO driver.
        match unsafe { sys::mlx5dv_vfio_process_events(self.context.raw()) } {
            0 => Ok(()),
            errno => Err(CallError { call: "mlx5dv_vfio_process_events", errno }.into()),
        }
    }

    /// The path from InfiniBand port `number`: its LID and state, as commands report them (QUERY_HCA_VPORT_CONTEXT, and
    /// the register PMTU). Ethernet ports need addresses, which this driver does not give them.
    ///
    /// # Errors
    /// [`Error::Command`]; [`Error::Capability`] on Ethernet.
    pub fn infiniband_path(&self, number: u8) -> Result<Path, Error> {
        let general = self.context.general()?;
        if general.port_type() != 0 {
            let found = general.port_type().into();
            return Err(Error::Capability { name: "cmd_hca_cap.port_type", needed: 0, found });
        }
        // Functions with one port do not number it.
        let port = if general.num_ports() > 1 { number } else { 0 };
        let mut vport = [0; 16];
        bits::set(&mut vport, 0, 16, 0x762);
        bits::set(&mut vport, 0x4c, 4, port.into());
        let context = self.ask(&vport, 0x210)?;
        let mut register = [0; 32];
        bits::set(&mut register, 0, 16, 0x805);
        // Selects a read.
        bits::set(&mut register, 0x30, 16, 1);
        bits::set(&mut register, 0x50, 16, 0x5003);
        bits::set(&mut register, 0x88, 8, number.into());
        let pmtu = self.ask(&register, 32)?;
        let mtu = |at: usize| Mtu::from_bytes(bits::get(&pmtu, 0x80 + at, 16) as u32).unwrap_or(Mtu::B256);
        let state = if bits::get(&context, 0x80 + 0x11c, 4) == 4 { PortState::Active } else { PortState::Down };
        Ok(Path::new(
            Port {
                number,
                state,
                link_layer: LinkLayer::InfiniBand,
                active_mtu: mtu(0x60),
                max_mtu: mtu(0x20),
                lid: bits::get(&context, 0x80 + 0x300, 16) as u16,
                gid_tbl_len: 0,
                max_msg_sz: 1 << general.log_max_msg(),
                grh_required: bits::get(&context, 0x80 + 0x103, 1) != 0,
            },
            None,
        ))
    }

    /// Sends a command that only queries.
    fn ask(&self, inbox: &[u8], room: usize) -> Result<Vec<u8>, Error> {
        let mut outbox = vec![0; room];
        // SAFETY: it makes and changes nothing.
        unsafe { self.context.execute_raw(inbox, &mut outbox) }?;
        Ok(outbox)
    }
}

/// The attributes of the function that verbs would report.
fn attributes(opened: &Opened) -> Result<DeviceAttr, Error> {
    let mut inbox = QueryHcaCapIn::new();
    inbox.set_op_mod(CapabilitySelector { set: CapabilitySet::GENERAL, current: true });
    let mut outbox = QueryHcaCapOut::zeroed();
    let (input, output) = (inbox.as_bytes(), outbox.as_bytes_mut());
    let (input_at, output_at) = (input.as_ptr().cast(), output.as_mut_ptr().cast());
    let raw = opened.0.as_ptr();
    // SAFETY: the context is open; both mailboxes are as long as is said.
    let errno = unsafe { sys::mlx5dv_devx_general_cmd(raw, input_at, input.len(), output_at, output.len()) };
    if errno != 0 {
        return Err(failure(input, output, errno).into());
    }
    let general = caps::parse::<CmdHcaCap>(output);
    let count = |log: u8| 1_u32.checked_shl(log.into()).unwrap_or(u32::MAX);
    let outstanding = |log: u8| 1_u8.checked_shl(log.into()).unwrap_or(u8::MAX);
    Ok(DeviceAttr {
        // The library keeps it to itself.
        fw_ver: String::new(),
        node_guid: 0,
        vendor_id: 0,
        vendor_part_id: 0,
        ports: general.num_ports().max(1),
        max_qp: count(general.log_max_qp()),
        max_qp_wr: count(general.log_max_qp_sz()),
        max_sge: u32::from(general.max_wqe_sz_rq()) / 16,
        max_cqe: count(general.log_max_cq_sz()) - 1,
        max_srq_wr: count(general.log_max_srq_sz()),
        max_srq_sge: u32::from(general.max_wqe_sz_rq()) / 16,
        max_qp_rd_atom: outstanding(general.log_max_ra_res_qp()),
        max_qp_init_rd_atom: outstanding(general.log_max_ra_req_qp()),
        max_mr: count(general.log_max_mkey()),
        max_mr_size: u64::MAX,
        max_dynamic_bfregs: 0,
        lag_ports: general.num_lag_ports(),
        max_log_dci_streams: 0,
        max_log_dci_errored: 0,
        max_memcpy: copies::max_bytes(&general).unwrap_or(0),
        encryption: match (general.aes_xts_multi_block_be_tweak(), general.aes_xts_single_block_le_tweak()) {
            (true, _) => Some(DataUnits::Many),
            (false, true) => Some(DataUnits::One),
            (false, false) => None,
        },
        striding: strides::limits(&general),
        atomics: general.atomic(),
        // The library opens no XRC domains there.
        xrc: false,
        // The library allocates no memory windows there.
        memory_windows: false,
        memory_windows_2: false,
        // Nor does it make raw packet queue pairs.
        multi_packet: false,
        max_large_send: 0,
        rate_limits: None,
        tunnels: Tunnels::default(),
        software_parser: SoftwareParser::default(),
        cqe_version_1: general.cqe_version() == 1,
    })
}
