//! General objects: keys of encryption (DEK), in plain text, and reserved numbers of queue pairs. There are no general
//! objects of other kinds.

use crate::crypto::{self, DekInfo, KeySize};
use crate::error::Object;
use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::capabilities::{DEK_TYPE, RESERVED_QPN_TYPE};
use crate::firmware::layout::{View, ViewMut, layout};
use crate::firmware::status::{Refusal, Status};

layout! {
    /// Header of each mailbox. The kind is the command's modifier; the body follows.
    struct general_obj_in_cmd_hdr: 0x10 bytes {
        OPCODE: 0x0, 16;
        UID: 0x10, 16;
        OBJ_TYPE: 0x30, 16;
        OBJ_ID: 0x40, 32;
        LOG_OBJ_RANGE: 0x63, 5;
    } list of 4 bytes
    struct general_obj_out_cmd_hdr: answer { OBJ_ID: 0x40, 32; }
    /// A key of encryption; the key itself is in the bytes of [`KEY`]. It ends as libmlx5's does.
    struct encryption_key_obj: 0x100 bytes {
        STATE: 0x40, 8;
        KEY_SIZE: 0x54, 4;
        HAS_KEYTAG: 0x58, 1;
        KEY_PURPOSE: 0x5c, 4;
        PD: 0x68, 24;
        OPAQUE: 0x180, 64;
    }
    /// Output of `QUERY_GENERAL_OBJECT` for an encryption key: all but the key itself.
    struct query_encryption_key_obj_out: 0x110 bytes {} parts {
        HDR: 0x0, general_obj_out_cmd_hdr;
        OBJ: 0x80, encryption_key_obj;
    }
}

/// Where the key is: both halves, and a tag behind them if there is one (rdma-core `providers/mlx5/mlx5_ifc.h`,
/// `mlx5_ifc_encryption_key_obj_bits`; man page `mlx5dv_dek_create`).
const KEY: std::ops::Range<usize> = 0x40..0xc0;
/// Bytes of the same in Linux' header, where a key that software has wrapped follows (`sw_wrapped_dek`).
const LINUX_BYTES: usize = 0x200;
/// Keys are for AES-XTS.
const AES_XTS: u64 = 3;

pub(super) const COMMANDS: &[Command] = &[
    command!(0xa00, "CREATE_GENERAL_OBJECT", general_obj_in_cmd_hdr, general_obj_out_cmd_hdr, create).with_modifiers(),
    command!(0xa02, "QUERY_GENERAL_OBJECT", general_obj_in_cmd_hdr, query_encryption_key_obj_out, query)
        .with_modifiers()
        .with_least_room(general_obj_out_cmd_hdr::LAYOUT.bytes),
    command!(0xa03, "DESTROY_GENERAL_OBJECT", general_obj_in_cmd_hdr, bare_out, destroy).with_modifiers(),
];

/// The kind of object; refuses unknown kinds.
fn kind(call: &Call<'_>) -> Result<Object, Refusal> {
    match call.op_mod {
        DEK_TYPE if crypto::is_there(call.device.config().generation) => Ok(Object::Dek),
        RESERVED_QPN_TYPE => Ok(Object::ReservedQpns),
        other => Err(Refusal::parameter(format!("general objects of kind {other:#x}"))),
    }
}

/// The object that a mailbox without a body names.
fn named(call: &Call<'_>) -> Result<u32, Refusal> {
    check_one(call)?;
    if body(call).iter().any(|&byte| byte != 0) {
        return Err(Refusal::new(Status::BadInputLength, "something follows the input"));
    }
    Ok(call.input.get32(general_obj_in_cmd_hdr::OBJ_ID))
}

/// Refuses a mailbox about several objects at once.
fn check_one(call: &Call<'_>) -> Result<(), Refusal> {
    match call.input.get(general_obj_in_cmd_hdr::LOG_OBJ_RANGE) {
        0 => Ok(()),
        range => Err(Refusal::parameter(format!("2^{range} general objects of kind {:#x} at once", call.op_mod))),
    }
}

fn body<'a>(call: &Call<'a>) -> &'a [u8] {
    call.input.0.get(general_obj_in_cmd_hdr::LAYOUT.bytes..).unwrap_or(&[])
}

fn create(call: &mut Call<'_>) -> Result<(), Refusal> {
    let kind = kind(call)?;
    if call.input.get(general_obj_in_cmd_hdr::OBJ_ID) != 0 {
        return Err(Refusal::parameter("a number of an object that is not there yet"));
    }
    let number = match kind {
        Object::ReservedQpns => reserve_qpns(call)?,
        _ => create_key(call)?,
    };
    call.created(kind, number);
    call.output.set(general_obj_out_cmd_hdr::OBJ_ID, number.into());
    Ok(())
}

/// Bytes of `reserved_qpn`, all of them zeros.
const RESERVED_QPN_BYTES: usize = 0x10;

/// The first of the numbers, and the name of the object.
fn reserve_qpns(call: &mut Call<'_>) -> Result<u32, Refusal> {
    let body = body(call);
    if body.len() != RESERVED_QPN_BYTES {
        let reason = format!("a body of {} bytes, not {RESERVED_QPN_BYTES}", body.len());
        return Err(Refusal::new(Status::BadInputLength, reason));
    }
    if body.iter().any(|&byte| byte != 0) {
        return Err(Refusal::parameter("reserved numbers of queue pairs with reserved bits"));
    }
    // 5 bits.
    Ok(call.device.reserve_qpns(call.input.get(general_obj_in_cmd_hdr::LOG_OBJ_RANGE) as u8)?)
}

fn create_key(call: &mut Call<'_>) -> Result<u32, Refusal> {
    check_one(call)?;
    let body = body(call);
    let bytes = encryption_key_obj::LAYOUT.bytes;
    if ![bytes, LINUX_BYTES].contains(&body.len()) {
        let reason = format!("a body of {} bytes, not {bytes} or {LINUX_BYTES}", body.len());
        return Err(Refusal::new(Status::BadInputLength, reason));
    }
    let (body, wrapped) = body.split_at(bytes);
    if wrapped.iter().any(|&byte| byte != 0) {
        return Err(Refusal::parameter("a key of encryption that software has wrapped"));
    }
    let mut rest = body.to_vec();
    rest[KEY].fill(0);
    let view = View(body);
    if encryption_key_obj::LAYOUT.reserved_byte_set(&rest).is_some() || view.get(encryption_key_obj::STATE) != 0 {
        return Err(Refusal::parameter("a key of encryption with reserved bits, or a state"));
    }
    let purpose = view.get(encryption_key_obj::KEY_PURPOSE);
    if purpose != AES_XTS {
        return Err(Refusal::parameter(format!("a key of encryption for {purpose}, not for AES-XTS")));
    }
    let size = match view.get(encryption_key_obj::KEY_SIZE) {
        0 => KeySize::Bits128,
        1 => KeySize::Bits256,
        other => return Err(Refusal::parameter(format!("a key of encryption of size {other}"))),
    };
    let pd = view.get32(encryption_key_obj::PD);
    call.check_use(Object::Pd, pd)?;
    let (key, behind) = body[KEY].split_at(size.bytes());
    let tag = view.flag(encryption_key_obj::HAS_KEYTAG).then(|| std::array::from_fn(|n| behind[n]));
    let opaque = view.get(encryption_key_obj::OPAQUE);
    Ok(call.device.create_dek(DekInfo { pd, size, tag, opaque }, key)?)
}

fn query(call: &mut Call<'_>) -> Result<(), Refusal> {
    if kind(call)? == Object::ReservedQpns {
        return Err(Refusal::parameter("reserved numbers of queue pairs have nothing to ask about"));
    }
    let number = named(call)?;
    call.check_use(Object::Dek, number)?;
    let DekInfo { pd, size, tag, opaque } = call.device.query_dek(number)?;
    let mut object = vec![0; encryption_key_obj::LAYOUT.bytes];
    let mut view = ViewMut(&mut object);
    view.set(encryption_key_obj::KEY_SIZE, (size == KeySize::Bits256).into());
    view.set(encryption_key_obj::HAS_KEYTAG, tag.is_some().into());
    view.set(encryption_key_obj::KEY_PURPOSE, AES_XTS);
    view.set(encryption_key_obj::PD, pd.into());
    view.set(encryption_key_obj::OPAQUE, opaque);
    call.output.part(query_encryption_key_obj_out::HDR).set(general_obj_out_cmd_hdr::OBJ_ID, number.into());
    call.output.part(query_encryption_key_obj_out::OBJ).put(0, &object);
    Ok(())
}

fn destroy(call: &mut Call<'_>) -> Result<(), Refusal> {
    let kind = kind(call)?;
    let number = named(call)?;
    call.check_owner(kind, number)?;
    match kind {
        Object::ReservedQpns => call.device.release_qpns(number)?,
        _ => call.device.destroy_dek(number)?,
    }
    call.destroyed(kind, number);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{DeviceConfig, Generation, PortConfig};
    use crate::firmware::test_bench::Bench;
    use crate::firmware::tests::{compare, known};

    /// Makes a key of AES-256, with a tag, of protection domain 1.
    fn mailbox() -> Vec<u8> {
        let mut input = vec![0; 0x110];
        input[..2].copy_from_slice(&[0x0a, 0]);
        input[7] = 0xc;
        input[0x10 + 0xa] = 1;
        input[0x10 + 0xb] = 0x83;
        input[0x10 + 0xf] = 1;
        input[0x10 + 0x30..0x10 + 0x38].copy_from_slice(b"a name!!");
        input[0x10 + 0x40..0x10 + 0x88].fill(0x77);
        input
    }

    fn bench() -> Bench {
        let port = PortConfig::infiniband(1);
        let generation = Generation::ConnectX7;
        let mut bench = Bench::of(DeviceConfig { generation, ..DeviceConfig::with_port(port) });
        assert!(bench.execute(&[8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 0x10).is_ok(), "PD 1");
        bench
    }

    fn named(opcode: u8, number: u8) -> [u8; 16] {
        [0x0a, opcode, 0, 0, 0, 0, 0, 0xc, 0, 0, 0, number, 0, 0, 0, 0]
    }

    #[test]
    fn a_key_is_made_asked_about_and_destroyed_and_never_told() {
        let known = known();
        compare(&encryption_key_obj::LAYOUT, &known);
        let mut bench = bench();
        let number = bench.execute(&mailbox(), 0x10).expect("a key")[11];
        let told = bench.execute(&named(2, number), 0x110).expect("an answer");
        let mut expected = mailbox();
        expected[0x10 + 0x40..].fill(0);
        assert_eq!(told[0x10..], expected[0x10..]);
        let dealloc_pd = [8, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0];
        assert_eq!(bench.execute(&dealloc_pd, 0x10), Err(Status::ResourceBusy));
        assert!(bench.execute(&named(3, number), 0x10).is_ok());
        assert_eq!(bench.execute(&named(2, number), 0x110), Err(Status::BadResource));
        assert_eq!(bench.execute(&named(3, number), 0x10), Err(Status::BadResource));
        assert!(bench.execute(&dealloc_pd, 0x10).is_ok());
    }

    #[test]
    fn linux_sends_a_longer_body() {
        let mut bench = bench();
        let long = [mailbox(), vec![0; 0x100]].concat();
        let number = bench.execute(&long, 0x10).expect("a key")[11];
        let mut expected = mailbox();
        expected[0x10 + 0x40..].fill(0);
        assert_eq!(bench.execute(&named(2, number), 0x110).expect("an answer")[0x10..], expected[0x10..]);
        for at in [0x110, 0x20f] {
            let mut wrapped = long.clone();
            wrapped[at] = 1;
            assert_eq!(bench.execute(&wrapped, 0x10), Err(Status::BadParameter), "byte {at:#x}");
        }
        assert_eq!(bench.execute(&long[..0x20c], 0x10), Err(Status::BadInputLength));
    }

    /// As libmlx5 and UCX reserve numbers (rdma-core `providers/mlx5/mlx5.c`, `reserved_qpn_blk_alloc`).
    fn reservation() -> [u8; 0x20] {
        let mut input = [0; 0x20];
        input[..2].copy_from_slice(&[0x0a, 0]);
        input[7] = 0x2c;
        input[0xc] = 6;
        input
    }

    #[test]
    fn reserved_numbers_are_those_of_no_queue_pair() {
        let mut bench = Bench::new();
        let row = |output: Vec<u8>| [output[8], output[9], output[10], output[11]];
        let first = row(bench.execute(&reservation(), 0x10).expect("numbers"));
        let second = row(bench.execute(&reservation(), 0x10).expect("numbers"));
        let [first, second] = [first, second].map(u32::from_be_bytes);
        assert_eq!(first.abs_diff(second), 64);
        let release = |number: u32| {
            let mut input = [0x0a, 3, 0, 0, 0, 0, 0, 0x2c, 0, 0, 0, 0, 0, 0, 0, 0];
            input[8..12].copy_from_slice(&number.to_be_bytes());
            input
        };
        assert_eq!(bench.execute(&release(first + 1), 0x10), Err(Status::BadResource));
        assert!(bench.execute(&release(first), 0x10).is_ok());
        assert_eq!(bench.execute(&release(first), 0x10), Err(Status::BadResource));
        let query = [0x0a, 2, 0, 0, 0, 0, 0, 0x2c, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(bench.execute(&query, 0x110), Err(Status::BadParameter));
        for (at, value) in [(0xb, 1), (0xc, 0), (0xc, 5), (0xc, 7), (0xc, 0x1f), (0xc, 0x26), (0x10, 1), (0x1f, 1)] {
            let mut input = reservation();
            input[at] = value;
            assert_eq!(bench.execute(&input, 0x10), Err(Status::BadParameter), "byte {at:#x}");
        }
        for bytes in [0x10, 0x1c] {
            assert_eq!(bench.execute(&reservation()[..bytes], 0x10), Err(Status::BadInputLength));
        }
        let reserved = (1..).take_while(|_| bench.execute(&reservation(), 0x10).is_ok()).count();
        assert_eq!(reserved, 63, "4096 numbers are the most");
    }

    #[test]
    fn what_no_key_is_is_refused() {
        let mut bench = bench();
        for (at, value) in
            [(7, 0x1f), (0xb, 1), (0xc, 1), (0x10, 1), (0x18, 1), (0x1a, 2), (0x1b, 0x81), (0x20, 1), (0xd0, 1)]
        {
            let mut input = mailbox();
            input[at] = value;
            assert_eq!(bench.execute(&input, 0x10), Err(Status::BadParameter), "byte {at:#x}");
        }
        let mut input = mailbox();
        input[0x1f] = 2;
        assert_eq!(bench.execute(&input, 0x10), Err(Status::BadResource), "no such PD");
        assert_eq!(bench.execute(&mailbox()[..0x10c], 0x10), Err(Status::BadInputLength));
        let number = bench.execute(&mailbox(), 0x10).expect("a key")[11];
        for opcode in [2, 3] {
            for tail in [[0, 0, 0, 1], [1; 4]] {
                let longer = [&named(opcode, number)[..], &tail].concat();
                assert_eq!(bench.execute(&longer, 0x110), Err(Status::BadInputLength), "opcode {opcode}: {tail:?}");
            }
        }
        assert!(bench.execute(&[&named(2, number)[..], &[0; 4]].concat(), 0x110).is_ok(), "zeros are nothing");
        let port = PortConfig::infiniband(1);
        let mut old = Bench::of(DeviceConfig { generation: Generation::ConnectX5, ..DeviceConfig::with_port(port) });
        assert_eq!(old.execute(&mailbox(), 0x10), Err(Status::BadParameter));
    }
}
