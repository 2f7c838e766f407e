//! Memory windows: lent, used, taken back.
//!
//! Rights of peers belong here, bytes of requests in `tests/differential/windows.rs`.

use blueflame::Remote;
use blueflame::cq::WcStatus;
use blueflame::transport::Rc;
use blueflame::types::WrId;
use blueflame::verbs::memory::{MemoryWindow, WindowType};
use blueflame::verbs::{Access, Buffer, Device, Error, ProtectionDomain};
use blueflame::wqe::keys::WindowRights;
use blueflame::wqe::{self, Fence};
use memmap2::MmapMut;

use crate::end::{End, connected};
use crate::on_device::device;

const LENT: Access = Access::MW_BIND;

/// `near` asks; `far` lends.
struct Line {
    device: Device,
    pd: ProtectionDomain,
    near: End<Rc>,
    far: End<Rc>,
    page: Buffer,
}

impl Line {
    fn new() -> Self {
        let device = device();
        let pd = device.protection_domain().expect("a PD");
        let (near, far) = connected(&device, &pd);
        let memory = MmapMut::map_anon(4096).expect("memory");
        let page = pd.register(memory, LENT | Access::LOCAL_WRITE).expect("registered");
        Self { device, pd, near, far, page }
    }

    fn renew(&mut self) {
        (self.near, self.far) = connected(&self.device, &self.pd);
    }

    /// Binds, and tells by a message whose fence is that which libmlx5 would have given it.
    fn bind(&mut self, window: &mut MemoryWindow, range: std::ops::Range<usize>, rights: WindowRights) {
        self.near.post_receive(1);
        let request = window.bind(self.far.qp.qpn(), &self.page, range, rights).expect("for windows");
        self.far.post(&request);
        self.far.post(&wqe::send().inline(&window.rkey().0.to_be_bytes()).fence(Fence::Small).signaled(WrId(2)));
        assert_eq!(self.near.completion().2, 4);
        assert_eq!(self.near.bytes(4), window.rkey().0.to_be_bytes());
        assert_eq!(self.far.completion().1, WrId(2));
    }

    fn take_back(&mut self, window: &mut MemoryWindow) {
        self.far.sq.post(&window.take_back().signaled(WrId(3))).expect("room");
        assert_eq!(self.far.completion().1, WrId(3));
    }

    fn at(&self, window: &MemoryWindow, offset: u64) -> Remote {
        Remote { addr: self.page.addr() + offset, rkey: window.rkey() }
    }

    fn put(&mut self, to: Remote, bytes: &[u8]) {
        self.near.post(&wqe::write(to).inline_slice(bytes).signaled(WrId(4)));
        assert_eq!(self.near.completion().1, WrId(4));
    }

    fn refused(&mut self, to: Remote) {
        self.near.post(&wqe::write(to).inline(b"no").signaled(WrId(5)));
        assert_eq!(self.near.failure(), WcStatus::RemAccessErr);
        self.renew();
    }

    fn window(&self, kind: WindowType) -> Option<MemoryWindow> {
        let attr = self.device.attr();
        let has = if kind == WindowType::Type1 { attr.memory_windows } else { attr.memory_windows_2 };
        match self.pd.memory_window(kind) {
            Err(error) if !has => {
                assert_eq!(error, Error::Unsupported { what: "memory windows" });
                None
            }
            window => Some(window.expect("a window")),
        }
    }
}

fn read(page: &Buffer, offset: usize, len: usize) -> Vec<u8> {
    page.to_vec(offset..offset + len)
}

#[test]
fn pieces_are_lent_and_taken_back() {
    let mut line = Line::new();
    for kind in [WindowType::Type1, WindowType::Type2] {
        let Some(mut window) = line.window(kind) else { continue };
        line.refused(line.at(&window, 64));
        for round in 0..3_u8 {
            line.bind(&mut window, 64..128, WindowRights::WRITE);
            line.put(line.at(&window, 64 + 60), &[round, 2, 3, kind as u8]);
            assert_eq!(read(&line.page, 124, 5), [round, 2, 3, kind as u8, 0]);
            line.take_back(&mut window);
            line.refused(line.at(&window, 64));
        }
        line.bind(&mut window, 100..200, WindowRights::READ | WindowRights::WRITE);
        let before = line.at(&window, 100);
        line.near.buffer.fill(0);
        line.near.post(&wqe::read(before).scatter([line.near.buffer.sge_of(0..28)]).signaled(WrId(6)));
        assert_eq!(line.near.completion().1, WrId(6));
        assert_eq!(line.near.bytes(28), read(&line.page, 100, 28));
        line.refused(before.at(99));
    }
}

#[test]
fn a_peer_gives_a_window_back_by_its_answer() {
    let mut line = Line::new();
    let Some(mut window) = line.window(WindowType::Type2) else { return };
    line.bind(&mut window, 0..64, WindowRights::WRITE);
    let place = line.at(&window, 0);
    line.far.post_receive(1);
    line.put(place, b"done");
    line.near.post(&wqe::send().invalidate(window.rkey()).signaled(WrId(2)));
    assert_eq!((line.near.completion().1, line.far.completion().1), (WrId(2), WrId(1)));
    line.bind(&mut window, 64..128, WindowRights::WRITE);
    line.put(line.at(&window, 64), b"again");
    assert_eq!((read(&line.page, 0, 4), read(&line.page, 64, 5)), (b"done".to_vec(), b"again".to_vec()));
    line.refused(place);
}

#[test]
fn what_cannot_be_is_told_by_the_device() {
    let mut line = Line::new();
    let Some(mut window) = line.window(WindowType::Type2) else { return };
    line.bind(&mut window, 0..64, WindowRights::WRITE);
    // Bound already.
    let again = window.bind(line.far.qp.qpn(), &line.page, 0..8, WindowRights::WRITE).expect("for windows");
    line.far.post(&again.signaled(WrId(7)));
    assert_eq!(line.far.failure(), WcStatus::MwBindErr);
    line.renew();
    // Another queue pair's.
    line.far.sq.post(&window.take_back().signaled(WrId(8))).expect("room");
    assert_eq!(line.far.failure(), WcStatus::MwBindErr);
}

#[test]
fn what_cannot_be_is_told_before() {
    let line = Line::new();
    let Some(mut window) = line.window(WindowType::Type1) else { return };
    let (qpn, key) = (line.far.qp.qpn(), window.rkey());
    let plain = line.pd.register(MmapMut::map_anon(4096).expect("memory"), Access::ALL).expect("registered");
    let error = window.bind(qpn, &plain, 0..1, WindowRights::READ).expect_err("not for windows");
    assert_eq!(error, Error::AccessMissing { needs: LENT, has: Access::ALL });
    let readable = line.pd.register(MmapMut::map_anon(4096).expect("memory"), LENT).expect("registered");
    let error = window.bind(qpn, &readable, 0..1, WindowRights::ATOMIC).expect_err("not to be written");
    assert_eq!(error, Error::AccessMissing { needs: LENT | Access::LOCAL_WRITE, has: LENT });
    let elsewhere = line.device.protection_domain().expect("a PD");
    let foreign = elsewhere.register(MmapMut::map_anon(4096).expect("memory"), LENT).expect("registered");
    let error = window.bind(qpn, &foreign, 0..1, WindowRights::READ).expect_err("foreign");
    assert_eq!(error, Error::ForeignDomain { object: "memory window", part: "buffer" });
    let error = window.bind(qpn, &line.page, 5..5, WindowRights::READ).expect_err("nothing");
    assert!(matches!(error, Error::OutOfRange { value: 0, min: 1, .. }), "{error}");
    assert_eq!(window.rkey(), key, "nothing was made");
}
