//! Generates the committed files that follow from the code, or checks that they are up to date.

use std::path::Path;

use anyhow::{Context, bail};

use crate::{
    agents::{self, InstallMethods},
    credentials, sessions, sh, typescript,
};

/// Committed files and the argument of `api-documents` that prints each.
const API_DOCUMENTS: &[(&str, &str)] =
    &[("docs/openapi.json", "daemon"), ("docs/openapi-hub.json", "hub"), ("docs/relay.schema.json", "relay")];

/// The document whose tables are written from test results.
const AGENTS: &str = "docs/agents.md";

pub(crate) fn run(check: bool) -> anyhow::Result<()> {
    let api_documents = sh::build_program("api-documents")?;
    for (file, document) in API_DOCUMENTS {
        put(&sh::root().join(file), &sh::output(sh::command(&api_documents).arg(document))?, check)?;
    }
    // `tombolo` embeds one of these documents, so it is built after them.
    let tombolo = sh::build()?;
    let reference = |document: &str| sh::output(sh::command(&tombolo).args(["reference", document]));
    put(&sh::root().join("docs/cli.md"), &reference("cli")?, check)?;
    let read = |file: &str| {
        let path = sh::root().join(file);
        std::fs::read_to_string(&path).with_context(|| format!("could not read {}", path.display()))
    };
    let installed: InstallMethods = serde_json::from_slice(&reference("agents")?)?;
    let document = agents::replace_table(&read(AGENTS)?, &read("docs/agents.json")?, &installed)?;
    let document = sessions::replace_matrix(&document, &read("docs/sessions.json")?)?;
    let document = credentials::replace_table(&document, &read("docs/credentials.json")?)?;
    put(&sh::root().join(AGENTS), document.as_bytes(), check)?;
    // The TypeScript types are generated from the documents above.
    typescript::codegen(check)
}

fn put(file: &Path, content: &[u8], check: bool) -> anyhow::Result<()> {
    if std::fs::read(file).is_ok_and(|found| found == content) {
        return Ok(());
    }
    if check {
        bail!("{} is out of date: run `cargo xtask codegen` and commit it", file.display());
    }
    std::fs::write(file, content).with_context(|| format!("could not write {}", file.display()))?;
    println!("wrote {}", file.display());
    Ok(())
}
