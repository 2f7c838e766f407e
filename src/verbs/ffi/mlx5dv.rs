//! libmlx5's functions, loaded when they are first needed.
//!
//! The program is not linked with libmlx5. A linker takes the first `mlx5` on its path, and other crates put their own
//! there: `rdma-mummy-sys` (and so `sideway`) puts a stub there that lacks most functions. When libibverbs looks for
//! devices, it loads libmlx5 in the same way. So both use one copy: one file, named `libmlx5.so.1` or as libibverbs'
//! driver.

use core::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;

use rdma_sys as sys;

use super::declarations::{
    Mlx5dvContext, Mlx5dvContextAttr, Mlx5dvCqInitAttr, Mlx5dvFlowActionAttr, Mlx5dvFlowMatchParameters,
    Mlx5dvFlowMatcherAttr, Mlx5dvMkey, Mlx5dvMkeyInitAttr, Mlx5dvObj, Mlx5dvQpInitAttr, Mlx5dvWqInitAttr,
};
use crate::verbs::Error;

/// The library, by the name of its interface.
const LIBRARY: &str = "libmlx5.so.1";

/// Declares the table of functions, and a function of the same name for each.
macro_rules! functions {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),*) -> $ret:ty, else $absent:expr;)*) => {
        /// The functions of libmlx5 that this crate calls.
        pub(in crate::verbs) struct Functions {
            $($name: unsafe extern "C" fn($($ty),*) -> $ret,)*
        }

        impl Functions {
            fn load() -> Result<Self, Error> {
                let library = Library::open(LIBRARY)?;
                Ok(Self {
                    // SAFETY: a function of that name has this type (`mlx5dv.h`).
                    $($name: unsafe { core::mem::transmute::<*mut c_void, unsafe extern "C" fn($($ty),*) -> $ret>(
                        library.find(stringify!($name))?,
                    ) },)*
                })
            }
        }

        $(
            $(#[$doc])*
            ///
            /// # Safety
            /// `mlx5dv.h` states the conditions: all pointers are to live objects of libibverbs, or to structures as
            /// the function wants them.
            pub unsafe fn $name($($arg: $ty),*) -> $ret {
                match functions() {
                    // SAFETY: the caller promises that the pointers are to live objects, or to structures as the
                    // function wants them.
                    Ok(functions) => unsafe { (functions.$name)($($arg),*) },
                    Err(_) => $absent,
                }
            }
        )*
    };
}

functions! {
    /// Whether the device is driven by libmlx5. False if there is no libmlx5.
    fn mlx5dv_is_supported(device: *mut sys::ibv_device) -> bool, else false;
    /// Opens a device with mlx5's own attributes. Null and `errno` on failure, `ENOSYS` if there is no libmlx5.
    fn mlx5dv_open_device(
        device: *mut sys::ibv_device,
        attr: *mut Mlx5dvContextAttr
    ) -> *mut sys::ibv_context, else absent();
    /// Queries the mlx5-specific attributes. Returns 0 or an errno, `ENOSYS` if there is no libmlx5.
    fn mlx5dv_query_device(ctx_in: *mut sys::ibv_context, attrs_out: *mut Mlx5dvContext) -> c_int, else libc::ENOSYS;
    /// Hands out raw parts. Returns 0 or an errno, `ENOSYS` if there is no libmlx5.
    fn mlx5dv_init_obj(obj: *mut Mlx5dvObj, obj_type: u64) -> c_int, else libc::ENOSYS;
    /// Creates a CQ with mlx5's own attributes. Null and `errno` on failure, `ENOSYS` if there is no libmlx5.
    fn mlx5dv_create_cq(
        context: *mut sys::ibv_context,
        cq_attr: *mut sys::ibv_cq_init_attr_ex,
        mlx5_cq_attr: *mut Mlx5dvCqInitAttr
    ) -> *mut sys::ibv_cq_ex, else absent();
    /// Creates a QP with mlx5's own attributes. Null and `errno` on failure, `ENOSYS` if there is no libmlx5.
    fn mlx5dv_create_qp(
        context: *mut sys::ibv_context,
        qp_attr: *mut sys::ibv_qp_init_attr_ex,
        mlx5_qp_attr: *mut Mlx5dvQpInitAttr
    ) -> *mut sys::ibv_qp, else absent();
    /// Creates a work queue with mlx5's own attributes. Null and `errno` on failure, `ENOSYS` if there is no libmlx5.
    fn mlx5dv_create_wq(
        context: *mut sys::ibv_context,
        wq_init_attr: *mut sys::ibv_wq_init_attr,
        mlx5_wq_attr: *mut Mlx5dvWqInitAttr
    ) -> *mut sys::ibv_wq, else absent();
    /// Makes an indirect memory key. Null and `errno` on failure, `ENOSYS` if there is no libmlx5.
    fn mlx5dv_create_mkey(mkey_init_attr: *mut Mlx5dvMkeyInitAttr) -> *mut Mlx5dvMkey, else absent();
    /// Destroys it. Returns 0 or an errno, `ENOSYS` if there is no libmlx5.
    fn mlx5dv_destroy_mkey(mkey: *mut Mlx5dvMkey) -> c_int, else libc::ENOSYS;
    /// Makes a matcher: the fields of frames that count. Null and `errno` on failure, `ENOSYS` if there is no libmlx5.
    fn mlx5dv_create_flow_matcher(
        context: *mut sys::ibv_context,
        matcher_attr: *mut Mlx5dvFlowMatcherAttr
    ) -> *mut c_void, else absent();
    /// Destroys it. Returns 0 or an errno, `ENOSYS` if there is no libmlx5.
    fn mlx5dv_destroy_flow_matcher(matcher: *mut c_void) -> c_int, else libc::ENOSYS;
    /// Makes a rule with the fields of a matcher. Null and `errno` on failure, `ENOSYS` if there is no libmlx5.
    fn mlx5dv_create_flow(
        matcher: *mut c_void,
        match_value: *mut Mlx5dvFlowMatchParameters,
        num_actions: usize,
        actions_attr: *mut Mlx5dvFlowActionAttr
    ) -> *mut sys::ibv_flow, else absent();
    /// Has the device carry out a command about no object. Returns 0 or an errno, `ENOSYS` if there is no libmlx5.
    fn mlx5dv_devx_general_cmd(
        context: *mut sys::ibv_context,
        input: *const c_void,
        inlen: usize,
        output: *mut c_void,
        outlen: usize
    ) -> c_int, else libc::ENOSYS;
    /// Makes a failed stream of an initiator work again. Returns 0 or an errno, `ENOSYS` if there is no libmlx5.
    fn mlx5dv_dci_stream_id_reset(qp: *mut sys::ibv_qp, stream_id: u16) -> c_int, else libc::ENOSYS;
}

/// The functions, looked up once.
///
/// # Errors
/// [`Error::Library`] if the library, or one of the functions, is missing.
pub(in crate::verbs) fn functions() -> Result<&'static Functions, Error> {
    static FUNCTIONS: OnceLock<Result<Functions, Error>> = OnceLock::new();
    FUNCTIONS.get_or_init(Functions::load).as_ref().map_err(Clone::clone)
}

/// Null, with `errno` = `ENOSYS`.
fn absent<T>() -> *mut T {
    // SAFETY: the C library's per-thread errno is always there to be written.
    unsafe { *libc::__errno_location() = libc::ENOSYS };
    core::ptr::null_mut()
}

/// A loaded library. It stays loaded.
#[derive(Debug)]
pub struct Library {
    name: &'static str,
    handle: *mut c_void,
}

impl Library {
    /// Loads libibverbs, or one of its drivers.
    ///
    /// # Errors
    /// [`Error::Library`].
    pub fn open(name: &'static str) -> Result<Self, Error> {
        let file = std::ffi::CString::new(name).map_err(|_| failed(name, None))?;
        // SAFETY: a string. On loading, such a library only registers its driver with libibverbs.
        let handle = unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() { Err(failed(name, None)) } else { Ok(Self { name, handle }) }
    }

    /// The address of `symbol`, in its default version.
    ///
    /// # Errors
    /// [`Error::Library`].
    pub fn find(&self, symbol: &'static str) -> Result<*mut c_void, Error> {
        let name = std::ffi::CString::new(symbol).map_err(|_| failed(self.name, Some(symbol)))?;
        // SAFETY: the library is loaded, the name is a string.
        let address = unsafe { libc::dlsym(self.handle, name.as_ptr()) };
        if address.is_null() { Err(failed(self.name, Some(symbol))) } else { Ok(address) }
    }
}

/// The message of `dlerror` for the call that has just failed.
fn failed(library: &'static str, symbol: Option<&'static str>) -> Error {
    // SAFETY: returns a string that stays until this thread's next call of the kind, or null.
    let message = unsafe { libc::dlerror() }.cast_const().cast::<c_char>();
    let why = if message.is_null() {
        String::new()
    } else {
        // SAFETY: not null, so a string that stays until this thread's next call of the kind.
        unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned()
    };
    Error::Library { library, symbol, why }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named() {
        let library = Library::open(LIBRARY).expect("rdma-core is installed where this crate is built");
        assert!(library.find("mlx5dv_init_obj").is_ok());
        let error = library.find("mlx5dv_of_another_library").expect_err("no such function");
        let Error::Library { library, symbol, why } = &error else { panic!("{error}") };
        assert_eq!((*library, *symbol), ("libmlx5.so.1", Some("mlx5dv_of_another_library")));
        assert!(why.contains("mlx5dv_of_another_library"), "{why}");
        assert!(error.to_string().contains("mlx5dv_of_another_library of libmlx5.so.1"), "{error}");
    }
}
