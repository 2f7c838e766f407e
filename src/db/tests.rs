//! Registers backed by memory: the bytes that each half receives, and their order.
use super::*;
use crate::arch::copy::{BlockCopy, CopyRoutine, CopyVisitor};
use crate::setup::SetupError;
use core::ptr::NonNull;

/// A page that stands in for a UAR page, filled with 0xa5.
#[repr(align(4096))]
struct Page([u64; 512]);

const OLD: u64 = 0xa5a5_a5a5_a5a5_a5a5;
/// Words between a register's halves of 256 bytes.
const HALF: usize = 256 / 8;

impl Page {
    fn new() -> Self {
        Self([OLD; 512])
    }

    fn parts(&mut self, size: u32) -> RegisterParts {
        RegisterParts { reg: NonNull::from(&mut self.0).cast(), size }
    }
}

/// The routines that can be tried on ordinary memory: ST64B faults there.
fn on_memory() -> impl Iterator<Item = CopyRoutine> {
    CopyRoutine::available().filter(|&routine| routine != CopyRoutine::St64b)
}

/// The indices and values of words that have changed.
fn touched(page: &Page) -> impl Iterator<Item = (usize, u64)> {
    page.0.iter().copied().enumerate().filter(|&(_, word)| word != OLD)
}

#[test]
fn halves_alternate() {
    let mut page = Page::new();
    // SAFETY: the page is 4096 writable bytes that only the register stores to while it lives.
    let mut register = unsafe { ExclusiveRegister::from_parts(page.parts(256)) }.expect("aligned parts");
    for n in 1..=3 {
        // SAFETY: no device looks at this page.
        register.ring_doorbell(|half| unsafe { half.write(n) });
    }
    assert!(touched(&page).eq([(0, 3), (HALF, 2)]));
}

#[test]
fn halves_alternate_over_the_queues_of_a_thread() {
    let mut page = Page::new();
    // SAFETY: the page is 4096 writable bytes that only the register stores to while it lives.
    let register = unsafe { ThreadRegister::<TwoFences>::from_parts(page.parts(256)) }.expect("aligned parts");
    let (mut one, mut other) = (&register, &register);
    // SAFETY: no device looks at this page.
    one.ring_doorbell(|half| unsafe { half.write(1) });
    // SAFETY: no device looks at this page.
    other.ring_doorbell(|half| unsafe { half.write(2) });
    assert!(touched(&page).eq([(0, 1), (HALF, 2)]));
}

#[test]
fn copy_fills_one_half_and_no_more() {
    let mut page = Page::new();
    // SAFETY: the page is 4096 writable bytes that only the register stores to while it lives.
    let register = unsafe { ExclusiveRegister::from_parts(page.parts(256)) }.expect("aligned parts");
    let mut register = register.with_mode::<OneFence>();
    // SAFETY: no device looks at this page, and a half has 256 bytes.
    register.ring_doorbell(|half| unsafe { half.write(1) });
    // SAFETY: no device looks at this page, and a half has 256 bytes.
    register.ring_doorbell(|half| unsafe { half.copy(&[10, 11, 12, 13, 14, 15, 16, 17]) });
    register.flush();
    let copy = (0..8).map(|i| (HALF + i, 10 + i as u64));
    assert!(touched(&page).eq([(0, 1)].into_iter().chain(copy)));
}

/// Copies from a ring by a routine.
struct Wraps;
impl CopyVisitor for Wraps {
    type Output = ();

    fn run<C: BlockCopy>(self, copy: C) {
        let mut ring: [u64; 4 * 8] = core::array::from_fn(|i| i as u64);
        let start = NonNull::from(&mut ring).cast();
        for slot in 0..4 {
            for wqebbs in 1..=4 {
                let mut page = Page::new();
                // SAFETY: the page is 4096 writable bytes that only the register stores to while it lives.
                let register = unsafe { ExclusiveRegister::from_parts(page.parts(256)) }.expect("aligned parts");
                // SAFETY: no device looks; the ring is 4 WQEBBs, `slot` is one of them, and 4 fit the half.
                register.with_copy(copy).ring_doorbell(|half| unsafe { half.copy_from_ring(start, 4, slot, wqebbs) });
                let expected = (0..wqebbs * 8).map(|i| (i, ((slot * 8 + i) % 32) as u64));
                assert!(touched(&page).eq(expected), "{wqebbs} from {slot} by {}", C::ROUTINE);
            }
        }
    }
}

#[test]
fn copy_follows_the_rings_wrap() {
    for routine in on_memory() {
        routine.dispatch(Wraps).expect("available");
    }
}

/// Copies to either register type by a routine.
struct Halves;
impl CopyVisitor for Halves {
    type Output = ();

    fn run<C: BlockCopy>(self, copy: C) {
        let (mut own, mut shared, mut threads) = (Page::new(), Page::new(), Page::new());
        // SAFETY: each page is 4096 writable bytes that only its register stores to while that lives.
        let (register, locked, unlocked) = unsafe {
            (
                ExclusiveRegister::from_parts(own.parts(256)).expect("aligned parts"),
                SharedRegister::from_parts(shared.parts(256)).expect("aligned parts"),
                ThreadRegister::<OneFence>::from_parts(threads.parts(256)).expect("aligned parts"),
            )
        };
        let mut register = register.with_mode::<OneFence>().with_copy(copy);
        let (locked, unlocked) = (locked.with_copy(copy), unlocked.with_copy(copy));
        for n in 0..3 {
            // SAFETY: no device looks at these pages, and a half has 256 bytes.
            register.ring_doorbell(|half| unsafe { half.copy(&[n; 8]) });
            // SAFETY: no device looks at these pages, and a half has 256 bytes.
            (&locked).ring_doorbell(|half| unsafe { half.copy(&[n; 8]) });
            // SAFETY: no device looks at these pages, and a half has 256 bytes.
            (&unlocked).ring_doorbell(|half| unsafe { half.copy(&[n; 8]) });
        }
        register.flush();
        let expected = || (0..8).map(|i| (i, 2)).chain((0..8).map(|i| (HALF + i, 1)));
        for page in [&own, &shared, &threads] {
            assert!(touched(page).eq(expected()), "{}", C::ROUTINE);
        }
    }
}

#[test]
fn every_routine_copies_to_registers_of_all_types() {
    for routine in on_memory() {
        routine.dispatch(Halves).expect("available");
    }
}

/// The half that one doorbell writes, and the size by which a queue knows whether BlueFlame takes a WQE.
fn rings_once<R: Register>(mut register: R, size: usize) {
    assert_eq!(register.size(), size);
    // SAFETY: no device looks at the page.
    register.ring_doorbell(|half| unsafe { half.write(7) });
}

#[test]
fn registers_of_all_types_have_their_size_and_ring() {
    let rung = |ring: &dyn Fn(RegisterParts)| {
        let mut page = Page::new();
        ring(page.parts(256));
        assert!(touched(&page).eq([(0, 7)]));
    };
    // SAFETY: the page is 4096 writable bytes that only the register stores to while it lives; so in all that follow.
    let threads = |parts| unsafe { ThreadRegister::<TwoFences>::from_parts(parts) }.expect("aligned parts");
    // SAFETY: the page is 4096 writable bytes that only the register stores to while it lives.
    let shared = |parts| unsafe { SharedRegister::from_parts(parts) }.expect("aligned parts");
    // SAFETY: the page is 4096 writable bytes that only the register stores to while it lives.
    rung(&|parts| rings_once(unsafe { ExclusiveRegister::from_parts(parts) }.expect("aligned parts"), 256));
    rung(&|parts| rings_once(&threads(parts), 256));
    rung(&|parts| rings_once(&shared(parts), 256));
    #[cfg(feature = "std")]
    {
        rung(&|parts| rings_once(std::rc::Rc::new(threads(parts)), 256));
        rung(&|parts| rings_once(std::sync::Arc::new(shared(parts)), 256));
    }
    // SAFETY: the page is 4096 writable bytes that only the register stores to while it lives.
    rung(&|parts| rings_once(unsafe { RecordlessRegister::from_raw(parts.reg) }.expect("an aligned place"), 0));
    // None of its own: nothing is written.
    rings_once(Managed, 0);
}

#[test]
fn without_blueflame_the_place_stays() {
    let mut page = Page::new();
    // SAFETY: the page is 4096 writable bytes that only the register stores to while it lives.
    let mut register = unsafe { ExclusiveRegister::from_parts(page.parts(0)) }.expect("aligned parts");
    assert_eq!(register.size(), 0);
    for n in 1..=3 {
        // SAFETY: no device looks at this page.
        register.ring_doorbell(|half| unsafe { half.write(n) });
    }
    assert!(touched(&page).eq([(0, 3)]));
}

#[test]
fn impossible_parts_are_named() {
    let what = "bytes of a BlueFlame half, if not 0";
    let mut page = Page::new();
    for size in [1, 32, 96, 257, 4096, u32::MAX] {
        // SAFETY: refused before anything is stored.
        let refused = unsafe { ExclusiveRegister::from_parts(page.parts(size)) }.err();
        assert_eq!(refused, Some(SetupError::NotPowerOfTwo { what, value: size.into(), min: 64, max: 2048 }));
    }
    let what = "BlueFlame register";
    let parts = page.parts(256);
    let off = RegisterParts { reg: parts.reg.map_addr(|a| a | 256), size: 256 };
    // SAFETY: refused before anything is stored.
    let refused = unsafe { SharedRegister::from_parts(off) }.err();
    assert_eq!(refused, Some(SetupError::Misaligned { what, address: off.reg.addr().get(), alignment: 512 }));
    let odd = RegisterParts { reg: parts.reg.map_addr(|a| a | 4), size: 0 };
    // SAFETY: refused before anything is stored.
    let refused = unsafe { ExclusiveRegister::from_parts(odd) }.err();
    assert_eq!(refused, Some(SetupError::Misaligned { what, address: odd.reg.addr().get(), alignment: 8 }));
    // SAFETY: refused before anything is stored.
    let refused = unsafe { RecordlessRegister::from_raw(odd.reg) }.err();
    let what = "register of a queue without a record";
    assert_eq!(refused, Some(SetupError::Misaligned { what, address: odd.reg.addr().get(), alignment: 8 }));
}

#[test]
fn shared_register_takes_turns() {
    use core::sync::atomic::{AtomicUsize, Ordering};

    let mut page = Page::new();
    // SAFETY: the page is 4096 writable bytes that only the register stores to while it lives.
    let register = unsafe { SharedRegister::from_parts(page.parts(256)) }.expect("aligned parts");
    let (inside, rung) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for thread in 1..=4_u64 {
            let (mut register, inside, rung) = (&register, &inside, &rung);
            scope.spawn(move || {
                for _ in 0..500 {
                    register.ring_doorbell(|half| {
                        assert_eq!(inside.fetch_add(1, Ordering::Relaxed), 0, "two threads in one doorbell");
                        // SAFETY: no device looks at this page, and a half has 256 bytes.
                        let stored = unsafe { half.copy(&[thread; 8]) };
                        rung.fetch_add(1, Ordering::Relaxed);
                        inside.fetch_sub(1, Ordering::Relaxed);
                        stored
                    });
                }
            });
        }
    });
    assert_eq!(rung.into_inner(), 2000);
    for half in [&page.0[..8], &page.0[HALF..HALF + 8]] {
        assert!(half.iter().all(|&word| word == half[0] && word != OLD), "a torn copy: {half:?}");
    }
}
