//! A small filesystem, to test the behaviour on a full disk.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// A mounted tmpfs of limited size, unmounted when this value is dropped.
#[derive(Debug)]
pub struct TmpfsMount(PathBuf);

impl TmpfsMount {
    /// Mounts a tmpfs of `bytes` bytes at `at`. Returns `None` if mounting fails, as it does without root.
    pub fn new(at: &Path, bytes: usize) -> Option<Self> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={bytes}"), "tmpfs"]).arg(at);
        mount.output().is_ok_and(|output| output.status.success()).then(|| Self(at.into()))
    }

    /// Changes the size to `bytes` bytes.
    ///
    /// # Panics
    /// If `mount` fails.
    pub fn resize(&self, bytes: usize) {
        let done = Command::new("mount").args(["-o", &format!("remount,size={bytes}")]).arg(&self.0).status();
        assert!(done.expect("could not run mount").success());
    }
}

impl Drop for TmpfsMount {
    fn drop(&mut self) {
        // `-l` detaches the filesystem even while a process that is about to end still has a file open on it.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}
