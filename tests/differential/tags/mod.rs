//! Operations on lists of tags by libmlx5's `ibv_post_srq_ops` and by this crate's requests, and the meaning of their
//! completions.

mod completions;
mod operations;
mod theirs;
