//! The tools that devices lend in tests.

/// A tools file with one tool, a command that prints its input in capital letters.
pub(crate) const TOOLS: &str = r#"
[[tool]]
name = "shout"
description = "Says it louder."
command = ["tr", "a-z", "A-Z"]
risk = "low"
input_schema = { type = "object" }
"#;
