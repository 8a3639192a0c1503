//! Standard output: ACP, one message a line, and nothing else.

use std::io;

use bytes::Bytes;
use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    task::JoinSet,
};

use super::queue::{self, Closed, Receiver, Sender};

/// How many messages wait for the editor to read.
const LINES_MAX: usize = 256;

/// How much is gathered into one write.
const WRITE_BYTES_MAX: usize = 64 << 10;

/// The way to the editor.
#[derive(Debug)]
pub(super) struct Writer {
    queue: Sender<Bytes>,
    task: JoinSet<io::Result<()>>,
}

impl Writer {
    pub(super) fn of_stdout() -> Self {
        Self::of(tokio::io::stdout())
    }

    fn of(output: impl AsyncWrite + Unpin + Send + 'static) -> Self {
        let (queue, lines) = queue::new(LINES_MAX);
        let mut task = JoinSet::new();
        task.spawn(write(output, lines));
        Self { queue, task }
    }

    /// Says a message, once there is room for it. It is whole or not there, whenever the future is dropped.
    pub(super) async fn line(&self, message: impl Into<Bytes>) -> Result<(), Closed> {
        let message = message.into();
        let bytes = message.len();
        self.queue.send(message, bytes).await
    }

    /// Waits until it turns out that nobody reads.
    pub(super) async fn broken(&self) {
        self.queue.closed().await;
    }

    /// Waits until everything was written.
    pub(super) async fn finish(self) {
        let Self { queue, mut task } = self;
        drop(queue);
        task.join_next().await;
    }
}

async fn write(mut output: impl AsyncWrite + Unpin, mut lines: Receiver<Bytes>) -> io::Result<()> {
    let mut gathered = Vec::new();
    while let Some(first) = lines.recv().await {
        gathered.clear();
        let mut next = Some(first);
        while let Some(line) = next {
            gathered.extend_from_slice(&line.value);
            gathered.push(b'\n');
            next = if gathered.len() < WRITE_BYTES_MAX { lines.try_recv() } else { None };
        }
        output.write_all(&gathered).await?;
        output.flush().await?;
        // A rare message of many megabytes shall not stay with us.
        gathered.shrink_to(WRITE_BYTES_MAX);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test]
    async fn messages_come_whole_and_in_order() {
        let (ours, mut theirs) = tokio::io::duplex(16);
        let writer = Writer::of(ours);
        let say = async {
            for number in 0..1000 {
                writer.line(format!("{{\"n\":{number}}}")).await.unwrap();
            }
            writer.finish().await;
        };
        let mut text = String::new();
        let (_, read) = tokio::join!(say, theirs.read_to_string(&mut text));
        read.unwrap();
        assert!(text.lines().enumerate().all(|(number, line)| line == format!("{{\"n\":{number}}}")));
        assert_eq!(text.lines().count(), 1000);
    }

    #[tokio::test]
    async fn who_does_not_read_is_noticed() {
        let (ours, theirs) = tokio::io::duplex(16);
        let writer = Writer::of(ours);
        drop(theirs);
        writer.line("{}").await.unwrap();
        writer.broken().await;
        assert!(writer.line("{}").await.is_err());
    }
}
