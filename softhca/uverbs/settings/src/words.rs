//! Choices that an option and a variable name by a word.

/// An enumeration of which each value has a word.
macro_rules! words {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$doc:meta])* $value:ident = $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$doc])* $value,)* }

        impl $name {
            /// All of them, in their order.
            pub const ALL: [Self; [$($word),*].len()] = [$(Self::$value),*];

            /// Its word.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $word,)*
                }
            }
        }
    };
}
pub(crate) use words;

words! {
    /// The least headers that the WQE of a raw packet must contain.
    pub enum InlineHeaders {
        /// Nothing, as with a ConnectX-5 and later.
        None = "none",
        /// Addresses, a VLAN tag and the EtherType, as with a ConnectX-4 Lx.
        L2 = "l2",
        /// Of an IP packet, also its IP header.
        Ip = "ip",
        /// Of a TCP or UDP packet, also its TCP or UDP header.
        TcpUdp = "tcp_udp",
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

words! {
    /// Whom `RLIMIT_MEMLOCK` keeps from pinning more.
    pub enum Memlock {
        /// Users without `CAP_IPC_LOCK`.
        Linux = "linux",
        /// Root, too.
        Everybody = "everybody",
        /// No user.
        Nobody = "nobody",
    }
}
