//! What can go wrong between us and a server.

use std::fmt;

use bytes::Bytes;
use protocol::{FailedAttempt, ProblemKind};
use reqwest::StatusCode;
use serde::Deserialize;

/// The most of an answer that is kept to show what it was.
const EXCERPT_CHARS_MAX: usize = 300;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server said no, and why.
    #[error("{0}")]
    Problem(Box<Refusal>),
    /// The server could not be reached, or the connection was lost.
    #[error("could not reach the server")]
    Transport(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Something answered, but not as a server of ours does.
    #[error("the answer was not understood: {reason} (status {status}): {excerpt}")]
    Unexpected {
        /// The status of the answer.
        status: u16,
        /// What is wrong with it.
        reason: String,
        /// How its body starts.
        excerpt: String,
    },
    /// What was to be sent could not be read, or what came could not be written.
    #[error("could not {doing}")]
    Local {
        /// What was being done.
        doing: &'static str,
        /// Why it failed.
        source: std::io::Error,
    },
}

/// The answer, or why there is none.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// The kind of problem, if the server said one that we know.
    pub fn kind(&self) -> Option<ProblemKind> {
        match self {
            Error::Problem(refusal) => refusal.kind,
            _ => None,
        }
    }

    pub(crate) fn transport(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Error::Transport(error.into())
    }

    pub(crate) fn unexpected(status: StatusCode, reason: impl Into<String>, body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        let excerpt = text.chars().take(EXCERPT_CHARS_MAX).collect();
        Error::Unexpected { status: status.as_u16(), reason: reason.into(), excerpt }
    }
}

impl From<reqwest::Error> for Error {
    fn from(error: reqwest::Error) -> Self {
        // The address is known to whoever asked, and a query may hold paths that are nobody else's business.
        Error::transport(error.without_url())
    }
}

/// A problem document as it came. A newer server may have kinds that we do not know.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// What went wrong, if it is a kind that we know.
    pub kind: Option<ProblemKind>,
    /// What went wrong, as the server names it.
    pub urn: String,
    /// What went wrong, for people.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What went wrong this time.
    pub detail: String,
    /// The last words of a process that ended, where that is the problem.
    pub stderr_tail: Option<String>,
    /// What was tried and why it failed, where several things were.
    pub causes: Vec<FailedAttempt>,
    /// The id of the request, which the server's log has too.
    pub request_id: Option<String>,
    /// The document, byte for byte.
    pub body: Bytes,
}

impl Refusal {
    pub(crate) fn parse(status: StatusCode, body: Bytes) -> Result<Self> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Document {
            #[serde(rename = "type", default = "about_blank")]
            urn: String,
            title: Option<String>,
            detail: Option<String>,
            stderr_tail: Option<String>,
            #[serde(default)]
            causes: Vec<FailedAttempt>,
            request_id: Option<String>,
        }
        fn about_blank() -> String {
            "about:blank".into()
        }
        let document: Document = serde_json::from_slice(&body).map_err(|error| {
            Error::unexpected(status, format!("the problem cannot be read: {error}"), &body)
        })?;
        let reason = status.canonical_reason().unwrap_or("unknown status");
        Ok(Self {
            kind: ProblemKind::ALL.iter().copied().find(|kind| kind.urn() == document.urn),
            urn: document.urn,
            title: document.title.unwrap_or_else(|| reason.into()),
            status: status.as_u16(),
            detail: document.detail.unwrap_or_default(),
            stderr_tail: document.stderr_tail,
            causes: document.causes,
            request_id: document.request_id,
            body,
        })
    }

    /// What went wrong, in a sentence, without the id of the request.
    pub fn sentence(&self) -> String {
        match self.detail.as_str() {
            "" => self.title.clone(),
            detail => format!("{}: {detail}", self.title),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence())?;
        match &self.request_id {
            Some(id) => write!(f, " (request {id})"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use protocol::Problem;

    use super::*;

    #[test]
    fn a_known_problem_has_its_kind_and_a_new_one_its_name() {
        let known = serde_json::to_vec(&Problem::new(ProblemKind::AgentBusy, "its queue is full")).unwrap();
        let refusal = Refusal::parse(StatusCode::SERVICE_UNAVAILABLE, known.clone().into()).unwrap();
        assert_eq!((refusal.kind, refusal.body.as_ref()), (Some(ProblemKind::AgentBusy), known.as_slice()));
        assert_eq!(refusal.to_string(), "The agent does not take more at the moment: its queue is full");
        let new = r#"{"type":"urn:problem:from-the-future","title":"Too early","status":425}"#;
        let refusal = Refusal::parse(StatusCode::TOO_EARLY, new.into()).unwrap();
        assert_eq!((refusal.kind, refusal.urn.as_str()), (None, "urn:problem:from-the-future"));
        assert_eq!(refusal.to_string(), "Too early");
        let named = r#"{"type":"urn:problem:agent-busy","title":"Busy","detail":"now","requestId":"r-1"}"#;
        let refusal = Refusal::parse(StatusCode::SERVICE_UNAVAILABLE, named.into()).unwrap();
        assert_eq!(refusal.to_string(), "Busy: now (request r-1)");
    }

    #[test]
    fn what_is_no_problem_document_is_shown_in_part() {
        let error = Refusal::parse(StatusCode::BAD_GATEWAY, "x".repeat(1000).into()).unwrap_err();
        let Error::Unexpected { status: 502, excerpt, .. } = error else { panic!("{error:?}") };
        assert_eq!(excerpt.len(), EXCERPT_CHARS_MAX);
    }
}
