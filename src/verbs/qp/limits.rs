//! Finds the limit that a queue pair exceeds when libmlx5 says only EINVAL.

use crate::verbs::Error;

/// Finds whether `inline` bytes or `sends` requests are too many, by trying: libmlx5 compares them with limits of the
/// context that it does not report (rdma-core `providers/mlx5/verbs.c`, `mlx5_calc_sq_size`: `max_sq_desc_sz`,
/// `max_send_wqebb`).
///
/// `possible` says whether a queue pair with that many sends and inline bytes can be made. `None` if neither is too
/// many.
pub(in crate::verbs) fn past(inline: u32, sends: u32, possible: impl Fn(u32, u32) -> bool) -> Option<Error> {
    if !possible(1, 0) {
        return None;
    }
    let (what, value, min, max) = if possible(1, inline) {
        ("requests of a send queue, so large", sends, 1, largest(1, sends, |sends| possible(sends, inline))?)
    } else {
        ("bytes inline", inline, 0, largest(0, inline, |inline| possible(1, inline))?)
    };
    Some(Error::OutOfRange { what, value: value.into(), min, max: max.into() })
}

/// The largest possible number, given that `yes` is possible; `None` if `no` is possible as well.
fn largest(yes: u32, no: u32, possible: impl Fn(u32) -> bool) -> Option<u32> {
    if possible(no) {
        return None;
    }
    let (mut yes, mut no) = (yes, no);
    while no - yes > 1 {
        let middle = yes + (no - yes) / 2;
        if possible(middle) { yes = middle } else { no = middle }
    }
    Some(yes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_found() {
        let possible =
            |sends: u32, inline: u32| inline <= 828 && sends * (inline + 132).next_multiple_of(64) <= 1 << 16;
        let of = |what, value, min, max| Some(Error::OutOfRange { what, value, min, max });
        assert_eq!(past(900, 4, possible), of("bytes inline", 900, 0, 828));
        assert_eq!(past(500, 1000, possible), of("requests of a send queue, so large", 1000, 1, 102));
        assert_eq!(past(500, 4, possible), None, "it is possible");
        assert_eq!(past(900, 4, |_, _| false), None, "whatever is asked for");
    }
}
