//! Errors of requests.

use std::fmt;

use bytes::Bytes;
use protocol::{FailedAttempt, ProblemKind};
use reqwest::StatusCode;
use serde::Deserialize;

/// How much of an unexpected response is kept for the error message.
const EXCERPT_CHARS_MAX: usize = 300;

/// A request failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server responded with a problem document.
    #[error("{0}")]
    Problem(Box<ProblemDetails>),
    /// The server could not be reached, or the connection was lost.
    #[error("could not reach the server")]
    Transport(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The response is not one of a Tombolo server.
    #[error("unexpected response with status {status}: {reason}: {excerpt}")]
    Unexpected {
        /// The status of the response.
        status: u16,
        /// The reason why it is unexpected.
        reason: String,
        /// The start of its body.
        excerpt: String,
    },
    /// Reading the content to send, or writing received content, failed.
    #[error("could not {action}")]
    Local {
        /// The action, such as "read the file to upload".
        action: &'static str,
        /// The cause.
        source: std::io::Error,
    },
}

/// The result of a request.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// The kind of problem, if this is a problem document of a known kind.
    pub fn kind(&self) -> Option<ProblemKind> {
        match self {
            Error::Problem(problem) => problem.kind,
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
        // The caller knows the URL, and its query may contain private paths that should not be logged.
        Error::transport(error.without_url())
    }
}

/// A problem document from a server, which may be newer and have kinds that this client does not know.
#[derive(Debug, Clone, PartialEq)]
pub struct ProblemDetails {
    /// The kind, if it is known.
    pub kind: Option<ProblemKind>,
    /// The `type` of the problem.
    pub urn: String,
    /// A short description of the kind of problem.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// A sentence about this occurrence.
    pub detail: String,
    /// The end of the standard error of a process, if the problem is that it exited.
    pub stderr_tail: Option<String>,
    /// The failed attempts, if there were several.
    pub causes: Vec<FailedAttempt>,
    /// The id of the request, which is also in the server's log.
    pub request_id: Option<String>,
    /// The document, byte for byte.
    pub body: Bytes,
}

impl ProblemDetails {
    pub(crate) fn parse(status: StatusCode, body: Bytes) -> Result<Self> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct ProblemDocument {
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
        let document: ProblemDocument = serde_json::from_slice(&body).map_err(|error| {
            Error::unexpected(status, format!("the problem document is invalid: {error}"), &body)
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

    /// Title and detail, without the id of the request.
    pub fn sentence(&self) -> String {
        match self.detail.as_str() {
            "" => self.title.clone(),
            detail => format!("{}: {detail}", self.title),
        }
    }
}

impl fmt::Display for ProblemDetails {
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
    fn a_problem_of_an_unknown_kind_keeps_its_type() {
        let known = serde_json::to_vec(&Problem::new(ProblemKind::AgentBusy, "its queue is full")).unwrap();
        let problem = ProblemDetails::parse(StatusCode::SERVICE_UNAVAILABLE, known.clone().into()).unwrap();
        assert_eq!((problem.kind, problem.body.as_ref()), (Some(ProblemKind::AgentBusy), known.as_slice()));
        assert_eq!(problem.to_string(), "The agent does not take more at the moment: its queue is full");
        let new = r#"{"type":"urn:problem:from-the-future","title":"Too early","status":425}"#;
        let problem = ProblemDetails::parse(StatusCode::TOO_EARLY, new.into()).unwrap();
        assert_eq!((problem.kind, problem.urn.as_str()), (None, "urn:problem:from-the-future"));
        assert_eq!(problem.to_string(), "Too early");
        let named = r#"{"type":"urn:problem:agent-busy","title":"Busy","detail":"now","requestId":"r-1"}"#;
        let problem = ProblemDetails::parse(StatusCode::SERVICE_UNAVAILABLE, named.into()).unwrap();
        assert_eq!(problem.to_string(), "Busy: now (request r-1)");
    }

    #[test]
    fn an_unexpected_response_is_excerpted() {
        let error = ProblemDetails::parse(StatusCode::BAD_GATEWAY, "x".repeat(1000).into()).unwrap_err();
        let Error::Unexpected { status: 502, excerpt, .. } = error else { panic!("{error:?}") };
        assert_eq!(excerpt.len(), EXCERPT_CHARS_MAX);
    }
}
