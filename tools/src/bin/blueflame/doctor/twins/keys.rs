//! Twins that configure one memory key, one after the other.

use std::ptr::NonNull;

use blueflame::WrId;
use blueflame::transport::Rc;
use blueflame::wqe::keys::KeyRights;
use blueflame::wqe::{self, Fence};

use super::pair::{Sizes, poll};
use super::request::{Data, Request, Verb, Way};
use super::twin::Twins;
use crate::doctor::found::{Failure, Seen, same};
use crate::doctor::lab::{Lab, pattern};

/// Pieces behind the key, and bytes of each.
const PIECES: usize = 4;
const BYTES: usize = 100;
/// The place that requests by the key write to.
const PLACE: usize = 8192;

pub(super) fn keys(lab: &Lab) -> Result<Seen, Failure> {
    let mut twins = Twins::<Rc>::of_rc(lab, Sizes { keys: true, ..Sizes::default() })?;
    let key = lab.pd().indirect_key(PIECES as u16)?;
    let raw = NonNull::new(key.as_raw()).ok_or("a key without an address")?;
    for count in 1..=PIECES {
        // In reverse.
        let places: Vec<_> = (0..count).rev().map(|n| n * 1000..n * 1000 + BYTES).collect();
        let data = pattern(count as u32, count * BYTES);
        for (place, piece) in places.iter().zip(data.chunks(BYTES)) {
            twins.ours.memory.write(place.start, piece);
        }
        let list: Vec<_> = places.into_iter().map(|place| twins.ours.memory.sge_of(place)).collect();
        let (to, by_key) = (twins.ours.memory.remote().at(PLACE as u64), [key.sge(0, data.len() as u32)]);
        let configure = Request { signaled: false, ..Request::new(Verb::ConfigureKey(raw), Data::Memory(&list)) };
        // SAFETY: key and memory live longer than the requests.
        unsafe {
            let write = Request::new(Verb::Write(to), Data::Memory(&by_key));
            twins.theirs.pair.post(Way::Builders, &[configure, write])
        }?;
        poll(lab, "libmlx5's WRITE by a key", &twins.theirs.sent)?;
        same("libmlx5's WRITE by a key", &data, &twins.ours.memory.to_vec(PLACE..PLACE + data.len()))?;
        twins.ours.memory.write(PLACE, &vec![0; data.len()]);
        let mut batch = twins.ours.pair.sq.batch();
        // SAFETY: key and memory live longer than the requests.
        unsafe {
            let configure = key.configure().rights(KeyRights::LOCAL_WRITE).list(&list[..]);
            batch.push_unchecked(&configure.wr_id(WrId(1)))?;
            // libmlx5 puts this fence behind each configuration.
            batch.push_unchecked(&wqe::write(to).gather(by_key).fence(Fence::Small).signaled(WrId(2)))?;
        }
        batch.ring_doorbell();
        twins.compare(Way::Builders, 2)?;
        twins.ours.sent(lab, "our WRITE by a key")?;
        same("our WRITE by a key", &data, &twins.ours.memory.to_vec(PLACE..PLACE + data.len()))?;
    }
    Ok(Seen::new("lists of one to four pieces behind one key: the same bytes").figure("requests", twins.posted))
}
