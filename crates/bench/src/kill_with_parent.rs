//! Ties the life of a child process to that of its parent.

use std::{os::unix::process::CommandExt, process::Command};

use rustix::process::{Signal, set_parent_process_death_signal};

/// Makes the kernel kill the child when its parent ends, even if the parent crashes.
///
/// The kernel's rule is about the parent *thread*: a child that is started on a short-lived thread dies with that
/// thread.
#[expect(unsafe_code, reason = "code between fork and exec has no safe interface")]
pub(crate) fn kill_with_parent(command: &mut Command) {
    let set_signal = || Ok(set_parent_process_death_signal(Some(Signal::KILL))?);
    // SAFETY: the closure makes one system call and allocates nothing.
    unsafe {
        command.pre_exec(set_signal);
    }
}
