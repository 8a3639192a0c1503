//! The table: every agent through every test of the suite.

macro_rules! table {
    (features $features:tt $($module:ident = $agent:ident),+ $(,)?) => {
        $(mod $module {
            use crate::universal::{agent::$agent, features, suite};

            table!(@tests $agent $features);
        })+
        table!(@names $features);
    };
    (@tests $agent:ident [$($feature:ident),+ $(,)?]) => {
        $(#[tokio::test]
        async fn $feature() {
            features::shown($agent.name, stringify!($feature), suite::$feature(&$agent).await);
        })+
    };
    (@names [$($feature:ident),+ $(,)?]) => {
        /// What the suite shows of an agent.
        pub(super) const FEATURES: &[&str] = &[$(stringify!($feature)),+];
    };
}

table! {
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
