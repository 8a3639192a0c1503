//! The sandbox of commands that a device lends is made by bubblewrap, which comes with the system.

use crate::system;

pub(crate) fn run() -> anyhow::Result<()> {
    system::install("bwrap", "bubblewrap", "the tests of the sandbox")
}
