//! Where a search continues.

use std::{fmt, str::FromStr};

use jiff::Timestamp;
use protocol::{SessionId, sessions::Session};

/// The last thing that a page of a search has read: a session, and one of its messages. It stays valid when the session is used or
/// deleted, because sessions are searched in the order of their creation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchCursor {
    created_at: Timestamp,
    session_id: SessionId,
    /// The key of the message; empty if none was read, only the title.
    message_key: String,
}

/// A text is not the `nextCursor` of a page.
#[derive(Debug, thiserror::Error)]
#[error("`cursor` must be the `nextCursor` of a page")]
pub struct InvalidSearchCursor;

impl SearchCursor {
    pub(super) fn new(session: &Session, message_key: String) -> Self {
        Self { created_at: session.created_at, session_id: session.id.clone(), message_key }
    }

    /// Where to continue in this session: at its title, after the message with a key, or not at all if it was searched.
    pub(super) fn resume_in(cursor: Option<&Self>, session: &Session) -> Resume {
        let Some(cursor) = cursor else { return Resume::Title };
        match order(session.created_at, &session.id).cmp(&order(cursor.created_at, &cursor.session_id)) {
            std::cmp::Ordering::Less => Resume::Searched,
            std::cmp::Ordering::Equal => Resume::After(cursor.message_key.clone()),
            std::cmp::Ordering::Greater => Resume::Title,
        }
    }
}

/// Where to continue in one session.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Resume {
    Searched,
    Title,
    After(String),
}

/// The order in which sessions are searched: the most recently created first.
pub(super) fn order(created_at: Timestamp, id: &SessionId) -> (std::cmp::Reverse<Timestamp>, &SessionId) {
    (std::cmp::Reverse(created_at), id)
}

impl fmt::Display for SearchCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.created_at.as_nanosecond(), self.message_key, self.session_id)
    }
}

impl FromStr for SearchCursor {
    type Err = InvalidSearchCursor;

    fn from_str(text: &str) -> Result<Self, InvalidSearchCursor> {
        // The id of a session may contain dots, so it is the last.
        let mut pieces = text.splitn(3, '.');
        let mut piece = || pieces.next().ok_or(InvalidSearchCursor);
        let (created_at, message_key, session_id) = (piece()?, piece()?, piece()?);
        let created_at = created_at.parse().map_err(|_| InvalidSearchCursor)?;
        if !message_key.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(InvalidSearchCursor);
        }
        Ok(Self {
            created_at: Timestamp::from_nanosecond(created_at).map_err(|_| InvalidSearchCursor)?,
            session_id: session_id.parse().map_err(|_| InvalidSearchCursor)?,
            message_key: message_key.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_survives_the_wire() {
        for message_key in ["", "000000000012"] {
            let cursor = SearchCursor {
                created_at: "2026-01-31T08:00:00.123456789Z".parse().unwrap(),
                session_id: "a.b-c".parse().unwrap(),
                message_key: message_key.into(),
            };
            assert_eq!(cursor.to_string().parse::<SearchCursor>().unwrap(), cursor);
        }
        for invalid in
            ["", "1", "1.2", "x.1.s", "1.x.s", "1.1.", "99999999999999999999999999999999999999.1.s"]
        {
            assert!(invalid.parse::<SearchCursor>().is_err(), "{invalid}");
        }
    }
}
