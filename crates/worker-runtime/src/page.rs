//! A page of events.

use bytes::BytesMut;
use journal::{
    JournalItem, Seq, StartPosition,
    durable::{self, DurableJournal},
};

use crate::frame;

/// How large a page gets before it ends early.
const BYTES_MAX: usize = 4 << 20;

/// Why there is no page.
pub(crate) enum PageError {
    Storage(durable::Error),
    Cursor,
}

/// The events after `offset`, as a JSON array, and whether there are more.
pub(crate) async fn page(
    journal: &DurableJournal,
    offset: u64,
    limit: usize,
    include_raw: bool,
) -> Result<(BytesMut, bool), PageError> {
    let newest = journal.bounds().newest;
    let (mut json, mut count, mut at) = (BytesMut::from(&b"["[..]), 0, Seq::new(offset));
    if at < newest {
        let mut reader = journal.reader(StartPosition::Resume(at)).map_err(|_| PageError::Cursor)?;
        'pages: while at < newest {
            let Some(JournalItem::Frames(chunk)) = reader.next().await.map_err(PageError::Storage)? else {
                break;
            };
            for (seq, bytes) in chunk.frames() {
                if count == limit || json.len() > BYTES_MAX {
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
