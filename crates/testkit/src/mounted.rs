//! A disk that can be full.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// A small filesystem of its own.
#[derive(Debug)]
pub struct Mounted(PathBuf);

impl Mounted {
    /// A filesystem of so many bytes at `at`; none if that is not allowed here.
    pub fn new(at: &Path, bytes: usize) -> Option<Self> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={bytes}"), "tmpfs"]).arg(at);
        mount.output().is_ok_and(|output| output.status.success()).then(|| Self(at.into()))
    }

    /// Gives it so many bytes.
    ///
    /// # Panics
    /// If that is not possible.
    pub fn resize(&self, bytes: usize) {
        let done = Command::new("mount").args(["-o", &format!("remount,size={bytes}")]).arg(&self.0).status();
        assert!(done.expect("run mount").success());
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}
