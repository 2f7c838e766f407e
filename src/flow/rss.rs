//! The hash by which frames are spread over queues.

/// The hash that selects the queue of a packet.
///
/// One receiver hashes packets of one IP version and one protocol with ports: verbs and the device know no more (Linux
/// `drivers/infiniband/hw/mlx5/qp.c`, `create_rss_raw_qp_tir`). For several, make a receiver of each kind over the same
/// queues. Packets of another kind have the hash 0, and go to the first queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rss {
    /// The key of the Toeplitz hash.
    pub key: [u8; 40],
    /// Fields to hash: bit 0 source, 1 destination IP address, 2 source, 3 destination port (Linux
    /// `include/linux/mlx5/mlx5_ifc.h`, `MLX5_HASH_FIELD_SEL_*`).
    pub fields: u32,
    /// IPv6 in place of IPv4.
    pub ipv6: bool,
    /// UDP in place of TCP; with ports only.
    pub udp: bool,
    /// Both directions of a connection have the same hash, with any key: the device hashes the OR and the XOR of both
    /// addresses, then those of both ports (`rx_hash_symmetric`; Linux `Documentation/networking/scaling.rst`,
    /// "Symmetric-OR-XOR"). By DevX only: verbs have no such hash ([`SYMMETRIC_KEY`](Self::SYMMETRIC_KEY) is a way
    /// without it).
    pub symmetric: bool,
}

impl Rss {
    /// All [fields](Self::fields): both addresses and both ports.
    pub const ALL_FIELDS: u32 = 0xf;
    /// The key of Microsoft's examples ("Verifying the RSS hash calculation"), which many drivers have by default. It
    /// is no secret: who chooses addresses and ports can send all frames to one queue.
    pub const PUBLISHED_KEY: [u8; 40] = [
        0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca,
        0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b,
        0xbe, 0xac, 0x01, 0xfa,
    ];

    /// A key of two bytes, repeated. With [all fields](Self::ALL_FIELDS), both directions of a connection have the same
    /// hash (Woo and Park, "Scalable TCP Session Monitoring with Symmetric Receive-side Scaling", 2012). The hash of
    /// each field then depends on few bits of the key, so frames are spread less evenly.
    pub const SYMMETRIC_KEY: [u8; 40] = {
        let mut key = [0x6d; 40];
        let mut at = 1;
        while at < key.len() {
            key[at] = 0x5a;
            at += 2;
        }
        key
    };

    /// Both addresses and both ports of UDP over IPv4.
    #[must_use]
    pub const fn udp(key: [u8; 40]) -> Self {
        Self { key, fields: Self::ALL_FIELDS, ipv6: false, udp: true, symmetric: false }
    }

    /// Both addresses and both ports of TCP over IPv4.
    #[must_use]
    pub const fn tcp(key: [u8; 40]) -> Self {
        Self { key, fields: Self::ALL_FIELDS, ipv6: false, udp: false, symmetric: false }
    }
}
