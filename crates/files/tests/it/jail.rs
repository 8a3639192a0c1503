//! daemon-11: `--fs-root` confines every operation to one tree, by directory handle.

use std::fs;

use files::{Cause, CreateOptions, Existing, FileKind, Links, Parents, Removal, Root};
use rustix::fs::{CWD, Mode, mkfifoat};

use crate::support::{World, assert_cause, path};

#[test]
fn going_up_ends_at_the_root() {
    let world = World::new();
    world.write("a", "inside").unwrap();
    assert_eq!(world.read("../../../../a").unwrap(), "inside");
    assert_eq!(world.read("/../a").unwrap(), "inside");
    assert_cause!(world.read("../outside/secret"), Cause::NotFound);
    world.write("../b", "still inside").unwrap();
    assert_eq!(fs::read_to_string(world.jail("b")).unwrap(), "still inside");
    world.outside_is_untouched();
}

#[test]
fn an_absolute_path_starts_at_the_root() {
    let world = World::new();
    let secret = world.outside().join("secret");
    assert_cause!(world.read(secret.to_str().unwrap()), Cause::NotFound);
    assert_cause!(world.root.stat(&path("/etc/passwd"), Links::Follow), Cause::NotFound);
}

#[test]
fn links_out_of_the_tree_lead_nowhere() {
    let world = World::new();
    world.link(world.outside().join("secret"), "absolute");
    world.link("../outside/secret", "relative");
    world.link("absolute", "chain");
    world.link(world.outside(), "dir");
    for name in ["absolute", "relative", "chain", "dir/secret"] {
        assert_cause!(world.read(name), Cause::NotFound);
        assert_cause!(world.root.stat(&path(name), Links::Follow), Cause::NotFound);
    }
    assert_cause!(world.write("dir/new", "x"), Cause::NotFound);
    assert_cause!(world.root.mkdir(&path("dir/new"), Parents::Require), Cause::NotFound);
    assert_cause!(world.root.entries(&path("dir"), None, 10), Cause::NotFound);
    assert_cause!(world.root.remove(&path("dir/secret"), Removal::Tree), Cause::NotFound);
    assert_cause!(world.root.rename(&path("dir/secret"), &path("mine"), Existing::Refuse), Cause::NotFound);
    // Writing to a link that points out creates what it would point to inside, if its directory is there.
    assert_cause!(world.write("absolute", "x"), Cause::NotFound);
    world.outside_is_untouched();
}

#[test]
fn parents_made_through_a_link_stay_inside() {
    let world = World::new();
    world.link("../../outside", "dir");
    let options = CreateOptions { parents: Parents::Create, ..CreateOptions::default() };
    assert_cause!(world.root.create(&path("dir/a/b"), options), Cause::NotADirectory);
    world.link(world.outside().join("secret"), "secret");
    world.root.create(&path("secret"), options).unwrap().commit().unwrap();
    world.outside_is_untouched();
}

#[test]
fn links_inside_are_followed_and_written_through() {
    let world = World::new();
    fs::create_dir(world.jail("d")).unwrap();
    world.write("d/a", "old").unwrap();
    world.link("d/a", "relative");
    world.link("/d/a", "absolute");
    world.link("../relative", "d/chain");
    for name in ["relative", "absolute", "d/chain"] {
        world.write(name, name).unwrap();
        assert_eq!(world.read("d/a").unwrap(), name);
        assert_eq!(world.root.stat(&path(name), Links::Keep).unwrap().kind, FileKind::Symlink);
    }
    let stat = world.root.stat(&path("absolute"), Links::Keep).unwrap();
    assert_eq!(stat.symlink_target.as_deref(), Some("/d/a"));
}

#[test]
fn a_link_to_nothing_is_filled_and_a_circle_is_an_error() {
    let world = World::new();
    world.link("later", "dangling");
    assert_cause!(world.read("dangling"), Cause::NotFound);
    world.write("dangling", "now").unwrap();
    assert_eq!(fs::read_to_string(world.jail("later")).unwrap(), "now");

    world.link("round", "about");
    world.link("about", "round");
    assert_cause!(world.read("round"), Cause::TooManyLinks);
    assert_cause!(world.write("round", "x"), Cause::TooManyLinks);
    assert_eq!(world.root.stat(&path("round"), Links::Keep).unwrap().kind, FileKind::Symlink);
}

#[test]
fn links_of_proc_that_stand_for_handles_are_not_followed() {
    let whole = Root::whole().unwrap();
    assert_cause!(whole.open_read(&path("/proc/self/root/etc/passwd")), Cause::TooManyLinks);
    assert_cause!(whole.stat(&path("/proc/self/cwd"), Links::Follow), Cause::TooManyLinks);
    let proc = Root::open("/proc".as_ref()).unwrap();
    assert_cause!(proc.stat(&path("/self/root/etc"), Links::Follow), Cause::TooManyLinks);
    // The ordinary link beside them is no way out either: it is relative, and read as such.
    proc.stat(&path("/self/stat"), Links::Follow).unwrap();
}

#[test]
fn relative_paths_start_at_the_base() {
    let world = World::new();
    fs::create_dir_all(world.jail("home/me")).unwrap();
    let root = Root::open(&world.jail("")).unwrap().with_base(&path("/home/me"));
    root.create(&path("a"), CreateOptions::default()).unwrap().commit().unwrap();
    root.create(&path("../b"), CreateOptions::default()).unwrap().commit().unwrap();
    root.create(&path("/c"), CreateOptions::default()).unwrap().commit().unwrap();
    for name in ["home/me/a", "home/b", "c"] {
        assert!(world.jail(name).is_file(), "{name}");
    }
    assert_eq!(root.entries(&path("."), None, 10).unwrap().items[0].path, path("/home/me/a"));
}

#[test]
fn what_would_block_or_flow_forever_is_not_opened() {
    let world = World::new();
    mkfifoat(CWD, world.jail("pipe"), Mode::from_raw_mode(0o600)).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(world.jail("socket")).unwrap();
    fs::create_dir(world.jail("dir")).unwrap();
    for name in ["pipe", "socket"] {
        assert_cause!(world.read(name), Cause::NotAFile);
        assert_cause!(world.write(name, "x"), Cause::NotAFile);
    }
    assert_cause!(world.read("dir"), Cause::IsADirectory);
    assert_cause!(world.write("dir", "x"), Cause::IsADirectory);
    assert_cause!(world.write("new/", "x"), Cause::IsADirectory);
    assert_cause!(Root::whole().unwrap().open_read(&path("/dev/zero")), Cause::NotAFile);
}

/// Whoever waits to write into a pipe would take us for its reader.
#[test]
fn a_pipe_is_refused_without_being_opened() {
    use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};
    let world = World::new();
    mkfifoat(CWD, world.jail("pipe"), Mode::from_raw_mode(0o600)).unwrap();
    let watch = init(CreateFlags::NONBLOCK).unwrap();
    add_watch(&watch, world.jail("pipe"), WatchFlags::OPEN).unwrap();
    assert_cause!(world.read("pipe"), Cause::NotAFile);
    let mut buffer = [std::mem::MaybeUninit::uninit(); 1024];
    let seen = Reader::new(watch, &mut buffer).next().map(|event| event.events());
    assert_eq!(seen, Err(rustix::io::Errno::AGAIN), "the pipe was opened");
}

#[test]
fn directories_are_made_once() {
    let world = World::new();
    assert!(world.root.mkdir(&path("a"), Parents::Require).unwrap());
    assert!(!world.root.mkdir(&path("a/"), Parents::Require).unwrap());
    assert_cause!(world.root.mkdir(&path("x/y"), Parents::Require), Cause::NotFound);
    assert!(world.root.mkdir(&path("x/y/z"), Parents::Create).unwrap());
    assert!(!world.root.mkdir(&path("x/y/z"), Parents::Create).unwrap());
    assert!(!world.root.mkdir(&path("/"), Parents::Create).unwrap());
    assert!(world.jail("x/y/z").is_dir());
    world.write("file", "x").unwrap();
    for parents in [Parents::Require, Parents::Create] {
        assert_cause!(world.root.mkdir(&path("file"), parents), Cause::AlreadyExists);
        assert_cause!(world.root.mkdir(&path("file/below"), parents), Cause::NotADirectory);
    }
    world.link("nowhere", "dangling");
    assert_cause!(world.root.mkdir(&path("dangling"), Parents::Create), Cause::AlreadyExists);
    assert_cause!(world.root.mkdir(&path("q/r/../../file"), Parents::Create), Cause::AlreadyExists);
    assert!(!world.jail("q").exists(), "a failure leaves no directories behind");
}
