//! Operations on lists of tags: libmlx5's `ibv_post_srq_ops`, and this crate's requests; and what completions tell of
//! them.

mod completions;
mod operations;
mod theirs;
