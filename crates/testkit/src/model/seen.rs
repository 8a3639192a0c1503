//! What the model was asked.

use std::collections::VecDeque;

use serde_json::Value;

use super::Dialect;

/// The most requests that are kept, the newest; a long conversation has some dozens.
const REQUESTS_MAX: usize = 512;

/// The most bytes of them; one request of an agent with many tools has 200 KB.
const REQUESTS_BYTES_MAX: usize = 64 << 20;

/// One request. Its headers and the query of its address are not kept: keys are in them.
#[derive(Debug, Clone)]
pub struct Seen {
    /// The API it was made through; none for what is not about an answer.
    pub dialect: Option<Dialect>,
    /// Where it went.
    pub path: String,
    /// What it said.
    pub body: Value,
    /// The HTTP status of the answer.
    pub status: u16,
}

/// The newest requests.
#[derive(Debug, Default)]
pub(super) struct Log {
    requests: VecDeque<(usize, Seen)>,
    bytes: usize,
}

impl Log {
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
