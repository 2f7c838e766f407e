//! The functions, loaded when the first of them is called.

use core::ffi::{c_int, c_void};
use std::sync::OnceLock;

use blueflame::verbs::Error;
use blueflame::verbs::ffi::Library;
use rdma_sys::ibv_context;

use super::{
    Mlx5dvDevxAsyncCmdHdr, Mlx5dvDevxAsyncEventHdr, Mlx5dvDevxCmdComp, Mlx5dvDevxEventChannel, Mlx5dvDevxObj,
    Mlx5dvDevxUar, Mlx5dvDevxUmem, Mlx5dvDevxUmemIn, Mlx5dvPp,
};

/// The library, by the name of its interface.
pub(super) const LIBRARY: &str = "libmlx5.so.1";

/// Declares the table of functions, and a function of the same name for each.
macro_rules! library_functions {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty, else $absent:expr)?;)*) => {
        /// The functions of libmlx5 that this crate calls.
        struct Functions {
            $($name: unsafe extern "C" fn($($ty),*) $(-> $ret)?,)*
        }

        impl Functions {
            fn load() -> Result<Self, Error> {
                let library = Library::open(LIBRARY)?;
                Ok(Self {
                    // SAFETY: a function of that name has this type (`mlx5dv.h`).
                    $($name: unsafe {
                        core::mem::transmute::<*mut c_void, unsafe extern "C" fn($($ty),*) $(-> $ret)?>(
                            library.find(stringify!($name))?,
                        )
                    },)*
                })
            }
        }

        /// Each function as a declaration of C would have it, for the test that compares them with the header.
        #[doc(hidden)]
        pub const DECLARED: &[(&str, &[&str], &str)] = &[$((
            stringify!($name),
            &[$(stringify!($ty)),*],
            concat!("" $(, stringify!($ret))?),
        )),*];

        /// The functions, looked up once.
        fn functions() -> Result<&'static Functions, Error> {
            static FUNCTIONS: OnceLock<Result<Functions, Error>> = OnceLock::new();
            FUNCTIONS.get_or_init(Functions::load).as_ref().map_err(Clone::clone)
        }

        $(
            $(#[$doc])*
            ///
            /// # Safety
            /// `mlx5dv.h` states the conditions: all pointers are to live objects of the libraries, or to as many bytes
            /// as the call says.
            pub unsafe fn $name($($arg: $ty),*) $(-> $ret)? {
                match functions() {
                    // SAFETY: the caller promises pointers to live objects, or to as many bytes as the call says.
                    Ok(functions) => unsafe { (functions.$name)($($arg),*) },
                    Err(_) => { $($absent)? }
                }
            }
        )*
    };
}

pub(super) use library_functions;

library_functions! {
    /// Sends a command that makes no object. Returns 0 or an errno.
    fn mlx5dv_devx_general_cmd(
        context: *mut ibv_context, r#in: *const c_void, inlen: usize, out: *mut c_void, outlen: usize,
    ) -> c_int, else libc::ENOSYS;
    /// Sends a command that makes an object. Null and `errno` on failure.
    fn mlx5dv_devx_obj_create(
        context: *mut ibv_context, r#in: *const c_void, inlen: usize, out: *mut c_void, outlen: usize,
    ) -> *mut Mlx5dvDevxObj, else absent();
    /// Sends a command that asks an object. Returns 0 or an errno.
    fn mlx5dv_devx_obj_query(
        obj: *mut Mlx5dvDevxObj, r#in: *const c_void, inlen: usize, out: *mut c_void, outlen: usize,
    ) -> c_int, else libc::ENOSYS;
    /// Sends a command that changes an object. Returns 0 or an errno.
    fn mlx5dv_devx_obj_modify(
        obj: *mut Mlx5dvDevxObj, r#in: *const c_void, inlen: usize, out: *mut c_void, outlen: usize,
    ) -> c_int, else libc::ENOSYS;
    /// Destroys an object. Returns 0 or an errno.
    fn mlx5dv_devx_obj_destroy(obj: *mut Mlx5dvDevxObj) -> c_int, else libc::ENOSYS;
    /// Registers memory. Null and `errno` on failure.
    fn mlx5dv_devx_umem_reg(
        ctx: *mut ibv_context, addr: *mut c_void, size: usize, access: u32,
    ) -> *mut Mlx5dvDevxUmem, else absent();
    /// Registers memory, with further attributes. Null and `errno` on failure.
    fn mlx5dv_devx_umem_reg_ex(
        ctx: *mut ibv_context, umem_in: *mut Mlx5dvDevxUmemIn,
    ) -> *mut Mlx5dvDevxUmem, else absent();
    /// Ends a registration. Returns 0 or an errno.
    fn mlx5dv_devx_umem_dereg(umem: *mut Mlx5dvDevxUmem) -> c_int, else libc::ENOSYS;
    /// Allocates and maps a page of doorbell registers. Null and `errno` on failure.
    fn mlx5dv_devx_alloc_uar(context: *mut ibv_context, flags: u32) -> *mut Mlx5dvDevxUar, else absent();
    /// Frees a page of doorbell registers.
    fn mlx5dv_devx_free_uar(devx_uar: *mut Mlx5dvDevxUar);
    /// Takes an entry of the device's table of rates. Null and `errno` on failure.
    fn mlx5dv_pp_alloc(
        context: *mut ibv_context, pp_context_sz: usize, pp_context: *const c_void, flags: u32,
    ) -> *mut Mlx5dvPp, else absent();
    /// Gives it back.
    fn mlx5dv_pp_free(pp: *mut Mlx5dvPp);
    /// Queries the number of the event queue that serves an interrupt vector. Returns 0 or an errno.
    fn mlx5dv_devx_query_eqn(context: *mut ibv_context, vector: u32, eqn: *mut u32) -> c_int, else libc::ENOSYS;
    /// Makes a channel for answers to asynchronous queries. Null and `errno` on failure.
    fn mlx5dv_devx_create_cmd_comp(context: *mut ibv_context) -> *mut Mlx5dvDevxCmdComp, else absent();
    /// Ends it.
    fn mlx5dv_devx_destroy_cmd_comp(cmd_comp: *mut Mlx5dvDevxCmdComp);
    /// Sends a query of an object without waiting for the answer. Returns 0 or an errno.
    fn mlx5dv_devx_obj_query_async(
        obj: *mut Mlx5dvDevxObj, r#in: *const c_void, inlen: usize, outlen: usize, wr_id: u64,
        cmd_comp: *mut Mlx5dvDevxCmdComp,
    ) -> c_int, else libc::ENOSYS;
    /// Takes an answer. Returns 0 or an errno.
    fn mlx5dv_devx_get_async_cmd_comp(
        cmd_comp: *mut Mlx5dvDevxCmdComp, cmd_resp: *mut Mlx5dvDevxAsyncCmdHdr, cmd_resp_len: usize,
    ) -> c_int, else libc::ENOSYS;
    /// Makes a channel for events. Null and `errno` on failure.
    fn mlx5dv_devx_create_event_channel(
        context: *mut ibv_context, flags: u32,
    ) -> *mut Mlx5dvDevxEventChannel, else absent();
    /// Ends it.
    fn mlx5dv_devx_destroy_event_channel(event_channel: *mut Mlx5dvDevxEventChannel);
    /// Subscribes a channel to events of an object, or of the device. Returns 0 or an errno.
    fn mlx5dv_devx_subscribe_devx_event(
        event_channel: *mut Mlx5dvDevxEventChannel, obj: *mut Mlx5dvDevxObj, events_sz: u16, events_num: *mut u16,
        cookie: u64,
    ) -> c_int, else libc::ENOSYS;
    /// Subscribes an eventfd to events. Returns 0 or an errno.
    fn mlx5dv_devx_subscribe_devx_event_fd(
        event_channel: *mut Mlx5dvDevxEventChannel, fd: c_int, obj: *mut Mlx5dvDevxObj, event_num: u16,
    ) -> c_int, else libc::ENOSYS;
    /// Takes an event. Returns how many bytes were read, or -1 and `errno`.
    fn mlx5dv_devx_get_event(
        event_channel: *mut Mlx5dvDevxEventChannel, event_data: *mut Mlx5dvDevxAsyncEventHdr, event_resp_len: usize,
    ) -> isize, else { absent::<c_int>(); -1 };
}

/// Whether libmlx5 has all of these functions.
///
/// # Errors
/// [`Error::Library`], which names the missing part.
pub fn available() -> Result<(), Error> {
    functions().map(drop)
}

/// Null, with `errno` = `ENOSYS`.
pub(super) fn absent<T>() -> *mut T {
    // SAFETY: the C library's per-thread errno is always there to be written.
    unsafe { *libc::__errno_location() = libc::ENOSYS };
    core::ptr::null_mut()
}
