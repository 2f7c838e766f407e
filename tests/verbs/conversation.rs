//! The effects of two connected ends on each other's memory. Verbs make their queues here, firmware commands in
//! `devx/tests/device`, each of which has an `End` of its own.

use blueflame::cq::Side;
use blueflame::transport::Rc;
use blueflame::types::WrId;
use blueflame::wqe::atomics::Masked;
use blueflame::wqe::data::Data;
use blueflame::wqe::{self, Request, SupportedOn};

use crate::end::End;

fn bytes_at<const N: usize>(end: &End<Rc>, at: usize) -> [u8; N] {
    let mut bytes = [0; N];
    end.buffer.read(at, &mut bytes);
    bytes
}

/// Posts a request of this tag, and waits for it.
fn done<O: SupportedOn<Rc>, D: Data>(end: &mut End<Rc>, request: &Request<'_, O, D>, tag: u64) {
    end.post(request);
    assert_eq!(end.completion().1, WrId(tag));
}

/// SEND, WRITE, READ and an atomic.
pub(crate) fn messages(a: &mut End<Rc>, b: &mut End<Rc>) {
    const BYTES: usize = 5000;
    let message: [u8; BYTES] = std::array::from_fn(|i| (i * 7) as u8);
    b.post_receive(1);
    a.buffer.write(0, &message);
    let sge = a.buffer.sge_of(0..BYTES);
    a.post(&wqe::send().gather([sge]).signaled(WrId(2)));
    assert_eq!(b.completion(), (Side::Responder, WrId(1), BYTES as u32));
    assert_eq!(a.completion().1, WrId(2));
    assert_eq!(bytes_at::<BYTES>(b, 0), message);

    let to = b.buffer.remote();
    done(a, &wqe::write(to.at(8)).inline(b"inline").signaled(WrId(3)), 3);
    assert_eq!(&bytes_at(b, 8), b"inline");

    a.buffer.fill(0);
    done(a, &wqe::read(to).scatter([sge]).signaled(WrId(4)), 4);
    assert_eq!(bytes_at::<BYTES>(a, 0), bytes_at(b, 0));

    b.buffer.write(64, &41_u64.to_ne_bytes());
    done(a, &wqe::fetch_add(to.at(64), 1).result(sge.addr, sge.lkey).signaled(WrId(5)), 5);
    assert_eq!((bytes_at(a, 0), bytes_at(b, 64)), (41_u64.to_ne_bytes(), 42_u64.to_ne_bytes()));
}

/// The old value of 4 bytes comes in network order, and the bytes beside them stay.
pub(crate) fn masked_atomics(a: &mut End<Rc>, b: &mut End<Rc>) {
    b.buffer.write(64, &[0x1122_3344_u32, 0x5566_7788].map(u32::to_ne_bytes).concat());
    b.buffer.write(72, &0xffff_0001_ffff_8000_u64.to_ne_bytes());
    let (to, result, lkey) = (b.buffer.remote().at(64), a.buffer.addr(), a.buffer.lkey());
    let compare = Masked { value: 0x88_u32, mask: 0xff };
    let swap = Masked { value: 0xaabb_ccdd_u32, mask: 0x00ff_ff00 };
    done(a, &wqe::masked_compare_swap(to.at(4), compare, swap).result(result, lkey).signaled(WrId(1)), 1);
    assert_eq!(bytes_at(a, 0), 0x5566_7788_u32.to_be_bytes());
    assert_eq!(bytes_at::<8>(b, 64)[..], [0x1122_3344_u32, 0x55bb_cc88].map(u32::to_ne_bytes).concat());
    let fields = wqe::masked_fetch_add(to.at(8), 0x0001_0001_0001_8000_u64, 0x8000_8000_8000_8000);
    done(a, &fields.result(result, lkey).signaled(WrId(2)), 2);
    assert_eq!(bytes_at(a, 0), 0xffff_0001_ffff_8000_u64.to_ne_bytes());
    assert_eq!(bytes_at(b, 72), 0x0000_0002_0000_0000_u64.to_ne_bytes());
    let (all, one) = (Masked::all(0x0000_0002_0000_0000_u64), Masked::all(1));
    done(a, &wqe::masked_compare_swap(to.at(8), all, one).result(result, lkey).signaled(WrId(3)), 3);
    assert_eq!((bytes_at(a, 0), bytes_at(b, 72)), (all.value.to_ne_bytes(), 1_u64.to_ne_bytes()));
    done(a, &wqe::masked_fetch_add(to, 0x1122_3345_u32, u32::MAX).result(result, lkey).signaled(WrId(4)), 4);
    assert_eq!(bytes_at(a, 0), 0x1122_3344_u32.to_be_bytes());
    assert_eq!(bytes_at(b, 64), 1_u32.to_ne_bytes(), "an exclusive or");
}

/// Of 16 bytes, against a model on numbers: the bits one after the other. The old value comes in network order.
pub(crate) fn large_masked_atomics(a: &mut End<Rc>, b: &mut End<Rc>) {
    const ROUNDS: u64 = 300;
    let around = [0xa5; 48];
    b.buffer.write(0, &around);
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    // SplitMix64.
    let mut half = || {
        seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (seed ^ seed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        u128::from(mixed ^ mixed >> 31)
    };
    let mut random = || half() << 64 | half();
    let mut there = u128::from_ne_bytes([0xa5; 16]);
    let mut swapped = 0;
    let place = b.buffer.remote().at(16);
    for round in 0..ROUNDS {
        let [value, mask, compared] = [random(), random(), random()];
        let (result, lkey) = (a.buffer.addr(), a.buffer.lkey());
        let found = there;
        if round % 2 == 0 {
            // Fields of all lengths, most of them short; all of them at most 64 bits.
            let boundary = mask & random() | 1 << 63;
            done(a, &wqe::masked_fetch_add(place, value, boundary).result(result, lkey).signaled(WrId(round)), round);
            let mut carry = false;
            for bit in (0..128).map(|bit| 1_u128 << bit) {
                let ones = u8::from(there & bit != 0) + u8::from(value & bit != 0) + u8::from(carry);
                there = if ones & 1 == 0 { there & !bit } else { there | bit };
                carry = ones > 1 && boundary & bit == 0;
            }
        } else {
            // Every other one finds the value that it compares with. Some of the others miss it by one bit of either
            // half.
            let miss = if round % 4 == 1 { 0 } else { 1 << (round % 128) };
            let compare = Masked { value: (there & compared | value & !compared) ^ miss, mask: compared };
            let swap = Masked { value, mask };
            done(a, &wqe::masked_compare_swap(place, compare, swap).result(result, lkey).signaled(WrId(round)), round);
            let matches = (0..128).all(|bit| compared >> bit & 1 == 0 || compare.value >> bit & 1 == there >> bit & 1);
            if matches {
                swapped += 1;
                there =
                    (0..128).fold(0, |word, bit| word | (if mask >> bit & 1 == 1 { value } else { there }) & 1 << bit);
            }
        }
        assert_eq!(bytes_at(a, 0), found.to_be_bytes(), "round {round}");
        assert_eq!(bytes_at(b, 16), there.to_ne_bytes(), "round {round}");
    }
    assert!(
        (ROUNDS / 4..ROUNDS / 2).contains(&swapped),
        "{swapped} comparisons of {} found what they asked for",
        ROUNDS / 2
    );
    let bytes: [u8; 48] = bytes_at(b, 0);
    assert_eq!((&bytes[..16], &bytes[32..]), (&around[..16], &around[..16]), "what lies beside stays");
}
