//! Configures each agent to use the scripted model: files in its home, environment variables and arguments.

mod amp;
mod claude;
mod codex;
mod gemini;
mod opencode;
mod pi;

use std::{collections::BTreeMap, fs, path::Path};

pub use amp::amp;
pub use claude::claude;
pub use codex::codex;
pub use gemini::gemini;
pub use opencode::opencode;
pub use pi::pi;

/// Address and API key of the model that an agent uses.
#[derive(Debug, Clone, Copy)]
pub struct ModelEndpoint<'a> {
    /// The model's base URL, without a path.
    pub url: &'a str,
    /// The API key that the agent sends.
    pub key: &'a str,
}

/// Environment and extra arguments that an agent needs in addition to the files in its home.
#[derive(Debug, Default)]
pub struct AgentSetup {
    /// Environment variables.
    pub env: BTreeMap<String, String>,
    /// Arguments appended to the agent's own.
    pub args: Vec<String>,
}

impl AgentSetup {
    fn new<const N: usize>(env: [(&str, &str); N]) -> Self {
        let env = env.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Self { env, args: Vec::new() }
    }
}

/// Writes a file below `home` and creates its parent directories.
fn write_file(home: &Path, name: &str, content: &str) {
    let path = home.join(name);
    fs::create_dir_all(path.parent().expect("the path has no parent")).expect("could not create a directory");
    fs::write(path, content).expect("could not write_file a file in the home");
}
