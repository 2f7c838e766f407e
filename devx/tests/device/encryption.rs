//! Keys of encryption, and memory keys that encrypt, made by commands: AES-XTS on the wire, plain text in memory.
//!
//! Encryption belongs here, block signatures in `block_signatures.rs`.

use blueflame::transport::Rc;
use blueflame::types::WrId;
use blueflame::wqe::formats::{BlockSize, EncryptedSide, Encryption, Formats, SignatureOrder};
use blueflame::wqe::keys::KeyRights;
use blueflame::wqe::{self, Fence, Remote};
use blueflame_devx::Error;
use blueflame_devx::object::{Dek, EncryptingKey, XtsKey};

use crate::end::connected;
use crate::ground::ground;

/// Vector 4 of IEEE Std 1619-2007: the key, then the first blocks and the last of data unit 0, whose plain bytes count
/// up.
const KEY: [u8; 32] = [
    0x27, 0x18, 0x28, 0x18, 0x28, 0x45, 0x90, 0x45, 0x23, 0x53, 0x60, 0x28, 0x74, 0x71, 0x35, 0x26, //
    0x31, 0x41, 0x59, 0x26, 0x53, 0x58, 0x97, 0x93, 0x23, 0x84, 0x62, 0x64, 0x33, 0x83, 0x27, 0x95,
];
const FIRST: [u8; 16] =
    [0x27, 0xa7, 0x47, 0x9b, 0xef, 0xa1, 0xd4, 0x76, 0x48, 0x9f, 0x30, 0x8c, 0xd4, 0xcf, 0xa6, 0xe2];
const LAST: [u8; 16] = [0x0a, 0x28, 0x2d, 0xf9, 0x20, 0x14, 0x7b, 0xea, 0xbe, 0x42, 0x1e, 0xe5, 0x31, 0x9d, 0x05, 0x68];
const TAG: [u8; 8] = *b"the tag.";

#[test]
fn the_wire_has_ciphertext_and_memory_plain_text() {
    let ground = ground();
    let units = match ground.context.encryption() {
        Ok(units) => units,
        Err(error) => {
            assert!(matches!(error, Error::Capability { .. }), "{error}");
            assert_eq!(EncryptingKey::new(&ground.pd, 4).expect_err("none"), error);
            return;
        }
    };
    let dek = Dek::new(&ground.pd, &XtsKey::Aes128(KEY), Some(TAG)).expect("CREATE_GENERAL_OBJECT");
    assert_eq!(dek.is_ready(), Ok(true));
    let key = EncryptingKey::new(&ground.pd, 4).expect("CREATE_MKEY");
    let (mut a, mut b) = connected::<Rc>(&ground);
    let data: Vec<u8> = (0..512).map(|n| n as u8).collect();
    a.buffer.write(0, &data);
    let mut encryption = Encryption {
        dek: dek.number(),
        keytag: TAG,
        side: EncryptedSide::Wire,
        unit: BlockSize::B512,
        first_unit: 0,
        units,
        order: SignatureOrder::BeforeCrypto,
    };
    let rights = KeyRights::LOCAL_WRITE | KeyRights::REMOTE_READ;
    let memory = a.buffer.sge_of(0..512);
    a.post(&key.configure().rights(rights).list(&[memory]).formats(&Formats::encryption(encryption)).signaled(WrId(1)));
    assert_eq!(a.completion().1, WrId(1));

    // Sent, and read by the peer.
    let to = Remote { addr: b.buffer.addr(), rkey: b.buffer.rkey() };
    a.post(&wqe::write(to).gather([key.sge(0, 512)]).fence(Fence::Small).signaled(WrId(2)));
    assert_eq!(a.completion().1, WrId(2));
    b.post(&wqe::read(key.remote(0)).scatter([b.buffer.sge_of(1024..1536)]).signaled(WrId(3)));
    assert_eq!(b.completion().1, WrId(3));
    let found = b.bytes(1536);
    assert_eq!((&found[..16], &found[496..512]), (&FIRST[..], &LAST[..]));
    assert_eq!(found[..512], found[1024..]);

    // Back into memory.
    a.buffer.write(0, &[0; 512]);
    a.post(&wqe::read(to).scatter([key.sge(0, 512)]).signaled(WrId(4)));
    assert_eq!(a.completion().1, WrId(4));
    assert_eq!(a.bytes(512), data);

    // With another key of encryption it is something else; longer, the other length of keys.
    let mut long = [0x5a; 64];
    long[32..].fill(0xa5);
    let other = Dek::new(&ground.pd, &XtsKey::Aes256(long), None).expect("CREATE_GENERAL_OBJECT");
    (encryption.dek, encryption.keytag) = (other.number(), [0; 8]);
    a.post(&key.configure().formats(&Formats::encryption(encryption)).signaled(WrId(5)));
    assert_eq!(a.completion().1, WrId(5));
    a.post(&wqe::write(to).gather([key.sge(0, 512)]).fence(Fence::Small).signaled(WrId(6)));
    assert_eq!(a.completion().1, WrId(6));
    assert_ne!(b.bytes(16), FIRST);
}
