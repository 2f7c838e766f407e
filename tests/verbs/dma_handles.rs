//! DMA handles, and what the device is told of the memory that is registered with them.
//!
//! They need libibverbs of rdma-core 59 or later. With an older one, these tests look only whether that is said:
//! `LD_LIBRARY_PATH=RDMA_CORE/build/lib ./run test tests/verbs -- dma_handles` takes another.
//!
//! Hints of registrations belong here, other registrations in `regions.rs`.

use std::ffi::{c_int, c_void};

use blueflame::transport::Rc;
use blueflame::types::WrId;
use blueflame::verbs::memory::{Change, DmaHandle, ProcessingHint, TphMemory};
use blueflame::verbs::{Access, CallError, Device, Error};
use blueflame::wqe;
use blueflame_sys as sys;
use memmap2::MmapMut;

use crate::end::connected;
use crate::on_device::device;

/// The PCI device number of a ConnectX-8: the first generation to which softhca gives handles.
const CONNECTX_8: u32 = 0x1023;

/// The hint that the device has for a key: the processing hint times 256, plus the index of the steering tag.
fn hint_of(key: u32) -> c_int {
    // SAFETY: looks a name up among the loaded objects.
    let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"softhca_tph".as_ptr()) };
    assert!(!symbol.is_null(), "no softhca_tph: run this by ./run test, or under softhca-run");
    // SAFETY: the preloaded object's function of this name is of this type.
    unsafe { std::mem::transmute::<*mut c_void, extern "C" fn(c_int, u32) -> c_int>(symbol)(0, key) }
}

/// A CPU on which this thread may run.
fn cpu() -> u32 {
    // SAFETY: takes nothing, and returns a number.
    let cpu = unsafe { libc::sched_getcpu() };
    u32::try_from(cpu).expect("a CPU")
}

/// The device, with a handle for this CPU's cache; `None` where there are none, as the error says.
fn handle(hint: ProcessingHint) -> Option<(Device, DmaHandle)> {
    let device = device();
    let made = device.dma_handle(hint, Some((cpu(), TphMemory::Volatile)));
    if let Err(lacks) = sys::available::dma_handles() {
        assert_eq!(made.expect_err("an old library"), Error::Library(lacks));
        assert_eq!(lacks.symbol, Some(("ibv_alloc_dmah", "IBVERBS_1.15")));
        return None;
    }
    if device.attr().vendor_part_id < CONNECTX_8 {
        assert_eq!(made.expect_err("an old device"), Error::Unsupported { what: "DMA handles" });
        return None;
    }
    Some((device, made.expect("a handle")))
}

fn page() -> MmapMut {
    MmapMut::map_anon(4096).expect("memory")
}

#[test]
fn a_region_carries_the_hints_of_its_handle() {
    let Some((device, _)) = handle(ProcessingHint::TargetWithPriority) else { return };
    let pd = device.protection_domain().expect("a PD");
    let (mut a, _b) = connected::<Rc>(&device, &pd);
    let hints = [
        (ProcessingHint::Bidirectional, 0x000),
        (ProcessingHint::Requester, 0x100),
        (ProcessingHint::Target, 0x200),
        (ProcessingHint::TargetWithPriority, 0x300),
    ];
    for (hint, expected) in hints {
        let handle = device.dma_handle(hint, None).expect("a handle");
        let region = pd.register_with_dma_handle(page(), Access::ALL, &handle).expect("a region");
        assert_eq!(hint_of(region.rkey().0), expected, "{hint:?}");
        assert_eq!(hint_of(a.buffer.rkey().0), -1);
        a.post(&wqe::write(region.remote()).inline(b"hinted").signaled(WrId(1)));
        assert_eq!(a.completion().1, WrId(1));
        let mut bytes = [0; 6];
        region.read(0, &mut bytes);
        assert_eq!(&bytes, b"hinted");
    }
    // A CPU has a tag for each type of memory, which handles share.
    let cpu = cpu();
    let tag_of = |hint: ProcessingHint, memory| {
        let handle = device.dma_handle(hint, Some((cpu, memory))).expect("a handle");
        let region = pd.register_with_dma_handle(page(), Access::ALL, &handle).expect("a region");
        let known = hint_of(region.rkey().0);
        assert_eq!(known >> 8, hint as c_int);
        (known & 0xff, region)
    };
    let (first, region) = tag_of(ProcessingHint::Target, TphMemory::Volatile);
    drop(region);
    // The handle went with its region: its tag is free.
    let (again, region) = tag_of(ProcessingHint::Target, TphMemory::Persistent);
    assert_eq!(again, first);
    drop(region);
    let (first, _kept) = tag_of(ProcessingHint::Target, TphMemory::Volatile);
    let (same, _kept) = tag_of(ProcessingHint::Requester, TphMemory::Volatile);
    let (other, _kept) = tag_of(ProcessingHint::Target, TphMemory::Persistent);
    assert!(first != 0 && same == first && other != 0 && other != first, "{first} {same} {other}");
}

#[test]
fn a_handle_lives_as_long_as_its_regions() {
    let Some((device, handle)) = handle(ProcessingHint::Target) else { return };
    let pd = device.protection_domain().expect("a PD");
    let region = pd.register_with_dma_handle(page(), Access::ALL, &handle).expect("a region");
    let hint = hint_of(region.rkey().0);
    drop(handle);
    drop(device);
    // The kernel would say EBUSY to a handle that went first, and its tag would stay.
    assert_eq!(hint_of(region.rkey().0), hint);
    let key = region.rkey();
    drop(region);
    assert_eq!(hint_of(key.0), -1);
}

#[test]
fn what_does_not_go_with_a_handle_is_refused() {
    let Some((device, handle)) = handle(ProcessingHint::Target) else { return };
    let pd = device.protection_domain().expect("a PD");
    let error = pd.register_with_dma_handle(page(), Access::ALL | Access::ON_DEMAND, &handle).expect_err("on demand");
    assert_eq!(error, Error::AccessExcess { not: Access::ON_DEMAND });
    let elsewhere = self::device().protection_domain().expect("a PD of another open");
    let error = elsewhere.register_with_dma_handle(page(), Access::ALL, &handle).expect_err("another open's handle");
    assert_eq!(error, Error::ForeignDevice { object: "memory region", part: "DMA handle" });
    let nowhere = device.dma_handle(ProcessingHint::Target, Some((0xffff, TphMemory::Volatile)));
    assert_eq!(nowhere.expect_err("no CPU"), CallError { call: "ibv_alloc_dmah", errno: libc::EINVAL }.into());
    let region = pd.register_with_dma_handle(page(), Access::ALL, &handle).expect("a region");
    let hint = hint_of(region.rkey().0);
    let kept = region.reregister(Change::new().access(Access::LOCAL_READ)).expect_err("a change");
    assert_eq!(kept.error, Error::Unsupported { what: "changing a registration that has a DMA handle" });
    let region = kept.buffer.expect("the buffer as it was");
    assert_eq!((hint_of(region.rkey().0), region.access()), (hint, Access::ALL));
}
