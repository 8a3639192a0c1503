//! A page of events.

use bytes::BytesMut;
use journal::{
    JournalItem, Seq, StartPosition,
    durable::{self, DurableJournal},
};

use crate::frame;

/// The size at which a page ends early.
const PAGE_BYTES_MAX: usize = 4 << 20;

/// Why a page cannot be read.
pub(crate) enum EventPageError {
    Storage(durable::Error),
    Cursor,
}

/// The events after `offset`, as a JSON array, and whether more are available.
pub(crate) async fn event_page(
    journal: &DurableJournal,
    offset: u64,
    limit: usize,
    include_raw: bool,
) -> Result<(BytesMut, bool), EventPageError> {
    let newest = journal.bounds().newest;
    let (mut json, mut count, mut at) = (BytesMut::from(&b"["[..]), 0, Seq::new(offset));
    if at < newest {
        let mut reader = journal.reader(StartPosition::Resume(at)).map_err(|_| EventPageError::Cursor)?;
        'pages: while at < newest {
            let Some(JournalItem::Frames(chunk)) = reader.next().await.map_err(EventPageError::Storage)?
            else {
                break;
            };
            for (seq, bytes) in chunk.frames() {
                if count == limit || json.len() > PAGE_BYTES_MAX {
                    break 'pages;
                }
                if count > 0 {
                    json.extend_from_slice(b",");
                }
                frame::render(seq.get(), &bytes, include_raw, &mut json);
                (count, at) = (count + 1, seq);
            }
        }
    }
    json.extend_from_slice(b"]");
    Ok((json, at < newest))
}
