//! daemon-11: an archive that is cut, damaged or too large changes nothing.

use std::io::{Read, Write};

use files::unpack::{Error, UnpackLimits};
use tar::EntryType;

use crate::{
    support::{World, path, tree},
    unpack::{archive, file, furnished, link, member, small, unpack},
};

#[test]
fn an_archive_beyond_the_limits_changes_nothing() {
    let world = furnished();
    let before = tree(world.dir.path());
    let unpack = |bytes: &[u8], limits| world.root.unpack(bytes, &path("dest"), &limits);
    let three = archive(&[file("x", "1"), file("y", "2"), file("z", "3")]);
    let entries = UnpackLimits { entries: 2, ..UnpackLimits::default() };
    assert!(matches!(unpack(&three, entries), Err(Error::TooManyEntries { most: 2 })));
    let bytes = UnpackLimits { bytes: 3 * 512 + 2, ..UnpackLimits::default() };
    assert!(matches!(unpack(&three, bytes), Err(Error::TooLarge { .. })));
    let endless = std::iter::repeat_n(member(EntryType::XHeader, "x", "", 0, b""), 100).collect::<Vec<_>>();
    let bytes = UnpackLimits { bytes: 10_000, ..UnpackLimits::default() };
    assert!(matches!(unpack(&archive(&endless), bytes), Err(Error::TooLarge { .. })));
    let huge =
        member(EntryType::XHeader, "x", "", 0, format!("70000 comment={}\n", "a".repeat(69_985)).as_bytes());
    let result = unpack(&archive(&[huge, file("x", "x")]), UnpackLimits::default());
    assert!(matches!(result, Err(Error::Corrupt("an extension record is too long"))), "{result:?}");
    assert_eq!(tree(world.dir.path()), before);
    let exact = UnpackLimits { entries: 3, bytes: 3 * 512 + 3 };
    world.root.unpack(&three[..], &path("dest"), &exact).unwrap();
}

#[test]
fn an_archive_truncated_anywhere_changes_nothing() {
    let members =
        [file("a", "new a"), file("dir/b", &"b".repeat(700)), link("l", "a"), file(&"n".repeat(150), "x")];
    let whole = archive(&members);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&whole).unwrap();
    let gzip = encoder.finish().unwrap();
    let world = furnished();
    let before = tree(world.dir.path());
    let end_mark = whole.len() - 512;
    for cut in (0..end_mark).step_by(37).chain((0..end_mark).step_by(512)).chain([end_mark - 1]) {
        assert!(matches!(unpack(&world, &whole[..cut]), Err(Error::Truncated)), "plain at {cut}");
        assert_eq!(tree(world.dir.path()), before, "plain at {cut}");
    }
    for cut in 0..gzip.len() {
        assert!(
            matches!(unpack(&world, &gzip[..cut]), Err(Error::Truncated | Error::Corrupt(_))),
            "gzip at {cut}"
        );
        assert_eq!(tree(world.dir.path()), before, "gzip at {cut}");
    }
    unpack(&world, &gzip).unwrap();
    assert_eq!(world.read("dest/a").unwrap(), "new a");
}

#[test]
fn a_stream_that_ends_early_is_truncated_even_if_it_continues() {
    /// Reports its end once, in the middle.
    struct Pausing<'a>(&'a [u8], Option<&'a [u8]>);
    impl Read for Pausing<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            if let ([], Some(rest)) = (self.0, self.1) {
                (self.0, self.1) = (rest, None);
                return Ok(0);
            }
            self.0.read(buffer)
        }
    }
    let whole = archive(&[file("x", &"x".repeat(700)), file("y", "y")]);
    for cut in (3..whole.len() - 512).step_by(41) {
        let world = World::in_memory();
        let stream = Pausing(&whole[..cut], Some(&whole[cut..]));
        let result = world.root.unpack(stream, &path("dest"), &UnpackLimits::default());
        assert!(matches!(result, Err(Error::Truncated)), "at {cut}: {result:?}");
    }
}

#[test]
fn a_damaged_header_is_detected() {
    let mut bytes = small();
    bytes[0] = b'b'; // the first letter of the first name
    let world = furnished();
    let before = tree(world.dir.path());
    let result = unpack(&world, &bytes);
    assert!(matches!(result, Err(Error::Corrupt("a header's checksum does not match"))), "{result:?}");
    assert_eq!(tree(world.dir.path()), before);
}

#[test]
fn a_failing_stream_changes_nothing_and_is_reported() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::ConnectionReset.into())
        }
    }
    let world = furnished();
    let before = tree(world.dir.path());
    let stream = small();
    let result = world.root.unpack(stream[..700].chain(Broken), &path("dest"), &UnpackLimits::default());
    assert!(matches!(result, Err(Error::Read(_))), "{result:?}");
    assert_eq!(tree(world.dir.path()), before);
}
