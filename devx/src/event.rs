//! Events of objects and of the device.

use core::ptr::NonNull;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use blueflame::verbs::CallError;
use blueflame_sys as sys;

use crate::context::{Context, Object, Under};
use crate::error::Error;
use crate::mailbox::names;
use crate::memory::last;

names! {
    /// The type of an event (`MLX5_EVENT_TYPE_*` of Linux' `include/linux/mlx5/device.h`).
    pub struct EventType(u16) {
        /// An armed completion queue has a completion. For completion queues only.
        COMP = 0x0,
        PATH_MIG = 0x1,
        COMM_EST = 0x2,
        SQ_DRAINED = 0x3,
        CQ_ERROR = 0x4,
        WQ_CATAS_ERROR = 0x5,
        PATH_MIG_FAILED = 0x7,
        INTERNAL_ERROR = 0x8,
        PORT_CHANGE = 0x9,
        WQ_INVAL_REQ_ERROR = 0x10,
        WQ_ACCESS_ERROR = 0x11,
        SRQ_CATAS_ERROR = 0x12,
        SRQ_LAST_WQE = 0x13,
        SRQ_RQ_LIMIT = 0x14,
        GPIO_EVENT = 0x15,
        PORT_MODULE_EVENT = 0x16,
        TEMP_WARN_EVENT = 0x17,
        XRQ_ERROR = 0x18,
        DCT_DRAINED = 0x1c,
        DCT_KEY_VIOLATION = 0x1d,
        GENERAL_EVENT = 0x22,
        MONITOR_COUNTER = 0x24,
        PPS_EVENT = 0x25,
        OBJECT_CHANGE = 0x27,
    }
}

/// A channel on which subscribed events arrive. To wait for it together with other descriptors, poll its descriptor
/// ([`AsFd`]).
#[doc(alias("mlx5dv_devx_event_channel", "mlx5dv_devx_create_event_channel"))]
#[derive(Debug)]
pub struct EventChannel {
    raw: NonNull<sys::mlx5dv_devx_event_channel>,
    with_data: bool,
    context: Context,
}

// SAFETY: the channel is a file descriptor, which the kernel locks.
unsafe impl Send for EventChannel {}
// SAFETY: any number of threads may use a file descriptor at once: the kernel locks it.
unsafe impl Sync for EventChannel {}

/// An event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The cookie that the subscription gave.
    pub cookie: u64,
    /// The entry of the event queue, 64 bytes (`mlx5_ifc_eqe_bits`); empty if the channel is without data.
    pub eqe: Vec<u8>,
}

impl Event {
    /// The type of the event, if the channel has data.
    #[must_use]
    pub fn event_type(&self) -> Option<EventType> {
        Some(EventType((*self.eqe.get(1)?).into()))
    }

    /// The number of the object, 24 bits, for event types that report it: the last word of their data.
    #[must_use]
    pub fn number(&self) -> Option<u32> {
        let word: [u8; 4] = self.eqe.get(0x38..0x3c)?.try_into().ok()?;
        Some(u32::from_be_bytes(word) & 0xff_ffff)
    }
}

/// Bytes of an entry of an event queue.
const EQE_BYTES: usize = 64;

impl EventChannel {
    /// Makes a channel whose events carry the device's own description.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn new(context: &Context) -> Result<Self, Error> {
        Self::with_flags(context, 0)
    }

    /// Makes a channel whose events are cookies alone. Unread events of one subscription merge into one.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn without_data(context: &Context) -> Result<Self, Error> {
        Self::with_flags(context, sys::MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA)
    }

    fn with_flags(context: &Context, flags: u32) -> Result<Self, Error> {
        // SAFETY: the context is open.
        let raw = unsafe { sys::mlx5dv_devx_create_event_channel(context.raw(), flags) };
        let raw = NonNull::new(raw).ok_or_else(|| last("mlx5dv_devx_create_event_channel"))?;
        Ok(Self { raw, with_data: flags == 0, context: context.clone() })
    }

    /// Subscribes to these events, of `object` or of the device as a whole. They arrive here with `cookie`.
    ///
    /// # Errors
    /// [`Error::ForeignDevice`], [`Error::OutOfRange`], or [`Error::Call`]: the object or the device has no such event.
    #[doc(alias = "mlx5dv_devx_subscribe_devx_event")]
    pub fn subscribe(&self, object: Option<&Object>, events: &[EventType], cookie: u64) -> Result<(), Error> {
        if let Some(object) = object {
            object.check(&self.context)?;
        }
        let mut numbers: Vec<u16> = events.iter().map(|event| event.0).collect();
        let Ok(bytes) = u16::try_from(size_of_val(&numbers[..])) else {
            let value = numbers.len() as u64;
            return Err(Error::OutOfRange { what: "events", value, min: 1, max: u64::from(u16::MAX / 2) });
        };
        let object = object.map_or(core::ptr::null_mut(), Object::as_raw);
        // SAFETY: channel and object are alive; the list is as long as is said.
        let errno = unsafe {
            sys::mlx5dv_devx_subscribe_devx_event(self.raw.as_ptr(), object, bytes, numbers.as_mut_ptr(), cookie)
        };
        match errno {
            0 => Ok(()),
            errno if errno < 0 => Err(last("mlx5dv_devx_subscribe_devx_event").into()),
            errno => Err(CallError { call: "mlx5dv_devx_subscribe_devx_event", errno }.into()),
        }
    }

    /// Takes an event, and waits until there is one. On a non-blocking descriptor, returns `None` if there is none.
    ///
    /// # Errors
    /// [`Error::Call`]: `EOVERFLOW` if events came faster than they were read, so that some are lost.
    #[doc(alias = "mlx5dv_devx_get_event")]
    pub fn read(&self) -> Result<Option<Event>, Error> {
        // Words, as the header must be aligned.
        let mut buffer = [0_u64; 1 + EQE_BYTES / 8];
        // SAFETY: the channel is alive; the buffer is as long as is said.
        let read =
            unsafe { sys::mlx5dv_devx_get_event(self.raw.as_ptr(), buffer.as_mut_ptr().cast(), size_of_val(&buffer)) };
        if read < 0 {
            let error = last("mlx5dv_devx_get_event");
            return if error.errno == libc::EAGAIN { Ok(None) } else { Err(error.into()) };
        }
        let bytes: Vec<u8> = buffer.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let end = (read as usize).clamp(8, bytes.len());
        let eqe = if self.with_data { bytes[8..end].to_vec() } else { Vec::new() };
        Ok(Some(Event { cookie: buffer[0], eqe }))
    }
}

impl AsRawFd for EventChannel {
    /// The descriptor is the channel's: for `poll`, `epoll` and event loops. Do not close it. Do not read it either:
    /// [`read`](Self::read) takes the events.
    fn as_raw_fd(&self) -> RawFd {
        // SAFETY: alive as long as `self`, and written once.
        unsafe { self.raw.as_ref() }.fd
    }
}

impl AsFd for EventChannel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: open as long as `self`.
        unsafe { BorrowedFd::borrow_raw(self.as_raw_fd()) }
    }
}

impl Drop for EventChannel {
    fn drop(&mut self) {
        // SAFETY: from `mlx5dv_devx_create_event_channel`, destroyed once.
        unsafe { sys::mlx5dv_devx_destroy_event_channel(self.raw.as_ptr()) };
    }
}
