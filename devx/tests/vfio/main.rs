//! A PCI function that this process drives, by libmlx5's VFIO driver: its queues are made by commands, and `blueflame`
//! drives them.
//!
//! Functions without a kernel driver belong here. Commands through the kernel belong in `device`.
//!
//! Needs a function that VFIO's driver has. The environment can name one (`VFIO_FUNCTION`). `./run test` starts the
//! software one so:
//!
//! ```text
//! softhca-run --vfio 1 --
//! softhca-run --vfio 1 --link ethernet --generation connectx7 -- frames
//! ```

#[path = "../device/end.rs"]
mod end;
mod frames;
mod merging;
mod striding;
mod twins;

use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use blueflame::cq::Side;
use blueflame::transport::Rc;
use blueflame::types::{Qpn, WrId};
use blueflame::verbs::{Access, CallError, Device};
use blueflame::wqe;
use blueflame_devx::cmd::{AccessMode, CreateMkeyIn, Opcode, QpcState, QueryIssiIn, QuerySpecialContextsOut};
use blueflame_devx::mailbox::{List, Structure};
use blueflame_devx::memory::{Rings, ThreadRings, Umem};
use blueflame_devx::object::{Mkey, Uar};
use blueflame_devx::vfio::Function;
use blueflame_devx::{Context, Error, FetchedOrder};
use memmap2::MmapMut;

use crate::end::{End, Ground, connected};

/// A function is open once at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// The function, open.
struct Alone {
    function: Function,
    _alone: MutexGuard<'static, ()>,
}

impl Deref for Alone {
    type Target = Function;

    fn deref(&self) -> &Function {
        &self.function
    }
}

struct Driven {
    ground: Ground,
    function: Alone,
}

fn name() -> String {
    std::env::var("VFIO_FUNCTION").unwrap_or_else(|_| "ca00:02:00.0".to_owned())
}

fn function() -> Alone {
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    Alone { function: Function::open(&name()).expect("a function that VFIO's driver has"), _alone: alone }
}

fn driven() -> Driven {
    let function = function();
    let path = function.infiniband_path(1).expect("an InfiniBand port");
    let ground = Ground::over(function.context().clone(), path);
    Driven { ground, function }
}

#[test]
fn messages_pass_between_two_queue_pairs() {
    let Driven { function, ground } = &driven();
    let (mut a, mut b) = connected::<Rc>(ground);
    assert_eq!(a.pair.qp.state().expect("QUERY_QP"), QpcState::RTS);
    let message: Vec<u8> = (0..50_000_u32).map(|i| (i * 7 + i / 256) as u8).collect();

    b.post_receive(1);
    a.buffer.write(0, &message);
    a.post(&wqe::send().gather([a.buffer.sge_of(0..message.len())]).signaled(WrId(2)));
    assert_eq!(b.completion(), (Side::Responder, WrId(1), 50_000));
    assert_eq!(a.completion().1, WrId(2));
    assert!(b.bytes(message.len()) == message);

    a.post(&wqe::write(b.buffer.remote().at(8)).inline(b"inline").signaled(WrId(3)));
    assert_eq!(a.completion().1, WrId(3));
    assert_eq!(b.bytes(14)[8..], *b"inline");

    a.buffer.fill(0);
    a.post(&wqe::read(b.buffer.remote()).scatter([a.buffer.sge_of(0..50_000)]).signaled(WrId(4)));
    assert_eq!(a.completion().1, WrId(4));
    assert!(a.bytes(50_000) == b.bytes(50_000));

    function.process_events().expect("events");
}

/// Fetches 8 bytes of `to` in three ways. They come in `order`.
fn fetch(from: &mut End<Rc>, to: &mut End<Rc>, order: FetchedOrder) {
    const FIRST: u64 = 0x0102_0304_0506_0708;
    let remote = to.buffer.remote().at(64);
    let (addr, lkey) = (from.buffer.addr(), from.buffer.lkey());
    to.buffer.write(64, &FIRST.to_ne_bytes());
    from.post(&wqe::fetch_add(remote, 1).result(addr, lkey).signaled(WrId(1)));
    from.post(&wqe::compare_swap(remote, FIRST + 1, 9).result(addr + 8, lkey).signaled(WrId(2)));
    from.post(&wqe::masked_fetch_add(remote, 2_u64, 0).result(addr + 16, lkey).signaled(WrId(3)));
    for id in 1..=3 {
        assert_eq!(from.completion().1, WrId(id));
    }
    let fetched = from.bytes(24);
    for (n, number) in [FIRST, FIRST + 1, 9].into_iter().enumerate() {
        let bytes = fetched[8 * n..].first_chunk().copied().expect("8 bytes");
        let expected = match order {
            FetchedOrder::Host => number.to_ne_bytes(),
            FetchedOrder::Network => number.to_be_bytes(),
        };
        assert_eq!(bytes, expected, "request {n}");
        assert_eq!(order.number(bytes), number, "request {n}");
    }
    assert_eq!(to.bytes(72)[64..], 11_u64.to_ne_bytes(), "the peer's memory has its CPU's order");
}

/// rdma-core's driver leaves the mode as it finds it (`mlx5_vfio.c`, `set_hca_cap`), so numbers come in network order.
/// A kernel's driver has changed the mode of the other device.
#[test]
fn atomics_fetch_in_the_order_that_the_driver_has_chosen() {
    let Driven { ground, .. } = &driven();
    let other = kernels();
    assert_eq!(ground.context.fetched_order().expect("atomics"), FetchedOrder::Network);
    assert_eq!(other.context.fetched_order().expect("atomics"), FetchedOrder::Host);
    let (mut a, mut b) = connected::<Rc>(ground);
    fetch(&mut a, &mut b, FetchedOrder::Network);
    let (mut a, mut b) = peers(ground, &other);
    fetch(&mut a, &mut b, FetchedOrder::Network);
    fetch(&mut b, &mut a, FetchedOrder::Host);
}

/// The driver makes one page of each registration, of a size that is a power of two. It refuses a ring at an offset in
/// the page. It refuses keys whose addresses are no multiples of that size.
#[test]
fn each_ring_is_registered_by_itself_and_keys_need_aligned_memory() {
    let Driven { ground, .. } = &driven();
    let rings = Rings::builder(&ground.context).chunk_bytes(1 << 20).build().expect("memory");
    assert_eq!(rings.in_use().registrations, 1);
    let (uar, thread) = (Uar::new(&ground.context).expect("a register"), ThreadRings::new(&rings));
    let cq = thread.completion_queue(uar.page(), 64).build().expect("a completion queue");
    assert_eq!(rings.in_use().registrations, 2);
    drop(cq);
    assert_eq!(rings.in_use().registrations, 1);

    let mut memory = MmapMut::map_anon(1 << 20).expect("memory");
    let start = NonNull::from(&mut memory[..]).cast::<u8>();
    let even = 0x2_0000 - start.addr().get() % 0x2_0000;
    for (more, fits) in
        [(0, true), (0x1_0000, true), (0x8000, false), (0x800, true), (0x8800, false), (0x1_0800, false)]
    {
        let offset = even + more;
        // SAFETY: inside of the mapping, which outlives the registration; nobody else uses it.
        let umem = unsafe { Umem::over(&ground.context, start.add(offset), 0x1_0000) }.expect("memory");
        assert_eq!(umem.page_bytes(), None);
        match Mkey::of_memory(&ground.pd, &Arc::new(umem), 0..100, Access::ALL) {
            Ok(_) => assert!(fits, "a key at {more:#x}"),
            Err(error) => assert!(!fits && matches!(error, Error::DevicePages { .. }), "{more:#x}: {error}"),
        }
    }
}

#[test]
fn rings_wrap_many_times() {
    let Driven { function, ground } = &driven();
    let (mut a, mut b) = connected::<Rc>(ground);
    for n in 0..100_u64 {
        b.post_receive(n);
        a.post(&wqe::send().inline(&n.to_ne_bytes()).signaled(WrId(n)));
        assert_eq!(b.completion(), (Side::Responder, WrId(n), 8));
        assert_eq!(a.completion().1, WrId(n));
        assert_eq!(b.bytes(8), n.to_ne_bytes());
    }
    function.process_events().expect("events");
}

/// The peer is a queue pair of another device, which a kernel's driver has.
#[test]
fn a_device_of_the_kernels_is_a_peer() {
    let Driven { ground, .. } = &driven();
    let other = kernels();
    let (mut a, mut b) = peers(ground, &other);
    tell(&mut a, &mut b, b"from the function");
    tell(&mut b, &mut a, b"from the kernel's");
}

fn kernels() -> Ground {
    let context = Context::over(Device::options().devx(true).open_first().expect("an mlx5 device with DevX"));
    let path = context.device().path(1, None).expect("port 1");
    Ground::over(context, path)
}

/// A queue pair of each, connected with the other's.
fn peers(one: &Ground, other: &Ground) -> (End<Rc>, End<Rc>) {
    let (mut a, mut b) = (End::<Rc>::new(one), End::<Rc>::new(other));
    let (at_a, at_b) = (a.pair.qp.endpoint(&one.path), b.pair.qp.endpoint(&other.path));
    for (end, path, local, remote) in [(&mut a, &one.path, at_a, at_b), (&mut b, &other.path, at_b, at_a)] {
        end.pair.qp.to_init(path).expect("INIT");
        end.pair.connect(path, &local, &remote).expect("RTS");
    }
    (a, b)
}

/// `from` sends `text` to `to`.
fn tell(from: &mut End<Rc>, to: &mut End<Rc>, text: &[u8; 17]) {
    to.post_receive(1);
    from.post(&wqe::send().inline(text).signaled(WrId(2)));
    assert_eq!(to.completion(), (Side::Responder, WrId(1), text.len() as u32));
    assert_eq!(from.completion().1, WrId(2));
    assert_eq!(to.bytes(text.len()), text);
}

/// Objects can outlive the function's handle; it is open until they are gone, and can be opened then.
#[test]
fn a_function_is_open_as_long_as_something_of_it_lives() {
    let Driven { function: Alone { function, _alone }, ground } = driven();
    drop(function);
    let (mut a, b) = connected::<Rc>(&ground);
    let again = Function::open(&name()).expect_err("it is open");
    assert_eq!(again, Error::Call(CallError { call: "ibv_open_device", errno: libc::EBUSY }));
    a.post(&wqe::write(b.buffer.remote()).inline(b"still there").signaled(WrId(1)));
    assert_eq!(a.completion().1, WrId(1));
    assert_eq!(b.bytes(11), b"still there");
    drop((a, b, ground));
    let function = Function::open(&name()).expect("it was closed");
    let deadline = Instant::now() + Duration::from_millis(1200);
    // Past the driver's look at the function's health.
    while Instant::now() < deadline {
        function.process_events().expect("events");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// No kernel stands behind a function: a safe call that sent what bytes say would make a key of all memory.
#[test]
fn safe_calls_send_the_command_of_their_type_alone() {
    let Driven { ground, .. } = &driven();
    let mut key = CreateMkeyIn::new();
    let context = key.memory_key_mkey_entry_mut();
    context
        .set_access_mode(AccessMode::PA)
        .set_length64(true)
        .set_lr(true)
        .set_lw(true)
        .set_pd(ground.pd.pdn())
        .set_qpn(Qpn::truncate(0xff_ffff));
    let words = CreateMkeyIn::BYTES.div_ceil(QuerySpecialContextsOut::BYTES);
    let mut inbox = List::<QueryIssiIn, QuerySpecialContextsOut>::new(&QueryIssiIn::new());
    inbox.extend((0..words).map(|_| QuerySpecialContextsOut::zeroed()));
    inbox.as_bytes_mut()[..CreateMkeyIn::BYTES].copy_from_slice(key.as_bytes());
    let error = ground.context.execute(&inbox).expect_err("no question");
    assert_eq!(error, Error::Opcode { of: Opcode::QUERY_ISSI, is: Opcode::CREATE_MKEY });

    let mut inbox = QueryIssiIn::new();
    inbox.set_opcode(Opcode::TEARDOWN_HCA);
    let error = ground.context.execute(&inbox).expect_err("no question");
    assert_eq!(error, Error::Opcode { of: Opcode::QUERY_ISSI, is: Opcode::TEARDOWN_HCA });
}

#[test]
fn there_is_no_other_function() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for name in ["ffff:ff:1f.7", "none", ""] {
        let error = Function::open(name).expect_err("there is none");
        assert!(matches!(error, Error::Call(CallError { call: "mlx5dv_get_vfio_device_list", .. })), "{error}");
    }
}

/// Verbs has no events there, and so no descriptor.
#[test]
fn there_are_no_events_of_verbs() {
    let Driven { function, .. } = &driven();
    let events = function.context().device().async_events();
    let none = blueflame::verbs::Error::Unsupported { what: "asynchronous events" };
    assert_eq!(events.wait(), Err(none.clone()));
    assert_eq!(events.wait_timeout(Duration::from_millis(1)), Err(none));
    let panicked = std::panic::catch_unwind(|| std::os::fd::AsRawFd::as_raw_fd(&events)).expect_err("no descriptor");
    let message = panicked.downcast_ref::<String>().map_or("", String::as_str);
    assert!(message.contains("no asynchronous events"), "{message}");
}
