//! Receiving a file or an archive: pieces are written while the next ones arrive.

use std::{
    io::{self, Read},
    mem,
};

use axum::body::Body;
use bytes::{Buf, Bytes};
use files::{AtomicFile, CreateOptions, Links, VirtualPath, Written, unpack};
use headers::{ContentLength, HeaderMapExt, IfMatch, IfNoneMatch};
use http::HeaderMap;
use protocol::ProblemKind;
use server::intake;
use tokio::sync::mpsc;

use super::{blocking, download};
use crate::{
    app::App,
    problem::{ApiError, Result},
};

/// How much is gathered before it is handed to a blocking thread.
const GATHERED_BYTES: usize = 1 << 20;

/// How many pieces of an archive may wait to be unpacked.
const PIECES_MAX: usize = 16;

/// Writes the body to `path`; nothing is seen of it before all of it is there.
pub(crate) async fn file(
    app: &App,
    path: VirtualPath,
    options: CreateOptions,
    request: &HeaderMap,
    mut body: Body,
) -> Result<Written> {
    check_conditions(app, &path, request).await?;
    let length = request.typed_get::<ContentLength>().map(|length| length.0);
    let root = app.clone();
    let mut file = blocking(move || {
        let mut file = root.files.create(&path, options)?;
        if let Some(length) = length {
            file.preallocate(length)?;
        }
        Ok::<_, files::Error>(file)
    })
    .await?;
    let mut gathered = Gathered::default();
    while gathered.fill(app, &mut body).await? {
        let pieces = gathered.take();
        // The next pieces arrive while these are written.
        let writing = tokio::task::spawn_blocking(move || write(file, &pieces));
        let more = gathered.fill(app, &mut body).await;
        file = writing.await.map_err(|error| ApiError::internal(&error))??;
        if !more? {
            break;
        }
    }
    blocking(move || write(file, &gathered.take())?.commit()).await
}

async fn check_conditions(app: &App, path: &VirtualPath, request: &HeaderMap) -> Result<()> {
    let (matches, differs) = (request.typed_get::<IfMatch>(), request.typed_get::<IfNoneMatch>());
    if matches.is_none() && differs.is_none() {
        return Ok(());
    }
    let (root, path) = (app.clone(), path.clone());
    let found = blocking(move || Ok::<_, ApiError>(root.files.stat(&path, Links::Follow).ok())).await?;
    let passes = match found {
        Some(stat) => {
            let etag = download::etag(&stat)?;
            matches.is_none_or(|condition| condition.precondition_passes(&etag))
                && differs.is_none_or(|condition| condition.precondition_passes(&etag))
        }
        None => matches.is_none(),
    };
    if passes {
        Ok(())
    } else {
        Err(ApiError::new(ProblemKind::PreconditionFailed, "the file is not what the condition says"))
    }
}

fn write(mut file: AtomicFile, pieces: &[Bytes]) -> std::result::Result<AtomicFile, files::Error> {
    pieces.iter().try_for_each(|piece| file.write_all(piece))?;
    Ok(file)
}

/// Pieces that have arrived and are not written yet.
#[derive(Default)]
struct Gathered {
    pieces: Vec<Bytes>,
    bytes: usize,
}

impl Gathered {
    /// Gathers until there is enough to write; false at the end of the body.
    async fn fill(&mut self, app: &App, body: &mut Body) -> Result<bool> {
        while self.bytes < GATHERED_BYTES {
            let Some(piece) = intake::next(body, app.stall).await? else { return Ok(false) };
            self.bytes += piece.len();
            self.pieces.push(piece);
        }
        Ok(true)
    }

    fn take(&mut self) -> Vec<Bytes> {
        self.bytes = 0;
        mem::take(&mut self.pieces)
    }
}

/// Unpacks the body into the directory `path`: all of it or nothing.
pub(crate) async fn archive(app: &App, path: VirtualPath, mut body: Body) -> Result<unpack::Unpacked> {
    let (tx, rx) = mpsc::channel(PIECES_MAX);
    let root = app.clone();
    let unpacking = tokio::task::spawn_blocking(move || {
        root.files.unpack(Pieces { rx, current: Bytes::new() }, &path, &unpack::Limits::default())
    });
    let received = async {
        while let Some(piece) = intake::next(&mut body, app.stall).await? {
            // It may be done, or have refused, before the last byte.
            if tx.send(Ok(piece)).await.is_err() {
                break;
            }
        }
        Ok(())
    };
    let received: Result<()> = received.await;
    if received.is_err() {
        let _ = tx.send(Err(io::ErrorKind::UnexpectedEof.into())).await;
    }
    drop(tx);
    let unpacked = unpacking.await.map_err(|error| ApiError::internal(&error))?;
    received?;
    Ok(unpacked?)
}

/// The body as a blocking reader.
struct Pieces {
    rx: mpsc::Receiver<io::Result<Bytes>>,
    current: Bytes,
}

impl Read for Pieces {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while self.current.is_empty() {
            match self.rx.blocking_recv() {
                Some(piece) => self.current = piece?,
                None => return Ok(0),
            }
        }
        let length = self.current.len().min(buf.len());
        self.current.copy_to_slice(&mut buf[..length]);
        Ok(length)
    }
}
