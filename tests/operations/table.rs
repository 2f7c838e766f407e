//! The table's rows and columns, as far as the crate's types know them.

use core::marker::PhantomData;

use blueflame::transport::{self, Transport};
use blueflame::types::Srqn;
use blueflame::wqe::address::{CompactAv, DcStream, FullAv};
use blueflame::wqe::operations::{Addressed, Operation};
use blueflame::wqe::{self, DcAddress, SupportedOn, UdAddress};

/// A segment of a WQE, between the control segment and the data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) name: &'static str,
    /// 16-byte units.
    pub(crate) ds: usize,
}

const REMOTE: Segment = Segment { name: "remote address", ds: 1 };
const ATOMIC: Segment = Segment { name: "atomic", ds: 1 };
const MASKS: Segment = Segment { name: "masks", ds: 1 };
const ATOMIC128: Segment = Segment { name: "atomic", ds: 2 };
const MASKS128: Segment = Segment { name: "masks", ds: 2 };
const UMR: Segment = Segment { name: "UMR control", ds: 3 };
const MKEY: Segment = Segment { name: "memory key", ds: 4 };
const PSV: Segment = Segment { name: "signature value", ds: 1 };
const MMO: Segment = Segment { name: "MMO metadata", ds: 1 };
const QUEUE: Segment = Segment { name: "queue", ds: 1 };
const TM: Segment = Segment { name: "tag matching", ds: 2 };
const WAIT: Segment = Segment { name: "wait", ds: 2 };
/// With 18 bytes of inline headers.
const ETHERNET: Segment = Segment { name: "Ethernet", ds: 2 };
const XRC: Segment = Segment { name: "XRC segment", ds: 1 };
const BASE_AV: Segment = Segment { name: "address vector of 16 bytes", ds: 1 };
const FULL_AV: Segment = Segment { name: "address vector of 48 bytes", ds: 3 };

/// A transport, and a form of its addresses.
pub(crate) struct Column {
    pub(crate) name: &'static str,
    /// The segments after the control segment of each request.
    pub(crate) address: &'static [Segment],
    /// The length of these segments by their types, in DS.
    pub(crate) address_ds: usize,
}

/// An operation.
pub(crate) struct Row {
    /// The name of it and its like in texts. Every transport has all of a kind, or none.
    pub(crate) kind: &'static str,
    pub(crate) name: &'static str,
    /// Of `enum ibv_wr_opcode`, or of mlx5dv.
    pub(crate) verbs: &'static str,
    pub(crate) opcode: u8,
    pub(crate) segments: &'static [Segment],
    pub(crate) data: &'static str,
    /// Of the segments, by type.
    pub(crate) ds: usize,
    /// Whether each column's queues take it.
    pub(crate) supported: Vec<bool>,
    /// Whether each column's queues take requests that are chosen at run time: by the operation's own table, not by the
    /// compiler's.
    pub(crate) erased: Vec<bool>,
}

/// Has a constant of its own where `T` has `O`; elsewhere the trait's is found.
struct Probe<O, T>(PhantomData<(O, T)>);

trait Unsupported {
    const SUPPORTED: bool = false;
}
impl<O, T> Unsupported for Probe<O, T> {}
impl<O: SupportedOn<T>, T: Transport> Probe<O, T> {
    const SUPPORTED: bool = true;
}

/// Whether a queue of `T` takes the operation of a request that is chosen at run time.
fn erased<O: Operation, T: Transport>() -> bool {
    O::ON[0] & T::BIT != 0
}

/// The operation as each column's queues take it.
type Plain<O> = O;
type ToSrq<O> = Addressed<O, Srqn>;
type ToFull<O> = Addressed<O, UdAddress<FullAv>>;
type ToCompact<O> = Addressed<O, UdAddress<CompactAv>>;
type ToTarget<O> = Addressed<O, DcAddress<FullAv>>;
type ToNearTarget<O> = Addressed<O, DcAddress<CompactAv>>;
type ByStream<O> = Addressed<O, DcStream<FullAv>>;

macro_rules! table {
    (
        columns: { $($column:literal: $form:ident $transport:ty, $address:expr;)* }
        rows: $rows:tt
    ) => {
        pub(crate) fn columns() -> Vec<Column> {
            vec![$(Column {
                name: $column,
                address: $address,
                address_ds: <$form<wqe::operations::Nop> as Operation>::DS,
            }),*]
        }

        table!(@rows [$($form $transport),*] $rows);
    };

    (@rows $columns:tt { $($kind:literal: {
        $($row:ident $(<$headers:literal>)?, $verbs:literal, $segments:expr, $data:literal;)*
    })* }) => {
        pub(crate) fn rows() -> Vec<Row> {
            vec![$($(Row {
                kind: $kind,
                name: stringify!($row),
                verbs: $verbs,
                opcode: <wqe::operations::$row $(<$headers>)? as Operation>::OPCODE as u8,
                segments: $segments,
                data: $data,
                ds: <wqe::operations::$row $(<$headers>)? as Operation>::DS,
                supported: table!(@supported wqe::operations::$row $(<$headers>)?, $columns),
                erased: table!(@erased wqe::operations::$row $(<$headers>)?, $columns),
            },)*)*]
        }
    };

    (@supported $op:ty, [$($form:ident $transport:ty),*]) => {
        // Some take no address where others must have one: NOP.
        vec![$(<Probe<$form<$op>, $transport>>::SUPPORTED || <Probe<Plain<$op>, $transport>>::SUPPORTED),*]
    };

    (@erased $op:ty, [$($form:ident $transport:ty),*]) => {
        vec![$(erased::<$form<$op>, $transport>() || erased::<Plain<$op>, $transport>()),*]
    };
}

table! {
    columns: {
        "RC": Plain transport::Rc, &[];
        "UC": Plain transport::Uc, &[];
        "XRC": ToSrq transport::XrcInitiator, &[XRC];
        "UD": ToFull transport::Ud, &[FULL_AV];
        "UD, compact": ToCompact transport::Ud, &[BASE_AV];
        "DCI": ToTarget transport::Dci, &[FULL_AV];
        "DCI, compact": ToNearTarget transport::Dci, &[BASE_AV];
        "DCI with streams": ByStream transport::DciStreams, &[FULL_AV];
        "raw packets": Plain transport::RawPacket, &[];
    }
    rows: {
        "NOP": {
            Nop, "-", &[], "none";
        }
        "SEND": {
            Send, "`IBV_WR_SEND`", &[], "gathered or inline";
            SendImm, "`IBV_WR_SEND_WITH_IMM`", &[], "gathered or inline";
        }
        "SEND with invalidate": {
            SendInval, "`IBV_WR_SEND_WITH_INV`", &[], "gathered or inline";
        }
        "WRITE": {
            Write, "`IBV_WR_RDMA_WRITE`", &[REMOTE], "gathered or inline";
            WriteImm, "`IBV_WR_RDMA_WRITE_WITH_IMM`", &[REMOTE], "gathered or inline";
        }
        "READ": {
            Read, "`IBV_WR_RDMA_READ`", &[REMOTE], "scattered";
        }
        "atomics": {
            CompareSwap, "`IBV_WR_ATOMIC_CMP_AND_SWP`", &[REMOTE, ATOMIC], "8 bytes, \
                scattered";
            FetchAdd, "`IBV_WR_ATOMIC_FETCH_AND_ADD`", &[REMOTE, ATOMIC], "8 bytes, scattered";
            MaskedCompareSwap32, "-", &[REMOTE, ATOMIC], "4 bytes, scattered";
            MaskedCompareSwap64, "-", &[REMOTE, ATOMIC, MASKS], "8 bytes, scattered";
            MaskedFetchAdd32, "-", &[REMOTE, ATOMIC], "4 bytes, scattered";
            MaskedFetchAdd64, "-", &[REMOTE, ATOMIC], "8 bytes, scattered";
            MaskedCompareSwap128, "-", &[REMOTE, ATOMIC128, MASKS128], "16 bytes, \
                scattered";
            MaskedFetchAdd128, "-", &[REMOTE, ATOMIC128], "16 bytes, scattered";
        }
        "memory windows": {
            BindWindow, "`IBV_WR_BIND_MW`", &[UMR, MKEY], "a piece: 4 DS";
            Invalidate, "`IBV_WR_LOCAL_INV`, `IBV_WR_BIND_MW` to nothing", &[UMR, MKEY], "none";
        }
        "indirect keys": {
            ConfigureKey, "`mlx5dv_wr_mkey_configure`, `mlx5dv_wr_mr_list`, \
                `mlx5dv_wr_mr_interleaved`", &[UMR, MKEY], "a list, in 4 DS each; or where it is; or none; \
                then formats of signatures: 4 DS; or none";
            SetPsv, "`mlx5dv_wr_set_mkey_sig_block`", &[PSV], "none";
        }
        "memory copies": {
            Memcpy, "`mlx5dv_wr_memcpy`", &[MMO], "from and to: 2 DS";
        }
        "WAIT and ENABLE": {
            WaitCqe, "-", &[QUEUE], "none";
            WaitTime, "-", &[WAIT], "none";
            SendEnable, "-", &[QUEUE], "none";
            RecvEnable, "-", &[QUEUE], "none";
        }
        "WAIT on data": {
            WaitData, "-", &[WAIT], "none";
        }
        "DUMP": {
            Dump, "-", &[], "gathered";
        }
        "tag matching": {
            TagAppend, "`IBV_WR_TAG_ADD`", &[TM], "one entry: 1 DS";
            TagRemove, "`IBV_WR_TAG_DEL`", &[TM], "none";
            TagSync, "`IBV_WR_TAG_SYNC`", &[TM], "none";
        }
        "frames": {
            Frame<18>, "`IBV_WR_SEND`", &[ETHERNET], "gathered or inline";
        }
    }
}

/// The address of a request that has one.
type Twice<O> = Addressed<Addressed<O, UdAddress<FullAv>>, UdAddress<FullAv>>;

/// Transports, in the order of [`destinations`].
pub(crate) const TRANSPORTS: [&str; 7] = ["RC", "UC", "XRC", "UD", "DCI", "DCI with streams", "raw packets"];

/// Which transports take the operation with each form of destination: as the compiler says, and at run time.
macro_rules! destinations {
    ($op:ty) => {
        destinations!(@forms $op, [Plain ToSrq ToFull ToCompact ToTarget ToNearTarget ByStream Twice],
            [transport::Rc, transport::Uc, transport::XrcInitiator, transport::Ud, transport::Dci,
             transport::DciStreams, transport::RawPacket])
    };
    (@forms $op:ty, [$($form:ident)*], $transports:tt) => {
        vec![$((stringify!($form), destinations!(@taken $form<$op>, $transports))),*]
    };
    (@taken $request:ty, [$($transport:ty),*]) => {
        [$({
            let supported = <Probe<$request, $transport>>::SUPPORTED;
            assert_eq!(erased::<$request, $transport>(), supported, "{}", concat!(stringify!($request), " on ", stringify!($transport)));
            supported
        }),*]
    };
}

/// For an operation with a destination, and for one that has none: each form of destination, and which of
/// [`TRANSPORTS`] take it so.
pub(crate) fn destinations() -> [Vec<(&'static str, [bool; 7])>; 2] {
    [destinations!(wqe::operations::Send), destinations!(wqe::operations::Memcpy)]
}

/// Whether frames without inline headers are taken, where the device needs headers, and where it needs none.
/// The compiler refuses them where the constant is not evaluated: the crate's docs have that test.
pub(crate) fn bare_frames() -> [bool; 2] {
    let frame = wqe::frame().erased();
    [frame.is_supported_on::<transport::RawPacket>(), frame.is_supported_on::<transport::RawPacket<0>>()]
}
