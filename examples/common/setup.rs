//! The device, its port, and the peer.

use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use blueflame::verbs::device::Mtu;
use blueflame::verbs::handshake::Deadline;
use blueflame::verbs::{Device, OpenOptions, Path};
use clap::Args;

use crate::Failure;

/// The options of every program. The letters are perftest's.
#[derive(Args, Clone, Debug)]
pub struct Setup {
    /// Server to connect to; without it, be the server
    pub host: Option<String>,
    /// Be both sides, on this machine
    #[arg(long, conflicts_with = "host")]
    pub local: bool,
    /// RDMA device [default: the first mlx5 device]
    #[arg(short = 'd', long, visible_alias = "device")]
    pub ib_dev: Option<String>,
    /// TCP port by which the two sides meet
    #[arg(short, long, default_value_t = 18515)]
    pub port: u16,
    /// Port of the device
    #[arg(short, long, default_value_t = 1)]
    pub ib_port: u8,
    /// Local GID index [default: the best GID on Ethernet, none on InfiniBand]
    #[arg(short = 'x', long, visible_short_alias = 'g')]
    pub gid_index: Option<u8>,
    /// Path MTU in bytes [default: the port's]
    #[arg(short, long)]
    pub mtu: Option<u32>,
}

/// Which side of a connection this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The side that listens.
    Server,
    /// The side that connects, and begins.
    Client,
}

impl Role {
    /// In lower case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Client => "client",
        }
    }
}

/// How long the peer may take to answer over TCP.
pub const PATIENCE: Duration = Duration::from_secs(20);

impl Setup {
    /// Opens the device; the path starts at the chosen port and GID.
    ///
    /// # Errors
    /// No such device, port, GID or MTU.
    pub fn open(&self) -> Result<(Device, Path), Failure> {
        self.open_with(Device::options())
    }

    /// [Opens](Self::open) the device in a particular way.
    ///
    /// # Errors
    /// As `open`.
    pub fn open_with(&self, how: OpenOptions) -> Result<(Device, Path), Failure> {
        let device = match &self.ib_dev {
            Some(name) => how.open(name)?,
            None => how.open_first()?,
        };
        let mut path = device.path(self.ib_port, self.gid_index)?;
        if let Some(bytes) = self.mtu {
            path.mtu = Mtu::from_bytes(bytes).ok_or("the MTU must be 256, 512, 1024, 2048 or 4096")?;
            if path.mtu > path.port.active_mtu {
                let active = path.port.active_mtu.bytes();
                return Err(format!("the port's MTU is {active}, less than --mtu {bytes}").into());
            }
        }
        Ok((device, path))
    }

    /// Meets the peer over TCP and runs `side` in the role of the options: server, client, or both in two threads.
    ///
    /// # Errors
    /// No device, no meeting, or the error of `side`; if both sides fail, the client's error.
    pub fn meet(&self, side: impl Fn(Role, TcpStream) -> Result<(), Failure> + Sync) -> Result<(), Failure> {
        // `side` opens it for itself. A server without a device would else know only when its client has come.
        drop(self.open()?);
        if let Some(host) = &self.host {
            return side(Role::Client, self.connect(host)?);
        }
        let listener = listen(if self.local { 0 } else { self.port })?;
        if !self.local {
            eprintln!("waiting for the client on port {}", self.port);
            return side(Role::Server, prepared(listener.accept()?.0)?);
        }
        let client = prepared(TcpStream::connect((Ipv4Addr::LOCALHOST, listener.local_addr()?.port()))?)?;
        let server = prepared(listener.accept()?.0)?;
        thread::scope(|scope| {
            let server = scope.spawn(|| side(Role::Server, server));
            let client = side(Role::Client, client);
            let server = server.join().map_err(|_| "the server's thread has panicked")?;
            client.and(server)
        })
    }

    /// The options by which another process finds the same device, and the server at `port` of this machine.
    #[must_use]
    pub fn arguments(&self, port: u16) -> Vec<String> {
        let mut arguments = vec!["localhost".into(), format!("-p{port}"), format!("-i{}", self.ib_port)];
        arguments.extend(self.ib_dev.iter().map(|name| format!("-d{name}")));
        arguments.extend(self.gid_index.iter().map(|index| format!("-x{index}")));
        arguments.extend(self.mtu.iter().map(|bytes| format!("-m{bytes}")));
        arguments
    }

    /// Connects to the server at `host`.
    ///
    /// # Errors
    /// No server listens there.
    pub fn connect(&self, host: &str) -> Result<TcpStream, Failure> {
        let stream = TcpStream::connect((host, self.port))
            .map_err(|error| format!("connect to {host}:{}: {error}", self.port))?;
        prepared(stream)
    }
}

/// Listens on every address of this machine, of both families where it has both. Port 0: any that is free.
///
/// # Errors
/// Another program listens there.
pub fn listen(port: u16) -> Result<TcpListener, Failure> {
    TcpListener::bind((Ipv6Addr::UNSPECIFIED, port))
        .or_else(|_| TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)))
        .map_err(|error| format!("listen on port {port}: {error}").into())
}

/// A stream by which small messages go at once, and each read and each write has an end. [`limited`] ends all those of
/// an exchange.
///
/// # Errors
/// A failed call.
pub fn prepared(stream: TcpStream) -> Result<TcpStream, Failure> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(stream)
}

/// The stream for one exchange: all of its reads and writes end [`PATIENCE`] from now. So a peer that sends byte after
/// byte has no more time than one that is silent.
pub fn limited(stream: &mut TcpStream) -> Deadline<'_, TcpStream> {
    Deadline::new(stream, PATIENCE)
}
