//! The users and groups that the calling thread acts as.

/// A thread's users and groups: real, effective and saved ones.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Credentials([[libc::uid_t; 3]; 2]);

impl Credentials {
    /// Those of the calling thread.
    pub(crate) fn now() -> Self {
        let [mut users, mut groups] = [[0; 3]; 2];
        // SAFETY: each call fills in three numbers of a local variable.
        unsafe {
            libc::getresuid(&raw mut users[0], &raw mut users[1], &raw mut users[2]);
            libc::getresgid(&raw mut groups[0], &raw mut groups[1], &raw mut groups[2]);
        }
        Self([users, groups])
    }
}
