//! `tombolo api processes input`: any amount, in pieces that the process has room for.

use std::time::Duration;

use bytes::Bytes;
use client::Client;
use protocol::{Kind, ProcessId};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::exit::{Failure, local};

/// How much is sent at once: well below what the daemon takes, so that a slow process takes some of it.
const PIECE_BYTES: usize = 128 << 10;

/// How long to wait before a process that does not read is asked again.
const PAUSE: Duration = Duration::from_millis(50);

/// Sends everything that `reader` gives, and with `close` closes the input of the process afterwards.
pub(super) async fn send(
    client: &Client,
    id: ProcessId,
    mut reader: impl AsyncRead + Unpin,
    close: bool,
) -> Result<(), Failure> {
    let mut piece = vec![0; PIECE_BYTES];
    let mut sent = false;
    loop {
        let read = reader.read(&mut piece).await.map_err(|error| local("read what is to be sent", error))?;
        if read > 0 {
            send_piece(client, id, Bytes::copy_from_slice(&piece[..read]), false).await?;
            sent = true;
            continue;
        }
        // Nothing at all is sent too: it says whether the process is there.
        if close || !sent {
            send_piece(client, id, Bytes::new(), close).await?;
        }
        return Ok(());
    }
}

async fn send_piece(client: &Client, id: ProcessId, piece: Bytes, close: bool) -> Result<(), Failure> {
    loop {
        match client.processes().input(id, piece.clone(), close).await {
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == Some(Kind::ProcessBusy) => tokio::time::sleep(PAUSE).await,
            Err(error) => return Err(error.into()),
        }
    }
}
