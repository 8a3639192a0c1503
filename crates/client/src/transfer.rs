//! Streams content that is too large for memory, with progress.

use std::{
    fmt, io,
    path::Path,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use futures_util::StreamExt;
use reqwest::{Body, RequestBuilder, Response, header::CONTENT_LENGTH};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_util::io::ReaderStream;

use crate::{
    ApiResponse, client,
    error::{Error, Result},
};

/// How much is read at a time.
const CHUNK_BYTES: usize = 128 << 10;

type ProgressCallback = Box<dyn FnMut(u64) + Send + Sync>;

/// Content to send.
pub struct Upload {
    reader: Pin<Box<dyn AsyncRead + Send + Sync>>,
    length: Option<u64>,
    progress: ProgressCallback,
}

impl Upload {
    /// The content of `reader`, up to its end.
    pub fn reader(reader: impl AsyncRead + Send + Sync + 'static) -> Self {
        Self { reader: Box::pin(reader), length: None, progress: Box::new(|_| {}) }
    }

    /// The content of a local file, up to its current length even if it grows meanwhile.
    pub async fn file(path: &Path) -> io::Result<Self> {
        let file = tokio::fs::File::open(path).await?;
        let metadata = file.metadata().await?;
        if metadata.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        // Pipes and devices have no length.
        if !metadata.is_file() {
            return Ok(Self::reader(file));
        }
        let length = metadata.len();
        Ok(Self { length: Some(length), ..Self::reader(file.take(length)) })
    }

    /// The length in bytes, if known.
    pub fn length(&self) -> Option<u64> {
        self.length
    }

    /// Calls `progress` with the bytes sent so far.
    #[must_use]
    pub fn on_progress(mut self, progress: impl FnMut(u64) + Send + Sync + 'static) -> Self {
        self.progress = Box::new(progress);
        self
    }

    pub(crate) async fn send<T>(self, request: RequestBuilder) -> Result<ApiResponse<T>> {
        let Self { mut reader, length, mut progress } = self;
        let read_error = |source| Error::Local { action: "read the content to send", source };
        let first = first_chunk(&mut reader).await.map_err(read_error)?;
        // Small content is sent together with the request headers. Otherwise a server that rejects the request and closes the
        // connection would do so while we are still sending, and its response would be lost.
        if first.len() < CHUNK_BYTES && length.is_none_or(|length| length == first.len() as u64) {
            progress(first.len() as u64);
            return client::send_and_collect(request.body(first)).await;
        }
        let reader = std::io::Cursor::new(first).chain(reader);
        let failure = Arc::new(Mutex::new(None::<io::Error>));
        let read_failure = failure.clone();
        let mut sent = 0;
        let chunks = ReaderStream::with_capacity(reader, CHUNK_BYTES).map(move |chunk| match chunk {
            Ok(chunk) => {
                sent += chunk.len() as u64;
                progress(sent);
                Ok(chunk)
            }
            Err(error) => {
                let kind = error.kind();
                *read_failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                Err(io::Error::from(kind))
            }
        });
        let mut request = request.body(Body::wrap_stream(chunks));
        if let Some(length) = length {
            request = request.header(CONTENT_LENGTH, length);
        }
        let response = client::send_and_collect(request).await;
        // If reading failed, the request failed as a consequence: report the cause.
        match failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(source) => Err(read_error(source)),
            None => response,
        }
    }
}

/// Reads the first chunk, or everything if that is less.
async fn first_chunk(reader: &mut (impl AsyncRead + Unpin)) -> io::Result<Bytes> {
    let mut chunk = Vec::new();
    reader.take(CHUNK_BYTES as u64).read_to_end(&mut chunk).await?;
    Ok(chunk.into())
}

impl fmt::Debug for Upload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upload").field("length", &self.length).finish_non_exhaustive()
    }
}

/// Content that is being received.
#[derive(Debug)]
pub struct Download {
    response: Response,
}

impl Download {
    pub(crate) async fn open(request: RequestBuilder) -> Result<Self> {
        client::send_checked(request).await.map(|response| Self { response })
    }

    /// The length in bytes, if known.
    pub fn length(&self) -> Option<u64> {
        self.response.content_length()
    }

    /// The next chunk; `None` at the end. A connection that is lost before the end is an error.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>> {
        Ok(self.response.chunk().await?)
    }

    /// Writes everything to `out`, and calls `progress` with the bytes written so far.
    pub async fn copy_to(
        mut self,
        out: &mut (impl AsyncWrite + Unpin),
        mut progress: impl FnMut(u64),
    ) -> Result<u64> {
        let write_error = |source| Error::Local { action: "write the received content", source };
        let mut written = 0;
        while let Some(chunk) = self.chunk().await? {
            out.write_all(&chunk).await.map_err(write_error)?;
            written += chunk.len() as u64;
            progress(written);
        }
        out.flush().await.map_err(write_error)?;
        Ok(written)
    }
}
