//! Frames that the benchmarks send.

/// Bytes of a frame, without its check sequence: the smallest of Ethernet.
pub(crate) const FRAME_BYTES: usize = 60;
/// Bytes of a large send's headers: Ethernet, IPv4, and TCP without options.
pub(crate) const HEADER_BYTES: usize = 54;
/// Bytes of payload in each packet of a large send.
pub(crate) const MSS: u16 = 1460;

/// Frames to send in turn, so that nothing about one is known ahead and moved out of a loop.
static FRAMES: [[u8; FRAME_BYTES]; COUNT as usize] = different();
/// Headers to send in turn, for that reason as well.
static HEADERS: [[u8; HEADER_BYTES]; COUNT as usize] = different();
const COUNT: u64 = 16;

/// Arrays whose bytes all differ from their neighbours. The device does not look at them.
const fn different<const N: usize>() -> [[u8; N]; COUNT as usize] {
    let mut all = [[0; N]; COUNT as usize];
    let mut at = 0;
    while at < N * all.len() {
        all[at / N][at % N] = (at % 251) as u8 + 1;
        at += 1;
    }
    all
}

/// The `n`th frame.
#[inline(always)]
pub(crate) fn frame(n: u64) -> &'static [u8; FRAME_BYTES] {
    &FRAMES[(n % COUNT) as usize]
}

/// The headers of the `n`th large send.
#[inline(always)]
pub(crate) fn headers(n: u64) -> &'static [u8; HEADER_BYTES] {
    &HEADERS[(n % COUNT) as usize]
}
