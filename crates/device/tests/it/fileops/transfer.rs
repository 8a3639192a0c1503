//! Copying and moving, as an environment does it.

use std::path::PathBuf;

use async_trait::async_trait;
use protocol::relay::{Binding, Family, RelayError, RelayErrorCode, RootMode};
use relay::{
    Ask, Call, Environment, Peer, Requester,
    environment::{Error, FileOperator, Files},
};
use testkit::within;

use super::{World, lend, root};
use crate::support::{Lent, SOON};

/// More than is written at once.
const LARGE: usize = 2_000_000;

/// Who changes a file whenever another is written.
struct Meddler {
    peer: Peer,
    file: PathBuf,
}

#[async_trait]
impl Requester for Meddler {
    async fn request(&self, ask: Ask) -> Call {
        if ask.method() == "file.write" {
            std::fs::write(&self.file, "something else").unwrap();
        }
        self.peer.request(ask).await
    }
}

/// The files of an environment of a device that lends these roots.
fn files(lent: &Lent, roots: &[&str]) -> Files {
    asked_through(lent.peer.clone(), roots)
}

fn asked_through(requester: impl Requester + 'static, roots: &[&str]) -> Files {
    let binding = Binding {
        connection_id: "conn_1".into(),
        client_id: "laptop".parse().unwrap(),
        roots: roots.iter().map(|id| root(id, RootMode::Rw)).collect(),
        capabilities: vec![Family::Fileops],
        metadata: serde_json::Map::new(),
    };
    Environment::new(binding, requester).files()
}

fn conflicts(outcome: Result<(), Error>) {
    let Err(Error::File { error: RelayError { code: RelayErrorCode::InvalidRequest, details, .. }, .. }) =
        outcome
    else {
        panic!("{outcome:?}")
    };
    assert_eq!(details["reason"], "conflict");
}

/// relay-75: a file is neither moved nor copied onto itself, by whichever links.
#[tokio::test]
async fn a_file_is_not_moved_onto_itself() {
    let world = World::new().await;
    for size in [5, LARGE] {
        let content = "x".repeat(size);
        world.put("dir/a", &content);
        for (target, link) in [("dir", "dirlink"), ("dir/a", "link"), ("link", "far")] {
            let _ = std::os::unix::fs::symlink(target, world.main(link));
        }
        let files = files(&world.lent, &["main"]);
        for (from, to) in [("dir/a", "dirlink/a"), ("dir/a", "link"), ("dirlink/a", "far"), ("link", "dir/a")]
        {
            conflicts(within(SOON, files.rename(from, to)).await);
            conflicts(within(SOON, files.copy(from, to)).await);
            assert!(world.get("dir/a") == content, "{from} to {to}: {} bytes", world.get("dir/a").len());
            assert!(world.main("link").is_symlink() && world.main("far").is_symlink());
        }
        // Another of the same content is another.
        world.put("b", &content);
        within(SOON, files.copy("dir/a", "b")).await.unwrap();
        within(SOON, files.rename("dir/a", "b")).await.unwrap();
        assert!(world.get("b") == content && !world.main("dir/a").exists());
    }
}

/// relay-75: what is changed while it is moved is not lost.
#[tokio::test]
async fn a_file_that_is_changed_while_it_is_moved_stays() {
    let world = World::new().await;
    world.put("a", "as it was");
    let meddler = Meddler { peer: world.lent.peer.clone(), file: world.main("a") };
    conflicts(within(SOON, asked_through(meddler, &["main"]).rename("a", "b")).await);
    assert_eq!((world.get("a"), world.get("b")), ("something else".into(), "as it was".into()));
}

/// relay-75: a directory is not moved into itself, by whichever links, and what is in it stays.
#[tokio::test]
async fn a_directory_is_not_moved_into_itself() {
    let world = World::new().await;
    world.put("dir/sub/a", "a");
    std::os::unix::fs::symlink("dir", world.main("dirlink")).unwrap();
    std::os::unix::fs::symlink("dir/sub", world.main("sublink")).unwrap();
    let files = files(&world.lent, &["main"]);
    for to in ["dirlink/new", "sublink/new", "sublink/a/lot/deeper", "dirlink/sub/deep/new"] {
        let moved = within(SOON, files.rename("dir", to)).await.unwrap_err();
        let copied = within(SOON, files.copy("dir", to)).await.unwrap_err();
        assert_eq!(
            (moved.code(), copied.code()),
            (RelayErrorCode::InvalidRequest, RelayErrorCode::InvalidRequest),
            "{to}"
        );
        assert_eq!(world.get("dir/sub/a"), "a");
        let names = |path| std::fs::read_dir(world.main(path)).unwrap().count();
        assert_eq!((names("dir"), names("dir/sub")), (1, 1), "nothing is made: {to}");
    }
    within(SOON, files.rename("dir", "moved")).await.unwrap();
    assert_eq!(world.get("moved/sub/a"), "a");
}

/// relay-75: roots may have the same directory in them.
#[tokio::test]
async fn what_is_lent_twice_is_not_moved_onto_itself() {
    let dir = tempfile::tempdir().unwrap();
    let inner = dir.path().join("outer/dir");
    std::fs::create_dir_all(&inner).unwrap();
    std::fs::write(inner.join("a"), "a").unwrap();
    let roots = [("outer", dir.path().join("outer")), ("inner", inner.clone())];
    let lent = lend(roots.map(|(id, path)| (root(id, RootMode::Rw), path))).await;
    let files = files(&lent, &["outer", "inner"]);
    let (outer, inside) = ("/workspace/outer/dir", "/workspace/inner");
    conflicts(within(SOON, files.rename(&format!("{outer}/a"), &format!("{inside}/a"))).await);
    conflicts(within(SOON, files.copy(&format!("{inside}/a"), &format!("{outer}/a"))).await);
    let into_itself = within(SOON, files.rename(outer, &format!("{inside}/new"))).await.unwrap_err();
    assert_eq!(into_itself.code(), RelayErrorCode::InvalidRequest);
    assert_eq!(std::fs::read_to_string(inner.join("a")).unwrap(), "a");
    within(SOON, files.rename(&format!("{outer}/a"), &format!("{inside}/b"))).await.unwrap();
    assert_eq!(std::fs::read_to_string(inner.join("b")).unwrap(), "a");
}
