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
    #[cfg_attr(feature = "clap", derive(clap::ValueEnum), value(rename_all = "snake"))]
    pub enum InlineHeaders {
        /// None (ConnectX-5 and later)
        None = "none",
        /// L2, 18 bytes (ConnectX-4 Lx)
        L2 = "l2",
        /// L2 and IP (for some eSwitches)
        Ip = "ip",
        /// L2, IP, and TCP or UDP
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
    #[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
    pub enum Memlock {
        /// Users without CAP_IPC_LOCK, which root has
        Linux = "linux",
        /// All users, root included
        Everybody = "everybody",
        /// No user
        Nobody = "nobody",
    }
}
