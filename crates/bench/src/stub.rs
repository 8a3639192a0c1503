//! The stub agent. It answers every request at once with as little CPU time as possible. On demand it writes a flood
//! of lines, streams a message, requests permissions, exits, or leaves a child process behind.
//!
//! The stub searches for keys instead of parsing JSON. This is safe because all messages come from our load
//! generator, whose parameters contain no second `"id":` or `"method":`.

mod ask;
mod flood;
mod grandchild;
mod turn;

use std::{
    fs::File,
    io::{self, Read, Write},
    os::fd::AsFd,
};

use ask::Ask;
pub use flood::Flood;
pub(crate) use turn::Asking;
pub use turn::Speech;

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
    let mut stub = Stub { output, answers: Vec::with_capacity(READ_BYTES), asking: None };
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
            stub.hear(&rest[..end])?;
            rest = &rest[end + 1..];
        }
        let taken = buffer.len() - rest.len();
        buffer.drain(..taken);
        // One write answers all requests of one read, which saves system calls under load.
        stub.flush()?;
    }
}

struct Stub {
    output: File,
    /// The responses that have not been written yet.
    answers: Vec<u8>,
    /// The turn that waits for a permission.
    asking: Option<Asking>,
}

impl Stub {
    /// Handles one line of the input.
    fn hear(&mut self, line: &[u8]) -> io::Result<()> {
        let Some(ask) = Ask::of(line) else {
            self.heard_answer(line);
            return Ok(());
        };
        match ask.method {
            b"bench/flood" => {
                self.flush()?;
                Flood::of(line).write(&mut self.output)?;
                self.respond(ask.id, "{}");
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
                self.respond(ask.id, &pids);
            }
            b"initialize" => self.respond(ask.id, INITIALIZED),
            b"session/new" => self.respond(ask.id, OPENED),
            b"session/prompt" => self.turn(ask.id, line)?,
            _ => self.respond(ask.id, "{}"),
        }
        Ok(())
    }

    /// Runs the turn that a prompt describes. Most prompts are plain text and get an empty result.
    fn turn(&mut self, id: &[u8], line: &[u8]) -> io::Result<()> {
        if let Some(speech) = Speech::of(line) {
            self.flush()?;
            speech.write(&mut self.output)?;
            self.respond(id, ENDED);
        } else if let Some(asking) = Asking::of(line, id) {
            self.go_on(asking);
        } else {
            self.respond(id, "{}");
        }
        Ok(())
    }

    /// Handles a line that is not a request: the answer to a permission request, or a notification, which is ignored.
    fn heard_answer(&mut self, line: &[u8]) {
        let at = clock::now();
        let is_answer = memchr::memmem::find(line, b"\"result\":").is_some();
        if let Some(asking) = self.asking.take_if(|_| is_answer) {
            asking.answered(at, &mut self.answers);
            self.go_on(asking);
        }
    }

    /// Sends the next permission request of a turn, or ends the turn after the last one.
    fn go_on(&mut self, mut asking: Asking) {
        if asking.ask(&mut self.answers) {
            self.asking = Some(asking);
        } else {
            self.respond(&asking.prompt, ENDED);
        }
    }

    fn respond(&mut self, id: &[u8], result: &str) {
        let answers = &mut self.answers;
        answers.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        answers.extend_from_slice(id);
        answers.extend_from_slice(br#","result":"#);
        answers.extend_from_slice(result.as_bytes());
        answers.extend_from_slice(b"}\n");
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.write_all(&self.answers)?;
        self.answers.clear();
        Ok(())
    }
}
