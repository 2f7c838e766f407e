//! The uverbs front end of [`softhca`]: a shared object that, preloaded into a program, answers libibverbs' system calls.
