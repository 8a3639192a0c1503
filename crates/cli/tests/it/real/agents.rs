//! The table: every agent through every test of the suite.

use crate::agent_table::agent_table;

agent_table! {
    suite real
    features [
        text, permission_allowed, permission_denied, cancel, cancel_while_asked, load, resume, mode, model,
        model_error, nothing_left,
    ]
    amp = AMP,
    claude = CLAUDE,
    codex = CODEX,
    gemini = GEMINI,
    opencode = OPENCODE,
    pi = PI,
}
