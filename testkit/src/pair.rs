//! Two connected ends, each on a device of its own.

use std::marker::PhantomData;

use softhca::complaint::Complaint;
use softhca::config::LinkLayer;
use softhca::embedded::ConnectOptions;
use softhca::faults::Faults;
use softhca::wire::fault::FaultConfig;

use crate::device::{DeviceOptions, Network, run_until_idle};
use crate::end::{End, connect};
use crate::error::Error;
use crate::request::Service;
use crate::shape::Shape;

/// Two ends of a connection, each on a device of its own.
///
/// ```
/// use blueflame::transport;
/// use blueflame_testkit as testkit;
///
/// let mut pair = testkit::connected_pair::<transport::Uc>()?;
/// let mailbox = pair.far.buffer(64)?;
/// // SAFETY: the buffer is looked at when the message has arrived.
/// unsafe { pair.far.rq.post_unchecked(blueflame::WrId(7), &[mailbox.sge(..)])? };
/// pair.near.sq.post(&blueflame::wqe::send().inline(b"hello"))?;
/// pair.run_until_idle()?;
/// let cqe = pair.far.cq.poll().expect("a message");
/// let message = pair.far.rq.complete(&cqe)?;
/// assert_eq!((message.buffer, message.bytes), (blueflame::WrId(7), 5));
/// assert_eq!(mailbox.to_vec(..5), b"hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Pair<T: Service> {
    /// One end.
    pub near: End<T>,
    /// The other.
    pub far: End<T>,
}

/// Two ends of the [usual](Shape::default) shape, connected, each on a device of its own.
///
/// # Errors
/// [`Error::Device`] if the system has no memory.
pub fn connected_pair<T: Service>() -> Result<Pair<T>, Error> {
    Pair::builder().connect()
}

impl<T: Service> Pair<T> {
    /// Begins a pair with a choice of shapes, faults, link, and stepping or threads.
    pub fn builder() -> PairBuilder<T> {
        let link = match T::TRANSPORT {
            softhca::context::Transport::RawPacket => LinkLayer::Ethernet,
            _ => LinkLayer::InfiniBand,
        };
        PairBuilder {
            near: Shape::default(),
            far: Shape::default(),
            link,
            faults: Faults::default(),
            threaded: false,
            options: ConnectOptions::default(),
            transport: PhantomData,
        }
    }

    /// One step of both devices. True if there was anything to do.
    pub fn step(&self) -> bool {
        self.near.device().step() | self.far.device().step()
    }

    /// Steps both devices until nothing is left to do.
    ///
    /// # Errors
    /// [`Error::NoEnd`]; [`Error::OnThread`].
    pub fn run_until_idle(&self) -> Result<(), Error> {
        run_until_idle(&[self.near.device(), self.far.device()])
    }

    /// All errors of which both devices [complain](crate::Device::complaints).
    #[must_use]
    pub fn complaints(&self) -> Vec<Complaint> {
        [&self.near, &self.far].map(|end| end.device().complaints()).concat()
    }
}

/// Makes a [`Pair`].
///
/// ```
/// use blueflame::{WrId, transport, wqe};
/// use blueflame_testkit::{Pair, Shape};
///
/// // A network that loses a twentieth of all packets; the devices work on threads of their own, as real ones do.
/// let mut pair = Pair::<transport::Rc>::builder()
///     .shape(Shape { cqes: 16, shared_recv: true, ..Shape::default() })
///     .path_mtu(256)
///     .faults("drop=50,seed=1".parse()?)
///     .threaded()
///     .connect()?;
/// let inbox = pair.far.buffer(64)?;
/// pair.near.sq.post(&wqe::write(inbox.remote()).inline(b"hello").signaled(WrId(1)))?;
/// let cqe = loop {
///     if let Some(cqe) = pair.near.cq.poll() {
///         break cqe;
///     }
/// };
/// assert_eq!(pair.near.sq.complete(&cqe)?.wr_id, WrId(1));
/// assert_eq!(inbox.to_vec(..5), b"hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "a pair is made by `connect`"]
pub struct PairBuilder<T> {
    near: Shape,
    far: Shape,
    link: LinkLayer,
    faults: Faults,
    threaded: bool,
    options: ConnectOptions,
    transport: PhantomData<T>,
}

impl<T: Service> PairBuilder<T> {
    /// The shape of both ends.
    pub fn shape(self, shape: Shape) -> Self {
        Self { near: shape, far: shape, ..self }
    }

    /// The shape of one end.
    pub fn near(self, near: Shape) -> Self {
        Self { near, ..self }
    }

    /// The shape of the other.
    pub fn far(self, far: Shape) -> Self {
        Self { far, ..self }
    }

    /// RoCE in place of InfiniBand. Raw packets always use Ethernet.
    pub fn ethernet(self) -> Self {
        Self { link: LinkLayer::Ethernet, ..self }
    }

    /// Faults of the network and of shared receives.
    pub fn faults(self, faults: Faults) -> Self {
        Self { faults, ..self }
    }

    /// The devices work on threads of their own, and are not stepped.
    pub fn threaded(self) -> Self {
        Self { threaded: true, ..self }
    }

    /// The path MTU in bytes: 256, 512, 1024, 2048 or 4096.
    pub fn path_mtu(mut self, bytes: u32) -> Self {
        self.options.path_mtu = bytes;
        self
    }

    /// All other options of the connection: access rights, timers, retries, PSN.
    pub fn options(self, options: ConnectOptions) -> Self {
        Self { options, ..self }
    }

    /// The pair.
    ///
    /// # Errors
    /// [`Error::Device`] for a shape that the device does not support; [`Error::Setup`] for
    /// one that this crate does not support; [`Error::Faults`]; [`Error::Thread`].
    pub fn connect(self) -> Result<Pair<T>, Error> {
        let network = Network::new();
        let device = |n: u16| {
            let options = match self.link {
                LinkLayer::InfiniBand => DeviceOptions::infiniband(n),
                LinkLayer::Ethernet => DeviceOptions::ethernet(n),
            };
            // The faults of the two directions are independent.
            let seed = self.faults.network.seed.wrapping_add(n.into());
            let faults = Faults { network: FaultConfig { seed, ..self.faults.network }, ..self.faults };
            let options = options.faults(faults);
            network.device(if self.threaded { options.threaded() } else { options })
        };
        let pair = Pair { near: End::new(&device(1)?, &self.near)?, far: End::new(&device(2)?, &self.far)? };
        connect(&pair.near, &pair.far, &self.options)?;
        Ok(pair)
    }
}
