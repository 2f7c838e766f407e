//! Initiators of dynamic connections, and targets: requests of all kinds, for either of two targets in any order.

use blueflame::cq::Side;
use blueflame::transport::Dci;
use blueflame::types::WrId;
use blueflame::wqe::GlobalRoute;
use blueflame_testkit::request::{Data, Kind, Target, Wr};
use blueflame_testkit::{
    Buffer, ConnectOptions, DcTarget, Device, DeviceOptions, End, Faults, Network, Shape, run_until_idle,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// Bytes of a message, a window or a mailbox, at most.
const ROOM: usize = 200;

/// What is asked of whom: an operation, a target, a form of its address, and how long the message is.
#[derive(Clone, Copy, Debug)]
struct Ask {
    what: u8,
    target: usize,
    form: u8,
    len: usize,
    gathered: bool,
}

struct Lab {
    devices: [Device; 3],
    near: End<Dci>,
    targets: [DcTarget; 2],
    /// Of each target: memory to write and read, and what is in it; and where its messages go.
    windows: [Buffer; 2],
    contents: [Vec<u8>; 2],
    mailboxes: [Buffer; 2],
    local: Buffer,
    asked: u64,
}

impl Lab {
    fn new(shape: Shape, faults: Faults) -> Self {
        let network = Network::new();
        let device = |n| network.device(DeviceOptions::infiniband(n).faults(faults)).expect("a device");
        let devices = [1, 2, 3].map(device);
        let options = ConnectOptions { path_mtu: 256, ..ConnectOptions::default() };
        let near = End::<Dci>::new(&devices[0], &shape).expect("an initiator");
        near.connect(&near.endpoint(), &options).expect("ready to send");
        let targets = [1, 2].map(|n| DcTarget::new(&devices[n], &shape, &options).expect("a target"));
        let buffers = || targets.each_ref().map(|target| target.buffer(ROOM).expect("memory"));
        let (windows, mailboxes, local) = (buffers(), buffers(), near.buffer(ROOM).expect("memory"));
        Self { devices, near, windows, contents: [vec![0; ROOM], vec![0; ROOM]], mailboxes, local, targets, asked: 0 }
    }

    /// One request, and all that follows from it on either side.
    fn ask(&mut self, ask: Ask) {
        let id = self.asked;
        self.asked += 1;
        let Ask { what, target: to, form, len, gathered } = ask;
        let bytes: Vec<u8> = (0..len as u64).map(|n| (n * 7 + id * 13) as u8).collect();
        let (target, window) = (&mut self.targets[to], self.windows[to].remote());
        let near = target.address();
        let dgid = target.endpoint().gid;
        let route = GlobalRoute { dgid, sgid_index: 0, flow_label: 0xa_bcde, hop_limit: 9, traffic_class: 0x5a };
        let address = match form {
            0 => Target::Compact(near),
            1 => Target::Full(near.to_full()),
            _ => Target::Full(blueflame::wqe::DcAddress::new(near.vector().with_grh(&route), near.dctn(), near.key())),
        };
        let old = u64::from_ne_bytes(self.contents[to][..8].try_into().expect("8 bytes"));
        let (kind, receives) = match what {
            0 => (Kind::Send, true),
            1 => (Kind::SendImm(id as u32), true),
            2 => (Kind::Write(window), false),
            3 => (Kind::WriteImm(window, id as u32), true),
            4 => (Kind::Read(window), false),
            5 => (Kind::FetchAdd(window, 5), false),
            _ => (Kind::CompareSwap(window, old, id), false),
        };
        let fetches = what > 4;
        let data = match what {
            0..=3 if !gathered => Data::Inline(bytes.clone()),
            0..=3 => {
                self.local.write(0, &bytes);
                Data::Sges(vec![self.local.sge(..len)])
            }
            _ => Data::Sges(vec![self.local.sge(..if fetches { 8 } else { len })]),
        };
        let wr = Wr { to: Some(address), ..Wr::new(kind, data, id) };
        // SAFETY: the buffers are looked at when the requests have completed.
        unsafe {
            if receives {
                target.rq.post(WrId(id), &[self.mailboxes[to].sge(..)]).expect("room");
            }
            self.near.post(&wr).expect("room");
        }
        run_until_idle(&self.devices.each_ref()).expect("an end");
        let sent = self.near.cq.poll().expect("a completion");
        assert_eq!(sent.check(), Ok(Side::Requester), "{ask:?}");
        assert_eq!(self.near.sq.retire(&sent).expect("outstanding").wr_id, WrId(id));
        let contents = &mut self.contents[to];
        match what {
            2 | 3 => contents[..len].copy_from_slice(&bytes),
            4 => assert_eq!(self.local.to_vec(..len), contents[..len]),
            5 => contents[..8].copy_from_slice(&old.wrapping_add(5).to_ne_bytes()),
            6 => contents[..8].copy_from_slice(&id.to_ne_bytes()),
            _ => {}
        }
        if fetches {
            assert_eq!(self.local.to_vec(..8), old.to_ne_bytes());
        }
        let target = &mut self.targets[to];
        let dctn = target.dctn();
        assert_eq!(self.windows[to].to_vec(..), *contents, "{ask:?}");
        let received = target.cq.poll();
        assert_eq!(received.is_some(), receives);
        if let Some(cqe) = received {
            assert_eq!(cqe.check(), Ok(Side::Responder));
            assert_eq!((cqe.byte_len() as usize, cqe.imm()), (len, (what != 0).then_some(id as u32)));
            assert_eq!((cqe.qpn(), cqe.src_qp()), (dctn, self.near.qpn()));
            assert_eq!(target.rq.retire(&cqe).expect("posted"), WrId(id));
            if what < 2 {
                assert_eq!(self.mailboxes[to].to_vec(..len), bytes);
            }
        }
        assert!(self.targets[1 - to].cq.poll().is_none(), "the other target has heard of it");
        assert!(self.devices.iter().all(|device| device.complaints().is_empty()));
    }
}

fn asks() -> impl Strategy<Value = Vec<Ask>> {
    let one = (0..7_u8, 0..2_usize, 0..3_u8, 0..=ROOM, any::<bool>());
    vec(one.prop_map(|(what, target, form, len, gathered)| Ask { what, target, form, len, gathered }), 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn each_request_reaches_the_target_that_it_names(asks in asks(), lossy: bool, signal_all: bool) {
        let faults = if lossy { "drop=30,dup=10,reorder=10,seed=7".parse().expect("faults") } else { Faults::default() };
        let mut lab = Lab::new(Shape { signal_all, ..Shape::SMALL }, faults);
        for ask in asks {
            lab.ask(ask);
        }
    }
}
