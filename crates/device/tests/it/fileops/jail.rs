//! What is lent ends at the root, and at what its owner and the terms allow.

use std::os::unix::fs::symlink;

use protocol::relay::{RelayErrorCode, RequestLimits, RootMode};
use rustix::fs::{CWD, Mode as Bits, mkfifoat};
use serde_json::{Value, json};

use super::{
    World,
    basics::{ask, refused},
    root,
};

/// Every method, with the parameters that it needs besides a path; whether it changes something.
pub(super) const METHODS: [(&str, bool); 8] = [
    ("file.read", false),
    ("file.list", false),
    ("file.stat", false),
    ("file.search", false),
    ("file.watch", false),
    ("file.write", true),
    ("file.mkdir", true),
    ("file.delete", true),
];

pub(super) fn more(method: &str) -> Value {
    match method {
        "file.write" => json!({ "content": "escaped" }),
        "file.delete" | "file.watch" => json!({ "recursive": true }),
        "file.search" => json!({ "pattern": "secret" }),
        _ => json!({}),
    }
}

/// relay-69, relay-163
#[tokio::test]
async fn a_path_that_is_none_is_an_invalid_request() {
    let world = World::new().await;
    for path in ["/etc/passwd", "/", "a\0b", "a\\b", "..\\outside", "C:", "c:/x", "a/D:x"] {
        for (method, _) in METHODS {
            let error = ask(&world, method, path, more(method)).await.unwrap_err();
            assert_eq!(error.code, RelayErrorCode::InvalidRequest, "{method} {path:?}: {error}");
        }
    }
    let long = "a/".repeat(2100);
    assert_eq!(
        ask(&world, "file.stat", &long, json!({})).await.unwrap_err().code,
        RelayErrorCode::InvalidRequest
    );
}

/// relay-132, relay-163: links that lead out, in every way.
fn lay_traps(world: &World) {
    let outside = world.dir.path().join("outside");
    std::fs::create_dir(world.main("dir")).unwrap();
    let link = |target: &std::path::Path, name: &str| symlink(target, world.main(name)).unwrap();
    link(&outside.join("secret"), "absolute");
    link("../outside/secret".as_ref(), "relative");
    link("../../outside/secret".as_ref(), "dir/relative");
    link("relative".as_ref(), "chain");
    link("dir/chain".as_ref(), "chain_of_chains");
    link("../chain".as_ref(), "dir/chain");
    link(&outside, "out");
    link("..".as_ref(), "up");
    link("up/outside".as_ref(), "through");
    link("/".as_ref(), "slash");
    link("/proc/self/root".as_ref(), "proc");
    link("/proc/self/cwd".as_ref(), "cwd");
    // Into a root that is lent, but not by this name.
    link("../docs".as_ref(), "docs");
    link("loop".as_ref(), "loop");
}

/// relay-131, relay-132
#[tokio::test]
async fn what_leads_out_is_refused_as_such() {
    let world = World::new().await;
    lay_traps(&world);
    for path in
        ["..", "../outside/secret", "dir/../../outside/secret", "no/../../outside", "../main/dir", "a/../.."]
    {
        for (method, _) in METHODS {
            refused(
                ask(&world, method, path, more(method)).await,
                RelayErrorCode::PermissionDenied,
                "outside",
            );
        }
    }
    let through =
        ["out/secret", "up/outside/secret", "slash/etc/passwd", "through/secret", "docs/a", "out//./secret"];
    for path in through {
        for (method, _) in METHODS {
            refused(
                ask(&world, method, path, more(method)).await,
                RelayErrorCode::PermissionDenied,
                "outside",
            );
        }
    }
    let links = [
        "absolute",
        "relative",
        "dir/relative",
        "chain",
        "chain_of_chains",
        "out",
        "out/",
        "up",
        "slash",
        "docs",
    ];
    for path in links {
        for (method, _) in METHODS {
            // A link is deleted itself.
            if method != "file.delete" {
                refused(
                    ask(&world, method, path, more(method)).await,
                    RelayErrorCode::PermissionDenied,
                    "outside",
                );
            }
        }
    }
    for path in ["proc/etc/passwd", "cwd/Cargo.toml", "loop", "loop/a"] {
        for (method, _) in METHODS {
            if (method, path) != ("file.delete", "loop") {
                let error = ask(&world, method, path, more(method)).await.unwrap_err();
                assert_eq!(error.code, RelayErrorCode::PermissionDenied, "{method} {path}: {error}");
            }
        }
    }
    for path in links {
        ask(&world, "file.delete", path, more("file.delete")).await.unwrap();
    }
    world.outside_is_untouched();
}

/// relay-132, relay-134: the links of `/proc` that stand for handles lead to anywhere.
#[tokio::test]
async fn a_link_that_stands_for_a_handle_is_not_followed() {
    let lent = super::lend([(root("proc", RootMode::Rw), "/proc/self".into())]).await;
    for path in ["root/etc/passwd", "cwd", "exe", "fd/0"] {
        for method in ["file.read", "file.list", "file.write", "file.search"] {
            let mut params = more(method);
            params["root_id"] = "proc".into();
            params["path"] = path.into();
            let error = lent.ask_any(method, params).await.unwrap_err();
            assert_eq!(error.code, RelayErrorCode::PermissionDenied, "{method} {path}: {error}");
        }
    }
}

/// relay-131, relay-133
#[tokio::test]
async fn nothing_is_changed_in_a_root_that_can_only_be_read() {
    let world = World::new().await;
    let file = world.dir.path().join("docs/a");
    std::fs::write(&file, "as it was").unwrap();
    let read = json!({ "root_id": "docs", "path": "a" });
    world.lent.ask_any("file.read", read.clone()).await.unwrap();
    for (method, changes) in METHODS {
        for append in [false, true] {
            let mut params = more(method);
            params["root_id"] = "docs".into();
            params["path"] = "a".into();
            params["append"] = append.into();
            if changes {
                refused(
                    world.lent.ask_any(method, params).await,
                    RelayErrorCode::PermissionDenied,
                    "read_only",
                );
            }
        }
    }
    assert_eq!(std::fs::read_to_string(file).unwrap(), "as it was");
    assert_eq!(std::fs::read_dir(world.dir.path().join("docs")).unwrap().count(), 1);
}

/// relay-127, relay-129: terms take away, and never give.
#[tokio::test]
async fn terms_restrict_roots_and_modes() {
    let world = World::new().await;
    world.put("a", "a");
    std::fs::write(world.dir.path().join("docs/a"), "a").unwrap();
    let read = |root: &str| json!({ "root_id": root, "path": "a" });
    let write = |root: &str| json!({ "root_id": root, "path": "b", "content": "" });
    let terms = |roots: &[(&str, RootMode)]| RequestLimits {
        roots: roots.iter().map(|(id, mode)| root(id, *mode)).collect(),
        shell: None,
    };
    let nothing = terms(&[]);
    let error = world.lent.ask_under(nothing, "file.read", read("main")).await.unwrap_err();
    assert_eq!(error.code, RelayErrorCode::PermissionDenied);
    let only_read = terms(&[("main", RootMode::Ro)]);
    world.lent.ask_under(only_read.clone(), "file.read", read("main")).await.unwrap();
    refused(
        world.lent.ask_under(only_read.clone(), "file.write", write("main")).await,
        RelayErrorCode::PermissionDenied,
        "read_only",
    );
    let error = world.lent.ask_under(only_read, "file.read", read("docs")).await.unwrap_err();
    assert_eq!(error.code, RelayErrorCode::PermissionDenied);
    let generous = terms(&[("main", RootMode::Rw), ("docs", RootMode::Rw), ("unknown", RootMode::Rw)]);
    world.lent.ask_under(generous.clone(), "file.write", write("main")).await.unwrap();
    refused(
        world.lent.ask_under(generous.clone(), "file.write", write("docs")).await,
        RelayErrorCode::PermissionDenied,
        "read_only",
    );
    let error = world.lent.ask_under(generous, "file.read", read("unknown")).await.unwrap_err();
    assert_eq!(error.code, RelayErrorCode::PermissionDenied);
}

/// relay-134
#[tokio::test]
async fn what_is_neither_file_nor_directory_is_refused() {
    let world = World::new().await;
    mkfifoat(CWD, world.main("pipe"), Bits::from_raw_mode(0o600)).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(world.main("socket")).unwrap();
    symlink("pipe", world.main("link")).unwrap();
    for path in ["pipe", "socket", "link"] {
        for method in ["file.read", "file.write", "file.search", "file.watch"] {
            refused(
                ask(&world, method, path, more(method)).await,
                RelayErrorCode::PermissionDenied,
                "special_file",
            );
        }
        let append = json!({ "content": "x", "append": true });
        refused(
            ask(&world, "file.write", path, append).await,
            RelayErrorCode::PermissionDenied,
            "special_file",
        );
    }
    let list = ask(&world, "file.list", "", json!({})).await.unwrap();
    let kinds: Vec<_> = list["entries"].as_array().unwrap().iter().map(|entry| &entry["kind"]).collect();
    assert_eq!(kinds, ["symlink", "other", "other"]);
    // Nor is what a driver would answer; nothing of it may be changed here, so that nothing is.
    let lent = super::lend([(root("dev", RootMode::Ro), "/dev".into())]).await;
    for method in ["file.read", "file.search", "file.watch"] {
        for path in ["null", "zero"] {
            let mut params = more(method);
            (params["root_id"], params["path"]) = ("dev".into(), path.into());
            refused(lent.ask_any(method, params).await, RelayErrorCode::PermissionDenied, "special_file");
        }
    }
}

/// relay-43, relay-135
#[tokio::test]
async fn no_frame_tells_where_a_root_is() {
    let world = World::new().await;
    lay_traps(&world);
    world.put("dir/a", "some text\n");
    let paths =
        ["", "a", "dir", "dir/a", "dir/a/b", "absolute", "out/secret", "slash", "loop", "../x", "pipe", "no"];
    for path in paths {
        for (method, _) in METHODS {
            let mut more = more(method);
            if method == "file.search" {
                more = json!({ "pattern": "text" });
            }
            if method != "file.watch" && (method, path) != ("file.delete", "") {
                let _ = ask(&world, method, path, more).await;
            }
        }
        let _ = ask(&world, "file.write", path, json!({ "content": "x", "create": "new" })).await;
        let _ = ask(&world, "file.list", path, json!({ "recursive": true, "page": "?" })).await;
        let _ = ask(&world, "file.search", path, json!({ "pattern": "(", "regex": true })).await;
    }
    let said = world.lent.said();
    assert!(said.len() > 80, "{}", said.len());
    let host = world.dir.path().to_str().unwrap();
    let name = world.dir.path().file_name().unwrap().to_str().unwrap();
    for frame in said {
        assert!(!frame.contains(host) && !frame.contains(name), "{frame}");
    }
}
