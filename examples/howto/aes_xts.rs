//! Encryption (AES-XTS): memory has plain text, the wire has ciphertext.

use blueflame::transport::Rc;
use blueflame::verbs::Device;
use blueflame::wqe::data::Data;
use blueflame::wqe::formats::{BlockSize, EncryptedSide, Encryption, Formats, SignatureOrder};
use blueflame::wqe::keys::KeyRights;
use blueflame::wqe::{self, Fence, Request, SupportedOn};
use blueflame::{PostError, WrId};
use blueflame_devx::Context;
use blueflame_devx::object::{Dek, EncryptingKey, Pd, XtsKey};
use howto::{End, Failure};

/// Bytes of a data unit.
const UNIT: usize = 512;

/// Posts a request that names the end's buffer, by its own key or by another.
fn post<O: SupportedOn<Rc>, D: Data>(end: &mut End, request: &Request<'_, O, D>) -> Result<(), PostError> {
    // SAFETY: the buffer is registered longer than the queue lives, and this program looks at it after completions.
    unsafe { end.pair.sq.post_unchecked(request) }
}

fn main() -> Result<(), Failure> {
    let context = Context::over(howto::open(Device::options().devx(true))?);
    let verbs_pd = context.device().protection_domain()?;
    let (mut near, far) = howto::connected(&verbs_pd)?;
    let plain: Vec<u8> = (0..UNIT).map(|n| n as u8).collect();
    near.buffer.write(0, &plain);

    // ANCHOR: key
    let units = context.encryption()?;
    let pd = Pd::of_verbs(&context, &verbs_pd)?;
    // Two halves that differ: one for the data, one for the numbers of its units. In a program they are random.
    let secret = std::array::from_fn(|n| n as u8);
    let dek = Dek::new(&pd, &XtsKey::Aes128(secret), None)?;
    let encryption = Encryption {
        dek: dek.number(),
        keytag: [0; 8],
        side: EncryptedSide::Wire,
        unit: BlockSize::B512,
        first_unit: 0,
        units,
        order: SignatureOrder::default(),
    };
    let key = EncryptingKey::new(&pd, 4)?;
    let (memory, formats) = ([near.buffer.sge_of(0..UNIT)], Formats::encryption(encryption));
    post(&mut near, &key.configure().rights(KeyRights::LOCAL_WRITE).list(&memory).formats(&formats))?;
    // ANCHOR_END: key
    // ANCHOR: use
    // The fence waits until the key has changed.
    let by_key = key.sge(0, UNIT as u32);
    let write = wqe::write(far.buffer.remote()).gather([by_key]).fence(Fence::Small);
    post(&mut near, &write.signaled(WrId(1)))?;
    near.sent()?;
    assert_ne!(far.buffer.to_vec(0..UNIT), plain, "the peer has ciphertext");
    near.buffer.fill(0);
    post(&mut near, &wqe::read(far.buffer.remote()).scatter([by_key]).signaled(WrId(2)))?;
    near.sent()?;
    assert_eq!(near.buffer.to_vec(0..UNIT), plain);
    // ANCHOR_END: use
    println!("{UNIT} bytes were encrypted on the wire, and decrypted on their way back");
    Ok(())
}
