//! WQEs with signatures. They equal the WQEs of a queue without signatures, except for a byte that makes the XOR of the
//! WQE 255 (rdma-core `providers/mlx5/qp.c`, `wq_sig`). In the differential tests, libmlx5 writes them.
//!
//! WQE signatures belong here, block signatures in `block_signatures.rs`.

use blueflame::queue::PostError;
use blueflame::transport::{self, Signed, Transport};
use blueflame::types::WrId;
use blueflame::wqe::operations::{Nop, Write};
use blueflame::wqe::{self, SupportedOn};
use blueflame::{SendQueue, transport::Rc};

use crate::golden::check;
use crate::requests::{LOCAL, REMOTE};
use crate::rig::{OLD, Rig, Setup};

/// Posts requests of one, two and more WQEBBs, by each way there is.
fn post<T: Transport>(sq: &mut SendQueue<T>, way: usize) -> Result<(), PostError>
where
    Nop: SupportedOn<T>,
    Write: SupportedOn<T>,
{
    let write = || wqe::write(REMOTE).signaled(WrId(1));
    let long: Vec<u8> = (0..150).collect();
    // SAFETY: no device looks.
    unsafe {
        match way {
            0 => sq.post(&wqe::nop().signaled(WrId(1))),
            1 => sq.post(&write().inline(&[7; 20])),
            2 => sq.post_unchecked(&write().gather([LOCAL])),
            3 => sq.post(&write().inline(&[9; 60])),
            4 => sq.post_unchecked(&write().gather([LOCAL; 5])),
            5 => sq.post(&write().inline_slice(&long)),
            6 => sq.post(&write().inline_slice(&long[..5])),
            7 => sq.stage(&write().inline(&[7; 20])).map(|shot| shot.ring_doorbell()),
            8 => sq.stage(&write().inline(&[9; 60])).map(|shot| shot.ring_doorbell()),
            9 => sq.stage(&write().inline_slice(&long)).map(|shot| shot.ring_doorbell()),
            10 => {
                let mut batch = sq.batch();
                batch.push(&write().inline(&[7; 20]))?;
                batch.push(&write().inline(&[9; 60]))?;
                batch.push(&write().inline_slice(&long))?;
                batch.ring_doorbell();
                Ok(())
            }
            11 => {
                let prepared = sq.prepare::<_, _, 20, 0>(&write())?;
                sq.post(&prepared.signaled_if(false, WrId(3)).inline(&[8; 20]))
            }
            12 => {
                let prepared = sq.prepare::<_, _, 150, 0>(&write())?;
                sq.post(&prepared.at(REMOTE.at(64)).inline(&[8; 150]))
            }
            _ => {
                let mut batch = sq.batch();
                batch.push_erased(&write().inline(&[7; 20]).erased())?;
                batch.push_erased(&write().inline_slice(&long).erased())?;
                batch.ring_doorbell();
                Ok(())
            }
        }
    }
}

const WAYS: usize = 14;

/// The ring, and the register's lower half, after a post at this index.
fn posted<T: Transport>(way: usize, pi: u16) -> (Vec<u8>, Vec<u8>, u16)
where
    Nop: SupportedOn<T>,
    Write: SupportedOn<T>,
{
    let rig = Rig::new(Setup { pi, ..Setup::default() });
    let mut sq = rig.queue::<T>();
    post(&mut sq, way).expect("posted");
    (rig.ring(), rig.page()[..256].to_vec(), sq.pi().0)
}

#[test]
fn every_way_signs_what_it_writes() {
    // In the middle of the ring of 8 WQEBBs, and around its end.
    for pi in [0x1232_u16, 0x1237] {
        for way in 0..WAYS {
            let (plain, register, end) = posted::<Rc>(way, pi);
            let (mut signed, signed_register, signed_end) = posted::<Signed<Rc>>(way, pi);
            assert_eq!(end, signed_end);
            let mut at = pi;
            let mut first = None;
            while at != end {
                let start = usize::from(at % 8) * 64;
                let ds = usize::from(signed[start + 7]);
                let byte = |n| signed[(start + n) % signed.len()];
                let sum = (0..ds * 16).fold(0, |sum, n| sum ^ byte(n));
                assert_eq!(sum, 0xff, "way {way}, WQE at {at:#x}");
                first.get_or_insert(byte(8));
                signed[start + 8] = 0;
                at = at.wrapping_add(ds.div_ceil(4) as u16);
            }
            assert_eq!(signed, plain, "way {way}");
            let mut copied = signed_register;
            if copied[8] != OLD {
                assert_eq!(Some(copied[8]), first, "way {way}: the register's");
                copied[8] = 0;
            }
            assert_eq!(copied, register, "way {way}");
        }
    }
}

/// Worked out by hand.
#[test]
fn bytes_of_a_nop() {
    let wqe = [[0, 0x12, 0x34, 0, 0xc0, 0xff, 0xee, 1, 0x09, 0, 0, 0, 0, 0, 0, 0]];
    check::<Signed<transport::Uc>, _, _>(wqe::nop(), &wqe, false);
    let wqe = [[0, 0x12, 0x34, 0, 0xc0, 0xff, 0xee, 1, 0x01, 0, 0, 8, 0, 0, 0, 0]];
    check::<Signed<transport::Dci>, _, _>(wqe::nop().signaled(WrId(1)), &wqe, false);
}

#[test]
fn all_but_frames_can_be_signed() {
    const {
        assert!(transport::Ud::SIGNABLE && transport::DciStreams::SIGNABLE && transport::XrcInitiator::SIGNABLE);
        assert!(!<transport::RawPacket>::SIGNABLE && !Signed::<transport::Rc>::SIGNABLE);
    }
}
