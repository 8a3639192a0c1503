//! The stub agent. It answers every request at once with as little CPU time as possible. On demand it writes a flood
//! of lines, streams a message, requests permissions, exits, or leaves a child process behind.
//!
//! The stub searches for keys instead of parsing JSON. This is safe because all messages come from our load
//! generator, whose parameters contain no second `"id":` or `"method":`.

mod flood;
mod grandchild;
mod json_rpc_request;
mod permission_turn;
mod streamed_message;

use std::{
    fs::File,
    io::{self, Read, Write},
    os::fd::AsFd,
};

pub use flood::Flood;
use json_rpc_request::JsonRpcRequest;
pub(crate) use permission_turn::PermissionTurn;
pub use streamed_message::StreamedMessage;

use crate::clock;

/// The capacity of a Linux pipe, which is the most that one read can return.
const READ_BYTES: usize = 64 << 10;

/// The exit code after `bench/die`. It differs from the code of an accidental failure.
const DEATH_CODE: i32 = 7;

/// The result of `initialize`.
const INITIALIZED: &str = r#"{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}"#;
/// The result of `session/new`.
const OPENED: &str = r#"{"sessionId":"stub"}"#;
/// The result of a `session/prompt` that streams text or requests permissions.
const ENDED: &str = r#"{"stopReason":"end_turn"}"#;

/// Answers requests from standard input on standard output until the input ends.
///
/// # Errors
/// If a stream fails.
pub fn serve() -> io::Result<()> {
    // Use plain files: the handles of the standard library would copy all data through buffers of their own.
    let mut input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let mut buffer = Vec::with_capacity(2 * READ_BYTES);
    let mut stub =
        StubAgent { output, pending_output: Vec::with_capacity(READ_BYTES), permission_turn: None };
    loop {
        let length = buffer.len();
        buffer.resize(length + READ_BYTES, 0);
        let read = input.read(&mut buffer[length..])?;
        buffer.truncate(length + read);
        if read == 0 {
            return Ok(());
        }
        let mut rest = &buffer[..];
        while let Some(end) = memchr::memchr(b'\n', rest) {
            stub.handle_line(&rest[..end])?;
            rest = &rest[end + 1..];
        }
        let taken = buffer.len() - rest.len();
        buffer.drain(..taken);
        // One write answers all requests of one read, which saves system calls under load.
        stub.flush()?;
    }
}

struct StubAgent {
    output: File,
    /// The responses that have not been written yet.
    pending_output: Vec<u8>,
    /// The turn that waits for a permission.
    permission_turn: Option<PermissionTurn>,
}

impl StubAgent {
    /// Handles one line of the input.
    fn handle_line(&mut self, line: &[u8]) -> io::Result<()> {
        let Some(request) = JsonRpcRequest::find_in(line) else {
            self.handle_response(line);
            return Ok(());
        };
        match request.method {
            b"bench/flood" => {
                self.flush()?;
                Flood::from_request(line).write(&mut self.output)?;
                self.respond(request.id, "{}");
            }
            // The last line carries the time of death. The load generator compares it with the time of the error
            // response.
            b"bench/die" => {
                let at = clock::now().as_nanos();
                let last =
                    format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"at":"{at:020}"}}}}"#);
                self.output.write_all(last.as_bytes())?;
                self.output.write_all(b"\n")?;
                std::process::exit(DEATH_CODE);
            }
            b"bench/grandchild" => {
                let pid = grandchild::start()?;
                let pids = format!(r#"{{"agent":{},"grandchild":{pid}}}"#, std::process::id());
                self.respond(request.id, &pids);
            }
            b"initialize" => self.respond(request.id, INITIALIZED),
            b"session/new" => self.respond(request.id, OPENED),
            b"session/prompt" => self.start_turn(request.id, line)?,
            _ => self.respond(request.id, "{}"),
        }
        Ok(())
    }

    /// Runs the turn that a prompt describes. Most prompts are plain text and get an empty result.
    fn start_turn(&mut self, id: &[u8], line: &[u8]) -> io::Result<()> {
        if let Some(message) = StreamedMessage::from_prompt(line) {
            self.flush()?;
            message.write(&mut self.output)?;
            self.respond(id, ENDED);
        } else if let Some(turn) = PermissionTurn::from_prompt(line, id) {
            self.request_next_permission(turn);
        } else {
            self.respond(id, "{}");
        }
        Ok(())
    }

    /// Handles a line that is not a request: the answer to a permission request, or a notification, which is ignored.
    fn handle_response(&mut self, line: &[u8]) {
        let at = clock::now();
        let is_answer = memchr::memmem::find(line, b"\"result\":").is_some();
        if let Some(turn) = self.permission_turn.take_if(|_| is_answer) {
            turn.report_answer(at, &mut self.pending_output);
            self.request_next_permission(turn);
        }
    }

    /// Sends the next permission request of a turn, or ends the turn after the last one.
    fn request_next_permission(&mut self, mut turn: PermissionTurn) {
        if turn.request_permission(&mut self.pending_output) {
            self.permission_turn = Some(turn);
        } else {
            self.respond(&turn.prompt, ENDED);
        }
    }

    fn respond(&mut self, id: &[u8], result: &str) {
        let output = &mut self.pending_output;
        output.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        output.extend_from_slice(id);
        output.extend_from_slice(br#","result":"#);
        output.extend_from_slice(result.as_bytes());
        output.extend_from_slice(b"}\n");
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.write_all(&self.pending_output)?;
        self.pending_output.clear();
        Ok(())
    }
}
