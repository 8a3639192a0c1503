//! Copying and moving, which an environment makes of what a device does.

use protocol::relay::{Binding, Family, RootMode};
use relay::{
    Environment,
    environment::{Error, FileOperator},
};
use serde_json::Map;

use super::{World, root};

/// relay-75, relay-133: nothing is copied or moved into a root that can only be read, also if whoever asks thinks that it may be changed.
#[tokio::test]
async fn nothing_is_copied_or_moved_into_what_can_only_be_read() {
    let world = World::new().await;
    world.put("a", "a");
    world.put("dir/b", "b");
    let binding = Binding {
        connection_id: "c".into(),
        client_id: "laptop".parse().unwrap(),
        roots: vec![root("main", RootMode::Rw), root("docs", RootMode::Rw)],
        capabilities: vec![Family::Fileops],
        metadata: Map::new(),
    };
    let files = Environment::new(binding, world.lent.peer.clone()).files();
    for from in ["/workspace/main/a", "/workspace/main/dir"] {
        let to = "/workspace/docs/new";
        for outcome in [files.copy(from, to).await, files.rename(from, to).await] {
            let error = outcome.unwrap_err();
            assert!(matches!(&error, Error::PathNotAllowed { path, .. } if path == to), "{from}: {error}");
        }
    }
    assert_eq!(std::fs::read_dir(world.dir.path().join("docs")).unwrap().count(), 0);
    assert_eq!((world.get("a"), world.get("dir/b")), ("a".into(), "b".into()));
}
