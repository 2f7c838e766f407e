//! The device notices a broken way to ring. Without that, "no complaints" in other tests would mean nothing.
//!
//! Wrong doorbells belong here, right ones in every other file.

use std::ptr::NonNull;

use blueflame::db::{ExclusiveRegister, RegisterParts};
use blueflame::types::WrId;
use blueflame::{transport, wqe};
use blueflame_testkit::{Buffer, ConnectOptions, Device, End, Shape, register};
use softhca::complaint::Complaint;
use softhca::embedded::QpParts;

const MESSAGE: &[u8; 24] = b"0123456789abcdef01234567";

/// A queue pair connected to itself.
struct Lab {
    end: End<transport::Rc>,
    hca: Device,
    qp: QpParts,
    window: Buffer,
}

impl Lab {
    fn new() -> Self {
        Self::ringing(Device::standalone().expect("a device"), register)
    }

    /// Takes a register of the test's choice.
    fn ringing(hca: Device, choose: impl FnOnce(&QpParts) -> RegisterParts) -> Self {
        let mut parts = None;
        let ring_by = |qp: &QpParts| {
            parts = Some(*qp);
            // SAFETY: memory of the device's UAR pages, or of the test, where nothing else stores at the same time.
            unsafe { ExclusiveRegister::from_parts(choose(qp)) }
        };
        // SAFETY: memory of the device's UAR pages, or of the test, which keeps it.
        let end = unsafe { End::<transport::Rc>::with_register(&hca, &Shape::SMALL, ring_by) }.expect("an end");
        end.connect(&end.endpoint(), &ConnectOptions::default()).expect("a connection");
        let window = hca.buffer(64).expect("memory");
        Self { end, hca, qp: parts.expect("the parts the register was made of"), window }
    }

    /// Posts one WRITE that BlueFlame takes, and calls `tamper` before the device looks. Returns the device's
    /// complaints, and whether the WRITE arrived.
    fn post(&mut self, tamper: impl FnOnce(&QpParts)) -> (Vec<Complaint>, bool) {
        let request = wqe::write(self.window.remote()).inline(MESSAGE).signaled(WrId(1));
        // SAFETY: an inline request names no memory.
        unsafe { self.end.sq.post_unchecked(&request) }.expect("room");
        tamper(&self.qp);
        self.hca.run_until_idle().expect("an end");
        (self.hca.complaints(), self.window.to_vec(..24) == MESSAGE)
    }
}

/// Changes a byte of the half that was just stored to.
fn flip(at: usize, bits: u8) -> impl Fn(&QpParts) {
    move |qp| {
        // SAFETY: `at` is below the 256 bytes of the first half.
        unsafe { *qp.bf_reg.as_ptr().add(at) ^= bits };
    }
}

#[test]
fn a_sound_doorbell_gives_no_complaint() {
    assert_eq!(Lab::new().post(|_| ()), (Vec::new(), true));
}

#[test]
fn a_doorbell_that_does_not_reach_the_device_moves_nothing() {
    #[repr(align(4096))]
    struct Page([u8; 4096]);
    let mut elsewhere = Box::new(Page([0; 4096]));
    let reg = NonNull::from(&mut elsewhere.0).cast();
    let mut lab = Lab::ringing(Device::standalone().expect("a device"), |qp| RegisterParts { reg, size: qp.bf_size });
    assert_eq!(lab.post(|_| ()), (Vec::new(), false));
    assert!(lab.end.cq.poll().is_none());
}

#[test]
fn a_copy_that_differs_from_the_ring() {
    for at in [0, 9, 20, 40, 59] {
        let (complaints, _) = Lab::new().post(flip(at, 0x40));
        let differs = |c: &Complaint| matches!(c, Complaint::CopyDiffers { at: found, .. } if *found == at);
        assert!(complaints.iter().any(differs), "byte {at}: {complaints:?}");
    }
}

#[test]
fn a_doorbell_for_another_queue_pair() {
    let (complaints, arrived) = Lab::new().post(flip(4, 0x12));
    assert!(matches!(complaints[..], [Complaint::NoSuchQp { .. }]), "{complaints:?}");
    assert!(!arrived);
}

#[test]
fn a_doorbell_on_another_page() {
    let Lab { hca, qp: other, end, .. } = Lab::new();
    let mut lab = Lab::ringing(hca, |_| register(&other));
    let expected = Complaint::WrongUar { uar: other.uar, number: lab.end.qpn().get(), expected: lab.qp.uar };
    // Nothing is sent. A NIC also checks whose page it is.
    assert_eq!(lab.post(|_| ()), (vec![expected], false));
    drop(end);
}

/// The record still says that nothing was posted.
#[test]
fn a_doorbell_before_its_record() {
    let (complaints, arrived) = Lab::new().post(|qp| {
        // SAFETY: the send queue's word of the record.
        unsafe { qp.dbrec.as_ptr().add(1).write_volatile(0) };
    });
    assert!(matches!(complaints[..], [Complaint::RecordMismatch { end: 1, record: 0, .. }]), "{complaints:?}");
    assert!(!arrived);
}
