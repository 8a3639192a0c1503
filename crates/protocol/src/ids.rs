//! Identities: parsed once at the edge; from there on a wrong id does not compile.

use std::{fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// The text is not a valid id of this kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} must be {rule}")]
pub struct InvalidId {
    what: &'static str,
    rule: &'static str,
}

impl InvalidId {
    pub(crate) fn new(what: &'static str, rule: &'static str) -> Self {
        Self { what, rule }
    }
}

/// Declares ids that the caller chooses: validated string newtypes.
macro_rules! chosen_ids {
    ($($(#[$doc:meta])* $name:ident = $what:literal, $max:literal, $pattern:literal, $rule:literal, $valid:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Box<str>);

        impl $name {
            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::InvalidId;

            fn from_str(text: &str) -> Result<Self, $crate::InvalidId> {
                let valid: fn(&str) -> bool = $valid;
                if text.is_empty() || text.len() > $max || !valid(text) {
                    return Err($crate::InvalidId::new($what, $rule));
                }
                Ok(Self(text.into()))
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "minLength": 1, "maxLength": $max, "pattern": $pattern })
            }
        }

        $crate::ids::text_conversions!($name);
    )*};
}

/// Declares ids that we mint: `prefix_` and a UUIDv7, so they sort by birth.
macro_rules! minted_ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal, $pattern:literal, $rule:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(uuid::Uuid);

        impl $name {
            /// A new id, later than all before it.
            pub fn mint() -> Self {
                Self(uuid::Uuid::now_v7())
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                let invalid = InvalidId { what: stringify!($name), rule: $rule };
                let Some(hex) = text.strip_prefix(concat!($prefix, "_")) else { return Err(invalid) };
                // Only the form that `Display` writes: one id, one spelling.
                if hex.len() != 32 || hex.bytes().any(|byte| !matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
                    return Err(invalid);
                }
                uuid::Uuid::try_parse(hex).map(Self).map_err(|_| invalid)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "_{}"), self.0.simple())
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.to_string()
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidId;

            fn try_from(text: String) -> Result<Self, InvalidId> {
                text.parse()
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "pattern": $pattern })
            }
        }
    )*};
}

macro_rules! text_conversions {
    ($name:ident) => {
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0.into()
            }
        }

        impl TryFrom<String> for $name {
            type Error = $crate::InvalidId;

            fn try_from(text: String) -> Result<Self, $crate::InvalidId> {
                text.parse()
            }
        }
    };
}

pub(crate) use {chosen_ids, text_conversions};

chosen_ids! {
    /// The id of an ACP instance (`/v1/acp/{server_id}`), chosen by the client.
    ServerId = "server_id", 128, "^(?!\\.{1,2}$)[A-Za-z0-9._-]{1,128}$",
        "1 to 128 of the characters A-Z a-z 0-9 . _ - and neither `.` nor `..`",
        |text| !matches!(text, "." | "..")
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
    /// The id of a session (`/v1/sessions/{id}`), chosen by the client.
    SessionId = "session id", 128, "^(?!\\.{1,2}$)[A-Za-z0-9._-]{1,128}$",
        "1 to 128 of the characters A-Z a-z 0-9 . _ - and neither `.` nor `..`",
        |text| !matches!(text, "." | "..")
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
    /// The id of a daemon on a hub, chosen by its owner.
    RuntimeId = "runtime id", 128, "^(?!\\.{1,2}$)[A-Za-z0-9._-]{1,128}$",
        "1 to 128 of the characters A-Z a-z 0-9 . _ - and neither `.` nor `..`",
        |text| !matches!(text, "." | "..")
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
    /// The name of a user of a hub.
    UserName = "user", 64, "^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$",
        "1 to 64 of the characters A-Z a-z 0-9 . _ @ - starting with a letter or digit",
        |text| text.as_bytes()[0].is_ascii_alphanumeric()
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'@' | b'-'));
    /// The name of a workspace: users, runtimes and devices that are shared.
    WorkspaceName = "workspace", 64, "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
        "1 to 64 of the characters A-Z a-z 0-9 . _ - starting with a letter or digit",
        |text| text.as_bytes()[0].is_ascii_alphanumeric()
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
    /// The name that a user gave to a token, such as `laptop`.
    TokenName = "the name of a token", 64, "^[^\\x00-\\x1f\\x7f]{1,64}$",
        "1 to 64 bytes without control characters",
        |text| !text.bytes().any(|b| b.is_ascii_control());
    /// The person or program behind an input or an answer.
    Author = "author", 128, "^[^\\x00-\\x1f\\x7f]{1,128}$",
        "1 to 128 bytes without control characters",
        |text| !text.bytes().any(|b| b.is_ascii_control());
    /// The program behind an instance or a session: `claude`, `codex`, `mock`, …
    AgentName = "agent", 64, "^[a-z0-9][a-z0-9._-]{0,63}$",
        "1 to 64 of the characters a-z 0-9 . _ - starting with a letter or digit",
        |text| text.as_bytes()[0].is_ascii_alphanumeric()
            && text.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-'));
    /// The header `Idempotency-Key`, which identifies a message however often it is sent.
    IdempotencyKey = "Idempotency-Key", 128, "^[!-~]{1,128}$",
        "1 to 128 visible ASCII characters",
        |text| text.bytes().all(|b| b.is_ascii_graphic());
}

/// A user of a hub can be the author of an input or an answer.
impl From<&UserName> for Author {
    fn from(user: &UserName) -> Self {
        Self(user.0.clone())
    }
}

impl Default for WorkspaceName {
    /// The workspace of everything that does not name one.
    fn default() -> Self {
        Self("default".into())
    }
}

minted_ids! {
    /// The id of a process that was started through `/v1/processes`.
    ProcessId = "prc", "^prc_[0-9a-f]{32}$", "`prc_` and 32 hexadecimal digits";
    /// The id of a session event, unique among all sessions of a daemon.
    EventId = "evt", "^evt_[0-9a-f]{32}$", "`evt_` and 32 hexadecimal digits";
    /// The id of a turn: one prompt and everything the agent did about it.
    TurnId = "trn", "^trn_[0-9a-f]{32}$", "`trn_` and 32 hexadecimal digits";
    /// The id of an input: a message that was sent to a session.
    InputId = "inp", "^inp_[0-9a-f]{32}$", "`inp_` and 32 hexadecimal digits";
    /// The id of a wait: a question, permission or plan that a person must answer.
    WaitId = "wat", "^wat_[0-9a-f]{32}$", "`wat_` and 32 hexadecimal digits";
    /// The id of a token of a hub, for revoking it; not its secret.
    TokenId = "tok", "^tok_[0-9a-f]{32}$", "`tok_` and 32 hexadecimal digits";
    /// The id of an environment: a session's access to a device.
    EnvironmentId = "env", "^env_[0-9a-f]{32}$", "`env_` and 32 hexadecimal digits";
    /// The id of an entry in the relay's audit log.
    AuditId = "aud", "^aud_[0-9a-f]{32}$", "`aud_` and 32 hexadecimal digits";
    /// The id of a grant.
    GrantId = "grt", "^grt_[0-9a-f]{32}$", "`grt_` and 32 hexadecimal digits";
}

#[cfg(test)]
mod tests;
