//! What each agent needs to talk to a model of ours: files in its home, variables, arguments.

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

/// Where an agent finds its model, and what it shows there.
#[derive(Debug, Clone, Copy)]
pub struct Endpoint<'a> {
    /// The model's address, without a path.
    pub url: &'a str,
    /// The API key.
    pub key: &'a str,
}

/// What an agent is started with, besides its program and what lies in its home.
#[derive(Debug, Default)]
pub struct Setup {
    /// Variables of its environment.
    pub env: BTreeMap<String, String>,
    /// Arguments after its own.
    pub args: Vec<String>,
}

impl Setup {
    fn new<const N: usize>(env: [(&str, &str); N]) -> Self {
        let env = env.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Self { env, args: Vec::new() }
    }
}

/// Writes a file of the home, with the directories that it lies in.
fn write(home: &Path, name: &str, content: &str) {
    let path = home.join(name);
    fs::create_dir_all(path.parent().expect("a file lies in a directory")).expect("make a directory");
    fs::write(path, content).expect("write a file of the home");
}
