//! Writes ACP messages to standard output, one per line. Nothing else may be written there.

use std::io;

use bytes::Bytes;
use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    task::JoinSet,
};

use super::queue::{QueueClosed, QueueReceiver, QueueSender, bounded_queue};

/// How many messages may wait for the editor to read.
const LINES_MAX: usize = 256;

/// How many bytes of queued messages are combined into one write.
const WRITE_BYTES_MAX: usize = 64 << 10;

/// Writes messages to the editor.
#[derive(Debug)]
pub(super) struct EditorWriter {
    queue: QueueSender<Bytes>,
    task: JoinSet<io::Result<()>>,
}

impl EditorWriter {
    pub(super) fn to_stdout() -> Self {
        Self::new(tokio::io::stdout())
    }

    fn new(output: impl AsyncWrite + Unpin + Send + 'static) -> Self {
        let (queue, lines) = bounded_queue(LINES_MAX);
        let mut task = JoinSet::new();
        task.spawn(write(output, lines));
        Self { queue, task }
    }

    /// Queues a message, as soon as there is room. Dropping the future leaves either the whole message in the queue or nothing.
    pub(super) async fn line(&self, message: impl Into<Bytes>) -> Result<(), QueueClosed> {
        let message = message.into();
        let bytes = message.len();
        self.queue.send(message, bytes).await
    }

    /// Waits until writing has failed because the editor closed the pipe.
    pub(super) async fn closed(&self) {
        self.queue.closed().await;
    }

    /// Waits until all queued messages are written.
    pub(super) async fn finish(self) {
        let Self { queue, mut task } = self;
        drop(queue);
        task.join_next().await;
    }
}

async fn write(mut output: impl AsyncWrite + Unpin, mut lines: QueueReceiver<Bytes>) -> io::Result<()> {
    let mut batch = Vec::new();
    while let Some(first) = lines.recv().await {
        batch.clear();
        let mut next = Some(first);
        while let Some(line) = next {
            batch.extend_from_slice(&line.value);
            batch.push(b'\n');
            next = if batch.len() < WRITE_BYTES_MAX { lines.try_recv() } else { None };
        }
        output.write_all(&batch).await?;
        output.flush().await?;
        // Do not keep the memory of a rare message of many megabytes.
        batch.shrink_to(WRITE_BYTES_MAX);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test]
    async fn messages_are_written_whole_and_in_order() {
        let (ours, mut theirs) = tokio::io::duplex(16);
        let writer = EditorWriter::new(ours);
        let write = async {
            for number in 0..1000 {
                writer.line(format!("{{\"n\":{number}}}")).await.unwrap();
            }
            writer.finish().await;
        };
        let mut text = String::new();
        let (_, read) = tokio::join!(write, theirs.read_to_string(&mut text));
        read.unwrap();
        assert!(text.lines().enumerate().all(|(number, line)| line == format!("{{\"n\":{number}}}")));
        assert_eq!(text.lines().count(), 1000);
    }

    #[tokio::test]
    async fn a_closed_pipe_is_noticed() {
        let (ours, theirs) = tokio::io::duplex(16);
        let writer = EditorWriter::new(ours);
        drop(theirs);
        writer.line("{}").await.unwrap();
        writer.closed().await;
        assert!(writer.line("{}").await.is_err());
    }
}
