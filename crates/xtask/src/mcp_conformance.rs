//! Runs the MCP conformance suite against the MCP endpoint of a lent device.

use crate::{npm::NpmWorkspace, sh};

pub(crate) fn run() -> anyhow::Result<()> {
    let checkers = NpmWorkspace::checkers();
    checkers.install()?;
    let mut suite = checkers.script("mcp-conformance/run.mjs")?;
    suite.arg(sh::build()?).arg(checkers.program("conformance"));
    sh::status(suite.arg(sh::target_dir()?.join("mcp-conformance")))
}
