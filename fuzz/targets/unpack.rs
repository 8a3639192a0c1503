//! No archive changes anything outside of its destination, and one that is refused changes nothing at all.

#![no_main]

use std::{fs, path::Path};

use files::{RootDirectory, RootedPath, unpack::UnpackLimits};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|archive: &[u8]| {
    let Ok(home) = tempfile::tempdir() else { return };
    let inside = home.path().join("inside");
    if fs::create_dir(&inside).is_err() || fs::write(home.path().join("outside"), "untouched").is_err() {
        return;
    }
    let Ok(root) = RootDirectory::open(home.path()) else { return };
    let Ok(dest) = RootedPath::parse("/inside") else { return };
    let unpacked = root.unpack(archive, &dest, &UnpackLimits { entries: 100, bytes: 1 << 20 });
    assert_eq!(names(home.path()), ["inside", "outside"]);
    assert!(fs::read(home.path().join("outside")).is_ok_and(|content| content == b"untouched"));
    if unpacked.is_err() {
        assert!(names(&inside).is_empty(), "a refused archive left something behind");
    }
});

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
