//! daemon-10: `GET entries` and `GET stat`.

use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt};

use files::{EntryType, FileErrorCause, LinkHandling, RootedPath};

use crate::support::{World, assert_cause, path};

#[test]
fn entries_are_sorted_and_have_their_kind() {
    let world = World::new();
    world.write("b", "12345").unwrap();
    fs::create_dir(world.jail("a")).unwrap();
    world.link("nowhere", "c");
    let page = world.root.entries(&path("/"), None, 10).unwrap();
    let seen: Vec<_> =
        page.items.iter().map(|entry| (entry.path.to_string(), entry.kind, entry.lossy)).collect();
    assert_eq!(
        seen,
        [
            ("/a".to_owned(), EntryType::Directory, false),
            ("/b".to_owned(), EntryType::File, false),
            ("/c".to_owned(), EntryType::Symlink, false),
        ]
    );
    assert_eq!((page.items[1].name.as_str(), page.items[1].size), ("b", 5));
    assert_eq!(page.next, None);
    assert_cause!(world.root.entries(&path("b"), None, 10), FileErrorCause::NotADirectory);
}

#[test]
fn pages_contain_every_entry_once() {
    let world = World::new();
    let expected: Vec<_> = (0..257).map(|number| format!("{number:03}")).collect();
    for name in &expected {
        fs::write(world.jail(name), "").unwrap();
    }
    for limit in [0, 1, 16, 256, 257, 1000] {
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let page = world.root.entries(&path("/"), after.as_deref(), limit).unwrap();
            assert!(page.items.len() <= limit.max(1));
            seen.extend(page.items.into_iter().map(|entry| entry.name));
            match page.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        assert_eq!(seen, expected, "by {limit}");
    }
}

#[test]
fn a_name_that_is_not_utf8_is_marked_and_its_path_still_works() {
    let world = World::new();
    fs::write(world.jail("").join(OsStr::from_bytes(b"\xff.txt")), "odd").unwrap();
    let page = world.root.entries(&path("/"), None, 10).unwrap();
    assert_eq!(page.items[0].name, "\u{fffd}.txt");
    assert!(page.items[0].lossy);
    assert_eq!(world.root.open_read(&page.items[0].path).unwrap().1.size, 3);
    assert_eq!(page.items[0].path, RootedPath::parse(OsStr::from_bytes(b"/\xff.txt")).unwrap());
}

#[test]
fn the_etag_changes_with_the_content_only() {
    let world = World::new();
    let first = world.write("a", "one").unwrap().stat;
    assert_eq!(first.etag(), world.root.stat(&path("a"), LinkHandling::Follow).unwrap().etag());
    assert_eq!(first.etag(), world.root.open_read(&path("a")).unwrap().1.etag());
    let second = world.write("a", "two").unwrap().stat;
    assert_ne!(first.etag(), second.etag());
    assert!(second.etag().bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-'));
}
