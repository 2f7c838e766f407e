//! Memory regions: of pinned memory, of memory that is paged in on demand, of files, of device memory.

use super::access as rights;
use super::data_direct;
use super::dma_handle::{self, DmaHandle};
use super::pd::{Pd, import_pd};
use super::request::Request;
use crate::abi::{RegMr, RegMrResp, ReregMr, ReregMrResp, access};
use crate::context::device_memory::Piece;
use crate::context::registry::{self, Shared, own_pid};
use crate::context::{Context, Object, Rank};
use crate::device::{Hca, Opened, Pinned, Window};
use crate::process::{Elsewhere, Errno, SharedFile, lock, page_bytes};
use softhca::context::{Backing, MkeyContext};
use softhca::device::KeyOptions;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// A memory region.
pub(crate) struct Mr {
    state: Mutex<State>,
}

/// The changes by a re-registration.
struct State {
    key: u32,
    region: Region,
    /// As the program gave them.
    access: u32,
    /// Keeps the domain busy.
    pd: Arc<Pd>,
    memory: Memory,
    /// Hints for the host's caches; keeps the handle busy.
    dma_handle: Option<Arc<DmaHandle>>,
    /// Pages that the key has translations for: a larger region gets another key.
    pages: u64,
}

/// What is registered.
#[derive(Clone, Copy)]
struct Region {
    /// Address in this process.
    start: u64,
    /// Bytes.
    length: u64,
    /// Address that peers use.
    iova: u64,
}

/// How the device reaches it.
enum Memory {
    Pinned {
        pinned: Pinned,
    },
    OnDemand {
        _opened: Opened,
    },
    File {
        _opened: Opened,
        _file: SharedFile,
    },
    Device {
        _opened: Opened,
        /// Keeps it busy.
        _piece: Arc<Piece>,
    },
    /// Another process has it.
    Elsewhere {
        _opened: Opened,
    },
}

/// A number of the registry, as the type that it must have.
fn narrow(number: u64) -> Result<u32, Errno> {
    u32::try_from(number).map_err(|_| Errno::EINVAL)
}

impl Region {
    /// The region of `IBV_ACCESS_ON_DEMAND` that is the whole address space.
    fn is_implicit(&self) -> bool {
        self.start == 0 && self.length == u64::MAX
    }

    /// Memory and the address that peers use for it have the same offset in a page, and there is a page. A region of no
    /// bytes has one unless it begins at a page (Linux `ib_umem_get`, `ib_umem_num_pages`).
    fn checked(self) -> Result<Self, Errno> {
        if self.pages() == 0 || self.start % page_bytes() != self.iova % page_bytes() {
            return Err(Errno::EINVAL);
        }
        Ok(self)
    }

    fn memory(&self, hca: &Arc<Hca>, flags: u32) -> Result<Memory, Errno> {
        if flags & access::ON_DEMAND == 0 {
            // A region of no bytes has a page all the same, which must be there. Kernels since June of 2026 pin it, and
            // then refuse the region with a warning: their check that an address is not past 2^64 takes 1 from the
            // length (`ib_umem_find_best_pgsz`). Earlier ones register it, as programs expect of mlx5.
            let pinned = Pinned::new(hca, self.start, self.length.max(1), rights::are_writable(flags))?;
            return Ok(Memory::Pinned { pinned });
        }
        if self.is_implicit() && self.iova != 0 || self.start.checked_add(self.length).is_none() {
            return Err(Errno::EINVAL);
        }
        Ok(Memory::OnDemand { _opened: Opened::new(hca, Window::own(self.start, self.length)) })
    }

    fn pages(&self) -> u64 {
        let page = page_bytes();
        self.length.div_ceil(page) + u64::from(self.start % page != 0)
    }

    fn mkey(&self, pd: &Pd, flags: u32) -> Result<MkeyContext, Errno> {
        let access = rights::from_abi(flags)?;
        Ok(MkeyContext { pd: pd.number, iova: self.iova, addr: self.start, len: self.length, access })
    }
}

impl Mr {
    fn create(
        hca: &Hca,
        (region, access): (Region, u32),
        pd: Arc<Pd>,
        memory: Memory,
        dma_handle: Option<Arc<DmaHandle>>,
    ) -> Result<(Arc<Self>, u32), Errno> {
        let context = region.mkey(&pd, access)?;
        let tph = dma_handle.as_ref().map(|handle| handle.tph);
        let options = KeyOptions { remote_invalidate: true, tph, ..KeyOptions::with(Backing::Memory) };
        let key = hca.command(|device| device.create_mkey_with(context, options))?;
        Ok((Self::with_key(key, (region, access), pd, memory, dma_handle), key))
    }

    fn with_key(
        key: u32,
        (region, access): (Region, u32),
        pd: Arc<Pd>,
        memory: Memory,
        dma_handle: Option<Arc<DmaHandle>>,
    ) -> Arc<Self> {
        // Keys are kept by sizes of powers of two, and come with that many translations.
        let pages = region.pages().checked_next_power_of_two().unwrap_or(u64::MAX);
        Arc::new(Self { state: Mutex::new(State { key, region, access, pd, memory, dma_handle, pages }) })
    }

    /// Makes the region of another process again: the device finds it in a window, since it has an address only there.
    fn import(context: &Context, object: &Shared) -> Result<Arc<Self>, Errno> {
        /// Beyond all addresses of programs.
        const ALIASES: u64 = 1 << 62;
        /// More than a program has addresses.
        const LARGEST: u64 = 1 << 57;
        static NEXT: AtomicU64 = AtomicU64::new(ALIASES);
        let hca = &context.hca;
        let pd = import_pd(context, narrow(object.domain)?)?;
        let (elsewhere, length) = (Elsewhere::of(narrow(object.pid)? as i32)?, object.length);
        // The whole address space, on demand: there is no room for a second one.
        let bytes = length.checked_next_multiple_of(page_bytes()).filter(|&bytes| bytes <= LARGEST);
        let bytes = bytes.ok_or(Errno::EOPNOTSUPP)?;
        let next = |at: u64| at.checked_add(bytes);
        let at = NEXT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).map_err(|_| Errno::ENOMEM)?;
        let opened = Opened::new(hca, Window { at, len: length, elsewhere: Some(elsewhere), address: object.start });
        let region = Region { start: at, length, iova: object.iova };
        let access = narrow(object.access)?;
        let mkey = region.mkey(&pd, access)?;
        // Its key, if it is free here.
        let wanted = narrow(object.key)?;
        let key = hca.command(|device| {
            if device.create_mkey_as(wanted, mkey).is_ok() { Ok(wanted) } else { device.create_mkey(mkey) }
        })?;
        Ok(Self::with_key(key, (region, access), pd, Memory::Elsewhere { _opened: opened }, None))
    }

    /// As other processes see it.
    fn shared(&self, domain: u32) -> Shared {
        let state = lock(&self.state);
        let Region { start, length, iova } = state.region;
        let (access, key) = (state.access.into(), state.key.into());
        Shared { pid: own_pid(), domain: domain.into(), access, start, length, iova, key }
    }

    /// Address in this process of `len` bytes at `iova`, if this is the region of `key` and its pages come on demand.
    pub(crate) fn on_demand(&self, key: u32, iova: u64, len: u64) -> Option<Result<u64, Errno>> {
        let state = lock(&self.state);
        if state.key != key || matches!(state.memory, Memory::Pinned { .. } | Memory::Device { .. }) {
            return None;
        }
        let region = state.region;
        let offset = iova.checked_sub(region.iova).filter(|&at| at <= region.length && len <= region.length - at);
        Some(offset.map(|offset| region.start + offset).ok_or(Errno::EFAULT))
    }
}

impl Object for Mr {
    fn rank(&self) -> Rank {
        Rank::Mr
    }

    fn release(&self, hca: &Hca) -> Result<(), Errno> {
        let key = lock(&self.state).key;
        hca.command(|device| device.destroy_mkey(key))
    }
}

impl State {
    /// Replaces all that is given: keeps the key where `mlx5_ib` does.
    fn change(&mut self, hca: &Arc<Hca>, region: Option<Region>, pd: Arc<Pd>, access: u32) -> Result<(), Errno> {
        let other_kind = (self.access ^ access) & access::ON_DEMAND != 0;
        // The new memory is pinned while the old one still is.
        let moved = other_kind || region.is_some();
        let region = region.unwrap_or(self.region);
        let memory = match &self.memory {
            _ if moved => Some(region.memory(hca, access)?),
            // Kernels of 2026 refuse this for memory that is pinned for reading (`ib_umem_check_rereg`); earlier ones
            // permit it. This device refuses it if the process cannot write the memory.
            Memory::Pinned { pinned } if rights::are_writable(access) && !rights::are_writable(self.access) => {
                Some(Memory::Pinned { pinned: pinned.for_writing().map_err(|_| Errno::EACCES)? })
            }
            _ => None,
        };
        let context = region.mkey(&pd, access)?;
        let on_demand = access & access::ON_DEMAND != 0;
        if !moved || !other_kind && !on_demand && region.pages() <= self.pages {
            hca.command(|device| device.modify_mkey(self.key, context))?;
        } else {
            let key = hca.command(|device| device.create_mkey(context))?;
            let gone = hca.command(|device| device.destroy_mkey(self.key));
            if let Err(errno) = gone {
                hca.command(|device| device.destroy_mkey(key))?;
                return Err(errno);
            }
            self.key = key;
            self.pages = region.pages().checked_next_power_of_two().unwrap_or(u64::MAX);
        }
        (self.region, self.pd, self.access) = (region, pd, access);
        if let Some(memory) = memory {
            self.memory = memory;
        }
        Ok(())
    }
}

/// Gives `mr` a handle by which other processes, too, know it.
fn publish(context: &Context, mr: Arc<Mr>, pd_handle: u32) -> u32 {
    let shared = mr.shared(pd_handle);
    let handle = context.insert(mr);
    context.registry.publish(registry::REGION, handle, &shared);
    handle
}

/// `REG_MR`, the write command.
pub(crate) fn write_reg(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let wanted: RegMr = request.core_in()?;
    let region = Region { start: wanted.start, length: wanted.length, iova: wanted.hca_va }.checked()?;
    rights::from_abi(wanted.access_flags)?;
    let pd: Arc<Pd> = context.get(wanted.pd_handle).map_err(|_| Errno::EINVAL)?;
    let memory = region.memory(&context.hca, wanted.access_flags)?;
    let (mr, key) = Mr::create(&context.hca, (region, wanted.access_flags), pd, memory, None)?;
    let mr_handle = publish(context, mr, wanted.pd_handle);
    request.core_out(&RegMrResp { mr_handle, lkey: key, rkey: key })
}

/// `REREG_MR`: other memory, another domain, other rights, or some of these.
pub(crate) fn write_rereg(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    const TRANSLATION: u32 = 1;
    const DOMAIN: u32 = 1 << 1;
    const ACCESS: u32 = 1 << 2;
    let wanted: ReregMr = request.core_in()?;
    if wanted.flags == 0 || wanted.flags & !(TRANSLATION | DOMAIN | ACCESS) != 0 {
        return Err(Errno::EINVAL);
    }
    let given = |flag| wanted.flags & flag != 0;
    let region = Region { start: wanted.start, length: wanted.length, iova: wanted.hca_va };
    let region = given(TRANSLATION).then(|| region.checked()).transpose()?;
    let mr: Arc<Mr> = context.get(wanted.mr_handle).map_err(|_| Errno::EINVAL)?;
    let mut state = lock(&mr.state);
    let access = if given(ACCESS) { wanted.access_flags } else { state.access };
    rights::from_abi(access)?;
    let pd = if given(DOMAIN) { context.get(wanted.pd_handle).map_err(|_| Errno::EINVAL)? } else { state.pd.clone() };
    if matches!(state.memory, Memory::File { .. } | Memory::Elsewhere { .. }) {
        // libibverbs lets nobody ask for it.
        return Err(Errno::EOPNOTSUPP);
    }
    if state.dma_handle.is_some() {
        // `mlx5_ib_rereg_user_mr`.
        return Err(Errno::EOPNOTSUPP);
    }
    if matches!(state.memory, Memory::Device { .. }) {
        return Err(Errno::EINVAL);
    }
    state.change(&context.hca, region, pd, access)?;
    context.registry.withdraw(registry::REGION, wanted.mr_handle, own_pid());
    request.core_out(&ReregMrResp { lkey: state.key, rkey: state.key })
}

/// `REG_MR`. Its attributes are 0 handle, 1 PD, 2 DMA handle, 3 IOVA, 4 address, 5 length, 6 access, 9 lkey and 10 rkey.
/// A file (7) and an offset in it (8) can replace the address.
pub(crate) fn reg(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let (iova, length): (u64, u64) = (request.input(3)?, request.input(5)?);
    let flags: u32 = request.optional(6)?.unwrap_or(0);
    let keys = Keys { lkey: 9, rkey: 10 };
    let dma_handle = dma_handle::named_by(context, request, 2)?;
    match request.optional_handle(7) {
        Some(fd) => {
            if request.optional::<u64>(4)?.is_some() {
                return Err(Errno::EINVAL);
            }
            let offset = request.input(8)?;
            check_file_region(offset, (length, iova, flags))?;
            reg_file(context, request, keys, (fd, offset), (length, iova, flags), dma_handle)
        }
        None => {
            if request.optional::<u64>(8)?.is_some() {
                return Err(Errno::EINVAL);
            }
            let region = Region { start: request.input(4)?, length, iova }.checked()?;
            rights::from_abi(flags)?;
            let pd: Arc<Pd> = context.get(request.handle(1)?)?;
            if dma_handle.is_some() && flags & access::ON_DEMAND != 0 {
                // `mlx5_ib_reg_user_mr`.
                return Err(Errno::EOPNOTSUPP);
            }
            let memory = region.memory(&context.hca, flags)?;
            answer(context, request, keys, Mr::create(&context.hca, (region, flags), pd, memory, dma_handle)?)
        }
    }
}

/// `REG_DMABUF_MR`: 0 handle, 1 PD, 2 offset, 3 length, 4 IOVA, 5 file, 6 access, 7 lkey, 8 rkey; the driver's 0x1000
/// whether by way of Data Direct.
pub(crate) fn reg_dmabuf(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let (fd, offset): (u32, u64) = (request.input(5)?, request.input(2)?);
    let flags: u32 = request.optional(6)?.unwrap_or(0);
    let (length, iova) = (request.input(3)?, request.input(4)?);
    check_file_region(offset, (length, iova, flags))?;
    data_direct::check(context, request, iova)?;
    let what = (length, iova, flags);
    reg_file(context, request, Keys { lkey: 7, rkey: 8 }, (fd, offset), what, None)
}

/// `DM_MR_REG`: 0 handle, 1 offset, 2 length, 3 PD, 4 access, 5 device memory, 6 lkey, 7 rkey. Addresses count from 0.
pub(crate) fn reg_device_memory(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    /// `MLX5_IB_DM_MEMIC_ALLOWED_ACCESS`.
    const PERMITTED: u32 = access::LOCAL_WRITE
        | access::REMOTE_WRITE
        | access::REMOTE_READ
        | access::REMOTE_ATOMIC
        | access::ZERO_BASED
        | access::OPTIONAL;
    let (offset, length): (u64, u64) = (request.input(1)?, request.input(2)?);
    let flags: u32 = request.optional(4)?.unwrap_or(0);
    if flags & access::ZERO_BASED == 0 {
        return Err(Errno::EINVAL);
    }
    rights::from_abi(flags)?;
    let piece: Arc<Piece> = context.get(request.handle(5)?)?;
    let pd: Arc<Pd> = context.get(request.handle(3)?)?;
    // Linux has no lower bound (`UVERBS_HANDLER(UVERBS_METHOD_DM_MR_REG)`), so a region of no bytes is one.
    let inside = offset.checked_add(length).is_some_and(|end| end <= piece.length);
    if !inside || flags & !PERMITTED != 0 {
        return Err(Errno::EINVAL);
    }
    let region = Region { start: piece.address() + offset, length, iova: 0 };
    let opened = Opened::new(&context.hca, Window::own(region.start, length));
    let memory = Memory::Device { _opened: opened, _piece: piece };
    let (mr, key) = Mr::create(&context.hca, (region, flags), pd, memory, None)?;
    request.put_handle(0, publish(context, mr, request.handle(3)?))?;
    request.put(6, &key)?;
    request.put(7, &key)
}

/// Attributes that keys are written to.
struct Keys {
    lkey: u16,
    rkey: u16,
}

/// The kernel's checks of a region of a file, before the driver's.
fn check_file_region(offset: u64, (length, iova, flags): (u64, u64, u32)) -> Result<(), Errno> {
    const PERMITTED: u32 = access::LOCAL_WRITE
        | access::REMOTE_WRITE
        | access::REMOTE_READ
        | access::REMOTE_ATOMIC
        | access::RELAXED_ORDERING;
    let page = page_bytes();
    if flags & !PERMITTED != 0 || offset % page != iova % page || length == 0 {
        return Err(Errno::EINVAL);
    }
    rights::from_abi(flags).map(drop)
}

fn reg_file(
    context: &Arc<Context>,
    request: &Request,
    keys: Keys,
    (fd, offset): (u32, u64),
    (length, iova, flags): (u64, u64, u32),
    dma_handle: Option<Arc<DmaHandle>>,
) -> Result<(), Errno> {
    let pd: Arc<Pd> = context.get(request.handle(1)?)?;
    let file = SharedFile::map(i32::try_from(fd).map_err(|_| Errno::EBADF)?, offset, length)?;
    let region = Region { start: file.address(), length, iova };
    // Another process that has the file may take pages away.
    let opened = Opened::new(&context.hca, Window::own(region.start, region.length));
    let memory = Memory::File { _opened: opened, _file: file };
    answer(context, request, keys, Mr::create(&context.hca, (region, flags), pd, memory, dma_handle)?)
}

fn answer(context: &Context, request: &Request, keys: Keys, (mr, key): (Arc<Mr>, u32)) -> Result<(), Errno> {
    request.put_handle(0, publish(context, mr, request.handle(1)?))?;
    request.put(keys.lkey, &key)?;
    request.put(keys.rkey, &key)
}

/// Removes a region, which no other process finds from now on.
pub(super) fn dereg(context: &Context, handle: u32) -> Result<(), Errno> {
    context.destroy::<Mr>(handle)?;
    context.registry.withdraw(registry::REGION, handle, own_pid());
    Ok(())
}

/// `QUERY_MR`: 0 handle, 1 lkey, 2 rkey, 3 length, 4 IOVA. The region may be one that another process has made.
pub(crate) fn query(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let mr = context.import(registry::REGION, request.handle(0)?, |object| Mr::import(context, object))?;
    let state = lock(&mr.state);
    request.put(1, &state.key)?;
    request.put(2, &state.key)?;
    request.put(3, &state.region.length)?;
    request.put_optional(4, &state.region.iova)
}
