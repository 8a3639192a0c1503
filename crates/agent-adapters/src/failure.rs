//! Errors and warnings that several adapters report.

use protocol::sessions::AgentError;

use crate::Fact;

/// A warning that the agent works without an MCP server.
pub(crate) fn mcp_unavailable(server: &str, message: impl Into<String>) -> Fact {
    Fact::Warning(AgentError::McpUnavailable { server: server.into(), message: message.into() })
}

/// An option that the agent does not have.
pub(crate) fn unsupported(feature: &str, message: impl Into<String>) -> AgentError {
    AgentError::Unsupported { feature: feature.into(), message: message.into() }
}

/// Whether an agent failed because its key is missing, wrong or spent.
pub(crate) fn is_token_error(status: Option<u16>, message: &str) -> bool {
    const SIGNS: [&str; 7] = [
        "authentication_error",
        "authentication required",
        "invalid api key",
        "invalid_api_key",
        "not logged in",
        "please run /login",
        "unauthorized",
    ];
    let lower = message.to_ascii_lowercase();
    matches!(status.or_else(|| status_in(message)), Some(401 | 403))
        || SIGNS.iter().any(|sign| lower.contains(sign))
}

/// The HTTP status that a message contains, for agents that report it in no other way: a number from 400 to 599 by itself.
pub(crate) fn status_in(message: &str) -> Option<u16> {
    let numbers = message.split(|letter: char| !letter.is_ascii_alphanumeric());
    let mut statuses = numbers.filter(|word| word.len() == 3).filter_map(|word| word.parse::<u16>().ok());
    statuses.find(|status| (400..600).contains(status))
}
