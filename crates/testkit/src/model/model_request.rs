//! Records the requests that the model received, for tests to inspect.

use std::collections::VecDeque;

use serde_json::Value;

use super::{ModelApi, SentKey};

/// How many requests are stored, the newest ones. A long conversation has a few dozen.
const REQUESTS_MAX: usize = 512;

/// The total size of the stored requests. One request of an agent with many tools has about 200 KB.
const REQUESTS_BYTES_MAX: usize = 64 << 20;

/// A received request, without its headers and query: failing tests print requests, which must not show a key.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// The API of the request; `None` if the request does not ask for an answer, such as a list of models.
    pub api: Option<ModelApi>,
    /// The path of the request.
    pub path: String,
    /// The API keys of the request.
    pub keys: Vec<SentKey>,
    /// The body of the request; null if it is not JSON.
    pub body: Value,
    /// The HTTP status of the response.
    pub status: u16,
}

/// The newest requests, each with the size of its body.
#[derive(Debug, Default)]
pub(super) struct RequestLog {
    requests: VecDeque<(usize, ModelRequest)>,
    bytes: usize,
}

impl RequestLog {
    /// Adds a request and evicts the oldest ones. The newest one stays even if it is larger than the limit by itself.
    pub(super) fn add(&mut self, bytes: usize, request: ModelRequest) {
        self.requests.push_back((bytes, request));
        self.bytes += bytes;
        while self.requests.len() > REQUESTS_MAX
            || (self.bytes > REQUESTS_BYTES_MAX && self.requests.len() > 1)
        {
            self.bytes -= self.requests.pop_front().map_or(0, |(bytes, _)| bytes);
        }
    }

    pub(super) fn all(&self) -> Vec<ModelRequest> {
        self.requests.iter().map(|(_, request)| request.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(at: usize) -> ModelRequest {
        ModelRequest { api: None, path: at.to_string(), keys: Vec::new(), body: Value::Null, status: 200 }
    }

    #[test]
    fn only_the_newest_requests_are_kept() {
        let mut log = RequestLog::default();
        (0..REQUESTS_MAX + 3).for_each(|at| log.add(1, request(at)));
        let all = log.all();
        assert_eq!((all.len(), all[0].path.as_str()), (REQUESTS_MAX, "3"));
        log.add(REQUESTS_BYTES_MAX, request(1000));
        log.add(1, request(1001));
        assert_eq!(log.all().len(), 1);
    }
}
