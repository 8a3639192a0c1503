//! daemon-10: `POST move`.

use std::{fs, os::unix::fs::MetadataExt};

use files::{FileErrorCause, IfExists, RootDirectory};
use rustix::fs::{CWD, Mode, mkfifoat};

use crate::support::{World, assert_cause, path, tree};

#[test]
fn a_move_replaces_only_on_request() {
    let world = World::new();
    world.write("a", "a").unwrap();
    world.write("b", "b").unwrap();
    assert_cause!(world.root.rename(&path("a"), &path("b"), IfExists::Refuse), FileErrorCause::AlreadyExists);
    assert_eq!(world.read("b").unwrap(), "b");
    world.root.rename(&path("a"), &path("b"), IfExists::Replace).unwrap();
    assert_eq!(world.read("b").unwrap(), "a");
    assert_cause!(world.read("a"), FileErrorCause::NotFound);
    world.root.rename(&path("b"), &path("c"), IfExists::Refuse).unwrap();
    assert_cause!(world.root.rename(&path("b"), &path("d"), IfExists::Refuse), FileErrorCause::NotFound);
    assert_cause!(world.root.rename(&path("c"), &path("x/c"), IfExists::Refuse), FileErrorCause::NotFound);
}

#[test]
fn a_directory_cannot_move_into_itself_or_over_a_non_empty_one() {
    let world = World::new();
    fs::create_dir_all(world.jail("a/b/c")).unwrap();
    for existing in [IfExists::Refuse, IfExists::Replace] {
        assert_cause!(world.root.rename(&path("a"), &path("a/b/c/a"), existing), FileErrorCause::IntoItself);
        assert_cause!(world.root.rename(&path("a"), &path("a/x"), existing), FileErrorCause::IntoItself);
    }
    fs::create_dir_all(world.jail("full/x")).unwrap();
    assert_cause!(world.root.rename(&path("a"), &path("full"), IfExists::Replace), FileErrorCause::NotEmpty);
    assert_cause!(
        world.root.rename(&path("/"), &path("x"), IfExists::Replace),
        FileErrorCause::InvalidPath { .. }
    );
    let names: Vec<_> = tree(&world.jail("")).into_keys().collect();
    assert_eq!(names, ["a", "a/b", "a/b/c", "full", "full/x"]);
}

#[test]
fn links_are_moved_and_replaced_themselves() {
    let world = World::new();
    world.link(world.outside().join("secret"), "a");
    world.link(world.outside().join("secret"), "b");
    world.root.rename(&path("a"), &path("b"), IfExists::Replace).unwrap();
    world.write("c", "c").unwrap();
    world.root.rename(&path("c"), &path("b"), IfExists::Replace).unwrap();
    assert_eq!(world.read("b").unwrap(), "c");
    world.outside_is_untouched();
}

/// Two directories on different filesystems; `None` if the machine has only one.
fn two_filesystems() -> Option<(tempfile::TempDir, tempfile::TempDir)> {
    let here = tempfile::tempdir().unwrap();
    let there = tempfile::tempdir_in("/dev/shm").ok()?;
    let device = |dir: &tempfile::TempDir| fs::metadata(dir.path()).unwrap().dev();
    (device(&here) != device(&there)).then_some((here, there))
}

#[test]
fn a_tree_moves_to_another_filesystem() {
    let Some((here, there)) = two_filesystems() else { return };
    let source = here.path().join("tree");
    fs::create_dir_all(source.join("a/b")).unwrap();
    fs::write(source.join("a/b/file"), vec![7; 600_000]).unwrap();
    fs::set_permissions(source.join("a"), std::os::unix::fs::PermissionsExt::from_mode(0o750)).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", source.join("link")).unwrap();
    let (before, modified) = (tree(here.path()), fs::metadata(source.join("a")).unwrap().modified().unwrap());
    let whole = RootDirectory::open_filesystem().unwrap();
    let (from, to) = (path(source.to_str().unwrap()), path(there.path().join("tree").to_str().unwrap()));
    whole.rename(&from, &to, IfExists::Refuse).unwrap();
    assert_eq!(tree(there.path()), before);
    assert_eq!(fs::metadata(there.path().join("tree/a")).unwrap().modified().unwrap(), modified);
    assert!(tree(here.path()).is_empty());

    let file = path(there.path().join("tree/a/b/file").to_str().unwrap());
    whole.rename(&file, &path(here.path().join("f").to_str().unwrap()), IfExists::Refuse).unwrap();
    assert_eq!(fs::read(here.path().join("f")).unwrap().len(), 600_000);
    whole.rename(&to, &path(here.path().join("f").to_str().unwrap()), IfExists::Refuse).unwrap_err();
}

#[test]
fn a_failed_move_to_another_filesystem_changes_nothing() {
    let Some((here, there)) = two_filesystems() else { return };
    fs::create_dir(here.path().join("tree")).unwrap();
    fs::write(here.path().join("tree/a"), "a").unwrap();
    mkfifoat(CWD, here.path().join("tree/pipe"), Mode::from_raw_mode(0o600)).unwrap();
    fs::write(there.path().join("taken"), "taken").unwrap();
    let before = (tree(here.path()), tree(there.path()));
    let whole = RootDirectory::open_filesystem().unwrap();
    let from = path(here.path().join("tree").to_str().unwrap());
    let to = |name: &str| path(there.path().join(name).to_str().unwrap());
    assert_cause!(whole.rename(&from, &to("tree"), IfExists::Replace), FileErrorCause::NotAFile);
    assert_cause!(whole.rename(&from, &to("taken"), IfExists::Refuse), FileErrorCause::AlreadyExists);
    fs::remove_file(here.path().join("tree/pipe")).unwrap();
    assert_cause!(whole.rename(&from, &to("taken"), IfExists::Replace), FileErrorCause::NotADirectory);
    mkfifoat(CWD, here.path().join("tree/pipe"), Mode::from_raw_mode(0o600)).unwrap();
    assert_eq!((tree(here.path()), tree(there.path())), before);
}
