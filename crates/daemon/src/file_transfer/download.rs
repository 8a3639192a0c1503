//! Sends a file: evaluates conditions and ranges, and reads each chunk while the previous one is sent.

use std::{
    collections::VecDeque,
    fs::File,
    io,
    ops::{Bound, Range},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use axum::{body::Body, response::Response};
use bytes::Bytes;
use files::EntryMetadata;
use headers::{
    AcceptRanges, ContentLength, ContentRange, ETag, HeaderMapExt, IfMatch, IfModifiedSince, IfNoneMatch,
    IfRange, IfUnmodifiedSince, LastModified,
};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use http_body::{Body as HttpBody, Frame, SizeHint};
use protocol::ProblemKind;
use rustix::io::{Errno, ReadWriteFlags};
use tokio::task::JoinHandle;

use super::entity_tags;
use crate::api_error::{self, ApiError};

/// How much is read at a time. Large enough that switching threads per chunk does not cost throughput.
const CHUNK_BYTES: usize = 512 << 10;

/// After this many chunks, try to reuse the buffer of the oldest. The HTTP server holds one or two at a time.
const CHUNKS_IN_FLIGHT: usize = 2;

/// The response to a request for a file, honouring the conditions and the range in its headers.
pub(crate) fn response(file: File, stat: &EntryMetadata, request: &HeaderMap) -> api_error::Result<Response> {
    let etag = etag(stat)?;
    let modified = LastModified::from(stat.modified);
    let mut response = match select_content(request, &etag, stat)? {
        SelectedContent::NotModified => with_status(Body::empty(), StatusCode::NOT_MODIFIED),
        SelectedContent::Whole => content(file, 0..stat.size, StatusCode::OK),
        SelectedContent::Part(part) => {
            let range = ContentRange::bytes(part.clone(), stat.size).map_err(|_| unsatisfiable(stat))?;
            let mut response = content(file, part, StatusCode::PARTIAL_CONTENT);
            response.headers_mut().typed_insert(range);
            response
        }
    };
    let headers = response.headers_mut();
    headers.typed_insert(etag);
    headers.typed_insert(modified);
    headers.typed_insert(AcceptRanges::bytes());
    Ok(response)
}

/// Which part of the file to send.
enum SelectedContent {
    NotModified,
    Whole,
    Part(Range<u64>),
}

fn select_content(
    request: &HeaderMap,
    etag: &ETag,
    stat: &EntryMetadata,
) -> api_error::Result<SelectedContent> {
    let request = entity_tags::with_quotes(request);
    let modified = LastModified::from(stat.modified);
    let failed = request.typed_get::<IfMatch>().is_some_and(|condition| !condition.precondition_passes(etag))
        || request
            .typed_get::<IfUnmodifiedSince>()
            .is_some_and(|since| !since.precondition_passes(stat.modified));
    if failed {
        return Err(ApiError::new(
            ProblemKind::PreconditionFailed,
            "the file has changed since the version that the condition names",
        ));
    }
    let unchanged = match request.typed_get::<IfNoneMatch>() {
        Some(condition) => !condition.precondition_passes(etag),
        None => request.typed_get::<IfModifiedSince>().is_some_and(|since| !since.is_modified(stat.modified)),
    };
    if unchanged {
        return Ok(SelectedContent::NotModified);
    }
    if request.typed_get::<IfRange>().is_some_and(|range| range.is_modified(Some(etag), Some(&modified))) {
        return Ok(SelectedContent::Whole);
    }
    let Some(wanted) = request.typed_get::<headers::Range>() else { return Ok(SelectedContent::Whole) };
    let parts = wanted.satisfiable_ranges(stat.size).map(|part| bounds(part, stat.size));
    let mut parts = parts.filter(|part| !part.is_empty());
    match (parts.next(), parts.next()) {
        (None, _) => Err(unsatisfiable(stat)),
        (Some(part), None) => Ok(SelectedContent::Part(part)),
        // HTTP allows a server to ignore a request for several ranges and to send everything.
        (Some(_), Some(_)) => Ok(SelectedContent::Whole),
    }
}

fn bounds((start, end): (Bound<u64>, Bound<u64>), size: u64) -> Range<u64> {
    let start = match start {
        Bound::Included(start) => start,
        Bound::Excluded(before) => before.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match end {
        Bound::Included(last) => last.saturating_add(1),
        Bound::Excluded(end) => end,
        Bound::Unbounded => size,
    };
    start..end.min(size)
}

fn unsatisfiable(stat: &EntryMetadata) -> ApiError {
    ApiError::new(ProblemKind::RangeNotSatisfiable, format!("the file has {} bytes", stat.size))
}

/// The `ETag` of a file.
pub(crate) fn etag(stat: &EntryMetadata) -> api_error::Result<ETag> {
    format!("\"{}\"", stat.etag()).parse().map_err(|error| ApiError::internal(&error))
}

fn content(file: File, range: Range<u64>, status: StatusCode) -> Response {
    let length = range.end - range.start;
    let mut response = with_status(Body::new(FileChunks::new(file, range)), status);
    let headers = response.headers_mut();
    headers.typed_insert(ContentLength(length));
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

fn with_status(body: Body, status: StatusCode) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
}

/// The chunks of a file. A chunk in the page cache is read right away; any other is read on a blocking thread.
struct FileChunks {
    file: Arc<File>,
    range: Range<u64>,
    pending_read: Option<JoinHandle<io::Result<Bytes>>>,
    /// Chunks that were handed to the server, oldest first. Their memory is reused once they are sent.
    in_flight: VecDeque<Bytes>,
}

impl FileChunks {
    fn new(file: File, range: Range<u64>) -> Self {
        Self { file: Arc::new(file), range, pending_read: None, in_flight: VecDeque::new() }
    }

    /// Reads the next chunk, or starts to read it on a blocking thread.
    fn start_read(&mut self) -> Result<Bytes, JoinHandle<io::Result<Bytes>>> {
        let start = self.range.start;
        let length = (self.range.end - start).min(CHUNK_BYTES as u64) as usize;
        self.range.start += length as u64;
        let mut chunk = self.reused_buffer();
        chunk.resize(length, 0);
        let Err((have, _)) = read(&self.file, start, &mut chunk, 0, ReadWriteFlags::NOWAIT) else {
            return Ok(chunk.into());
        };
        let file = self.file.clone();
        Err(tokio::task::spawn_blocking(move || {
            let read = read(&file, start, &mut chunk, have, ReadWriteFlags::empty());
            read.map(|()| chunk.into()).map_err(|(_, errno)| errno.into())
        }))
    }

    /// The memory of a chunk that was sent, or an empty buffer.
    fn reused_buffer(&mut self) -> Vec<u8> {
        let oldest = if self.in_flight.len() >= CHUNKS_IN_FLIGHT { self.in_flight.pop_front() } else { None };
        oldest.and_then(|chunk| chunk.try_into_mut().ok()).map(Vec::from).unwrap_or_default()
    }
}

/// Reads until `chunk` is full; an error carries how much was read. If the file shrank since its length was sent, this
/// fails and the connection is closed: the client must not take a truncated file for a complete one.
fn read(
    file: &File,
    start: u64,
    chunk: &mut [u8],
    mut have: usize,
    flags: ReadWriteFlags,
) -> Result<(), (usize, Errno)> {
    while have < chunk.len() {
        let rest = &mut [io::IoSliceMut::new(&mut chunk[have..])];
        match rustix::io::preadv2(file, rest, start + have as u64, flags) {
            Ok(0) => return Err((have, Errno::IO)),
            Ok(more) => have += more,
            Err(Errno::INTR) => {}
            Err(errno) => return Err((have, errno)),
        }
    }
    Ok(())
}

impl HttpBody for FileChunks {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let mut pending_read = match self.pending_read.take() {
            Some(pending_read) => pending_read,
            None if self.range.is_empty() => return Poll::Ready(None),
            None => match self.start_read() {
                Ok(chunk) => return Poll::Ready(Some(Ok(self.data_frame(chunk)))),
                Err(pending_read) => pending_read,
            },
        };
        let Poll::Ready(chunk) = Pin::new(&mut pending_read).poll(cx) else {
            self.pending_read = Some(pending_read);
            return Poll::Pending;
        };
        let chunk = chunk.map_err(io::Error::other).flatten();
        Poll::Ready(Some(chunk.map(|chunk| self.data_frame(chunk))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

impl FileChunks {
    fn data_frame(&mut self, chunk: Bytes) -> Frame<Bytes> {
        self.in_flight.push_back(chunk.clone());
        Frame::data(chunk)
    }
}
