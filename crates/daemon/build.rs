//! Compresses the OpenAPI document that the daemon embeds: it is a tenth of its size then.

use std::{
    env,
    error::Error,
    fs::{self, File},
    io::Write,
    path::Path,
};

use flate2::{Compression, write::GzEncoder};

const DOCUMENT: &str = "../../docs/openapi.json";

#[expect(clippy::disallowed_methods, reason = "cargo tells a build script by variables where to write")]
fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={DOCUMENT}");
    println!("cargo:rerun-if-changed=build.rs");
    let path = Path::new(&env::var("OUT_DIR")?).join("openapi.json.gz");
    let mut compressed = GzEncoder::new(File::create(path)?, Compression::best());
    compressed.write_all(&fs::read(DOCUMENT)?)?;
    compressed.finish()?;
    Ok(())
}
