//! Memory keys, by mailboxes as drivers write them.

use crate::config::{DeviceConfig, Generation, PortConfig};
use crate::context::{Access, TphContext};
use crate::firmware::owners::{DRIVER, Uid};
use crate::firmware::status::Status;
use crate::firmware::test_bench::Bench;
use crate::memory::test_memory::BASE;

/// Bits of the first word of a context: rights, and access modes.
const LOCAL: u32 = 1 << 11 | 1 << 10;
const REMOTE: u32 = 1 << 12 | 1 << 13 | 1 << 14;
const FREE: u32 = 1 << 30;
const UMR: u32 = 1 << 15;
const MTT: u32 = 1 << 8;
const KLM: u32 = 2 << 8;
const KSM: u32 = 3 << 8;

/// A mailbox of CREATE_MKEY. Words are where UCX 1.13 has their fields (src/uct/ib/mlx5/dv/ib_mlx5_ifc.h,
/// `create_mkey_in`, `mkc`).
#[derive(Clone)]
struct Mailbox(Vec<u8>);

impl Mailbox {
    fn new(uid: Uid, pd: u32, flags: u32, start: u64, len: u64) -> Self {
        let mut mailbox = Self(vec![0; 0x110]);
        mailbox.word(0x0, 0x0200_0000 | u32::from(uid.0));
        mailbox.word(0x10, flags);
        // Any QP, and variant 0x5a of the key.
        mailbox.word(0x14, 0xffff_ff5a);
        mailbox.word(0x1c, pd);
        mailbox.word(0x20, (start >> 32) as u32).word(0x24, start as u32);
        mailbox.word(0x28, (len >> 32) as u32).word(0x2c, len as u32);
        mailbox
    }

    fn word(&mut self, at: usize, word: u32) -> &mut Self {
        self.0[at..at + 4].copy_from_slice(&word.to_be_bytes());
        self
    }

    /// The log2 of a page's or a piece's bytes.
    fn log_page_size(mut self, log: u32) -> Self {
        self.word(0x48, log);
        self
    }

    fn list(mut self, entries: &[[u64; 2]]) -> Self {
        self.word(0x44, entries.len() as u32).word(0x60, entries.len() as u32);
        self.0.extend(entries.iter().flatten().flat_map(|word| word.to_be_bytes()));
        self
    }

    fn umem(mut self, number: u32, offset: u32) -> Self {
        self.word(0xc, 1 << 30).word(0x64, number).word(0x6c, offset);
        self
    }

    fn create(&self, bench: &mut Bench) -> Result<u32, Status> {
        let output = bench.execute(&self.0, 16)?;
        Ok(u32::from_be_bytes([output[9], output[10], output[11], 0x5a]))
    }
}

fn pd(bench: &mut Bench, uid: Uid) -> u32 {
    let output = bench.execute(&[8, 0, 0, uid.0 as u8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 16).expect("a PD");
    u32::from_be_bytes([0, output[9], output[10], output[11]])
}

/// QUERY_MKEY or DESTROY_MKEY.
fn by_index(bench: &mut Bench, opcode: u8, uid: Uid, key: u32, room: usize) -> Result<Vec<u8>, Status> {
    let [a, b, c, _] = key.to_be_bytes();
    bench.execute(&[2, opcode, 0, uid.0 as u8, 0, 0, 0, 0, 0, a, b, c, 0, 0, 0, 0], room)
}

#[test]
fn a_key_of_pages_is_what_its_context_says() {
    let mut bench = Bench::new();
    let pd = pd(&mut bench, DRIVER);
    // Pages 5 and 2, from byte 0x234 on.
    let pages = [[BASE + 0x5000, BASE + 0x2000]];
    let mailbox = Mailbox::new(DRIVER, pd, LOCAL | REMOTE | MTT, 0x7234, 0x1000).log_page_size(12).list(&pages);
    let key = mailbox.create(&mut bench).expect("a key");
    let context = *bench.device.mkey(key).expect("the key, with the driver's variant");
    assert_eq!((context.pd, context.iova, context.len), (pd, 0x7234, 0x1000));
    assert_eq!(
        context.access,
        Access { local_write: true, remote_write: true, remote_read: true, remote_atomic: true }
    );
    bench.device.paged_memory().write(context.addr + 0xdc8, &[1, 2, 3, 4, 5, 6, 7, 8]).expect("both pages");
    let mut out = [0; 4];
    bench.device.host_memory().read(BASE + 0x5ffc, &mut out).expect("host memory");
    assert_eq!(out, [1, 2, 3, 4]);
    bench.device.host_memory().read(BASE + 0x2000, &mut out).expect("host memory");
    assert_eq!(out, [5, 6, 7, 8]);
    let asked = by_index(&mut bench, 1, DRIVER, key, 0x130).expect("its context");
    assert_eq!(asked[0x10..0x50], mailbox.0[0x10..0x50]);
    assert_eq!(by_index(&mut bench, 2, DRIVER, key, 16).map(drop), Ok(()));
    assert_eq!(bench.device.mkey(key), None);
    assert_eq!(by_index(&mut bench, 2, DRIVER, key, 16), Err(Status::BadResource));
    assert!(bench.device.paged_memory().read(context.addr, &mut out).is_err(), "the list of pages is gone, too");
}

#[test]
fn a_key_of_user_memory_keeps_it_and_is_its_makers() {
    let mut bench = Bench::new();
    let (user, other) = (bench.user(), bench.user());
    let pd = pd(&mut bench, user);
    let umem = bench.umem(user, &[4, 5], 0x10, true);
    let key = Mailbox::new(user, pd, LOCAL | MTT, 0x30, 0x1000).umem(umem, 0x20).create(&mut bench).expect("a key");
    assert_eq!(bench.device.mkey(key).map(|context| context.addr), Some(BASE + 0x4030));
    assert_eq!(bench.state().umems.get(umem).map(|umem| umem.users), Some(1));
    assert_eq!(by_index(&mut bench, 1, other, key, 0x130), Err(Status::BadResource));
    assert_eq!(by_index(&mut bench, 2, other, key, 16), Err(Status::BadResource));
    assert_eq!(by_index(&mut bench, 2, user, key, 16).map(drop), Ok(()));
    assert_eq!(bench.state().umems.get(umem).map(|umem| umem.users), Some(0));
    // Not of another's user memory or PD, nor of more than there is.
    let of_another = Mailbox::new(other, pd, LOCAL | MTT, 0, 0x1000).umem(umem, 0);
    assert_eq!(of_another.create(&mut bench), Err(Status::BadResource));
    let too_long = Mailbox::new(user, pd, LOCAL | MTT, 0x10, 0x2000).umem(umem, 0);
    assert_eq!(too_long.create(&mut bench), Err(Status::BadParameter));
    assert_eq!(bench.state().umems.get(umem).map(|umem| umem.users), Some(0));
}

#[test]
fn a_key_of_user_memory_begins_where_its_first_address_does_in_a_page() {
    let mut bench = Bench::new();
    let user = bench.user();
    let pd = pd(&mut bench, user);
    // Pages of 4096 bytes, and of 64 KiB.
    let small = bench.umem(user, &[0, 1], 0x10, true);
    let large = bench.umem_of(4, user, &[0x10], 0, true);
    let mut begins = |umem, offset, start| {
        let mailbox = Mailbox::new(user, pd, LOCAL | MTT, start, 0x100).umem(umem, offset);
        let mut output = [0; 16];
        match bench.firmware.execute(&mut bench.device, &mailbox.0, &mut output) {
            Status::Ok => 0,
            _ => u32::from_be_bytes([output[4], output[5], output[6], output[7]]),
        }
    };
    // UCX met this number on a NIC: "page offset of the starting point in the umem must match the page offset indicated
    // by the mkey.start_address" (its pull request 8689).
    const ELSEWHERE: u32 = 0x31_7175;
    let small =
        [(0, 0x10), (0, 0x7010), (0xff0, 0), (0, 0), (0, 0x20), (0x10, 0x10)].map(|(at, to)| begins(small, at, to));
    assert_eq!(small, [0, 0, 0, ELSEWHERE, ELSEWHERE, ELSEWHERE]);
    let large = [(0, 0x2_0000), (0x1000, 0x1000), (0, 0x1000), (0x1000, 0)].map(|(at, to)| begins(large, at, to));
    assert_eq!(large, [0, 0, ELSEWHERE, ELSEWHERE]);
}

#[test]
fn pages_that_may_only_be_read_take_the_rights_to_write() {
    let mut bench = Bench::new();
    let pd = pd(&mut bench, DRIVER);
    let umem = bench.umem(DRIVER, &[4], 0, false);
    let read = Access { remote_read: true, ..Access::default() };
    let mut mailbox = Mailbox::new(DRIVER, pd, LOCAL | REMOTE | MTT, 0, 0x1000).umem(umem, 0);
    assert_eq!(mailbox.create(&mut bench), Err(Status::BadParameter), "more than the pages permit");
    mailbox.word(0xc, 3 << 30);
    let key = mailbox.create(&mut bench).expect("a key");
    assert_eq!(bench.device.mkey(key).map(|context| context.access), Some(read));
    // The lowest two bits of a page's address are its rights, if they count.
    for (rights, expected) in [(3, None), (1, Some(read)), (2, Some(Access::default()))] {
        let pages = [[BASE + rights, 0]];
        let mut mailbox = Mailbox::new(DRIVER, pd, LOCAL | REMOTE | MTT, 0, 0x1000).log_page_size(12).list(&pages);
        assert_eq!(mailbox.create(&mut bench), Err(Status::BadParameter), "not the address of a page");
        // The other half of the octword is not there.
        mailbox.0.truncate(0x118);
        mailbox.word(0xc, 1 << 31);
        let created = mailbox.create(&mut bench);
        match (rights, expected) {
            (2, _) => assert_eq!(created, Err(Status::BadParameter), "not readable"),
            (_, None) => assert!(created.is_ok()),
            (_, expected) => {
                assert_eq!(bench.device.mkey(created.expect("a key")).map(|context| context.access), expected);
            }
        }
    }
}

#[test]
fn all_of_memory_is_the_drivers() {
    let mut bench = Bench::new();
    let pd_of_driver = pd(&mut bench, DRIVER);
    let mut mailbox = Mailbox::new(DRIVER, pd_of_driver, LOCAL, 0, 0);
    // length64, as Linux' mlx5_core makes its own keys.
    mailbox.word(0x1c, 1 << 31 | pd_of_driver);
    let key = mailbox.create(&mut bench).expect("a key");
    let context = *bench.device.mkey(key).expect("the key");
    assert_eq!((context.iova, context.addr), (0, 0));
    assert!(context.len > 1 << 63);
    let user = bench.user();
    let of_user = pd(&mut bench, user);
    mailbox.word(0x0, 0x0200_0000 | u32::from(user.0)).word(0x1c, 1 << 31 | of_user);
    assert_eq!(mailbox.create(&mut bench), Err(Status::BadOperation));
}

#[test]
fn lists_of_pieces_are_checked() {
    let mut bench = Bench::new();
    let pd = pd(&mut bench, DRIVER);
    let piece = |len: u64, key: u64, at: u64| [len << 32 | key, at];
    let klm = |len| Mailbox::new(DRIVER, pd, LOCAL | KLM, 0x100, len);
    let pieces = [piece(0x10, 0x1801, 0), piece(0x20, 0x200, 0), piece(0, 0, 0), piece(0, 0, 0)];
    assert!(klm(0x30).list(&pieces).create(&mut bench).is_ok(), "padded with pieces of no bytes");
    assert_eq!(klm(0x31).list(&pieces).create(&mut bench), Err(Status::BadParameter));
    let ksm = |len, log| Mailbox::new(DRIVER, pd, LOCAL | KSM, 0x100, len).log_page_size(log);
    assert!(ksm(0x4000, 12).list(&pieces).create(&mut bench).is_ok(), "the pieces' own lengths do not count");
    assert_eq!(ksm(0x4001, 12).list(&pieces).create(&mut bench), Err(Status::BadParameter));
    assert!(ksm(0x4000, 31).list(&pieces).create(&mut bench).is_ok());
    assert_eq!(ksm(0x4000, 32).list(&pieces).create(&mut bench), Err(Status::BadParameter), "six bits");
    let mut too_few = klm(0x30).list(&pieces);
    too_few.0.truncate(0x110 + 16);
    assert_eq!(too_few.create(&mut bench), Err(Status::BadInputLength));
    too_few.0.truncate(0x110);
    assert_eq!(too_few.create(&mut bench), Err(Status::BadInputLength), "none of the list");
    let mut half = klm(0x30).list(&pieces);
    half.0.truncate(half.0.len() - 8);
    assert_eq!(half.create(&mut bench), Err(Status::BadInputLength), "half of the last piece");
    let of_umem = klm(0x30).list(&pieces).umem(1, 0);
    assert_eq!(of_umem.create(&mut bench), Err(Status::BadParameter));
}

#[test]
fn contexts_that_no_key_can_have_are_refused() {
    let mut bench = Bench::new();
    let pd = pd(&mut bench, DRIVER);
    let pages = [[BASE, BASE + 0x1000]];
    let good = Mailbox::new(DRIVER, pd, LOCAL | MTT, 0, 0x1000).log_page_size(12).list(&pages);
    assert!(good.create(&mut bench).is_ok());
    for log in [11, 32, 32 + 12, 63] {
        let wrong = Mailbox::new(DRIVER, pd, LOCAL | MTT, 0, 0x1000).log_page_size(log).list(&pages);
        assert_eq!(wrong.create(&mut bench), Err(Status::BadParameter), "pages of 2^{log} bytes");
    }
    // Offset, word: no such PD; one QP's; an unknown mode; no local read; remote write without local write; all memory
    // by pages; pages of 2 KiB; relaxed ordering on a ConnectX-5; a reserved bit.
    let bad = [
        (0x1c, pd + 1, Status::BadResource),
        (0x14, 0x0000_0100, Status::BadParameter),
        (0x10, LOCAL | MTT | 1 << 26, Status::BadParameter),
        (0x10, 1 << 11 | MTT, Status::BadParameter),
        (0x10, 1 << 10 | 1 << 13 | MTT, Status::BadParameter),
        (0x1c, pd | 1 << 31, Status::BadParameter),
        (0x48, 11, Status::BadParameter),
        (0x10, LOCAL | MTT | 1 << 18, Status::BadParameter),
        (0x18, 1, Status::BadParameter),
    ];
    for (at, word, status) in bad {
        let mut mailbox = good.clone();
        assert_eq!(mailbox.word(at, word).create(&mut bench), Err(status), "{at:#x}: {word:#x}");
    }
    let free = Mailbox::new(DRIVER, pd, FREE | 1 << 15 | MTT, 0, 0).create(&mut bench);
    assert!(free.is_ok(), "a key that is to be made valid later");
}

#[test]
fn the_null_key_has_a_number() {
    let mut bench = Bench::new();
    let output = bench.execute(&[2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 0x20).expect("special contexts");
    assert_eq!(output[0x10..0x14], [0, 0, 2, 0]);
}

fn bench_of(generation: Generation) -> Bench {
    let port = PortConfig::infiniband(1);
    Bench::of(DeviceConfig { generation, ..DeviceConfig::with_port(port) })
}

#[test]
fn relaxed_ordering_came_after_connectx_5() {
    for (generation, expected) in [
        (Generation::ConnectX5, Err(Status::BadParameter)),
        (Generation::ConnectX6Dx, Ok(())),
        (Generation::ConnectX7, Ok(())),
    ] {
        let mut bench = bench_of(generation);
        let pd = pd(&mut bench, DRIVER);
        // Of writes, and of reads.
        for (at, word) in [(0x10, LOCAL | MTT | 1 << 18), (0x48, 1 << 6 | 12)] {
            let pages = [[BASE, BASE + 0x1000]];
            let mut mailbox = Mailbox::new(DRIVER, pd, LOCAL | MTT, 0, 0x1000).log_page_size(12).list(&pages);
            assert_eq!(mailbox.word(at, word).create(&mut bench).map(drop), expected, "{generation:?}: {at:#x}");
        }
    }
}

/// A format has 64 bytes, which are 4 octwords. A key can have two of them if its data is encrypted (libmlx5
/// `providers/mlx5/verbs.c`, `_mlx5dv_create_mkey`). They come by UMR.
#[test]
fn formats_are_those_of_keys_that_umr_changes() {
    use Generation::{ConnectX5, ConnectX7};
    let whole = FREE | UMR | KLM;
    for (generation, flags, has_formats, octwords, encryption, is_made) in [
        (ConnectX7, whole, 0, 0, 0, true),
        (ConnectX7, whole, 1, 4, 0, true),
        (ConnectX7, whole, 1, 4, 1, true),
        (ConnectX7, whole, 1, 8, 1, true),
        (ConnectX5, whole, 1, 4, 0, true),
        (ConnectX7, LOCAL | UMR | KLM, 0, 0, 0, true),
        (ConnectX7, whole, 1, 8, 0, false),
        (ConnectX7, whole, 1, 6, 1, false),
        (ConnectX7, whole, 1, 0, 0, false),
        (ConnectX7, whole, 0, 4, 0, false),
        // DPDK's have a list from the first (`mlx5_crypto_indirect_mkeys_prepare`).
        (ConnectX7, LOCAL | UMR | KLM, 1, 4, 1, true),
        (ConnectX7, FREE | KLM, 1, 4, 0, false),
        // Encryption has a format, one code, and a generation.
        (ConnectX7, whole, 0, 0, 1, false),
        (ConnectX7, whole, 1, 4, 2, false),
        (ConnectX5, whole, 1, 4, 1, false),
    ] {
        let mut bench = bench_of(generation);
        let pd = pd(&mut bench, DRIVER);
        let mut mailbox = Mailbox::new(DRIVER, pd, flags, 0, 0);
        mailbox.word(0x1c, has_formats << 30 | pd).word(0x30, octwords).word(0x4c, encryption << 27);
        let made = mailbox.create(&mut bench);
        let refused = Err(Status::BadParameter);
        let case = format!("{generation:?}: {flags:#x}, {has_formats}, {octwords}, {encryption}");
        assert_eq!(made.map(drop), if is_made { Ok(()) } else { refused }, "{case}");
    }
}

#[test]
fn a_list_that_umr_writes_has_a_longest_length() {
    let mut bench = Bench::new();
    let pd = pd(&mut bench, DRIVER);
    for (octwords, expected) in [(1 << 25, Ok(())), ((1 << 25) + 1, Err(Status::LimitExceeded))] {
        let mut mailbox = Mailbox::new(DRIVER, pd, FREE | UMR | KLM, 0, 0);
        assert_eq!(mailbox.word(0x44, octwords).create(&mut bench).map(drop), expected, "{octwords:#x}");
    }
}

/// Pages that UMR changes are host addresses, which users may not choose.
#[test]
fn pages_that_umr_changes_are_the_drivers() {
    let mut bench = Bench::new();
    let user = bench.user();
    let umem = bench.umem(user, &[4, 5], 0, true);
    let pages = [[BASE, BASE + 0x1000]];
    for (uid, expected) in [(DRIVER, Ok(())), (user, Err(Status::BadOperation))] {
        let pd = pd(&mut bench, uid);
        let mailbox = Mailbox::new(uid, pd, LOCAL | MTT | UMR, 0, 0x1000).log_page_size(12);
        assert_eq!(mailbox.clone().list(&pages).create(&mut bench).map(drop), expected, "{uid:?}");
        if uid == user {
            assert!(mailbox.umem(umem, 0).create(&mut bench).is_ok(), "user memory");
        }
    }
}

/// The word of a context with the key's processing hint, as Linux has it
/// (`include/linux/mlx5/mlx5_ifc.h`, `mkc.pcie_tph_en`, `pcie_tph_ph`, `pcie_tph_steering_tag_index`).
fn tph(enabled: u32, hint: u32, tag: u32) -> u32 {
    enabled << 26 | hint << 24 | tag << 16
}

fn with_tph(bench: &mut Bench, word: u32) -> Result<u32, Status> {
    let pd = pd(bench, DRIVER);
    let pages = [[BASE, BASE + 0x1000]];
    let mut mailbox = Mailbox::new(DRIVER, pd, LOCAL | MTT, 0, 0x1000).log_page_size(12).list(&pages);
    mailbox.word(0x4c, word).create(bench)
}

#[test]
fn a_key_keeps_its_hint_to_the_hosts_caches() {
    let mut bench = bench_of(Generation::ConnectX8);
    for (hint, tag) in [(0, 0), (3, 0), (1, 255), (2, 1)] {
        let key = with_tph(&mut bench, tph(1, hint, tag)).expect("a key");
        let expected = TphContext { processing_hint: hint as u8, steering_tag_index: tag as u8 };
        assert_eq!(bench.device.tph(key), Some(expected));
        assert_eq!(bench.device.tph(key ^ 1), None, "another variant");
        let asked = by_index(&mut bench, 1, DRIVER, key, 0x130).expect("its context");
        assert_eq!(asked[0x4c..0x50], tph(1, hint, tag).to_be_bytes());
        assert_eq!(by_index(&mut bench, 2, DRIVER, key, 16).map(drop), Ok(()));
        assert_eq!(bench.device.tph(key), None);
    }
    let key = with_tph(&mut bench, 0).expect("a key");
    assert_eq!(bench.device.tph(key), None);
}

#[test]
fn hints_that_a_key_cannot_have_are_refused() {
    let mut bench = bench_of(Generation::ConnectX8);
    // A tag, but no hint to go with it. Linux leaves a hint there that it does not enable.
    assert_eq!(with_tph(&mut bench, tph(0, 0, 1)), Err(Status::BadParameter));
    let key = with_tph(&mut bench, tph(0, 2, 0)).expect("a key");
    assert_eq!(bench.device.tph(key), None);
    for generation in [Generation::ConnectX5, Generation::ConnectX6Dx, Generation::ConnectX7] {
        let mut bench = bench_of(generation);
        for word in [tph(1, 0, 0), tph(0, 1, 0), tph(0, 0, 1)] {
            assert_eq!(with_tph(&mut bench, word), Err(Status::BadParameter), "{generation:?}: {word:#x}");
        }
    }
}

#[test]
fn a_key_of_all_memory_may_go_by_another_function() {
    // `create_mkey_in.data_direct` of Linux; all memory, by the host's addresses (`mkc.length64`).
    const DATA_DIRECT: u32 = 1 << 29;
    const ALL: u32 = 1 << 31;
    for (generation, expected) in [
        (Generation::ConnectX8, Ok(())),
        (Generation::ConnectX7, Err(Status::BadParameter)),
        (Generation::ConnectX5, Err(Status::BadParameter)),
    ] {
        let mut bench = bench_of(generation);
        let pd = pd(&mut bench, DRIVER);
        let mut mailbox = Mailbox::new(DRIVER, pd, LOCAL, 0, 0);
        let made = mailbox.word(0xc, DATA_DIRECT).word(0x1c, ALL | pd).create(&mut bench);
        assert_eq!(made.map(drop), expected, "{generation:?}");
        let pages = [[BASE, BASE + 0x1000]];
        let mut of_pages = Mailbox::new(DRIVER, pd, LOCAL | MTT, 0, 0x1000).log_page_size(12).list(&pages);
        assert_eq!(of_pages.word(0xc, DATA_DIRECT).create(&mut bench), Err(Status::BadParameter));
    }
}
