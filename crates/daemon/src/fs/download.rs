//! Sending a file: conditions, ranges, and pieces that are read while the one before is sent.

use std::{
    collections::VecDeque,
    fs::File,
    io,
    ops::{Bound, Range},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use axum::{body::Body, response::Response};
use bytes::Bytes;
use files::Stat;
use headers::{
    AcceptRanges, ContentLength, ContentRange, ETag, HeaderMapExt, IfMatch, IfModifiedSince, IfNoneMatch,
    IfRange, IfUnmodifiedSince, LastModified,
};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use http_body::{Body as HttpBody, Frame, SizeHint};
use protocol::Kind;
use rustix::{buffer::spare_capacity, io::Errno};
use tokio::task::JoinHandle;

use crate::problem::{ApiError, Result};

/// How much is read at a time: enough that handing it between threads does not show.
const PIECE_BYTES: usize = 512 << 10;

/// How many pieces may be on their way out before the oldest is looked at: the server holds one or two.
const SENT_MAX: usize = 2;

/// Answers with the file, or with what the conditions and the range of the request leave of it.
pub(crate) fn response(file: File, stat: &Stat, request: &HeaderMap) -> Result<Response> {
    let etag = etag(stat)?;
    let modified = LastModified::from(stat.modified);
    let mut response = match verdict(request, &etag, stat)? {
        Verdict::NotModified => with_status(Body::empty(), StatusCode::NOT_MODIFIED),
        Verdict::Whole => content(file, 0..stat.size, StatusCode::OK),
        Verdict::Part(part) => {
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

/// What to send.
enum Verdict {
    NotModified,
    Whole,
    Part(Range<u64>),
}

fn verdict(request: &HeaderMap, etag: &ETag, stat: &Stat) -> Result<Verdict> {
    let modified = LastModified::from(stat.modified);
    let failed = request.typed_get::<IfMatch>().is_some_and(|condition| !condition.precondition_passes(etag))
        || request
            .typed_get::<IfUnmodifiedSince>()
            .is_some_and(|since| !since.precondition_passes(stat.modified));
    if failed {
        return Err(ApiError::new(Kind::PreconditionFailed, "the file has changed"));
    }
    let unchanged = match request.typed_get::<IfNoneMatch>() {
        Some(condition) => !condition.precondition_passes(etag),
        None => request.typed_get::<IfModifiedSince>().is_some_and(|since| !since.is_modified(stat.modified)),
    };
    if unchanged {
        return Ok(Verdict::NotModified);
    }
    if request.typed_get::<IfRange>().is_some_and(|range| range.is_modified(Some(etag), Some(&modified))) {
        return Ok(Verdict::Whole);
    }
    let Some(wanted) = request.typed_get::<headers::Range>() else { return Ok(Verdict::Whole) };
    let parts = wanted.satisfiable_ranges(stat.size).map(|part| bounds(part, stat.size));
    let mut parts = parts.filter(|part| !part.is_empty());
    match (parts.next(), parts.next()) {
        (None, _) => Err(unsatisfiable(stat)),
        (Some(part), None) => Ok(Verdict::Part(part)),
        // Several parts in one answer are allowed to be refused by sending everything.
        (Some(_), Some(_)) => Ok(Verdict::Whole),
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

fn unsatisfiable(stat: &Stat) -> ApiError {
    ApiError::new(Kind::RangeNotSatisfiable, format!("the file has {} bytes", stat.size))
}

/// The validator of a file, as a header has it.
pub(crate) fn etag(stat: &Stat) -> Result<ETag> {
    format!("\"{}\"", stat.etag()).parse().map_err(|error| ApiError::internal(&error))
}

fn content(file: File, range: Range<u64>, status: StatusCode) -> Response {
    let length = range.end - range.start;
    let mut response = with_status(Body::new(Pieces::new(file, range)), status);
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

/// The pieces of a file; the next one is read on a blocking thread while this one is sent.
struct Pieces {
    file: Arc<File>,
    range: Range<u64>,
    reading: Option<JoinHandle<io::Result<Bytes>>>,
    /// Pieces on their way out, oldest first; their memory is used again once they are sent.
    sent: VecDeque<Bytes>,
}

impl Pieces {
    fn new(file: File, range: Range<u64>) -> Self {
        let mut pieces = Self { file: Arc::new(file), range, reading: None, sent: VecDeque::new() };
        pieces.read_ahead();
        pieces
    }

    fn read_ahead(&mut self) {
        if self.range.is_empty() {
            return;
        }
        let start = self.range.start;
        let length = (self.range.end - start).min(PIECE_BYTES as u64) as usize;
        self.range.start += length as u64;
        let (file, memory) = (self.file.clone(), self.memory());
        self.reading = Some(tokio::task::spawn_blocking(move || read(&file, start, length, memory)));
    }

    /// The memory of a piece that was sent, if there is one.
    fn memory(&mut self) -> Vec<u8> {
        let oldest = if self.sent.len() >= SENT_MAX { self.sent.pop_front() } else { None };
        oldest.and_then(|piece| piece.try_into_mut().ok()).map(Vec::from).unwrap_or_default()
    }
}

/// Reads exactly `length` bytes. A file that shrank while it was sent cannot be sent: the connection is cut, which a
/// client notices.
fn read(file: &File, start: u64, length: usize, mut piece: Vec<u8>) -> io::Result<Bytes> {
    piece.clear();
    piece.reserve_exact(length);
    while piece.len() < length {
        let at = start + piece.len() as u64;
        match rustix::io::pread(file, spare_capacity(&mut piece), at) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    // Memory that is used again may be larger than this piece.
    piece.truncate(length);
    Ok(Bytes::from(piece))
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let Some(reading) = &mut self.reading else { return Poll::Ready(None) };
        let piece = ready!(Pin::new(reading).poll(cx)).map_err(io::Error::other).and_then(|piece| piece);
        self.reading = None;
        if let Ok(piece) = &piece {
            self.sent.push_back(piece.clone());
            self.read_ahead();
        }
        Poll::Ready(Some(piece.map(Frame::data)))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}
