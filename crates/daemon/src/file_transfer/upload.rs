//! Receives a file or an archive: chunks are written while the next ones arrive.

use std::{
    io::{self, Read},
    mem,
};

use axum::body::Body;
use bytes::{Buf, Bytes};
use files::{AtomicFile, CreateOptions, LinkHandling, RootedPath, WriteOutcome, unpack};
use headers::{ContentLength, HeaderMapExt, IfMatch, IfNoneMatch};
use http::HeaderMap;
use protocol::ProblemKind;
use server::request_body;
use tokio::sync::mpsc;

use super::{download, entity_tags, run_blocking};
use crate::{
    api_error::{ApiError, Result},
    app::App,
};

/// How much is buffered before it is written on a blocking thread.
const WRITE_BYTES: usize = 1 << 20;

/// How many chunks of an archive may wait to be unpacked.
const CHUNKS_MAX: usize = 16;

/// Writes the body to `path`. Readers see the old content until all of the new one is stored.
pub(crate) async fn write_file(
    app: &App,
    path: RootedPath,
    options: CreateOptions,
    request: &HeaderMap,
    mut body: Body,
) -> Result<WriteOutcome> {
    check_conditions(app, &path, request).await?;
    let length = request.typed_get::<ContentLength>().map(|length| length.0);
    let root = app.clone();
    let mut file = run_blocking(move || {
        let file = root.files.create(&path, options)?;
        if let Some(length) = length {
            file.check_space(length)?;
        }
        Ok::<_, files::Error>(file)
    })
    .await?;
    let mut buffer = ChunkBuffer::default();
    while buffer.fill(app, &mut body).await? {
        let chunks = buffer.take();
        // Receive the next chunks while these are written.
        let writing = tokio::task::spawn_blocking(move || write(file, &chunks));
        let more = buffer.fill(app, &mut body).await;
        file = writing.await.map_err(|error| ApiError::internal(&error))??;
        if !more? {
            break;
        }
    }
    run_blocking(move || write(file, &buffer.take())?.commit()).await
}

async fn check_conditions(app: &App, path: &RootedPath, request: &HeaderMap) -> Result<()> {
    let request = entity_tags::with_quotes(request);
    let matches = request.typed_get::<IfMatch>();
    let differs = request.typed_get::<IfNoneMatch>();
    if matches.is_none() && differs.is_none() {
        return Ok(());
    }
    let root = app.clone();
    let path = path.clone();
    let found =
        run_blocking(move || Ok::<_, ApiError>(root.files.stat(&path, LinkHandling::Follow).ok())).await?;
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
        Err(ApiError::new(
            ProblemKind::PreconditionFailed,
            "the file does not meet the condition of the request; read it again before you write it",
        ))
    }
}

fn write(mut file: AtomicFile, chunks: &[Bytes]) -> std::result::Result<AtomicFile, files::Error> {
    chunks.iter().try_for_each(|chunk| file.write_all(chunk))?;
    Ok(file)
}

/// Received chunks that are not written yet.
#[derive(Default)]
struct ChunkBuffer {
    chunks: Vec<Bytes>,
    bytes: usize,
}

impl ChunkBuffer {
    /// Receives until there is enough to write. Returns false at the end of the body.
    async fn fill(&mut self, app: &App, body: &mut Body) -> Result<bool> {
        while self.bytes < WRITE_BYTES {
            let Some(chunk) = request_body::next_chunk(body, app.stall_timeout).await? else {
                return Ok(false);
            };
            self.bytes += chunk.len();
            self.chunks.push(chunk);
        }
        Ok(true)
    }

    fn take(&mut self) -> Vec<Bytes> {
        self.bytes = 0;
        mem::take(&mut self.chunks)
    }
}

/// Unpacks the body into the directory `path`: all of it or nothing.
pub(crate) async fn unpack_archive(
    app: &App,
    path: RootedPath,
    mut body: Body,
) -> Result<unpack::UnpackSummary> {
    let (tx, rx) = mpsc::channel(CHUNKS_MAX);
    let root = app.clone();
    let unpacking = tokio::task::spawn_blocking(move || {
        root.files.unpack(ChunkReader { rx, current: Bytes::new() }, &path, &unpack::UnpackLimits::default())
    });
    let received = async {
        while let Some(chunk) = request_body::next_chunk(&mut body, app.stall_timeout).await? {
            // The unpacker may finish, or fail, before the end of the body.
            if tx.send(Ok(chunk)).await.is_err() {
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

/// Reads the body from a blocking thread.
struct ChunkReader {
    rx: mpsc::Receiver<io::Result<Bytes>>,
    current: Bytes,
}

impl Read for ChunkReader {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while self.current.is_empty() {
            match self.rx.blocking_recv() {
                Some(chunk) => self.current = chunk?,
                None => return Ok(0),
            }
        }
        let length = self.current.len().min(buf.len());
        self.current.copy_to_slice(&mut buf[..length]);
        Ok(length)
    }
}
