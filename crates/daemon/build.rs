//! Compresses the OpenAPI document that the daemon embeds.

use std::{env, error::Error, path::Path};

const DOCUMENT: &str = "../../docs/openapi.json";

#[expect(clippy::disallowed_methods, reason = "cargo tells a build script by variables where to write")]
fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={DOCUMENT}");
    println!("cargo:rerun-if-changed=build.rs");
    Ok(embedded_document::compress(
        Path::new(DOCUMENT),
        &Path::new(&env::var("OUT_DIR")?).join("openapi.json.gz"),
    )?)
}
