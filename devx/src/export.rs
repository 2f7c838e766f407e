//! Objects, memory and registers of one process, for others that have its device file.
//!
//! The kernel keeps objects with the open file, not with the process: as long as any process has a descriptor of the
//! file, the objects of the file live. A process that imports the device ([`Context::import`]) may import its objects.

use core::ffi::{c_int, c_void};
use core::ptr::NonNull;

use blueflame_sys as sys;

use crate::check::in_range;
use crate::context::{Context, Object};
use crate::error::Error;
use crate::memory::Umem;
use crate::object::{Uar, UarKind};

/// Whether libmlx5 has the functions of this module.
pub(crate) fn available() -> Result<(), Error> {
    sys::available::export().map_err(|unavailable| Error::Verbs(unavailable.into()))
}

/// Checks that `needed` bytes were exported.
fn check(exported: &[u8], needed: usize) -> Result<(), Error> {
    in_range("bytes that were exported", exported.len() as u64, needed as u64..=needed as u64)
}

/// The numbers of bytes that libmlx5 exports.
fn sizes() -> sys::mlx5dv_export_sizes {
    let mut sizes = sys::mlx5dv_export_sizes::ZERO;
    // SAFETY: the structure is as long as is said.
    unsafe { sys::_mlx5dv_get_export_sizes(&raw mut sizes, size_of_val(&sizes)) };
    sizes
}

/// The exported bytes of a library's object: `export` writes `size` of them.
fn exported(
    call: &'static str,
    size: impl FnOnce(&sys::mlx5dv_export_sizes) -> u32,
    export: impl FnOnce(*mut c_void) -> c_int,
) -> Result<Vec<u8>, Error> {
    available()?;
    let mut bytes = vec![0; size(&sizes()) as usize];
    match export(bytes.as_mut_ptr().cast()) {
        0 => Ok(bytes),
        errno => Err(blueflame::verbs::CallError { call, errno }.into()),
    }
}

/// The library's object of bytes that were exported: `import` reads `size` of them.
fn imported<T>(
    call: &'static str,
    exported: &[u8],
    size: impl FnOnce(&sys::mlx5dv_export_sizes) -> u32,
    import: impl FnOnce(*mut c_void) -> *mut T,
) -> Result<NonNull<T>, Error> {
    available()?;
    check(exported, size(&sizes()) as usize)?;
    // libmlx5 takes a pointer to mutable bytes, and only reads them.
    NonNull::new(import(exported.as_ptr().cast_mut().cast())).ok_or_else(|| crate::memory::last(call).into())
}

impl Object {
    /// Exports the object, for a process that has this context's device file: plain bytes, for any channel between the
    /// two. The same release of libmlx5 must read them.
    ///
    /// # Errors
    /// [`Error::Verbs`]: libmlx5 is older than rdma-core 65. [`Error::Call`].
    #[doc(alias = "mlx5dv_devx_obj_export")]
    pub fn export(&self) -> Result<Vec<u8>, Error> {
        exported(
            "mlx5dv_devx_obj_export",
            |sizes| sizes.devx_obj_attrs_size,
            |data| {
                // SAFETY: the object is alive, and the bytes are as many as libmlx5 asks for.
                unsafe { sys::mlx5dv_devx_obj_export(self.as_raw(), data) }
            },
        )
    }

    /// Imports an object: for queries and changes. Dropping the value leaves the object alone. To
    /// [destroy](Object::destroy) it destroys it for all processes.
    ///
    /// libmlx5 checks nothing here. If the object does not exist any more, commands on it fail with `ENOENT`.
    ///
    /// # Errors
    /// [`Error::Verbs`]: libmlx5 is older than rdma-core 65. [`Error::OutOfRange`]: another release has exported the
    /// bytes. [`Error::Call`]: no memory.
    ///
    /// # Safety
    /// - `exported` comes from [`export`](Self::export), in a process whose context has the device file of `context`.
    ///   Otherwise the handle is that of any object of the file.
    /// - After one process has destroyed the object, the others only drop their values: the kernel gives the handle to
    ///   the next object.
    /// - Changes keep the conditions of [`modify`](Object::modify) in all processes. If this value destroys the object,
    ///   no queue over it is used any more.
    #[doc(alias("mlx5dv_devx_obj_import", "mlx5dv_devx_obj_unimport"))]
    pub unsafe fn import(context: &Context, exported: &[u8]) -> Result<Self, Error> {
        let raw = imported(
            "mlx5dv_devx_obj_import",
            exported,
            |sizes| sizes.devx_obj_attrs_size,
            |data| {
                // SAFETY: the context is open, and the bytes are as many as libmlx5 reads.
                unsafe { sys::mlx5dv_devx_obj_import(context.raw(), data) }
            },
        )?;
        // SAFETY: just imported.
        Ok(unsafe { Self::imported(context, raw) })
    }
}

impl Umem {
    /// Exports the registration, for a process that has this context's device file.
    ///
    /// # Errors
    /// [`Error::Verbs`]: libmlx5 is older than rdma-core 65. [`Error::Call`].
    #[doc(alias = "mlx5dv_devx_umem_export")]
    pub fn export(&self) -> Result<Vec<u8>, Error> {
        exported(
            "mlx5dv_devx_umem_export",
            |sizes| sizes.devx_umem_attrs_size,
            |data| {
                // SAFETY: the memory is registered, and the bytes are as many as libmlx5 asks for.
                unsafe { sys::mlx5dv_devx_umem_export(self.as_raw(), data) }
            },
        )
    }

    /// Imports memory that another process has registered, and that this one has mapped at `start`: the same pages, of
    /// a file that both share. Commands of this process can name it. Dropping the value does not end the registration.
    ///
    /// # Errors
    /// As [`Object::import`].
    ///
    /// # Safety
    /// - `exported` comes from [`export`](Self::export), in a process whose context has the device file of `context`.
    /// - The other process keeps the registration for as long as the value, and everything made of it, lives.
    /// - The conditions of [`over`](Self::over) hold here for `len` bytes at `start`, which are the registered ones.
    #[doc(alias("mlx5dv_devx_umem_import", "mlx5dv_devx_umem_unimport"))]
    pub unsafe fn import(context: &Context, exported: &[u8], start: NonNull<u8>, len: usize) -> Result<Self, Error> {
        let raw = imported(
            "mlx5dv_devx_umem_import",
            exported,
            |sizes| sizes.devx_umem_attrs_size,
            |data| {
                // SAFETY: the context is open, and the bytes are as many as libmlx5 reads.
                unsafe { sys::mlx5dv_devx_umem_import(context.raw(), data) }
            },
        )?;
        // SAFETY: just imported; the caller promises the memory.
        Ok(unsafe { Self::imported(context, raw, start, len) })
    }
}

/// The bytes of an exported register, little endian: where the file has its page, its place there, the page's number,
/// the kind.
const UAR_BYTES: usize = 8 + 8 + 4 + 1;

impl Uar {
    /// Exports the register, for a process that has this context's device file. Export it before it goes into a queue;
    /// only one process may ring it.
    #[must_use]
    pub fn export(&self) -> Vec<u8> {
        let (mmap_off, register) = self.place();
        let kind = match self.page().kind() {
            UarKind::BlueFlame => 0,
            UarKind::NonCachedDedicated => 1,
            UarKind::NonCached => 2,
        };
        let mut bytes = Vec::with_capacity(UAR_BYTES);
        bytes.extend_from_slice(&mmap_off.to_le_bytes());
        bytes.extend_from_slice(&(register as u64).to_le_bytes());
        bytes.extend_from_slice(&self.page().id().get().to_le_bytes());
        bytes.push(kind);
        bytes
    }

    /// Imports a register: maps its page. Dropping it unmaps the page, which stays the other process's.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for bytes that are no register's. [`Error::Call`]: the file has no such page.
    ///
    /// # Safety
    /// - `exported` comes from [`export`](Self::export), in a process whose context has the device file of `context`,
    ///   and which keeps the register for as long as this value, and everything made of it, lives.
    /// - No other process rings it meanwhile, and nothing else in this one.
    pub unsafe fn import(context: &Context, exported: &[u8]) -> Result<Self, Error> {
        check(exported, UAR_BYTES)?;
        let number = |at: usize, len: usize| {
            exported[at..at + len].iter().rev().fold(0_u64, |all, &byte| all << 8 | u64::from(byte))
        };
        let kind = match number(20, 1) {
            0 => UarKind::BlueFlame,
            1 => UarKind::NonCachedDedicated,
            2 => UarKind::NonCached,
            kind => {
                return Err(Error::OutOfRange { what: "kind of an exported register", value: kind, min: 0, max: 2 });
            }
        };
        // SAFETY: the caller promises a register of this file, which nothing else rings.
        unsafe { Self::mapped(context, kind, (number(0, 8), number(8, 8)), number(16, 4) as u32) }
    }
}
