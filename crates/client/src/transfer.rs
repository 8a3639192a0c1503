//! Content that is too large to hold: it streams, and says how far it is.

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
    Answer, client,
    error::{Error, Result},
};

/// How much is read at a time.
const PIECE_BYTES: usize = 128 << 10;

type Progress = Box<dyn FnMut(u64) + Send + Sync>;

/// Content to send.
pub struct Upload {
    reader: Pin<Box<dyn AsyncRead + Send + Sync>>,
    length: Option<u64>,
    progress: Progress,
}

impl Upload {
    /// What `reader` gives, up to its end.
    pub fn reader(reader: impl AsyncRead + Send + Sync + 'static) -> Self {
        Self { reader: Box::pin(reader), length: None, progress: Box::new(|_| {}) }
    }

    /// The content of a local file. One that grows meanwhile is sent as long as it was.
    pub async fn file(path: &Path) -> io::Result<Self> {
        let file = tokio::fs::File::open(path).await?;
        let metadata = file.metadata().await?;
        if metadata.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        // A pipe or a device has no length that could be told.
        if !metadata.is_file() {
            return Ok(Self::reader(file));
        }
        let length = metadata.len();
        Ok(Self { length: Some(length), ..Self::reader(file.take(length)) })
    }

    /// How much it is, if that is known.
    pub fn length(&self) -> Option<u64> {
        self.length
    }

    /// Calls `progress` with the bytes sent so far.
    #[must_use]
    pub fn on_progress(mut self, progress: impl FnMut(u64) + Send + Sync + 'static) -> Self {
        self.progress = Box::new(progress);
        self
    }

    pub(crate) async fn send<T>(self, request: RequestBuilder) -> Result<Answer<T>> {
        let Self { mut reader, length, mut progress } = self;
        let local = |source| Error::Local { doing: "read what is to be sent", source };
        let first = first_piece(&mut reader).await.map_err(local)?;
        // What fits travels with the head of the request: a server that refuses and closes at once cannot be met in
        // the middle of sending, where its answer would be lost.
        if first.len() < PIECE_BYTES && length.is_none_or(|length| length == first.len() as u64) {
            progress(first.len() as u64);
            return client::answer(request.body(first)).await;
        }
        let reader = std::io::Cursor::new(first).chain(reader);
        let failure = Arc::new(Mutex::new(None::<io::Error>));
        let (noted, mut sent) = (failure.clone(), 0);
        let pieces = ReaderStream::with_capacity(reader, PIECE_BYTES).map(move |piece| match piece {
            Ok(piece) => {
                sent += piece.len() as u64;
                progress(sent);
                Ok(piece)
            }
            Err(error) => {
                let kind = error.kind();
                *noted.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                Err(io::Error::from(kind))
            }
        });
        let mut request = request.body(Body::wrap_stream(pieces));
        if let Some(length) = length {
            request = request.header(CONTENT_LENGTH, length);
        }
        let answer = client::answer(request).await;
        // Reading failed here; that the request broke off is only what came of it.
        match failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(source) => Err(local(source)),
            None => answer,
        }
    }
}

/// As much as is sent at a time, or everything if that is less.
async fn first_piece(reader: &mut (impl AsyncRead + Unpin)) -> io::Result<Bytes> {
    let mut piece = Vec::new();
    reader.take(PIECE_BYTES as u64).read_to_end(&mut piece).await?;
    Ok(piece.into())
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
        client::accepted(request).await.map(|response| Self { response })
    }

    /// How much it is, if that is known.
    pub fn length(&self) -> Option<u64> {
        self.response.content_length()
    }

    /// The next piece; `None` at the end. A connection that is cut before the end is an error.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>> {
        Ok(self.response.chunk().await?)
    }

    /// Writes everything to `out`, and calls `progress` with the bytes written so far.
    pub async fn copy_to(
        mut self,
        out: &mut (impl AsyncWrite + Unpin),
        mut progress: impl FnMut(u64),
    ) -> Result<u64> {
        let local = |source| Error::Local { doing: "write what was received", source };
        let mut written = 0;
        while let Some(piece) = self.chunk().await? {
            out.write_all(&piece).await.map_err(local)?;
            written += piece.len() as u64;
            progress(written);
        }
        out.flush().await.map_err(local)?;
        Ok(written)
    }
}
