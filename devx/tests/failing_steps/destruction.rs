//! Objects that the kernel refuses to destroy. The device may use their memory on, so nothing else may be made there.

use std::any::Any;
use std::sync::Arc;

use blueflame::transport;
use blueflame::verbs::Access;
use blueflame_devx::cmd::AllocPdIn;
use blueflame_devx::memory::{Rings, ThreadRings, Umem};
use blueflame_devx::object::{Cq, Mkey, OwnedCq, Pd, Uar};
use blueflame_devx::{Context, Error};

use crate::kernel::refuse_command;

struct Ground {
    pd: Pd,
    rings: ThreadRings,
    uar: Uar,
    cq: OwnedCq,
}

/// The name of an object, and how it is made.
type Made = (&'static str, fn(&Ground) -> Result<Box<dyn Any>, Error>);

/// Objects that have rings.
const IN_RINGS: &[Made] = &[
    ("completion queue", |on| Ok(Box::new(on.rings.completion_queue(on.uar.page(), 8).build()?))),
    ("completion queue that was resized", |on| {
        let mut cq = on.rings.completion_queue(on.uar.page(), 8).build()?;
        Cq::resize(&mut cq, &on.rings, 64)?;
        Ok(Box::new(cq))
    }),
    ("queue pair", |on| Ok(Box::new(on.pd.queue_pair::<transport::Rc>(&on.rings, &on.cq, &on.cq).build()?))),
    ("shared receive queue", |on| Ok(Box::new(on.pd.shared_recv_queue(&on.rings, 15, 1)?))),
    ("extended receive queue", |on| Ok(Box::new(on.pd.extended_recv_queue(&on.rings, on.cq.handle(), 15, 1)?))),
];

/// Drops `made` while the kernel refuses the first command of that.
fn drop_refused<T>(made: T) {
    refuse_command(1, libc::EBUSY);
    drop(made);
    refuse_command(0, 0);
}

/// Whether `start` is mapped.
fn mapped(start: usize) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux");
    maps.lines().any(|line| {
        let (from, to) = line.split(' ').next().and_then(|range| range.split_once('-')).expect("a range");
        let number = |text| usize::from_str_radix(text, 16).expect("an address");
        (number(from)..number(to)).contains(&start)
    })
}

/// Leaks, so nothing can be counted after it.
pub(crate) fn check(context: &Context) {
    let rings = ThreadRings::new(&Rings::new(context).expect("memory"));
    let uar = Uar::new(context).expect("a register");
    let cq = rings.completion_queue(uar.page(), 512).build().expect("a completion queue");
    let ground = Ground { pd: Pd::new(context).expect("ALLOC_PD"), rings, uar, cq };
    let taken = || ground.rings.rings().in_use().taken;
    for (what, make) in IN_RINGS {
        // Records come by pages, which stay: the first has them take one.
        drop(make(&ground).unwrap_or_else(|error| panic!("{what}: {error}")));
        let before = taken();
        let made = make(&ground).unwrap_or_else(|error| panic!("{what}: {error}"));
        let with = taken();
        assert!(with > before, "{what} lies in rings");
        drop_refused(made);
        assert_eq!(taken(), with, "the ring of a {what} that the device has is free");
    }

    // A ring that is registered by itself, as its kernel has no small pages: the queue goes, the registration does not.
    refuse_command(1, libc::EOPNOTSUPP);
    let rings = ThreadRings::new(&Rings::new(context).expect("memory"));
    let make = || rings.completion_queue(ground.uar.page(), 8).build().expect("a completion queue");
    drop(make());
    let (made, taken) = (make(), rings.rings().in_use());
    assert_eq!(taken.registrations, 2);
    refuse_command(2, libc::EBUSY);
    drop(made);
    refuse_command(0, 0);
    assert_eq!(rings.rings().in_use(), taken, "a ring that the device has is free");
    drop(make());
    assert_eq!(rings.rings().in_use(), taken);

    let umem = Arc::new(Umem::new(context, 1 << 16).expect("memory"));
    let key = Mkey::of_memory(&ground.pd, &umem, 0..4096, Access::ALL).expect("a key");
    drop_refused(key);
    assert!(Arc::strong_count(&umem) > 1, "the memory of a key that the device has is to be unmapped");

    let umem = Umem::new(context, 1 << 16).expect("memory");
    let start = umem.start().addr().get();
    assert!(mapped(start));
    drop_refused(umem);
    assert!(mapped(start), "memory that the device has is unmapped");

    // Told of it, the caller tries again.
    // SAFETY: a protection domain writes to no memory.
    let (object, _) = unsafe { context.create(&AllocPdIn::new()) }.expect("ALLOC_PD");
    refuse_command(1, libc::EBUSY);
    let (object, error) = object.destroy().expect_err("refused");
    refuse_command(0, 0);
    assert!(matches!(&error, Error::Call(call) if call.errno == libc::EBUSY), "{error}");
    object.destroy().map_err(|(_, error)| error).expect("destroyed");
}
