//! Finds text in the titles and messages of all sessions.
//!
//! There is no index: the stored messages are read, a limited amount per page.

mod search_cursor;
mod text_query;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use protocol::{
    Message,
    message::PartContent,
    search::{SearchHit, SearchPage},
    sessions::{Session, SessionState},
};

pub use search_cursor::{InvalidSearchCursor, SearchCursor};
use search_cursor::{Resume, order};
pub use text_query::TextQuery;

use crate::{
    Error, Sessions, session_entry::SessionEntry, stored_session::MESSAGE, worker_command::WorkerCommand,
};

/// The largest page of hits.
pub const SEARCH_HITS_MAX: usize = 100;

/// How many searches run at once. Others wait, so that searches leave the processor to the agents.
pub(crate) const SEARCHES_MAX: usize = 2;

/// How long a search waits for others.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// How much of the stored messages a page reads, …
const PAGE_BYTES_MAX: usize = 16 << 20;
/// … of how many sessions, …
const PAGE_SESSIONS_MAX: usize = 500;
/// … and how many messages at a time, which are in memory together.
const BATCH_MESSAGES: u32 = 32;

impl Sessions {
    /// A page of the titles and messages that contain the text.
    ///
    /// # Errors
    /// If the store cannot be read, or too many searches run.
    pub async fn search(
        &self,
        query: &TextQuery,
        cursor: Option<&SearchCursor>,
        limit: usize,
    ) -> Result<SearchPage, Error> {
        let running = tokio::time::timeout(WAIT_MAX, self.searches().acquire()).await;
        let Ok(Ok(_running)) = running else { return Err(Error::TooManySearches(SEARCHES_MAX)) };
        let mut sessions = self.entries().await?;
        sessions.sort_by(|(a, _), (b, _)| order(a.created_at, &a.id).cmp(&order(b.created_at, &b.id)));
        let mut page = PageInProgress { items: Vec::new(), limit, bytes_left: PAGE_BYTES_MAX };
        let mut searched = 0;
        for (session, entry) in &sessions {
            let after = match SearchCursor::resume_in(cursor, session) {
                Resume::Searched => continue,
                Resume::After(key) => key,
                Resume::Title => {
                    page.items.extend(title_hit(query, session));
                    String::new()
                }
            };
            searched += 1;
            let (last, is_whole) = self.search_messages(query, session, entry, after, &mut page).await?;
            if !is_whole || page.is_full() || searched == PAGE_SESSIONS_MAX {
                let next_cursor = Some(SearchCursor::new(session, last).to_string());
                return Ok(SearchPage { items: page.items, next_cursor });
            }
        }
        Ok(SearchPage { items: page.items, next_cursor: None })
    }

    /// Adds the hits among the messages of one session. Returns the key of the last message that was read, and whether it is the
    /// last one of the session.
    async fn search_messages(
        &self,
        query: &TextQuery,
        session: &Session,
        entry: &Arc<SessionEntry>,
        mut after: String,
        page: &mut PageInProgress,
    ) -> Result<(String, bool), Error> {
        if matches!(session.state, SessionState::Running | SessionState::Waiting) {
            // The messages of a running turn are in memory. A session that is being deleted has no messages to find.
            if self.send_command(entry, WorkerCommand::StoreTranscript).await.is_err() {
                return Ok((after, true));
            }
        }
        let Some(handle) = entry.handle.get() else { return Ok((after, true)) };
        while !page.is_full() {
            let stored = handle.journal.records(MESSAGE, after.clone(), BATCH_MESSAGES).await?;
            if stored.is_empty() {
                return Ok((after, true));
            }
            page.bytes_left =
                page.bytes_left.saturating_sub(stored.iter().map(|(_, value)| value.len()).sum());
            let (query, room) = (query.clone(), page.limit - page.items.len());
            let found = tokio::task::spawn_blocking(move || find_messages(&query, stored, room)).await;
            let (last, messages) = found.map_err(|_| Error::Damaged(session.id.clone()))?;
            page.items.extend(messages.into_iter().map(|(message, snippet)| SearchHit {
                message_id: Some(message.id),
                role: Some(message.role),
                created_at: message.created_at,
                snippet,
                ..session_hit(session)
            }));
            after = last;
        }
        Ok((after, false))
    }
}

/// The page that is being filled.
struct PageInProgress {
    items: Vec<SearchHit>,
    limit: usize,
    bytes_left: usize,
}

impl PageInProgress {
    fn is_full(&self) -> bool {
        self.items.len() >= self.limit || self.bytes_left == 0
    }
}

/// The messages that contain the text, at most `room`, and the key of the last one that was read.
fn find_messages(
    query: &TextQuery,
    stored: Vec<(String, Bytes)>,
    room: usize,
) -> (String, Vec<(Message, String)>) {
    let (mut last, mut found) = (String::new(), Vec::new());
    for (key, value) in stored {
        last = key;
        // A message of another version that cannot be parsed is not in the transcript either.
        let Ok(message) = serde_json::from_slice::<Message>(&value) else { continue };
        let snippet = texts(&message).find_map(|text| query.snippet(text));
        found.extend(snippet.map(|snippet| (message, snippet)));
        if found.len() == room {
            break;
        }
    }
    (last, found)
}

fn texts(message: &Message) -> impl Iterator<Item = &str> {
    message.parts.iter().filter_map(|part| match &part.content {
        PartContent::Text { text } => Some(text.as_str()),
        _ => None,
    })
}

fn title_hit(query: &TextQuery, session: &Session) -> Option<SearchHit> {
    let snippet = query.snippet(session.title.as_deref()?)?;
    Some(SearchHit { created_at: Some(session.created_at), snippet, ..session_hit(session) })
}

fn session_hit(session: &Session) -> SearchHit {
    SearchHit {
        session_id: session.id.clone(),
        agent: session.agent.clone(),
        title: session.title.clone(),
        message_id: None,
        role: None,
        created_at: None,
        snippet: String::new(),
    }
}
