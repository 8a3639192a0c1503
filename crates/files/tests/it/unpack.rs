//! daemon-10, daemon-11: `POST upload-batch` unpacks all or nothing.

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt},
};

use files::{
    CHUNK_BYTES, RootedPath,
    unpack::{Error, MemberRefusal, UnpackLimits, UnpackSummary},
};
use tar::{Builder, EntryType, Header};

use crate::support::{Thing, World, path, put, tree};

/// A member with any name and target, most of which the `tar` crate refuses to write.
pub(crate) fn member(kind: EntryType, name: &str, target: &str, mode: u32, content: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    if name.len() > 100 {
        bytes.extend(member(EntryType::GNULongName, "long", "", 0, format!("{name}\0").as_bytes()));
    }
    let mut header = Header::new_gnu();
    let old = header.as_old_mut();
    for (field, text) in [(&mut old.name, name), (&mut old.linkname, target)] {
        let length = text.len().min(100);
        field[..length].copy_from_slice(&text.as_bytes()[..length]);
    }
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_mtime(1_700_000_000);
    header.set_size(content.len() as u64);
    header.set_cksum();
    bytes.extend(header.as_bytes());
    bytes.extend(content);
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}

pub(crate) fn archive(members: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = members.concat();
    bytes.resize(bytes.len() + 1024, 0);
    bytes
}

pub(crate) fn file(name: &str, content: &str) -> Vec<u8> {
    member(EntryType::Regular, name, "", 0o644, content.as_bytes())
}

pub(crate) fn link(name: &str, target: &str) -> Vec<u8> {
    member(EntryType::Symlink, name, target, 0o777, b"")
}

/// A file, a directory and a link.
pub(crate) fn small() -> Vec<u8> {
    archive(&[file("a", "from the archive"), file("dir/b", "b"), link("dir/up", "../a")])
}

pub(crate) fn unpack(world: &World, bytes: &[u8]) -> Result<UnpackSummary, Error> {
    world.root.unpack(bytes, &path("/dest"), &UnpackLimits::default())
}

/// A destination with all kinds of entries.
pub(crate) fn furnished() -> World {
    furnish(World::new())
}

pub(crate) fn furnish(world: World) -> World {
    for dir in ["dest/dir/sub", "dest/full/x"] {
        fs::create_dir_all(world.jail(dir)).unwrap();
    }
    for name in ["a", "dir/b", "dir/sub/c"] {
        put(&world.jail("dest").join(name), &format!("old {name}"));
    }
    fs::set_permissions(world.jail("dest/dir"), fs::Permissions::from_mode(0o755)).unwrap();
    world.link("a", "dest/link");
    fs::create_dir(world.jail("beside")).unwrap();
    fs::write(world.jail("beside/file"), "beside").unwrap();
    world
}

fn check_refused(bytes: &[u8], expected: MemberRefusal) {
    let world = furnished();
    let before = tree(world.dir.path());
    match unpack(&world, bytes) {
        Err(Error::Refused { reason, .. }) if reason == expected => {}
        other => panic!("expected {expected:?}, got {other:?}"),
    }
    assert_eq!(tree(world.dir.path()), before);
}

#[test]
fn an_archive_is_merged_with_existing_files() {
    let world = furnished();
    let done = unpack(
        &world,
        &archive(&[
            member(EntryType::Directory, "./", "", 0o700, b""),
            member(EntryType::Directory, "dir/", "", 0o700, b""),
            file("a", "new a"),
            file("dir/b", "new b"),
            member(EntryType::Regular, "dir/tool", "", 0o6755, b"#!"),
            member(EntryType::Directory, "fresh/", "", 0o7055, b""),
            member(EntryType::Link, "fresh/same", "dir/tool", 0o644, b""),
            link("fresh/up", "../a"),
            file("link", "a file now"),
        ]),
    )
    .unwrap();
    assert_eq!(done, UnpackSummary { files: 6, directories: 3, bytes: 22 });
    let after = tree(&world.jail("dest"));
    let content = |name: &str| match &after[name] {
        Thing::File { content, mode } => (String::from_utf8(content.clone()).unwrap(), *mode),
        other => panic!("{name} is {other:?}"),
    };
    assert_eq!(content("a"), ("new a".to_owned(), 0o644));
    assert_eq!(content("dir/b"), ("new b".to_owned(), 0o644));
    assert_eq!(content("dir/sub/c"), ("old dir/sub/c".to_owned(), 0o644));
    assert_eq!(content("dir/tool"), ("#!".to_owned(), 0o755));
    assert_eq!(content("link"), ("a file now".to_owned(), 0o644));
    assert_eq!(after["fresh"], Thing::Directory { mode: 0o755 }, "usable by its owner");
    assert_eq!(after["dir"], Thing::Directory { mode: 0o755 }, "as it was");
    assert_eq!(after["fresh/up"], Thing::Link("../a".into()));
    let inode = |name: &str| fs::metadata(world.jail("dest").join(name)).unwrap().ino();
    assert_eq!(inode("fresh/same"), inode("dir/tool"));
    assert_eq!(fs::metadata(world.jail("dest/a")).unwrap().mtime(), 1_700_000_000);
    assert_eq!(after.len(), 12, "nothing else is left: {after:?}");
}

#[test]
fn a_missing_destination_is_created_or_nothing_changes() {
    let world = World::new();
    let dest = path("x/y/z");
    let cut = &small()[..600];
    assert!(matches!(world.root.unpack(cut, &dest, &UnpackLimits::default()), Err(Error::Truncated)));
    assert!(tree(&world.jail("")).is_empty());
    world.root.unpack(&small()[..], &dest, &UnpackLimits::default()).unwrap();
    assert_eq!(world.read("x/y/z/a").unwrap(), "from the archive");
}

#[test]
fn archives_of_common_tools_are_read() {
    let world = World::new();
    let long = format!("{}/name", "a-directory-with-a-long-name/".repeat(8));
    let content = "x".repeat(3 * CHUNK_BYTES + 1);
    let mut builder = Builder::new(Vec::new());
    builder.append_pax_extensions([("path", "pax/name".as_bytes()), ("comment", b"x")]).unwrap();
    for name in ["replaced by pax", long.as_str()] {
        let mut header = Header::new_ustar();
        header.set_size(content.len() as u64);
        header.set_mode(0o600);
        builder.append_data(&mut header, name, content.as_bytes()).unwrap();
    }
    unpack(&world, &builder.into_inner().unwrap()).unwrap();
    assert_eq!(world.read("dest/pax/name").unwrap(), content);
    assert_eq!(world.read(&format!("dest/{long}")).unwrap(), content);

    for format in ["gnu", "pax", "ustar"] {
        let source = furnished();
        let made = std::process::Command::new("tar")
            .args(["-cz", "--format", format, "-C"])
            .arg(source.jail("dest"))
            .arg(".")
            .output()
            .unwrap();
        let target = World::new();
        unpack(&target, &made.stdout).unwrap();
        assert_eq!(tree(&target.jail("dest")), tree(&source.jail("dest")), "{format}");
    }
}

#[test]
fn names_that_lead_out_are_rejected() {
    for (name, expected) in [
        ("../evil", MemberRefusal::Upwards),
        ("dir/../../evil", MemberRefusal::Upwards),
        ("/evil", MemberRefusal::Absolute),
        ("", MemberRefusal::Unnamed),
        (&"d/".repeat(200), MemberRefusal::TooDeep),
        (&"n".repeat(300), MemberRefusal::TooLong),
        (&"long/".repeat(1000), MemberRefusal::TooLong),
    ] {
        check_refused(&archive(&[file("good", "x"), file(name, "evil")]), expected);
    }
    let nul = [member(EntryType::GNULongName, "l", "", 0, b"a\0b\0"), file("x", "evil")];
    check_refused(&archive(&nul), MemberRefusal::Nul);
}

#[test]
fn links_that_lead_out_are_rejected() {
    for target in ["..", "../outside", "/etc", "dir/../../outside", "./../beside/file", ""] {
        check_refused(&archive(&[file("good", "x"), link("l", target)]), MemberRefusal::LinkEscapes);
    }
    // The text stays inside, but resolving the links leads out.
    check_refused(&archive(&[link("s", "."), link("t", "s/s/../..")]), MemberRefusal::LinkEscapes);
    for target in ["nothing", "dir", "link", "a", "./"] {
        let hard = member(EntryType::Link, "h", target, 0o644, b"");
        check_refused(&archive(&[link("link", "a"), file("dir/b", "b"), hard]), MemberRefusal::LinkDangles);
    }
    let hard = |target| archive(&[file("x", "x"), member(EntryType::Link, "h", target, 0o644, b"")]);
    check_refused(&hard("../beside/file"), MemberRefusal::Upwards);
    check_refused(&hard("/etc/passwd"), MemberRefusal::Absolute);
}

#[test]
fn nothing_is_written_through_a_link() {
    check_refused(&archive(&[link("l", "dir"), file("l/x", "x")]), MemberRefusal::ThroughLink);
    // The link is in the destination.
    let world = furnished();
    world.link(world.outside(), "dest/out");
    let before = tree(world.dir.path());
    for evil in [file("out/secret", "evil"), member(EntryType::Directory, "out", "", 0o777, b"")] {
        let result = unpack(&world, &archive(&[file("zz", "x"), evil]));
        assert!(
            matches!(result, Err(Error::Refused { reason: MemberRefusal::ThroughLink, .. })),
            "{result:?}"
        );
    }
    assert_eq!(tree(world.dir.path()), before);
    // A file of that name replaces the link and leaves its target unchanged.
    unpack(&world, &archive(&[file("out", "a file now")])).unwrap();
    assert_eq!(world.read("dest/out").unwrap(), "a file now");
    world.outside_is_untouched();
}

#[test]
fn devices_pipes_and_unknown_kinds_are_rejected() {
    for kind in [EntryType::Fifo, EntryType::Char, EntryType::Block] {
        check_refused(&archive(&[member(kind, "x", "", 0o666, b"")]), MemberRefusal::SpecialFile);
    }
    for kind in [EntryType::GNUSparse, EntryType::new(b'Z')] {
        check_refused(&archive(&[member(kind, "x", "", 0o666, b"")]), MemberRefusal::UnsupportedKind);
    }
}

#[test]
fn a_file_and_a_directory_of_the_same_name_are_rejected() {
    let dir = |name| member(EntryType::Directory, name, "", 0o755, b"");
    check_refused(&archive(&[dir("x"), file("x", "")]), MemberRefusal::Conflict);
    check_refused(&archive(&[file("x", ""), dir("x")]), MemberRefusal::Conflict);
    check_refused(&archive(&[file("x", ""), file("x/y", "")]), MemberRefusal::Conflict);
    check_refused(&archive(&[file(".", "")]), MemberRefusal::Conflict);
    // A conflict with the destination is detected when much of the archive is already in place.
    let mut members: Vec<_> = (0..50).map(|number| file(&format!("new-{number}"), "new")).collect();
    members.extend([file("a", "new"), file("dir/b", "new"), file("dir/new", "new"), link("link", "new")]);
    for evil in [file("full", "x"), file("dir/sub", "x"), file("dir/sub/c/d", "x"), link("full/x", "y")] {
        members.push(evil);
        check_refused(&archive(&members), MemberRefusal::Conflict);
        members.pop();
    }
}

#[test]
fn odd_but_harmless_members_are_read_as_other_tools_do() {
    let world = World::new();
    let mut sized = link("l", "x");
    let mut header = Header::from_byte_slice(&sized).clone();
    header.set_size(4096);
    header.set_cksum();
    sized.copy_from_slice(header.as_bytes());
    let done = unpack(
        &world,
        &archive(&[
            file("x", "first"),
            file("x", "last wins"),
            member(EntryType::Link, "x", "./x", 0o644, b""),
            sized,
            member(EntryType::Regular, "old-style-directory/", "", 0o755, b""),
            member(EntryType::XGlobalHeader, "pax_global_header", "", 0, b"14 comment=x1\n"),
            file("z", "z"),
        ]),
    )
    .unwrap();
    assert_eq!(world.read("dest/x").unwrap(), "last wins");
    assert_eq!(world.read("dest/l").unwrap(), "last wins");
    assert_eq!(world.read("dest/z").unwrap(), "z");
    assert!(world.jail("dest/old-style-directory").is_dir());
    assert_eq!((done.files, done.directories), (5, 1));
}

#[test]
fn the_destination_cannot_be_a_file() {
    let world = furnished();
    let result =
        world.root.unpack(&small()[..], &RootedPath::parse("dest/a").unwrap(), &UnpackLimits::default());
    assert!(matches!(result, Err(Error::Files(_))), "{result:?}");
    let mode = fs::metadata(world.jail("dest/a")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o644);
}
