//! Searching files.

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use protocol::relay::{RawJson, RelayError, RelayErrorCode};
use relay::Part;
use serde_json::{Value, json};
use testkit::within;

use super::{
    World,
    basics::{ask, refused},
};
use crate::support::SOON;

/// What is found, and what comes of it.
async fn search(world: &World, path: &str, more: Value) -> Result<(Vec<Value>, Value), RelayError> {
    let mut params = json!({ "root_id": "main", "path": path });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let mut call = world.lent.call("file.search", RawJson::from_value(&params), None).await;
    let mut found = Vec::new();
    loop {
        match within(SOON, call.next()).await.unwrap() {
            Part::Stream(frame) => {
                assert_eq!(frame.event, "progress");
                let batch: Value = frame.data.read().unwrap();
                found.extend(batch["matches"].as_array().unwrap().clone());
            }
            Part::Outcome(outcome) => return Ok((found, outcome?.read().unwrap())),
        }
    }
}

/// The places where a pattern is found.
async fn places(world: &World, path: &str, more: Value) -> Vec<String> {
    let (found, searched) = search(world, path, more).await.unwrap();
    assert_eq!(searched["matches"], found.len());
    found.iter().map(|it| format!("{}:{}", it["path"].as_str().unwrap(), it["line"])).collect()
}

/// relay-73
#[tokio::test]
async fn matches_are_told_with_where_they_are() {
    let world = World::new().await;
    world.put("a.txt", "one\ntwo Needle\r\nneedle\n");
    world.put("sub/b.txt", "a.c\nabc");
    let (found, searched) = search(&world, "", json!({ "pattern": "Needle" })).await.unwrap();
    assert_eq!(found, [json!({ "path": "a.txt", "line": 2, "column": 5, "text": "two Needle" })]);
    assert_eq!(searched, json!({ "matches": 1, "files": 1, "truncated": false }));
    // A text is one, and a regular expression only if it is called so.
    assert_eq!(places(&world, "", json!({ "pattern": "a.c" })).await, ["sub/b.txt:1"]);
    assert_eq!(
        places(&world, "", json!({ "pattern": "a.c", "regex": true })).await,
        ["sub/b.txt:1", "sub/b.txt:2"]
    );
    let both = ["a.txt:2", "a.txt:3"];
    assert_eq!(places(&world, "", json!({ "pattern": "NEEDLE", "case": "insensitive" })).await, both);
    assert_eq!(places(&world, "", json!({ "pattern": "needle", "case": "smart" })).await, both);
    assert_eq!(places(&world, "", json!({ "pattern": "Needle", "case": "smart" })).await, ["a.txt:2"]);
    assert_eq!(places(&world, "sub", json!({ "pattern": "n" })).await, [""; 0]);
    assert_eq!(places(&world, "sub/b.txt", json!({ "pattern": "abc" })).await, ["sub/b.txt:2"]);
    refused(
        ask(&world, "file.search", "no", json!({ "pattern": "x" })).await,
        RelayErrorCode::NotFound,
        "not_found",
    );
    for pattern in ["(", "a\nb", r"\n", r"(\w{1000}){1000}"] {
        let more = json!({ "pattern": pattern, "regex": true });
        refused(
            ask(&world, "file.search", "", more).await,
            RelayErrorCode::InvalidRequest,
            "invalid_pattern",
        );
    }
}

/// relay-73: what is not looked at is told.
#[tokio::test]
async fn a_directory_with_too_many_names_is_searched_in_part() {
    let world = World::in_memory().await;
    std::fs::create_dir(world.main("many")).unwrap();
    (0..=files::ENTRIES_MAX).for_each(|number| world.put(&format!("many/{number}"), ""));
    let (_, searched) = search(&world, "", json!({ "pattern": "x" })).await.unwrap();
    assert_eq!(searched, json!({ "matches": 0, "files": 0, "truncated": true }));
    std::fs::remove_file(world.main("many/0")).unwrap();
    let (_, searched) = search(&world, "", json!({ "pattern": "x" })).await.unwrap();
    assert_eq!(searched["truncated"], json!(false));
}

/// relay-73
#[tokio::test]
async fn what_is_ignored_hidden_or_binary_is_left_out() {
    let world = World::new().await;
    for name in [
        "kept.rs",
        "target/out.rs",
        "sub/kept.rs",
        "sub/target",
        "sub/log/a.log",
        "sub/keep.log",
        "sub/only/x",
        "deep/only/x",
        ".hidden",
        ".git/config",
        "repo/.git/config",
        "repo/target/y",
    ] {
        world.put(name, "needle\n");
    }
    world.put(".gitignore", "target/\n*.log\n/only\n");
    world.put("sub/.gitignore", "!keep.log\n/only/\n");
    world.put("sub/.ignore", "# nothing\n");
    world.put("binary", b"needle\n\0needle\n");
    world.put("latin1", b"needle \xe9\n");
    std::os::unix::fs::symlink("kept.rs", world.main("link")).unwrap();
    let found = places(&world, "", json!({ "pattern": "needle" })).await;
    let expected =
        ["kept.rs", "latin1", "deep/only/x", "repo/target/y", "sub/keep.log", "sub/kept.rs", "sub/target"];
    assert_eq!(found, expected.map(|name| format!("{name}:1")));
    // Rules above the directory that is searched hold too.
    assert_eq!(places(&world, "sub/log", json!({ "pattern": "needle" })).await, [""; 0]);
    // What .ignore says counts more than what .gitignore says.
    world.put(".ignore", "!*.log\nsub/kept.rs\n");
    let more = json!({ "pattern": "needle" });
    let found = places(&world, "sub", more).await;
    assert_eq!(found, ["sub/keep.log:1", "sub/target:1", "sub/log/a.log:1"]);
    // What is asked for by name is searched.
    assert_eq!(places(&world, "target/out.rs", json!({ "pattern": "needle" })).await, ["target/out.rs:1"]);
}

/// relay-73
#[tokio::test]
async fn globs_say_which_files() {
    let world = World::new().await;
    for name in ["a.rs", "b.py", "src/a.rs", "src/b.rs", ".env", "docs/.x/y.rs"] {
        world.put(name, "needle\n");
    }
    let with = async |more: Value| {
        let mut params = json!({ "pattern": "needle" });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        places(&world, "", params).await
    };
    assert_eq!(with(json!({ "include": ["*.rs"] })).await, ["a.rs:1", "src/a.rs:1", "src/b.rs:1"]);
    assert_eq!(with(json!({ "include": ["src/*.rs"], "exclude": ["b.*"] })).await, ["src/a.rs:1"]);
    assert_eq!(with(json!({ "exclude": ["src/"] })).await, ["a.rs:1", "b.py:1"]);
    assert_eq!(with(json!({ "include": [".env"] })).await, [".env:1"]);
    for more in [json!({ "include": ["{"] }), json!({ "include": ["!a"] })] {
        let mut params = json!({ "pattern": "needle" });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        refused(ask(&world, "file.search", "", params).await, RelayErrorCode::InvalidRequest, "invalid_glob");
    }
    let many = json!({ "pattern": "needle", "include": vec!["x"; 65] });
    refused(ask(&world, "file.search", "", many).await, RelayErrorCode::InvalidRequest, "too_many_globs");
}

/// relay-73
#[tokio::test]
async fn lines_around_a_match_come_with_it() {
    let world = World::new().await;
    world.put("a", "1\n2\nx\n4\nx\n6\n7\n8\n9\nx\n");
    let (found, _) = search(&world, "", json!({ "pattern": "x", "context": 2 })).await.unwrap();
    let around: Vec<_> = found.iter().map(|it| (it["before"].clone(), it["after"].clone())).collect();
    assert_eq!(
        around,
        [
            (json!(["1", "2"]), json!(["4", "x"])),
            (json!(["x", "4"]), json!(["6", "7"])),
            (json!(["8", "9"]), Value::Null),
        ]
    );
}

/// relay-73: many matches, long lines, and an end.
#[tokio::test]
async fn a_search_ends_at_its_limit_and_says_so() {
    let world = World::new().await;
    world.put("a", "x\n".repeat(3000));
    world.put("long", format!("{}é{}\n", "x".repeat(2047), "x".repeat(100_000)));
    for (limit, matches, truncated) in [
        (json!(10), 10, true),
        (json!(3001), 3001, false),
        (Value::Null, 1000, true),
        (json!(3000), 3000, true),
    ] {
        let (found, searched) = search(&world, "", json!({ "pattern": "x", "limit": limit })).await.unwrap();
        assert_eq!((found.len(), &searched["truncated"]), (matches, &json!(truncated)));
        if let Some(long) = found.iter().find(|found| found["path"] == "long") {
            assert_eq!(long["text"], "x".repeat(2047));
        }
    }
    let (found, searched) =
        search(&world, "", json!({ "pattern": "x", "limit": 100_000, "timeout_ms": 0 })).await.unwrap();
    assert!(found.len() < 3001 && searched["truncated"] == true, "{searched}");
}

/// relay-73: what is found is told before the search ends, which stops within 100 ms of being told so: in the middle of a long
/// file, between many, and while nobody reads what it finds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_that_is_cancelled_stops_at_once() {
    let world = World::in_memory().await;
    let lines = "some line of text\n".repeat(4000);
    world.put("long/a", format!("needle\n{}", lines.repeat(1500)));
    world.put("many/0", "needle\n");
    for at in 1..1500 {
        world.put(&format!("many/{at}"), &lines);
    }
    for (path, pattern) in [("long", "needle"), ("many", "needle"), ("many", "text")] {
        let params = json!({ "root_id": "main", "path": path, "pattern": pattern, "limit": 100_000 });
        let mut call = world.lent.call("file.search", RawJson::from_value(&params), None).await;
        let first = within(SOON, call.next()).await.unwrap();
        assert!(matches!(first, Part::Stream(_)), "it has ended before anything was told: {first:?}");
        assert_eq!(world.lent.peer.held().calls, 1);
        let start = Instant::now();
        drop(call);
        within(SOON, async {
            while world.lent.peer.held().calls > 0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        })
        .await;
        assert!(start.elapsed() < Duration::from_millis(100), "{path} {pattern}: {:?}", start.elapsed());
    }
}
