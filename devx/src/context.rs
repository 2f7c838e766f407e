//! A device opened for DevX, and the commands to its firmware.

use core::ffi::{c_int, c_void};
use core::fmt;
use core::mem::ManuallyDrop;
use core::ptr::NonNull;
use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};

use blueflame::verbs::{CallError, Device};
use blueflame_sys as sys;

use crate::check::in_range;
use crate::cmd::{Opcode, Status};
use crate::error::{CommandError, Error};
use crate::mailbox::{Command, How, List, Structure, bits};
use crate::told::Told;

/// A device whose firmware accepts commands. Cheap to clone. It stays open as long as any object made from it lives.
#[derive(Clone, Debug)]
pub struct Context {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    device: Device,
    told: Told,
    /// The event queue of each interrupt vector that was queried.
    eqns: Mutex<HashMap<u32, EqNumber>>,
}

/// The number of an event queue, to which completion queues report completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EqNumber(pub u32);

/// Whether libmlx5 has the functions of this crate.
fn available() -> Result<(), Error> {
    sys::available::devx().map_err(|unavailable| Error::Verbs(unavailable.into()))
}

impl Context {
    /// Opens the device of this name for DevX.
    ///
    /// # Errors
    /// [`Error::Verbs`].
    pub fn open(name: &str) -> Result<Self, Error> {
        available()?;
        Ok(Self::over(Device::options().devx(true).open(name)?))
    }

    /// Opens the first mlx5 device for DevX.
    ///
    /// # Errors
    /// [`Error::Verbs`].
    pub fn open_first() -> Result<Self, Error> {
        available()?;
        Ok(Self::over(Device::options().devx(true).open_first()?))
    }

    /// Imports the device that another process, or another part of this one, has opened for DevX, by a descriptor of
    /// its file ([`Device::import`]). All that have the file share its objects. Import those that you use:
    /// [`Object::import`], [`Umem::import`](crate::memory::Umem::import), [`Uar::import`](crate::object::Uar::import).
    ///
    /// # Errors
    /// [`Error::Verbs`].
    pub fn import(cmd_fd: OwnedFd) -> Result<Self, Error> {
        available()?;
        Ok(Self::over(Device::import(cmd_fd)?))
    }

    /// Uses an open device: one opened by [`Device::options`] with `devx(true)`, or one adopted from a library that
    /// opened it with `MLX5DV_CONTEXT_FLAGS_DEVX`. On any other device, commands fail with `EPERM` or `EINVAL`.
    #[must_use]
    pub fn over(device: Device) -> Self {
        Self { inner: Arc::new(Inner { device, told: Told::default(), eqns: Mutex::default() }) }
    }

    /// The device, for verbs: ports, memory, queue pairs made by verbs.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.inner.device
    }

    /// Whether both are the same open device.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        self.inner.device.as_raw() == other.inner.device.as_raw()
    }

    /// Returns an error unless `of`, the open device of `object`, is this one.
    pub(crate) fn same(&self, object: &'static str, of: &Self) -> Result<(), Error> {
        if self.is(of) { Ok(()) } else { Err(Error::ForeignDevice { object }) }
    }

    pub(crate) fn told(&self) -> &Told {
        &self.inner.told
    }

    /// The number of the event queue that serves completion interrupt `vector`. The context queries each vector once.
    ///
    /// # Errors
    /// [`Error::Call`]: there is no such vector.
    #[doc(alias = "mlx5dv_devx_query_eqn")]
    pub fn event_queue(&self, vector: u32) -> Result<EqNumber, Error> {
        // Nothing panics while it holds the lock, and the map is valid after every step.
        if let Some(&known) = self.inner.eqns.lock().unwrap_or_else(PoisonError::into_inner).get(&vector) {
            return Ok(known);
        }
        let mut number = 0;
        // SAFETY: the context is open, the number is ours.
        let errno = unsafe { sys::mlx5dv_devx_query_eqn(self.raw(), vector, &raw mut number) };
        if errno != 0 {
            let errno = if errno < 0 { last_errno() } else { errno };
            return Err(CallError { call: "mlx5dv_devx_query_eqn", errno }.into());
        }
        let number = EqNumber(number);
        self.inner.eqns.lock().unwrap_or_else(PoisonError::into_inner).insert(vector, number);
        Ok(number)
    }

    pub(crate) fn raw(&self) -> *mut sys::ibv_context {
        self.inner.device.as_raw()
    }

    /// Sends a command that makes no object, and returns the answer.
    ///
    /// ```no_run
    /// use blueflame_devx::{Context, Error, cmd};
    ///
    /// # fn f(context: &Context) -> Result<(), Error> {
    /// let out = context.execute(&cmd::QueryAdapterIn::new())?;
    /// println!("PSID {:?}", out.query_adapter_struct().vsd_contd_psid());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A command that is sent in another way ([`Command::HOW`]) does not compile:
    ///
    /// ```compile_fail,E0080
    /// # use blueflame_devx::{Context, Error, cmd};
    /// let execute: fn(&Context, &cmd::CreateQpIn) -> Result<cmd::CreateQpOut, Error> = Context::execute;
    /// ```
    ///
    /// # Errors
    /// [`Error::Opcode`], [`Error::Command`].
    #[doc(alias = "mlx5dv_devx_general_cmd")]
    pub fn execute<C: Command>(&self, inbox: &C) -> Result<C::Out, Error> {
        let mut outbox = C::Out::zeroed();
        self.send_general(inbox, outbox.as_bytes_mut())?;
        Ok(outbox)
    }

    /// [Executes](Self::execute) a command whose answer has a list behind it. `outbox` is the space for both
    /// ([`List::zeroed`]).
    ///
    /// # Errors
    /// As `execute`.
    pub fn execute_into<C: Command, E: Structure>(
        &self,
        inbox: &C,
        mut outbox: List<C::Out, E>,
    ) -> Result<List<C::Out, E>, Error> {
        self.send_general(inbox, outbox.as_bytes_mut())?;
        Ok(outbox)
    }

    fn send_general<C: Command>(&self, inbox: &C, outbox: &mut [u8]) -> Result<(), Error> {
        const { assert!(matches!(C::HOW, How::Executes), "the command makes, changes or queries something") };
        self.send(checked(inbox)?, outbox)
    }

    /// Sends raw bytes, for commands that this crate does not describe. The first two bytes of `inbox` are the opcode.
    /// If the device has no kernel driver ([`vfio`](crate::vfio)), the firmware executes every command.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if a mailbox is shorter than the 16-byte header that all mailboxes have;
    /// [`Error::Command`].
    ///
    /// # Safety
    /// The conditions depend on the command, like [`create`](Self::create)'s.
    pub unsafe fn execute_raw(&self, inbox: &[u8], outbox: &mut [u8]) -> Result<(), Error> {
        headed(inbox, outbox)?;
        self.send(inbox, outbox)
    }

    fn send(&self, inbox: &[u8], outbox: &mut [u8]) -> Result<(), Error> {
        let (input, output) = (inbox.as_ptr().cast(), outbox.as_mut_ptr().cast());
        // SAFETY: the context is open; both mailboxes are as long as is said.
        let errno = unsafe { sys::mlx5dv_devx_general_cmd(self.raw(), input, inbox.len(), output, outbox.len()) };
        answered(inbox, outbox, errno)
    }

    /// Sends a command that makes an object, for commands without a builder in [`object`](crate::object).
    ///
    /// # Errors
    /// [`Error::Command`].
    ///
    /// # Safety
    /// The command may tell the device to write to memory, named by UMEM or by key. This memory stays registered as
    /// long as the object lives, and nothing else uses it meanwhile. The device continues to use it if it refuses to
    /// destroy the object ([`Object::destroy`]).
    pub unsafe fn create<C: Command>(&self, inbox: &C) -> Result<(Object, C::Out), Error> {
        self.make(inbox, ())
    }

    /// Makes an object by raw bytes, for commands that this crate does not describe.
    ///
    /// # Errors
    /// As [`execute_raw`](Self::execute_raw).
    ///
    /// # Safety
    /// As for [`create`](Self::create).
    pub unsafe fn create_raw(&self, inbox: &[u8], outbox: &mut [u8]) -> Result<Object, Error> {
        headed(inbox, outbox)?;
        self.make_of(inbox, outbox, Box::new(()))
    }

    /// [Creates](Self::create) an object, for builders. `under` has everything that the mailbox names. It must belong
    /// to this context, and the object keeps it.
    ///
    /// # Errors
    /// [`Error::ForeignDevice`], [`Error::Command`].
    pub(crate) fn make<C: Command>(&self, inbox: &C, under: impl Under) -> Result<(Object, C::Out), Error> {
        const { assert!(matches!(C::HOW, How::Creates | How::CreatesOrModifies), "the command makes no object") };
        under.check(self)?;
        let mut outbox = C::Out::zeroed();
        let object = self.make_of(checked(inbox)?, outbox.as_bytes_mut(), Box::new(under))?;
        Ok((object, outbox))
    }

    fn make_of(&self, inbox: &[u8], outbox: &mut [u8], under: Box<dyn Under>) -> Result<Object, Error> {
        let (input, output) = (inbox.as_ptr().cast(), outbox.as_mut_ptr().cast());
        // SAFETY: the context is open; both mailboxes are as long as is said.
        let raw = unsafe { sys::mlx5dv_devx_obj_create(self.raw(), input, inbox.len(), output, outbox.len()) };
        let Some(raw) = NonNull::new(raw) else {
            let error = failure(inbox, outbox, last_errno());
            if error.may_be_done() {
                // Nobody knows the number of the object that the device may have, so it stays.
                core::mem::forget(under);
            }
            return Err(error.into());
        };
        Ok(Object { raw, under: ManuallyDrop::new(under), context: self.clone(), is_imported: false })
    }
}

/// An object that a command has made, destroyed when dropped. If the device refuses, the memory and objects that it
/// stands on stay as they are, because the device may still use them: rings and memory are leaked. They are leaked,
/// too, if the answer to the command that makes the object gets lost.
#[doc(alias("mlx5dv_devx_obj", "mlx5dv_devx_obj_create"))]
#[derive(Debug)]
pub struct Object {
    raw: NonNull<sys::mlx5dv_devx_obj>,
    under: ManuallyDrop<Box<dyn Under>>,
    context: Context,
    /// Another process has made it.
    is_imported: bool,
}

// SAFETY: libmlx5 keeps no state of an object that calls change; the kernel locks the state that they share.
unsafe impl Send for Object {}
// SAFETY: calls change no state that libmlx5 keeps of an object; the kernel locks the state that they share.
unsafe impl Sync for Object {}

impl Object {
    /// The device it was made on.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The raw object, for calls that this crate does not wrap (`blueflame::verbs::sys`): alive as long as `self`.
    #[must_use]
    pub fn as_raw(&self) -> *mut sys::mlx5dv_devx_obj {
        self.raw.as_ptr()
    }

    /// The object that `raw` stands for, which this process has not made.
    ///
    /// # Safety
    /// `raw` was just imported into `context`.
    pub(crate) unsafe fn imported(context: &Context, raw: NonNull<sys::mlx5dv_devx_obj>) -> Self {
        Self { raw, under: ManuallyDrop::new(Box::new(())), context: context.clone(), is_imported: true }
    }

    /// Destroys the object, also one of [another process](Self::import). If the device refuses, returns the object
    /// unchanged.
    ///
    /// # Errors
    /// The object, and [`Error::Call`].
    #[doc(alias = "mlx5dv_devx_obj_destroy")]
    pub fn destroy(self) -> Result<(), (Self, Error)> {
        let mut this = ManuallyDrop::new(self);
        match this.end() {
            Ok(()) => {
                // SAFETY: destroyed, so nothing of it is used again; the context is dropped once, as `this` is not.
                unsafe { core::ptr::drop_in_place(&raw mut this.context) };
                Ok(())
            }
            Err(error) => Err((ManuallyDrop::into_inner(this), error.into())),
        }
    }

    /// Destroys the object, and drops all under it. Nothing uses the object after this succeeds.
    fn end(&mut self) -> Result<(), CallError> {
        // SAFETY: made by `mlx5dv_devx_obj_create`, and not destroyed; every object that stood on it held it, and is
        // gone. If the call fails, libmlx5 keeps the handle (`providers/mlx5/verbs.c`, `_mlx5dv_devx_obj_destroy`;
        // `mlx5_vfio.c`, `vfio_devx_obj_destroy`).
        match unsafe { sys::mlx5dv_devx_obj_destroy(self.raw.as_ptr()) } {
            0 => {
                // SAFETY: once, as the object is destroyed once.
                unsafe { ManuallyDrop::drop(&mut self.under) };
                Ok(())
            }
            errno => Err(CallError { call: "mlx5dv_devx_obj_destroy", errno }),
        }
    }

    /// Sends a command that queries the object.
    ///
    /// # Errors
    /// [`Error::Command`].
    #[doc(alias = "mlx5dv_devx_obj_query")]
    pub fn query<C: Command>(&self, inbox: &C) -> Result<C::Out, Error> {
        let mut outbox = C::Out::zeroed();
        self.ask(inbox, outbox.as_bytes_mut())?;
        Ok(outbox)
    }

    /// [Queries](Self::query) the object by a command whose answer has a list behind it. `outbox` is the space for both
    /// ([`List::zeroed`]).
    ///
    /// # Errors
    /// [`Error::Command`].
    pub fn query_into<C: Command, E: Structure>(
        &self,
        inbox: &C,
        mut outbox: List<C::Out, E>,
    ) -> Result<List<C::Out, E>, Error> {
        self.ask(inbox, outbox.as_bytes_mut())?;
        Ok(outbox)
    }

    fn ask<C: Command>(&self, inbox: &C, outbox: &mut [u8]) -> Result<(), Error> {
        const { assert!(matches!(C::HOW, How::Queries), "the command queries no object") };
        self.call(sys::mlx5dv_devx_obj_query, checked(inbox)?, outbox)
    }

    /// Queries by raw bytes, for commands that this crate does not describe.
    ///
    /// # Errors
    /// As [`Context::execute_raw`].
    ///
    /// # Safety
    /// The conditions of [`Context::create`], unless the command only queries.
    pub unsafe fn query_raw(&self, inbox: &[u8], outbox: &mut [u8]) -> Result<(), Error> {
        headed(inbox, outbox)?;
        self.call(sys::mlx5dv_devx_obj_query, inbox, outbox)
    }

    /// Sends a command that changes the object, for commands without a method in [`object`](crate::object).
    ///
    /// # Errors
    /// [`Error::Command`].
    ///
    /// # Safety
    /// As for [`Context::create`]. In addition, the command does not move a queue pair that has queues of this crate
    /// to RESET or to RTS. The queues do not learn of a RESET, and after it the device executes old requests of the
    /// ring again. The memory of these requests may have another owner by then.
    pub unsafe fn modify<C: Command>(&self, inbox: &C) -> Result<C::Out, Error> {
        self.change(inbox)
    }

    /// Changes the object by raw bytes, for commands that this crate does not describe.
    ///
    /// # Errors
    /// As [`Context::execute_raw`].
    ///
    /// # Safety
    /// As for [`modify`](Self::modify).
    pub unsafe fn modify_raw(&self, inbox: &[u8], outbox: &mut [u8]) -> Result<(), Error> {
        headed(inbox, outbox)?;
        self.call(sys::mlx5dv_devx_obj_modify, inbox, outbox)
    }

    /// [Modifies](Self::modify) the object, for methods that know it. The mailbox names no other object: see
    /// [`change_to`](Self::change_to).
    pub(crate) fn change<C: Command>(&self, inbox: &C) -> Result<C::Out, Error> {
        const { assert!(matches!(C::HOW, How::Modifies | How::CreatesOrModifies), "the command changes no object") };
        let mut outbox = C::Out::zeroed();
        self.call(sys::mlx5dv_devx_obj_modify, checked(inbox)?, outbox.as_bytes_mut())?;
        Ok(outbox)
    }

    /// As [`change`](Self::change). `under` has all that the mailbox names, and the caller keeps it.
    ///
    /// # Errors
    /// [`Error::ForeignDevice`], [`Error::Command`].
    pub(crate) fn change_to<C: Command>(&self, inbox: &C, under: &dyn Under) -> Result<C::Out, Error> {
        under.check(&self.context)?;
        self.change(inbox)
    }

    fn call(
        &self,
        function: unsafe fn(*mut sys::mlx5dv_devx_obj, *const c_void, usize, *mut c_void, usize) -> c_int,
        inbox: &[u8],
        outbox: &mut [u8],
    ) -> Result<(), Error> {
        let (input, output) = (inbox.as_ptr().cast(), outbox.as_mut_ptr().cast());
        // SAFETY: the object is alive; both mailboxes are as long as is said.
        let errno = unsafe { function(self.raw.as_ptr(), input, inbox.len(), output, outbox.len()) };
        answered(inbox, outbox, errno)
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        if self.is_imported {
            // SAFETY: imported, and not destroyed; nothing is under it.
            unsafe { sys::mlx5dv_devx_obj_unimport(self.raw.as_ptr()) };
            return;
        }
        // A failure leaks all under it.
        let _ = self.end();
    }
}

/// The objects and memory that an object stands on. [`Context::make`] checks them before it sends the command, and the
/// object keeps them. An object that is kept is therefore always checked.
pub(crate) trait Under: Send + Sync + 'static {
    /// Returns an error if an object belongs to another open device than `context`: here its number names another
    /// object, or none.
    ///
    /// # Errors
    /// [`Error::ForeignDevice`].
    fn check(&self, context: &Context) -> Result<(), Error>;
}

impl fmt::Debug for dyn Under {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

/// The bytes of a mailbox, if its opcode is that of its type. Setters and `as_bytes_mut` can write another opcode, and
/// the opcode decides whether sending is safe.
pub(crate) fn checked<C: Command>(inbox: &C) -> Result<&[u8], Error> {
    let bytes = inbox.bytes();
    let (of, is) = (Opcode(C::OPCODE), Opcode(bits::get(bytes, 0, 16) as u16));
    if of != is {
        return Err(Error::Opcode { of, is });
    }
    Ok(bytes)
}

/// Returns an error for a raw mailbox shorter than the common header, which libmlx5 reads (`mlx5_ifc_mbox_in_bits`,
/// `mlx5_ifc_mbox_out_bits`).
fn headed(inbox: &[u8], outbox: &[u8]) -> Result<(), Error> {
    /// Bytes of either header.
    const HEADER: u64 = 16;
    in_range("bytes of an inbox", inbox.len() as u64, HEADER..=u64::MAX)?;
    in_range("bytes of an outbox", outbox.len() as u64, HEADER..=u64::MAX)
}

/// The current value of `errno`.
fn last_errno() -> c_int {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

/// Whether the command was carried out. A library or kernel may report success although the outbox says otherwise.
fn answered(inbox: &[u8], outbox: &[u8], errno: c_int) -> Result<(), Error> {
    if errno == 0 && bits::get(outbox, 0, 8) == 0 {
        return Ok(());
    }
    let errno = if errno < 0 { last_errno() } else { errno };
    Err(failure(inbox, outbox, errno).into())
}

/// The failure that a command's mailboxes describe. All mailboxes have the same header (`mlx5_ifc_mbox_in_bits`,
/// `mlx5_ifc_mbox_out_bits`).
pub(crate) fn failure(inbox: &[u8], outbox: &[u8], errno: c_int) -> CommandError {
    CommandError {
        opcode: Opcode(bits::get(inbox, 0, 16) as u16),
        status: Status(bits::get(outbox, 0, 8) as u8),
        syndrome: bits::get(outbox, 32, 32) as u32,
        errno,
    }
}
