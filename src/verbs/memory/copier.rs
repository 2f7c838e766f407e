//! Copies of memory that the device makes: the memory that a protection domain registers for them.

use super::buffer::Buffer;
use crate::types::Lkey;
use crate::verbs::Access;
use crate::verbs::error::Error;
use crate::verbs::{Pool, ProtectionDomain};
use crate::wqe::data::Named;
use crate::wqe::operations::{Memcpy, Opaque};
use crate::wqe::{self, Request, Sge};

/// The name of copies in the error for a device without them.
pub(in crate::verbs) const COPIES: &str = "copies of memory (DMA MMO)";

/// Makes requests by which the device copies memory of its protection domain (`mlx5dv_wr_memcpy`), on queue pairs that
/// were made [for it](crate::verbs::QpBuilder::memcpy). It holds the memory that the device uses during copies: keep it
/// until they are done. Any number of queue pairs may use one copier.
///
/// ```no_run
/// # use blueflame::verbs::{Buffer, Owned, Qp};
/// # use blueflame::verbs::memory::Copier;
/// # use blueflame::{SendQueue, WrId, transport};
/// fn copy(
///     sq: &mut Owned<SendQueue<transport::Rc>, Qp>, copier: &Copier, from: &Buffer, to: &Buffer,
/// ) -> Result<(), Box<dyn std::error::Error>> {
///     let request = copier.copy(from.sge_of(0..4096), to.addr(), to.lkey()).signaled(WrId(1));
///     // SAFETY: both buffers and the copier stay until the completion has come, and nobody writes to them meanwhile.
///     unsafe { sq.post_unchecked(&request)? };
///     Ok(())
/// }
/// ```
#[derive(Debug)]
pub struct Copier {
    memory: Buffer,
    max_bytes: u32,
}

impl ProtectionDomain {
    /// Registers the memory that the device needs to copy.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the device does not copy; a failed call.
    pub fn copier(&self) -> Result<Copier, Error> {
        let max_bytes = self.handle.context.attr().max_memcpy;
        if max_bytes == 0 {
            return Err(Error::Unsupported { what: COPIES });
        }
        // It begins with a page, so at a multiple of its length.
        let bytes = Opaque::BYTES as usize;
        let memory = Pool::new(self, bytes, Access::LOCAL_WRITE)?.take(bytes)?;
        Ok(Copier { memory, max_bytes })
    }
}

impl Copier {
    /// A request that copies the bytes of `from` to the address `to` by the key `lkey`. [`wqe::memcpy`] documents the
    /// obligations of its poster, and the requirements of requests that use the copy.
    pub fn copy(&self, from: Sge, to: u64, lkey: Lkey) -> Request<'static, Memcpy, Named> {
        wqe::memcpy(self.opaque(), from, to, lkey)
    }

    /// Most bytes of a copy.
    #[must_use]
    pub fn max_bytes(&self) -> u32 {
        self.max_bytes
    }

    /// The memory that such requests name, for [`wqe::memcpy`].
    #[must_use]
    pub fn opaque(&self) -> Opaque {
        Opaque { addr: self.memory.addr(), lkey: self.memory.lkey(), max_bytes: self.max_bytes }
    }
}
