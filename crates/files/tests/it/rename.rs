//! daemon-10: `POST move`.

use std::{fs, os::unix::fs::MetadataExt};

use files::{Cause, Existing, Root};
use rustix::fs::{CWD, Mode, mkfifoat};

use crate::support::{World, assert_cause, path, tree};

#[test]
fn a_move_replaces_only_when_asked_to() {
    let world = World::new();
    world.write("a", "a").unwrap();
    world.write("b", "b").unwrap();
    assert_cause!(world.root.rename(&path("a"), &path("b"), Existing::Refuse), Cause::AlreadyExists);
    assert_eq!(world.read("b").unwrap(), "b");
    world.root.rename(&path("a"), &path("b"), Existing::Replace).unwrap();
    assert_eq!(world.read("b").unwrap(), "a");
    assert_cause!(world.read("a"), Cause::NotFound);
    world.root.rename(&path("b"), &path("c"), Existing::Refuse).unwrap();
    assert_cause!(world.root.rename(&path("b"), &path("d"), Existing::Refuse), Cause::NotFound);
    assert_cause!(world.root.rename(&path("c"), &path("x/c"), Existing::Refuse), Cause::NotFound);
}

#[test]
fn a_directory_does_not_move_into_itself_or_over_a_full_one() {
    let world = World::new();
    fs::create_dir_all(world.jail("a/b/c")).unwrap();
    for existing in [Existing::Refuse, Existing::Replace] {
        assert_cause!(world.root.rename(&path("a"), &path("a/b/c/a"), existing), Cause::IntoItself);
        assert_cause!(world.root.rename(&path("a"), &path("a/x"), existing), Cause::IntoItself);
    }
    fs::create_dir_all(world.jail("full/x")).unwrap();
    assert_cause!(world.root.rename(&path("a"), &path("full"), Existing::Replace), Cause::NotEmpty);
    assert_cause!(world.root.rename(&path("/"), &path("x"), Existing::Replace), Cause::InvalidPath { .. });
    let names: Vec<_> = tree(&world.jail("")).into_keys().collect();
    assert_eq!(names, ["a", "a/b", "a/b/c", "full", "full/x"]);
}

#[test]
fn links_are_moved_and_replaced_themselves() {
    let world = World::new();
    world.link(world.outside().join("secret"), "a");
    world.link(world.outside().join("secret"), "b");
    world.root.rename(&path("a"), &path("b"), Existing::Replace).unwrap();
    world.write("c", "c").unwrap();
    world.root.rename(&path("c"), &path("b"), Existing::Replace).unwrap();
    assert_eq!(world.read("b").unwrap(), "c");
    world.outside_is_untouched();
}

/// Two directories on two filesystems, or nothing where this machine has but one.
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
    let whole = Root::whole().unwrap();
    let (from, to) = (path(source.to_str().unwrap()), path(there.path().join("tree").to_str().unwrap()));
    whole.rename(&from, &to, Existing::Refuse).unwrap();
    assert_eq!(tree(there.path()), before);
    assert_eq!(fs::metadata(there.path().join("tree/a")).unwrap().modified().unwrap(), modified);
    assert!(tree(here.path()).is_empty());

    let file = path(there.path().join("tree/a/b/file").to_str().unwrap());
    whole.rename(&file, &path(here.path().join("f").to_str().unwrap()), Existing::Refuse).unwrap();
    assert_eq!(fs::read(here.path().join("f")).unwrap().len(), 600_000);
    whole.rename(&to, &path(here.path().join("f").to_str().unwrap()), Existing::Refuse).unwrap_err();
}

#[test]
fn a_move_to_another_filesystem_that_fails_changes_nothing() {
    let Some((here, there)) = two_filesystems() else { return };
    fs::create_dir(here.path().join("tree")).unwrap();
    fs::write(here.path().join("tree/a"), "a").unwrap();
    mkfifoat(CWD, here.path().join("tree/pipe"), Mode::from_raw_mode(0o600)).unwrap();
    fs::write(there.path().join("taken"), "taken").unwrap();
    let before = (tree(here.path()), tree(there.path()));
    let whole = Root::whole().unwrap();
    let from = path(here.path().join("tree").to_str().unwrap());
    let to = |name: &str| path(there.path().join(name).to_str().unwrap());
    assert_cause!(whole.rename(&from, &to("tree"), Existing::Replace), Cause::NotAFile);
    assert_cause!(whole.rename(&from, &to("taken"), Existing::Refuse), Cause::AlreadyExists);
    fs::remove_file(here.path().join("tree/pipe")).unwrap();
    assert_cause!(whole.rename(&from, &to("taken"), Existing::Replace), Cause::NotADirectory);
    mkfifoat(CWD, here.path().join("tree/pipe"), Mode::from_raw_mode(0o600)).unwrap();
    assert_eq!((tree(here.path()), tree(there.path())), before);
}
