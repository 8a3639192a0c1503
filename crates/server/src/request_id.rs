//! The id of a request, which stays the same across hub and daemon.

use std::time::SystemTime;

use http::{HeaderMap, HeaderName, HeaderValue};
use uuid::{Builder, fmt::Hyphenated};

/// The header with the id, in requests and responses.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");

/// The longest id that is accepted from a client.
const BYTES_MAX: usize = 128;

/// The id of a request: 1 to 128 visible ASCII characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(HeaderValue);

tokio::task_local! {
    /// The id of the request that this task handles.
    static CURRENT: RequestId;
}

impl RequestId {
    /// The id of the request that the current task handles.
    pub fn current() -> Option<Self> {
        CURRENT.try_with(Clone::clone).ok()
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        // Never empty: the id is visible ASCII.
        self.0.to_str().unwrap_or_default()
    }

    /// Adds the current id to the headers of an outgoing request, or a new one if the task handles no request.
    pub fn forward(headers: &mut HeaderMap) -> Self {
        let id = Self::current().unwrap_or_else(Self::generate);
        headers.insert(REQUEST_ID, id.0.clone());
        id
    }

    /// Takes the id from the headers of a request. If there is no valid one, generates an id and adds it to the headers.
    pub(crate) fn get_or_insert(headers: &mut HeaderMap) -> Self {
        let mut values = headers.get_all(REQUEST_ID).iter();
        if let (Some(one), None) = (values.next(), values.next())
            && (1..=BYTES_MAX).contains(&one.len())
            && one.as_bytes().iter().all(u8::is_ascii_graphic)
        {
            return Self(one.clone());
        }
        let new = Self::generate();
        headers.insert(REQUEST_ID, new.0.clone());
        new
    }

    /// A new UUIDv7. It is not a secret, so a userspace random generator suffices and saves a system call.
    fn generate() -> Self {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let mut random = [0; 10];
        fastrand::fill(&mut random);
        let id = Builder::from_unix_timestamp_millis(now.as_millis() as u64, &random).into_uuid();
        let mut text = [0; Hyphenated::LENGTH];
        let text = id.hyphenated().encode_lower(&mut text);
        Self(HeaderValue::from_str(text).unwrap_or_else(|_| unreachable!("digits and hyphens")))
    }

    /// Makes this the current id while `handler` runs.
    pub(crate) async fn scope<F: Future>(self, handler: F) -> F::Output {
        CURRENT.scope(self, handler).await
    }

    /// Adds the id to the headers of a response.
    pub(crate) fn insert_into(self, headers: &mut HeaderMap) {
        headers.insert(REQUEST_ID, self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether an id from the header values is accepted.
    fn is_accepted(given: &[&[u8]]) -> bool {
        let mut headers = HeaderMap::new();
        for one in given {
            headers.append(REQUEST_ID, HeaderValue::from_bytes(one).unwrap());
        }
        let id = RequestId::get_or_insert(&mut headers);
        assert_eq!(
            headers.get_all(REQUEST_ID).iter().collect::<Vec<_>>(),
            [&id.0],
            "the request carries the id"
        );
        given.iter().any(|one| id.0.as_bytes() == *one)
    }

    #[test]
    fn only_a_short_visible_id_is_accepted() {
        assert!(
            is_accepted(&[b"a"]) && is_accepted(&[&[b'~'; BYTES_MAX]]) && is_accepted(&[b"0198c0de-\"x\"{}"])
        );
        for rejected in [&b""[..], b"a b", b"a\tb", "ä".as_bytes(), &[b'a'; BYTES_MAX + 1]] {
            assert!(!is_accepted(&[rejected]), "{rejected:?}");
        }
        assert!(!is_accepted(&[]) && !is_accepted(&[b"one", b"two"]));
    }

    #[test]
    fn a_generated_id_is_a_uuid_v7() {
        let id = RequestId::generate();
        let uuid: uuid::Uuid = id.as_str().parse().unwrap();
        assert_eq!((uuid.get_version_num(), id == RequestId::generate()), (7, false));
    }
}
