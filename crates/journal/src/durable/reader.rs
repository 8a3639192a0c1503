//! One reader of a journal on disk.

use std::{
    fmt,
    future::{Future, poll_fn},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use super::{Error, handle::Shared, ledger, pool::Pool};
use crate::{Batch, Chunk, Cursor, Follow, Item, Seq};

type Loading = Pin<Box<dyn Future<Output = Result<Batch, Error>> + Send>>;

/// Follows a journal on disk from one position on: from the tail in memory, or from the file when it is further
/// behind. Needs a tokio runtime.
pub struct Reader {
    journal: Arc<Shared>,
    pool: Arc<Pool>,
    tail: crate::Reader,
    /// The last frame it took.
    position: Seq,
    /// It asked for what is not there, and has not been told yet.
    gap: bool,
    /// A page on its way. It stays when a read is given up, so the next read goes on with it.
    loading: Option<Loading>,
}

impl Reader {
    pub(super) fn new(journal: Arc<Shared>, pool: Arc<Pool>, position: Seq, gap: bool) -> Reader {
        let tail = journal.tail.reader_at(position);
        Reader { journal, pool, tail, position, gap, loading: None }
    }

    /// The next item; `None` when the journal is sealed and everything was read.
    ///
    /// # Errors
    /// [`Error::Read`], after which it may be asked again; [`Error::Deleted`]; [`Error::Missing`]; [`Error::Died`].
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Item>, Error>> {
        loop {
            if let Some(loading) = &mut self.loading {
                let page = ready!(loading.as_mut().poll(cx));
                self.loading = None;
                return Poll::Ready(self.turn_to(page?).map(Some));
            }
            if self.gap {
                return Poll::Ready(Ok(Some(self.tell_gap())));
            }
            match ready!(self.tail.poll_next(cx)) {
                None => return Poll::Ready(Ok(None)),
                Some(Item::Frames(chunk)) => return Poll::Ready(Ok(Some(self.take(chunk)))),
                // It is not in the tail; that says nothing yet about the file.
                Some(Item::Gap(_)) => {
                    let bounds = self.journal.bounds();
                    self.tail.seek(self.position);
                    self.gap = self.position.next() < bounds.oldest;
                    self.loading = (!self.gap).then(|| self.load(bounds.newest));
                }
            }
        }
    }

    /// The next item, waiting for it; `None` when the journal is sealed and everything was read. Cancel safe.
    ///
    /// # Errors
    /// As [`Reader::poll_next`].
    pub async fn next(&mut self) -> Result<Option<Item>, Error> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// The position of the last frame it took, to go on from later.
    pub fn cursor(&self) -> Cursor {
        self.journal.tail.cursor(self.position)
    }

    fn load(&self, newest: Seq) -> Loading {
        let (id, position, pool) = (self.journal.id, self.position, Arc::clone(&self.pool));
        Box::pin(pool.run(move |conn| ledger::page(conn, id, position, newest)))
    }

    /// The page, or why it does not begin with the next frame: that was removed while the page was read.
    fn turn_to(&mut self, page: Batch) -> Result<Item, Error> {
        if !page.is_empty() && page.first() == self.position.next() {
            let item = self.take(Chunk::after(self.position, Arc::new(page)));
            self.tail.seek(self.position);
            return Ok(item);
        }
        // Rows go only after the bounds or the flag were there to see, so one of them says why.
        if self.position.next() < self.journal.bounds().oldest {
            return Ok(self.tell_gap());
        }
        match self.journal.is_deleted() {
            true => Err(Error::Deleted),
            false => Err(Error::Missing(self.position.next())),
        }
    }

    fn take(&mut self, chunk: Chunk) -> Item {
        self.position = chunk.last();
        Item::Frames(chunk)
    }

    fn tell_gap(&mut self) -> Item {
        let gap = self.journal.bounds().gap();
        self.gap = false;
        self.position = gap.oldest.before();
        self.tail.seek(self.position);
        Item::Gap(gap)
    }
}

impl Follow for Reader {
    type Error = Error;

    async fn next(&mut self) -> Result<Option<Item>, Error> {
        Reader::next(self).await
    }

    fn cursor(&self) -> Cursor {
        Reader::cursor(self)
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("position", &self.position)
            .field("gap", &self.gap)
            .finish_non_exhaustive()
    }
}
