//! Appending to a file in place.

use std::fs;

use files::{AppendFile, CreateOptions, Error, FileErrorCause};

use crate::support::{World, assert_cause, path, tree};

fn to_append(world: &World, name: &str) -> Result<Option<AppendFile>, Error> {
    world.root.create(&path(name), CreateOptions::default())?.current_to_append()
}

#[test]
fn an_append_follows_the_existing_content() {
    let world = World::new();
    world.write("a", "one").unwrap();
    world.link("a", "link");
    fs::hard_link(world.jail("a"), world.jail("same")).unwrap();
    for (name, size) in [("a", 5), ("link", 7)] {
        let file = to_append(&world, name).unwrap().unwrap();
        assert_eq!(file.stat().size, size - 2);
        assert_eq!(file.append(b", ").unwrap().size, size);
    }
    for name in ["a", "link", "same"] {
        assert_eq!(world.read(name).unwrap(), "one, , ", "{name}");
    }
    assert!(fs::symlink_metadata(world.jail("link")).unwrap().is_symlink());
    assert_eq!(tree(&world.jail("")).len(), 3, "nothing is left over");
}

#[test]
fn only_regular_files_can_be_appended_to() {
    let world = World::new();
    assert!(to_append(&world, "none").unwrap().is_none());
    assert!(!world.jail("none").exists());
    fs::create_dir(world.jail("dir")).unwrap();
    assert_cause!(to_append(&world, "dir"), FileErrorCause::IsADirectory);
    world.link(world.outside().join("secret"), "out");
    assert!(to_append(&world, "out").is_err() || to_append(&world, "out").unwrap().is_none());
    assert_eq!(fs::read_to_string(world.outside().join("secret")).unwrap(), "secret");
}
