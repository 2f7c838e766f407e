//! Queues of a software device that completes when it is told to.
use std::ffi::c_int;
use std::ptr::NonNull;
use std::sync::OnceLock;

use blueflame::cq::setup::CqParts;
use blueflame::db::{Register, RegisterParts, ThreadRegister};
use blueflame::transport;
use blueflame::types::{CqCi, Cqn, Psn, Qkey};
use blueflame::verbs::adopt::adopt_qp;
use blueflame::verbs::{Device, OwnedCq, Path, QueuePair};
use blueflame_sys as sys;

/// Bytes of a WQEBB, and of a CQE.
pub(crate) const ENTRY_BYTES: usize = 64;
/// WQEBBs of a send ring, CQEs of a completion ring, where a benchmark does not say otherwise: 16 KiB, so that a ring
/// stays in the first-level cache.
pub(crate) const ENTRIES: usize = 256;
/// The port that requests go to which name one.
pub(crate) const LID: u16 = 1;
/// Of all datagrams.
pub(crate) const QKEY: Qkey = Qkey(0x1111_1111);
/// The threading that libmlx5 is told about; it matters to the objects that libmlx5 uses itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Threads {
    /// Nothing, as most programs do: queues have locks.
    Any,
    /// `MLX5_SINGLE_THREADED=1`: locks are not taken.
    One,
    /// The queue pair is in a thread domain of its own, as this crate makes its own: it has a register to itself.
    Domain,
}

/// The transport of a queue pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Service {
    /// RC, connected to itself.
    Connection,
    /// An initiator of dynamic connections, for WRITEs.
    Initiator,
    /// UD.
    Datagrams,
    /// Ethernet frames, large sends with headers of `tso_header` bytes among them.
    Frames { tso_header: u32 },
}

/// The requirements on a queue pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) service: Service,
    /// WQEBBs of the send ring, and CQEs of the completion ring: a power of two.
    pub(crate) entries: usize,
    /// Bytes inline.
    pub(crate) inline: u32,
    /// Scatter/gather entries.
    pub(crate) sge: u32,
}

/// Of frames, on a device that needs none of their headers inline.
pub(crate) type Frames = transport::RawPacket<0>;

/// Requests of one WQEBB.
pub(crate) const SMALL: Shape = Shape { service: Service::Connection, entries: ENTRIES, inline: 28, sge: 1 };

impl Shape {
    /// WQEBBs of the largest request: RDMA operation or SEND, by an address of 48 bytes if it needs one, with data as
    /// the shape says.
    pub(crate) fn request_wqebbs(&self) -> usize {
        let head = match self.service {
            Service::Connection => 32,
            Service::Initiator => 80,
            Service::Datagrams => 64,
            // libmlx5's structure of an Ethernet segment has 32 bytes.
            Service::Frames { .. } => 48,
        };
        let tso_header = if let Service::Frames { tso_header } = self.service { tso_header } else { 0 };
        let gathered = (tso_header as usize).next_multiple_of(16) + self.sge as usize * 16;
        let data = (4 + self.inline as usize).next_multiple_of(16).max(gathered);
        (head + data).div_ceil(ENTRY_BYTES)
    }

    /// The largest requests that a ring takes.
    pub(crate) fn requests(&self) -> usize {
        self.entries / self.request_wqebbs()
    }
}

/// Opens the device as a program of this kind does. libmlx5 reads the variable when a device is opened, and keeps the
/// answer in a global variable. Objects made later follow that variable, locks included; earlier objects stay as they
/// are.
fn open(threads: Threads) -> Device {
    const VARIABLE: &str = "MLX5_SINGLE_THREADED";
    // SAFETY: no other thread of this program reads or writes the environment.
    unsafe {
        match threads {
            Threads::One => std::env::set_var(VARIABLE, "1"),
            Threads::Any | Threads::Domain => std::env::remove_var(VARIABLE),
        }
    }
    Device::open_first().unwrap_or_else(|error| panic!("{error}\n{HOW}"))
}

/// How to have a device that completes at once.
const HOW: &str = "the benchmarks need the software device in sink mode: run them by `./run bench`, or under \
                   `softhca-run --sink --`";

/// A queue pair and its completion queue, alone in an open device; connected, ready to send.
pub(crate) struct Rig {
    pub(crate) qp: NonNull<sys::ibv_qp>,
    /// Made to be read in any way.
    pub(crate) cq: NonNull<sys::ibv_cq_ex>,
    pub(crate) sq: sys::mlx5dv_qp,
    pub(crate) completions: sys::mlx5dv_cq,
    pub(crate) shape: Shape,
    /// Whether only this queue stores to its register, for every contestant.
    compares_register: bool,
    owner: Owner,
}

/// Whose the queues are.
enum Owner {
    /// Ours to destroy.
    Rig { domain: Option<(NonNull<sys::ibv_pd>, NonNull<sys::ibv_td>)>, pd: NonNull<sys::ibv_pd>, device: Device },
    /// The crate's, made in a domain of one thread and never used by it.
    ThreadDomain { _qp: Box<QueuePair<transport::Rc, std::rc::Rc<ThreadRegister>>>, _cq: OwnedCq },
}

impl Rig {
    pub(crate) fn new(shape: Shape, threads: Threads) -> Self {
        Self::on(open(threads), shape, threads)
    }

    /// Makes `count` rigs in one open device. Without thread domains, some share a register.
    pub(crate) fn many(count: usize, shape: Shape, threads: Threads) -> Vec<Self> {
        let device = open(threads);
        let mut rigs: Vec<_> = (0..count).map(|_| Self::on(device.clone(), shape, threads)).collect();
        rigs.iter_mut().for_each(|rig| rig.compares_register = false);
        rigs
    }

    /// Makes `count` rigs as this crate makes the queues of one thread: they have one register, and their records are
    /// dense.
    pub(crate) fn of_one_thread(count: usize, shape: Shape) -> Vec<Self> {
        /// WQEBBs that libmlx5 sets aside for a small request, if the program does not declare the used operations.
        const REQUEST_WQEBBS: usize = 4;
        let device = open(Threads::Domain);
        let pd = device.protection_domain().expect("a PD");
        let domain = pd.thread_domain().expect("a thread domain");
        let path = device.path(1, None).expect("a path");
        let make = || {
            let cq = device.completion_queue(shape.entries as u32 - 1).thread_domain(&domain).build().expect("a CQ");
            let builder = pd.queue_pair::<transport::Rc>(&cq, &cq).receives(1).inline(shape.inline);
            let builder = builder.sends((shape.entries / REQUEST_WQEBBS) as u32).send_sge(shape.sge);
            let mut qp = builder.build_in(&domain).expect("a queue pair");
            connect(&mut qp, &path);
            let (raw, raw_cq) = (NonNull::new(qp.qp.as_raw()), NonNull::new(cq.handle().as_raw().cast()));
            let owner = Owner::ThreadDomain { _qp: Box::new(qp), _cq: cq };
            // SAFETY: alive as long as their owner, and connected.
            unsafe { Self::over(raw.expect("not null"), raw_cq.expect("not null"), shape, owner) }
        };
        (0..count).map(|_| make()).collect()
    }

    fn on(device: Device, shape: Shape, threads: Threads) -> Self {
        let context = device.as_raw();
        // SAFETY: the context is open; the objects made here are destroyed in the right order in `drop`. Attributes are
        // plain numbers and pointers to live objects, for which zero is a value, and live until the calls return.
        unsafe {
            let pd = NonNull::new(sys::ibv_alloc_pd(context)).expect("ibv_alloc_pd");
            let domain = (threads == Threads::Domain).then(|| {
                let td = NonNull::new(sys::ibv_alloc_td(context, &mut sys::ibv_td_init_attr { comp_mask: 0 }))
                    .expect("ibv_alloc_td");
                let mut parent = sys::ibv_parent_domain_init_attr::ZERO;
                (parent.pd, parent.td) = (pd.as_ptr(), td.as_ptr());
                let parent = sys::ibv_alloc_parent_domain(context, &raw mut parent);
                (NonNull::new(parent).expect("ibv_alloc_parent_domain"), td)
            });
            let cq = create_cq(context, shape);
            let qp = create_qp(context, domain.map_or(pd, |(parent, _)| parent), cq, shape);
            // New, alive, and used by no other code; the queues are dropped here and never post.
            let path = || device.path(1, None).expect("a path");
            let sends = match shape.service {
                Service::Connection => {
                    connect(&mut adopt_qp::<transport::Rc>(qp).expect("adopt"), &path());
                    Ok(())
                }
                Service::Initiator => adopt_qp::<transport::Dci>(qp).expect("adopt").activate(&path()),
                Service::Datagrams => adopt_qp::<transport::Ud>(qp).expect("adopt").activate(&path(), QKEY),
                Service::Frames { .. } => {
                    let port = device.port(1).expect("port 1");
                    adopt_qp::<Frames>(qp).expect("adopt").activate(&port)
                }
            };
            sends.expect("RTS");
            Self::over(qp, cq, shape, Owner::Rig { domain, pd, device })
        }
    }

    /// # Safety
    /// Both are alive as long as their owner, and unused.
    unsafe fn over(qp: NonNull<sys::ibv_qp>, cq: NonNull<sys::ibv_cq_ex>, shape: Shape, owner: Owner) -> Self {
        // SAFETY: plain numbers and pointers; the caller vouches for the objects.
        unsafe {
            let (mut sq, mut completions) = (core::mem::zeroed(), core::mem::zeroed());
            let mut obj = sys::mlx5dv_obj {
                qp: sys::mlx5dv_pair { r#in: qp.as_ptr(), out: &raw mut sq },
                cq: sys::mlx5dv_pair { r#in: cq.as_ptr().cast(), out: &raw mut completions },
                ..sys::mlx5dv_obj::ZERO
            };
            assert_eq!(sys::mlx5dv_init_obj(&raw mut obj, sys::MLX5DV_OBJ_QP | sys::MLX5DV_OBJ_CQ), 0);
            let compares_register = matches!(owner, Owner::Rig { .. });
            let rig = Self { qp, cq, sq, completions, shape, compares_register, owner };
            rig.check();
            // Make unwritten bytes the same in all rings.
            rig.send_ring().cast::<u8>().write_bytes(0, rig.ring_bytes());
            rig
        }
    }

    /// Asserts that the queues have the requested sizes, so that all contestants have the same.
    fn check(&self) {
        let (sq, cq) = (self.sq.sq, self.completions);
        assert_eq!((sq.wqe_cnt as usize, sq.stride as usize), (self.shape.entries, ENTRY_BYTES), "send ring");
        assert_eq!((cq.cqe_cnt as usize, cq.cqe_size as usize), (self.shape.entries, ENTRY_BYTES), "completion ring");
        assert_eq!(self.sq.bf.size, 256, "bytes in a half of the register");
    }

    /// The queue pair's number.
    pub(crate) fn number(&self) -> u32 {
        // SAFETY: alive; written once.
        unsafe { (*self.qp.as_ptr()).qp_num }
    }

    /// The ring's first WQEBB.
    pub(crate) fn send_ring(&self) -> NonNull<u64> {
        NonNull::new(self.sq.sq.buf).expect("a ring").cast()
    }

    /// Two words: receive, send.
    pub(crate) fn record(&self) -> NonNull<u32> {
        NonNull::new(self.sq.dbrec).expect("a record")
    }

    /// Announces `count` WQEBBs from index `first` on, which are put into the ring before the device steps.
    pub(crate) fn announce(&self, first: u64, count: usize) {
        let end = first as u32 + count as u32;
        // SAFETY: the record's second word. No case posts at the same time.
        unsafe { self.record().add(1).write_volatile((end & 0xffff).to_be()) };
    }

    pub(crate) fn register(&self) -> RegisterParts {
        RegisterParts { reg: NonNull::new(self.sq.bf.reg).expect("a register").cast(), size: self.sq.bf.size }
    }

    /// The parts of the completion queue, which has never been polled.
    pub(crate) fn cq_parts(&self) -> CqParts {
        let cq = self.completions;
        CqParts {
            buf: NonNull::new(cq.buf).expect("a ring").cast(),
            cqe_cnt: cq.cqe_cnt,
            cqe_size: cq.cqe_size,
            dbrec: NonNull::new(cq.dbrec).expect("a record"),
            cq_uar: NonNull::new(cq.cq_uar).expect("a UAR page").cast(),
            cqn: Cqn::new(cq.cqn).expect("24 bits"),
            ci: CqCi::truncate(0),
        }
    }

    /// Bytes of the send ring.
    pub(crate) fn ring_bytes(&self) -> usize {
        self.shape.entries * ENTRY_BYTES
    }

    /// Brings the send ring where posting leaves it: into the cache.
    pub(crate) fn touch_sends(&self) {
        touch(self.send_ring().cast(), self.shape.entries);
    }

    /// Brings the completion ring into the cache.
    pub(crate) fn touch_completions(&self) {
        touch(NonNull::new(self.completions.buf).expect("a ring").cast(), self.shape.entries);
    }

    /// All that posting and polling stored: ring, records, and the register if it is this queue's alone. The queue
    /// pair's number reads as zero, and so does the immediate data of requests that have none, which `ibv_wr_*` leaves
    /// as it was.
    pub(crate) fn snapshot(&self) -> Vec<u8> {
        let mut register = self.register();
        if !self.compares_register {
            register.size = 0;
        }
        let parts: [(NonNull<u8>, usize); 4] = [
            (self.send_ring().cast(), self.shape.entries * ENTRY_BYTES),
            (register.reg, 2 * register.size as usize),
            (self.record().cast(), 8),
            // The consumer index. The other word asks for events.
            (self.cq_parts().dbrec.cast(), 4),
        ];
        let mut bytes = Vec::new();
        for (start, len) in parts {
            // SAFETY: memory that libmlx5 or the device gave out, initialised, and nobody posts or polls while this
            // looks.
            bytes.extend((0..len).map(|at| unsafe { start.add(at).read_volatile() }));
        }
        let number = self.number().to_be_bytes();
        for block in bytes.chunks_mut(ENTRY_BYTES).filter(|block| block.len() == ENTRY_BYTES) {
            if block[4..7] == number[1..] {
                block[4..7].fill(0);
                block[12..16].fill(0);
            }
        }
        bytes
    }
}

/// Connects a queue pair to itself.
fn connect<R: Register>(pair: &mut QueuePair<transport::Rc, R>, path: &Path) {
    let itself = pair.qp.endpoint_with(path, Psn::truncate(1));
    pair.qp.to_init(path).expect("INIT");
    pair.connect(path, &itself, &itself).expect("connect");
}

fn touch(start: NonNull<u8>, lines: usize) {
    for line in 0..lines {
        // SAFETY: within a ring of so many blocks.
        unsafe { start.add(line * ENTRY_BYTES).read_volatile() };
    }
}

/// # Safety
/// The context is open.
unsafe fn create_cq(context: *mut sys::ibv_context, shape: Shape) -> NonNull<sys::ibv_cq_ex> {
    let mut attr = sys::ibv_cq_init_attr_ex::ZERO;
    // libmlx5 makes room for one more, and rounds up.
    attr.cqe = shape.entries as u32 - 1;
    attr.wc_flags = u64::from(sys::IBV_WC_EX_WITH_BYTE_LEN | sys::IBV_WC_EX_WITH_QP_NUM);
    let mut mlx5 = sys::mlx5dv_cq_init_attr {
        comp_mask: sys::MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE,
        cqe_size: ENTRY_BYTES as u16,
        ..Default::default()
    };
    // SAFETY: the caller vouches for the context; the attributes live until the call returns.
    NonNull::new(unsafe { sys::mlx5dv_create_cq(context, &raw mut attr, &raw mut mlx5) }).expect("mlx5dv_create_cq")
}

/// # Safety
/// The objects are alive and of the context.
unsafe fn create_qp(
    context: *mut sys::ibv_context,
    pd: NonNull<sys::ibv_pd>,
    cq: NonNull<sys::ibv_cq_ex>,
    shape: Shape,
) -> NonNull<sys::ibv_qp> {
    let mut attr = sys::ibv_qp_init_attr_ex::ZERO;
    (attr.send_cq, attr.recv_cq) = (cq.as_ptr().cast(), cq.as_ptr().cast());
    attr.cap = sys::ibv_qp_cap {
        max_send_wr: shape.requests() as u32,
        max_recv_wr: 1,
        max_send_sge: shape.sge,
        max_recv_sge: 1,
        max_inline_data: shape.inline,
    };
    attr.qp_type = match shape.service {
        Service::Connection => sys::IBV_QPT_RC,
        Service::Initiator => sys::IBV_QPT_DRIVER,
        Service::Datagrams => sys::IBV_QPT_UD,
        Service::Frames { tso_header } => {
            attr.comp_mask = sys::IBV_QP_INIT_ATTR_MAX_TSO_HEADER;
            attr.max_tso_header = tso_header as u16;
            sys::IBV_QPT_RAW_PACKET
        }
    };
    attr.comp_mask |= sys::IBV_QP_INIT_ATTR_PD | sys::IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    attr.pd = pd.as_ptr();
    // Only the used operations: libmlx5 makes WQEs no larger than these need.
    let wanted = match shape.service {
        Service::Connection => sys::IBV_QP_EX_WITH_SEND | sys::IBV_QP_EX_WITH_RDMA_WRITE,
        Service::Initiator => sys::IBV_QP_EX_WITH_RDMA_WRITE,
        Service::Datagrams => sys::IBV_QP_EX_WITH_SEND,
        Service::Frames { .. } => sys::IBV_QP_EX_WITH_SEND | sys::IBV_QP_EX_WITH_TSO,
    };
    attr.send_ops_flags = wanted.into();
    let mut mlx5 = sys::mlx5dv_qp_init_attr {
        comp_mask: sys::MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS | sys::MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS,
        create_flags: sys::MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE,
        ..Default::default()
    };
    if shape.service == Service::Initiator {
        mlx5.comp_mask |= sys::MLX5DV_QP_INIT_ATTR_MASK_DC;
        mlx5.dc_init_attr.dc_type = sys::MLX5DV_DCTYPE_DCI;
        (attr.cap.max_recv_wr, attr.cap.max_recv_sge) = (0, 0);
    }
    // SAFETY: the caller vouches for the objects; the attributes live until the call returns.
    NonNull::new(unsafe { sys::mlx5dv_create_qp(context, &raw mut attr, &raw mut mlx5) })
        .unwrap_or_else(|| panic!("mlx5dv_create_qp of {shape:?}: {}", std::io::Error::last_os_error()))
}

impl Drop for Rig {
    fn drop(&mut self) {
        let Owner::Rig { domain, pd, .. } = &self.owner else { return };
        // SAFETY: made in `on`, destroyed once, users before the objects that they use; contestants' queues are not
        // used any more.
        unsafe {
            assert_eq!(sys::ibv_destroy_qp(self.qp.as_ptr()), 0);
            assert_eq!(sys::ibv_destroy_cq(self.cq.as_ptr().cast()), 0);
            if let Some((parent, td)) = *domain {
                assert_eq!(sys::ibv_dealloc_pd(parent.as_ptr()), 0);
                assert_eq!(sys::ibv_dealloc_td(td.as_ptr()), 0);
            }
            assert_eq!(sys::ibv_dealloc_pd(pd.as_ptr()), 0);
        }
    }
}

/// Has the device take every doorbell rung so far and write all completions. Returns the requests completed.
pub(crate) fn step() -> usize {
    type Step = unsafe extern "C" fn() -> c_int;
    static STEP: OnceLock<Step> = OnceLock::new();
    let step = STEP.get_or_init(|| {
        // SAFETY: looks a name up among the loaded objects.
        let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"softhca_step".as_ptr()) };
        assert!(!symbol.is_null(), "no softhca_step: {HOW}");
        // SAFETY: the preloaded object's function of this name is of this type.
        unsafe { core::mem::transmute::<*mut libc::c_void, Step>(symbol) }
    });
    // SAFETY: nobody posts or polls meanwhile.
    let completed = unsafe { step() };
    usize::try_from(completed).unwrap_or_else(|_| panic!("the device is not in sink mode: {HOW}"))
}
