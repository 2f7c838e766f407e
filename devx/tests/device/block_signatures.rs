//! Block signatures by keys that commands have made: on the wire, and checked on both sides.
//!
//! Block signatures belong here, WQE signatures in `wqe_signatures.rs`.

use std::time::{Duration, Instant};

use blueflame::cq::cqe::{SignatureError, SignaturePart, SignatureSide};
use blueflame::transport::Rc;
use blueflame::types::WrId;
use blueflame::wqe::formats::{BlockSignature, BlockSize, Escape, Formats, Guard, Seed};
use blueflame::wqe::formats::{BlockSignatureKind, SignedBlocks, T10Dif};
use blueflame::wqe::keys::KeyRights;
use blueflame::wqe::{self, Fence, Remote, Sge};
use blueflame_devx::Error;
use blueflame_devx::object::SignatureKey;

use crate::end::{End, connected};
use crate::ground::ground;

const DIF: T10Dif = T10Dif {
    guard: Guard::Crc,
    seed: Seed::Zeros,
    app_tag: 0x1234,
    ref_tag: 0xffff_ffff,
    increment: true,
    escape: Escape::Never,
};
const BLOCKS: SignedBlocks = SignedBlocks { size: BlockSize::B512, signature: BlockSignatureKind::T10Dif(DIF) };

/// The CRC of T10 SBC-3, bit by bit.
fn crc16(data: &[u8]) -> u16 {
    data.iter().fold(0, |crc, &byte| {
        (0..8).fold(crc ^ u16::from(byte) << 8, |crc, _| if crc & 1 << 15 != 0 { crc << 1 ^ 0x8bb7 } else { crc << 1 })
    })
}

/// Has the key be that of `data`, with signatures on the wire.
fn configure(end: &mut End<Rc>, key: &mut SignatureKey, data: Sge) {
    let signature = BlockSignature::on_wire(BLOCKS);
    let rights = KeyRights::LOCAL_WRITE | KeyRights::REMOTE_WRITE | KeyRights::REMOTE_READ;
    end.post(&key.configure().rights(rights).list(&[data]).formats(&Formats::signature(signature, key.psvs())));
    for set_psv in signature.set_psvs(key.psvs()) {
        end.post(&set_psv.signaled(WrId(9)));
    }
    assert_eq!(end.completion().1, WrId(9));
}

fn error(end: &mut End<Rc>) -> SignatureError {
    let deadline = Instant::now() + Duration::from_secs(20);
    let mut error = None;
    while error.is_none() {
        end.cq.poll_with(1, |cqe| error = cqe.signature_error());
        assert!(Instant::now() < deadline, "no error");
    }
    error.expect("told")
}

#[test]
fn the_wire_has_difs_that_memory_has_not() {
    let ground = ground();
    let mut key = match SignatureKey::new(&ground.pd, 4) {
        Ok(key) => key,
        Err(error) => return assert!(matches!(error, Error::Capability { .. }), "{error}"),
    };
    let (mut a, mut b) = connected::<Rc>(&ground);
    let data: Vec<u8> = (0..1024_u32).map(|n| (n * 31) as u8).collect();
    a.buffer.write(0, &data);
    let memory = a.buffer.sge_of(0..1024);
    configure(&mut a, &mut key, memory);

    // Sent, and read by the peer: the same.
    let to = Remote { addr: b.buffer.addr(), rkey: b.buffer.rkey() };
    a.post(&wqe::write(to).gather([key.sge(0, 1040)]).fence(Fence::Small).signaled(WrId(1)));
    assert_eq!(a.completion().1, WrId(1));
    let from = key.remote(0);
    b.post(&wqe::read(from).scatter([b.buffer.sge_of(2000..3040)]).signaled(WrId(2)));
    assert_eq!(b.completion().1, WrId(2));
    let found = b.bytes(3040);
    assert_eq!(found[..1040], found[2000..]);
    for (n, block) in found[..1040].chunks(520).enumerate() {
        let (bytes, dif) = block.split_at(512);
        assert_eq!(bytes, &data[n * 512..][..512]);
        let ref_tag = DIF.ref_tag.wrapping_add(n as u32).to_be_bytes();
        assert_eq!(dif, [&crc16(bytes).to_be_bytes()[..], &[0x12, 0x34], &ref_tag].concat());
    }

    // Written back by the peer: taken out; then with a bit of the second block turned over, which is told to this side,
    // once.
    for turned in [false, true, true] {
        let mut block = found[..1040].to_vec();
        block[600] ^= u8::from(turned);
        b.buffer.write(0, &block);
        b.post(&wqe::write(from).gather([b.buffer.sge_of(0..1040)]).signaled(WrId(3)));
        assert_eq!(b.completion().1, WrId(3));
        assert_eq!(a.bytes(1024)[512 + 80], data[512 + 80] ^ u8::from(turned));
    }
    let told = error(&mut a);
    assert_eq!((told.side, told.part(), told.offset), (SignatureSide::Wire, Some(SignaturePart::Guard), 520));
    let mut wrong = data[512..].to_vec();
    wrong[80] ^= 1;
    assert_eq!(told.values(16), Some([crc16(&data[512..]).into(), crc16(&wrong).into()]));
    assert!(a.cq.poll().is_none(), "one");
    assert!(key.is_told(&told));

    // The next one is told when the key has been configured again.
    configure(&mut a, &mut key, memory);
    let mut block = found[..1040].to_vec();
    block[519] ^= 1;
    b.buffer.write(0, &block);
    b.post(&wqe::write(from).gather([b.buffer.sge_of(0..1040)]).signaled(WrId(4)));
    assert_eq!(b.completion().1, WrId(4));
    let told = error(&mut a);
    assert_eq!((told.part(), told.offset), (Some(SignaturePart::RefTag), 0));
    assert_eq!(told.values(16), Some([0xffff_fffe, 0xffff_ffff]));
}
