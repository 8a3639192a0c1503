use std::io::Write;

use flate2::{Compression, write::GzEncoder};
use tempfile::{TempDir, tempdir};
use zip::{ZipWriter, write::SimpleFileOptions};

use super::*;

const SCRIPT: &[u8] = b"#!/bin/sh\necho ran\n";

fn tar_of(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, content) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_cksum();
        tar.append(&header, *content).unwrap();
    }
    tar.into_inner().unwrap()
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn bz2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zip_of(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(io::Cursor::new(Vec::new()));
    for (name, content) in members {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn unpacked(bytes: &[u8], archive: Archive, program: &str) -> (TempDir, Result<(), Fault>) {
    let directory = tempdir().unwrap();
    let (file, into) = (directory.path().join("archive"), directory.path().join("into"));
    fs::write(&file, bytes).unwrap();
    fs::create_dir(&into).unwrap();
    let result = unpack(&file, archive, &into, program);
    (directory, result)
}

/// daemon-7: archives of every shape that the sources have.
#[test]
fn a_program_comes_out_of_every_kind_of_archive() {
    let tar = tar_of(&[("package/bin/x", SCRIPT), ("package/README", b"read")]);
    let zip = zip_of(&[("package/bin/x", SCRIPT)]);
    for (bytes, archive, program) in [
        (SCRIPT.to_vec(), Archive::Raw, "x"),
        (gz(&tar), Archive::TarGz, "package/bin/x"),
        (bz2(&tar), Archive::TarBz2, "package/bin/x"),
        (zip, Archive::Zip, "package/bin/x"),
    ] {
        let (directory, result) = unpacked(&bytes, archive, program);
        result.unwrap();
        let run = std::process::Command::new(directory.path().join("into").join(program)).output().unwrap();
        assert_eq!(run.stdout, b"ran\n", "{archive:?}");
    }
}

#[test]
fn nothing_leaves_the_directory() {
    for name in ["../evil", "/evil", "a/../../evil"] {
        for (bytes, archive) in
            [(gz(&tar_of(&[(name, SCRIPT)])), Archive::TarGz), (zip_of(&[(name, SCRIPT)]), Archive::Zip)]
        {
            let (directory, result) = unpacked(&bytes, archive, "x");
            assert!(matches!(result, Err(Fault::Unpack(_))), "{name} {archive:?}: {result:?}");
            assert!(!directory.path().join("evil").exists());
        }
    }
}

#[test]
fn a_link_in_a_zip_may_not_lead_out() {
    for (target, fine) in [("bin/x", true), ("../../etc/passwd", false), ("/etc/passwd", false)] {
        let mut zip = ZipWriter::new(io::Cursor::new(Vec::new()));
        zip.start_file("bin/x", SimpleFileOptions::default()).unwrap();
        zip.write_all(SCRIPT).unwrap();
        zip.add_symlink("link", target, SimpleFileOptions::default()).unwrap();
        let (_directory, result) = unpacked(&zip.finish().unwrap().into_inner(), Archive::Zip, "link");
        assert_eq!(result.is_ok(), fine, "{target}: {result:?}");
    }
}

#[test]
fn what_is_damaged_or_lacks_the_program_is_refused() {
    let whole = gz(&tar_of(&[("x", SCRIPT)]));
    let cut = &whole[..whole.len() / 2];
    assert!(matches!(unpacked(cut, Archive::TarGz, "x").1, Err(Fault::Unpack(_))));
    assert!(matches!(unpacked(b"PK nonsense", Archive::Zip, "x").1, Err(Fault::Unpack(_))));
    assert!(matches!(unpacked(&whole, Archive::TarGz, "y").1, Err(Fault::NoProgram(_))));
    assert!(matches!(unpacked(&whole, Archive::TarGz, "../archive").1, Err(Fault::NoProgram(_))));
    let (directory, result) = unpacked(SCRIPT, Archive::Raw, "../x");
    assert!(matches!(result, Err(Fault::NoProgram(_))));
    assert!(!directory.path().join("x").exists(), "nothing was written beside it");
}
