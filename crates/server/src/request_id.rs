//! The name of a request, the same at every hop.

use std::time::SystemTime;

use http::{HeaderMap, HeaderName, HeaderValue};
use uuid::{Builder, fmt::Hyphenated};

/// The header that holds it, in requests and answers.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");

/// The longest that is taken from a request.
const BYTES_MAX: usize = 128;

/// The name of a request: visible ASCII, and not long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(HeaderValue);

tokio::task_local! {
    /// That of the request which is being answered.
    static CURRENT: RequestId;
}

impl RequestId {
    /// That of the request which is being answered by this task.
    pub fn current() -> Option<Self> {
        CURRENT.try_with(Clone::clone).ok()
    }

    /// The name itself.
    pub fn as_str(&self) -> &str {
        // It is visible ASCII, so it always is a text.
        self.0.to_str().unwrap_or_default()
    }

    /// Has a request that is made on the way carry it; one that belongs to no other gets a new one.
    pub fn pass_on(headers: &mut HeaderMap) -> Self {
        let id = Self::current().unwrap_or_else(Self::mint);
        headers.insert(REQUEST_ID, id.0.clone());
        id
    }

    /// As the request says it; if it says none, or none that can be used, a new one that it carries from now on.
    pub(crate) fn settle(headers: &mut HeaderMap) -> Self {
        let mut given = headers.get_all(REQUEST_ID).iter();
        if let (Some(one), None) = (given.next(), given.next())
            && (1..=BYTES_MAX).contains(&one.len())
            && one.as_bytes().iter().all(u8::is_ascii_graphic)
        {
            return Self(one.clone());
        }
        let new = Self::mint();
        headers.insert(REQUEST_ID, new.0.clone());
        new
    }

    /// A new one, a UUIDv7. It is no secret, so it is made without asking the system for chance.
    fn mint() -> Self {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let mut chance = [0; 10];
        fastrand::fill(&mut chance);
        let id = Builder::from_unix_timestamp_millis(now.as_millis() as u64, &chance).into_uuid();
        let mut text = [0; Hyphenated::LENGTH];
        let text = id.hyphenated().encode_lower(&mut text);
        Self(HeaderValue::from_str(text).unwrap_or_else(|_| unreachable!("digits and hyphens")))
    }

    /// Makes it that of the request which `answering` answers.
    pub(crate) async fn during<F: Future>(self, answering: F) -> F::Output {
        CURRENT.scope(self, answering).await
    }

    /// Puts it on an answer.
    pub(crate) fn put(self, headers: &mut HeaderMap) {
        headers.insert(REQUEST_ID, self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether what was given is taken.
    fn taken(given: &[&[u8]]) -> bool {
        let mut headers = HeaderMap::new();
        for one in given {
            headers.append(REQUEST_ID, HeaderValue::from_bytes(one).unwrap());
        }
        let id = RequestId::settle(&mut headers);
        assert_eq!(headers.get_all(REQUEST_ID).iter().collect::<Vec<_>>(), [&id.0], "it is passed on");
        given.iter().any(|one| id.0.as_bytes() == *one)
    }

    #[test]
    fn only_a_short_visible_name_is_taken() {
        assert!(taken(&[b"a"]) && taken(&[&[b'~'; BYTES_MAX]]) && taken(&[b"0198c0de-\"x\"{}"]));
        for refused in [&b""[..], b"a b", b"a\tb", "ä".as_bytes(), &[b'a'; BYTES_MAX + 1]] {
            assert!(!taken(&[refused]), "{refused:?}");
        }
        assert!(!taken(&[]) && !taken(&[b"one", b"two"]));
    }

    #[test]
    fn a_new_one_is_a_uuid_by_time() {
        let id = RequestId::mint();
        let uuid: uuid::Uuid = id.as_str().parse().unwrap();
        assert_eq!((uuid.get_version_num(), id == RequestId::mint()), (7, false));
    }
}
