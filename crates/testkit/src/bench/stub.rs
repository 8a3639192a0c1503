//! An agent that costs nothing: it answers every request at once, and floods, dies or leaves a child behind on demand.
//!
//! Messages are looked through by hand, not parsed: they come from our own load generator, whose parameters hold no
//! second `"id":` or `"method":`.

mod ask;
mod flood;
mod grandchild;

use std::{
    fs::File,
    io::{self, Read, Write},
    os::fd::AsFd,
};

use ask::Ask;
pub use flood::Flood;

use crate::bench::clock;

/// What one read takes at most: what a pipe holds.
const READ_BYTES: usize = 64 << 10;

/// How a stub that is told to die ends, so that an accident is not taken for it.
const DEATH_CODE: i32 = 7;

/// Answers on the standard streams until the input ends.
///
/// # Errors
/// If a stream fails.
pub fn serve() -> io::Result<()> {
    // Files, because the standard handles copy into buffers of their own.
    let mut input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let mut buffer = Vec::with_capacity(2 * READ_BYTES);
    let mut answers = Vec::with_capacity(READ_BYTES);
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
            answer(&rest[..end], &mut answers, &mut output)?;
            rest = &rest[end + 1..];
        }
        let taken = buffer.len() - rest.len();
        buffer.drain(..taken);
        // One write for all that was asked in one read.
        output.write_all(&answers)?;
        answers.clear();
    }
}

fn answer(line: &[u8], answers: &mut Vec<u8>, output: &mut File) -> io::Result<()> {
    let Some(ask) = Ask::of(line) else { return Ok(()) };
    match ask.method {
        b"bench/flood" => {
            output.write_all(answers)?;
            answers.clear();
            Flood::of(line).write(output)?;
            respond(ask.id, "{}", answers);
        }
        b"bench/die" => {
            let at = clock::now().as_nanos();
            let last =
                format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"at":"{at:020}"}}}}"#);
            output.write_all(last.as_bytes())?;
            output.write_all(b"\n")?;
            std::process::exit(DEATH_CODE);
        }
        b"bench/grandchild" => {
            let pid = grandchild::start()?;
            respond(ask.id, &format!(r#"{{"agent":{},"grandchild":{pid}}}"#, std::process::id()), answers);
        }
        _ => respond(ask.id, "{}", answers),
    }
    Ok(())
}

fn respond(id: &[u8], result: &str, answers: &mut Vec<u8>) {
    answers.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    answers.extend_from_slice(id);
    answers.extend_from_slice(br#","result":"#);
    answers.extend_from_slice(result.as_bytes());
    answers.extend_from_slice(b"}\n");
}
