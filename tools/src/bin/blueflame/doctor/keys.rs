//! Memory keys that requests change, and copies by the device.

use blueflame::transport::Rc;
use blueflame::verbs::memory::{Prefetch, WindowType};
use blueflame::verbs::{Access, Pool};
use blueflame::wqe::formats::{
    BlockSignature, BlockSignatureKind, BlockSize, EncryptedSide, Encryption, Escape, Formats, Guard, Seed,
    SignatureOrder, SignedBlocks, T10Dif,
};
use blueflame::wqe::keys::{KeyRights, WindowRights};
use blueflame::wqe::{self, Fence};
use blueflame::{Remote, WrId};
use blueflame_devx::object::{Dek, EncryptingKey, Pd, SignatureKey, XtsKey};

use super::check::Check;
use super::found::{Failure, Seen, ensure, same};
use super::lab::{End, Lab, ROOM, connect, connected, geometry, memory, pattern, queues};
use crate::need::Need;

pub(crate) const CHECKS: &[Check] = &[
    Check {
        id: "keys.window_2",
        title: "memory windows of type 2: lent, used, and taken back",
        fault: "Binding or invalidating a window fails, or the peer still reaches what was taken back.",
        needs: &[Need::Link, Need::Address, Need::WindowsOfType2],
        run: |lab| window(lab, WindowType::Type2),
    },
    Check {
        id: "keys.window_1",
        title: "memory windows of type 1: lent, used, and taken back",
        fault: "As keys.window_2.",
        needs: &[Need::Link, Need::Address, Need::WindowsOfType1],
        run: |lab| window(lab, WindowType::Type1),
    },
    Check {
        id: "keys.indirect",
        title: "an indirect key (UMR) makes one region of four pieces",
        fault: "Configuring the key fails, or pieces are read in another order: see the error's syndrome.",
        needs: &[Need::Link, Need::Address],
        run: indirect,
    },
    Check {
        id: "keys.on_demand",
        title: "memory that is paged in on demand, prefetched and by a fault",
        fault: "Page faults of the device are not served: the kernel's log tells more.",
        needs: &[Need::Link, Need::Address, Need::OnDemand],
        run: on_demand,
    },
    Check {
        id: "keys.copy",
        title: "the device copies memory (MMO)",
        fault: "Copies fail or go elsewhere. Use other means to copy, and report it.",
        needs: &[Need::Link, Need::Address, Need::Copies],
        run: copy,
    },
    Check {
        id: "keys.signature",
        title: "block signatures: T10-DIF is added on the wire, and a wrong block is reported",
        fault: "Signatures are wrong, or wrong blocks pass: do not rely on the device's.",
        needs: &[Need::Link, Need::Address, Need::Devx, Need::BlockSignatures],
        run: signature,
    },
    Check {
        id: "keys.encryption",
        title: "AES-XTS: memory is encrypted on the wire, and decrypted on its way back",
        fault: "The key could not be made, or the data is not encrypted: the firmware may want credentials first.",
        needs: &[Need::Link, Need::Address, Need::Devx, Need::Encryption],
        run: encryption,
    },
];

const PAGE: usize = 4096;

fn window(lab: &Lab, kind: WindowType) -> Result<Seen, Failure> {
    let (mut near, mut far) = connected::<Rc>(lab)?;
    let page = Pool::new(lab.pd(), PAGE, Access::LOCAL_WRITE | Access::MW_BIND)?.take(PAGE)?;
    let mut window = lab.pd().memory_window(kind)?;
    let mut place = Remote { addr: 0, rkey: window.rkey() };
    for round in 0..10_u32 {
        let at = 64 * (1 + round as usize);
        let bind = window.bind(far.pair.qp.qpn(), &page, at..at + 64, WindowRights::WRITE)?;
        far.run(lab, "the binding of a window", &bind.signaled(WrId(1)))?;
        place = Remote { addr: page.addr() + at as u64, rkey: window.rkey() };
        let data = pattern(round, 60);
        near.run(lab, "a WRITE by the window", &wqe::write(place).inline_slice(&data[..]).signaled(WrId(2)))?;
        same("a WRITE by the window", &data, &page.to_vec(at..at + 60))?;
        far.run(lab, "the end of a window", &window.take_back().signaled(WrId(3)))?;
    }
    near.post(&wqe::write(place).inline(b"too late").signaled(WrId(4)))?;
    let error = near.send_error(lab, "a WRITE by a window that was taken back")?;
    Ok(Seen::new("ten windows of 64 bytes; a WRITE after the last was refused").figure("refused with", error))
}

fn indirect(lab: &Lab) -> Result<Seen, Failure> {
    const PIECE: usize = 100;
    let (mut near, mut far) = connected::<Rc>(lab)?;
    let data = pattern(5, 4 * PIECE);
    // In reverse.
    let places = [3, 2, 1, 0].map(|n| n * PAGE + 8);
    for (piece, at) in data.chunks(PIECE).zip(places) {
        far.memory.write(at, piece);
    }
    let key = lab.pd().indirect_key(4)?;
    let pieces = places.map(|at| far.memory.sge_of(at..at + PIECE));
    let configure = key.configure().rights(KeyRights::REMOTE_READ).list(&pieces);
    far.run(lab, "the configuration of a key", &configure.signaled(WrId(1)))?;
    let place = near.memory.sge_of(0..4 * PIECE);
    near.run(lab, "a READ by the key", &wqe::read(key.remote(0)).scatter([place]).signaled(WrId(2)))?;
    same("a READ by the key", &data, &near.memory.to_vec(0..4 * PIECE))?;
    Ok(Seen::new("four pieces, in another order than in memory, were read as one region"))
}

fn on_demand(lab: &Lab) -> Result<Seen, Failure> {
    const BYTES: usize = 256 << 20;
    let (mut near, _far) = connected::<Rc>(lab)?;
    let memory = Pool::new(lab.pd(), BYTES, Access::ALL | Access::ON_DEMAND)?.take(BYTES)?;
    memory.prefetch(0..16 * PAGE, Prefetch::Write, true)?;
    for (round, at) in [PAGE, BYTES / 2, BYTES - PAGE].into_iter().enumerate() {
        let data = pattern(round as u32, 64);
        let place = memory.remote().at(at as u64);
        near.run(lab, "a WRITE", &wqe::write(place).inline_slice(&data[..]).signaled(WrId(1)))?;
        same("a WRITE", &data, &memory.to_vec(at..at + 64))?;
    }
    Ok(Seen::new("written to a prefetched page, and to two that came by faults"))
}

fn copy(lab: &Lab) -> Result<Seen, Failure> {
    let [sent, received] = queues(lab)?;
    let pair = geometry(lab.pd().queue_pair::<Rc>(&sent, &received)).memcpy(true).build()?;
    let mut near = End { pair, sent, received, memory: lab.memory(ROOM)? };
    let mut far = End::<Rc>::new(lab)?;
    connect(&lab.path()?, &mut near.pair, &mut far.pair)?;
    let copier = lab.pd().copier()?;
    for (round, bytes) in [1, 63, 4100, 20_000].into_iter().enumerate() {
        let data = pattern(round as u32, bytes);
        near.memory.write(3, &data);
        let (from, to) = (near.memory.sge_of(3..3 + bytes), near.memory.addr() + 32_768);
        let request = copier.copy(from, to, near.memory.lkey());
        near.run(lab, "a copy", &request.signaled(WrId(1)))?;
        same("a copy", &data, &near.memory.to_vec(32_768..32_768 + bytes))?;
    }
    Ok(Seen::new("copies of 1 to 20,000 bytes").figure("at most", copier.max_bytes()))
}

/// Two connected ends on the context that was opened for firmware commands.
fn devx_ends(lab: &Lab) -> Result<(Pd, End, End), Failure> {
    let context = lab.devx()?;
    let verbs_pd = context.device().protection_domain()?;
    let end = || -> Result<End, Failure> {
        let cq = || context.device().completion_queue(128).build();
        let (sent, received) = (cq()?, cq()?);
        let pair = geometry(verbs_pd.queue_pair::<Rc>(&sent, &received)).build()?;
        Ok(End { pair, sent, received, memory: memory(&verbs_pd, ROOM)? })
    };
    let (mut near, mut far) = (end()?, end()?);
    connect(&lab.path()?, &mut near.pair, &mut far.pair)?;
    Ok((Pd::of_verbs(context, &verbs_pd)?, near, far))
}

/// The CRC of T10 SBC-3, bit by bit.
fn crc16(data: &[u8]) -> u16 {
    data.iter().fold(0, |crc, &byte| {
        (0..8).fold(crc ^ u16::from(byte) << 8, |crc, _| if crc & 1 << 15 != 0 { crc << 1 ^ 0x8bb7 } else { crc << 1 })
    })
}

fn signature(lab: &Lab) -> Result<Seen, Failure> {
    const BLOCK: usize = 512;
    const SIGNED: usize = BLOCK + 8;
    const BLOCKS: usize = 4;
    let (pd, mut near, mut far) = devx_ends(lab)?;
    let data = pattern(3, BLOCKS * BLOCK);
    near.memory.write(0, &data);
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
    let signature = BlockSignature::on_wire(blocks);
    let (memory, formats) = ([near.memory.sge_of(0..BLOCKS * BLOCK)], Formats::signature(signature, key.psvs()));
    near.post(&key.configure().rights(KeyRights::LOCAL_WRITE).list(&memory).formats(&formats))?;
    for set_psv in signature.set_psvs(key.psvs()) {
        near.post(&set_psv)?;
    }
    let by_key = key.sge(0, (BLOCKS * SIGNED) as u32);
    let write = wqe::write(far.memory.remote()).gather([by_key]).fence(Fence::Small);
    near.run(lab, "a WRITE by the key", &write.signaled(WrId(1)))?;
    let mut signed = far.memory.to_vec(0..BLOCKS * SIGNED);
    for ((block, tag), data) in signed.chunks(SIGNED).zip(100_u32..).zip(data.chunks(BLOCK)) {
        let guard = crc16(data).to_be_bytes();
        same("a signed block", &[data, &guard, &[0x12, 0x34], &tag.to_be_bytes()].concat(), block)?;
    }
    // A bit of the second block turns over at the peer.
    signed[SIGNED + 9] ^= 1;
    far.memory.write(0, &signed);
    near.post(&wqe::read(far.memory.remote()).scatter([by_key]).signaled(WrId(2)))?;
    let (mut error, mut is_done) = (None, false);
    let End { pair, sent, .. } = &mut near;
    let error = lab.until("the report of a wrong block", || {
        sent.try_poll_with(2, |cqe| -> Result<(), Failure> {
            match cqe.signature_error() {
                Some(found) => error = Some(found),
                None => is_done = pair.sq.complete(&cqe)?.wr_id == WrId(2),
            }
            Ok(())
        })?;
        Ok(error.filter(|_| is_done))
    })?;
    ensure(key.is_told(&error), || "the report is of another key".into())?;
    Ok(Seen::new("four blocks signed; the one with a wrong bit reported")
        .figure("report", format!("{:?} at byte {}", error.part(), error.offset)))
}

fn encryption(lab: &Lab) -> Result<Seen, Failure> {
    const UNIT: usize = 512;
    let (pd, mut near, far) = devx_ends(lab)?;
    let plain = pattern(4, UNIT);
    near.memory.write(0, &plain);
    // Two halves that differ: one for the data, one for the numbers of its units.
    let dek = Dek::new(&pd, &XtsKey::Aes128(std::array::from_fn(|n| n as u8)), None)?;
    let encryption = Encryption {
        dek: dek.number(),
        keytag: [0; 8],
        side: EncryptedSide::Wire,
        unit: BlockSize::B512,
        first_unit: 0,
        units: lab.devx()?.encryption()?,
        order: SignatureOrder::default(),
    };
    let key = EncryptingKey::new(&pd, 4)?;
    let (memory, formats) = ([near.memory.sge_of(0..UNIT)], Formats::encryption(encryption));
    near.post(&key.configure().rights(KeyRights::LOCAL_WRITE).list(&memory).formats(&formats))?;
    let by_key = key.sge(0, UNIT as u32);
    let write = wqe::write(far.memory.remote()).gather([by_key]).fence(Fence::Small);
    near.run(lab, "a WRITE by the key", &write.signaled(WrId(1)))?;
    let cipher = far.memory.to_vec(0..UNIT);
    ensure(cipher.iter().zip(&plain).filter(|(a, b)| a == b).count() < UNIT / 8, || "the wire had plain text".into())?;
    near.memory.fill(0);
    near.run(lab, "a READ by the key", &wqe::read(far.memory.remote()).scatter([by_key]).signaled(WrId(2)))?;
    same("the decrypted unit", &plain, &near.memory.to_vec(0..UNIT))?;
    Ok(Seen::new("a unit of 512 bytes was ciphertext at the peer, and plain text again at home"))
}
