use std::{
    io::Write,
    os::unix::fs::{MetadataExt, symlink},
};

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{TestDaemon, TestDaemonOptions, proc::peak_kib};

use crate::{TOMBOLO, check_problem, problem};

async fn put(daemon: &TestDaemon, path: &str, content: impl Into<reqwest::Body>) -> reqwest::Response {
    daemon.request(Method::PUT, &format!("/v1/fs/file?path={path}")).body(content).send().await.unwrap()
}

/// daemon-10: the life of a file and of a directory.
#[tokio::test]
async fn files_are_written_read_moved_and_removed() {
    let daemon = TestDaemon::start(TOMBOLO);
    let home = daemon.home();
    let made = put(&daemon, "a/b/c.txt", "hello").await;
    assert_eq!(made.status(), 201);
    let made: Value = made.json().await.unwrap();
    assert_eq!((&made["bytes"], &made["path"]), (&json!(5), &json!("a/b/c.txt")));
    assert_eq!(std::fs::read_to_string(home.join("a/b/c.txt")).unwrap(), "hello");
    assert_eq!(put(&daemon, "a/b/c.txt", "hello again").await.status(), 200);
    let read = daemon.get(&format!("/v1/fs/file?path={}", home.join("a/b/c.txt").display())).await;
    assert_eq!(read.headers()["content-type"], "application/octet-stream");
    assert_eq!(read.text().await.unwrap(), "hello again");
    let stat: Value = daemon.get("/v1/fs/stat?path=a/b/c.txt").await.json().await.unwrap();
    assert_eq!(
        (&stat["kind"], &stat["size"], &stat["symlinkTarget"]),
        (&json!("file"), &json!(11), &Value::Null)
    );
    let body = json!({ "path": "a/d/e" });
    let made = daemon.post("/v1/fs/mkdir", &body).await;
    assert_eq!(made.status(), 201);
    assert_eq!(made.json::<Value>().await.unwrap(), json!({ "path": "a/d/e", "created": true }));
    assert_eq!(daemon.post("/v1/fs/mkdir", &body).await.status(), 200);
    // As earlier versions took it; but not in both places, or in none.
    assert_eq!(daemon.request(Method::POST, "/v1/fs/mkdir?path=a/d/e").send().await.unwrap().status(), 200);
    for (path, body) in [
        ("/v1/fs/mkdir", json!(null)),
        ("/v1/fs/mkdir", json!({})),
        ("/v1/fs/mkdir?path=a/x", json!({ "path": "a/y" })),
    ] {
        check_problem(&problem(daemon.post(path, &body).await).await, 400, "urn:problem:invalid-request");
    }
    let entries: Value = daemon.get("/v1/fs/entries?path=a").await.json().await.unwrap();
    let names: Vec<_> =
        entries["items"].as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["b", "d"]);
    let page: Value = daemon.get("/v1/fs/entries?path=a&limit=1").await.json().await.unwrap();
    let next: Value = daemon
        .get(&format!("/v1/fs/entries?path=a&limit=1&cursor={}", page["nextCursor"].as_str().unwrap()))
        .await
        .json()
        .await
        .unwrap();
    assert_eq!((&next["items"][0]["name"], &next["nextCursor"]), (&json!("d"), &Value::Null));
    let rename = |from: &str, to: &str, overwrite: bool| {
        let body = json!({ "from": from, "to": to, "overwrite": overwrite });
        daemon.request(Method::POST, "/v1/fs/move").json(&body).send()
    };
    put(&daemon, "taken", "x").await;
    check_problem(
        &problem(rename("a/b/c.txt", "taken", false).await.unwrap()).await,
        409,
        "urn:problem:path-conflict",
    );
    assert_eq!(rename("a/b/c.txt", "taken", true).await.unwrap().status(), 200);
    assert_eq!(std::fs::read_to_string(home.join("taken")).unwrap(), "hello again");
    check_problem(
        &problem(daemon.delete("/v1/fs/entry?path=a").await).await,
        409,
        "urn:problem:path-conflict",
    );
    assert_eq!(daemon.delete("/v1/fs/entry?path=a&recursive=true").await.status(), 204);
    check_problem(
        &problem(daemon.delete("/v1/fs/entry?path=a").await).await,
        404,
        "urn:problem:path-not-found",
    );
    check_problem(&problem(daemon.get("/v1/fs/file?path=a").await).await, 404, "urn:problem:path-not-found");
    check_problem(&problem(daemon.get("/v1/fs/file?path=.").await).await, 409, "urn:problem:path-conflict");
    check_problem(&problem(daemon.get("/v1/fs/file?path=").await).await, 400, "urn:problem:invalid-path");
    check_problem(
        &problem(daemon.get("/v1/fs/file?path=a%00b").await).await,
        400,
        "urn:problem:invalid-path",
    );
    check_problem(&problem(put(&daemon, "taken/below", "x").await).await, 409, "urn:problem:path-conflict");
}

/// daemon-10: a directory is listed page by page without a loss, whatever the names are made of.
#[tokio::test]
async fn pages_of_odd_names_lose_nothing() {
    use std::os::unix::ffi::OsStrExt;
    let daemon = TestDaemon::start(TOMBOLO);
    let names = [&b"a"[..], b"b%", b"c\xff1", b"c\xff2", b"d"];
    let odd = daemon.home().join("odd");
    std::fs::create_dir(&odd).unwrap();
    for name in names {
        std::fs::write(odd.join(std::ffi::OsStr::from_bytes(name)), "").unwrap();
    }
    let (mut seen, mut after) = (0, None);
    loop {
        let mut get = daemon.request(Method::GET, "/v1/fs/entries").query(&[("path", "odd"), ("limit", "1")]);
        if let Some(after) = &after {
            get = get.query(&[("cursor", after)]);
        }
        let page: Value = get.send().await.unwrap().json().await.unwrap();
        seen += page["items"].as_array().unwrap().len();
        assert!(seen <= names.len(), "a page came twice");
        match page["nextCursor"].as_str() {
            Some(next) => after = Some(next.to_owned()),
            None => break,
        }
    }
    assert_eq!(seen, names.len());
}

/// daemon-11: parts and conditions of a `GET`, conditions of a `PUT`.
#[tokio::test]
async fn ranges_and_conditions_hold() {
    let daemon = TestDaemon::start(TOMBOLO);
    put(&daemon, "f", "0123456789").await;
    let get = |header: &str, value: &str| {
        daemon.request(Method::GET, "/v1/fs/file?path=f").header(header, value).send()
    };
    let whole = daemon.get("/v1/fs/file?path=f").await;
    let etag = whole.headers()["etag"].to_str().unwrap().to_owned();
    let modified = whole.headers()["last-modified"].to_str().unwrap().to_owned();
    assert_eq!(
        (&whole.headers()["accept-ranges"], &whole.headers()["content-length"]),
        (&"bytes".parse().unwrap(), &"10".parse().unwrap())
    );
    for (range, content, part) in [
        ("bytes=2-4", "bytes 2-4/10", "234"),
        ("bytes=7-", "bytes 7-9/10", "789"),
        ("bytes=-3", "bytes 7-9/10", "789"),
        ("bytes=8-99", "bytes 8-9/10", "89"),
    ] {
        let answer = get("range", range).await.unwrap();
        assert_eq!(
            (answer.status().as_u16(), answer.headers()["content-range"].to_str().unwrap()),
            (206, content),
            "{range}"
        );
        assert_eq!(answer.text().await.unwrap(), part);
    }
    check_problem(
        &problem(get("range", "bytes=10-").await.unwrap()).await,
        416,
        "urn:problem:range-not-satisfiable",
    );
    assert_eq!(get("range", "lines=1-2").await.unwrap().status(), 200);
    assert_eq!(get("if-none-match", &etag).await.unwrap().status(), 304);
    assert_eq!(get("if-modified-since", &modified).await.unwrap().status(), 304);
    assert_eq!(get("if-none-match", "\"other\"").await.unwrap().status(), 200);
    check_problem(
        &problem(get("if-match", "\"other\"").await.unwrap()).await,
        412,
        "urn:problem:precondition-failed",
    );
    let stale = daemon
        .request(Method::GET, "/v1/fs/file?path=f")
        .header("range", "bytes=0-1")
        .header("if-range", "\"other\"");
    assert_eq!(stale.send().await.unwrap().status(), 200);
    let write = |header: &str, value: &str, path: &str| {
        let request = daemon.request(Method::PUT, &format!("/v1/fs/file?path={path}")).header(header, value);
        request.body("new").send()
    };
    check_problem(
        &problem(write("if-match", "\"other\"", "f").await.unwrap()).await,
        412,
        "urn:problem:precondition-failed",
    );
    check_problem(
        &problem(write("if-none-match", "*", "f").await.unwrap()).await,
        412,
        "urn:problem:precondition-failed",
    );
    check_problem(
        &problem(write("if-match", "*", "g").await.unwrap()).await,
        412,
        "urn:problem:precondition-failed",
    );
    assert_eq!(write("if-none-match", "*", "g").await.unwrap().status(), 201);
    let stat: Value = daemon.get("/v1/fs/stat?path=f").await.json().await.unwrap();
    let bare = stat["etag"].as_str().unwrap();
    assert_eq!(format!("\"{bare}\""), etag);
    assert_eq!(get("if-none-match", bare).await.unwrap().status(), 304);
    assert_eq!(write("if-match", bare, "f").await.unwrap().status(), 200);
    check_problem(
        &problem(write("if-match", &etag, "f").await.unwrap()).await,
        412,
        "urn:problem:precondition-failed",
    );
}

/// daemon-11: what leads out of `--fs-root` is not there.
#[tokio::test]
async fn a_root_confines_everything() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), "secret").unwrap();
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("inside"), "inside").unwrap();
    symlink(outside.path(), root.path().join("link")).unwrap();
    symlink("/inside", root.path().join("within")).unwrap();
    let daemon =
        TestDaemonOptions::default().arg(format!("--fs-root={}", root.path().display())).start(TOMBOLO);
    for path in ["/inside", "inside", "/within", "/../../inside", "/link/../inside"] {
        let answer = daemon.get(&format!("/v1/fs/file?path={path}")).await;
        if path != "/link/../inside" {
            assert_eq!(answer.text().await.unwrap(), "inside", "{path}");
        }
    }
    let secret = outside.path().join("secret");
    for path in ["/link/secret", secret.to_str().unwrap(), "/proc/self/root/etc/passwd"] {
        let answer = daemon.get(&format!("/v1/fs/file?path={path}")).await;
        check_problem(&problem(answer).await, 404, "urn:problem:path-not-found");
        let answer = put(&daemon, path, "x").await;
        assert_ne!(std::fs::read_to_string(&secret).unwrap(), "x", "{path} {answer:?}");
    }
    assert!(daemon.delete("/v1/fs/entry?path=/link&recursive=true").await.status().is_success());
    assert!(secret.exists());
    assert_eq!(daemon.delete("/v1/fs/entry?path=/&recursive=true").await.status(), 400);
}

fn archive(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, content) in entries {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        // Written as it is: the builder itself would refuse hostile names.
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_cksum();
        builder.append(&header, content.as_bytes()).unwrap();
    }
    builder.into_inner().unwrap()
}

/// daemon-10, daemon-11: an archive is unpacked as a whole or not at all.
#[tokio::test]
async fn an_archive_is_unpacked_as_a_whole_or_not_at_all() {
    let daemon = TestDaemon::start(TOMBOLO);
    let upload =
        |archive: Vec<u8>| daemon.request(Method::POST, "/v1/fs/upload-batch?path=into").body(archive).send();
    let answer: Value = upload(archive(&[("a", "1"), ("d/b", "22")])).await.unwrap().json().await.unwrap();
    assert_eq!((&answer["files"], &answer["bytes"]), (&json!(2), &json!(3)));
    assert_eq!(std::fs::read_to_string(daemon.home().join("into/d/b")).unwrap(), "22");
    let whole = archive(&[("c", "new"), ("e", "new")]);
    for bad in [
        archive(&[("c", "new"), ("../escape", "x")]),
        archive(&[("c", "new"), ("/etc/x", "x")]),
        whole[..700].to_vec(),
        b"not a tar".to_vec(),
        Vec::new(),
    ] {
        check_problem(&problem(upload(bad).await.unwrap()).await, 400, "urn:problem:invalid-archive");
        assert!(!daemon.home().join("into/c").exists() && !daemon.home().join("escape").exists());
    }
}

/// daemon-11: a large file goes up and down in constant memory, byte for byte.
#[tokio::test]
async fn a_large_file_streams() {
    const MEGABYTES: usize = 256;
    let daemon = TestDaemon::start(TOMBOLO);
    let source = daemon.home().join("source");
    let block: Vec<u8> = (0..1 << 20).map(|at: u32| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    std::fs::write(&source, block.repeat(MEGABYTES)).unwrap();
    let before = peak_kib(daemon.pid());
    let file = tokio::fs::File::open(&source).await.unwrap();
    let request = daemon.request(Method::PUT, "/v1/fs/file?path=target").body(reqwest::Body::from(file));
    let written: Value = request.send().await.unwrap().json().await.unwrap();
    assert_eq!(written["bytes"], MEGABYTES << 20);
    let mut answer = daemon.get("/v1/fs/file?path=target").await;
    let mut at = 0;
    while let Some(piece) = answer.chunk().await.unwrap() {
        for byte in piece.chunks(4096) {
            let from = at % block.len();
            let until = (from + byte.len()).min(block.len());
            assert_eq!(byte[..until - from], block[from..until]);
            at += byte.len();
        }
    }
    assert_eq!(at, MEGABYTES << 20);
    let grown = peak_kib(daemon.pid()).saturating_sub(before);
    assert!(grown < 64 << 10, "{grown} kB");
}

/// A claim costs a client nothing: the disk holds what has arrived, and little more.
#[tokio::test]
async fn an_upload_reserves_no_more_than_it_has_sent() {
    const CLAIMED: u64 = 4 << 30;
    const RESERVED_MAX: u64 = 16 << 20;
    let daemon = TestDaemon::start(TOMBOLO);
    let mut socket = std::net::TcpStream::connect(daemon.base().strip_prefix("http://").unwrap()).unwrap();
    let head = format!(
        "PUT /v1/fs/file?path=claimed HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {CLAIMED}\r\n\r\n"
    );
    socket.write_all(head.as_bytes()).unwrap();
    // More than the daemon buffers before it writes.
    socket.write_all(&[b'x'; 3 << 20]).unwrap();
    let allocated = || -> u64 {
        // The file has no name before it is complete.
        let open = std::fs::read_dir(format!("/proc/{}/fd", daemon.pid())).unwrap().flatten();
        let ours = open.filter(|file| {
            std::fs::read_link(file.path()).is_ok_and(|target| target.starts_with(daemon.home()))
        });
        let files = ours.filter_map(|file| std::fs::metadata(file.path()).ok()).filter(|file| file.is_file());
        files.map(|file| file.blocks() * 512).sum()
    };
    testkit::within_blocking(std::time::Duration::from_secs(20), || allocated() > 1 << 20);
    assert!(allocated() < RESERVED_MAX, "{} bytes are reserved", allocated());
}
