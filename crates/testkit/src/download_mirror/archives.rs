//! Builds the programs and archives that a [`DownloadMirror`](super::DownloadMirror) serves.

use std::io::{Cursor, Write};

use zip::{ZipWriter, write::SimpleFileOptions};

/// A shell script that prints `output`, which identifies the installed program to a test.
pub fn shell_script(output: &str) -> Vec<u8> {
    format!("#!/bin/sh\necho {output}\n").into_bytes()
}

/// A shell script like [`shell_script`], padded to 6 MB so that its download takes many reads and can be interrupted.
///
/// The padding is pseudo-random (a multiplicative hash of the position), so that it stays large when compressed.
pub fn large_shell_script(output: &str) -> Vec<u8> {
    let mut bytes = shell_script(output);
    bytes.extend_from_slice(b"exit 0\n#");
    bytes.extend((0..6_000_000u32).map(|at| b'a' + (at.wrapping_mul(2_654_435_761) >> 24) as u8 % 26));
    bytes
}

/// A gzipped tarball of these files. None of them is executable, so the installer must set that permission itself.
///
/// # Panics
/// Never: writing to memory does not fail.
pub fn tar_gz(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut tar = tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
    for (name, content) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, name, *content).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap()
}

/// A wheel with one program. pip replaces the line `#!python` in `.data/scripts` with the path of its interpreter.
pub(super) fn wheel(name: &str, version: &str, program: &str) -> Vec<u8> {
    let about = format!("{name}-{version}.dist-info");
    let mut files = vec![
        (format!("{name}-{version}.data/scripts/{name}"), format!("#!python\n{program}")),
        (format!("{about}/METADATA"), format!("Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")),
        (
            format!("{about}/WHEEL"),
            "Wheel-Version: 1.0\nGenerator: us\nRoot-Is-Purelib: true\nTag: py3-none-any\n".into(),
        ),
    ];
    let record: String = files.iter().map(|(name, _)| format!("{name},,\n")).collect();
    files.push((format!("{about}/RECORD"), record));
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}
