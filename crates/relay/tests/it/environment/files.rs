//! The files of an environment.

use std::sync::atomic::Ordering::SeqCst;

use futures_util::TryStreamExt;
use protocol::relay::{Family, RelayErrorCode, Request};
use relay::environment::{Dir, Error, FileOperator, Found, READ_BYTES_MAX, Search, Span, Writing};
use serde_json::Value;

use super::device::lend;
use crate::support::within;

/// relay-111, relay-113, relay-68: files are read, written and listed by the paths that a model sees.
#[tokio::test]
async fn files_are_read_written_and_listed() {
    let lent = lend(&[Family::Fileops]).await;
    let files = lent.environment.files();
    let path = "/workspace/main/src/lib.rs";
    within(files.write(path, "grüß dich\n".as_bytes(), Writing::default())).await.unwrap();
    assert_eq!(lent.memory.get("main/src/lib.rs").unwrap(), "grüß dich\n".as_bytes());
    assert_eq!(within(files.read_text(path, Span::default())).await.unwrap(), "grüß dich\n");
    within(files.append(path, b"more\n")).await.unwrap();
    assert_eq!(within(files.read_bytes(path, Span { offset: 12, length: None })).await.unwrap(), b"more\n");
    // A character that is cut is left out at either end.
    let cut = |offset, length| files.read_text(path, Span { offset, length: Some(length) });
    assert_eq!(within(cut(3, 3)).await.unwrap(), "ß");
    assert_eq!(within(cut(2, 1)).await.unwrap(), "");
    for name in ["main/src/a", "main/src/b", "main/src/.hidden"] {
        lent.memory.put(name, "");
    }
    lent.memory.files.lock().insert("main/src/sub".into(), None);
    let names: Vec<_> = within(files.list("/workspace/main/src")).await.unwrap();
    let names: Vec<_> = names.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, [".hidden", "a", "b", "lib.rs", "sub"]);
    assert!(within(files.is_file(path)).await.unwrap() && !within(files.is_dir(path)).await.unwrap());
    assert!(within(files.is_dir("/workspace/main/src/sub")).await.unwrap());
    assert!(!within(files.exists("/workspace/main/nothing")).await.unwrap());
    within(files.mkdir("/workspace/main/new", Dir::Whole)).await.unwrap();
    within(files.delete("/workspace/main/src", Dir::Whole)).await.unwrap();
    assert!(!within(files.exists(path)).await.unwrap());
}

/// relay-66, relay-112: what is no text is not read as one.
#[tokio::test]
async fn bytes_are_no_text() {
    let lent = lend(&[Family::Fileops]).await;
    lent.memory.put("main/a", [b'a', 0xff]);
    let error = within(lent.environment.files().read_text("a", Span::default())).await.unwrap_err();
    assert_eq!(error.code(), RelayErrorCode::InvalidRequest);
    let bytes = within(lent.environment.files().read_bytes("a", Span::default())).await.unwrap();
    assert_eq!(bytes, [b'a', 0xff]);
}

/// relay-28: a device that knows no binary messages is read all the same, whatever the one between knows.
#[tokio::test]
async fn a_device_of_before_is_read_in_text() {
    let lent = lend(&[Family::Fileops]).await;
    let content: Vec<u8> = (0..600_000_u32).map(|number| (number % 251) as u8).collect();
    lent.memory.put("main/large", content.clone());
    let encodings = |from: usize| -> Vec<String> {
        let asked = lent.memory.asked.lock();
        let encoding = |request: &Request| {
            request.params.read::<Value>().unwrap()["encoding"].as_str().unwrap().to_owned()
        };
        asked[from..].iter().map(encoding).collect()
    };
    let files = lent.environment.files();
    assert_eq!(within(files.read_bytes("large", Span::default())).await.unwrap(), content);
    assert!(encodings(0).iter().all(|encoding| encoding == "binary"), "control");
    lent.memory.knows_no_binary.store(true, SeqCst);
    let before = lent.memory.asked.lock().len();
    let span = Span { offset: 100, length: Some(500_000) };
    assert_eq!(within(files.read_bytes("large", span)).await.unwrap(), content[100..500_100]);
    let again = encodings(before);
    assert_eq!(again[0], "binary");
    assert!(again[1..].iter().all(|encoding| encoding == "base64"), "{again:?}");
    let error = within(files.read_bytes("nothing", Span::default())).await.unwrap_err();
    assert_eq!(error.code(), RelayErrorCode::NotFound);
}

/// relay-70: a large file comes in pieces, some of which are on their way at once, whatever the device gives at a time.
#[tokio::test]
async fn a_large_file_comes_in_pieces() {
    let lent = lend(&[Family::Fileops]).await;
    let content: Vec<u8> = (0..3_000_000_u32).map(|number| (number % 251) as u8).collect();
    lent.memory.put("main/large", content.clone());
    let files = lent.environment.files();
    assert_eq!(within(files.read_bytes("large", Span::default())).await.unwrap(), content);
    assert!((2..=4).contains(&lent.memory.reading_peak.load(SeqCst)));
    for (offset, length) in
        [(0, 0), (1, 1), (100, 999_999), (2_999_000, 5000), (3_000_000, 1), (9_000_000, 1)]
    {
        let span = Span { offset, length: Some(length) };
        let end = content.len().min((offset + length) as usize);
        let expected = &content[content.len().min(offset as usize)..end];
        assert_eq!(within(files.read_bytes("large", span)).await.unwrap(), expected, "{span:?}");
    }
    // A small one takes one request.
    lent.memory.put("main/small", "x");
    lent.memory.asked.lock().clear();
    within(files.read_bytes("small", Span::default())).await.unwrap();
    assert_eq!(lent.memory.asked.lock().len(), 1);
    lent.memory.put("main/huge", vec![0; READ_BYTES_MAX + 1]);
    let error = within(files.read_bytes("huge", Span::default())).await.unwrap_err();
    assert_eq!(error.code(), RelayErrorCode::InvalidRequest);
}

/// relay-71, relay-75: what is too large for one message is written piece by piece.
#[tokio::test]
async fn a_large_file_is_written_in_pieces() {
    let lent = lend(&[Family::Fileops]).await;
    let content: Vec<u8> = (0..2_000_000_u32).map(|number| (number % 253) as u8).collect();
    let files = lent.environment.files();
    within(files.write("large", &content, Writing::default())).await.unwrap();
    assert_eq!(lent.memory.get("main/large").unwrap(), content);
    // At worst each byte of a text takes six in JSON.
    let nuls = vec![0; 600_000];
    within(files.write("nuls", &nuls, Writing::default())).await.unwrap();
    assert_eq!(lent.memory.get("main/nuls").unwrap(), nuls);
}

/// relay-75: what is copied or moved streams through, also into another root; what may only be read is not moved.
#[tokio::test]
async fn files_are_copied_and_moved_across_roots() {
    let lent = lend(&[Family::Fileops]).await;
    let files = lent.environment.files();
    let large = vec![7; 1_500_000];
    lent.memory.put("docs/tree/a", large.clone());
    lent.memory.files.lock().insert("docs/tree".into(), None);
    lent.memory.files.lock().insert("docs/tree/sub".into(), None);
    lent.memory.put("docs/tree/sub/b", "b");
    within(files.copy("/workspace/docs/tree", "/workspace/main/copy")).await.unwrap();
    assert_eq!(lent.memory.get("main/copy/a").unwrap(), large);
    assert_eq!(lent.memory.get("main/copy/sub/b").unwrap(), b"b");
    within(files.rename("copy", "moved")).await.unwrap();
    assert_eq!((lent.memory.get("main/copy/a"), lent.memory.get("main/moved/a").unwrap()), (None, large));
    within(files.rename("moved/sub/b", "b")).await.unwrap();
    assert_eq!(lent.memory.get("main/b").unwrap(), b"b");
    let refused = within(files.rename("/workspace/docs/tree/a", "a")).await.unwrap_err();
    assert!(matches!(refused, Error::PathNotAllowed { .. }), "{refused}");
    assert_eq!(lent.memory.get("main/a"), None);
    assert_eq!(within(files.rename("b", "moved")).await.unwrap_err().code(), RelayErrorCode::InvalidRequest);
    assert_eq!(
        within(files.copy("moved", "moved/in/itself")).await.unwrap_err().code(),
        RelayErrorCode::InvalidRequest
    );
    // What cannot be read leaves no trace.
    within(files.copy("nothing", "trace")).await.unwrap_err();
    assert_eq!(lent.memory.get("main/trace"), None);
}

/// relay-111: all that is below a directory, page by page; below `/` that is in all roots.
#[tokio::test]
async fn a_tree_is_walked() {
    let lent = lend(&[Family::Fileops]).await;
    for name in ["main/a", "main/b/c", "main/b/d", "docs/e"] {
        lent.memory.put(name, "");
    }
    let walk = |path: &str| lent.environment.files().walk(path).map_ok(|seen| seen.path.to_string());
    let paths: Vec<_> = within(walk("/workspace/main/b").try_collect()).await.unwrap();
    assert_eq!(paths, ["/workspace/main/b/c", "/workspace/main/b/d"]);
    let paths: Vec<_> = within(walk("/workspace/./x/..").try_collect()).await.unwrap();
    assert_eq!(
        paths,
        ["/workspace/main/a", "/workspace/main/b/c", "/workspace/main/b/d", "/workspace/docs/e"]
    );
}

/// relay-73, relay-111: a search tells what it finds as the device does, in all roots; who drops it cancels it (relay-54).
#[tokio::test]
async fn a_search_tells_what_it_finds() {
    let lent = lend(&[Family::Fileops]).await;
    lent.memory.put("main/a", "one\ntwo\n");
    lent.memory.put("docs/b", "two\nthree\n");
    let look = |pattern: &str| {
        let search = Search { path: "/".into(), pattern: pattern.into(), ..Search::default() };
        lent.environment.files().search(search)
    };
    let found: Vec<_> = within(look("two").try_collect()).await.unwrap();
    let [Found::Line { path: a, matched: one }, Found::Line { path: b, matched: two }, Found::Over(over)] =
        found.as_slice()
    else {
        panic!("{found:?}")
    };
    assert_eq!(
        (a.as_str(), one.line, b.as_str(), two.line),
        ("/workspace/main/a", 2, "/workspace/docs/b", 1)
    );
    assert_eq!((over.matches, over.files), (2, 2));
    let mut endless = look("endless");
    assert!(tokio::time::timeout(std::time::Duration::from_millis(50), endless.try_next()).await.is_err());
    assert_eq!(lent.device.held().requests, 1);
    drop(endless);
    crate::support::holds_nothing(&lent.device).await;
}
