//! Objects, memory and registers that one context exports, and another of the same device file imports.
//!
//! Two contexts of one process belong here. Two processes are in `examples/howto/restart.rs`, and in
//! `softhca/uverbs/tests/imported.c`.

use std::fs::File;
use std::os::fd::AsFd;
use std::ptr::NonNull;

use blueflame::db::ExclusiveRegister;
use blueflame_devx::cmd::{AllocQCounterIn, QueryQCounterIn};
use blueflame_devx::memory::{Rings, ThreadRings, Umem};
use blueflame_devx::object::Uar;
use blueflame_devx::{Context, Error, Object};

use crate::ground::ground;

/// The device of `context`, imported from its file.
fn imported(context: &Context) -> Context {
    Context::import(context.device().cmd_fd().try_clone_to_owned().expect("a descriptor")).expect("imported")
}

/// Whether libmlx5 is older than the functions; then `result` says so.
fn is_older<T: std::fmt::Debug>(result: &Result<T, Error>) -> bool {
    let older = blueflame_sys::available::export().is_err();
    match result {
        Err(Error::Verbs(error)) if older => assert!(error.to_string().contains("mlx5dv"), "{error}"),
        result => assert!(result.is_ok() && !older, "{result:?}"),
    }
    older
}

/// Asks `object`, the set of counters `id`.
fn query(object: &Object, id: u8) -> Result<(), Error> {
    let mut inbox = QueryQCounterIn::new();
    inbox.set_counter_set_id(id);
    object.query(&inbox).map(drop)
}

#[test]
fn a_device_is_imported_by_its_file() {
    let ground = ground();
    let context = imported(&ground.context);
    assert_eq!(context.device().name(), ground.context.device().name());
    assert_eq!(context.device().attr(), ground.context.device().attr());
    assert!(!context.is(&ground.context));
    let other = File::open("/dev/null").expect("a file");
    let refused = Context::import(other.as_fd().try_clone_to_owned().expect("a descriptor"));
    assert!(matches!(refused, Err(Error::Verbs(_))), "{refused:?}");
}

#[test]
fn an_imported_object_is_left_alone_or_destroyed_for_all() {
    let ground = ground();
    // SAFETY: counters write to no memory.
    let (counters, out) = unsafe { ground.context.create(&AllocQCounterIn::new()) }.expect("counters");
    let id = out.counter_set_id();
    let exported = counters.export();
    if is_older(&exported) {
        return;
    }
    let exported = exported.expect("exported");
    let context = imported(&ground.context);
    // SAFETY: exported by a context of the same file, and alive.
    let import = || unsafe { Object::import(&context, &exported) }.expect("imported");
    let object = import();
    query(&object, id).expect("queried here");
    assert_eq!(object.export().expect("exported again"), exported);
    drop(object);
    query(&counters, id).expect("it is still there");
    import().destroy().expect("destroyed");
    let gone = query(&counters, id).expect_err("gone");
    assert!(matches!(&gone, Error::Command(error) if error.errno == libc::ENOENT), "{gone:?}");
}

#[test]
fn bytes_of_another_length_are_refused() {
    let ground = ground();
    // SAFETY: refused before they are used.
    let object = unsafe { Object::import(&ground.context, &[0; 3]) };
    if blueflame_sys::available::export().is_err() {
        assert!(matches!(object, Err(Error::Verbs(_))));
        return;
    }
    assert!(matches!(object, Err(Error::OutOfRange { value: 3, .. })), "{object:?}");
    // SAFETY: likewise.
    let memory = unsafe { Umem::import(&ground.context, &[], NonNull::dangling(), 64) };
    assert!(matches!(memory, Err(Error::OutOfRange { value: 0, .. })), "{memory:?}");
}

#[test]
fn imported_memory_stays_registered() {
    let ground = ground();
    let memory = Umem::new(&ground.context, 1 << 16).expect("memory");
    let exported = memory.export();
    if is_older(&exported) {
        return;
    }
    let context = imported(&ground.context);
    // SAFETY: the same memory, registered and mapped until the end.
    let here = unsafe { Umem::import(&context, &exported.expect("exported"), memory.start(), memory.len()) };
    let here = here.expect("imported");
    assert_eq!((here.id(), here.len(), here.page_bytes()), (memory.id(), memory.len(), None));
    drop(here);
    // A queue in memory that is not registered would be refused.
    let (rings, uar) = (ThreadRings::new(&Rings::over(memory)), Uar::new(&ground.context).expect("a register"));
    rings.completion_queue(uar.page(), 8).build().expect("a queue in the memory");
}

#[test]
fn a_register_is_mapped_again_and_rings() {
    let ground = ground();
    let uar = Uar::new(&ground.context).expect("a register");
    let (context, exported) = (imported(&ground.context), uar.export());
    // SAFETY: of a context with the same file; nothing rings.
    let import = |bytes: &[u8]| unsafe { Uar::import(&context, bytes) };
    let here = import(&exported).expect("mapped");
    assert_eq!((here.page().id(), here.page().kind()), (uar.page().id(), uar.page().kind()));
    assert_eq!(here.parts().size, uar.parts().size);
    let offset = |uar: &Uar| uar.parts().reg.addr().get() - uar.page().base().addr().get();
    assert_eq!(offset(&here), offset(&uar));
    assert_ne!(here.page().base(), uar.page().base());
    assert_eq!(here.export(), exported);
    // SAFETY: mapped, and nothing else uses it.
    unsafe { ExclusiveRegister::from_parts(here.parts()) }.expect("a register");

    let with = |at: usize, byte: u8| {
        let mut changed = exported.clone();
        changed[at] = byte;
        import(&changed)
    };
    assert!(matches!(import(&exported[1..]), Err(Error::OutOfRange { value: 20, .. })));
    assert!(matches!(with(20, 3), Err(Error::OutOfRange { value: 3, max: 2, .. })), "kind");
    assert!(matches!(with(9, 0x10), Err(Error::OutOfRange { what: "byte of a register in its page", .. })), "place");
    assert!(matches!(with(19, 1), Err(Error::OutOfRange { max: 0xff_ffff, .. })), "number of the page");
    assert!(matches!(with(3, 0x70), Err(Error::Call(error)) if error.call == "mmap"), "no such page");
}
