//! Connections of the port to itself: each operation of RC and UC, with the data compared.

use blueflame::memory_polling::InOrder;
use blueflame::transport::{Rc, Uc};
use blueflame::verbs::VerbsTransport;
use blueflame::wqe::Fence;
use blueflame::wqe::operations::{Send, SendImm, Write, WriteImm};
use blueflame::{WrId, wqe};

use super::check::Check;
use super::found::{Failure, Seen, ensure, same};
use super::lab::{End, Lab, connected, connected_by, pattern};
use crate::need::Need;

pub(crate) const CHECKS: &[Check] = &[
    Check {
        id: "loopback.rc",
        title: "RC: SEND, WRITE, both with immediate data, READ",
        fault: "Basic traffic fails: the address (GID, LID), the kernel's log, or a defect of this crate. \
                `ibv_rc_pingpong` on this machine tells which.",
        needs: &[Need::Link, Need::Address],
        run: rc,
    },
    Check {
        id: "loopback.atomics",
        title: "RC: compare-and-swap and fetch-and-add",
        fault: "Atomics return other values than the memory had: perhaps in the other byte order.",
        needs: &[Need::Link, Need::Address, Need::Atomics],
        run: atomics,
    },
    Check {
        id: "loopback.uc",
        title: "UC: SEND and WRITE, both with immediate data",
        fault: "As loopback.rc. If only this fails, UC is at fault.",
        needs: &[Need::Link, Need::Address],
        run: uc,
    },
    Check {
        id: "loopback.in_order",
        title: "WRITEs are whole when their last byte is visible, if the device promises it",
        fault: "The device breaks the order of visible bytes that it promises: wait for completions instead of polling \
                memory. Or a completed WRITE is not whole.",
        needs: &[Need::Link, Need::Address],
        run: in_order,
    },
    Check {
        id: "loopback.large",
        title: "RC: a WRITE and a READ of 1 MiB, in many packets",
        fault: "Long messages are cut or mixed up: the path MTU, or translation of memory.",
        needs: &[Need::Link, Need::Address],
        run: large,
    },
    Check {
        id: "loopback.second_port",
        title: "RC and UC over the other port, and an RC queue pair of each port at work by turns",
        fault: "The other port fails where the first works: its address (GID, LID), its cable, or the port number of \
                queue pairs. `--port` examines it alone.",
        needs: &[Need::Link, Need::Address, Need::SecondPort],
        run: second_port,
    },
];

/// SEND and WRITE, inline and gathered, with and without immediate data.
fn messages<T>(lab: &Lab, near: &mut End<T>, far: &mut End<T>) -> Result<(), Failure>
where
    T: VerbsTransport,
    Send: wqe::SupportedOn<T>,
    SendImm: wqe::SupportedOn<T>,
    Write: wqe::SupportedOn<T>,
    WriteImm: wqe::SupportedOn<T>,
{
    // Of one packet, and of several.
    for (round, bytes) in [1_usize, 28, 100, 5000].into_iter().enumerate() {
        let (round, data) = (round as u32, pattern(bytes as u32, bytes));
        let (from, to) = (0, 16384);
        near.memory.write(from, &data);
        let sges = [near.memory.sge_of(from..from + bytes)];
        let arrived = |end: &End<T>| end.memory.to_vec(to..to + bytes);

        far.receive(WrId(1), to..to + 8192)?;
        near.run(lab, "a SEND", &wqe::send().gather(sges).signaled(WrId(10)))?;
        let (wr_id, len, imm) = far.received(lab, "the receive of a SEND")?;
        let expected = (WrId(1), bytes, None);
        ensure((wr_id, len, imm) == expected, || format!("received {:?}, not {expected:?}", (wr_id, len, imm)))?;
        same("a SEND", &data, &arrived(far))?;

        far.memory.fill(0);
        far.receive(WrId(2), to..to + 8192)?;
        near.run(lab, "a SEND", &wqe::send().gather(sges).imm(0x1234_5678 + round).signaled(WrId(11)))?;
        let (_, len, imm) = far.received(lab, "the receive of a SEND with immediate data")?;
        ensure((len, imm) == (bytes, Some(0x1234_5678 + round)), || format!("received {len} bytes, {imm:x?}"))?;
        same("a SEND with immediate data", &data, &arrived(far))?;

        far.memory.fill(0);
        let place = far.memory.remote().at(to as u64);
        near.run(lab, "a WRITE", &wqe::write(place).gather(sges).signaled(WrId(12)))?;
        // Of unreliable transports, a completion says only that the request has left.
        far.receive(WrId(3), 0..0)?;
        near.run(lab, "a WRITE", &wqe::write(place).gather(sges).imm(7).signaled(WrId(13)))?;
        let (_, _, imm) = far.received(lab, "the receive of a WRITE with immediate data")?;
        ensure(imm == Some(7), || format!("immediate data {imm:x?}, not 7"))?;
        same("a WRITE", &data, &arrived(far))?;

        if bytes <= 100 {
            far.memory.fill(0);
            far.receive(WrId(4), to..to + 8192)?;
            near.run(lab, "a SEND", &wqe::send().inline_slice(&data[..]).signaled(WrId(14)))?;
            far.received(lab, "the receive of an inline SEND")?;
            same("an inline SEND", &data, &arrived(far))?;
        }
    }
    Ok(())
}

fn rc(lab: &Lab) -> Result<Seen, Failure> {
    let (mut near, mut far) = connected::<Rc>(lab)?;
    messages(lab, &mut near, &mut far)?;
    messages(lab, &mut far, &mut near)?;
    // READ, scattered to two places, and a fence behind it.
    let data = pattern(99, 3000);
    far.memory.write(100, &data);
    let pieces = [near.memory.sge_of(8192..9192), near.memory.sge_of(12288..14288)];
    near.run(lab, "a READ", &wqe::read(far.memory.remote().at(100)).scatter(pieces).signaled(WrId(20)))?;
    let arrived = [near.memory.to_vec(8192..9192), near.memory.to_vec(12288..14288)].concat();
    same("a READ", &data, &arrived)?;
    let back = near.memory.sge_of(8192..9192);
    let to = far.memory.remote().at(32768);
    near.post(&wqe::read(far.memory.remote().at(0)).scatter([back]))?;
    near.run(lab, "a WRITE", &wqe::write(to).gather([back]).fence(Fence::SmallAndReads).signaled(WrId(21)))?;
    same("a fenced WRITE", &far.memory.to_vec(0..1000), &far.memory.to_vec(32768..33768))?;
    Ok(Seen::new("38 messages of 1 to 5000 bytes, both ways; READs to two places, and a WRITE behind a fence"))
}

fn uc(lab: &Lab) -> Result<Seen, Failure> {
    let (mut near, mut far) = connected::<Uc>(lab)?;
    messages(lab, &mut near, &mut far)?;
    Ok(Seen::new("19 messages of 1 to 5000 bytes"))
}

fn atomics(lab: &Lab) -> Result<Seen, Failure> {
    let (mut near, mut far) = connected::<Rc>(lab)?;
    far.memory.write(0, &1000_u64.to_ne_bytes());
    let (place, result) = (far.memory.remote(), near.memory.addr() + 64);
    let key = near.memory.lkey();
    let mut value = 1000_u64;
    for step in 0..20_u64 {
        let found = |end: &End| u64::from_ne_bytes(end.memory.to_vec(64..72).try_into().unwrap_or_default());
        near.run(lab, "a fetch-and-add", &wqe::fetch_add(place, step).result(result, key).signaled(WrId(step)))?;
        ensure(found(&near) == value, || format!("fetched {:#x}, not {value:#x}", found(&near)))?;
        value += step;
        let swap = value ^ 0xffff_0000_0000_ffff;
        let request = wqe::compare_swap(place, value, swap).result(result, key).signaled(WrId(step));
        near.run(lab, "a compare-and-swap", &request)?;
        ensure(found(&near) == value, || format!("compared with {:#x}, not {value:#x}", found(&near)))?;
        value = swap;
        // Not equal: nothing changes.
        let request = wqe::compare_swap(place, !value, 0).result(result, key).signaled(WrId(step));
        near.run(lab, "a compare-and-swap", &request)?;
        ensure(found(&near) == value, || format!("compared with {:#x}, not {value:#x}", found(&near)))?;
    }
    same("the word", &value.to_ne_bytes(), &far.memory.to_vec(0..8))?;
    Ok(Seen::new("60 atomics, whose results are those of this CPU's order of bytes"))
}

fn in_order(lab: &Lab) -> Result<Seen, Failure> {
    const ROUNDS: u32 = 500;
    const BYTES: usize = 4000;
    let (mut near, far) = connected::<Rc>(lab)?;
    let promised = lab.subject.in_order.is_ok();
    let mut early = 0;
    for round in 0..ROUNDS {
        let mut data = pattern(round, BYTES);
        // Another flag than in the round before.
        let flag = 1 + (round % 255) as u8;
        data[BYTES - 1] = flag;
        near.memory.write(0, &data);
        let from = near.memory.sge_of(0..BYTES);
        near.post(&wqe::write(far.memory.remote()).gather([from]).signaled(WrId(1)))?;
        // This check counts how often it holds.
        let place = far.memory.polled(0..BYTES, InOrder::assumed());
        lab.until("the last byte of a WRITE", || Ok(place.arrived(flag).then_some(())))?;
        let mut arrived = vec![0; BYTES - 1];
        place.read(0, &mut arrived)?;
        let is_whole = same("a WRITE whose last byte is visible", &data[..BYTES - 1], &arrived);
        if promised {
            is_whole?;
        } else {
            early += u32::from(is_whole.is_err());
        }
        near.sent(lab, "a WRITE")?;
        same("a completed WRITE", &data, &far.memory.to_vec(0..BYTES))?;
    }
    let seen = Seen::new("500 WRITEs of 4000 bytes; an early last byte counts as a fault if the device promises order");
    Ok(seen.figure("order is promised", promised).figure("last bytes that were early", early))
}

fn large(lab: &Lab) -> Result<Seen, Failure> {
    const BYTES: usize = 1 << 20;
    let (mut near, mut far) = connected::<Rc>(lab)?;
    (near.memory, far.memory) = (lab.memory(BYTES)?, lab.memory(BYTES)?);
    let data = pattern(7, BYTES);
    near.memory.write(0, &data);
    let (from, place) = (near.memory.sge(), far.memory.remote());
    near.run(lab, "a WRITE", &wqe::write(place).gather([from]).signaled(WrId(1)))?;
    same("a WRITE of 1 MiB", &data, &far.memory.to_vec(0..BYTES))?;
    near.memory.fill(0);
    near.run(lab, "a READ", &wqe::read(place).scatter([from]).signaled(WrId(2)))?;
    same("a READ of 1 MiB", &data, &near.memory.to_vec(0..BYTES))?;
    Ok(Seen::new("1 MiB written, and read back"))
}

fn second_port(lab: &Lab) -> Result<Seen, Failure> {
    let second = lab.subject.second.clone()?;
    let of_second = |error: Failure| format!("port {}: {error}", second.port.number);
    let (mut near, mut far) = connected_by::<Rc>(lab, &second)?;
    messages(lab, &mut near, &mut far).map_err(of_second)?;
    let (mut first, mut first_far) = connected::<Rc>(lab)?;
    for round in 0..20 {
        let data = pattern(round, 64);
        let ends = [(&mut first, &mut first_far, lab.subject.port.number), (&mut near, &mut far, second.port.number)];
        for (from, to, port) in ends {
            let place = to.memory.remote().at(64);
            from.run(lab, "a WRITE", &wqe::write(place).inline_slice(&data[..]).signaled(WrId(1)))?;
            same(&format!("a WRITE over port {port}"), &data, &to.memory.to_vec(64..128))?;
        }
    }
    let (mut near, mut far) = connected_by::<Uc>(lab, &second)?;
    messages(lab, &mut near, &mut far).map_err(of_second)?;
    Ok(Seen::new("38 messages of 1 to 5000 bytes over the other port; 40 WRITEs over both by turns")
        .figure("the other port", second.port.number))
}
