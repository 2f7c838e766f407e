//! Ethernet frames: the device sends the posted bytes, wherever they were put, with the checksums filled in.
//!
//! Sent frames belong here, steering in `softhca/tests/ethernet`.

use blueflame::transport;
use blueflame::types::{Ds, WrId};
use blueflame::wqe;
use blueflame::wqe::operations::{HeaderOffsets, HeadersAt, Ip, L4};
use blueflame_testkit::request::{Data, Kind, Service, Wr};
use blueflame_testkit::{ConnectOptions, Device, DeviceOptions, End, Network, Shape};

/// A device on Ethernet, and a queue pair that is ready to send.
pub(crate) fn end<T: Service>(sq_wqebbs: u32) -> (Device, End<T>) {
    let hca = Network::new().device(DeviceOptions::ethernet(1)).expect("a device");
    let end = End::new(&hca, &Shape { sq_wqebbs, ..Shape::SMALL }).expect("an end");
    end.connect(&end.endpoint(), &ConnectOptions::default()).expect("ready to send");
    (hca, end)
}

/// The one frame that the device has sent, after its completion.
fn sent<T: Service>(hca: &Device, end: &mut End<T>, id: u64) -> Vec<u8> {
    hca.run_until_idle().expect("an end");
    let cqe = end.cq.poll().expect("a completion");
    cqe.check().expect("success");
    assert_eq!(end.sq.retire(&cqe).expect("outstanding").wr_id, WrId(id));
    assert_eq!(hca.complaints(), []);
    let [frame] = &hca.take_frames()[..] else { panic!("one request, one frame") };
    frame.bytes.clone()
}

/// Ethernet, IPv4 and UDP headers of a datagram of `data` bytes, with no checksums.
fn headers(data: usize) -> [u8; 42] {
    let mut headers = [0; 42];
    headers[..14].copy_from_slice(&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00]);
    headers[14..34].copy_from_slice(&[0x45, 0, 0, 0, 0, 7, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    headers[34..38].copy_from_slice(&[0x30, 0x39, 0x27, 0x0f]);
    headers[16..18].copy_from_slice(&(28 + data as u16).to_be_bytes());
    headers[38..40].copy_from_slice(&(8 + data as u16).to_be_bytes());
    headers
}

/// The one's complement sum of 16-bit words (RFC 1071): 0xffff over the bytes that its checksum covers.
fn sum(bytes: &[u8]) -> u16 {
    let sum: u32 = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0))).sum();
    ((sum & 0xffff) + (sum >> 16)) as u16
}

#[test]
fn every_split_is_the_same_frame() {
    let (hca, mut end) = end::<transport::RawPacket<0>>(16);
    let mut buffer = hca.buffer(4096).expect("memory");
    let mut id = 0;
    for headers in [0, 18, 34, 42, 66, 130] {
        for len in [0, 1, 12, 13, 60, 200].map(|rest| (headers + rest).max(14)) {
            let frame: Vec<u8> = (0..len).map(|n| (n * 5 + headers + id as usize) as u8).collect();
            buffer.write(64, &frame);
            let cut = len / 3;
            let gathered = Data::Sges(vec![buffer.sge(64..64 + cut), buffer.sge(64 + cut..64 + cut + len - cut)]);
            for data in [Data::Inline(frame.clone()), gathered] {
                id += 1;
                let wr = Wr::new(Kind::Frame(headers, false), data, id);
                // SAFETY: the buffer is registered and left alone until the completion.
                unsafe { end.post(&wr) }.expect("room");
                assert_eq!(sent(&hca, &mut end, id), frame, "{wr:?}");
            }
        }
    }
}

#[test]
fn a_datagram_prepared_and_posted() {
    const DATA: usize = 50;
    let (hca, mut end) = end::<transport::RawPacket>(8);
    let headers = headers(DATA);
    let frame = wqe::frame().inline_headers(&headers).l3_checksum().l4_checksum().signaled(WrId(3));
    let frame = end.sq.prepare::<_, _, DATA, 0>(&frame).expect("within the limits");
    for n in 0..100 {
        let payload: [u8; DATA] = core::array::from_fn(|i| (i * 3 + n) as u8);
        end.sq.post(&frame.inline(&payload)).expect("room");
        let sent = sent(&hca, &mut end, 3);
        assert_eq!(sent[42..], payload);
        let mut plain = sent.clone();
        plain[24..26].fill(0);
        plain[40..42].fill(0);
        assert_eq!(plain[..42], headers);
        assert_eq!(sum(&sent[14..34]), 0xffff, "the header's checksum");
        let pseudo = [&sent[26..34], &[0, 17], &sent[38..40]].concat();
        assert_eq!(sum(&[&pseudo, &sent[34..]].concat()), 0xffff, "the datagram's checksum");
    }
}

/// Ethernet, IPv4 and TCP headers without lengths and checksums, the flags PSH and FIN and a sequence number that comes
/// to its end.
fn tcp_headers() -> [u8; 54] {
    let mut headers = [0; 54];
    headers[..14].copy_from_slice(&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00]);
    headers[14..34].copy_from_slice(&[0x45, 0, 0, 0, 0xff, 0xff, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    headers[34..54].copy_from_slice(&[0x30, 0x39, 0x27, 0x0f, 255, 255, 255, 0, 0, 0, 0, 1, 0x50, 9, 1, 0, 0, 0, 0, 0]);
    headers
}

#[test]
fn a_large_send_leaves_as_frames() {
    const BYTES: usize = 90_000;
    let (hca, mut end) = end::<transport::RawPacket>(16);
    let mut buffer = hca.buffer(BYTES).expect("memory");
    let payload: Vec<u8> = (0..BYTES).map(|n| (n * 7 + n / 251) as u8).collect();
    buffer.write(0, &payload);
    for (id, mss) in [(1, 1460), (2, 4000), (3, 8000)] {
        let headers = tcp_headers();
        let request = wqe::frame().inline_headers(&headers).l3_checksum().l4_checksum().large(mss);
        let pieces = [buffer.sge(0..33), buffer.sge(33..BYTES)];
        // SAFETY: the buffer is registered and left alone until the completion.
        unsafe { end.sq.post_unchecked(&request.gather(pieces).signaled(WrId(id))) }.expect("room");
        hca.run_until_idle().expect("an end");
        let cqe = end.cq.poll().expect("a completion");
        cqe.check().expect("success");
        assert_eq!(end.sq.retire(&cqe).expect("outstanding").wr_id, WrId(id));
        let (mut found, mut sequence) = (Vec::<u8>::new(), 0xffff_ff00_u32);
        let frames = hca.take_frames();
        assert_eq!(frames.len(), BYTES.div_ceil(mss.into()));
        for (n, frame) in frames.iter().map(|frame| &frame.bytes).enumerate() {
            let data = &frame[54..];
            assert_eq!(frame[16..18], (frame.len() as u16 - 14).to_be_bytes(), "length");
            assert_eq!(frame[18..20], 0xffff_u16.wrapping_add(n as u16).to_be_bytes(), "identification");
            assert_eq!(frame[38..42], sequence.to_be_bytes(), "sequence number");
            assert_eq!(frame[47], if n + 1 == frames.len() { 9 } else { 0 }, "PSH and FIN");
            assert_eq!(sum(&frame[14..34]), 0xffff, "the header's checksum");
            let pseudo = [&frame[26..34], &[0, 6], &(20 + data.len() as u16).to_be_bytes()].concat();
            assert_eq!(sum(&[&pseudo, &frame[34..]].concat()), 0xffff, "the segment's checksum");
            sequence = sequence.wrapping_add(data.len() as u32);
            found.extend(data);
        }
        assert!(found == payload, "mss {mss}");
    }
}

/// Ethernet, IPv4, UDP to this port, a tunnel's header, IPv4 and TCP: `data` bytes behind them. There are no checksums.
fn tunnelled(port: u16, tunnel: &[u8], data: &[u8]) -> Vec<u8> {
    let mut inner = vec![0x45, 0];
    inner.extend((40 + data.len() as u16).to_be_bytes());
    inner.extend([0, 5, 0x40, 0, 64, 6, 0, 0, 192, 168, 0, 1, 192, 168, 0, 2]);
    inner.extend([0x30, 0x39, 0x27, 0x0f, 0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x18, 1, 0, 0, 0, 0, 0]);
    inner.extend(data);
    let mut frame = headers(tunnel.len() + inner.len()).to_vec();
    frame[36..38].copy_from_slice(&port.to_be_bytes());
    frame.extend(tunnel);
    frame.extend(inner);
    frame
}

/// Asserts that a frame has both checksums of its inner packet, and that of the outer header.
fn assert_inner_checksums(frame: &[u8], inner: usize) {
    assert_eq!(sum(&frame[14..34]), 0xffff, "the outer header's checksum");
    assert_eq!(frame[40..42], [0; 2], "the outer datagram's was not asked for");
    assert_eq!(sum(&frame[inner..inner + 20]), 0xffff, "the inner header's checksum");
    let tcp = &frame[inner + 20..];
    let pseudo = [&frame[inner + 12..inner + 20], &[0, 6], &(tcp.len() as u16).to_be_bytes()].concat();
    assert_eq!(sum(&[&pseudo, tcp].concat()), 0xffff, "the segment's checksum");
}

/// VXLAN (RFC 7348), which the device knows, and a tunnel that it does not know, whose headers the WQE states: by
/// themselves, several in a WQE, and cut up.
#[test]
fn frames_in_tunnels_have_their_inner_checksums() {
    let (hca, mut end) = end::<transport::RawPacket<0>>(16);
    let vxlan = [&[8, 0, 0, 0, 0, 0, 7, 0][..], &[2; 12], &[8, 0]].concat();
    let data: Vec<u8> = (0..64).map(|n| n * 3).collect();
    let at = HeadersAt { ip: Ip::V4, l3: 14, l4: Some((L4::Udp, 34)) };
    let offsets = HeaderOffsets::new(at, Some(HeadersAt { ip: Ip::V4, l3: 46, l4: Some((L4::Tcp, 66)) }));
    let offsets = offsets.expect("even offsets");
    let known = wqe::frame().l3_checksum().inner_l3_checksum().inner_l4_checksum().signaled(WrId(1));
    let frame = tunnelled(4789, &vxlan, &data);
    end.sq.post(&known.inline_slice(&frame[..])).expect("room");
    assert_inner_checksums(&sent(&hca, &mut end, 1), 64);
    let frame = tunnelled(4000, &[1, 2, 3, 4], &data);
    end.sq.post(&known.header_offsets(offsets).inline_slice(&frame[..])).expect("room");
    assert_inner_checksums(&sent(&hca, &mut end, 1), 46);

    let mut batch = end.sq.batch();
    let mut session = batch.session(&known.header_offsets(offsets).metadata(3)).expect("room");
    for cut in 0..3 {
        let frame = tunnelled(4000, &[cut; 4], &data[..usize::from(cut)]);
        session.inline(&frame[..]).expect("room");
    }
    session.close();
    batch.ring_doorbell();
    hca.run_until_idle().expect("an end");
    let cqe = end.cq.poll().expect("a completion");
    cqe.check().expect("success");
    assert_eq!(end.sq.retire(&cqe).expect("outstanding").frames, 3);
    let frames = hca.take_frames();
    assert_eq!(frames.len(), 3);
    for frame in frames {
        assert_inner_checksums(&frame.bytes, 46);
    }

    let frame = tunnelled(4000, &[5; 4], &data);
    let headers = frame.first_chunk::<86>().expect("all headers");
    end.sq
        .post(&known.inline_headers(headers).header_offsets(offsets).large(40).inline_slice(&frame[86..]))
        .expect("room");
    hca.run_until_idle().expect("an end");
    let cqe = end.cq.poll().expect("a completion");
    cqe.check().expect("success");
    end.sq.retire(&cqe).expect("outstanding");
    let frames = hca.take_frames();
    assert_eq!(frames.iter().map(|frame| frame.bytes.len()).collect::<Vec<_>>(), [126, 110]);
    for frame in frames {
        assert_inner_checksums(&frame.bytes, 46);
    }
}

/// Frames of a WQE, inline and by pointer, at every place of the ring: each leaves once, in order, and the WQE
/// completes once.
#[test]
fn every_frame_of_a_session_leaves() {
    const ROOM: usize = 128;
    let (hca, mut end) = end::<transport::RawPacket<0>>(16);
    let mut buffer = hca.buffer(64 * ROOM).expect("memory");
    let mut tag = 0;
    for round in 0..300_usize {
        let count = 1 + round % 30;
        let frames: Vec<Vec<u8>> = (0..count)
            .map(|n| (0..14 + (round * 7 + n * 13) % 100).map(|byte| (byte * 5 + n + round) as u8).collect())
            .collect();
        let mut batch = end.sq.batch();
        let mut session = batch.session(&wqe::frame().signaled(WrId(tag))).expect("room");
        let mut put = Vec::new();
        for (n, frame) in frames.iter().enumerate() {
            buffer.write(n * ROOM, frame);
            let added = if (round >> (n % 7)) & 1 == 0 {
                session.inline(&frame[..])
            } else {
                // SAFETY: the buffer is registered and left alone until the completion.
                unsafe { session.gather_unchecked(buffer.sge(n * ROOM..n * ROOM + frame.len())) }
            };
            match added {
                Ok(()) => put.push(frame.clone()),
                Err(error) => assert!(session.free() < Ds(9), "{error}"),
            }
        }
        session.close();
        batch.ring_doorbell();
        hca.run_until_idle().expect("an end");
        let cqe = end.cq.poll().expect("a completion");
        cqe.check().expect("success");
        let retired = end.sq.retire(&cqe).expect("outstanding");
        let tags: Vec<WrId> = (tag..).take(put.len()).map(WrId).collect();
        assert_eq!(retired.wr_ids().collect::<Vec<_>>(), tags);
        tag += put.len() as u64;
        assert!(end.cq.poll().is_none(), "one completion");
        assert_eq!(hca.complaints(), []);
        let sent: Vec<_> = hca.take_frames().into_iter().map(|frame| frame.bytes).collect();
        assert_eq!(sent, put, "round {round}");
    }
}
