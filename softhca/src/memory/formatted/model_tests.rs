//! Signatures on the way through a key, against a model that has all of the data at once.

use super::signature::{CrcKind, Domain, Escape, Guard, Signature, SignatureFormat};
use super::signed::{KeyMemory, Mismatch, Signed};
use crate::memory::keys::mkey::KeyFault;
use proptest::prelude::*;
use std::cell::RefCell;

struct Bytes(RefCell<Vec<u8>>);

impl Bytes {
    fn outside<T>(&self, at: u64, len: usize) -> Result<T, KeyFault> {
        Err(KeyMemory::outside(self, at, len as u64))
    }
}

impl KeyMemory for Bytes {
    type Fault = KeyFault;

    fn bytes(&self) -> u64 {
        self.0.borrow().len() as u64
    }

    fn read(&self, at: u64, out: &mut [u8]) -> Result<(), KeyFault> {
        match self.0.borrow().get(at as usize..at as usize + out.len()) {
            Some(bytes) => {
                out.copy_from_slice(bytes);
                Ok(())
            }
            None => self.outside(at, out.len()),
        }
    }

    fn write(&self, at: u64, data: &[u8]) -> Result<(), KeyFault> {
        match self.0.borrow_mut().get_mut(at as usize..at as usize + data.len()) {
            Some(bytes) => {
                bytes.copy_from_slice(data);
                Ok(())
            }
            None => Err(KeyFault::NoSuch(1)),
        }
    }

    fn outside(&self, at: u64, len: u64) -> KeyFault {
        KeyFault::OutOfBounds { key: 1, addr: at, len, start: 0, size: 0 }
    }
}

fn signature() -> impl Strategy<Value = Signature> {
    let dif =
        (any::<bool>(), any::<u16>(), any::<u32>(), any::<bool>()).prop_map(|(crc, app_tag, ref_tag, increment)| {
            let guard = if crc { Guard::Crc } else { Guard::Checksum };
            Signature::Dif { guard, app_tag, app_mask: 0xffff, ref_tag, increment, escape: Escape::Never }
        });
    let kind = prop_oneof![Just(CrcKind::Crc32), Just(CrcKind::Crc32c), Just(CrcKind::Crc64)];
    prop_oneof![dif, kind.prop_map(Signature::Crc)]
}

fn domain() -> impl Strategy<Value = Domain> {
    let block = prop_oneof![Just(512), Just(520), Just(4048), Just(4096), Just(4160)];
    (block, signature(), any::<bool>()).prop_map(|(block, signature, ones)| Domain {
        block,
        psv: 1,
        signature,
        ones,
        begins_anew: false,
    })
}

fn format() -> impl Strategy<Value = SignatureFormat> {
    let sides = (proptest::option::of(domain()), proptest::option::of(domain()), any::<bool>());
    sides.prop_map(|(memory, wire, same)| {
        // Equal blocks on both sides, partly copied.
        let wire = if same && memory.is_some() { memory } else { wire };
        let copy = if same && memory.is_some() { 0xf0 } else { 0 };
        SignatureFormat { memory, wire, check: 0xff, copy }
    })
}

/// The data as a side has it, with a signature behind each whole block.
fn laid_out(domain: Option<Domain>, raw: &[u8]) -> Vec<u8> {
    let Some(domain) = domain else { return raw.to_vec() };
    let mut out = Vec::new();
    for (n, block) in raw.chunks(domain.block as usize).enumerate() {
        out.extend_from_slice(block);
        if block.len() == domain.block as usize {
            let number = domain.of(n as u64, block);
            out.extend_from_slice(&domain.signature.write(number)[..domain.signature.bytes() as usize]);
        }
    }
    out
}

fn no_mismatch(mismatch: Mismatch) {
    panic!("{mismatch:x?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn each_side_has_what_it_must(format in format(), raw in 1..12_000_usize, packet in 1..5000_usize, seed in any::<u64>()) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let raw: Vec<u8> = (0..raw).map(|_| rng.u8(..)).collect();
        let (in_memory, on_wire) = (laid_out(format.memory, &raw), laid_out(format.wire, &raw));
        let signed = Signed::new(format);

        let memory = Bytes(RefCell::new(in_memory.clone()));
        let mut wire = vec![0; on_wire.len()];
        for (n, part) in wire.chunks_mut(packet).enumerate() {
            signed.read(&memory, (n * packet) as u64, part, &mut no_mismatch).unwrap();
        }
        prop_assert_eq!(&wire, &on_wire);
        let bytes = in_memory.len() as u64;
        prop_assert_eq!(signed.range(&memory, 0, wire.len() as u64).unwrap(), (0, bytes));

        let memory = Bytes(RefCell::new(vec![0xa5; in_memory.len()]));
        for twice in 0..2 {
            for (n, part) in on_wire.chunks(packet).enumerate() {
                signed.write(&memory, (n * packet) as u64, part, &mut no_mismatch).unwrap();
            }
            prop_assert_eq!(&*memory.0.borrow(), &in_memory, "{}", twice);
        }
    }

    #[test]
    fn a_wrong_byte_is_told_with_its_block(domain in domain(), blocks in 1..4_usize, at in any::<prop::sample::Index>(), flip in 1..=255_u8) {
        let raw: Vec<u8> = (0..blocks * domain.block as usize).map(|n| n as u8).collect();
        let mut bytes = laid_out(Some(domain), &raw);
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        let offset = at as u64 / domain.stride() * domain.stride();
        let told = RefCell::new(Vec::new());
        let mut tell = |mismatch| told.borrow_mut().push(mismatch);

        let plain = SignatureFormat { memory: None, wire: None, check: 0xff, copy: 0 };
        let from_memory = Signed::new(SignatureFormat { memory: Some(domain), ..plain });
        let memory = Bytes(RefCell::new(bytes.clone()));
        from_memory.read(&memory, 0, &mut vec![0; raw.len()], &mut tell).unwrap();
        let from_wire = Signed::new(SignatureFormat { wire: Some(domain), ..plain });
        from_wire.write(&Bytes(RefCell::new(vec![0; raw.len()])), 0, &bytes, &mut tell).unwrap();
        let told = told.into_inner();
        prop_assert_eq!(told.len(), 2);
        for (mismatch, in_memory) in told.iter().zip([true, false]) {
            prop_assert_eq!((mismatch.offset, mismatch.in_memory), (offset, in_memory));
            prop_assert_ne!(mismatch.found, mismatch.made);
            let in_signature = (at as u64 - offset).checked_sub(domain.block.into());
            let expected = match (domain.signature, in_signature) {
                (Signature::Dif { .. }, Some(byte)) => [1 << 13, 1 << 12, 1 << 11, 1 << 11][byte as usize / 2],
                _ => 1 << 13,
            };
            prop_assert_eq!(mismatch.syndrome, expected);
        }
    }
}

/// Bytes in the copy mask are the other side's, the rest is made (libmlx5 `mlx5_umr_block_t10dif_sbs`, `copy_mask`: 0xc0
/// the guard, 0x30 the application tag, 0x0f the reference tag).
#[test]
fn bytes_of_a_signature_are_copied_or_made() {
    let side = |app_tag, ref_tag| {
        let (guard, escape) = (Guard::Crc, Escape::Never);
        let signature = Signature::Dif { guard, app_tag, app_mask: 0xffff, ref_tag, increment: false, escape };
        Domain { block: 512, psv: 1, signature, ones: false, begins_anew: false }
    };
    let (memory, wire) = (side(0x1111, 0x2222_2222), side(0x3333, 0x4444_4444));
    let raw = [5; 512];
    let guard = (memory.of(0, &raw) >> 48 << 48).to_be_bytes();
    for copy in [0, 0xc0, 0x30, 0x0f, 0xf0, 0xff] {
        let format = SignatureFormat { memory: Some(memory), wire: Some(wire), check: 0, copy };
        // The source has another guard than its data.
        for (is_write, own, other) in [(true, [0x11, 0x22], [0x33, 0x44]), (false, [0x33, 0x44], [0x11, 0x22])] {
            let signature = |guard: [u8; 2], [app, reference]: [u8; 2]| {
                [guard[0], guard[1], app, app, reference, reference, reference, reference]
            };
            let (made, found) = (signature([guard[0], guard[1]], own), signature([0xee, 0xee], other));
            let from = [&raw[..], &found].concat();
            let signed = Signed::new(format);
            let mut to = vec![0; 520];
            if is_write {
                let memory = Bytes(RefCell::new(to));
                signed.write(&memory, 0, &from, &mut no_mismatch).unwrap();
                to = memory.0.into_inner();
            } else {
                signed.read(&Bytes(RefCell::new(from)), 0, &mut to, &mut no_mismatch).unwrap();
            }
            // The highest bit of the mask is the first byte's.
            let expected: Vec<u8> = (0..8).map(|n| if copy & 0x80 >> n != 0 { found[n] } else { made[n] }).collect();
            assert_eq!(to[512..], expected, "{copy:#x}, a write: {is_write}");
        }
    }
}

#[test]
fn a_write_goes_on_or_begins_a_block() {
    let guard = Guard::Crc;
    let signature =
        Signature::Dif { guard, app_tag: 1, app_mask: 0xffff, ref_tag: 2, increment: true, escape: Escape::Never };
    let domain = Some(Domain { block: 512, psv: 1, signature, ones: false, begins_anew: false });
    let longer = Some(Domain { block: 1024, psv: 1, signature, ones: false, begins_anew: false });
    let raw: Vec<u8> = (0..2048).map(|n| n as u8).collect();
    // The last is inside of a block of one side.
    for (memory, wire, inside) in
        [(domain, None, 511), (None, domain, 512), (domain, domain, 512), (domain, longer, 512), (longer, domain, 520)]
    {
        let signed = Signed::new(SignatureFormat { memory, wire, check: 0xff, copy: 0 });
        let (in_memory, on_wire) = (laid_out(memory, &raw), laid_out(wire, &raw));
        let bytes = Bytes(RefCell::new(vec![0xa5; in_memory.len()]));
        // The second half begins a block of both sides.
        let half = on_wire.len() / 2;
        signed.write(&bytes, half as u64, &on_wire[half..], &mut no_mismatch).unwrap();
        let mut expected = in_memory.clone();
        expected[..in_memory.len() / 2].fill(0xa5);
        assert_eq!(*bytes.0.borrow(), expected);
        for at in [1, inside, half as u64 + 1] {
            assert!(signed.write(&bytes, at, &[0], &mut no_mismatch).is_err(), "{at} of {memory:?} {wire:?}");
        }
        assert_eq!(*bytes.0.borrow(), expected);
        signed.write(&bytes, 0, &on_wire[..half], &mut no_mismatch).unwrap();
        assert_eq!(*bytes.0.borrow(), in_memory);
    }
}
