//! `tombolo api processes input`: sends input of any size in chunks, at the speed at which the process reads.

use std::time::Duration;

use bytes::Bytes;
use client::Client;
use protocol::{ProblemKind, ProcessId};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::exit::{CommandError, local};

/// Bytes per request. Well below the daemon's input buffer, so that a slow process accepts some chunks while it drains.
const CHUNK_BYTES: usize = 128 << 10;

/// Wait between two attempts while the input buffer of the process is full.
const RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// Sends everything from `reader`; `close` then closes the input of the process.
pub(super) async fn send(
    client: &Client,
    id: ProcessId,
    mut reader: impl AsyncRead + Unpin,
    close: bool,
) -> Result<(), CommandError> {
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut sent = false;
    loop {
        let read = reader.read(&mut chunk).await.map_err(|error| local("read the input", error))?;
        if read > 0 {
            send_chunk(client, id, Bytes::copy_from_slice(&chunk[..read]), false).await?;
            sent = true;
            continue;
        }
        // Send empty input too: the daemon then reports a process that does not exist.
        if close || !sent {
            send_chunk(client, id, Bytes::new(), close).await?;
        }
        return Ok(());
    }
}

async fn send_chunk(client: &Client, id: ProcessId, chunk: Bytes, close: bool) -> Result<(), CommandError> {
    loop {
        match client.processes().input(id, chunk.clone(), close).await {
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == Some(ProblemKind::ProcessBusy) => {
                tokio::time::sleep(RETRY_INTERVAL).await
            }
            Err(error) => return Err(error.into()),
        }
    }
}
