//! Interrupts of a function: the event files that a program has them come by.

use super::abi::{IrqInfo, IrqSet, irq, irq_flag, irq_set_flag};
use crate::process::{Errno, EventFd, lock, user};
use softhca::pci::{Interrupts, VECTORS};
use std::os::fd::RawFd;
use std::sync::{Arc, Mutex};

/// Events of one index: by vector.
#[derive(Debug, Default)]
struct Vectors {
    /// The program has asked for them; before, there are none to change.
    enabled: bool,
    events: Vec<Option<EventFd>>,
}

/// All of a function's interrupts.
#[derive(Clone, Debug)]
pub(super) struct Irqs(Arc<Mutex<[Vectors; irq::COUNT as usize]>>);

impl Default for Irqs {
    fn default() -> Self {
        let vectors = |index| Vectors { enabled: false, events: (0..count(index)).map(|_| None).collect() };
        Self(Arc::new(Mutex::new([0, 1, 2, 3, 4].map(vectors))))
    }
}

impl Interrupts for Irqs {
    fn raise(&mut self, vector: u16) {
        self.fire(irq::MSIX, vector.into());
    }
}

/// The number of interrupts of this index. A function has no legacy interrupt, and no MSI.
fn count(index: u32) -> u32 {
    match index {
        irq::MSIX => VECTORS.into(),
        irq::ERROR | irq::REQUEST => 1,
        _ => 0,
    }
}

/// `VFIO_DEVICE_GET_IRQ_INFO`.
pub(super) fn info(asked: &IrqInfo) -> Result<IrqInfo, Errno> {
    let flags = match asked.index {
        irq::MSIX => irq_flag::EVENTFD,
        // They are set as a whole.
        irq::ERROR | irq::REQUEST => irq_flag::EVENTFD | irq_flag::NORESIZE,
        index if index < irq::COUNT => 0,
        _ => return Err(Errno::EINVAL),
    };
    Ok(IrqInfo { argsz: size_of::<IrqInfo>() as u32, flags, count: count(asked.index), ..*asked })
}

impl Irqs {
    fn fire(&self, index: u32, vector: u32) {
        let all = lock(&self.0);
        if let Some(Some(event)) = all[index as usize].events.get(vector as usize) {
            event.signal();
        }
    }

    /// No event file is told any more.
    pub(super) fn disable_all(&self) {
        let mut all = lock(&self.0);
        all.iter_mut().for_each(Vectors::disable);
    }

    /// `VFIO_DEVICE_SET_IRQS`, whose data are at `data` (`vfio_set_irqs_validate_and_prepare`,
    /// `vfio_pci_set_msi_trigger`).
    pub(super) fn set(&self, asked: &IrqSet, data: u64) -> Result<(), Errno> {
        let &IrqSet { argsz, flags, index, start, count: wanted } = asked;
        if index >= irq::COUNT || flags & !(irq_set_flag::DATA | irq_set_flag::ACTION) != 0 {
            return Err(Errno::EINVAL);
        }
        let end = start.checked_add(wanted).ok_or(Errno::EINVAL)?;
        if start >= count(index) || end > count(index) {
            return Err(Errno::EINVAL);
        }
        let each = match flags & irq_set_flag::DATA {
            irq_set_flag::DATA_NONE => 0,
            irq_set_flag::DATA_BOOL => 1,
            irq_set_flag::DATA_EVENTFD => 4,
            _ => return Err(Errno::EINVAL),
        };
        if (argsz as usize).saturating_sub(size_of::<IrqSet>()) < wanted as usize * each {
            return Err(Errno::EINVAL);
        }
        match flags & irq_set_flag::ACTION {
            irq_set_flag::ACTION_TRIGGER => {}
            // Interrupts by messages are masked in the function's table alone.
            irq_set_flag::ACTION_MASK | irq_set_flag::ACTION_UNMASK => return Err(Errno::ENOTTY),
            _ => return Err(Errno::EINVAL),
        }
        // At most 32 vectors of 4 bytes.
        let mut bytes = vec![0; wanted as usize * each];
        user::read(data, &mut bytes)?;
        match each {
            4 => {
                let fds = bytes.chunks_exact(4).map(|fd| i32::from_ne_bytes([fd[0], fd[1], fd[2], fd[3]]));
                self.tell(index, start, fds)
            }
            _ if each == 0 && wanted == 0 => {
                lock(&self.0)[index as usize].disable();
                Ok(())
            }
            _ => {
                if !lock(&self.0)[index as usize].enabled {
                    return Err(Errno::EINVAL);
                }
                let fired = (start..end).filter(|vector| each == 0 || bytes[(vector - start) as usize] != 0);
                fired.for_each(|vector| self.fire(index, vector));
                Ok(())
            }
        }
    }

    /// Has the vectors from `start` on tell these event files; -1 is none.
    fn tell(&self, index: u32, start: u32, fds: impl Iterator<Item = RawFd>) -> Result<(), Errno> {
        let event = |fd| match fd {
            -1 => Ok(None),
            fd if fd < 0 => Err(Errno::EINVAL),
            fd => EventFd::of(fd).map(Some),
        };
        // All or nothing.
        let events: Vec<Option<EventFd>> = fds.map(event).collect::<Result<_, _>>()?;
        let mut all = lock(&self.0);
        let vectors = &mut all[index as usize];
        vectors.enabled = true;
        for (place, event) in vectors.events[start as usize..].iter_mut().zip(events) {
            *place = event;
        }
        Ok(())
    }
}

impl Vectors {
    fn disable(&mut self) {
        self.enabled = false;
        self.events.iter_mut().for_each(|event| *event = None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use irq_set_flag::{ACTION_MASK, ACTION_TRIGGER, DATA_BOOL, DATA_EVENTFD, DATA_NONE};
    use rustix::event::{EventfdFlags, eventfd};
    use std::os::fd::{AsRawFd, OwnedFd};

    fn event_file() -> OwnedFd {
        eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC).expect("an eventfd")
    }

    /// The count since the last call.
    fn counted(file: &OwnedFd) -> u64 {
        let mut count = [0; 8];
        rustix::io::read(file, &mut count).map_or(0, |_| u64::from_ne_bytes(count))
    }

    fn set(irqs: &Irqs, flags: u32, index: u32, start: u32, data: &[i32]) -> Result<(), Errno> {
        let bytes = size_of_val(data) as u32;
        let asked = IrqSet { argsz: 20 + bytes, flags, index, start, count: data.len() as u32 };
        irqs.set(&asked, data.as_ptr() as u64)
    }

    #[test]
    fn vectors_tell_the_files_that_were_set_last() {
        let mut irqs = Irqs::default();
        let [one, other] = [event_file(), event_file()];
        irqs.raise(0);
        let eventfd = DATA_EVENTFD | ACTION_TRIGGER;
        let mut fds = [-1; 32];
        fds[3] = one.as_raw_fd();
        set(&irqs, eventfd, irq::MSIX, 0, &fds).expect("set");
        irqs.raise(3);
        irqs.raise(3);
        irqs.raise(4);
        irqs.raise(u16::MAX);
        assert_eq!((counted(&one), counted(&other)), (2, 0));
        set(&irqs, eventfd, irq::MSIX, 4, &[other.as_raw_fd()]).expect("set");
        irqs.raise(4);
        set(&irqs, eventfd, irq::MSIX, 3, &[-1]).expect("unset");
        irqs.raise(3);
        assert_eq!((counted(&one), counted(&other)), (0, 1));
        // The program may close the files that it has set.
        let kept = other.try_clone().expect("a duplicate");
        drop(other);
        irqs.raise(4);
        assert_eq!(counted(&kept), 1);
        let all = IrqSet { argsz: 20, flags: DATA_NONE | ACTION_TRIGGER, index: irq::MSIX, start: 0, count: 0 };
        irqs.set(&all, 0).expect("disabled");
        irqs.raise(4);
        assert_eq!(counted(&kept), 0);
        let fire = IrqSet { count: 5, ..all };
        assert_eq!(irqs.set(&fire, 0), Err(Errno::EINVAL), "disabled");
        set(&irqs, eventfd, irq::MSIX, 4, &[kept.as_raw_fd()]).expect("set");
        irqs.set(&fire, 0).expect("fired");
        let bools = [0_u8, 1];
        let some = IrqSet { argsz: 22, flags: DATA_BOOL | ACTION_TRIGGER, index: irq::MSIX, start: 3, count: 2 };
        irqs.set(&some, bools.as_ptr() as u64).expect("fired");
        assert_eq!(counted(&kept), 2);
    }

    #[test]
    fn a_full_file_keeps_nobody_waiting() {
        let mut irqs = Irqs::default();
        // Writing to it blocks if there is no room.
        let file = eventfd(0, EventfdFlags::CLOEXEC).expect("an eventfd");
        let most = u64::MAX - 1;
        assert_eq!(rustix::io::write(&file, &most.to_ne_bytes()), Ok(8));
        set(&irqs, DATA_EVENTFD | ACTION_TRIGGER, irq::MSIX, 0, &[file.as_raw_fd()]).expect("set");
        irqs.raise(0);
        assert_eq!(counted(&file), most);
    }

    #[test]
    fn what_cannot_be_is_refused_and_changes_nothing() {
        let mut irqs = Irqs::default();
        let (file, null) = (event_file(), std::fs::File::open("/dev/null").expect("/dev/null"));
        let fd = file.as_raw_fd();
        let eventfd = DATA_EVENTFD | ACTION_TRIGGER;
        set(&irqs, eventfd, irq::MSIX, 0, &[fd]).expect("set");
        for (flags, index, start, fds, error) in [
            (eventfd, irq::COUNT, 0, vec![fd], Errno::EINVAL),
            (eventfd, 0, 0, vec![fd], Errno::EINVAL),
            (eventfd, irq::MSIX, 31, vec![fd, fd], Errno::EINVAL),
            (eventfd, irq::MSIX, 32, vec![], Errno::EINVAL),
            (eventfd, irq::MSIX, u32::MAX, vec![fd], Errno::EINVAL),
            (eventfd | 1 << 6, irq::MSIX, 0, vec![fd], Errno::EINVAL),
            (eventfd | DATA_BOOL, irq::MSIX, 0, vec![fd], Errno::EINVAL),
            (DATA_EVENTFD, irq::MSIX, 0, vec![fd], Errno::EINVAL),
            (DATA_EVENTFD | ACTION_MASK, irq::MSIX, 0, vec![fd], Errno::ENOTTY),
            (eventfd, irq::MSIX, 0, vec![-1, null.as_raw_fd()], Errno::EINVAL),
            (eventfd, irq::MSIX, 0, vec![-1, 1 << 20], Errno::EBADF),
            (eventfd, irq::MSIX, 0, vec![-2], Errno::EINVAL),
        ] {
            assert_eq!(set(&irqs, flags, index, start, &fds), Err(error), "{flags:#x} {index} {start} {fds:?}");
        }
        let short = IrqSet { argsz: 23, flags: eventfd, index: irq::MSIX, start: 0, count: 1 };
        assert_eq!(irqs.set(&short, (&raw const fd) as u64), Err(Errno::EINVAL));
        assert_eq!(irqs.set(&IrqSet { argsz: 24, ..short }, 8), Err(Errno::EFAULT));
        irqs.raise(0);
        assert_eq!(counted(&file), 1);
        let infos: Vec<u32> = (0..6)
            .map(|index| info(&IrqInfo { argsz: 16, flags: 0, index, count: 0 }).map_or(99, |info| info.count))
            .collect();
        assert_eq!(infos, [0, 0, 32, 1, 1, 99]);
    }
}
