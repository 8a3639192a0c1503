//! Maps each API command to its endpoint. The rows stand beside the commands; tests compare them with the OpenAPI document.

use std::fmt;

use super::{acp, agents, fs, info, mcp, processes, sessions, skills, waits, workers};

/// An endpoint and the command that calls it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Operation {
    /// The subcommand as it is typed.
    pub(crate) verb: &'static str,
    pub(crate) method: &'static str,
    /// The path template in the OpenAPI document.
    pub(crate) path: &'static str,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}

/// Declares the endpoints of a resource's commands. A command without a row does not compile.
macro_rules! mirrors {
    ($verb:ident: $($variant:ident = $name:literal $method:ident $path:literal;)*) => {
        pub(super) const OPERATIONS: &[$crate::api::operations::Operation] = &[$(
            $crate::api::operations::Operation { verb: $name, method: stringify!($method), path: $path },
        )*];

        impl $verb {
            fn operation(&self) -> &'static $crate::api::operations::Operation {
                match self {$(
                    $verb::$variant { .. } => &$crate::api::operations::Operation {
                        verb: $name, method: stringify!($method), path: $path,
                    },
                )*}
            }
        }
    };
}
pub(super) use mirrors;

/// Every resource with the endpoints of its commands.
pub(crate) fn operations() -> [(&'static str, &'static [Operation]); 10] {
    [
        ("acp", acp::OPERATIONS),
        ("agents", agents::OPERATIONS),
        ("sessions", sessions::OPERATIONS),
        ("waits", waits::OPERATIONS),
        ("workers", workers::OPERATIONS),
        ("fs", fs::OPERATIONS),
        ("processes", processes::OPERATIONS),
        ("mcp", mcp::OPERATIONS),
        ("skills", skills::OPERATIONS),
        ("info", info::OPERATIONS),
    ]
}

/// Appends its endpoint to the help of every API command below `parent`.
pub(crate) fn with_operations(mut parent: clap::Command) -> clap::Command {
    for (resource, operations) in operations() {
        parent = parent.mut_subcommand(resource, |resource| {
            operations.iter().fold(resource, |resource, operation| {
                resource.mut_subcommand(operation.verb, |verb| {
                    let examples =
                        verb.get_after_help().map(|help| format!("{help}\n\n")).unwrap_or_default();
                    verb.after_help(format!("{examples}Endpoint: {operation}"))
                })
            })
        });
    }
    parent
}

#[cfg(test)]
mod tests;
