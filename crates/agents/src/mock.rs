//! The built-in mock agent: an ACP agent without a model, for demos, tests and benchmarks.
//!
//! It does what the prompt says, one step a line:
//!
//! | line | what it does |
//! |---|---|
//! | `/chunks N` | says `chunk 1` … `chunk N` as N pieces of one message |
//! | `/updates N S` | N message pieces of S bytes of text each |
//! | `/think TEXT` | thinks aloud |
//! | `/tool` | calls a tool that succeeds |
//! | `/permission` | asks for permission to run a tool and says how it was answered |
//! | `/garbage` | writes lines to standard output that are not JSON-RPC |
//! | `/hang` | does nothing until the turn is cancelled |
//! | `/crash CODE` | ends the process with some last words on standard error |
//! | anything else | says it back |

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
