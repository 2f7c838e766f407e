//! Rates of send queues (packet pacing).

use core::ptr::NonNull;
use std::sync::Arc;

use blueflame::verbs::device::{RateLimit, RateLimits};
use blueflame_sys as sys;

use crate::caps::{CapMode, Caps};
use crate::cmd::QosCap;
use crate::context::Context;
use crate::error::Error;
use crate::memory::last;
use crate::support::ask::has;

/// An entry of the device's table of rates. Send queues refer to it. Each of them has the rate for itself. Cheap to
/// clone.
#[doc(alias("mlx5dv_pp", "mlx5dv_pp_alloc", "mlx5dv_pp_free"))]
#[derive(Clone, Debug)]
pub struct PacketPacing {
    handle: Arc<Handle>,
}

#[derive(Debug)]
struct Handle {
    raw: NonNull<sys::mlx5dv_pp>,
    index: u16,
    limit: RateLimit,
    context: Context,
}

// SAFETY: the library keeps the object to itself, and its calls take locks of their own.
unsafe impl Send for Handle {}
// SAFETY: the library keeps the object to itself, and its calls take locks of their own.
unsafe impl Sync for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: from `mlx5dv_pp_alloc`, freed once; the queues that refer to it held this, and are gone.
        unsafe { sys::mlx5dv_pp_free(self.raw.as_ptr()) };
    }
}

/// Words of `set_pp_rate_limit_context`.
const WORDS: usize = 12;

/// The context of a rate, big endian: kbit/s, the most bytes of a burst, then the mode (0: of data) and the bytes of
/// most frames (DPDK `drivers/common/mlx5/mlx5_prm.h`, `mlx5_ifc_set_pp_rate_limit_context_bits`).
fn encoded(limit: RateLimit) -> [u32; WORDS] {
    let mut words = [0; WORDS];
    [words[0], words[1], words[2]] = [limit.rate(), limit.max_burst(), limit.typical().into()].map(u32::to_be);
    words
}

impl Context {
    /// The rates that send queues of frames can have (`qos_cap`); `None`: the device has none.
    ///
    /// # Errors
    /// [`Error::Command`].
    pub fn rate_limits(&self) -> Result<Option<RateLimits>, Error> {
        Ok(self
            .pacing()?
            .map(|qos| RateLimits { min: qos.packet_pacing_min_rate(), max: qos.packet_pacing_max_rate() }))
    }

    fn pacing(&self) -> Result<Option<Caps<QosCap>>, Error> {
        if !self.general()?.qos() {
            return Ok(None);
        }
        let qos = self.capabilities::<QosCap>(CapMode::Current)?;
        Ok(qos.packet_pacing().then_some(qos))
    }
}

impl PacketPacing {
    /// Takes an entry with this rate. Users of equal rates share one entry.
    ///
    /// # Errors
    /// [`Error::Capability`] if the device has no rates, or bounds no bursts; [`Error::Verbs`] for a rate that it does
    /// not have; [`Error::Call`]: `ENOSPC` if all entries are taken.
    pub fn new(context: &Context, limit: RateLimit) -> Result<Self, Error> {
        Self::with_flags(context, limit, 0)
    }

    /// Takes an entry with this rate that no other user shares.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn dedicated(context: &Context, limit: RateLimit) -> Result<Self, Error> {
        Self::with_flags(context, limit, sys::MLX5DV_PP_ALLOC_FLAGS_DEDICATED_INDEX)
    }

    fn with_flags(context: &Context, limit: RateLimit, flags: u32) -> Result<Self, Error> {
        let Some(qos) = context.pacing()? else {
            return Err(Error::Capability { name: "qos_cap.packet_pacing", needed: 1, found: 0 });
        };
        has("qos_cap.packet_pacing_burst_bound", limit.max_burst() == 0 || qos.packet_pacing_burst_bound())?;
        has("qos_cap.packet_pacing_typical_size", limit.typical() == 0 || qos.packet_pacing_typical_size())?;
        RateLimits { min: qos.packet_pacing_min_rate(), max: qos.packet_pacing_max_rate() }.check(limit)?;
        let words = encoded(limit);
        // SAFETY: the context is open, and the words live until the call returns.
        let raw = unsafe { sys::mlx5dv_pp_alloc(context.raw(), size_of_val(&words), words.as_ptr().cast(), flags) };
        let raw = NonNull::new(raw).ok_or_else(|| last("mlx5dv_pp_alloc"))?;
        // SAFETY: allocated, and written before it was given out.
        let index = unsafe { (*raw.as_ptr()).index };
        Ok(Self { handle: Arc::new(Handle { raw, index, limit, context: context.clone() }) })
    }

    /// The number that identifies it in contexts of send queues.
    #[must_use]
    pub fn index(&self) -> u16 {
        self.handle.index
    }

    /// Its rate.
    #[must_use]
    pub fn limit(&self) -> RateLimit {
        self.handle.limit
    }

    /// The device.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.handle.context
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Byte by byte, from Linux' `include/linux/mlx5/mlx5_ifc.h` (`rate_limit` 0x0, `burst_upper_bound` 0x20,
    /// `typical_packet_size` 0x50).
    #[test]
    fn a_rate_is_where_the_device_looks() {
        let limit = RateLimit::kilobits(0x0102_0304).burst(0x0506_0708).typical_frame(0x090a);
        let bytes: Vec<u8> = encoded(limit).iter().flat_map(|word| word.to_ne_bytes()).collect();
        assert_eq!(bytes[..12], [1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 9, 10]);
        assert_eq!(bytes[12..], [0; 36]);
    }
}
