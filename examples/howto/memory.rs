//! Memory beyond plain registrations: huge pages, a registration cache, on-demand paging, DMA handles, dma-bufs, memory
//! windows, indirect keys. The program skips parts that the device or its libraries do not have.

use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use blueflame::verbs::memory::{Prefetch, ProcessingHint, RegistrationCache, TphMemory, WindowType};
use blueflame::verbs::{Access, Device, Error, Pool, ProtectionDomain};
use blueflame::wqe::keys::{KeyRights, WindowRights};
use blueflame::{Remote, WrId, wqe};
use howto::{End, Failure};
use memmap2::MmapMut;

/// Bytes of a base page.
const PAGE: usize = 4096;
const TEXT: &[u8; 12] = b"in its place";

fn huge_pages(pd: &ProtectionDomain, near: &mut End, _: &mut End) -> Result<String, Failure> {
    // ANCHOR: huge_pages
    // One registration at start, on huge pages if the machine has some, cut up into buffers.
    let mut pool = Pool::new(pd, 2 << 20, Access::ALL)?;
    let buffers = pool.take(64 * PAGE)?.chunks(PAGE);
    // ANCHOR_END: huge_pages
    near.pair.sq.post(&wqe::write(buffers[63].remote()).inline(TEXT).signaled(WrId(1)))?;
    near.sent()?;
    assert_eq!(buffers[63].to_vec(0..12), TEXT);
    Ok(format!("{} buffers of one registration, pages: {:?}", buffers.len(), pool.pages()))
}

fn registration_cache(pd: &ProtectionDomain, near: &mut End, far: &mut End) -> Result<String, Failure> {
    // ANCHOR: registration_cache
    // At most 1000 regions, and 64 MiB in all of them.
    let cache = RegistrationCache::new(pd, Access::LOCAL_READ, 1000, 64 << 20)?;
    let message = Arc::new(TEXT.to_vec());
    for _ in 0..10 {
        // Registered the first time, found the other times.
        let region = cache.get(&message)?;
        let entry = region.sge_of(0, 12).ok_or("outside of the message")?;
        let write = wqe::write(far.buffer.remote()).gather([entry]).signaled(WrId(1));
        // SAFETY: `region` is held until the completion has come, and the device only reads.
        unsafe { near.pair.sq.post_unchecked(&write)? };
        near.sent()?;
    }
    // ANCHOR_END: registration_cache
    assert_eq!(far.buffer.to_vec(0..12), TEXT);
    Ok(format!("{} region for 10 requests", cache.regions()))
}

fn on_demand(pd: &ProtectionDomain, near: &mut End, _: &mut End) -> Result<String, Failure> {
    // ANCHOR: on_demand
    // 1 GiB, of which no page is pinned. Pages come when requests name them; `prefetch` takes the fault in advance.
    let memory = Pool::new(pd, 1 << 30, Access::ALL | Access::ON_DEMAND)?.take(1 << 30)?;
    memory.prefetch(0..16 * PAGE, Prefetch::Write, true)?;
    // ANCHOR_END: on_demand
    for at in [PAGE, 1 << 29] {
        near.pair.sq.post(&wqe::write(memory.remote().at(at as u64)).inline(TEXT).signaled(WrId(1)))?;
        near.sent()?;
        assert_eq!(memory.to_vec(at..at + 12), TEXT);
    }
    Ok("written to a prefetched page, and to one that came by a fault".into())
}

fn dma_handle(pd: &ProtectionDomain, near: &mut End, _: &mut End) -> Result<String, Failure> {
    let memory = MmapMut::map_anon(PAGE)?;
    let cpu = current_cpu()?;
    // ANCHOR: dma_handle
    // What peers write goes to the cache of this CPU, which will read it soon.
    let cache = Some((cpu, TphMemory::Volatile));
    let handle = pd.device().dma_handle(ProcessingHint::TargetWithPriority, cache)?;
    let inbox = pd.register_with_dma_handle(memory, Access::REMOTE_WRITE, &handle)?;
    // ANCHOR_END: dma_handle
    near.pair.sq.post(&wqe::write(inbox.remote()).inline(TEXT).signaled(WrId(1)))?;
    near.sent()?;
    assert_eq!(inbox.to_vec(0..12), TEXT);
    Ok(format!("written for CPU {cpu}"))
}

/// A CPU on which this thread may run.
fn current_cpu() -> Result<u32, Failure> {
    // SAFETY: takes nothing, and returns a number, or -1.
    let cpu = unsafe { libc::sched_getcpu() };
    Ok(u32::try_from(cpu)?)
}

fn dma_buf(pd: &ProtectionDomain, near: &mut End, _: &mut End) -> Result<String, Failure> {
    let (dmabuf, memory) = howto::dmabuf(PAGE as u64)?;
    // ANCHOR: dma_buf
    let region = pd.register_dmabuf(dmabuf.as_fd(), 0..PAGE as u64, 0, Access::ALL)?;
    // ANCHOR_END: dma_buf
    near.pair.sq.post(&wqe::write(region.remote().at(100)).inline(TEXT).signaled(WrId(1)))?;
    near.sent()?;
    let mut found = [0; 12];
    memory.read_exact_at(&mut found, 100)?;
    assert_eq!(&found, TEXT);
    Ok("written to memory of another device".into())
}

fn memory_window(pd: &ProtectionDomain, near: &mut End, far: &mut End) -> Result<String, Failure> {
    // ANCHOR: memory_window
    // The registration gives peers no access. The window does, to 64 bytes, until it is taken back.
    let page = Pool::new(pd, PAGE, Access::LOCAL_WRITE | Access::MW_BIND)?.take(PAGE)?;
    let mut window = pd.memory_window(WindowType::Type2)?;
    let bind = window.bind(far.pair.qp.qpn(), &page, 64..128, WindowRights::WRITE)?;
    // SAFETY: the page is registered longer than the window is bound; this side leaves it alone meanwhile.
    unsafe { far.pair.sq.post_unchecked(&bind.signaled(WrId(1)))? };
    far.sent()?;
    let lent = Remote { addr: page.addr() + 64, rkey: window.rkey() };
    // ANCHOR_END: memory_window
    near.pair.sq.post(&wqe::write(lent).inline(TEXT).signaled(WrId(1)))?;
    near.sent()?;
    // ANCHOR: take_back
    far.pair.sq.post(&window.take_back().signaled(WrId(2)))?;
    far.sent()?;
    // ANCHOR_END: take_back
    assert_eq!(page.to_vec(64..76), TEXT);
    Ok("64 bytes lent, written and taken back".into())
}

fn indirect_key(pd: &ProtectionDomain, near: &mut End, far: &mut End) -> Result<String, Failure> {
    far.buffer.write(0, b"place");
    far.buffer.write(PAGE, b"in its ");
    // ANCHOR: indirect_key
    // For the peer, both pieces are one region that begins at 0.
    let key = pd.indirect_key(4)?;
    let pieces = [far.buffer.sge_of(PAGE..PAGE + 7), far.buffer.sge_of(0..5)];
    let configure = key.configure().rights(KeyRights::REMOTE_READ).list(&pieces);
    // SAFETY: the buffer is registered longer than the key lives, and nobody writes it meanwhile.
    unsafe { far.pair.sq.post_unchecked(&configure.signaled(WrId(1)))? };
    far.sent()?;
    // ANCHOR_END: indirect_key
    let read = wqe::read(key.remote(0)).scatter([near.buffer.sge_of(0..12)]).signaled(WrId(1));
    // SAFETY: the buffer is registered longer than the queue lives, and looked at after `sent`.
    unsafe { near.pair.sq.post_unchecked(&read)? };
    near.sent()?;
    assert_eq!(near.buffer.to_vec(0..12), TEXT);
    Ok("2 pieces read as one region".into())
}

/// The message of an error about a missing feature. Any other error ends the program.
fn unsupported(error: Failure) -> Result<String, Failure> {
    match error.0.downcast_ref() {
        Some(Error::Unsupported { .. } | Error::Library(_)) => Ok(format!("{error:?}")),
        _ => Err(error),
    }
}

/// A part of the program. Its ends are connected with each other.
type Part = fn(&ProtectionDomain, &mut End, &mut End) -> Result<String, Failure>;

fn main() -> Result<(), Failure> {
    let device = howto::open(Device::options())?;
    let pd = device.protection_domain()?;
    let (mut near, mut far) = howto::connected(&pd)?;
    let parts: [(&str, Part); 7] = [
        ("huge pages", huge_pages),
        ("registration cache", registration_cache),
        ("on-demand paging", on_demand),
        ("DMA handle", dma_handle),
        ("dma-buf", dma_buf),
        ("memory window", memory_window),
        ("indirect key", indirect_key),
    ];
    for (name, part) in parts {
        match part(&pd, &mut near, &mut far) {
            Ok(said) => println!("{name}: {said}"),
            Err(error) => println!("{name}: skipped, {}", unsupported(error)?),
        }
    }
    Ok(())
}
