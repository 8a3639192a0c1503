//! daemon-11: operations stay inside the tree while another process swaps directories for links.

use std::{
    fs,
    sync::atomic::{AtomicBool, Ordering},
};

use files::{
    CreateOptions, EntryType, FileErrorCause, IfExists, ParentDirectories, RemovalScope, unpack::UnpackLimits,
};
use rustix::fs::{CWD, Mode, RenameFlags, mkfifoat, renameat_with};

use crate::support::{World, path, tree};

/// Each round performs every operation once; about half of them encounter the link.
const ROUNDS: usize = 400;

/// Ends the swapping even when an assertion fails, so that the test does not hang.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn while_swapping(target: impl AsRef<std::path::Path>, operate: impl Fn(&World)) {
    let world = World::new();
    fs::create_dir(world.jail("d")).unwrap();
    world.link(target, "evil");
    swapping(&world, operate);
}

/// Runs `operate` repeatedly while `d` and `evil` are swapped.
fn swapping(world: &World, operate: impl Fn(&World)) {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let swapper = scope.spawn(|| {
            let mut swaps = 0u64;
            while !stop.load(Ordering::Relaxed) {
                renameat_with(CWD, world.jail("d"), CWD, world.jail("evil"), RenameFlags::EXCHANGE).unwrap();
                swaps += 1;
            }
            swaps
        });
        {
            let _stop = Stop(&stop);
            for _ in 0..ROUNDS {
                operate(world);
                world.outside_is_untouched();
            }
        }
        assert!(swapper.join().unwrap() > 0);
    });
    world.outside_is_untouched();
}

fn everything(world: &World) {
    let root = &world.root;
    // Each may fail, depending on the moment, but must stay inside.
    if let Ok(text) = world.read("d/secret") {
        assert_eq!(text, "public");
    }
    let _ = world.write("d/secret", "public");
    let _ = world.write("d/new", "public");
    let _ = root.mkdir(&path("d/sub/sub"), ParentDirectories::Create);
    let options = CreateOptions { parents: ParentDirectories::Create, ..CreateOptions::default() };
    let _ = root.create(&path("d/sub/deep/file"), options).and_then(files::AtomicFile::commit);
    if let Ok(page) = root.entries(&path("d/../d"), None, 100) {
        assert!(page.items.iter().all(|entry| entry.name != "only-outside"));
    }
    let _ = root.rename(&path("d/new"), &path("d/sub/moved"), IfExists::Replace);
    let _ = root.rename(&path("d/secret"), &path("taken"), IfExists::Replace);
    if let Ok(text) = world.read("taken") {
        assert_eq!(text, "public");
    }
    let _ = root.unpack(&crate::unpack::small()[..], &path("d"), &UnpackLimits::default());
    let _ = root.remove(&path("d/sub"), RemovalScope::Tree);
    let _ = root.remove(&path("d/secret"), RemovalScope::Tree);
}

#[test]
fn a_directory_swapped_for_a_relative_link_out_never_leads_out() {
    while_swapping("../outside", everything);
}

#[test]
fn a_directory_swapped_for_an_absolute_link_out_never_leads_out() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "secret").unwrap();
    fs::create_dir(outside.path().join("only-outside")).unwrap();
    while_swapping(outside.path(), everything);
    let names: Vec<_> = tree(outside.path()).into_keys().collect();
    assert_eq!(names, ["only-outside", "secret"]);
    assert_eq!(fs::read_to_string(outside.path().join("secret")).unwrap(), "secret");
}

#[test]
fn removing_a_tree_while_it_is_swapped_removes_nothing_outside() {
    while_swapping("../outside", |world| {
        let _ = world.root.mkdir(&path("d/a/b/c"), ParentDirectories::Create);
        let _ = world.root.remove(&path("d/a"), RemovalScope::Tree);
        let _ = world.root.remove(&path("d/secret"), RemovalScope::Tree);
    });
}

#[test]
fn a_file_swapped_for_a_pipe_is_read_as_a_file_or_not_at_all() {
    let world = World::new();
    fs::write(world.jail("d"), "text").unwrap();
    mkfifoat(CWD, world.jail("evil"), Mode::from_raw_mode(0o600)).unwrap();
    let met = std::cell::Cell::new(0);
    swapping(&world, |world| {
        for _ in 0..20 {
            match world.root.open_read(&path("d")) {
                Ok((_, stat)) => assert_eq!(stat.kind, EntryType::File),
                Err(error) => {
                    assert!(matches!(error.cause(), FileErrorCause::NotAFile), "{error}");
                    met.set(met.get() + 1);
                }
            }
        }
    });
    assert!(met.get() > 0);
}
