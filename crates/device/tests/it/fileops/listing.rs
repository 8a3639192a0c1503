//! Listing directories, page by page.

use protocol::relay::RelayErrorCode;
use serde_json::{Value, json};

use super::{
    World,
    basics::{ask, refused},
};

/// relay-67
#[tokio::test]
async fn a_directory_is_listed_by_name_with_what_is_there() {
    let world = World::new().await;
    world.put("b/c", "abc");
    world.put("a", "a");
    world.put(".hidden", "");
    std::os::unix::fs::symlink("a", world.main("link")).unwrap();
    let list = ask(&world, "file.list", "", json!({})).await.unwrap();
    let shown: Vec<_> =
        list["entries"].as_array().unwrap().iter().map(|it| (&it["name"], &it["kind"])).collect();
    let expected =
        [("a", "file"), ("b", "dir"), ("link", "symlink")].map(|(name, kind)| (json!(name), json!(kind)));
    assert_eq!(shown, expected.each_ref().map(|(name, kind)| (name, kind)));
    assert_eq!((&list["entries"][0]["size_bytes"], &list["next_page"]), (&json!(1), &Value::Null));
    assert!(list["entries"][0]["mtime"].as_str().unwrap().ends_with('Z'));
    assert_eq!(names(&world, "", json!({ "include_hidden": true })).await, [".hidden", "a", "b", "link"]);
    assert_eq!(names(&world, "b", json!({})).await, ["c"]);
    refused(
        ask(&world, "file.list", "a", json!({})).await,
        RelayErrorCode::InvalidRequest,
        "not_a_directory",
    );
    refused(ask(&world, "file.list", "no", json!({})).await, RelayErrorCode::NotFound, "not_found");
    for page in ["?", "", "Li4", "YS8uLi9i"] {
        refused(
            ask(&world, "file.list", "", json!({ "page": page })).await,
            RelayErrorCode::InvalidRequest,
            "unknown_page",
        );
    }
}

/// All names, page by page.
async fn names(world: &World, path: &str, more: Value) -> Vec<String> {
    let (mut names, mut more) = (Vec::new(), more);
    loop {
        let list = ask(world, "file.list", path, more.clone()).await.unwrap();
        let entries = list["entries"].as_array().unwrap();
        names.extend(entries.iter().map(|entry| entry["name"].as_str().unwrap().to_owned()));
        let Some(next) = list.get("next_page") else { return names };
        assert!(!entries.is_empty());
        more["page"] = next.clone();
    }
}

/// relay-67
#[tokio::test]
async fn a_tree_is_listed_in_the_same_order_whatever_the_pages() {
    let world = World::new().await;
    for name in ["a/b/c", "a/b/d", "a.txt", "a/z", "b/.git/x", "b/y", "c", "ä/ö"] {
        world.put(name, "");
    }
    // Neither a circle nor a way elsewhere is followed.
    std::os::unix::fs::symlink("..", world.main("a/up")).unwrap();
    let all = ["a", "a/b", "a/b/c", "a/b/d", "a/up", "a/z", "a.txt", "b", "b/y", "c", "ä", "ä/ö"];
    for limit in 1..14 {
        assert_eq!(names(&world, "", json!({ "recursive": true, "limit": limit })).await, all, "{limit}");
    }
    let two = ["a", "a/b", "a/up", "a/z", "a.txt", "b", "b/y", "c", "ä", "ä/ö"];
    for limit in [1, 3, 100] {
        let more = json!({ "recursive": true, "max_depth": 2, "limit": limit });
        assert_eq!(names(&world, "", more).await, two);
    }
    assert_eq!(
        names(&world, "a", json!({ "recursive": true, "limit": 2 })).await,
        ["b", "b/c", "b/d", "up", "z"]
    );
}

/// relay-8, relay-70: names are long, and a frame is not.
#[tokio::test]
async fn a_page_fits_in_a_frame_however_long_the_names_are() {
    let world = World::in_memory().await;
    let expected: Vec<_> = (0..6000).map(|at| format!("{at:04}{}", "\u{1}".repeat(200))).collect();
    for name in &expected {
        world.put(name, "");
    }
    assert_eq!(names(&world, "", json!({ "limit": 1_000_000 })).await, expected);
}
