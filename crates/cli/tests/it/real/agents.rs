//! The table: every agent through every test of the suite.

macro_rules! table {
    (features $features:tt $($module:ident = $agent:ident),+ $(,)?) => {
        $(mod $module {
            use crate::real::{agent::$agent, features, suite};

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
