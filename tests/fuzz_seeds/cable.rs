//! Seeds of bytes on a cable: a packet of each form, whole, damaged and cut.

use blueflame_fuzz_targets::cable::Input;

pub(crate) fn seeds() -> Vec<(&'static str, Input)> {
    let send = [0x04, 0x40, 0xff, 0xff, 0, 0, 0, 0x41, 0x80, 0, 0, 7, b'd', b'a', b't', b'a'];
    let whole = |kind| Input {
        packet: send.to_vec(),
        kind,
        levels: [3, 0x62, 64, 1, 2, 3],
        damage: vec![],
        cut: 0,
        bytes: vec![],
        ethernet: true,
    };
    vec![
        ("local", whole(0)),
        ("global", whole(1)),
        ("roce_v1", whole(2)),
        ("ipv4", whole(3)),
        ("ipv6", whole(4)),
        ("wrong_crc", Input { damage: vec![[60, 0]], ..whole(3) }),
        ("short", Input { cut: 20, ..whole(4) }),
        ("arp", Input { bytes: [&[0xff; 6][..], &[2; 6], &[8, 6], &[0; 28]].concat(), ..whole(0) }),
        ("credits", Input { bytes: vec![0; 8], ethernet: false, ..whole(0) }),
    ]
}
