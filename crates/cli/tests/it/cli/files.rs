//! daemon-3: files, by the command line.

use std::{
    fs,
    os::unix::fs::FileTypeExt,
    process::{Command, Stdio},
};

use testkit::TestDaemon;

use super::{Run, api, api_at, api_with_input, assert_shown};
use crate::TOMBOLO;

#[test]
fn files_are_written_listed_read_moved_and_removed() {
    let daemon = TestDaemon::start(TOMBOLO);
    let here = daemon.home();
    let local = here.join("local.txt");
    fs::write(&local, "hello\n").unwrap();
    assert_shown!("fs_write", api(&daemon, &["fs", "write", "w/a.txt", local.to_str().unwrap()]).ok());
    let written = api_with_input(&daemon, &["fs", "write", "w/b.txt", "-", "--json"], b"from a pipe").ok();
    assert!(written.contains(r#""bytes":11"#), "{written}");
    let refused = api_with_input(&daemon, &["fs", "write", "no/such/b.txt", "--no-parents"], b"x").said(1);
    assert!(refused.contains("urn:problem:path-not-found"), "{refused}");
    assert_shown!("fs_mkdir", api(&daemon, &["fs", "mkdir", "w/c"]).ok());
    assert_shown!("fs_entries", api(&daemon, &["fs", "entries", "w"]).ok());
    assert_shown!("fs_stat", api(&daemon, &["fs", "stat", "w/a.txt"]).ok());
    assert_eq!(api(&daemon, &["fs", "read", "w/a.txt"]).ok(), "hello\n");
    assert_eq!(api(&daemon, &["fs", "read", "w/a.txt", "--range", "bytes=1-3"]).ok(), "ell");
    assert_shown!("fs_move", api(&daemon, &["fs", "move", "w/a.txt", "w/z.txt"]).ok());
    let in_the_way = api(&daemon, &["fs", "move", "w/b.txt", "w/z.txt"]).said(1);
    assert!(in_the_way.contains("urn:problem:path-conflict"), "{in_the_way}");
    api(&daemon, &["fs", "move", "w/b.txt", "w/z.txt", "--overwrite", "--json"]).ok();
    assert_eq!(api(&daemon, &["fs", "delete", "w/z.txt"]).said(0), "deleted w/z.txt\n");
    assert_eq!(api(&daemon, &["fs", "delete", "w", "-r", "--json"]).ok(), "");
    assert!(!here.join("w").exists());
}

#[tokio::test]
async fn json_is_what_the_server_said() {
    let daemon = TestDaemon::start(TOMBOLO);
    fs::create_dir(daemon.home().join("w")).unwrap();
    for (arguments, path) in [
        (["fs", "entries", "w", "--json"], "/v1/fs/entries?path=w"),
        (["fs", "stat", "w", "--json"], "/v1/fs/stat?path=w"),
    ] {
        assert_eq!(api(&daemon, &arguments).ok(), daemon.get(path).await.text().await.unwrap());
    }
}

#[test]
fn a_page_says_how_to_get_the_next() {
    let daemon = TestDaemon::start(TOMBOLO);
    let w = daemon.home().join("w");
    fs::create_dir(&w).unwrap();
    for name in ["a", "b", "c"] {
        fs::write(w.join(name), "").unwrap();
    }
    let first = api(&daemon, &["fs", "entries", "w", "--limit", "2"]);
    assert_eq!(first.stderr, "more entries follow: list them with --after b\n");
    assert!(first.stdout.lines().last().unwrap().ends_with('b'));
    let rest = api(&daemon, &["fs", "entries", "w", "--limit", "2", "--after", "b"]).ok();
    assert!(rest.lines().last().unwrap().ends_with('c'), "{rest}");
}

#[test]
fn a_file_is_downloaded_whole_or_not_at_all() {
    let daemon = TestDaemon::start(TOMBOLO);
    let here = daemon.home();
    let content: Vec<u8> = (0..3_000_000u32).flat_map(|n| n.to_le_bytes()).collect();
    fs::write(here.join("big.bin"), &content).unwrap();
    let target = here.join("copy.bin");
    let done = api(&daemon, &["fs", "read", "big.bin", "-o", target.to_str().unwrap()]).said(0);
    assert_eq!(done, format!("wrote 12000000 bytes to {}\n", target.display()));
    assert!(fs::read(&target).unwrap() == content);
    let missing = here.join("missing.bin");
    assert!(
        api(&daemon, &["fs", "read", "no.bin", "-o", missing.to_str().unwrap()])
            .said(1)
            .contains("path-not-found")
    );
    assert!(!missing.exists());
    let nowhere = api(&daemon, &["fs", "read", "big.bin", "-o", "/no/such/dir/x"]).said(5);
    assert!(nowhere.contains("could not write `/no/such/dir/x`"), "{nowhere}");
    let left: Vec<_> = fs::read_dir(&here).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with(".tombolo-")), "{left:?}");
}

/// A pipe stands for every device: it is written to, not replaced. (Never try this with a real one.)
#[test]
fn what_is_no_file_is_written_to_and_not_replaced() {
    let daemon = TestDaemon::start(TOMBOLO);
    let here = daemon.home();
    fs::write(here.join("a.txt"), "through a pipe").unwrap();
    let pipe = here.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read_to_string(pipe).unwrap()
    });
    // Holds the pipe open for the reader, should nobody write to it.
    let held = fs::OpenOptions::new().write(true).open(&pipe).unwrap();
    api(&daemon, &["fs", "read", "a.txt", "-o", pipe.to_str().unwrap()]).said(0);
    drop(held);
    assert_eq!(reader.join().unwrap(), "through a pipe");
    assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
    let link = here.join("link");
    std::os::unix::fs::symlink("target.txt", &link).unwrap();
    fs::write(here.join("target.txt"), "old").unwrap();
    api(&daemon, &["fs", "read", "a.txt", "-o", link.to_str().unwrap()]).said(0);
    assert_eq!(fs::read_to_string(here.join("target.txt")).unwrap(), "through a pipe");
    assert!(link.is_symlink());
}

#[test]
fn archives_and_directories_are_unpacked() {
    let daemon = TestDaemon::start(TOMBOLO);
    let here = daemon.home();
    fs::create_dir_all(here.join("source/sub")).unwrap();
    fs::write(here.join("source/sub/a.txt"), "a").unwrap();
    std::os::unix::fs::symlink("sub/a.txt", here.join("source/link")).unwrap();
    let source = here.join("source");
    assert_shown!(
        "fs_upload_batch",
        api(&daemon, &["fs", "upload-batch", "one", source.to_str().unwrap()]).ok()
    );
    assert_eq!(fs::read_link(here.join("one/link")).unwrap().to_str(), Some("sub/a.txt"));
    let tar = here.join("a.tar.gz");
    let packed =
        Command::new("tar").args(["-czf", tar.to_str().unwrap(), "-C"]).arg(&source).arg(".").status();
    assert!(packed.unwrap().success());
    api(&daemon, &["fs", "upload-batch", "two", tar.to_str().unwrap(), "--json"]).ok();
    api_with_input(&daemon, &["fs", "upload-batch", "three"], &fs::read(&tar).unwrap()).ok();
    for place in ["one", "two", "three"] {
        assert_eq!(fs::read_to_string(here.join(place).join("sub/a.txt")).unwrap(), "a");
    }
    let refused = api_with_input(&daemon, &["fs", "upload-batch", "four"], b"this is no archive").said(1);
    assert!(refused.contains("urn:problem:invalid-archive"), "{refused}");
}

/// A server that refuses does not read what is sent, and closes. What fits into one piece is sent with the request, so
/// its answer is never lost; twenty times, because it was lost one time in six.
#[test]
fn an_upload_that_is_refused_says_why() {
    let daemon = TestDaemon::start(TOMBOLO);
    let content = daemon.home().join("content");
    fs::write(&content, vec![7; 100 << 10]).unwrap();
    for _ in 0..20 {
        let refused = api_with_input(&daemon, &["fs", "write", "no/such/file", "--no-parents"], b"x").said(1);
        assert!(refused.contains("urn:problem:path-not-found"), "{refused}");
        let from_file = ["fs", "write", "no/such/file", content.to_str().unwrap(), "--no-parents"];
        assert!(api(&daemon, &from_file).said(1).contains("urn:problem:path-not-found"));
    }
}

/// Names are somebody else's text: they cannot command the terminal.
#[test]
fn a_hostile_name_is_shown_and_not_obeyed() {
    let daemon = TestDaemon::start(TOMBOLO);
    fs::create_dir(daemon.home().join("w")).unwrap();
    fs::write(daemon.home().join("w/\x1b[2Jgone"), "").unwrap();
    let shown = api(&daemon, &["fs", "entries", "w"]).ok();
    assert!(shown.contains("<U+001B>[2Jgone") && !shown.contains('\x1b'), "{shown:?}");
}

/// Whoever reads our output may leave before its end.
#[test]
fn a_closed_pipe_is_no_error() {
    let daemon = TestDaemon::start(TOMBOLO);
    fs::File::create(daemon.home().join("big.bin")).unwrap().set_len(64 << 20).unwrap();
    for arguments in [&["fs", "read", "big.bin"][..], &["info", "openapi"], &["fs", "entries", "/proc/self"]]
    {
        let mut command = api_at(daemon.base(), arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let run = Run::of(child.wait_with_output().unwrap());
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{arguments:?}");
    }
}
