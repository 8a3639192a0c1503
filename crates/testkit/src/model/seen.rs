//! Records the requests that the model received, for tests to inspect.

use std::collections::VecDeque;

use serde_json::Value;

use super::Dialect;

/// How many requests are stored, the newest ones. A long conversation has a few dozen.
const REQUESTS_MAX: usize = 512;

/// The total size of the stored requests. One request of an agent with many tools has about 200 KB.
const REQUESTS_BYTES_MAX: usize = 64 << 20;

/// A received request, without its headers and query: they contain the API key, and failing tests print requests.
#[derive(Debug, Clone)]
pub struct Seen {
    /// The API of the request; `None` if the request does not ask for an answer, such as a list of models.
    pub dialect: Option<Dialect>,
    /// The path of the request.
    pub path: String,
    /// The body of the request; null if it is not JSON.
    pub body: Value,
    /// The HTTP status of the response.
    pub status: u16,
}

/// The newest requests, each with the size of its body.
#[derive(Debug, Default)]
pub(super) struct Log {
    requests: VecDeque<(usize, Seen)>,
    bytes: usize,
}

impl Log {
    /// Adds a request and evicts the oldest ones. The newest one stays even if it is larger than the limit by itself.
    pub(super) fn add(&mut self, bytes: usize, seen: Seen) {
        self.requests.push_back((bytes, seen));
        self.bytes += bytes;
        while self.requests.len() > REQUESTS_MAX
            || (self.bytes > REQUESTS_BYTES_MAX && self.requests.len() > 1)
        {
            self.bytes -= self.requests.pop_front().map_or(0, |(bytes, _)| bytes);
        }
    }

    pub(super) fn all(&self) -> Vec<Seen> {
        self.requests.iter().map(|(_, seen)| seen.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(at: usize) -> Seen {
        Seen { dialect: None, path: at.to_string(), body: Value::Null, status: 200 }
    }

    #[test]
    fn only_the_newest_requests_are_kept() {
        let mut log = Log::default();
        (0..REQUESTS_MAX + 3).for_each(|at| log.add(1, seen(at)));
        let all = log.all();
        assert_eq!((all.len(), all[0].path.as_str()), (REQUESTS_MAX, "3"));
        log.add(REQUESTS_BYTES_MAX, seen(1000));
        log.add(1, seen(1001));
        assert_eq!(log.all().len(), 1);
    }
}
