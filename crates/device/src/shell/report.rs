//! What a sandbox says of the command in it: that it runs, and how it ended.

use std::{io, os::fd::OwnedFd};

use tokio::{io::AsyncReadExt, net::unix::pipe};

/// All that is ever said.
const REPORT_BYTES_MAX: usize = 256;

/// Where a sandbox reports to.
#[derive(Debug)]
pub(super) struct Report {
    pipe: pipe::Receiver,
    heard: Vec<u8>,
}

/// What is reported, a line each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// The command runs.
    Started,
    /// There is no such program.
    NotFound,
    /// It is no program that can be run.
    NotExecutable,
    /// Something else is in the way.
    Failed,
    /// It returned this.
    Exited(i32),
    /// This signal ended it.
    Killed(i32),
}

impl Word {
    pub(super) fn line(self) -> String {
        match self {
            Self::Started => "started\n".into(),
            Self::NotFound => "not_found\n".into(),
            Self::NotExecutable => "not_executable\n".into(),
            Self::Failed => "failed\n".into(),
            Self::Exited(code) => format!("exited {code}\n"),
            Self::Killed(signal) => format!("killed {signal}\n"),
        }
    }

    fn parse(line: &[u8]) -> Option<Self> {
        let line = std::str::from_utf8(line).ok()?;
        match line.split_once(' ') {
            None => {
                let plain = [Self::Started, Self::NotFound, Self::NotExecutable, Self::Failed];
                plain.into_iter().find(|word| word.line().trim_end() == line)
            }
            Some(("exited", code)) => code.parse().ok().map(Self::Exited),
            Some(("killed", signal)) => signal.parse().ok().map(Self::Killed),
            Some(_) => None,
        }
    }
}

impl Report {
    /// Where to hear, and where to say.
    pub(super) fn new() -> io::Result<(Self, OwnedFd)> {
        let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        let pipe = pipe::Receiver::from_owned_fd(reader)?;
        Ok((Self { pipe, heard: Vec::new() }, writer))
    }

    /// The next word; none if nothing more is said.
    pub(super) async fn next(&mut self) -> Option<Word> {
        loop {
            if let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.heard.drain(..=end).collect();
                return Word::parse(&line[..end]);
            }
            let room = REPORT_BYTES_MAX.checked_sub(self.heard.len()).filter(|room| *room > 0)?;
            let mut buffer = [0; REPORT_BYTES_MAX];
            match self.pipe.read(&mut buffer[..room]).await {
                Ok(0) | Err(_) => return None,
                Ok(read) => self.heard.extend_from_slice(&buffer[..read]),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_heard() {
        let words = [
            Word::Started,
            Word::NotFound,
            Word::NotExecutable,
            Word::Failed,
            Word::Exited(3),
            Word::Killed(15),
        ];
        for word in words {
            assert_eq!(Word::parse(word.line().trim_end().as_bytes()), Some(word));
        }
        assert_eq!(Word::parse(b"whatever"), None);
    }
}
