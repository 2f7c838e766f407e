//! Keys that commands make: of memory, and of pieces of keys.
//!
//! Keys belong here, their formats in `block_signatures.rs` and `encryption.rs`.

use std::sync::Arc;

use blueflame::cq::Side;
use blueflame::types::WrId;
use blueflame::verbs::Access;
use blueflame::{transport, wqe};
use blueflame_devx::Error;
use blueflame_devx::cmd::AccessMode;
use blueflame_devx::memory::{Rings, RingsUse, ThreadRings, Umem};
use blueflame_devx::object::{Mkey, Pd, Piece};

use crate::end::connected;
use crate::ground::ground;
use crate::kernel::refuse_command;

#[test]
fn a_key_of_memory_is_written_and_read() {
    let ground = ground();
    let (mut a, _b) = connected::<transport::Rc>(&ground);
    let umem = Arc::new(Umem::new(&ground.context, 1 << 16).expect("memory"));
    let key = Mkey::of_memory(&ground.pd, &umem, 100..9000, Access::ALL).expect("a key");
    a.post(&wqe::write(key.remote()).inline(b"by key").signaled(WrId(1)));
    assert_eq!(a.completion().1, WrId(1));
    let mut bytes = [0; 6];
    umem.read(100, &mut bytes);
    assert_eq!(&bytes, b"by key");
    let context = key.query().expect("QUERY_MKEY");
    assert_eq!((context.start_addr(), context.len(), context.access_mode()), (key.start(), 8900, AccessMode::MTT));
    assert_eq!(context.pd(), ground.pd.pdn());
}

#[test]
fn pieces_of_keys_are_one_memory() {
    let ground = ground();
    let (mut a, _b) = connected::<transport::Rc>(&ground);
    let umem = Arc::new(Umem::new(&ground.context, 1 << 16).expect("memory"));
    let whole = Mkey::of_memory(&ground.pd, &umem, 0..1 << 16, Access::ALL).expect("a key");
    let pieces =
        [whole.piece(5000..5003), whole.piece(100..101), whole.piece(60000..60100)].map(|p| p.expect("inside"));
    let scattered = Mkey::of_pieces(&ground.pd, &pieces, Access::ALL).expect("a key of pieces");
    assert_eq!(scattered.len(), 104);
    a.post(&wqe::write(scattered.remote()).inline(b"abcdef").signaled(WrId(1)));
    assert_eq!(a.completion(), (Side::Requester, WrId(1), 0));
    let at = |offset: usize| {
        let mut bytes = [0; 3];
        umem.read(offset, &mut bytes);
        bytes
    };
    assert_eq!((at(5000), at(100), at(60000)), (*b"abc", *b"d\0\0", *b"ef\0"));

    let equal: Vec<Piece> = [8192_u64, 0].map(|from| whole.piece(from..from + 4096).expect("inside")).into();
    let equal = Mkey::of_equal_pieces(&ground.pd, &equal, Access::ALL).expect("a key of equal pieces");
    drop(whole);
    a.post(&wqe::write(equal.remote().at(4094)).inline(b"wxyz").signaled(WrId(2)));
    assert_eq!(a.completion().1, WrId(2));
    assert_eq!((&at(8192 + 4094)[..2], &at(0)[..2]), (&b"wx"[..], &b"yz"[..]));
}

#[test]
fn what_is_no_memory_is_refused_before_it_is_sent() {
    let ground = ground();
    let umem = Arc::new(Umem::new(&ground.context, 4096).expect("memory"));
    let past = umem.len() + 1;
    let error = Mkey::of_memory(&ground.pd, &umem, 0..past, Access::ALL).expect_err("past the end");
    assert!(matches!(error, Error::OutOfRange { .. }), "{error}");
    let error = Mkey::of_memory(&ground.pd, &umem, 0..1, Access::ON_DEMAND).expect_err("not by commands");
    assert!(matches!(error, Error::Capability { name: "mkey.on_demand", .. }), "{error}");
    assert!(matches!(Mkey::of_equal_pieces(&ground.pd, &[], Access::ALL), Err(Error::NotPowerOfTwo { .. })));
}

/// Where parent and child have a page in common, the first that writes gets another one, and the device goes on with
/// the old one.
#[test]
fn the_child_of_a_fork_gets_no_rings() {
    let ground = ground();
    for bytes in [4096, 1 << 20] {
        let umem = Umem::new(&ground.context, bytes).expect("memory");
        let flags = flags_of(umem.start().addr().get());
        assert!(flags.contains(&"dc".to_owned()), "{flags:?}");
    }
}

/// The kernel's text on the mapping that has this address (`VmFlags` of proc_pid_smaps(5)).
fn flags_of(address: usize) -> Vec<String> {
    let maps = std::fs::read_to_string("/proc/self/smaps").expect("smaps");
    let has = |line: &str| {
        let (from, to) = line.split(' ').next().and_then(|range| range.split_once('-'))?;
        let hex = |text| usize::from_str_radix(text, 16).ok();
        Some((hex(from)?..hex(to)?).contains(&address))
    };
    let mapping = maps.lines().skip_while(|line| has(line) != Some(true));
    let flags = mapping.skip(1).find_map(|line| line.strip_prefix("VmFlags:")).expect("flags");
    flags.split_whitespace().map(str::to_owned).collect()
}

/// The kernel refuses page sizes by name, as one without the attribute, or one whose own pages are larger: rings are
/// registered by themselves then. Keys need no page size that is known.
#[test]
fn rings_need_no_page_size_that_is_known() {
    let mut ground = ground();
    assert_eq!(ground.rings.rings().in_use().registrations, 1);
    for errno in [libc::EPROTONOSUPPORT, libc::EOPNOTSUPP, libc::EINVAL] {
        refuse_command(1, errno);
        let rings = Rings::new(&ground.context).expect("memory");
        ground.rings = ThreadRings::new(&rings);
        let (mut a, mut b) = connected::<transport::Rc>(&ground);
        // Two queue pairs, two completion queues, and the chunk with the records.
        assert_eq!(rings.in_use().registrations, 5);
        b.post_receive(1);
        a.post(&wqe::send().inline(b"by rings of their own").signaled(WrId(2)));
        assert_eq!((b.completion(), a.completion().1), ((Side::Responder, WrId(1), 21), WrId(2)));
        let pool = ground.pd.shared_recv_queue(&ground.rings, 100, 1).expect("a linked ring");
        assert_eq!(rings.in_use().registrations, 6);
        drop((a, b, pool));
        assert_eq!(rings.in_use(), RingsUse { registrations: 1, taken: 512, ..rings.in_use() });

        refuse_command(1, errno);
        let umem = Arc::new(Umem::new(&ground.context, 1 << 16).expect("memory"));
        assert_eq!(umem.page_bytes(), None);
        drop(Mkey::of_memory(&ground.pd, &umem, 100..9000, Access::ALL).expect("a key"));
    }
    // The defect of the memory is no matter of pages.
    refuse_command(1, libc::ENOMEM);
    let error = Umem::new(&ground.context, 4096).expect_err("no memory");
    assert!(matches!(&error, Error::Call(call) if call.errno == libc::ENOMEM), "{error}");
    assert_eq!(Umem::new(&ground.context, 4096).expect("memory").page_bytes(), Some(4096));
}

#[test]
fn thousands_of_queues_are_one_registration() {
    let ground = ground();
    let pd = Pd::new(&ground.context).expect("ALLOC_PD");
    assert_ne!(pd.pdn(), ground.pd.pdn());
    let rings = Rings::builder(&ground.context).chunk_bytes(4 << 20).build().expect("memory");
    let thread = ThreadRings::new(&rings);
    let uar = blueflame_devx::object::ThreadUar::new(&ground.context).expect("a register");
    let cq = thread.completion_queue(uar.page(), 200 * 32).build().expect("a completion queue");
    let before = rings.in_use();
    let pairs: Vec<_> = (0..200)
        .map(|_| {
            let builder = pd.queue_pair::<transport::Rc>(&thread, &cq, &cq);
            builder.sends(16).receives::<WrId>(16).build_in(&uar).expect("a queue pair")
        })
        .collect();
    let used = rings.in_use();
    assert_eq!(used.registrations, 1, "{used:?}");
    // 16 WQEBBs, 16 receives of 16 bytes, and 8 bytes of record; records come by 64.
    assert_eq!(used.taken - before.taken, 200 * (16 * 64 + 16 * 16) + 512 * 3, "{used:?}");
    drop(pairs);
    assert_eq!(rings.in_use().taken, before.taken + 512 * 3, "pages of records stay with the thread");
}
