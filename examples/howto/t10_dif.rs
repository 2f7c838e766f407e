//! Signatures of blocks (T10-DIF): the device signs each block that leaves, and checks each that comes.

use blueflame::transport::Rc;
use blueflame::verbs::Device;
use blueflame::wqe::data::Data;
use blueflame::wqe::formats::{
    BlockSignature, BlockSignatureKind, BlockSize, Escape, Formats, Guard, Seed, SignedBlocks, T10Dif,
};
use blueflame::wqe::keys::KeyRights;
use blueflame::wqe::{self, Fence, Request, SupportedOn};
use blueflame::{PostError, WrId};
use blueflame_devx::Context;
use blueflame_devx::object::{Pd, SignatureKey};
use howto::{End, Failure};

const BLOCK: usize = 512;
/// Bytes of a block with its signature.
const SIGNED: usize = BLOCK + 8;
const BLOCKS: usize = 2;

/// Posts a request that names the end's buffer, by its own key or by another.
fn post<O: SupportedOn<Rc>, D: Data>(end: &mut End, request: &Request<'_, O, D>) -> Result<(), PostError> {
    // SAFETY: the buffer is registered longer than the queue lives, and this program looks at it after completions.
    unsafe { end.pair.sq.post_unchecked(request) }
}

/// The CRC of T10 SBC-3, bit by bit.
fn crc16(data: &[u8]) -> u16 {
    data.iter().fold(0, |crc, &byte| {
        (0..8).fold(crc ^ u16::from(byte) << 8, |crc, _| if crc & 1 << 15 != 0 { crc << 1 ^ 0x8bb7 } else { crc << 1 })
    })
}

fn main() -> Result<(), Failure> {
    let context = Context::over(howto::open(Device::options().devx(true))?);
    let verbs_pd = context.device().protection_domain()?;
    let (mut near, mut far) = howto::connected(&verbs_pd)?;
    let data: Vec<u8> = (0..BLOCKS * BLOCK).map(|n| (n * 31) as u8).collect();
    near.buffer.write(0, &data);

    // ANCHOR: key
    // A firmware command makes the key. Queue pairs that verbs have made in the same domain may use it.
    let pd = Pd::of_verbs(&context, &verbs_pd)?;
    let mut key = SignatureKey::new(&pd, 4)?;
    let dif = T10Dif {
        guard: Guard::Crc,
        seed: Seed::Zeros,
        app_tag: 0x1234,
        ref_tag: 100,
        increment: true,
        escape: Escape::Never,
    };
    let blocks = SignedBlocks { size: BlockSize::B512, signature: BlockSignatureKind::T10Dif(dif) };
    // Memory has plain blocks, the wire has signatures.
    let signature = BlockSignature::on_wire(blocks);
    let (memory, formats) = ([near.buffer.sge_of(0..BLOCKS * BLOCK)], Formats::signature(signature, key.psvs()));
    post(&mut near, &key.configure().rights(KeyRights::LOCAL_WRITE).list(&memory).formats(&formats))?;
    for set_psv in signature.set_psvs(key.psvs()) {
        post(&mut near, &set_psv)?;
    }
    // ANCHOR_END: key
    // ANCHOR: write
    // Lengths by the key are those on the wire. The fence waits until the key has changed.
    let by_key = key.sge(0, (BLOCKS * SIGNED) as u32);
    let write = wqe::write(far.buffer.remote()).gather([by_key]).fence(Fence::Small);
    post(&mut near, &write.signaled(WrId(1)))?;
    // ANCHOR_END: write
    near.sent()?;
    let mut signed = far.buffer.to_vec(0..BLOCKS * SIGNED);
    for ((block, tag), data) in signed.chunks(SIGNED).zip(100_u32..).zip(data.chunks(BLOCK)) {
        let guard = crc16(data).to_be_bytes();
        assert_eq!(block, [data, &guard, &[0x12, 0x34], &tag.to_be_bytes()].concat());
    }

    // A bit of the second block turns over at the peer.
    signed[SIGNED] ^= 1;
    far.buffer.write(0, &signed);
    // ANCHOR: error
    post(&mut near, &wqe::read(far.buffer.remote()).scatter([by_key]).signaled(WrId(2)))?;
    // The READ itself succeeds. A completion of its own reports the signature.
    let (mut error, mut is_done) = (None, false);
    let error = howto::until(|| {
        near.cq.try_poll_with(2, |cqe| -> Result<(), Failure> {
            match cqe.signature_error() {
                Some(found) => error = Some(found),
                None => is_done = near.pair.sq.complete(&cqe)?.wr_id == WrId(2),
            }
            Ok(())
        })?;
        Ok(error.filter(|_| is_done))
    })?;
    assert!(key.is_told(&error), "the key's own");
    // ANCHOR_END: error
    println!("{BLOCKS} blocks were signed; the device reports {:?} at byte {}", error.part(), error.offset);
    Ok(())
}
