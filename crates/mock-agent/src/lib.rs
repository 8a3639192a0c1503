//! The built-in mock agent: an ACP agent without a model, for demos, tests and benchmarks.
//!
//! A prompt is a script with one step per line:
//!
//! | line | effect |
//! |---|---|
//! | `/chunks N` | sends `chunk 1` … `chunk N` as N pieces of one message |
//! | `/drip N MS` | the same, with a pause of so many milliseconds before each |
//! | `/updates N S` | N message pieces of S bytes of text each |
//! | `/think TEXT` | thinks aloud |
//! | `/tool` | calls a tool that succeeds |
//! | `/edit` | reports that it changed a file, with a diff |
//! | `/permission` | requests permission to run a tool and reports the answer; after *always* it no longer requests it |
//! | `/question` | requests a form with two questions and reports the answers |
//! | `/plan` | sends a plan of three steps |
//! | `/approve PLAN` | requests approval of the plan and reports the answer |
//! | `/commands` | sends the list of its commands |
//! | `/remember TEXT` | stores a text with the session, in the session's directory |
//! | `/recall` | sends the stored text, also after `session/load` |
//! | `/servers` | lists the MCP servers of the session |
//! | `/fail CODE TEXT` | ends the turn with this error |
//! | `/garbage` | writes lines to standard output that are not JSON-RPC |
//! | `/hang` | does nothing until the client cancels or steers (`_session/steering`) the turn |
//! | `/crash CODE` | ends the process with some last words on standard error |
//! | anything else | sends the line back |

mod client_request;
mod mock_server;
mod script;
mod session_memory;

use std::io::{self, BufRead, Write};

/// The argument that makes the program behave as the mock agent.
pub const ARGUMENT: &str = "mock-agent";

/// Serves one client on `input` and `output` until the input ends; the value is the exit code.
pub fn serve(input: impl BufRead, output: impl Write) -> io::Result<u8> {
    mock_server::MockServer::new(output).serve(input)
}

#[cfg(test)]
mod tests;
