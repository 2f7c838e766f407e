//! `/dev/vfio/GROUP`: a group of one function. It is open once at a time.

use super::abi::{GroupStatus, group_flag, request};
use super::argument;
use super::container::Container;
use super::device::Opened;
use crate::process::{Errno, lock, user};
use std::os::fd::RawFd;
use std::sync::{Arc, Mutex, Weak};
use zerocopy::IntoBytes;

/// The open files, as a group needs them.
pub(super) trait Files {
    /// The container that `fd` is open for.
    fn container(&self, fd: RawFd) -> Result<Arc<Container>, Errno>;

    /// A new descriptor of a function.
    fn add(&self, opened: Arc<Opened>) -> Result<RawFd, Errno>;
}

/// An open group.
pub(super) struct Group {
    /// Its function's number.
    index: u32,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    container: Option<Arc<Container>>,
    /// The function, as long as a program has it open.
    opened: Weak<Opened>,
}

/// The groups that are open in this process. Each process has functions of its own, so another one may have the same
/// group.
pub(super) static OPEN: Mutex<Vec<Weak<Group>>> = Mutex::new(Vec::new());

impl Group {
    /// Opens the group of function `index`.
    pub(super) fn open(index: u32) -> Result<Arc<Self>, Errno> {
        let mut open = lock(&OPEN);
        open.retain(|group| group.strong_count() > 0);
        if open.iter().filter_map(Weak::upgrade).any(|group| group.index == index) {
            return Err(Errno::EBUSY);
        }
        let group = Arc::new(Self { index, state: Mutex::default() });
        open.push(Arc::downgrade(&group));
        Ok(group)
    }

    /// Answers a request (`vfio_group_fops_unl_ioctl`).
    pub(super) fn ioctl(self: &Arc<Self>, number: u64, argument: u64, files: &dyn Files) -> Result<i32, Errno> {
        match number {
            request::GROUP_GET_STATUS => self.status(argument),
            request::GROUP_SET_CONTAINER => self.set_container(argument, files),
            request::GROUP_UNSET_CONTAINER => self.unset_container(),
            request::GROUP_GET_DEVICE_FD => self.device(argument, files),
            _ => Err(Errno::ENOTTY),
        }
        .inspect_err(|error| log::debug!("group of function {}: request {number:#x}: {error:?}", self.index))
    }

    fn status(&self, at: u64) -> Result<i32, Errno> {
        let asked: GroupStatus = argument::read(at, size_of::<GroupStatus>())?;
        let set = if lock(&self.state).container.is_some() { group_flag::CONTAINER_SET } else { 0 };
        let status = GroupStatus { flags: group_flag::VIABLE | set, ..asked };
        user::write(at, status.as_bytes())?;
        Ok(0)
    }

    /// `at` is that of a container's descriptor.
    fn set_container(&self, at: u64, files: &dyn Files) -> Result<i32, Errno> {
        let mut fd = [0; 4];
        user::read(at, &mut fd)?;
        let fd = i32::from_ne_bytes(fd);
        let mut state = lock(&self.state);
        if state.container.is_some() {
            return Err(Errno::EINVAL);
        }
        let container = files.container(fd)?;
        container.join();
        state.container = Some(container);
        Ok(0)
    }

    fn unset_container(&self) -> Result<i32, Errno> {
        let mut state = lock(&self.state);
        if state.opened.strong_count() > 0 {
            return Err(Errno::EBUSY);
        }
        let container = state.container.take().ok_or(Errno::EINVAL)?;
        container.leave();
        Ok(0)
    }

    /// `at` is that of the function's name.
    fn device(self: &Arc<Self>, at: u64, files: &dyn Files) -> Result<i32, Errno> {
        let name = softhca_settings::pci_function(self.index);
        let mut asked = vec![0; name.len() + 1];
        // Names that are shorter may end where memory does.
        let whole = (0..asked.len()).try_for_each(|index| {
            user::read(at + index as u64, &mut asked[index..=index])?;
            if asked[index] == 0 { Err(Errno::ENODEV) } else { Ok(()) }
        });
        if whole == Err(Errno::EFAULT) {
            return Err(Errno::EFAULT);
        }
        if asked.strip_suffix(&[0]) != Some(name.as_bytes()) {
            return Err(Errno::ENODEV);
        }
        let mut state = lock(&self.state);
        let container = state.container.as_ref().filter(|container| container.has_iommu()).ok_or(Errno::EINVAL)?;
        let opened = match state.opened.upgrade() {
            Some(opened) => opened,
            None => Opened::new(self.index, self.clone(), &container.space)?,
        };
        state.opened = Arc::downgrade(&opened);
        // Another open file of the same function.
        files.add(opened)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(container) = lock(&self.state).container.take() {
            container.leave();
        }
    }
}
