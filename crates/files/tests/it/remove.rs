//! daemon-10, daemon-11: `DELETE entry`, with `recursive`.

use std::{cell::Cell, ffi::OsStr, fs, os::fd::OwnedFd};

use files::{FileErrorCause, RemovalScope, RootDirectory};
use rustix::{
    fs::{Mode, OFlags, mkdirat, openat},
    process::{Resource, Rlimit, getrlimit, setrlimit},
};

use crate::support::{World, assert_cause, path, tree};

/// More levels than a process has handles, and longer than the longest path.
const DEEP: usize = 5000;

#[test]
fn a_tree_is_removed_only_on_request() {
    let world = World::new();
    fs::create_dir_all(world.jail("a/b")).unwrap();
    world.write("a/b/c", "x").unwrap();
    assert_cause!(world.root.remove(&path("a"), RemovalScope::Entry), FileErrorCause::NotEmpty);
    world.root.remove(&path("a/b/c"), RemovalScope::Entry).unwrap();
    world.root.remove(&path("a/b/"), RemovalScope::Entry).unwrap();
    world.write("a/d", "x").unwrap();
    world.root.remove(&path("a"), RemovalScope::Tree).unwrap();
    world.write("file", "x").unwrap();
    world.root.remove(&path("file"), RemovalScope::Tree).unwrap();
    assert_cause!(world.root.remove(&path("a"), RemovalScope::Tree), FileErrorCause::NotFound);
    assert!(tree(&world.jail("")).is_empty());
}

/// relay-51: a cancelled removal stops before the next entry.
#[test]
fn a_cancelled_removal_leaves_the_rest_of_the_tree() {
    let world = World::new();
    for name in ["a/b/c", "a/d/e", "a/f"] {
        fs::create_dir_all(world.jail(name).parent().unwrap()).unwrap();
        world.write(name, "x").unwrap();
    }
    let before = tree(&world.jail("")).len();
    let stopped = world.root.remove_while(&path("a"), RemovalScope::Tree, || false);
    assert_cause!(stopped, FileErrorCause::Stopped);
    assert_eq!(tree(&world.jail("")).len(), before);
    let left = Cell::new(4);
    let some = world.root.remove_while(&path("a"), RemovalScope::Tree, || left.replace(left.get() - 1) > 0);
    assert_cause!(some, FileErrorCause::Stopped);
    assert!(world.jail("a").exists() && left.get() == -1, "it is not asked again: {}", left.get());
    world.root.remove_while(&path("a"), RemovalScope::Tree, || true).unwrap();
    assert!(tree(&world.jail("")).is_empty());
}

#[test]
fn the_root_cannot_be_removed() {
    let world = World::new();
    world.write("a", "x").unwrap();
    fs::create_dir(world.jail("d")).unwrap();
    for root in ["/", ".", "..", "//", "d/..", "/d/../.."] {
        assert_cause!(world.root.remove(&path(root), RemovalScope::Tree), FileErrorCause::InvalidPath { .. });
    }
    assert_cause!(
        RootDirectory::open_filesystem().unwrap().remove(&path("/"), RemovalScope::Entry),
        FileErrorCause::InvalidPath { .. }
    );
    assert_eq!(world.read("a").unwrap(), "x");
}

#[test]
fn links_in_a_tree_are_removed_and_not_followed() {
    let world = World::new();
    fs::create_dir_all(world.jail("a/b")).unwrap();
    world.link(world.outside(), "a/out");
    world.link("../../../outside", "a/b/out");
    world.link(world.outside().join("secret"), "a/secret");
    world.root.remove(&path("a"), RemovalScope::Tree).unwrap();
    world.link(world.outside(), "top");
    world.root.remove(&path("top"), RemovalScope::Tree).unwrap();
    assert!(tree(&world.jail("")).is_empty());
    world.outside_is_untouched();
}

#[test]
fn a_tree_deeper_than_any_path_is_removed() {
    // The usual limit of handles; with one handle per level the removal would exceed it.
    let handles = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(1024), ..handles }).unwrap();
    let world = World::in_memory();
    let flags = OFlags::PATH | OFlags::DIRECTORY;
    let mut dir: OwnedFd = fs::File::open(world.jail("")).unwrap().into();
    for level in 0..DEEP {
        mkdirat(&dir, "d", Mode::from_raw_mode(0o700)).unwrap();
        if level % 100 == 0 {
            // An entry beside the path, so that the way back up matters.
            mkdirat(&dir, "e", Mode::from_raw_mode(0o700)).unwrap();
            openat(&dir, "f", OFlags::CREATE | OFlags::WRONLY, Mode::from_raw_mode(0o600)).unwrap();
        }
        dir = openat(&dir, OsStr::new("d"), flags, Mode::empty()).unwrap();
    }
    world.root.remove(&path("d"), RemovalScope::Tree).unwrap();
    let left: Vec<_> = tree(&world.jail("")).into_keys().collect();
    assert_eq!(left, ["e", "f"]);
}
