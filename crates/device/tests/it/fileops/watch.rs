//! Watching what changes.

use std::fs;

use futures_util::StreamExt;
use protocol::relay::{
    RawJson, RelayErrorCode,
    file::{ChangeKind, WatchStarted, WatchedChange},
};
use relay::{Call, Part};
use serde_json::json;
use testkit::within;

use super::World;
use crate::support::SOON;

/// A watch that is there.
async fn watch(world: &World, path: &str, recursive: bool) -> Call {
    let params = json!({ "root_id": "main", "path": path, "recursive": recursive });
    let mut call = world.lent.call("file.watch", RawJson::from_value(&params), None).await;
    match within(SOON, call.next()).await.unwrap() {
        Part::Stream(frame) if frame.event == "status" => {
            assert!(frame.data.read::<WatchStarted>().unwrap().watch_id.starts_with("watch_"));
        }
        part => panic!("{part:?}"),
    }
    call
}

async fn change(call: &mut Call) -> WatchedChange {
    match within(SOON, call.next()).await.unwrap() {
        Part::Stream(frame) if frame.event == "progress" => frame.data.read().unwrap(),
        part => panic!("{part:?}"),
    }
}

async fn sees(call: &mut Call, expected: &[(ChangeKind, &str)]) {
    for (kind, path) in expected {
        let change = change(call).await;
        assert_eq!((change.kind, change.path.as_str(), change.root_id.as_str()), (*kind, *path, "main"));
    }
}

/// Whatever comes before, it is told that everything may be different.
async fn is_told_to_look_again(call: &mut Call) {
    let mut told = change(call).await;
    while told.kind != ChangeKind::Unknown {
        told = change(call).await;
    }
    assert_eq!(told.path.as_str(), "", "everything below it");
}

/// relay-74
#[tokio::test]
async fn what_changes_is_told() {
    use ChangeKind::{Created, Deleted, Modified};
    let world = World::new().await;
    world.put("dir/a", "a");
    let mut call = watch(&world, "dir", false).await;
    fs::write(world.main("dir/new"), "new").unwrap();
    sees(&mut call, &[(Created, "dir/new")]).await;
    fs::write(world.main("dir/a"), "changed").unwrap();
    sees(&mut call, &[(Modified, "dir/a")]).await;
    fs::remove_file(world.main("dir/new")).unwrap();
    sees(&mut call, &[(Deleted, "dir/new")]).await;
    fs::rename(world.main("dir/a"), world.main("dir/b")).unwrap();
    let renamed = change(&mut call).await;
    assert_eq!((renamed.kind, renamed.path.as_str()), (ChangeKind::Renamed, "dir/b"));
    assert_eq!(renamed.old_path.unwrap().as_str(), "dir/a");
    // Out of it, and into it.
    fs::rename(world.main("dir/b"), world.main("b")).unwrap();
    sees(&mut call, &[(Deleted, "dir/b")]).await;
    fs::rename(world.main("b"), world.main("dir/c")).unwrap();
    sees(&mut call, &[(Created, "dir/c")]).await;
    // What is written through the relay is one change, without a trace of how.
    for (content, kind) in [("1", Created), ("2", Modified)] {
        let params = json!({ "root_id": "main", "path": "dir/w", "content": content });
        world.lent.ask_any("file.write", params).await.unwrap();
        sees(&mut call, &[(kind, "dir/w")]).await;
    }
    // Only the directory itself was asked for.
    world.put("dir/sub/x", "x");
    sees(&mut call, &[(Created, "dir/sub")]).await;
    fs::write(world.main("dir/sub/x"), "y").unwrap();
    fs::remove_dir_all(world.main("dir")).unwrap();
    let mut last = change(&mut call).await;
    while last.path.as_str() != "dir" {
        assert_eq!(last.kind, Deleted, "{last:?}");
        last = change(&mut call).await;
    }
    assert_eq!(last.kind, Deleted);
    assert!(
        matches!(within(SOON, call.next()).await, Some(Part::Outcome(Ok(_)))),
        "there is nothing left to watch"
    );
}

/// relay-74
#[tokio::test]
async fn a_tree_is_watched_as_it_grows_and_moves() {
    let world = World::new().await;
    world.put("a/b/c", "");
    let mut call = watch(&world, "", true).await;
    fs::write(world.main("a/b/c"), "x").unwrap();
    sees(&mut call, &[(ChangeKind::Modified, "a/b/c")]).await;
    // Made faster than anybody can begin to watch it.
    world.put("n/e/w", "");
    let mut seen = [change(&mut call).await.path, change(&mut call).await.path, change(&mut call).await.path];
    seen.sort();
    assert_eq!(
        seen.iter().map(protocol::relay::RelayPath::as_str).collect::<Vec<_>>(),
        ["n", "n/e", "n/e/w"]
    );
    fs::write(world.main("n/e/w"), "x").unwrap();
    sees(&mut call, &[(ChangeKind::Modified, "n/e/w")]).await;
    fs::rename(world.main("a/b"), world.main("n/m")).unwrap();
    sees(&mut call, &[(ChangeKind::Renamed, "n/m")]).await;
    fs::write(world.main("n/m/c"), "y").unwrap();
    sees(&mut call, &[(ChangeKind::Modified, "n/m/c")]).await;
    // What has left the root is not followed.
    fs::rename(world.main("n/m"), world.dir.path().join("outside/m")).unwrap();
    sees(&mut call, &[(ChangeKind::Deleted, "n/m")]).await;
    fs::write(world.dir.path().join("outside/m/c"), "z").unwrap();
    fs::write(world.main("end"), "").unwrap();
    sees(&mut call, &[(ChangeKind::Created, "end")]).await;
}

/// relay-74, relay-132: a link is not a way to watch other places.
#[tokio::test]
async fn nothing_outside_is_watched() {
    let world = World::new().await;
    fs::create_dir(world.main("real")).unwrap();
    let mut call = watch(&world, "", true).await;
    std::os::unix::fs::symlink(world.dir.path().join("outside"), world.main("link")).unwrap();
    sees(&mut call, &[(ChangeKind::Created, "link")]).await;
    fs::write(world.dir.path().join("outside/new"), "").unwrap();
    fs::write(world.main("link/other"), "").unwrap();
    fs::write(world.main("real/end"), "").unwrap();
    sees(&mut call, &[(ChangeKind::Created, "real/end")]).await;
}

/// relay-74
#[tokio::test]
async fn a_file_is_watched_by_its_name() {
    let world = World::new().await;
    world.put("a", "1");
    let mut call = watch(&world, "a", false).await;
    world.put("other", "");
    fs::write(world.main("draft"), "2").unwrap();
    fs::rename(world.main("draft"), world.main("a")).unwrap();
    sees(&mut call, &[(ChangeKind::Modified, "a")]).await;
    fs::remove_file(world.main("a")).unwrap();
    sees(&mut call, &[(ChangeKind::Deleted, "a")]).await;
}

/// relay-74: bursts are few changes, or one that says to look again.
#[tokio::test]
async fn a_burst_is_told_in_short() {
    let world = World::in_memory().await;
    world.put("a", "");
    let mut call = watch(&world, "", true).await;
    for at in 0..2000 {
        fs::write(world.main("a"), at.to_string()).unwrap();
        fs::write(world.main("passing"), "").unwrap();
        fs::remove_file(world.main("passing")).unwrap();
    }
    fs::write(world.main("end"), "").unwrap();
    let mut told = Vec::new();
    while told.last().is_none_or(|change: &WatchedChange| change.path.as_str() != "end") {
        told.push(change(&mut call).await);
    }
    assert!(told.len() < 200, "{}", told.len());

    for at in 0..5000 {
        fs::write(world.main(&format!("many{at}")), "").unwrap();
    }
    is_told_to_look_again(&mut call).await;
}

/// relay-74: the kernel gives up before we do.
#[tokio::test]
async fn an_overflow_of_the_kernel_is_told() {
    let world = World::in_memory().await;
    let mut call = watch(&world, "", true).await;
    // No other task runs until all of this has happened.
    for at in 0..20_000 {
        fs::write(world.main("a"), "x").unwrap();
        fs::write(world.main(&format!("b{}", at % 2)), "x").unwrap();
    }
    fs::create_dir(world.main("late")).unwrap();
    is_told_to_look_again(&mut call).await;
    // What came while nothing was told is watched.
    fs::write(world.main("late/x"), "").unwrap();
    within(SOON, async { while change(&mut call).await.path.as_str() != "late/x" {} }).await;
}

/// relay-51, relay-74
#[tokio::test]
async fn a_watch_ends_when_it_is_cancelled_and_there_are_not_too_many() {
    let world = World::new().await;
    let mut calls = Vec::new();
    for _ in 0..32 {
        calls.push(watch(&world, "", false).await);
    }
    let params = json!({ "root_id": "main", "path": "" });
    let error = world.lent.ask_any("file.watch", params).await.unwrap_err();
    assert_eq!((error.code, error.details["reason"].as_str()), (RelayErrorCode::ProviderError, Some("busy")));
    drop(calls);
    within(SOON, async {
        while world.lent.peer.held().calls > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    watch(&world, "", false).await;
}
