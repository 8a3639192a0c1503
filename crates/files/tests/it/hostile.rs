//! daemon-11: no archive changes anything outside of the destination, and after an error nothing has changed at all.

use std::{fs, path::Path};

use files::{RootDirectory, unpack::UnpackLimits};
use proptest::{collection::vec, prelude::*, sample::select};
use tar::EntryType;

use crate::{
    support::{World, path, tree},
    unpack::{archive, furnish, member},
};

/// Unpacks arbitrary bytes into an existing directory, as the fuzz target does.
fn unpack(root: &RootDirectory, bytes: &[u8]) -> bool {
    root.unpack(bytes, &path("dest"), &UnpackLimits { entries: 1000, bytes: 1 << 20 }).is_ok()
}

fn names() -> impl Strategy<Value = String> {
    let part = select(vec!["a", "dir", "sub", "b", "link", "full", "s", "..", ".", "", "new"]);
    (vec(part, 1..4), any::<bool>()).prop_map(|(parts, slash)| {
        let name = parts.join("/");
        if slash && name.len() > 6 { format!("/{name}") } else { name }
    })
}

fn members() -> impl Strategy<Value = Vec<u8>> {
    let kinds = vec![
        EntryType::Regular,
        EntryType::Regular,
        EntryType::Directory,
        EntryType::Symlink,
        EntryType::Symlink,
        EntryType::Link,
        EntryType::Fifo,
        EntryType::GNULongName,
        EntryType::XHeader,
    ];
    (select(kinds), names(), names(), any::<u16>()).prop_map(|(kind, name, target, mode)| match kind {
        EntryType::Regular => member(kind, &name, "", mode.into(), target.as_bytes()),
        EntryType::GNULongName => member(kind, "long", "", 0, format!("{name}\0").as_bytes()),
        EntryType::XHeader => {
            let record = format!("path={name}\n");
            let length = record.len() + 3;
            member(kind, "pax", "", 0, format!("{length:02} {record}").as_bytes())
        }
        kind => member(kind, &name, &target, mode.into(), b""),
    })
}

/// Checks that every link that the archive created leads into the destination or nowhere.
fn links_stay_inside(dest: &Path) {
    let inside = dest.canonicalize().unwrap();
    let mut pending = vec![dest.to_owned()];
    while let Some(dir) = pending.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let entry = entry.unwrap();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                pending.push(entry.path());
            } else if kind.is_symlink()
                && let Ok(target) = entry.path().canonicalize()
            {
                assert!(target.starts_with(&inside), "{:?} leads to {target:?}", entry.path());
            }
        }
    }
}

fn check(bytes: &[u8]) {
    let world = furnish(World::in_memory());
    let before = tree(world.dir.path());
    let ok = unpack(&world.root, bytes);
    let after = tree(world.dir.path());
    let outside = |name: &str| !name.starts_with("jail/dest/");
    for (name, thing) in before.iter().filter(|(name, _)| outside(name)) {
        assert_eq!(after.get(name), Some(thing), "{name}");
    }
    for name in after.keys() {
        assert!(before.contains_key(name) || !outside(name), "{name} is new, outside the destination");
        assert!(!name.contains(".tombolo-"), "{name} is left over");
    }
    if ok {
        links_stay_inside(&world.jail("dest"));
    } else {
        assert_eq!(after, before);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn hostile_members_stay_inside_or_change_nothing(members in vec(members(), 1..8)) {
        check(&archive(&members));
    }

    #[test]
    fn damaged_archives_stay_inside_or_change_nothing(
        members in vec(members(), 1..4),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = archive(&members);
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        check(&bytes);
    }

    #[test]
    fn noise_changes_nothing(mut bytes in vec(any::<u8>(), 0..2000), gzip: bool) {
        if gzip && bytes.len() > 3 {
            bytes[..3].copy_from_slice(&[0x1f, 0x8b, 8]);
        }
        check(&bytes);
    }
}
