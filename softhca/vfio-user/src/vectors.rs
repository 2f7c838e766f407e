//! Interrupts: the event descriptors by which the function's vectors reach the guest.

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use parking_lot::Mutex;
use softhca::pci::{Interrupts, VECTORS};
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;
use vfio_bindings::bindings::vfio::{
    VFIO_IRQ_SET_ACTION_MASK, VFIO_IRQ_SET_ACTION_TRIGGER, VFIO_IRQ_SET_ACTION_UNMASK, VFIO_IRQ_SET_DATA_EVENTFD,
    VFIO_IRQ_SET_DATA_NONE,
};

/// A vector: an entry of the MSI-X table, which is the machine monitor's.
#[derive(Debug, Default)]
struct Vector {
    /// Nobody hears it without one.
    event: Option<File>,
    masked: bool,
    /// It was raised while it was masked.
    pending: bool,
}

impl Vector {
    fn raise(&mut self) {
        if self.masked {
            self.pending = true;
            return;
        }
        let Some(mut event) = self.event.as_ref() else { return };
        // It counts events, and does not block. If it is full, its reader has as much reason to look as it will ever
        // have.
        match event.write(&1_u64.to_ne_bytes()) {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => log::warn!("an interrupt is lost: {error}"),
            _ => {}
        }
    }
}

/// The vectors of a function. Clones share them: the function has one, the owner of the socket another.
#[derive(Clone, Debug)]
pub struct Vectors {
    vectors: Arc<Mutex<Vec<Vector>>>,
}

impl Default for Vectors {
    fn default() -> Self {
        Self::new()
    }
}

impl Vectors {
    /// As many as the function has, of which nobody hears.
    #[must_use]
    pub fn new() -> Self {
        let vectors = std::iter::repeat_with(Vector::default).take(VECTORS.into()).collect();
        Self { vectors: Arc::new(Mutex::new(vectors)) }
    }

    /// Nobody hears of any.
    pub fn clear(&self) {
        self.vectors.lock().iter_mut().for_each(|vector| *vector = Vector::default());
    }

    /// The function has been reset: nothing is masked, and no interrupt is pending. Listeners stay.
    pub fn reset(&self) {
        for vector in self.vectors.lock().iter_mut() {
            (vector.masked, vector.pending) = (false, false);
        }
    }

    /// The request of `VFIO_USER_DEVICE_SET_IRQS`; `flags` are those of Linux' `struct vfio_irq_set`
    /// (`include/uapi/linux/vfio.h`).
    ///
    /// # Errors
    /// Vectors that do not exist, or a request that makes no sense; nothing has changed then.
    pub fn set(&self, flags: u32, start: u32, count: u32, events: Vec<File>) -> io::Result<()> {
        let invalid = |what: &str| Err(io::Error::new(io::ErrorKind::InvalidInput, what.to_owned()));
        let mut vectors = self.vectors.lock();
        let Some(range) = range(start, count).filter(|range| range.end <= vectors.len()) else {
            return invalid("there are not so many vectors");
        };
        let data = flags & (VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_DATA_EVENTFD);
        let action = flags & (VFIO_IRQ_SET_ACTION_MASK | VFIO_IRQ_SET_ACTION_UNMASK | VFIO_IRQ_SET_ACTION_TRIGGER);
        if flags != data | action || (data == VFIO_IRQ_SET_DATA_NONE && !events.is_empty()) {
            return invalid("flags of an interrupt that are not known");
        }
        match (data, action) {
            (VFIO_IRQ_SET_DATA_EVENTFD, VFIO_IRQ_SET_ACTION_TRIGGER) => {
                // Without descriptors, nobody is to hear of them any more.
                if !events.is_empty() && events.len() != range.len() {
                    return invalid("not a descriptor for each vector");
                }
                events.iter().try_for_each(must_not_block)?;
                let events = events.into_iter().map(Some).chain(std::iter::repeat_with(|| None));
                for (vector, event) in vectors[range].iter_mut().zip(events) {
                    vector.event = event;
                }
            }
            // No vector at all means that all of them become silent, as with the kernel's own.
            (VFIO_IRQ_SET_DATA_NONE, VFIO_IRQ_SET_ACTION_TRIGGER) if count == 0 => {
                vectors.iter_mut().for_each(|vector| *vector = Vector::default());
            }
            (VFIO_IRQ_SET_DATA_NONE, VFIO_IRQ_SET_ACTION_TRIGGER) => {
                vectors[range].iter_mut().for_each(Vector::raise);
            }
            (VFIO_IRQ_SET_DATA_NONE, VFIO_IRQ_SET_ACTION_MASK) => {
                vectors[range].iter_mut().for_each(|vector| vector.masked = true);
            }
            (VFIO_IRQ_SET_DATA_NONE, VFIO_IRQ_SET_ACTION_UNMASK) => {
                for vector in &mut vectors[range] {
                    vector.masked = false;
                    if std::mem::take(&mut vector.pending) {
                        vector.raise();
                    }
                }
            }
            _ => return invalid("not one kind of data and one action"),
        }
        Ok(())
    }
}

impl Interrupts for Vectors {
    fn raise(&mut self, vector: u16) {
        match self.vectors.lock().get_mut(usize::from(vector)) {
            Some(vector) => vector.raise(),
            None => log::warn!("the function raises vector {vector}, which it does not have"),
        }
    }
}

fn range(start: u32, count: u32) -> Option<Range<usize>> {
    let end = start.checked_add(count)?;
    Some(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
}

/// The raiser of an interrupt must not wait for its receiver. The peer's own end changes with it. A peer waits on an
/// event descriptor by `poll`.
fn must_not_block(event: &File) -> io::Result<()> {
    let flags = OFlag::from_bits_retain(fcntl(event, FcntlArg::F_GETFL)?);
    if !flags.contains(OFlag::O_NONBLOCK) {
        fcntl(event, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
    }
    Ok(())
}
