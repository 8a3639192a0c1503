//! daemon-11: `--fs-root` confines every operation to one tree, by directory handle.

use std::fs;

use files::{
    CreateOptions, EntryType, FileErrorCause, IfExists, LinkHandling, ParentDirectories, RemovalScope,
    RootDirectory,
};
use rustix::fs::{CWD, Mode, mkfifoat};

use crate::support::{World, assert_cause, path};

#[test]
fn parent_paths_end_at_the_root() {
    let world = World::new();
    world.write("a", "inside").unwrap();
    assert_eq!(world.read("../../../../a").unwrap(), "inside");
    assert_eq!(world.read("/../a").unwrap(), "inside");
    assert_cause!(world.read("../outside/secret"), FileErrorCause::NotFound);
    world.write("../b", "still inside").unwrap();
    assert_eq!(fs::read_to_string(world.jail("b")).unwrap(), "still inside");
    world.outside_is_untouched();
}

#[test]
fn an_absolute_path_starts_at_the_root() {
    let world = World::new();
    let secret = world.outside().join("secret");
    assert_cause!(world.read(secret.to_str().unwrap()), FileErrorCause::NotFound);
    assert_cause!(world.root.stat(&path("/etc/passwd"), LinkHandling::Follow), FileErrorCause::NotFound);
}

#[test]
fn links_out_of_the_tree_lead_nowhere() {
    let world = World::new();
    world.link(world.outside().join("secret"), "absolute");
    world.link("../outside/secret", "relative");
    world.link("absolute", "chain");
    world.link(world.outside(), "dir");
    for name in ["absolute", "relative", "chain", "dir/secret"] {
        assert_cause!(world.read(name), FileErrorCause::NotFound);
        assert_cause!(world.root.stat(&path(name), LinkHandling::Follow), FileErrorCause::NotFound);
    }
    assert_cause!(world.write("dir/new", "x"), FileErrorCause::NotFound);
    assert_cause!(world.root.mkdir(&path("dir/new"), ParentDirectories::Require), FileErrorCause::NotFound);
    assert_cause!(world.root.entries(&path("dir"), None, 10), FileErrorCause::NotFound);
    assert_cause!(world.root.remove(&path("dir/secret"), RemovalScope::Tree), FileErrorCause::NotFound);
    assert_cause!(
        world.root.rename(&path("dir/secret"), &path("mine"), IfExists::Refuse),
        FileErrorCause::NotFound
    );
    // Writing to a link that points out creates its target inside the tree, if the directory exists there.
    assert_cause!(world.write("absolute", "x"), FileErrorCause::NotFound);
    world.outside_is_untouched();
}

#[test]
fn parents_created_through_a_link_stay_inside() {
    let world = World::new();
    world.link("../../outside", "dir");
    let options = CreateOptions { parents: ParentDirectories::Create, ..CreateOptions::default() };
    assert_cause!(world.root.create(&path("dir/a/b"), options), FileErrorCause::NotADirectory);
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
        assert_eq!(world.root.stat(&path(name), LinkHandling::Keep).unwrap().kind, EntryType::Symlink);
    }
    let stat = world.root.stat(&path("absolute"), LinkHandling::Keep).unwrap();
    assert_eq!(stat.symlink_target.as_deref(), Some("/d/a"));
}

#[test]
fn a_dangling_link_is_written_through_and_a_link_loop_is_an_error() {
    let world = World::new();
    world.link("later", "dangling");
    assert_cause!(world.read("dangling"), FileErrorCause::NotFound);
    world.write("dangling", "now").unwrap();
    assert_eq!(fs::read_to_string(world.jail("later")).unwrap(), "now");

    world.link("round", "about");
    world.link("about", "round");
    assert_cause!(world.read("round"), FileErrorCause::TooManyLinks);
    assert_cause!(world.write("round", "x"), FileErrorCause::TooManyLinks);
    assert_eq!(world.root.stat(&path("round"), LinkHandling::Keep).unwrap().kind, EntryType::Symlink);
}

#[test]
fn magic_links_of_proc_are_not_followed() {
    let whole = RootDirectory::open_filesystem().unwrap();
    assert_cause!(whole.open_read(&path("/proc/self/root/etc/passwd")), FileErrorCause::TooManyLinks);
    assert_cause!(whole.stat(&path("/proc/self/cwd"), LinkHandling::Follow), FileErrorCause::TooManyLinks);
    let proc = RootDirectory::open("/proc".as_ref()).unwrap();
    assert_cause!(proc.stat(&path("/self/root/etc"), LinkHandling::Follow), FileErrorCause::TooManyLinks);
    // The ordinary relative link beside them does not lead out either.
    proc.stat(&path("/self/stat"), LinkHandling::Follow).unwrap();
}

#[test]
fn relative_paths_start_at_the_base() {
    let world = World::new();
    fs::create_dir_all(world.jail("home/me")).unwrap();
    let root = RootDirectory::open(&world.jail("")).unwrap().with_base(&path("/home/me"));
    root.create(&path("a"), CreateOptions::default()).unwrap().commit().unwrap();
    root.create(&path("../b"), CreateOptions::default()).unwrap().commit().unwrap();
    root.create(&path("/c"), CreateOptions::default()).unwrap().commit().unwrap();
    for name in ["home/me/a", "home/b", "c"] {
        assert!(world.jail(name).is_file(), "{name}");
    }
    assert_eq!(root.entries(&path("."), None, 10).unwrap().items[0].path, path("/home/me/a"));
}

#[test]
fn files_that_block_or_never_end_are_not_opened() {
    let world = World::new();
    mkfifoat(CWD, world.jail("pipe"), Mode::from_raw_mode(0o600)).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(world.jail("socket")).unwrap();
    fs::create_dir(world.jail("dir")).unwrap();
    for name in ["pipe", "socket"] {
        assert_cause!(world.read(name), FileErrorCause::NotAFile);
        assert_cause!(world.write(name, "x"), FileErrorCause::NotAFile);
    }
    assert_cause!(world.read("dir"), FileErrorCause::IsADirectory);
    assert_cause!(world.write("dir", "x"), FileErrorCause::IsADirectory);
    assert_cause!(world.write("new/", "x"), FileErrorCause::IsADirectory);
    assert_cause!(
        RootDirectory::open_filesystem().unwrap().open_read(&path("/dev/zero")),
        FileErrorCause::NotAFile
    );
}

/// A process that waits to write into the pipe would be woken by an open.
#[test]
fn a_pipe_is_rejected_without_being_opened() {
    use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};
    let world = World::new();
    mkfifoat(CWD, world.jail("pipe"), Mode::from_raw_mode(0o600)).unwrap();
    let watch = init(CreateFlags::NONBLOCK).unwrap();
    add_watch(&watch, world.jail("pipe"), WatchFlags::OPEN).unwrap();
    assert_cause!(world.read("pipe"), FileErrorCause::NotAFile);
    let mut buffer = [std::mem::MaybeUninit::uninit(); 1024];
    let seen = Reader::new(watch, &mut buffer).next().map(|event| event.events());
    assert_eq!(seen, Err(rustix::io::Errno::AGAIN), "the pipe was opened");
}

#[test]
fn existing_directories_are_not_created_again() {
    let world = World::new();
    assert!(world.root.mkdir(&path("a"), ParentDirectories::Require).unwrap());
    assert!(!world.root.mkdir(&path("a/"), ParentDirectories::Require).unwrap());
    assert_cause!(world.root.mkdir(&path("x/y"), ParentDirectories::Require), FileErrorCause::NotFound);
    assert!(world.root.mkdir(&path("x/y/z"), ParentDirectories::Create).unwrap());
    assert!(!world.root.mkdir(&path("x/y/z"), ParentDirectories::Create).unwrap());
    assert!(!world.root.mkdir(&path("/"), ParentDirectories::Create).unwrap());
    assert!(world.jail("x/y/z").is_dir());
    world.write("file", "x").unwrap();
    for parents in [ParentDirectories::Require, ParentDirectories::Create] {
        assert_cause!(world.root.mkdir(&path("file"), parents), FileErrorCause::AlreadyExists);
        assert_cause!(world.root.mkdir(&path("file/below"), parents), FileErrorCause::NotADirectory);
    }
    world.link("nowhere", "dangling");
    assert_cause!(
        world.root.mkdir(&path("dangling"), ParentDirectories::Create),
        FileErrorCause::AlreadyExists
    );
    assert_cause!(
        world.root.mkdir(&path("q/r/../../file"), ParentDirectories::Create),
        FileErrorCause::AlreadyExists
    );
    assert!(!world.jail("q").exists(), "a failure leaves no directories behind");
}
