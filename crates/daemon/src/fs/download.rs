//! Sending a file: conditions, ranges, and pieces that are read while the one before is sent.

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
use files::Stat;
use headers::{
    AcceptRanges, ContentLength, ContentRange, ETag, HeaderMapExt, IfMatch, IfModifiedSince, IfNoneMatch,
    IfRange, IfUnmodifiedSince, LastModified,
};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use http_body::{Body as HttpBody, Frame, SizeHint};
use protocol::ProblemKind;
use rustix::io::{Errno, ReadWriteFlags};
use tokio::task::JoinHandle;

use crate::problem::{self, ApiError};

/// How much is read at a time: enough that handing it between threads does not show.
const PIECE_BYTES: usize = 512 << 10;

/// How many pieces may be on their way out before the oldest is looked at: the server holds one or two.
const SENT_MAX: usize = 2;

/// Answers with the file, or with what the conditions and the range of the request leave of it.
pub(crate) fn response(file: File, stat: &Stat, request: &HeaderMap) -> problem::Result<Response> {
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

fn verdict(request: &HeaderMap, etag: &ETag, stat: &Stat) -> problem::Result<Verdict> {
    let modified = LastModified::from(stat.modified);
    let failed = request.typed_get::<IfMatch>().is_some_and(|condition| !condition.precondition_passes(etag))
        || request
            .typed_get::<IfUnmodifiedSince>()
            .is_some_and(|since| !since.precondition_passes(stat.modified));
    if failed {
        return Err(ApiError::new(ProblemKind::PreconditionFailed, "the file has changed"));
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
    ApiError::new(ProblemKind::RangeNotSatisfiable, format!("the file has {} bytes", stat.size))
}

/// The validator of a file, as a header has it.
pub(crate) fn etag(stat: &Stat) -> problem::Result<ETag> {
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

/// The pieces of a file. What the system has in memory is read at once; for the rest a blocking thread waits.
struct Pieces {
    file: Arc<File>,
    range: Range<u64>,
    waiting: Option<JoinHandle<io::Result<Bytes>>>,
    /// Pieces on their way out, oldest first; their memory is used again once they are sent.
    sent: VecDeque<Bytes>,
}

impl Pieces {
    fn new(file: File, range: Range<u64>) -> Self {
        Self { file: Arc::new(file), range, waiting: None, sent: VecDeque::new() }
    }

    /// The next piece, or who waits for it.
    fn next(&mut self) -> Result<Bytes, JoinHandle<io::Result<Bytes>>> {
        let start = self.range.start;
        let length = (self.range.end - start).min(PIECE_BYTES as u64) as usize;
        self.range.start += length as u64;
        let mut piece = self.memory();
        piece.resize(length, 0);
        let Err((have, _)) = read(&self.file, start, &mut piece, 0, ReadWriteFlags::NOWAIT) else {
            return Ok(piece.into());
        };
        let file = self.file.clone();
        Err(tokio::task::spawn_blocking(move || {
            let read = read(&file, start, &mut piece, have, ReadWriteFlags::empty());
            read.map(|()| piece.into()).map_err(|(_, errno)| errno.into())
        }))
    }

    /// The memory of a piece that was sent, if there is one.
    fn memory(&mut self) -> Vec<u8> {
        let oldest = if self.sent.len() >= SENT_MAX { self.sent.pop_front() } else { None };
        oldest.and_then(|piece| piece.try_into_mut().ok()).map(Vec::from).unwrap_or_default()
    }
}

/// Reads until `piece` is full, or tells how far it came. A file that shrank while it was sent cannot be sent: the
/// connection is cut, which a client notices.
fn read(
    file: &File,
    start: u64,
    piece: &mut [u8],
    mut have: usize,
    flags: ReadWriteFlags,
) -> Result<(), (usize, Errno)> {
    while have < piece.len() {
        let rest = &mut [io::IoSliceMut::new(&mut piece[have..])];
        match rustix::io::preadv2(file, rest, start + have as u64, flags) {
            Ok(0) => return Err((have, Errno::IO)),
            Ok(more) => have += more,
            Err(Errno::INTR) => {}
            Err(errno) => return Err((have, errno)),
        }
    }
    Ok(())
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let mut waiting = match self.waiting.take() {
            Some(waiting) => waiting,
            None if self.range.is_empty() => return Poll::Ready(None),
            None => match self.next() {
                Ok(piece) => return Poll::Ready(Some(Ok(self.send(piece)))),
                Err(waiting) => waiting,
            },
        };
        let Poll::Ready(piece) = Pin::new(&mut waiting).poll(cx) else {
            self.waiting = Some(waiting);
            return Poll::Pending;
        };
        let piece = piece.map_err(io::Error::other).and_then(|piece| piece);
        Poll::Ready(Some(piece.map(|piece| self.send(piece))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

impl Pieces {
    fn send(&mut self, piece: Bytes) -> Frame<Bytes> {
        self.sent.push_back(piece.clone());
        Frame::data(piece)
    }
}
