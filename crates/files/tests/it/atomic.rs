//! daemon-10, daemon-11: `PUT file` is atomic.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    os::unix::fs::{MetadataExt, PermissionsExt},
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
};

use files::{
    CHUNK_BYTES, CreateOptions, Durability, FileErrorCause, IfExists, ParentDirectories, RootDirectory,
};

use crate::support::{World, assert_cause, path, tree};

#[test]
fn a_reader_sees_the_old_or_the_new_file_and_never_a_part() {
    let world = World::new();
    let versions = [vec![b'a'; 3 * CHUNK_BYTES], vec![b'b'; 2 * CHUNK_BYTES]];
    let put = |content: &[u8]| {
        let mut file = world.root.create(&path("a"), CreateOptions::default()).unwrap();
        for chunk in content.chunks(CHUNK_BYTES / 3) {
            file.write_all(chunk).unwrap();
        }
        file.commit().unwrap();
    };
    put(&versions[0]);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut count = 0;
            while !done.load(Ordering::Relaxed) || count == 0 {
                let (mut file, stat) = world.root.open_read(&path("a")).unwrap();
                let mut content = Vec::new();
                file.read_to_end(&mut content).unwrap();
                assert!(versions.contains(&content), "{} bytes, neither version", content.len());
                assert_eq!(stat.size, content.len() as u64);
                count += 1;
            }
        });
        for turn in 0..100 {
            put(&versions[turn % 2]);
        }
        done.store(true, Ordering::Relaxed);
        reader.join().unwrap();
    });
    assert_eq!(tree(&world.jail("")).len(), 1);
}

#[test]
fn a_file_that_is_not_committed_leaves_no_trace() {
    let world = World::new();
    world.write("a", "old").unwrap();
    let before = tree(&world.jail(""));
    let mut file = world.root.create(&path("a"), CreateOptions::default()).unwrap();
    file.write_all(b"new").unwrap();
    assert_eq!(tree(&world.jail("")), before, "nothing shows while it is written");
    drop(file);
    assert_eq!(tree(&world.jail("")), before);
}

#[test]
fn a_writer_that_is_killed_leaves_nothing() {
    let world = World::new();
    let mut writer = Command::new(std::env::current_exe().unwrap())
        .args(["atomic::writes_until_killed", "--exact", "--nocapture"])
        .env(JAIL_VARIABLE, world.jail(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("half written")));
    writer.kill().unwrap();
    writer.wait().unwrap();
    assert_eq!(tree(&world.jail("")).len(), 0);
}

/// Passes the directory to the child process of the test above.
const JAIL_VARIABLE: &str = "FILES_TEST_JAIL";

/// The child process of the test above; without the variable it does nothing.
#[test]
#[expect(clippy::disallowed_methods, reason = "this is how the other half is told apart")]
fn writes_until_killed() {
    let Some(dir) = std::env::var_os(JAIL_VARIABLE) else { return };
    let root = RootDirectory::open(dir.as_ref()).unwrap();
    let mut file = root.create(&path("a"), CreateOptions::default()).unwrap();
    file.write_all(b"half").unwrap();
    println!("half written");
    let _ = std::io::stdin().read_line(&mut String::new());
}

#[test]
fn replacing_keeps_the_mode_and_writes_a_new_file() {
    let world = World::new();
    assert!(world.write("a", "one").unwrap().created);
    fs::set_permissions(world.jail("a"), fs::Permissions::from_mode(0o4751)).unwrap();
    fs::hard_link(world.jail("a"), world.jail("b")).unwrap();
    let written = world.write("a", "two").unwrap();
    assert!(!written.created);
    assert_eq!(written.stat.mode, 0o751, "and nothing that runs as somebody else");
    assert_eq!(world.read("b").unwrap(), "one");
    assert_eq!(written.stat.inode, fs::metadata(world.jail("a")).unwrap().ino());
    let options = CreateOptions { mode: Some(0o600), ..CreateOptions::default() };
    assert_eq!(world.root.create(&path("a"), options).unwrap().commit().unwrap().stat.mode, 0o600);
}

#[test]
fn refusing_to_replace_applies_to_a_file_created_meanwhile() {
    let world = World::new();
    let options = CreateOptions { existing: IfExists::Refuse, ..CreateOptions::default() };
    let late = world.root.create(&path("a"), options).unwrap();
    world.write("a", "first").unwrap();
    assert_cause!(late.commit(), FileErrorCause::AlreadyExists);
    assert_cause!(world.root.create(&path("a"), options), FileErrorCause::AlreadyExists);
    assert_eq!(world.read("a").unwrap(), "first");
    assert_eq!(tree(&world.jail("")).len(), 1);
}

#[test]
fn parents_durability_and_space_are_optional() {
    let world = World::new();
    let mut options = CreateOptions { durability: Durability::Synced, ..CreateOptions::default() };
    assert_cause!(world.root.create(&path("x/y/a"), options), FileErrorCause::NotFound);
    options.parents = ParentDirectories::Create;
    let mut file = world.root.create(&path("x/y/a"), options).unwrap();
    file.check_space(1 << 20).unwrap();
    assert_cause!(file.check_space(1 << 60), FileErrorCause::NoSpace);
    file.write_all(b"content").unwrap();
    assert_eq!(file.commit().unwrap().stat.size, 7);
    assert_eq!(world.read("x/y/a").unwrap(), "content");
}
