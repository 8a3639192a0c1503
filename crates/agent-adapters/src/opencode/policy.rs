//! What may be done in a session: the rules that the server gets, and what is answered without asking a person.

use protocol::sessions::PermissionMode;
use serde_json::{Value, json};

/// What is asked for in a session of the default mode.
const ASKED: [&str; 3] = ["bash", "edit", "webfetch"];

/// What the server asks for by itself, in any mode: a person decides.
const GUARDED: [&str; 3] = ["external_directory", "doom_loop", "read"];

/// What only reads, or changes nothing but what the agent knows.
const READING: [&str; 12] = [
    "glob",
    "grep",
    "list",
    "lsp",
    "codesearch",
    "websearch",
    "todoread",
    "todowrite",
    "question",
    "skill",
    "plan_exit",
    "read",
];

/// Where the server lets the agent write its plan down.
const PLANS: &str = "opencode/plans/";

/// What becomes of a request for permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    /// A person is asked.
    Ask,
    /// It is allowed.
    Allow,
    /// It is not allowed before the plan is approved.
    Refuse,
}

/// What may be done.
#[derive(Debug)]
pub(super) struct Policy {
    mode: PermissionMode,
    /// Whether the plan has been approved.
    approved: bool,
    /// What is allowed for the rest of the session: permission and pattern.
    allowed: Vec<(String, String)>,
}

impl Policy {
    pub(super) fn new(mode: PermissionMode) -> Self {
        Self { mode, approved: false, allowed: Vec::new() }
    }

    /// Whether only reading is allowed now.
    pub(super) fn is_planning(&self) -> bool {
        self.mode == PermissionMode::Plan && !self.approved
    }

    /// The plan is approved: the rules that hold from now on.
    pub(super) fn approve(&mut self) -> Value {
        self.approved = true;
        self.rules()
    }

    /// The rules that the server is given. The last one that fits is the one that counts.
    pub(super) fn rules(&self) -> Value {
        match self.mode {
            PermissionMode::Bypass => json!([rule("*", "*", "allow"), rule("plan_enter", "*", "deny")]),
            PermissionMode::Plan if !self.approved => plan(),
            PermissionMode::Default | PermissionMode::Plan => default(),
        }
    }

    /// Takes the rules that an earlier process has left; whether those that should hold are among them.
    pub(super) fn recall(&mut self, left: &Value) -> bool {
        let left = left.as_array().map_or(&[][..], Vec::as_slice);
        let has = |rules: &Value| {
            rules
                .as_array()
                .is_some_and(|rules| left.windows(rules.len()).any(|some| some == rules.as_slice()))
        };
        self.approved = self.mode == PermissionMode::Plan && has(&default());
        has(&self.rules())
    }

    /// Allows what fits the patterns for the rest of the session: the rules to add.
    pub(super) fn allow(&mut self, permission: &str, patterns: &[String]) -> Value {
        self.allowed.extend(patterns.iter().map(|pattern| (permission.to_owned(), pattern.clone())));
        patterns.iter().map(|pattern| rule(permission, pattern, "allow")).collect()
    }

    pub(super) fn decide(&self, permission: &str, patterns: &[String]) -> Decision {
        let is_allowed =
            |text: &String| self.allowed.iter().any(|(of, pattern)| of == permission && fits(pattern, text));
        match self.mode {
            PermissionMode::Bypass => Decision::Allow,
            _ if self.is_planning() => match permission {
                "webfetch" => Decision::Ask,
                _ if GUARDED.contains(&permission) => Decision::Ask,
                "edit" if !patterns.is_empty() && patterns.iter().all(|path| is_plan(path)) => {
                    Decision::Allow
                }
                _ => Decision::Refuse,
            },
            // A running turn does not hear of changed rules, so that what was allowed is asked for again.
            _ if !patterns.is_empty() && patterns.iter().all(is_allowed) => Decision::Allow,
            // The rules of planning, which a running turn still goes by, ask for more than those after it.
            PermissionMode::Plan if !ASKED.contains(&permission) && !GUARDED.contains(&permission) => {
                Decision::Allow
            }
            _ => Decision::Ask,
        }
    }
}

/// Whether it is a file that holds a plan.
pub(super) fn is_plan(path: &str) -> bool {
    let below = path.rsplit_once(PLANS).map(|(_, below)| below);
    below.is_some_and(|name| name.ends_with(".md") && !name.contains('/'))
}

fn default() -> Value {
    let asked = ASKED.iter().map(|permission| rule(permission, "*", "ask"));
    asked.chain([rule("plan_enter", "*", "deny")]).collect()
}

fn plan() -> Value {
    let mut rules = vec![rule("*", "*", "ask")];
    rules.extend(READING.iter().map(|permission| rule(permission, "*", "allow")));
    rules.extend([
        rule("read", "*.env", "ask"),
        rule("read", "*.env.*", "ask"),
        rule("read", "*.env.example", "allow"),
        // The one subagent that only looks around.
        rule("task", "*", "deny"),
        rule("task", "explore", "allow"),
        rule("plan_enter", "*", "deny"),
    ]);
    rules.into()
}

fn rule(permission: &str, pattern: &str, action: &str) -> Value {
    json!({ "permission": permission, "pattern": pattern, "action": action })
}

/// Whether a text fits a pattern, by the server's own rules: `*` is any text, `?` one character, and ` *` at the end may
/// be missing altogether.
fn fits(pattern: &str, text: &str) -> bool {
    if let Some(command) = pattern.strip_suffix(" *")
        && wild(command.as_bytes(), text.as_bytes())
    {
        return true;
    }
    wild(pattern.as_bytes(), text.as_bytes())
}

fn wild(pattern: &[u8], text: &[u8]) -> bool {
    // The place after the last `*`, and how far the text had come there: where to go on when what follows does not fit.
    let (mut at, mut of, mut star) = (0, 0, None);
    while of < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                at += 1;
                star = Some((at, of));
            }
            Some(&byte) if byte == b'?' || byte == text[of] => (at, of) = (at + 1, of + 1),
            _ => match &mut star {
                Some((after, from)) => {
                    *from += 1;
                    (at, of) = (*after, *from);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_fits_as_the_server_says() {
        let check = |pattern, text, expected| assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        check("touch *", "touch a.txt", true);
        check("touch *", "touch", true);
        check("touch *", "touching", false);
        check("*", "anything at all", true);
        check("a*c*e", "abcde", true);
        check("a*c*e", "abcdf", false);
        check("src/?.rs", "src/a.rs", true);
        check("src/?.rs", "src/ab.rs", false);
    }

    #[test]
    fn only_a_file_in_the_directory_of_plans_is_a_plan() {
        assert!(is_plan(".opencode/plans/1-a.md"));
        assert!(is_plan("../../.local/share/opencode/plans/1-a.md"));
        assert!(!is_plan(".opencode/plans/../../src/a.md"));
        assert!(!is_plan(".opencode/plans/a.sh"));
        assert!(!is_plan("plans/a.md"));
    }
}
