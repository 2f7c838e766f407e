//! One CQE as each program dumps it. The programs printed these dumps; the CQE comes from
//! <https://github.com/ofiwg/libfabric/issues/4283>.
//!
//! Forms of dumps belong here. Whole messages from public threads belong in `golden.rs`.

use blueflame_decode::{Input, Kind, Options, Order, decode};

/// The CQE.
fn cqe() -> Vec<u8> {
    let mut bytes = vec![0; 64];
    bytes[35] = 2;
    bytes[54..].copy_from_slice(&[0x88, 0x13, 0x10, 0x01, 0x2a, 0xbe, 0x0d, 0xd0, 0xc1, 0xd3]);
    bytes
}

const DUMPS: &[(&str, &str)] = &[
    (
        "xxd",
        "00000000: 0000 0000 0000 0000 0000 0000 0000 0000  ................
00000010: 0000 0000 0000 0000 0000 0000 0000 0000  ................
00000020: 0000 0002 0000 0000 0000 0000 0000 0000  ................
00000030: 0000 0000 0000 8813 1001 2abe 0dd0 c1d3  ..........*.....
",
    ),
    (
        "xxd -p",
        "000000000000000000000000000000000000000000000000000000000000
000000000002000000000000000000000000000000000000881310012abe
0dd0c1d3
",
    ),
    (
        "xxd -c 8 -g 4",
        "00000000: 00000000 00000000  ........
00000008: 00000000 00000000  ........
00000010: 00000000 00000000  ........
00000018: 00000000 00000000  ........
00000020: 00000002 00000000  ........
00000028: 00000000 00000000  ........
00000030: 00000000 00008813  ........
00000038: 10012abe 0dd0c1d3  ..*.....
",
    ),
    (
        "xxd -i",
        "unsigned char cqe_bin[] = {
  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02,
  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x88, 0x13, 0x10, 0x01, 0x2a, 0xbe,
  0x0d, 0xd0, 0xc1, 0xd3
};
unsigned int cqe_bin_len = 64;
",
    ),
    (
        "hexdump",
        "0000000 0000 0000 0000 0000 0000 0000 0000 0000
*
0000020 0000 0200 0000 0000 0000 0000 0000 0000
0000030 0000 0000 0000 1388 0110 be2a d00d d3c1
0000040
",
    ),
    (
        "hexdump -C",
        "00000000  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|
*
00000020  00 00 00 02 00 00 00 00  00 00 00 00 00 00 00 00  |................|
00000030  00 00 00 00 00 00 88 13  10 01 2a be 0d d0 c1 d3  |..........*.....|
00000040
",
    ),
    (
        "od -x",
        "0000000 0000 0000 0000 0000 0000 0000 0000 0000
*
0000040 0000 0200 0000 0000 0000 0000 0000 0000
0000060 0000 0000 0000 1388 0110 be2a d00d d3c1
0000100
",
    ),
    (
        "od -t x1",
        "0000000 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
*
0000040 00 00 00 02 00 00 00 00 00 00 00 00 00 00 00 00
0000060 00 00 00 00 00 00 88 13 10 01 2a be 0d d0 c1 d3
0000100
",
    ),
    (
        "od -A x -t x1z",
        "000000 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00  >................<
*
000020 00 00 00 02 00 00 00 00 00 00 00 00 00 00 00 00  >................<
000030 00 00 00 00 00 00 88 13 10 01 2a be 0d d0 c1 d3  >..........*.....<
000040
",
    ),
    (
        "od -t x4",
        "0000000 00000000 00000000 00000000 00000000
*
0000040 02000000 00000000 00000000 00000000
0000060 00000000 13880000 be2a0110 d3c1d00d
0000100
",
    ),
    (
        "gdb x/16xw",
        "0x555555558040 <cqe>:\t0x00000000\t0x00000000\t0x00000000\t0x00000000
0x555555558050 <cqe+16>:\t0x00000000\t0x00000000\t0x00000000\t0x00000000
0x555555558060 <cqe+32>:\t0x02000000\t0x00000000\t0x00000000\t0x00000000
0x555555558070 <cqe+48>:\t0x00000000\t0x13880000\t0xbe2a0110\t0xd3c1d00d
",
    ),
    (
        "gdb x/8xg",
        "0x7ffff7fa0000:\t0x0000000000000000\t0x0000000000000000
0x7ffff7fa0010:\t0x0000000000000000\t0x0000000000000000
0x7ffff7fa0020:\t0x0000000002000000\t0x0000000000000000
0x7ffff7fa0030:\t0x1388000000000000\t0xd3c1d00dbe2a0110
",
    ),
    (
        "gdb x/64xb",
        "0x7ffff7fa0000:\t0x00\t0x00\t0x00\t0x00\t0x00\t0x00\t0x00\t0x00
0x7ffff7fa0008:\t0x00\t0x00\t0x00\t0x00\t0x00\t0x00\t0x00\t0x00
0x7ffff7fa0010:\t0x00\t0x00\t0x00\t0x00\t0x00\t0x00\t0x00\t0x00
0x7ffff7fa0018:\t0x00\t0x00\t0x00\t0x00\t0x00\t0x00\t0x00\t0x00
0x7ffff7fa0020:\t0x00\t0x00\t0x00\t0x02\t0x00\t0x00\t0x00\t0x00
0x7ffff7fa0028:\t0x00\t0x00\t0x00\t0x00\t0x00\t0x00\t0x00\t0x00
0x7ffff7fa0030:\t0x00\t0x00\t0x00\t0x00\t0x00\t0x00\t0x88\t0x13
0x7ffff7fa0038:\t0x10\t0x01\t0x2a\t0xbe\t0x0d\t0xd0\t0xc1\t0xd3
",
    ),
    (
        "older kernels, by journalctl",
        "Mar 30 21:04:53 node3 kernel: 00000000 00000000 00000000 00000000
Mar 30 21:04:53 node3 kernel: 00000000 00000000 00000000 00000000
Mar 30 21:04:53 node3 kernel: 00000002 00000000 00000000 00000000
Mar 30 21:04:53 node3 kernel: 00000000 00008813 10012abe 0dd0c1d3
",
    ),
    (
        "newer kernels",
        "[  12.000001] cqe_dump: 00000000: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
[  12.000002] cqe_dump: 00000010: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
[  12.000003] cqe_dump: 00000020: 00 00 00 02 00 00 00 00 00 00 00 00 00 00 00 00
[  12.000004] cqe_dump: 00000030: 00 00 00 00 00 00 88 13 10 01 2a be 0d d0 c1 d3
",
    ),
    (
        "with blank lines, as forums make them",
        "00000000 00000000 00000000 00000000

00000000 00000000 00000000 00000000

00000002 00000000 00000000 00000000

00000000 00008813 10012abe 0dd0c1d3
",
    ),
    (
        "words of a little endian CPU, with nothing that says so",
        "00000000 00000000 00000000 00000000
00000000 00000000 00000000 00000000
02000000 00000000 00000000 00000000
00000000 13880000 be2a0110 d3c1d00d
",
    ),
];

#[test]
fn all_forms_are_the_same_cqe() {
    for (program, dump) in DUMPS {
        let report = decode(dump.as_bytes(), &Options::default());
        assert_eq!(report.records.len(), 1, "{program}: {report}");
        assert_eq!(report.records[0].bytes, cqe(), "{program}");
        assert_eq!((report.records[0].kind, report.records[0].line > 0), (Kind::Cqe, true), "{program}");
    }
    let binary = decode(&cqe(), &Options::default());
    assert_eq!((binary.records.len(), &binary.records[0].bytes), (1, &cqe()));
}

#[test]
fn what_the_caller_says_counts() {
    // The words as a little endian CPU has them are told to be big endian: another CQE, then.
    let dump = DUMPS.last().expect("a dump").1.as_bytes();
    let big = Options { input: Input::Cqe, order: Some(Order::Big), ..Options::default() };
    assert_eq!(decode(dump, &big).records[0].number("op_own:opcode"), Some(0));
    // A CQE of 128 bytes: its fields are in the second half.
    let both: Vec<u8> = [vec![0; 64], cqe()].concat();
    let record = &decode(&both, &Options::default()).records[0];
    assert_eq!((record.bytes.len(), record.number("syndrome"), record.parts[0].offset), (128, Some(0x13), 64));
    let two = decode(&both, &Options { input: Input::Cqe, cqe_bytes: Some(64), ..Options::default() });
    assert_eq!(two.records.len(), 2);
}

#[test]
fn a_ring_of_cqes() {
    // As DPDK dumps it: one failure among entries that were never written.
    let mut ring = vec![0; 64 * 8];
    for slot in 0..8 {
        ring[slot * 64 + 63] = 0xf0;
    }
    ring[64 * 3..64 * 4].copy_from_slice(&cqe());
    let mut dump = String::from("MLX5 Error CQ: at [0x17f6a7d20], len=512\n");
    for (row, bytes) in ring.chunks(16).enumerate() {
        let digits: Vec<_> = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
        dump += &format!("{:08X}: {} | ................\n", row * 16, digits.join(" "));
    }
    let report = decode(dump.as_bytes(), &Options::default());
    assert_eq!(report.records.len(), 1, "{report}");
    assert_eq!(report.records[0].number("wqe_counter"), Some(0x0dd0));
    assert!(report.records[0].notes[0].starts_with("7 CQEs"), "{report}");
}

#[test]
fn a_compressed_block() {
    // Linux drivers/net/ethernet/mellanox/mlx5/core/en_rx.c: the title's byte_cnt is the number of mini-CQEs.
    let mut block = vec![0; 128];
    block[44..48].copy_from_slice(&3_u32.to_be_bytes());
    block[57..60].copy_from_slice(&[0, 0x10, 0xa6]);
    block[63] = 0x2c;
    for mini in 0..3_u8 {
        block[64 + usize::from(mini) * 8 + 7] = 60 + mini;
    }
    let report = decode(&block, &Options { input: Input::Cqe, cqe_bytes: Some(64), ..Options::default() });
    assert_eq!(report.records.len(), 2, "{report}");
    let minis = &report.records[1];
    assert_eq!((minis.kind, minis.parts.len()), (Kind::MiniCqes, 3));
    let counts: Vec<_> = minis.parts.iter().map(|part| part.fields[1].value.number()).collect();
    assert_eq!(counts, [Some(60), Some(61), Some(62)]);
}

/// Linux `en_rx.c` (`mlx5e_decompress_cqes_start`), and DPDK's `mlx5_rx_poll_len`: arrays of eight lie in the place
/// after the title and in each eighth place from it. The bytes between are old.
#[test]
fn a_compressed_block_of_several_arrays() {
    let mut ring = vec![0; 24 * 64];
    ring[44..48].copy_from_slice(&19_u32.to_be_bytes());
    ring[57..60].copy_from_slice(&[0, 0x10, 0xa6]);
    ring[63] = 0x2c;
    for place in 1..24 {
        ring[place * 64..][..64].fill(0xee);
    }
    for (array, place) in [1, 8, 16].into_iter().enumerate() {
        for mini in 0..8 {
            ring[place * 64 + mini * 8..][..8].copy_from_slice(&[0, 0, 0, 1, 0, 0, array as u8, mini as u8]);
        }
    }
    for place in 19..24 {
        ring[place * 64..][..64].copy_from_slice(&cqe());
    }
    let report = decode(&ring, &Options { input: Input::Cqe, cqe_bytes: Some(64), ..Options::default() });
    let minis: Vec<_> = report.records.iter().filter(|record| record.kind == Kind::MiniCqes).collect();
    let counts = minis.iter().flat_map(|record| &record.parts).map(|part| part.fields[1].value.number().unwrap());
    assert_eq!(
        counts.collect::<Vec<_>>(),
        [0_u64, 0x100, 0x200].map(|array| array..array + 8).into_iter().flatten().take(19).collect::<Vec<_>>()
    );
    assert_eq!(report.records.len(), 1 + 3 + 5, "{report}");
}

/// Linux `en_rx.c` (`mlx5e_decompress_enhanced_cqe`) and `get_cqe_enhanced_num_mini_cqes` of `device.h`: a CQE holds up
/// to seven, one more than it says, and takes as many places.
#[test]
fn compressed_cqes_of_the_enhanced_layout() {
    for count in 1..=7_u8 {
        let mut ring = [&cqe()[..], &vec![0xee; 64 * usize::from(count)], &cqe()].concat();
        let block = &mut ring[64..128];
        block.fill(0);
        for mini in 0..count {
            block[usize::from(mini) * 8..][..8].copy_from_slice(&[9, 9, 9, mini, 0, 0, 0, 60 + mini]);
        }
        block[62] = 5;
        block[63] = (count - 1) << 4 | 0xc;
        for input in [Input::Cqe, Input::Auto] {
            let report = decode(&ring, &Options { input, cqe_bytes: Some(64), binary: true, ..Options::default() });
            let kinds: Vec<_> = report.records.iter().map(|record| record.kind).collect();
            assert_eq!(kinds, [Kind::Cqe, Kind::MiniCqes, Kind::Cqe], "{report}");
            let block = &report.records[1];
            assert_eq!(block.title, format!("{count} mini-CQEs of the enhanced layout"));
            assert_eq!(block.number("validity_iteration_count"), Some(5));
            let counts = block.parts.iter().filter(|part| part.name == "mlx5_mini_cqe8");
            let counts: Vec<_> = counts.map(|part| part.fields[1].value.number()).collect();
            assert_eq!(counts, (0..count).map(|mini| Some(60 + u64::from(mini))).collect::<Vec<_>>());
        }
        let alone = decode(&ring[64..128], &Options { binary: true, ..Options::default() });
        assert_eq!(alone.records[0].kind, Kind::MiniCqes, "{alone}");
    }
}

/// A title of the basic layout has a number of mini-CQEs where a CQE of the enhanced one has a mini-CQE or nothing, and
/// it names a queue pair: either is enough.
#[test]
fn titles_of_the_basic_layout_are_none_of_the_enhanced_one() {
    let mut title = [0; 64];
    title[..8].fill(7);
    title[63] = 0x2c;
    let first = |cqe: &[u8; 64]| {
        let ring = [&cqe[..], &[0xee; 64]].concat();
        let options = Options { input: Input::Cqe, cqe_bytes: Some(64), binary: true, ..Options::default() };
        decode(&ring, &options).records[0].kind
    };
    assert_eq!(first(&title), Kind::MiniCqes, "neither");
    let (mut counts, mut named) = (title, title);
    counts[47] = 3;
    named[59] = 0x42;
    assert_eq!([first(&counts), first(&named)], [Kind::Cqe; 2]);
    // Where the first one has nothing, nobody has written any.
    let mut empty = title;
    empty[..8].fill(0);
    assert_eq!(first(&empty), Kind::Cqe);
    // Eight would leave no room for their end.
    title[63] = 0x7c;
    assert_eq!(first(&title), Kind::Cqe);
}

#[test]
fn what_is_no_dump_is_passed_over() {
    for text in [
        "",
        "\n\n*\n*\n",
        "commit deadbeefdeadbeefdeadbeefdeadbeefdeadbeef\nAuthor: somebody\n\n    A decade of facade: cafe babe\n",
        "2022-03-25 14:40:20 10 20 30 packets, 0x10 errors\nPID 1234 feed\n",
        "mlx5_core 0000:c1:00.0: enabling device (0000 -> 0002)\nlink up, 16 lanes\n",
        "BIOS-e820: mem 00000000 00000010 usable\nat 0000010a 00001202, twice\n",
    ] {
        let report = decode(text.as_bytes(), &Options::default());
        let known: Vec<_> = report.records.iter().filter(|record| record.kind != Kind::Unknown).collect();
        assert!(known.is_empty(), "{text:?}: {report}");
    }
}

#[test]
fn a_few_lines_cannot_take_all_memory() {
    let text: String = (0..10_000_u64).map(|row| format!("{:08x}: 00\n*\n", row * 0xf_ff00)).collect();
    let report = decode(text.as_bytes(), &Options { input: Input::Cqe, ..Options::default() });
    let bytes: usize = report.records.iter().map(|record| record.bytes.len()).sum();
    assert!(bytes < 3 << 20, "{bytes} bytes");
}
