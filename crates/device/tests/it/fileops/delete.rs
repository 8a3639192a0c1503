//! Deleting a large tree, which somebody wants no more.

use std::time::{Duration, Instant};

use protocol::relay::{RawJson, RelayErrorCode};
use relay::Call;
use serde_json::json;
use testkit::within;

use super::World;
use crate::support::SOON;

/// How many entries a tree has that takes a while to delete: a second or so.
const ENTRIES: usize = 60_000;

/// How soon a deletion ends that is no longer wanted: it looks before each entry.
const PROMPT: Duration = Duration::from_secs(2);

/// A world with a large tree.
async fn world() -> World {
    let world = World::in_memory().await;
    (0..ENTRIES).for_each(|number| std::fs::create_dir_all(world.main(&format!("tree/{number}"))).unwrap());
    world
}

fn left(world: &World) -> usize {
    std::fs::read_dir(world.main("tree")).map_or(0, Iterator::count)
}

/// Begins to delete it, and returns when some of it is gone.
async fn begun(world: &World) -> Call {
    let params = json!({ "root_id": "main", "path": "tree", "recursive": true });
    let call = world.lent.call("file.delete", RawJson::from_value(&params), None).await;
    within(SOON, async {
        while left(world) == ENTRIES {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
    call
}

/// relay-51: who cancels hears of it when it has ended, and what is left stays.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deletion_that_is_cancelled_ends() {
    let world = world().await;
    let call = begun(&world).await;
    let since = Instant::now();
    drop(call);
    within(SOON, async {
        while !world.lent.said().iter().any(|frame| frame.contains("\"cancelled\"")) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
    let kept = left(&world);
    assert!(kept > 0 && since.elapsed() < PROMPT, "{kept} are left after {:?}", since.elapsed());
    // Nothing of it goes on elsewhere.
    within(SOON, world.device.end()).await;
    assert_eq!(left(&world), kept);
}

/// relay-155, relay-157: when a device has ended nothing is deleted any more, also what was still wanted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deletion_ends_with_the_device() {
    let world = world().await;
    let call = begun(&world).await;
    let since = Instant::now();
    within(SOON, world.device.end()).await;
    let kept = left(&world);
    assert!(kept > 0 && since.elapsed() < PROMPT, "{kept} are left after {:?}", since.elapsed());
    let error = within(SOON, call.outcome()).await.unwrap_err();
    assert_eq!(error.code, RelayErrorCode::Cancelled);
    assert_eq!(left(&world), kept);
}

/// relay-120, relay-157: the same when the connection is cut in the midst of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deletion_ends_with_the_connection() {
    let world = world().await;
    let call = begun(&world).await;
    let World { lent, device, dir } = world;
    drop((lent, call));
    within(SOON, device.end()).await;
    let count = || std::fs::read_dir(dir.path().join("main/tree")).map_or(0, Iterator::count);
    let kept = count();
    assert!(kept > 0);
    assert_eq!(count(), kept);
}
