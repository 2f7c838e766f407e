//! The data of a request: inside the request (inline), in registered memory (gather), or a header inside and the rest
//! in memory (both).

use blueflame::queue::PostError;
use blueflame::verbs::Device;
use blueflame::wqe::EncodeError;
use blueflame::{WrId, wqe};
use howto::Failure;

fn main() -> Result<(), Failure> {
    let device = howto::open(Device::options())?;
    let pd = device.protection_domain()?;
    let (mut near, far) = howto::connected(&pd)?;
    let to = far.buffer.remote();
    near.buffer.write(0, b"a page of memory");

    // ANCHOR: inline
    // `post` is safe: it copies the bytes into the ring, so the order is yours again when it returns.
    let order = *b"an order";
    near.pair.sq.post(&wqe::write(to).inline(&order).signaled(WrId(1)))?;
    // ANCHOR_END: inline
    near.sent()?;
    assert_eq!(far.buffer.to_vec(0..8), b"an order");

    // ANCHOR: gather
    // The device reads both pieces when it executes the request, and the peer gets them in a row.
    let pieces = [near.buffer.sge_of(2..6), near.buffer.sge_of(9..16)];
    let request = wqe::write(to).gather(pieces).signaled(WrId(2));
    // SAFETY: the buffer is registered longer than the queue lives, and nobody writes it before `sent`.
    unsafe { near.pair.sq.post_unchecked(&request)? };
    // ANCHOR_END: gather
    near.sent()?;
    assert_eq!(far.buffer.to_vec(0..11), b"page memory");

    // ANCHOR: both
    let header = 16_u32.to_be_bytes();
    let request = wqe::write(to).inline(&header).then_gather([near.buffer.sge_of(0..16)]).signaled(WrId(3));
    // SAFETY: the buffer is registered longer than the queue lives, and nobody writes it before `sent`.
    unsafe { near.pair.sq.post_unchecked(&request)? };
    // ANCHOR_END: both
    near.sent()?;
    assert_eq!(far.buffer.to_vec(0..20), b"\0\0\0\x10a page of memory");

    // ANCHOR: error
    let long = vec![0; 1 << 10];
    let refused = near.pair.sq.post(&wqe::write(to).inline_slice(&long[..]));
    let Err(PostError::Encode(EncodeError::InlineTooLong { bytes, limit })) = refused else {
        return Err(format!("{} bytes inline: {refused:?}", long.len()).into());
    };
    // ANCHOR_END: error
    println!("inline, gathered and both have arrived; {bytes} bytes inline are refused, the limit is {limit}");
    Ok(())
}
