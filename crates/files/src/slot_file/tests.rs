use std::{
    os::unix::fs::PermissionsExt,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use testkit::{TmpfsMount, fill_disk, free_disk};

use super::*;

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap().trim_ascii_end().to_vec()
}

fn names(directory: &Path) -> Vec<String> {
    let entries = directory.read_dir().unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_is_replaced_and_its_old_content_is_wiped() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    for size in [10, 20_000, 5, 70_000, 0, 8_000] {
        write(&path, &vec![b'x'; size]).unwrap();
        assert_eq!(read(&path), vec![b'x'; size]);
        assert_eq!(read(&spare(&path)), b"");
        assert_eq!(names(directory.path()), ["file", "file.spare"]);
        for slot in [&path, &spare(&path)] {
            assert_eq!(slot.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
    }
}

#[test]
fn a_file_of_an_earlier_version_gets_its_slots() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    prepare(&path).unwrap();
    assert!(names(directory.path()).is_empty());
    fs::write(&path, b"old").unwrap();
    prepare(&path).unwrap();
    assert_eq!((read(&path), names(directory.path()).len()), (b"old".to_vec(), 2));
    let before = path.metadata().unwrap().modified().unwrap();
    prepare(&path).unwrap();
    assert_eq!(path.metadata().unwrap().modified().unwrap(), before);
}

/// Content of any size can be made smaller on a full disk; content that outgrows its slot is refused and changes nothing.
#[test]
fn a_removal_succeeds_on_a_full_disk() {
    let directory = tempfile::tempdir().unwrap();
    let disk = directory.path();
    let Some(_mounted) = TmpfsMount::new(disk, 2 << 20) else {
        eprintln!("SKIPPED: a_removal_succeeds_on_a_full_disk needs the right to mount a tmpfs");
        return;
    };
    let path = disk.join("file");
    for size in [1_000, 40_000, 100_000] {
        write(&path, &vec![b'a'; size]).unwrap();
        fill_disk(disk);
        assert!(write(&path, &vec![b'b'; 3 * size + 40_000]).is_err());
        assert_eq!(read(&path), vec![b'a'; size]);
        for step in 1..200 {
            write(&path, &vec![b'c'; size - step]).unwrap();
            assert_eq!(read(&path), vec![b'c'; size - step]);
        }
        free_disk(disk);
    }
}

/// The sizes that the process below writes in turn: within the slots, and beyond them.
const SIZES: [usize; 4] = [100, 20_000, 3_000, 90_000];

/// The environment variable that names the file to the process that is killed.
const KILLED_WRITER: &str = "SLOT_FILE_KILLED_WRITER";

/// A process that writes without end, if another test starts it.
#[test]
#[expect(clippy::disallowed_methods, reason = "the only way to tell the child what it is")]
fn killed_writer() {
    let Some(path) = std::env::var_os(KILLED_WRITER) else { return };
    for size in SIZES.iter().cycle() {
        write(Path::new(&path), &vec![b'x'; *size]).unwrap();
    }
}

/// A process that is killed between any two steps leaves one of the contents as a whole, and the next one goes on.
#[test]
fn a_killed_writer_leaves_one_of_the_contents() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let is_whole = || {
        let content = read(&path);
        SIZES.contains(&content.len()) && content.iter().all(|byte| *byte == b'x')
    };
    write(&path, &[b'x'; SIZES[0]]).unwrap();
    for round in 0..60 {
        let mut writer = Command::new(std::env::current_exe().unwrap())
            .args(["slot_file::tests::killed_writer", "--exact", "--nocapture"])
            .env(KILLED_WRITER, &path)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let before = path.metadata().unwrap().modified().unwrap();
        while path.metadata().unwrap().modified().unwrap() == before {
            assert!(writer.try_wait().unwrap().is_none());
        }
        // Different rounds end at different steps.
        let since = Instant::now();
        while since.elapsed() < Duration::from_micros(round * 97) {}
        writer.kill().unwrap();
        writer.wait().unwrap();
        assert!(is_whole(), "round {round}");
    }
    write(&path, &[b'x'; SIZES[3]]).unwrap();
    assert!(is_whole());
}
