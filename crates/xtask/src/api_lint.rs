//! Checks the OpenAPI documents with the linters that other people use.

use crate::{npm::NpmWorkspace, sh};

const DOCUMENTS: [&str; 2] = ["docs/openapi.json", "docs/openapi-hub.json"];

pub(crate) fn run() -> anyhow::Result<()> {
    let checkers = NpmWorkspace::checkers();
    checkers.install()?;
    let mut redocly = checkers.script("node_modules/.bin/redocly")?;
    redocly.arg("lint").args(DOCUMENTS).args(["--config", ".ci/redocly.yaml", "--format", "stylish"]);
    // Otherwise it reports each run to its vendor and asks for updates.
    redocly.env("REDOCLY_TELEMETRY", "off").env("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true");
    sh::status(&mut redocly)?;
    let mut spectral = checkers.script("node_modules/.bin/spectral")?;
    spectral.arg("lint").args(DOCUMENTS).args(["--ruleset", ".ci/spectral.yaml", "--fail-severity", "warn"]);
    sh::status(&mut spectral)
}
