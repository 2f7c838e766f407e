//! Choices that an option and a variable name by a word.

/// The least headers that the WQE of a raw packet must contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InlineHeaders {
    /// Nothing, as with a ConnectX-5 and later.
    None,
    /// Addresses, a VLAN tag and the EtherType, as with a ConnectX-4 Lx.
    L2,
    /// Of an IP packet, also its IP header.
    Ip,
    /// Of a TCP or UDP packet, also its TCP or UDP header.
    TcpUdp,
}

impl InlineHeaders {
    /// All of them, the least first.
    pub const ALL: [Self; 4] = [Self::None, Self::L2, Self::Ip, Self::TcpUdp];

    /// `none`, `l2`, `ip` or `tcp_udp`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            InlineHeaders::None => "none",
            InlineHeaders::L2 => "l2",
            InlineHeaders::Ip => "ip",
            InlineHeaders::TcpUdp => "tcp_udp",
        }
    }
}

impl From<InlineHeaders> for softhca::context::InlineHeaders {
    fn from(headers: InlineHeaders) -> Self {
        match headers {
            InlineHeaders::None => Self::None,
            InlineHeaders::L2 => Self::L2,
            InlineHeaders::Ip => Self::Ip,
            InlineHeaders::TcpUdp => Self::TcpUdp,
        }
    }
}

/// Whom `RLIMIT_MEMLOCK` keeps from pinning more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memlock {
    /// Users without `CAP_IPC_LOCK`.
    Linux,
    /// Root, too.
    Everybody,
    /// No user.
    Nobody,
}

impl Memlock {
    /// All of them; that of Linux first.
    pub const ALL: [Self; 3] = [Self::Linux, Self::Everybody, Self::Nobody];

    /// `linux`, `everybody` or `nobody`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Memlock::Linux => "linux",
            Memlock::Everybody => "everybody",
            Memlock::Nobody => "nobody",
        }
    }
}
