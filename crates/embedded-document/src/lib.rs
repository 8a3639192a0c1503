//! A document that a program embeds and serves, such as its OpenAPI document.
//!
//! It is compressed in the program, to a tenth of its size. A build script writes it with [`compress`], and the program reads it
//! with an [`EmbeddedDocument`].

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::Path,
    sync::OnceLock,
};

use bytes::Bytes;
use flate2::{Compression, read::GzDecoder, write::GzEncoder};

/// A compressed document. It is decompressed when it is first read, and then kept.
#[derive(Debug)]
pub struct EmbeddedDocument {
    compressed: &'static [u8],
    document: OnceLock<Bytes>,
}

impl EmbeddedDocument {
    /// A document that [`compress`] wrote.
    pub const fn new(compressed: &'static [u8]) -> Self {
        Self { compressed, document: OnceLock::new() }
    }

    /// The document.
    pub fn read(&self) -> Bytes {
        let decompress = || {
            let mut document = Vec::new();
            // Cannot fail: the build script compressed the document, and reading from memory does not fail.
            let _ = GzDecoder::new(self.compressed).read_to_end(&mut document);
            document.into()
        };
        self.document.get_or_init(decompress).clone()
    }
}

/// Compresses the file `document` into the file `compressed`, for build scripts.
///
/// # Errors
/// If a file cannot be read or written.
pub fn compress(document: &Path, compressed: &Path) -> io::Result<()> {
    let mut encoder = GzEncoder::new(File::create(compressed)?, Compression::best());
    encoder.write_all(&fs::read(document)?)?;
    encoder.finish().map(drop)
}
