//! daemon-10, daemon-11: `DELETE entry`, with `recursive`.

use std::{cell::Cell, ffi::OsStr, fs, os::fd::OwnedFd};

use files::{Cause, Removal, Root};
use rustix::{
    fs::{Mode, OFlags, mkdirat, openat},
    process::{Resource, Rlimit, getrlimit, setrlimit},
};

use crate::support::{World, assert_cause, path, tree};

/// Deeper than the handles a process may have, and than the longest path.
const DEEP: usize = 5000;

#[test]
fn a_tree_is_removed_only_when_asked_for() {
    let world = World::new();
    fs::create_dir_all(world.jail("a/b")).unwrap();
    world.write("a/b/c", "x").unwrap();
    assert_cause!(world.root.remove(&path("a"), Removal::Entry), Cause::NotEmpty);
    world.root.remove(&path("a/b/c"), Removal::Entry).unwrap();
    world.root.remove(&path("a/b/"), Removal::Entry).unwrap();
    world.write("a/d", "x").unwrap();
    world.root.remove(&path("a"), Removal::Tree).unwrap();
    world.write("file", "x").unwrap();
    world.root.remove(&path("file"), Removal::Tree).unwrap();
    assert_cause!(world.root.remove(&path("a"), Removal::Tree), Cause::NotFound);
    assert!(tree(&world.jail("")).is_empty());
}

/// relay-51: what is no longer wanted ends before the next entry.
#[test]
fn a_tree_that_is_no_longer_wanted_is_left_as_it_is() {
    let world = World::new();
    for name in ["a/b/c", "a/d/e", "a/f"] {
        fs::create_dir_all(world.jail(name).parent().unwrap()).unwrap();
        world.write(name, "x").unwrap();
    }
    let before = tree(&world.jail("")).len();
    let stopped = world.root.remove_while(&path("a"), Removal::Tree, || false);
    assert_cause!(stopped, Cause::Stopped);
    assert_eq!(tree(&world.jail("")).len(), before);
    let left = Cell::new(4);
    let some = world.root.remove_while(&path("a"), Removal::Tree, || left.replace(left.get() - 1) > 0);
    assert_cause!(some, Cause::Stopped);
    assert!(world.jail("a").exists() && left.get() == -1, "it is not asked again: {}", left.get());
    world.root.remove_while(&path("a"), Removal::Tree, || true).unwrap();
    assert!(tree(&world.jail("")).is_empty());
}

#[test]
fn the_root_stays() {
    let world = World::new();
    world.write("a", "x").unwrap();
    fs::create_dir(world.jail("d")).unwrap();
    for root in ["/", ".", "..", "//", "d/..", "/d/../.."] {
        assert_cause!(world.root.remove(&path(root), Removal::Tree), Cause::InvalidPath { .. });
    }
    assert_cause!(Root::whole().unwrap().remove(&path("/"), Removal::Entry), Cause::InvalidPath { .. });
    assert_eq!(world.read("a").unwrap(), "x");
}

#[test]
fn links_in_a_tree_are_removed_and_not_followed() {
    let world = World::new();
    fs::create_dir_all(world.jail("a/b")).unwrap();
    world.link(world.outside(), "a/out");
    world.link("../../../outside", "a/b/out");
    world.link(world.outside().join("secret"), "a/secret");
    world.root.remove(&path("a"), Removal::Tree).unwrap();
    world.link(world.outside(), "top");
    world.root.remove(&path("top"), Removal::Tree).unwrap();
    assert!(tree(&world.jail("")).is_empty());
    world.outside_is_untouched();
}

#[test]
fn a_tree_deeper_than_any_path_is_removed() {
    // What most systems give a process; with a handle for each level it would run out.
    let handles = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(1024), ..handles }).unwrap();
    let world = World::in_memory();
    let flags = OFlags::PATH | OFlags::DIRECTORY;
    let mut dir: OwnedFd = fs::File::open(world.jail("")).unwrap().into();
    for level in 0..DEEP {
        mkdirat(&dir, "d", Mode::from_raw_mode(0o700)).unwrap();
        if level % 100 == 0 {
            // Something beside the way, so that coming back up matters.
            mkdirat(&dir, "e", Mode::from_raw_mode(0o700)).unwrap();
            openat(&dir, "f", OFlags::CREATE | OFlags::WRONLY, Mode::from_raw_mode(0o600)).unwrap();
        }
        dir = openat(&dir, OsStr::new("d"), flags, Mode::empty()).unwrap();
    }
    world.root.remove(&path("d"), Removal::Tree).unwrap();
    let left: Vec<_> = tree(&world.jail("")).into_keys().collect();
    assert_eq!(left, ["e", "f"]);
}
