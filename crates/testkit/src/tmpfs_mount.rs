//! A small filesystem, to test the behaviour on a full disk.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};

/// The file that takes all free space of a disk.
const FILLER: &str = "filler";

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

/// Takes every free block of the disk that `directory` is on, as any process of a machine may at any moment.
///
/// # Panics
/// If the file that takes them cannot be created.
pub fn fill_disk(directory: &Path) {
    let mut options = File::options();
    let filler = options.create(true).append(true).open(directory.join(FILLER));
    let mut filler = filler.expect("could not create the file that fills the disk");
    for size in [1 << 20, 4096, 1] {
        while filler.write_all(&vec![0; size]).is_ok() {}
    }
}

/// Gives back the blocks that [`fill_disk`] has taken.
///
/// # Panics
/// If the file cannot be deleted.
pub fn free_disk(directory: &Path) {
    fs::remove_file(directory.join(FILLER)).expect("could not delete the file that fills the disk");
}

impl Drop for TmpfsMount {
    fn drop(&mut self) {
        // `-l` detaches the filesystem even while a process that is about to end still has a file open on it.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}
