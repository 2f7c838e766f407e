//! A command that libibverbs offers to its providers only, issued here by the kernel's own interface (Linux
//! `include/uapi/rdma/rdma_user_ioctl_cmds.h`, `ib_user_verbs.h`, `mlx5-abi.h`).

use core::ffi::c_int;

use blueflame_sys as sys;

use crate::verbs::error::CallError;

/// `struct ib_uverbs_ioctl_hdr`, with room for the attributes of one command.
#[repr(C)]
struct Call<const N: usize> {
    length: u16,
    object_id: u16,
    method_id: u16,
    num_attrs: u16,
    reserved1: u64,
    driver_id: u32,
    reserved2: u32,
    attrs: [Attr; N],
}

/// `struct ib_uverbs_attr`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Attr {
    attr_id: u16,
    len: u16,
    flags: u16,
    reserved: u16,
    /// The value, if it has 8 bytes at most; else its address.
    data: u64,
}

/// `struct ib_uverbs_resize_cq`.
#[repr(C)]
struct ResizeCq {
    response: u64,
    cq_handle: u32,
    cqe: u32,
}

/// `struct mlx5_ib_resize_cq`.
#[repr(C)]
struct Mlx5ResizeCq {
    buf_addr: u64,
    cqe_size: u16,
    reserved0: u16,
    reserved1: u32,
}

/// `struct ib_uverbs_resize_cq_resp`.
#[repr(C)]
#[derive(Default)]
struct ResizeCqResp {
    cqe: u32,
    reserved: u32,
}

/// `UVERBS_OBJECT_DEVICE`, `UVERBS_METHOD_INVOKE_WRITE` and its attributes; `UVERBS_ATTR_UHW_IN`.
const OBJECT_DEVICE: u16 = 0;
const METHOD_INVOKE_WRITE: u16 = 0;
const ATTR_CORE_IN: u16 = 0;
const ATTR_CORE_OUT: u16 = 1;
const ATTR_WRITE_CMD: u16 = 2;
const ATTR_UHW_IN: u16 = 1 << 12;
/// `UVERBS_ATTR_F_MANDATORY`.
const MANDATORY: u16 = 1;
/// `RDMA_DRIVER_MLX5`.
const DRIVER_MLX5: u32 = 1;
/// `IB_USER_VERBS_CMD_RESIZE_CQ`.
const CMD_RESIZE_CQ: u64 = 19;
/// `RDMA_VERBS_IOCTL`.
const VERBS_IOCTL: libc::Ioctl = libc::_IOWR::<Call<0>>(0x1b, 1);

static_assertions::const_assert_eq!(size_of::<Call<0>>(), 24);
static_assertions::const_assert_eq!(size_of::<Attr>(), 16);
static_assertions::const_assert_eq!(size_of::<ResizeCq>(), 16);
static_assertions::const_assert_eq!(size_of::<Mlx5ResizeCq>(), 16);
static_assertions::const_assert_eq!(size_of::<ResizeCqResp>(), 8);

impl Attr {
    fn of<T>(attr_id: u16, value: *const T) -> Self {
        Self {
            attr_id,
            len: size_of::<T>() as u16,
            flags: MANDATORY,
            reserved: 0,
            data: value.expose_provenance() as u64,
        }
    }
}

/// Has the device write a completion queue's CQEs to another ring from now on: `cqes` CQEs of `cqe_bytes` at `buf`.
/// libmlx5 has a call for that, `ibv_resize_cq`, but that call copies completions from libmlx5's own consumer index on,
/// and frees the old ring.
///
/// Kernels before 5.0 do not accept this form of the command. Returns the number of CQEs that the kernel has chosen
/// for `cqes`.
///
/// # Safety
/// The queue is alive, and of libmlx5; `buf` is `cqes * cqe_bytes` bytes that are the device's as long as the queue is,
/// or until it is resized again.
pub(super) unsafe fn resize_cq(
    cq: *mut sys::ibv_cq,
    buf: *mut u8,
    cqes: u32,
    cqe_bytes: u16,
) -> Result<u32, CallError> {
    // SAFETY: the caller promises that the queue is alive; its context's descriptor is written once.
    let (handle, descriptor): (u32, c_int) = unsafe { ((*cq).handle, (*(*cq).context).cmd_fd) };
    let mut response = ResizeCqResp::default();
    let core = ResizeCq {
        response: (&raw mut response).expose_provenance() as u64,
        cq_handle: handle,
        // The kernel rounds this number, a power of two less one, up to the power.
        cqe: cqes - 1,
    };
    let driver =
        Mlx5ResizeCq { buf_addr: buf.expose_provenance() as u64, cqe_size: cqe_bytes, reserved0: 0, reserved1: 0 };
    // A constant, which takes 8 bytes.
    let command = Attr { attr_id: ATTR_WRITE_CMD, len: 8, flags: MANDATORY, reserved: 0, data: CMD_RESIZE_CQ };
    let mut call = Call {
        length: size_of::<Call<4>>() as u16,
        object_id: OBJECT_DEVICE,
        method_id: METHOD_INVOKE_WRITE,
        num_attrs: 4,
        reserved1: 0,
        driver_id: DRIVER_MLX5,
        reserved2: 0,
        attrs: [
            command,
            Attr::of(ATTR_CORE_IN, &raw const core),
            Attr::of(ATTR_UHW_IN, &raw const driver),
            Attr::of(ATTR_CORE_OUT, &raw const response),
        ],
    };
    // SAFETY: a command of the kernel's, whose parts live until it returns; the caller vouches for the ring.
    let returned = unsafe { libc::ioctl(descriptor, VERBS_IOCTL, &raw mut call) };
    if returned != 0 {
        return Err(CallError::last("RESIZE_CQ"));
    }
    // SAFETY: written by the kernel, through the address that was exposed.
    Ok(unsafe { (&raw const response).read_volatile() }.cqe.saturating_add(1))
}
