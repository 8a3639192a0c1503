//! Writes into `fixtures/session/*.json` what the projection makes of the events that are in them.
//!
//! `cargo run -p protocol --example session_fixtures`, after a change of the projection or of these files.
#![allow(clippy::unwrap_used, reason = "whoever runs it reads why it failed")]

#[path = "../tests/it/case.rs"]
mod case;

use case::{Case, files};

fn main() -> std::io::Result<()> {
    for file in files() {
        let mut case = Case::read(&file);
        case.states = case.concluded();
        std::fs::write(&file, case.written())?;
    }
    Ok(())
}
