//! A thousand peers: by as many reliable connections, or by one initiator of dynamic connections and a target at each
//! peer. Measures the time to send each peer a WRITE of 8 bytes and to retire it, and the memory of this side.
//!
//! The device completes all requests at once (`softhca-run --sink`), so the figures are the CPU's part: the cache lines
//! that it goes through. They do not include a NIC's work when a request has another target than the one before. One
//! slice is a message to each peer, in random order. 250 messages at a time are posted with a doorbell each, then
//! completed (not timed), then polled. The rest is as in `common`.
mod common;

use std::hint::black_box;
use std::ptr::{NonNull, null_mut};

use blueflame::cq::Side;
use blueflame::db::{Register, ThreadRegister};
use blueflame::queue::SendQueue;
use blueflame::transport::{self, Dci, Transport};
use blueflame::types::{DcKey, Psn};
use blueflame::verbs::adopt::adopt_qp;
use blueflame::verbs::{AddressHandle, Device, OwnedCq, ProtectionDomain, QueuePair, Route, ThreadDomain};
use blueflame::wqe::address::{AddressVector, CompactAv, FullAv, GlobalRoute};
use blueflame::wqe::{self, DcAddress};
use blueflame::{ByQpn, Qpn, Remote, Rkey, WrId};
use blueflame_sys as sys;

use common::clock::Clock;
use common::libmlx5::set_dc_addr;
use common::rig::step;
use common::rounds::{Rounds, measuring};

const GROUP: &str = "1000 peers";
const PEERS: usize = 1000;
/// Requests outstanding at a time.
const WINDOW: usize = 250;
/// Completions of one call.
const BURST: usize = 16;
const ROUNDS: usize = 201;
/// Bytes of the shadow for each WQEBB: a tag, and a count.
const SHADOW: usize = 16;
/// Bytes of a WQEBB, and of a doorbell record, in a line of its own.
const LINE: usize = 64;

type Here = std::rc::Rc<ThreadRegister>;
type Connection = QueuePair<transport::Rc, Here>;

/// A completion queue, and the order in which peers are sent to.
struct Setting {
    cq: OwnedCq,
    order: Vec<usize>,
    device: Device,
    pd: ProtectionDomain,
    domain: ThreadDomain,
}

impl Setting {
    fn new() -> Self {
        let device = Device::open_first().unwrap_or_else(|error| panic!("{error}\nrun this by ./run bench"));
        let pd = device.protection_domain().expect("a PD");
        let domain = pd.thread_domain().expect("a thread domain");
        let cq = device.completion_queue(2 * PEERS as u32).thread_domain(&domain).build().expect("a CQ");
        // A queue pair has room for more than the one request that is under way.
        cq.handle().oversubscribe();
        Self { cq, order: order(), device, pd, domain }
    }
}

/// Every peer once, by a generator of no quality.
fn order() -> Vec<usize> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let mut order: Vec<usize> = (0..PEERS).collect();
    (1..PEERS).rev().for_each(|at| order.swap(at, next() % (at + 1)));
    order
}

/// Where each peer is written to.
fn place(peer: usize) -> Remote {
    Remote { addr: 0x1000 * peer as u64, rkey: Rkey(1 + peer as u32) }
}

/// A way to send to peers.
trait Way {
    /// Sends to a peer.
    fn post(&mut self, peer: usize, data: &[u8; 8]);
    /// Retires requests; the sum of their tags.
    fn poll(&mut self, cq: &mut OwnedCq, count: usize) -> u64;
    /// Bytes of this side.
    fn bytes(&self) -> usize;
}

/// Of a queue: its ring, its record, its shadow and itself.
fn queue_bytes<T: Transport, R: Register>(sq: &SendQueue<T, R>) -> usize {
    usize::from(sq.capacity().0) * (LINE + SHADOW) + LINE + size_of_val(sq)
}

/// A connection for each, which completions are looked up by.
struct Connections {
    pairs: ByQpn<Connection>,
    numbers: Vec<Qpn>,
}

impl Connections {
    fn new(setting: &Setting) -> Self {
        let pd = &setting.pd;
        let path = setting.device.path(1, None).expect("a path");
        let (mut pairs, mut numbers) = (ByQpn::new(), Vec::new());
        for _ in 0..PEERS {
            let builder = pd.queue_pair(&setting.cq, &setting.cq).sends(4).no_receives();
            let mut pair: Connection = builder.build_in(&setting.domain).expect("a queue pair");
            let itself = pair.qp.endpoint_with(&path, Psn::truncate(1));
            pair.qp.to_init(&path).expect("INIT");
            pair.connect(&path, &itself, &itself).expect("RTS");
            numbers.push(pair.qp.qpn());
            assert!(pairs.insert(pair.qp.qpn(), pair).is_none());
        }
        Self { pairs, numbers }
    }
}

impl Way for Connections {
    #[inline(always)]
    fn post(&mut self, peer: usize, data: &[u8; 8]) {
        let pair = self.pairs.get_mut(self.numbers[peer]).expect("it is there");
        pair.sq.post(&wqe::write(place(peer)).inline(data).signaled(WrId(peer as u64))).expect("room");
    }

    #[inline(always)]
    fn poll(&mut self, cq: &mut OwnedCq, count: usize) -> u64 {
        let mut sum = 0;
        for _ in 0..count.div_ceil(BURST) {
            cq.poll_with(BURST, |cqe| {
                if let Some(pair) = self.pairs.find(&cqe)
                    && let Ok(Side::Requester) = cqe.check()
                    && let Ok(done) = pair.sq.retire(&cqe)
                {
                    sum += done.wr_id.0;
                }
            });
        }
        sum
    }

    fn bytes(&self) -> usize {
        let each = |qpn: &Qpn| {
            let pair = self.pairs.get(*qpn).expect("it is there");
            queue_bytes(&pair.sq) + size_of_val(&pair.qp)
        };
        self.numbers.iter().map(each).sum()
    }
}

/// An initiator, and the address of each peer's target.
struct OneForAll<V> {
    pair: QueuePair<Dci, Here>,
    targets: Vec<DcAddress<V>>,
}

impl<const MORE: usize> OneForAll<AddressVector<MORE>> {
    fn new(setting: &Setting, vector: impl Fn(usize) -> AddressVector<MORE>) -> Self {
        let pd = &setting.pd;
        let path = setting.device.path(1, None).expect("a path");
        let builder = pd.queue_pair::<Dci>(&setting.cq, &setting.cq).sends(2 * WINDOW as u32);
        let mut pair = builder.build_in(&setting.domain).expect("an initiator");
        pair.activate(&path).expect("RTS");
        let target = |n| DcAddress::new(vector(n), Qpn::truncate(0x10_0000 + n as u32), DcKey(n as u64));
        Self { pair, targets: (0..PEERS).map(target).collect() }
    }
}

impl<const MORE: usize> Way for OneForAll<AddressVector<MORE>> {
    #[inline(always)]
    fn post(&mut self, peer: usize, data: &[u8; 8]) {
        let to = self.targets[peer];
        self.pair.sq.post(&wqe::write(place(peer)).to(to).inline(data).signaled(WrId(peer as u64))).expect("room");
    }

    #[inline(always)]
    fn poll(&mut self, cq: &mut OwnedCq, count: usize) -> u64 {
        let mut sum = 0;
        for _ in 0..count.div_ceil(BURST) {
            cq.poll_with(BURST, |cqe| {
                if let Ok(Side::Requester) = cqe.check()
                    && let Ok(done) = self.pair.sq.retire(&cqe)
                {
                    sum += done.wr_id.0;
                }
            });
        }
        sum
    }

    fn bytes(&self) -> usize {
        queue_bytes(&self.pair.sq)
            + size_of_val(&self.pair.qp)
            + self.targets.len() * size_of::<DcAddress<AddressVector<MORE>>>()
    }
}

/// libmlx5's initiator, by `ibv_wr_*` and `mlx5dv_wr_set_dc_addr`: its addresses have 48 bytes always.
struct Theirs {
    ex: *mut sys::ibv_qp_ex,
    dv: *mut sys::mlx5dv_qp_ex,
    cq: *mut sys::ibv_cq,
    handles: Vec<AddressHandle>,
    parts: sys::mlx5dv_qp,
    /// For its state changes; its queue is never used.
    _pair: QueuePair<Dci>,
}

impl Theirs {
    fn new(setting: &Setting) -> Self {
        let context = setting.device.as_raw();
        let path = setting.device.path(1, None).expect("a path");
        let route =
            |n: usize| Route { port: 1, lid: 1 + n as u16, service_level: 0, path_bits: 0, static_rate: 0, grh: None };
        let handles = (0..PEERS).map(|n| setting.pd.address(&route(n)).expect("an address handle")).collect();
        // SAFETY: the context is open, and the domain alive; attributes are plain numbers and pointers, for which zero
        // is a value, and live until the calls return. Nothing of it is destroyed before the program ends.
        unsafe {
            let cq = sys::ibv_create_cq(context, 2 * PEERS as i32, null_mut(), null_mut(), 0);
            assert!(!cq.is_null(), "ibv_create_cq");
            // In a thread domain of its own, so that libmlx5 takes no lock for the register.
            let td = sys::ibv_alloc_td(context, &mut sys::ibv_td_init_attr { comp_mask: 0 });
            let mut parent = sys::ibv_parent_domain_init_attr::ZERO;
            (parent.pd, parent.td) = (setting.pd.as_raw(), td);
            let parent = sys::ibv_alloc_parent_domain(context, &raw mut parent);
            assert!(!parent.is_null(), "ibv_alloc_parent_domain");
            let mut attr = sys::ibv_qp_init_attr_ex::ZERO;
            (attr.send_cq, attr.recv_cq, attr.pd) = (cq, cq, parent);
            attr.qp_type = sys::IBV_QPT_DRIVER;
            attr.cap.max_send_wr = 2 * WINDOW as u32;
            (attr.cap.max_send_sge, attr.cap.max_inline_data) = (1, 8);
            attr.comp_mask = sys::IBV_QP_INIT_ATTR_PD | sys::IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
            attr.send_ops_flags = sys::IBV_QP_EX_WITH_RDMA_WRITE.into();
            let mut mlx5 = sys::mlx5dv_qp_init_attr {
                comp_mask: sys::MLX5DV_QP_INIT_ATTR_MASK_DC,
                dc_init_attr: sys::mlx5dv_dc_init_attr { dc_type: sys::MLX5DV_DCTYPE_DCI, dct_access_key: 0 },
                ..sys::mlx5dv_qp_init_attr::default()
            };
            let raw = sys::mlx5dv_create_qp(context, &raw mut attr, &raw mut mlx5);
            let raw = NonNull::new(raw).expect("mlx5dv_create_qp");
            // New, alive, and used by no other code; its queue never posts.
            let mut pair = adopt_qp::<Dci>(raw).expect("adopt");
            pair.activate(&path).expect("RTS");
            let mut parts = core::mem::zeroed();
            let qp = sys::mlx5dv_pair { r#in: raw.as_ptr(), out: &raw mut parts };
            let mut obj = sys::mlx5dv_obj { qp, ..sys::mlx5dv_obj::ZERO };
            assert_eq!(sys::mlx5dv_init_obj(&raw mut obj, sys::MLX5DV_OBJ_QP), 0);
            let ex = sys::ibv_qp_to_qp_ex(raw.as_ptr());
            Self { ex, dv: sys::mlx5dv_qp_ex_from_ibv_qp_ex(ex), cq, handles, parts, _pair: pair }
        }
    }
}

impl Way for Theirs {
    #[inline(always)]
    fn post(&mut self, peer: usize, data: &[u8; 8]) {
        let (ex, at) = (self.ex, place(peer));
        // SAFETY: the queue pair is alive and was created with this operation, whose functions libmlx5 has filled in.
        // The handles are alive. The data is copied before the call returns.
        unsafe {
            sys::ibv_wr_start(ex);
            (*ex).wr_id = peer as u64;
            (*ex).wr_flags = sys::IBV_SEND_SIGNALED;
            sys::ibv_wr_rdma_write(ex, at.rkey.0, at.addr);
            set_dc_addr(self.dv, &self.handles[peer], 0x10_0000 + peer as u32, peer as u64);
            sys::ibv_wr_set_inline_data(ex, data.as_ptr().cast_mut().cast(), data.len());
            assert_eq!(sys::ibv_wr_complete(ex), 0, "ibv_wr_complete");
        }
    }

    #[inline(always)]
    fn poll(&mut self, _: &mut OwnedCq, count: usize) -> u64 {
        // SAFETY: numbers, for which zero is a value.
        let mut completions: [sys::ibv_wc; BURST] = unsafe { core::mem::zeroed() };
        let mut sum = 0;
        for _ in 0..count.div_ceil(BURST) {
            // SAFETY: the queue is alive; there is room for as many completions.
            let found = unsafe { sys::ibv_poll_cq(self.cq, BURST as i32, completions.as_mut_ptr()) };
            for wc in completions.iter().take(found as usize) {
                if wc.status == sys::IBV_WC_SUCCESS {
                    sum += wc.wr_id;
                }
            }
        }
        sum
    }

    /// Of the ring, and the tags and places of its requests, at least; libmlx5 does not tell how long its own
    /// structures are.
    fn bytes(&self) -> usize {
        self.parts.sq.wqe_cnt as usize * (LINE + 8 + 4 + 4) + LINE + PEERS * size_of::<FullAv>()
    }
}

/// A case: its name, its bytes, and a function that runs a slice and returns nanoseconds a message.
struct Case {
    name: &'static str,
    bytes: usize,
    slice: Box<dyn FnMut(&Clock) -> f64>,
}

fn case<W: Way + 'static>(name: &'static str, mut setting: Setting, way: W) -> Case {
    /// A function of its own, as in a program.
    #[inline(never)]
    fn post_all(way: &mut impl Way, order: &[usize]) {
        for &peer in order {
            way.post(peer, &[peer as u8; 8]);
        }
    }
    #[inline(never)]
    fn poll_all(way: &mut impl Way, cq: &mut OwnedCq) -> u64 {
        way.poll(cq, WINDOW)
    }
    let bytes = way.bytes();
    // Not on the stack: the compiler must not know the value's address as a constant, as in a program.
    let mut way = Box::new(way);
    let slice = move |clock: &Clock| {
        let (mut ns, mut sum) = (0.0, 0);
        for peers in setting.order.chunks(WINDOW) {
            let posting = Clock::time(|| post_all(black_box(&mut *way), black_box(peers)));
            step();
            let polling = Clock::time(|| sum += poll_all(black_box(&mut *way), black_box(&mut setting.cq)));
            ns += clock.ns(posting, 1) + clock.ns(polling, 1);
        }
        assert_eq!(sum, (0..PEERS as u64).sum::<u64>(), "{name}: each request once");
        ns / PEERS as f64
    };
    Case { name, bytes, slice: Box::new(slice) }
}

fn connections() -> Case {
    let setting = Setting::new();
    let way = Connections::new(&setting);
    case("1000 connections", setting, way)
}

fn near() -> Case {
    let setting = Setting::new();
    let way = OneForAll::new(&setting, |n| CompactAv::new(1 + n as u16));
    case("one initiator, 16-byte addresses", setting, way)
}

fn far() -> Case {
    let setting = Setting::new();
    let way = OneForAll::new(&setting, |n| {
        let dgid = [n as u8; 16];
        let route = GlobalRoute { dgid, sgid_index: 0, flow_label: 0, hop_limit: 64, traffic_class: 0 };
        CompactAv::new(1 + n as u16).with_grh(&route)
    });
    case("one initiator, 48-byte addresses", setting, way)
}

fn libmlx5() -> Case {
    let setting = Setting::new();
    let way = Theirs::new(&setting);
    case("libmlx5's one initiator", setting, way)
}

fn main() {
    let Some(measuring) = measuring(GROUP) else { return };
    let mut cases = [connections(), near(), far(), libmlx5()];
    let rounds = Rounds::of(if measuring { ROUNDS } else { 1 }, cases.len(), |at, clock| (cases[at].slice)(clock));
    if !measuring {
        return;
    }
    println!("{GROUP:<36} {:>8} {:>18} {:>12}", "ns", "to connections", "bytes");
    for (at, case) in cases.iter().enumerate() {
        println!("  {:<34} {:>8.2} {:>17.2}x {:>12}", case.name, rounds.ns(at), rounds.ratio(at, 0), case.bytes);
    }
    rounds.write("targets", GROUP, &cases.map(|case| case.name));
}
