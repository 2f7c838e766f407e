//! Asynchronous queries.

use core::ptr::NonNull;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use blueflame::verbs::CallError;
use blueflame_sys as sys;

use crate::context::{Context, Object, Under, checked, failure};
use crate::error::Error;
use crate::mailbox::{Command, How, Structure, bits};
use crate::memory::last;

/// A channel for answers to asynchronous queries. To wait for it together with other descriptors, poll its descriptor
/// ([`AsFd`]).
#[doc(alias("mlx5dv_devx_cmd_comp", "mlx5dv_devx_create_cmd_comp"))]
#[derive(Debug)]
pub struct Answers {
    raw: NonNull<sys::mlx5dv_devx_cmd_comp>,
    /// Bytes of the longest answer requested.
    longest: AtomicUsize,
    context: Context,
}

// SAFETY: it is a file descriptor, which the kernel locks.
unsafe impl Send for Answers {}
// SAFETY: any number of threads may use a file descriptor at once: the kernel locks it.
unsafe impl Sync for Answers {}

/// An answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The identifier of the query.
    pub wr_id: u64,
    outbox: Vec<u8>,
}

impl Answer {
    /// The outbox of command `C`, which must be the command of the query.
    ///
    /// # Errors
    /// [`Error::Command`] if the firmware refused it.
    pub fn of<C: Command>(&self) -> Result<C::Out, Error> {
        if bits::get(&self.outbox, 0, 8) != 0 {
            return Err(failure(&C::OPCODE.to_be_bytes(), &self.outbox, libc::EREMOTEIO).into());
        }
        Ok(C::Out::copied(&self.outbox))
    }
}

impl Answers {
    /// Makes a channel for answers.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn new(context: &Context) -> Result<Self, Error> {
        // SAFETY: the context is open.
        let raw = unsafe { sys::mlx5dv_devx_create_cmd_comp(context.raw()) };
        let raw = NonNull::new(raw).ok_or_else(|| last("mlx5dv_devx_create_cmd_comp"))?;
        Ok(Self { raw, longest: AtomicUsize::new(0), context: context.clone() })
    }

    /// Queries `object` without waiting. The answer carries `wr_id`.
    ///
    /// # Errors
    /// [`Error::ForeignDevice`], [`Error::Opcode`], or [`Error::Call`]: the query was not sent.
    #[doc(alias = "mlx5dv_devx_obj_query_async")]
    pub fn ask<C: Command>(&self, object: &Object, inbox: &C, wr_id: u64) -> Result<(), Error> {
        const { assert!(matches!(C::HOW, How::Queries), "the command queries no object") };
        object.check(&self.context)?;
        let (input, len) = (checked(inbox)?, C::Out::BYTES);
        self.longest.fetch_max(len, Ordering::Relaxed);
        // SAFETY: object and place are alive; the mailbox is as long as is said.
        let errno = unsafe {
            sys::mlx5dv_devx_obj_query_async(
                object.as_raw(),
                input.as_ptr().cast(),
                input.len(),
                len,
                wr_id,
                self.raw.as_ptr(),
            )
        };
        done("mlx5dv_devx_obj_query_async", errno)
    }

    /// Takes an answer, and waits until there is one. On a non-blocking descriptor, returns `None` if there is none.
    ///
    /// # Errors
    /// [`Error::Call`].
    #[doc(alias = "mlx5dv_devx_get_async_cmd_comp")]
    pub fn take(&self) -> Result<Option<Answer>, Error> {
        // Words, as the header must be aligned.
        let mut buffer = vec![0_u64; 1 + self.longest.load(Ordering::Relaxed).div_ceil(8)];
        // SAFETY: the place is alive; the buffer is as long as is said.
        let errno = unsafe {
            sys::mlx5dv_devx_get_async_cmd_comp(self.raw.as_ptr(), buffer.as_mut_ptr().cast(), buffer.len() * 8)
        };
        match done("mlx5dv_devx_get_async_cmd_comp", errno) {
            Err(Error::Call(error)) if error.errno == libc::EAGAIN => Ok(None),
            Err(error) => Err(error),
            Ok(()) => {
                let outbox = buffer[1..].iter().flat_map(|word| word.to_ne_bytes()).collect();
                Ok(Some(Answer { wr_id: buffer[0], outbox }))
            }
        }
    }
}

fn done(call: &'static str, errno: i32) -> Result<(), Error> {
    match errno {
        0 => Ok(()),
        errno if errno < 0 => Err(last(call).into()),
        errno => Err(CallError { call, errno }.into()),
    }
}

impl AsRawFd for Answers {
    /// The descriptor is the library's: for `poll`, `epoll` and event loops. Do not close it. Do not read it either:
    /// [`take`](Self::take) takes the answers.
    fn as_raw_fd(&self) -> RawFd {
        // SAFETY: alive as long as `self`, and written once.
        unsafe { self.raw.as_ref() }.fd
    }
}

impl AsFd for Answers {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: open as long as `self`.
        unsafe { BorrowedFd::borrow_raw(self.as_raw_fd()) }
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        // SAFETY: from `mlx5dv_devx_create_cmd_comp`, destroyed once.
        unsafe { sys::mlx5dv_devx_destroy_cmd_comp(self.raw.as_ptr()) };
    }
}
