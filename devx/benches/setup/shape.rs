//! The size and the first packet number of the timed queue pairs, the same for each maker.
use blueflame::types::Psn;

use crate::bare::Shape;

/// The size of their queues.
pub(crate) const SHAPE: Shape = Shape { sends: 64, receives: 64, inline: 28 };
/// The first packet's number, in both directions.
pub(crate) const PSN: Psn = Psn::truncate(1);
