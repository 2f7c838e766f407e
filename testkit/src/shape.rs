//! The sizes and options of one end.

use crate::request::Service;
use blueflame::queue::BlueFlamePolicy;
use softhca::context::CqCompression;
use softhca::embedded::{QpOptions, RegisterOptions};

/// The sizes and options of one [`End`](crate::End).
///
/// ```
/// use blueflame::transport;
/// use blueflame_testkit::{Pair, Shape};
/// use softhca::embedded::RegisterOptions;
///
/// // A virtual machine: no BlueFlame. And messages of up to 32 bytes arrive in their completions.
/// let shape = Shape { register: RegisterOptions::OwnWithoutBlueFlame, scatter_to_cqe: 32, ..Shape::default() };
/// let pair = Pair::<transport::Rc>::builder().shape(shape).connect()?;
/// # drop(pair);
/// # Ok::<(), blueflame_testkit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// WQEBBs of the send ring, rounded up to a power of two.
    pub sq_wqebbs: u32,
    /// The most bytes that a request carries inline.
    pub max_inline: u32,
    /// The most scatter/gather entries of a request.
    pub max_sge: u32,
    /// Every request raises a completion, whether it asks for one or not.
    pub signal_all: bool,
    /// The doorbell register.
    pub register: RegisterOptions,
    /// Which requests go by BlueFlame.
    pub policy: BlueFlamePolicy,
    /// Receive WQEs, rounded up to a power of two; 0 for no receive queue.
    pub recv_wqes: u32,
    /// The most scatter entries of a receive.
    pub recv_sges: u32,
    /// Receive from a shared receive queue of `recv_wqes` WQEs, one of which is never posted.
    pub shared_recv: bool,
    /// CQEs, rounded up to a power of two. Sends and receives complete to the same queue.
    pub cqes: u32,
    /// Bytes per CQE: 64 or 128.
    pub cqe_bytes: u32,
    /// Data of up to this many bytes comes in the CQE: 0, 32, or 64 (with CQEs of 128 bytes).
    pub scatter_to_cqe: u32,
    /// How completions are compressed, if they are: then poll the queue in the mode
    /// [`Compressed`](blueflame::cq::mode::Compressed).
    pub compression: Option<CqCompression>,
}

impl Shape {
    /// Rings so small that they wrap after a few requests: 8 WQEBBs, 4 receives, 16 CQEs. Requests may fill half the
    /// ring.
    pub const SMALL: Self = Self {
        sq_wqebbs: 8,
        max_inline: 512,
        max_sge: 24,
        signal_all: false,
        register: RegisterOptions::Own,
        policy: BlueFlamePolicy::Prefer,
        recv_wqes: 4,
        recv_sges: 4,
        shared_recv: false,
        cqes: 16,
        cqe_bytes: 64,
        scatter_to_cqe: 0,
        compression: None,
    };
}

impl Shape {
    /// The queue pair, but for its receives.
    pub(crate) fn qp_options<T: Service>(&self, cqn: u32) -> QpOptions {
        QpOptions {
            sq_wqebbs: self.sq_wqebbs,
            register: self.register,
            signal_all: self.signal_all,
            scatter_to_cqe_req: self.scatter_to_cqe,
            scatter_to_cqe_res: self.scatter_to_cqe,
            signed: T::SIGNS,
            ..QpOptions::new(T::TRANSPORT, cqn)
        }
    }
}

impl Default for Shape {
    /// 64 WQEBBs, 64 receives, and CQEs for all of them; a register of its own with BlueFlame; nothing unusual.
    fn default() -> Self {
        Self { sq_wqebbs: 64, max_inline: 220, max_sge: 4, recv_wqes: 64, cqes: 256, ..Self::SMALL }
    }
}
