//! Addresses of datagrams and of dynamic connections: an address vector, which says how to reach a port, and the
//! number of the queue pair or the target there. Knows no request.
use crate::arch::ds::DsWords;
use crate::layout::{Be16, Be32, Be64};
use crate::sealed::Sealed;
use crate::transport::{self, Transport as _};
use crate::types::{DcKey, DciStream, Qkey, Qpn};
use crate::wqe::address::destination::Destination;
use crate::wqe::seg::{AV_GRH, BaseAvSeg, DatagramSeg, EXTENDED_AV, GrhAvSeg};

/// The route to a port: a [`CompactAv`] or a [`FullAv`]. [`UdAddress::new`] adds the queue pair at that port,
/// [`DcAddress::new`] the target. `MORE` is the number of DS behind the first, 0 or 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct AddressVector<const MORE: usize> {
    base: BaseAvSeg,
    /// The [`GrhAvSeg`] and the GID of a full vector.
    more: [DsWords; MORE],
}

/// Address vector of 16 bytes, for InfiniBand within a subnet: by LID, with no GRH. A datagram to it has room for 28
/// bytes inline in one WQEBB.
///
/// libmlx5 always posts [`FullAv`]. UCX posts compact vectors where it needs no GRH
/// (`src/uct/ib/mlx5/ud/ud_mlx5_common.c`, `uct_ud_mlx5_iface_get_av`), and this crate does the same. The device's
/// capability is `compact_address_vector`, but verbs do not report it. UCX reads it by DevX. Built without DevX, UCX
/// assumes it unless libmlx5 marks the vector in an address handle as a full one (`src/uct/ib/mlx5/ib_mlx5.c`,
/// `uct_ib_mlx5_get_compact_av`); rdma-core's libmlx5 never does.
///
/// ```
/// use blueflame::types::{Qkey, Qpn, WrId};
/// use blueflame::wqe::{self, UdAddress};
/// use blueflame::wqe::address::CompactAv;
///
/// let peer = UdAddress::new(CompactAv::new(0x12).service_level(1), Qpn::truncate(0x345), Qkey(0x1111_1111));
/// let _ = wqe::send().to(peer).inline(b"28 bytes fit in one WQEBB...").signaled(WrId(1));
/// ```
pub type CompactAv = AddressVector<0>;

/// Address vector of 48 bytes: for InfiniBand with or without a GRH, and for RoCE.
///
/// A vector for RoCE has the MAC address of the next hop, which the kernel resolves.
/// `verbs::ProtectionDomain::address` gets it from libmlx5. For InfiniBand it can be made here:
/// [`CompactAv::with_grh`].
pub type FullAv = AddressVector<2>;

/// The fields of a packet's global route header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GlobalRoute {
    /// The GID to send to.
    pub dgid: [u8; 16],
    /// The place of the GID to send from, in the port's table.
    pub sgid_index: u8,
    /// Flow label, 20 bits; the low ones count.
    pub flow_label: u32,
    /// Routers that a packet may cross.
    pub hop_limit: u8,
    /// Traffic class.
    pub traffic_class: u8,
}

/// The maximum rate for one address: that of a slower link on the way (IBTA vol. 1, 9.11). The codes of mlx5 are those
/// of rdma-core `providers/mlx5/verbs.c`, `ib_to_mlx5_rate_table`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum StaticRate {
    /// The port's rate.
    Port = 0,
    /// 2.5 Gbit/s.
    Gbps2_5 = 7,
    /// 10 Gbit/s.
    Gbps10 = 8,
    /// 30 Gbit/s.
    Gbps30 = 9,
    /// 5 Gbit/s.
    Gbps5 = 10,
    /// 20 Gbit/s.
    Gbps20 = 11,
    /// 40 Gbit/s.
    Gbps40 = 12,
    /// 60 Gbit/s.
    Gbps60 = 13,
    /// 80 Gbit/s.
    Gbps80 = 14,
    /// 120 Gbit/s.
    Gbps120 = 15,
}

impl<const MORE: usize> AddressVector<MORE> {
    /// DS it takes in a WQE.
    pub const DS: usize = 1 + MORE;

    /// This address vector in full form.
    #[inline]
    #[must_use]
    pub fn to_full(self) -> FullAv {
        let mut more = [DsWords::ZERO; 2];
        more.iter_mut().zip(self.more).for_each(|(to, from)| *to = from);
        FullAv { base: self.base, more }
    }

    /// Sets the number of the queue pair or DCT, and its key.
    #[inline]
    fn aim(self, key: u64, number: Qpn) -> Self {
        let extended = if MORE == 0 { 0 } else { EXTENDED_AV };
        let base = BaseAvSeg { key: Be64::new(key), dqp_dct: Be32::new(extended | number.get()), ..self.base };
        Self { base, ..self }
    }

    /// Clears the number and the key.
    #[inline]
    const fn aimless(self) -> Self {
        Self { base: BaseAvSeg { key: Be64::new(0), dqp_dct: Be32::new(0), ..self.base }, ..self }
    }

    /// Writes it to the start of `words`.
    #[inline(always)]
    fn write(&self, words: &mut [DsWords]) {
        let Self { base, more } = *self;
        if let [first, rest @ ..] = words {
            *first = base.into();
            rest.iter_mut().zip(more).for_each(|(to, from)| *to = from);
        }
    }
}

impl CompactAv {
    /// To the port with this LID, on service level 0, from the port's first LID, at the port's full rate.
    #[must_use]
    pub const fn new(lid: u16) -> Self {
        let (key, dqp_dct) = (Be64::new(0), Be32::new(0));
        let base = BaseAvSeg { key, dqp_dct, stat_rate_sl: 0, fl_mlid: 0, rlid: Be16::new(lid) };
        Self { base, more: [] }
    }

    /// Sets the service level; the low 4 bits count.
    #[must_use]
    pub const fn service_level(mut self, level: u8) -> Self {
        self.base.stat_rate_sl = self.base.stat_rate_sl & 0xf0 | level & 0xf;
        self
    }

    /// Limits the rate.
    #[must_use]
    pub const fn static_rate(mut self, rate: StaticRate) -> Self {
        self.base.stat_rate_sl = (rate as u8) << 4 | self.base.stat_rate_sl & 0xf;
        self
    }

    /// Sends from the own LID with these path bits; the low 7 bits count.
    #[must_use]
    pub const fn path_bits(mut self, bits: u8) -> Self {
        self.base.fl_mlid = bits & 0x7f;
        self
    }

    /// Adds a global route header.
    #[must_use]
    pub fn with_grh(self, route: &GlobalRoute) -> FullAv {
        let gid_fl = AV_GRH | u32::from(route.sgid_index) << 20 | route.flow_label & 0x000f_ffff;
        let grh = GrhAvSeg {
            reserved0: Be32::new(0),
            rmac: [0; 6],
            tclass: route.traffic_class,
            hop_limit: route.hop_limit,
            grh_gid_fl: Be32::new(gid_fl),
        };
        FullAv { base: self.base, more: [grh.into(), route.dgid.into()] }
    }
}

impl FullAv {
    /// From libmlx5's own bytes, those of `struct mlx5_wqe_av`. Key and number are ignored: the queue pair's address
    /// sets them.
    #[must_use]
    pub fn from_seg(DatagramSeg { base, grh, rgid }: DatagramSeg) -> Self {
        Self { base, more: [grh.into(), rgid.into()] }.aimless()
    }

    /// The compact form. `None` if the vector has a GRH or a MAC address, which a compact one cannot hold. All vectors
    /// for RoCE have a MAC address.
    #[must_use]
    pub fn to_compact(self) -> Option<CompactAv> {
        (self.more == [DsWords::ZERO; 2]).then_some(CompactAv { base: self.base, more: [] })
    }
}

/// The address of a queue pair for datagrams: the route, its number and its Q_Key. It is the destination of a
/// [request](crate::wqe::Request::to) for a [`Ud`](crate::transport::Ud) queue.
///
/// All its bytes are as in the WQE, so posting to it copies it. It becomes outdated only when the peer moves; keep one
/// for each peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UdAddress<V = FullAv>(V);

impl<const MORE: usize> UdAddress<AddressVector<MORE>> {
    /// The queue pair `qpn` at the end of `vector`, which accepts datagrams with `qkey`.
    #[inline]
    #[must_use]
    pub fn new(vector: AddressVector<MORE>, qpn: Qpn, qkey: Qkey) -> Self {
        Self(vector.aim(u64::from(qkey.0) << 32, qpn))
    }

    /// The queue pair's number.
    #[inline]
    #[must_use]
    pub fn qpn(&self) -> Qpn {
        Qpn::truncate(self.0.base.dqp_dct.get())
    }

    /// The Q_Key.
    #[inline]
    #[must_use]
    pub fn qkey(&self) -> Qkey {
        Qkey((self.0.base.key.get() >> 32) as u32)
    }

    /// This datagram address, with a full address vector.
    #[inline]
    #[must_use]
    pub fn to_full(self) -> UdAddress<FullAv> {
        UdAddress::new(self.0.to_full(), self.qpn(), self.qkey())
    }

    /// The route.
    #[inline]
    #[must_use]
    pub fn vector(&self) -> AddressVector<MORE> {
        self.0.aimless()
    }
}

impl<V> Sealed for UdAddress<V> {}
impl<const MORE: usize> Destination for UdAddress<AddressVector<MORE>> {
    const DS: usize = AddressVector::<MORE>::DS;
    const ON: u8 = transport::Ud::BIT;

    #[inline(always)]
    fn write(&self, words: &mut [DsWords]) {
        self.0.write(words);
    }
}

/// The address of a target of dynamic connections (DCT): the route, its number and its access key. It is the
/// destination of a [request](crate::wqe::Request::to) for a [`Dci`](crate::transport::Dci) queue.
///
/// All its bytes are as in the WQE, like a [`UdAddress`]'s (rdma-core `providers/mlx5/qp.c`,
/// `mlx5_send_wr_set_dc_addr`; UCX `src/uct/ib/mlx5/dc/dc_mlx5_ep.c`, `uct_dc_mlx5_set_dgram_seg`).
///
/// ```
/// use blueflame::types::{DcKey, Qpn, WrId};
/// use blueflame::wqe::{self, DcAddress};
/// use blueflame::wqe::address::CompactAv;
/// use blueflame::{Remote, Rkey};
///
/// let target = DcAddress::new(CompactAv::new(0x12), Qpn::truncate(0x345), DcKey(0x1122_3344_5566_7788));
/// let remote = Remote { addr: 0x1000, rkey: Rkey(0x11) };
/// let _ = wqe::write(remote).to(target).inline(b"12 bytes fit").signaled(WrId(1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DcAddress<V = FullAv>(V);

impl<const MORE: usize> DcAddress<AddressVector<MORE>> {
    /// The target `dctn` at the end of `vector`, which serves requests with `key`.
    #[inline]
    #[must_use]
    pub fn new(vector: AddressVector<MORE>, dctn: Qpn, key: DcKey) -> Self {
        Self(vector.aim(key.0, dctn))
    }

    /// The target's number (PRM "DCTN"), from the same number space as queue pairs.
    #[inline]
    #[must_use]
    pub fn dctn(&self) -> Qpn {
        Qpn::truncate(self.0.base.dqp_dct.get())
    }

    /// The access key.
    #[inline]
    #[must_use]
    pub fn key(&self) -> DcKey {
        DcKey(self.0.base.key.get())
    }

    /// This DC address, with a full address vector.
    #[inline]
    #[must_use]
    pub fn to_full(self) -> DcAddress<FullAv> {
        DcAddress::new(self.0.to_full(), self.dctn(), self.key())
    }

    /// The route.
    #[inline]
    #[must_use]
    pub fn vector(&self) -> AddressVector<MORE> {
        self.0.aimless()
    }

    /// The target, by a stream of the initiator: for a [`DciStreams`](crate::transport::DciStreams) queue. There,
    /// requests without `on` belong to stream 0.
    #[inline]
    #[must_use]
    pub const fn on(self, stream: DciStream) -> DcStream<AddressVector<MORE>> {
        DcStream { address: self, stream }
    }
}

impl<V> Sealed for DcAddress<V> {}
impl<const MORE: usize> Destination for DcAddress<AddressVector<MORE>> {
    const DS: usize = AddressVector::<MORE>::DS;
    const ON: u8 = transport::Dci::BIT | transport::DciStreams::BIT;

    #[inline(always)]
    fn write(&self, words: &mut [DsWords]) {
        self.0.write(words);
    }
}

/// A target, and the initiator's stream for its requests: made by [`DcAddress::on`]. The stream is in the control
/// segment (rdma-core `providers/mlx5/qp.c`, `mlx5_send_wr_set_dc_addr_stream`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DcStream<V = FullAv> {
    address: DcAddress<V>,
    stream: DciStream,
}

impl<const MORE: usize> DcStream<AddressVector<MORE>> {
    /// The target.
    #[inline]
    #[must_use]
    pub const fn address(&self) -> DcAddress<AddressVector<MORE>> {
        self.address
    }

    /// The stream.
    #[inline]
    #[must_use]
    pub const fn stream(&self) -> DciStream {
        self.stream
    }
}

impl<V> Sealed for DcStream<V> {}
impl<const MORE: usize> Destination for DcStream<AddressVector<MORE>> {
    const DS: usize = AddressVector::<MORE>::DS;
    const ON: u8 = transport::DciStreams::BIT;

    #[inline]
    fn stream(&self) -> DciStream {
        self.stream
    }

    #[inline(always)]
    fn write(&self, words: &mut [DsWords]) {
        self.address.write(words);
    }
}
