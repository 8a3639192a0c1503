//! Generates a test for each agent and each feature of a suite.

/// Generates a module per agent with a test per feature, and the list `FEATURES`.
///
/// The test calls the function of that name in `suite` and passes its result to `features::shown`. `cargo xtask` and
/// `.config/nextest.toml` select these tests by their paths, such as `real::agents::claude::resume`.
macro_rules! agent_table {
    (suite $suite:ident features $features:tt $($module:ident = $agent:ident),+ $(,)?) => {
        $(mod $module {
            use crate::$suite::{agent::$agent, features, suite};

            $crate::agent_table::agent_table!(@tests $agent $features);
        })+
        $crate::agent_table::agent_table!(@names $features);
    };
    (@tests $agent:ident [$($feature:ident),+ $(,)?]) => {
        $(#[tokio::test]
        async fn $feature() {
            features::shown($agent.name, stringify!($feature), suite::$feature(&$agent).await);
        })+
    };
    (@names [$($feature:ident),+ $(,)?]) => {
        /// The features that the suite tests.
        pub(super) const FEATURES: &[&str] = &[$(stringify!($feature)),+];
    };
}

pub(crate) use agent_table;
