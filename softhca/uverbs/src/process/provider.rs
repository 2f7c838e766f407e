//! The libibverbs and the libmlx5 that made a device. A program may have several, by any file names, each loaded for one
//! plug-in alone (`RTLD_LOCAL`): Python wheels bundle their own.
//!
//! A device knows its driver: its table of functions lies in libmlx5, which depends on its libibverbs.

use super::user;
use libc::c_void;
use std::ffi::CStr;
use zerocopy::IntoBytes;

/// A function of libibverbs or libmlx5 that this object replaces.
pub(crate) struct Function {
    pub(crate) name: &'static CStr,
    /// A function of the same library that nobody replaces.
    pub(crate) beside: &'static CStr,
}

/// Bytes of `ibv_device` (libibverbs' `verbs.h`, ABI `IBVERBS_1.1`). The pointer to the driver's functions follows
/// (`verbs_device` of libibverbs' `driver.h`).
const DEVICE_BYTES: u64 = 664;

/// The definition of `function` for the `ibv_device` at `device`; null if there is none.
///
/// It is the one after ours if the library is in the program's scope: another preloaded object may replace the function,
/// too. Otherwise it is the library's own.
pub(crate) fn definition(device: u64, function: &Function) -> *mut c_void {
    // SAFETY: names end with a zero byte.
    let next = |name: &CStr| unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    let after_ours = next(function.name);
    match driver(device).map(|driver| [function.name, function.beside].map(|name| driver.find(name))) {
        Some([own, beside]) if !own.is_null() && (after_ours.is_null() || beside != next(function.beside)) => own,
        _ => after_ours,
    }
}

/// A loaded object, which stays for as long as this value.
struct Object(*mut c_void);

impl Object {
    /// The definition of `name` in the object, or in one that it depends on; null if there is none.
    fn find(&self, name: &CStr) -> *mut c_void {
        // SAFETY: a handle of the loader's, and a name that ends with a zero byte.
        unsafe { libc::dlsym(self.0, name.as_ptr()) }
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        // SAFETY: a handle of the loader's, closed once.
        unsafe { libc::dlclose(self.0) };
    }
}

/// The object that has the functions of the `ibv_device` at `device`.
fn driver(device: u64) -> Option<Object> {
    let mut functions = 0_u64;
    user::read(device.checked_add(DEVICE_BYTES)?, functions.as_mut_bytes()).ok()?;
    // SAFETY: plain data, for which all zeros is valid.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: a place for the result; any address may be asked about.
    if unsafe { libc::dladdr(functions as *const c_void, &mut found) } == 0 {
        return None;
    }
    // SAFETY: the name of a loaded object, which stays at least as long as the device. Nothing is loaded.
    let handle = unsafe { libc::dlopen(found.dli_fname, libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    (!handle.is_null()).then_some(Object(handle))
}
