//! One reader of a journal on disk.

use std::{
    fmt,
    future::{Future, poll_fn},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use super::{Error, event_rows, journal::JournalView, read_pool::ReadPool};
use crate::{Cursor, FrameBatch, FrameChunk, JournalItem, RingReader, Seq, start_position::ResolvedStart};

type PageFuture = Pin<Box<dyn Future<Output = Result<FrameBatch, Error>> + Send>>;

/// Follows a journal on disk from one position on. It reads from the tail in memory, or from the file when it is further
/// behind. It needs a tokio runtime.
pub struct DurableReader {
    journal: Arc<JournalView>,
    pool: Arc<ReadPool>,
    tail: RingReader,
    /// The last frame that it returned.
    position: Seq,
    /// The requested frames are not available, and the gap was not reported yet.
    gap_pending: bool,
    /// A page that is being loaded. It survives a cancelled read; the next read continues with it.
    loading: Option<PageFuture>,
}

impl DurableReader {
    pub(super) fn new(journal: Arc<JournalView>, pool: Arc<ReadPool>, start: ResolvedStart) -> DurableReader {
        let tail = journal.tail.reader_at(start.position);
        DurableReader {
            journal,
            pool,
            tail,
            position: start.position,
            gap_pending: start.gap_pending,
            loading: None,
        }
    }

    /// The next item; `None` when the journal is sealed and everything was read.
    ///
    /// # Errors
    /// [`Error::Read`], after which the caller may poll again; [`Error::Deleted`]; [`Error::Missing`]; [`Error::Died`].
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<JournalItem>, Error>> {
        loop {
            if let Some(loading) = &mut self.loading {
                let page = ready!(loading.as_mut().poll(cx));
                self.loading = None;
                return Poll::Ready(self.accept_page(page?).map(Some));
            }
            if self.gap_pending {
                return Poll::Ready(Ok(Some(self.report_gap())));
            }
            match ready!(self.tail.poll_next(cx)) {
                None => return Poll::Ready(Ok(None)),
                Some(JournalItem::Frames(chunk)) => return Poll::Ready(Ok(Some(self.advance(chunk)))),
                // The frames have left the tail, but the file may still have them. The tail's reader has skipped
                // ahead, so move it back: if the page ends before the tail begins, the next poll gets here again.
                Some(JournalItem::Gap(_)) => {
                    let bounds = self.journal.bounds();
                    self.tail.seek(self.position);
                    self.gap_pending = self.position.next() < bounds.oldest;
                    self.loading = (!self.gap_pending).then(|| self.load_page(bounds.newest));
                }
            }
        }
    }

    /// Waits for the next item; `None` when the journal is sealed and everything was read. Cancel safe.
    ///
    /// # Errors
    /// As [`DurableReader::poll_next`].
    pub async fn next(&mut self) -> Result<Option<JournalItem>, Error> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// The position of the last frame that this reader returned, to continue from later.
    pub fn cursor(&self) -> Cursor {
        self.journal.tail.cursor(self.position)
    }

    fn load_page(&self, newest: Seq) -> PageFuture {
        let journal = self.journal.id;
        let position = self.position;
        let pool = Arc::clone(&self.pool);
        Box::pin(pool.run(move |conn| event_rows::load_page(conn, journal, position, newest)))
    }

    /// Returns the page. If it does not start with the next frame, that frame was removed while the page was loaded.
    fn accept_page(&mut self, page: FrameBatch) -> Result<JournalItem, Error> {
        if !page.is_empty() && page.first() == self.position.next() {
            let item = self.advance(FrameChunk::after(self.position, Arc::new(page)));
            self.tail.seek(self.position);
            return Ok(item);
        }
        // The writer publishes new bounds, or sets the deleted flag, before it removes the first row. So a row that is
        // missing for a legitimate reason is explained by one of the two.
        if self.position.next() < self.journal.bounds().oldest {
            return Ok(self.report_gap());
        }
        if self.journal.is_deleted() {
            Err(Error::Deleted)
        } else {
            Err(Error::Missing(self.position.next()))
        }
    }

    fn advance(&mut self, chunk: FrameChunk) -> JournalItem {
        self.position = chunk.last();
        JournalItem::Frames(chunk)
    }

    fn report_gap(&mut self) -> JournalItem {
        let gap = self.journal.bounds().gap();
        self.gap_pending = false;
        self.position = gap.oldest.before();
        self.tail.seek(self.position);
        JournalItem::Gap(gap)
    }
}

impl fmt::Debug for DurableReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DurableReader")
            .field("position", &self.position)
            .field("gap_pending", &self.gap_pending)
            .finish_non_exhaustive()
    }
}
