//! Reading, writing, listing and the like.

use base64::{Engine, prelude::BASE64_STANDARD};
use protocol::relay::{
    RawJson, RelayError, RelayErrorCode,
    file::{FileContent, ReadEncoding, StatFile},
    method::FileStat,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use testkit::within;

use super::World;
use crate::support::SOON;

/// Asks about a path of the root that may be changed, with more parameters.
pub(super) async fn ask(world: &World, method: &str, path: &str, more: Value) -> Result<Value, RelayError> {
    let mut params = json!({ "root_id": "main", "path": path });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    world.lent.ask_any(method, params).await
}

pub(super) fn refused(outcome: Result<Value, RelayError>, code: RelayErrorCode, reason: &str) {
    let error = outcome.expect_err("it is refused");
    assert_eq!((error.code, error.details["reason"].as_str()), (code, Some(reason)), "{error:?}");
}

fn sha256(bytes: impl AsRef<[u8]>) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// relay-66, relay-70
#[tokio::test]
async fn text_and_bytes_are_read_whole_and_in_part() {
    let world = World::new().await;
    world.put("README.md", "größer");
    let whole = ask(&world, "file.read", "README.md", json!({})).await.unwrap();
    assert_eq!(whole, json!({ "content": "größer", "encoding": "utf-8", "size_bytes": 8, "eof": true }));
    let part = ask(&world, "file.read", "README.md", json!({ "offset": 1, "length": 5 })).await.unwrap();
    assert_eq!(part, json!({ "content": "röß", "encoding": "utf-8", "size_bytes": 8, "eof": false }));
    let none = ask(&world, "file.read", "README.md", json!({ "offset": 9 })).await.unwrap();
    assert_eq!(none, json!({ "content": "", "encoding": "utf-8", "size_bytes": 8, "eof": true }));

    world.put("bytes", [0xff, 0, 1]);
    let bytes = ask(&world, "file.read", "bytes", json!({ "encoding": "base64" })).await.unwrap();
    assert_eq!(bytes, json!({ "content": "/wAB", "encoding": "base64", "size_bytes": 3, "eof": true }));
    world.put("empty", "");
    for encoding in ["utf-8", "base64"] {
        for length in [json!({}), json!({ "length": 0 })] {
            let mut more = length;
            more["encoding"] = encoding.into();
            let empty = ask(&world, "file.read", "empty", more).await.unwrap();
            assert_eq!((&empty["content"], &empty["eof"]), (&json!(""), &json!(true)));
        }
    }
}

/// relay-4, relay-70: the bytes of a file come as they are behind the response, whole and in part.
#[tokio::test]
async fn bytes_are_read_in_a_binary_message() {
    let world = World::new().await;
    let content: Vec<u8> = (0..500_000_u32).map(|number| (number % 251) as u8).collect();
    world.put("bytes", &content);
    world.put("empty", "");
    let read = async |path: &str, offset: u64, length: Option<u64>| {
        let params = json!({ "root_id": "main", "path": path, "encoding": "binary", "offset": offset, "length": length });
        let call = world.lent.call("file.read", RawJson::from_value(&params), None).await;
        let result = within(SOON, call.outcome()).await.unwrap();
        let FileContent { content, encoding, size_bytes, eof } = result.read().unwrap();
        assert_eq!((content.as_str(), encoding), ("", ReadEncoding::Binary));
        (result.bytes().to_vec(), size_bytes.unwrap(), eof.unwrap())
    };
    assert_eq!(read("bytes", 10, Some(5)).await, (content[10..15].to_vec(), 500_000, false));
    assert_eq!(read("bytes", 499_990, None).await, (content[499_990..].to_vec(), 500_000, true));
    assert_eq!(read("bytes", 600_000, None).await, (Vec::new(), 500_000, true));
    assert_eq!(read("empty", 0, None).await, (Vec::new(), 0, true));
    let mut all = Vec::new();
    while all.len() < content.len() {
        let (bytes, _, eof) = read("bytes", all.len() as u64, None).await;
        all.extend(bytes);
        assert_eq!(eof, all.len() == content.len());
    }
    assert_eq!(all, content);
}

/// relay-48, relay-66: a character that is cut is not corrupted.
#[tokio::test]
async fn text_ends_with_a_whole_character_or_is_refused() {
    let world = World::new().await;
    world.put("a", "aé€");
    let cut = ask(&world, "file.read", "a", json!({ "length": 2 })).await.unwrap();
    assert_eq!((&cut["content"], &cut["eof"]), (&json!("a"), &json!(false)));
    for more in
        [json!({ "offset": 1, "length": 1 }), json!({ "offset": 2 }), json!({ "offset": 3, "length": 2 })]
    {
        refused(ask(&world, "file.read", "a", more).await, RelayErrorCode::InvalidRequest, "not_utf8");
    }
    world.put("latin1", [b'a', 0xe9, b'b']);
    world.put("truncated", [b'a', 0xc3]);
    for name in ["latin1", "truncated"] {
        refused(ask(&world, "file.read", name, json!({})).await, RelayErrorCode::InvalidRequest, "not_utf8");
    }
}

/// relay-70
#[tokio::test]
async fn a_file_larger_than_a_frame_is_read_in_chunks() {
    let world = World::new().await;
    // In text every byte of it must be escaped.
    let content: Vec<u8> = (0..3_000_000).map(|at| if at % 1000 == 0 { b'\n' } else { 1 }).collect();
    world.put("large", &content);
    for encoding in ["base64", "utf-8"] {
        let (mut read, mut chunks) = (Vec::new(), 0);
        loop {
            let more = json!({ "encoding": encoding, "offset": read.len(), "length": 10_000_000 });
            let chunk = ask(&world, "file.read", "large", more).await.unwrap();
            let text = chunk["content"].as_str().unwrap();
            match encoding {
                "base64" => read.extend(BASE64_STANDARD.decode(text).unwrap()),
                _ => read.extend(text.as_bytes()),
            }
            chunks += 1;
            if chunk["eof"] == json!(true) {
                break;
            }
        }
        assert!(read == content && chunks > 3, "{encoding}: {chunks} chunks, {} bytes", read.len());
    }
}

/// relay-67, relay-71
#[tokio::test]
async fn files_are_written_and_told_of_by_size_and_hash() {
    let world = World::new().await;
    let written = ask(&world, "file.write", "a", json!({ "content": "größer" })).await.unwrap();
    assert_eq!(written, json!({ "size_bytes": 8, "sha256": sha256("größer") }));
    assert_eq!(world.get("a"), "größer");
    let more = json!({ "content": "/wAB", "encoding": "base64" });
    let written = ask(&world, "file.write", "bytes", more).await.unwrap();
    assert_eq!(written, json!({ "size_bytes": 3, "sha256": sha256([0xff, 0, 1]) }));
    let more = json!({ "content": "?", "encoding": "base64" });
    refused(ask(&world, "file.write", "bytes", more).await, RelayErrorCode::InvalidRequest, "not_base64");
    assert_eq!(std::fs::read(world.main("bytes")).unwrap(), [0xff, 0, 1]);

    let appended = json!({ "content": "!", "append": true });
    let written = ask(&world, "file.write", "a", appended.clone()).await.unwrap();
    assert_eq!(written, json!({ "size_bytes": 9, "sha256": sha256("größer!") }));
    ask(&world, "file.write", "log", appended).await.unwrap();
    assert_eq!((world.get("a"), world.get("log")), ("größer!".into(), "!".into()));
    refused(
        ask(&world, "file.write", "no/a", json!({ "content": "" })).await,
        RelayErrorCode::NotFound,
        "not_found",
    );
    refused(
        ask(&world, "file.write", "", json!({ "content": "" })).await,
        RelayErrorCode::InvalidRequest,
        "is_a_directory",
    );
    let left: Vec<_> =
        std::fs::read_dir(world.main("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "nothing is left over: {left:?}");
}

/// relay-71
#[tokio::test]
async fn a_file_is_written_only_if_it_is_as_expected() {
    let world = World::new().await;
    let write = async |more: Value| {
        let mut params = json!({ "content": "new" });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ask(&world, "file.write", "a", params).await
    };
    refused(write(json!({ "create": "existing" })).await, RelayErrorCode::NotFound, "not_found");
    let missing = json!({ "if_match": { "sha256": sha256("") } });
    refused(write(missing).await, RelayErrorCode::InvalidRequest, "conflict");
    assert!(!world.main("a").exists());
    write(json!({ "create": "new" })).await.unwrap();
    refused(write(json!({ "create": "new" })).await, RelayErrorCode::InvalidRequest, "conflict");
    write(json!({ "create": "existing" })).await.unwrap();
    write(json!({ "create": "always" })).await.unwrap();

    refused(
        write(json!({ "if_match": { "sha256": sha256("old") } })).await,
        RelayErrorCode::InvalidRequest,
        "conflict",
    );
    write(json!({ "if_match": { "sha256": sha256("new") }, "content": "newer" })).await.unwrap();
    let stat = ask(&world, "file.stat", "a", json!({})).await.unwrap();
    let stamp = json!({ "mtime": stat["mtime"], "size_bytes": stat["size_bytes"] });
    let mut other = stamp.clone();
    other["size_bytes"] = json!(6);
    refused(write(json!({ "if_match": other })).await, RelayErrorCode::InvalidRequest, "conflict");
    write(json!({ "if_match": stamp, "append": true })).await.unwrap();
    assert_eq!(world.get("a"), "newernew");
    refused(write(json!({ "if_match": stamp })).await, RelayErrorCode::InvalidRequest, "conflict");
    assert_eq!(world.get("a"), "newernew");
}

/// relay-71: of many who replace what they have seen one does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_writers_that_saw_the_same_file_one_is_told_of_the_conflict() {
    let world = World::in_memory().await;
    for round in 0..50 {
        world.put("a", round.to_string());
        let seen = sha256(round.to_string());
        let write = |content: &str| {
            let more = json!({ "content": content, "if_match": { "sha256": seen } });
            let world = &world;
            async move { ask(world, "file.write", "a", more).await.is_ok() }
        };
        let outcomes = tokio::join!(write("one"), write("two"), write("three"), write("four"));
        let won = [outcomes.0, outcomes.1, outcomes.2, outcomes.3].into_iter().filter(|won| *won).count();
        assert_eq!(won, 1, "round {round}");
    }
    // What is appended at once is all there.
    let append = || ask(&world, "file.write", "log", json!({ "content": "x", "append": true }));
    let appended = futures_util::future::join_all((0..40).map(|_| append())).await;
    assert!(appended.iter().all(Result::is_ok));
    assert_eq!(world.get("log"), "x".repeat(40));
}

/// What this process has written so far.
fn bytes_written() -> u64 {
    let io = std::fs::read_to_string("/proc/self/io").unwrap();
    let line = io.lines().find_map(|line| line.strip_prefix("wchar: ")).unwrap();
    line.parse().unwrap()
}

/// relay-71: a large file that comes in pieces is not written anew with each of them.
#[tokio::test]
async fn a_file_that_comes_in_pieces_is_written_once() {
    let world = World::in_memory().await;
    let piece = "x".repeat(512 << 10);
    let whole = piece.repeat(64);
    let before = bytes_written();
    let mut written = json!(null);
    for _ in 0..64 {
        let more = json!({ "content": piece, "append": true });
        written = ask(&world, "file.write", "large", more).await.unwrap();
    }
    assert_eq!(written, json!({ "size_bytes": whole.len(), "sha256": sha256(&whole) }));
    assert!(world.get("large") == whole);
    let growth = bytes_written() - before;
    assert!(growth < 3 * whole.len() as u64, "{growth} bytes for {}", whole.len());
}

/// relay-71: whoever appends is told of the file as it is, also after others have changed it.
#[tokio::test]
async fn what_is_appended_is_told_of_by_size_and_hash() {
    let world = World::new().await;
    let append = async |content: &str| {
        ask(&world, "file.write", "a", json!({ "content": content, "append": true })).await.unwrap()
    };
    let told = |whole: &str| json!({ "size_bytes": whole.len(), "sha256": sha256(whole) });
    assert_eq!(append("one").await, told("one"));
    assert_eq!(append("two").await, told("onetwo"));
    // Another file of the same length, and the same one with more in it.
    std::fs::write(world.main("b"), "twoone").unwrap();
    std::fs::rename(world.main("b"), world.main("a")).unwrap();
    assert_eq!(append("three").await, told("twoonethree"));
    world.put("a", "cut");
    assert_eq!(append("").await, told("cut"));
    assert_eq!(append("!").await, told("cut!"));
    assert_eq!(ask(&world, "file.write", "a", json!({ "content": "new" })).await.unwrap(), told("new"));
    assert_eq!(append("er").await, told("newer"));
    // Those who look on a file that is open see what is added to it.
    let mut open = std::fs::File::open(world.main("a")).unwrap();
    append(".").await;
    let mut seen = String::new();
    std::io::Read::read_to_string(&mut open, &mut seen).unwrap();
    assert_eq!(seen, "newer.");
    let new = json!({ "content": "x", "append": true, "create": "new" });
    refused(ask(&world, "file.write", "a", new).await, RelayErrorCode::InvalidRequest, "conflict");
    let existing = json!({ "content": "x", "append": true, "create": "existing" });
    refused(ask(&world, "file.write", "none", existing).await, RelayErrorCode::NotFound, "not_found");
}

/// relay-67
#[tokio::test]
async fn what_is_there_is_described() {
    let world = World::new().await;
    world.put("dir/a", "abc");
    for (link, target) in [("to_file", "dir/a"), ("to_dir", "dir"), ("to_nothing", "nothing")] {
        std::os::unix::fs::symlink(target, world.main(link)).unwrap();
    }
    for (path, kind, is_file, is_dir) in [
        ("dir/a", "file", true, false),
        ("dir", "dir", false, true),
        ("", "dir", false, true),
        ("to_file", "symlink", true, false),
        ("to_dir/../dir/./a", "file", true, false),
        ("to_dir", "symlink", false, true),
        ("to_nothing", "symlink", false, false),
    ] {
        let stat = ask(&world, "file.stat", path, json!({})).await.unwrap();
        assert_eq!(
            (&stat["kind"], &stat["is_file"], &stat["is_dir"]),
            (&json!(kind), &json!(is_file), &json!(is_dir))
        );
    }
    let asked = StatFile { root_id: "main".parse().unwrap(), path: "to_file".parse().unwrap() };
    let stat = world.lent.ask::<FileStat>(&asked).await.unwrap();
    assert_eq!((stat.size_bytes, stat.mode & 0o600), (3, 0o600));
    for path in ["no", "dir/a/below"] {
        refused(ask(&world, "file.stat", path, json!({})).await, RelayErrorCode::NotFound, "not_found");
        refused(ask(&world, "file.read", path, json!({})).await, RelayErrorCode::NotFound, "not_found");
    }
    refused(
        ask(&world, "file.read", "dir", json!({})).await,
        RelayErrorCode::InvalidRequest,
        "is_a_directory",
    );
}

/// relay-67, relay-72
#[tokio::test]
async fn directories_are_made_and_deleted() {
    let world = World::new().await;
    let mkdir = async |path, parents| ask(&world, "file.mkdir", path, json!({ "parents": parents })).await;
    assert_eq!(mkdir("a", false).await.unwrap(), json!({ "created": true }));
    refused(mkdir("a", false).await, RelayErrorCode::InvalidRequest, "exists");
    refused(mkdir("b/c", false).await, RelayErrorCode::NotFound, "not_found");
    assert_eq!(mkdir("b/c", true).await.unwrap(), json!({ "created": true }));
    assert_eq!(mkdir("b/c", true).await.unwrap(), json!({ "created": false }));
    world.put("b/c/file", "x");
    refused(mkdir("b/c/file/d", true).await, RelayErrorCode::InvalidRequest, "not_a_directory");

    let delete =
        async |path, recursive| ask(&world, "file.delete", path, json!({ "recursive": recursive })).await;
    refused(delete("b", false).await, RelayErrorCode::InvalidRequest, "not_empty");
    assert_eq!(delete("b/c/file", false).await.unwrap(), json!({ "deleted": true }));
    assert_eq!(delete("b/c/file", false).await.unwrap(), json!({ "deleted": false }));
    assert_eq!(delete("b", true).await.unwrap(), json!({ "deleted": true }));
    assert!(!world.main("b").exists());
    world.put("kept", "x");
    for path in ["", ".", "a/..", "./"] {
        refused(delete(path, true).await, RelayErrorCode::PermissionDenied, "root");
    }
    assert_eq!(world.get("kept"), "x");
    std::os::unix::fs::symlink("kept", world.main("link")).unwrap();
    delete("link", true).await.unwrap();
    assert_eq!(world.get("kept"), "x");
}
