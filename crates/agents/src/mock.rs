//! The built-in mock agent: an ACP agent without a model, for demos, tests and benchmarks.
//!
//! It does what the prompt says, one step a line:
//!
//! | line | what it does |
//! |---|---|
//! | `/chunks N` | says `chunk 1` … `chunk N` as N pieces of one message |
//! | `/drip N MS` | the same, with a pause of so many milliseconds before each |
//! | `/updates N S` | N message pieces of S bytes of text each |
//! | `/think TEXT` | thinks aloud |
//! | `/tool` | calls a tool that succeeds |
//! | `/edit` | says that it changed a file, and how |
//! | `/permission` | asks for permission to run a tool and says how it was answered; after *always* it no longer asks |
//! | `/question` | fills in a form with two questions and says how they were answered |
//! | `/plan` | tells a plan of three steps |
//! | `/approve PLAN` | asks whether the plan is approved and says how it was answered |
//! | `/commands` | tells which commands it knows |
//! | `/remember TEXT` | keeps a text with the session, in the session's directory |
//! | `/recall` | says what it keeps, also after `session/load` |
//! | `/servers` | says which MCP servers it was given |
//! | `/fail CODE TEXT` | ends the turn with this error |
//! | `/garbage` | writes lines to standard output that are not JSON-RPC |
//! | `/hang` | does nothing until the turn is cancelled, or it is told more (`_session/steering`) |
//! | `/crash CODE` | ends the process with some last words on standard error |
//! | anything else | says it back |

mod asks;
mod memory;
mod script;
mod server;

use std::io::{self, BufRead, Write};

/// The argument that makes the program behave as the mock agent.
pub const ARGUMENT: &str = "mock-agent";

/// Serves one client on `input` and `output` until the input ends; the value is the exit code.
pub fn serve(input: impl BufRead, output: impl Write) -> io::Result<u8> {
    server::Server::new(output).serve(input)
}

#[cfg(test)]
mod tests;
