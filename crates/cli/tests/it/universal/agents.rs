//! The table: every agent through every test of the suite.

use crate::agent_table::agent_table;

agent_table! {
    suite universal
    features [
        text, streaming, reasoning, shell, edit, permission_once, permission_always, permission_rejected,
        question_answered, question_rejected, plan_approved, plan_rejected, interrupt, queue, steer, memory, model,
        variant, mode, wrong_token, process_death, daemon_restart, mcp, skill, nothing_left,
    ]
    amp_local = AMP_LOCAL,
    claude = CLAUDE,
    codex = CODEX,
    gemini = GEMINI,
    opencode = OPENCODE,
    pi = PI,
}
