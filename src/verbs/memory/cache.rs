//! A registration cache: memory is registered when a request first needs it, and stays registered for the next one.
//!
//! # Why no key outlives its memory
//!
//! A cache that knows memory by its address alone is wrong as soon as the program unmaps that memory. The NIC still
//! translates the key to the old pages, and the next mapping at the same address would find that key. So a cache must
//! learn of each `munmap`, or prevent it.
//!
//! Other caches learn of it. UCX patches `munmap`, `mremap`, `brk`, `madvise` and their like in the loaded libraries
//! (`src/ucm`), and drops regions when a call comes by. It does not see a system call that code makes by itself, or a
//! function that was inlined or linked statically. libfabric also has monitors by `userfaultfd` and by a kernel module
//! (fi_mr(3), `FI_MR_CACHE_MONITOR`). A thread then reads the kernel's events. That takes a privilege on many systems
//! (`vm.unprivileged_userfaultfd`), a thread, and a lock that each look-up shares with that thread.
//!
//! This cache prevents it. Each region keeps an [`Arc`] of the memory's owner:
//!
//! 1. The cache takes the address and the length from [`AsRef::as_ref`], which borrows them from the owner. Safe code
//!    cannot unmap, move or free memory that is borrowed. An owner that permitted it would be unsound by itself.
//! 2. While a region lives, its `Arc` is there, so that the owner can be borrowed at any time: no code gets a `&mut`
//!    (`Arc::get_mut` fails), and the owner is not dropped. So the memory stays where it is, as if it were borrowed for
//!    that whole time. [`Arc`] itself never moves the owner.
//! 3. A region is deregistered first, then its `Arc` is dropped. If the kernel refuses to deregister, both stay for
//!    ever.
//! 4. An address has one mapping at a time. If two owners name the same bytes while both live, they name the same
//!    memory. So a look-up by address is right as long as each entry keeps an owner, which it does by 2.
//!
//! Code that is `unsafe` can break this, as it can unmap any borrowed memory.
//!
//! # Why peers may not write
//!
//! The program can read the memory through the owner, as `&[u8]`, at any time. So nothing may write it unasked: peers
//! get no right to. Where this side's device writes (receives, results of READs), the request is an `unsafe` call, whose
//! caller promises that no code reads the memory meanwhile. Memory that peers write belongs into a
//! [`Buffer`](crate::verbs::Buffer).

use core::fmt;
use core::ptr::NonNull;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::buffer::register_range;
use super::region::Region;
use super::rights;
use crate::verbs::access::Access;
use crate::verbs::domain::protection::ProtectionDomain;
use crate::verbs::error::{CallError, Error, in_range};
use crate::verbs::event::event;

/// Registrations of memory that the program owns, made when they are needed and kept for the next request.
///
/// Use it for payloads that come from anywhere: files that are mapped, messages that another library has built. Memory
/// that you allocate for I/O is better in a [`Pool`](crate::verbs::Pool), which is registered once.
///
/// `M` owns the memory and lends it as `&[u8]`: a `Vec<u8>`, a `memmap2::Mmap`, or a type of yours. The cache keeps an
/// [`Arc`] of it as long as the memory is registered, so the memory cannot go away under its key. (The source of this
/// module has the whole argument, and compares it with the hooks of other caches.)
///
/// ```no_run
/// use std::sync::Arc;
///
/// use blueflame::verbs::memory::RegistrationCache;
/// use blueflame::verbs::{Access, ProtectionDomain};
/// use blueflame::{Remote, SendQueue, WrId, transport, wqe};
///
/// # fn send(pd: &ProtectionDomain, sq: &mut SendQueue<transport::Rc>, there: Remote)
/// #     -> Result<(), Box<dyn std::error::Error>> {
/// let cache = RegistrationCache::new(pd, Access::LOCAL_READ, 1000, 1 << 30)?;
/// let message = Arc::new(vec![7; 1 << 20]);
/// let region = cache.get(&message)?;
/// let entry = region.sge_of(0, 1 << 20).ok_or("outside")?;
/// // SAFETY: `region` lives until the completion has come, and the device only reads.
/// unsafe { sq.post_unchecked(&wqe::write(there).gather([entry]).signaled(WrId(1)))? };
/// # Ok(())
/// # }
/// ```
///
/// # Limits
///
/// The cache has a limit of regions and one of bytes. A region is in use while the program keeps an `Arc` of it. If a new
/// region does not fit, the cache deregisters the least recently used regions that are not in use, and no others. So keep
/// the [`Region`] until the request that names it has completed, and as long as a peer may use its key.
///
/// The device and the kernel have limits, too (memory keys; pinned bytes, `RLIMIT_MEMLOCK`). If a registration fails for
/// lack of one, the cache makes room in the same way, and tries again.
///
/// An entry keeps its memory allocated after you have dropped your own `Arc`, until the cache needs the room or you call
/// [`clear`](Self::clear).
///
/// # Cost
///
/// A hit costs a look-up under a lock, with no system call and no allocation; threads share the cache. A miss costs a
/// registration, one at a time for each cache. To find the oldest region, it looks at each entry.
///
/// # Memory that must not be in it
///
/// Borrowed memory has no owner to keep:
///
/// ```compile_fail,E0308
/// # use blueflame::verbs::{Error, memory::RegistrationCache};
/// fn cached(cache: &RegistrationCache<memmap2::Mmap>, map: memmap2::Mmap) -> Result<(), Error> {
///     let region = cache.get(&map)?;
///     drop(map); // would unmap what the device can still read
///     drop(region);
///     Ok(())
/// }
/// ```
///
/// The memory lives as long as any owner may, so it is not on a stack:
///
/// ```compile_fail,E0521
/// # use std::sync::Arc;
/// # use blueflame::verbs::{Error, memory::RegistrationCache};
/// fn cached(cache: &RegistrationCache<&'static [u8]>, stack: &[u8]) -> Result<(), Error> {
///     cache.get(&Arc::new(stack)).map(drop)
/// }
/// ```
///
/// Memory that is in the cache cannot be unmapped: only its last owner could, and the cache is an owner.
///
/// ```compile_fail,E0507
/// # use std::sync::Arc;
/// # use blueflame::verbs::{Error, memory::RegistrationCache};
/// fn cached(cache: &RegistrationCache<memmap2::MmapMut>, map: Arc<memmap2::MmapMut>) -> Result<(), Error> {
///     let region = cache.get(&map)?;
///     let _ = map.make_read_only(); // takes the map itself, which is shared
///     drop(region);
///     Ok(())
/// }
/// ```
pub struct RegistrationCache<M: ?Sized> {
    pd: ProtectionDomain,
    access: Access,
    most_regions: usize,
    most_bytes: u64,
    /// Held while a region is made or deregistered, so that the entries never exceed the limits. Taken before `entries`.
    changing: Mutex<()>,
    entries: Mutex<Entries<M>>,
}

/// The regions, by the address and the length of their memory.
struct Entries<M: ?Sized> {
    regions: HashMap<Range, Entry<M>>,
    /// Of all regions.
    bytes: u64,
    /// How many times the cache was asked.
    asked: u64,
}

/// The address of the first byte, and the number of bytes.
type Range = (usize, usize);

struct Entry<M: ?Sized> {
    region: Arc<Region<Arc<M>>>,
    /// [`Entries::asked`] when this was last asked for.
    last: u64,
}

impl<M: ?Sized> fmt::Debug for RegistrationCache<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegistrationCache")
            .field("access", &self.access)
            .field("regions", &self.regions())
            .field("most_regions", &self.most_regions)
            .field("bytes", &self.bytes())
            .field("most_bytes", &self.most_bytes)
            .finish_non_exhaustive()
    }
}

impl<M: ?Sized> RegistrationCache<M> {
    /// A cache of at most `regions` regions with at most `bytes` bytes together, each registered for what `access`
    /// permits. It registers nothing yet.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a limit of 0; [`Error::AccessExcess`] for a right to write of peers
    /// ([`Access::REMOTE_WRITE`], [`Access::REMOTE_ATOMIC`], [`Access::MW_BIND`]); [`Error::Unsupported`] for
    /// [`Access::ON_DEMAND`] on a device that cannot.
    pub fn new(pd: &ProtectionDomain, access: Access, regions: usize, bytes: u64) -> Result<Self, Error> {
        in_range("regions of a registration cache", regions as u64, 1..=u64::MAX)?;
        in_range("bytes of a registration cache", bytes, 1..=u64::MAX)?;
        for not in [Access::REMOTE_WRITE, Access::REMOTE_ATOMIC, Access::MW_BIND] {
            rights::refuse(access, not)?;
        }
        rights::check(&pd.handle.context, access)?;
        Ok(Self {
            pd: pd.clone(),
            access,
            most_regions: regions,
            most_bytes: bytes,
            changing: Mutex::new(()),
            entries: Mutex::new(Entries { regions: HashMap::new(), bytes: 0, asked: 0 }),
        })
    }

    fn entries(&self) -> MutexGuard<'_, Entries<M>> {
        // No code of the program runs under this lock, and the entries are valid after each step.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Regions in the cache, in use or not.
    #[must_use]
    pub fn regions(&self) -> usize {
        self.entries().regions.len()
    }

    /// Bytes of these regions. Memory in two regions counts twice.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.entries().bytes
    }

    /// Deregisters every region that is not in use.
    pub fn clear(&self) {
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        // Not in the condition of `while`, which would hold the lock while the device deregisters.
        loop {
            let oldest = self.entries().take_oldest();
            if oldest.is_none() {
                break;
            }
        }
    }
}

impl<M: AsRef<[u8]> + Send + Sync + ?Sized + 'static> RegistrationCache<M> {
    /// The region of all bytes of `memory`, which is registered if it is not yet. Memory is the same if its address and
    /// its length are, whichever `Arc` has it.
    ///
    /// The region stays registered as long as you keep the result, also after the cache was dropped.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for no bytes, or for more than the cache may ever hold. [`Error::AllInUse`] if the limit of
    /// regions or bytes is reached and each region is in use: try again when a request has completed. A failed call,
    /// after every region that is not in use was deregistered.
    pub fn get(&self, memory: &Arc<M>) -> Result<Arc<Region<Arc<M>>>, Error> {
        // The program's code, which may do anything: under no lock.
        let bytes = (**memory).as_ref();
        let (start, len) = (NonNull::from(bytes).cast::<u8>(), bytes.len());
        let range = (start.as_ptr().addr(), len);
        if let Some(region) = self.entries().find(range) {
            return Ok(region);
        }
        in_range("bytes of memory to cache", len as u64, 1..=self.most_bytes.min(isize::MAX as u64))?;
        // After a panic of an owner that was dropped here, the entries are valid all the same.
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have registered it meanwhile.
        if let Some(region) = self.entries().find(range) {
            return Ok(region);
        }
        while let Some(error) = self.excess(len) {
            // The guard of the entries ends with this statement: the device deregisters under the other lock alone.
            let oldest = self.entries().take_oldest();
            drop(oldest.ok_or(error)?);
        }
        let region = Arc::new(self.register(start, len, memory)?);
        let mut entries = self.entries();
        let last = entries.asked;
        entries.bytes += len as u64;
        entries.regions.insert(range, Entry { region: Arc::clone(&region), last });
        Ok(region)
    }

    /// The limit that a further region of `len` bytes would exceed.
    fn excess(&self, len: usize) -> Option<Error> {
        let entries = self.entries();
        let (used, limit) = (entries.regions.len() as u64, self.most_regions as u64);
        if used >= limit {
            return Some(Error::AllInUse { what: "regions", used, wanted: 1, limit });
        }
        let (used, wanted, limit) = (entries.bytes, len as u64, self.most_bytes);
        (wanted > limit - used).then_some(Error::AllInUse { what: "bytes", used, wanted, limit })
    }

    /// Registers memory. If the kernel or the device lacks room, makes some and tries again.
    fn register(&self, start: NonNull<u8>, len: usize, memory: &Arc<M>) -> Result<Region<Arc<M>>, Error> {
        loop {
            // SAFETY: the owner lends the range, and the registration keeps an `Arc` of the owner: as long as that is
            // there, the owner cannot be dropped or borrowed for writing, so the range stays valid (see the module).
            let made = unsafe { register_range(&self.pd, start, len, self.access, Arc::clone(memory)) };
            let error = match made {
                Ok(registration) => return Ok(Region::of(registration, (start.as_ptr().addr() as u64, len as u64))),
                Err(error) => error,
            };
            // Pinned bytes exceed a limit, or the firmware has no resources (Linux
            // `drivers/net/ethernet/mellanox/mlx5/core/cmd.c`, `cmd_status_to_err`: LIM_ERR, NO_RES_ERR).
            let lacks_room = matches!(error, Error::Call(CallError { errno: libc::ENOMEM | libc::EAGAIN, .. }));
            if !lacks_room || self.make_room(len as u64) == 0 {
                return Err(error);
            }
        }
    }

    /// Deregisters the oldest regions that are not in use, until these had `wanted` bytes. Returns their number.
    fn make_room(&self, wanted: u64) -> usize {
        let (mut regions, mut bytes) = (0, 0);
        while bytes < wanted {
            let oldest = self.entries().take_oldest();
            let Some(region) = oldest else { break };
            bytes += region.len();
            regions += 1;
        }
        event!(DEBUG, "registration cache made room", regions, bytes);
        regions
    }
}

impl<M: ?Sized> Entries<M> {
    /// The region of a range, used now.
    fn find(&mut self, range: Range) -> Option<Arc<Region<Arc<M>>>> {
        self.asked += 1;
        let entry = self.regions.get_mut(&range)?;
        entry.last = self.asked;
        Some(Arc::clone(&entry.region))
    }

    /// Takes the least recently used region that is not in use out of the entries.
    fn take_oldest(&mut self) -> Option<Region<Arc<M>>> {
        loop {
            let unused = self.regions.iter().filter(|(_, entry)| Arc::strong_count(&entry.region) == 1);
            let (&range, _) = unused.min_by_key(|(_, entry)| entry.last)?;
            let Entry { region, last } = self.regions.remove(&range)?;
            match Arc::try_unwrap(region) {
                Ok(region) => {
                    self.bytes -= region.len();
                    return Some(region);
                }
                // A `Weak` of the program's was turned into an `Arc` meanwhile.
                Err(region) => drop(self.regions.insert(range, Entry { region, last })),
            }
        }
    }
}
