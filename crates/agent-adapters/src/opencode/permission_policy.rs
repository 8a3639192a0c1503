//! The permissions of a session: the rules that the server gets, and the requests that we answer without a person.

use protocol::sessions::PermissionMode;

use super::wire_session::PermissionRule;

/// Actions that need a permission in the default mode.
const ASKED: [&str; 3] = ["bash", "edit", "webfetch"];

/// Actions for which the server itself requests a permission in any mode: a person decides.
const GUARDED: [&str; 3] = ["external_directory", "doom_loop", "read"];

/// Actions that only read, or that change nothing but the agent's own state.
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

/// The directory in which the server lets the agent write its plan.
const PLANS: &str = "opencode/plans/";

/// The decision about a request for permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PermissionDecision {
    /// A person decides.
    Ask,
    Allow,
    /// Only reading is allowed before the plan is approved.
    Refuse,
}

/// The permissions of a session.
#[derive(Debug)]
pub(super) struct PermissionPolicy {
    mode: PermissionMode,
    is_plan_approved: bool,
    /// Permissions for the rest of the session: action and pattern.
    allowed: Vec<(String, String)>,
}

impl PermissionPolicy {
    pub(super) fn new(mode: PermissionMode) -> Self {
        Self { mode, is_plan_approved: false, allowed: Vec::new() }
    }

    /// Whether only reading is allowed now.
    pub(super) fn is_planning(&self) -> bool {
        self.mode == PermissionMode::Plan && !self.is_plan_approved
    }

    /// Approves the plan and returns the rules that apply from now on.
    pub(super) fn approve_plan(&mut self) -> Vec<PermissionRule> {
        self.is_plan_approved = true;
        self.rules()
    }

    /// The rules of the session. The last rule that matches an action decides.
    pub(super) fn rules(&self) -> Vec<PermissionRule> {
        match self.mode {
            PermissionMode::Bypass => vec![rule("*", "*", "allow"), rule("plan_enter", "*", "deny")],
            PermissionMode::Plan if !self.is_plan_approved => planning_rules(),
            PermissionMode::Default | PermissionMode::Plan => default_rules(),
        }
    }

    /// Restores the state from the rules that an earlier process has set. Returns whether they are the ones that should apply.
    pub(super) fn restore(&mut self, left: &[PermissionRule]) -> bool {
        let has = |rules: &[PermissionRule]| left.windows(rules.len()).any(|window| window == rules);
        self.is_plan_approved = self.mode == PermissionMode::Plan && has(&default_rules());
        has(&self.rules())
    }

    /// Allows an action that matches the patterns for the rest of the session. Returns the rules to add.
    pub(super) fn allow(&mut self, permission: &str, patterns: &[String]) -> Vec<PermissionRule> {
        self.allowed.extend(patterns.iter().map(|pattern| (permission.to_owned(), pattern.clone())));
        patterns.iter().map(|pattern| rule(permission, pattern, "allow")).collect()
    }

    /// Decides about a request for permission.
    pub(super) fn decide(&self, permission: &str, patterns: &[String]) -> PermissionDecision {
        let is_allowed = |text: &String| {
            self.allowed.iter().any(|(action, pattern)| action == permission && matches(pattern, text))
        };
        match self.mode {
            PermissionMode::Bypass => PermissionDecision::Allow,
            _ if self.is_planning() => match permission {
                "webfetch" => PermissionDecision::Ask,
                _ if GUARDED.contains(&permission) => PermissionDecision::Ask,
                "edit" if !patterns.is_empty() && patterns.iter().all(|path| is_plan_file(path)) => {
                    PermissionDecision::Allow
                }
                _ => PermissionDecision::Refuse,
            },
            // Changed rules do not reach a running turn, so that the server requests an allowed action again.
            _ if !patterns.is_empty() && patterns.iter().all(is_allowed) => PermissionDecision::Allow,
            // A running turn still has the rules of planning, which request more than those after it.
            PermissionMode::Plan if !ASKED.contains(&permission) && !GUARDED.contains(&permission) => {
                PermissionDecision::Allow
            }
            _ => PermissionDecision::Ask,
        }
    }
}

/// Whether a file is a plan of the agent.
pub(super) fn is_plan_file(path: &str) -> bool {
    let below = path.rsplit_once(PLANS).map(|(_, below)| below);
    below.is_some_and(|name| name.ends_with(".md") && !name.contains('/'))
}

fn default_rules() -> Vec<PermissionRule> {
    let asked = ASKED.iter().map(|permission| rule(permission, "*", "ask"));
    asked.chain([rule("plan_enter", "*", "deny")]).collect()
}

fn planning_rules() -> Vec<PermissionRule> {
    let mut rules = vec![rule("*", "*", "ask")];
    rules.extend(READING.iter().map(|permission| rule(permission, "*", "allow")));
    rules.extend([
        rule("read", "*.env", "ask"),
        rule("read", "*.env.*", "ask"),
        rule("read", "*.env.example", "allow"),
        // `explore` is the one subagent that only reads.
        rule("task", "*", "deny"),
        rule("task", "explore", "allow"),
        rule("plan_enter", "*", "deny"),
    ]);
    rules
}

fn rule(permission: &str, pattern: &str, action: &str) -> PermissionRule {
    PermissionRule { permission: permission.into(), pattern: pattern.into(), action: action.into() }
}

/// Whether a text matches a pattern, by the server's own rules: `*` is any text, `?` one character, and ` *` at the end may
/// be missing altogether.
fn matches(pattern: &str, text: &str) -> bool {
    if let Some(command) = pattern.strip_suffix(" *")
        && matches_wildcards(command.as_bytes(), text.as_bytes())
    {
        return true;
    }
    matches_wildcards(pattern.as_bytes(), text.as_bytes())
}

fn matches_wildcards(pattern: &[u8], text: &[u8]) -> bool {
    // The positions in pattern and text after the last `*`: matching continues there, one byte further, after a mismatch.
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
    fn a_pattern_matches_as_on_the_server() {
        let check =
            |pattern, text, expected| assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
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
        assert!(is_plan_file(".opencode/plans/1-a.md"));
        assert!(is_plan_file("../../.local/share/opencode/plans/1-a.md"));
        assert!(!is_plan_file(".opencode/plans/../../src/a.md"));
        assert!(!is_plan_file(".opencode/plans/a.sh"));
        assert!(!is_plan_file("plans/a.md"));
    }
}
