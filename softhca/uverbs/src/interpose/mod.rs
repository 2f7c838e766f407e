//! The functions of libc that the program calls and we answer, each for our files only; everything else goes on to libc. They
//! only tell what is ours from what is not: what an answer is, others know.
//!
//! Variadic functions are defined with their last argument fixed: on the Linux ABIs integers are passed alike either way.

mod answer;
pub mod descriptors;
pub mod lookup;
mod paths;
pub mod positioned;
pub mod read;
pub mod signals;
pub mod write;
