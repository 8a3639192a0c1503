//! The text that `tombolo up` prints: where the servers listen, what to know, and commands to try.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use super::program::Program;
use crate::{
    daemon::TokenSource,
    server_args::{DEFAULT_ENDPOINT, DEFAULT_HUB},
    shell_word::quoted,
};

/// The printed text. Every line that starts with two spaces is a command that works as it is in another terminal.
pub(super) struct UpGreeting {
    pub(super) daemon: SocketAddr,
    pub(super) hub: SocketAddr,
    pub(super) program: Program,
    /// Where agents run if a command names no other directory.
    pub(super) directory: PathBuf,
    pub(super) token: TokenSource,
    /// The file with the daemon's token, if it generated one.
    pub(super) token_file: PathBuf,
    /// The directory with the files of the hub.
    pub(super) hub_directory: PathBuf,
    /// The files are where commands look for them, so that no option has to name them.
    pub(super) is_default_directory: bool,
}

impl UpGreeting {
    /// The text; `hub_token` is that of the hub if it was created now.
    pub(super) fn text(&self, hub_token: Option<&str>) -> String {
        let Self { daemon, hub, .. } = self;
        let mut lines = vec![format!("listening on http://{daemon}"), format!("hub on http://{hub}")];
        lines.push(match hub_token {
            Some(token) => format!("admin token of the hub, shown once: {token}"),
            None => "The hub showed its admin token on its first start.".into(),
        });
        lines.push(self.access());
        lines.push(self.warning());
        lines.extend(self.program.how_to_install());
        lines.extend([
            "\nTry in another terminal:".into(),
            "\n# talk to the mock agent, which needs no model and no key; Ctrl-D leaves".into(),
            self.daemon_command("chat -- --agent mock"),
            "\n# send one prompt and print the answer".into(),
            self.daemon_command("run -- --agent mock 'hello'"),
            "\n# the same through the API, which has a command for each endpoint".into(),
            self.daemon_command("api agents list"),
            self.daemon_command("api sessions create hello -- --agent mock"),
            self.daemon_command("api sessions send hello -- --wait 'hello'"),
            match hub_token {
                Some(_) => "\n# the same session through the hub".into(),
                None => {
                    "\n# the same session through the hub, with the token that you kept or a new one".into()
                }
            },
            self.export_hub_token(hub_token),
            self.hub_command("runtimes list"),
            self.hub_command("workers list local"),
            format!(
                "\n# a real agent: `{} chat --agent claude` installs it when it is first used",
                self.program.command()
            ),
            "\nCtrl-C stops both servers and all agents.".into(),
        ]);
        lines.join("\n")
    }

    /// Which clients the servers accept.
    fn access(&self) -> String {
        let token = match self.token {
            TokenSource::Generated => {
                format!(
                    "The daemon's token is in {}; commands of your user find it.",
                    self.token_file.display()
                )
            }
            TokenSource::Given => {
                "The daemon's token is the one in TOMBOLO_TOKEN: set it in the other terminal too.".into()
            }
            TokenSource::None => "Every user of this machine may use the daemon.".into(),
        };
        format!("Both accept connections from this machine only. {token}")
    }

    fn warning(&self) -> String {
        let user = if rustix::process::geteuid().is_root() { "root" } else { "your user" };
        format!(
            "Agents run as {user}, without a sandbox: they can read and change whatever {user} can. They work in {} unless a \
             command names another directory.",
            self.directory.display()
        )
    }

    /// Sets the hub's token in the terminal. A token that was created on an earlier start is not known, so the command makes one.
    fn export_hub_token(&self, hub_token: Option<&str>) -> String {
        let token = match hub_token {
            Some(token) => token.to_owned(),
            None => {
                let directory = self.file_option("--data-dir", &self.hub_directory);
                format!("$({} hub tokens recover --quiet{directory})", self.program.command())
            }
        };
        format!("  export TOMBOLO_HUB_TOKEN={token}")
    }

    fn daemon_command(&self, command: &str) -> String {
        let mut server = server_option("--endpoint", self.daemon, DEFAULT_ENDPOINT);
        if self.token == TokenSource::Generated {
            server += &self.file_option("--token-file", &self.token_file);
        }
        self.command(command, &server)
    }

    fn hub_command(&self, command: &str) -> String {
        self.command(&format!("hub {command}"), &server_option("--hub", self.hub, DEFAULT_HUB))
    }

    /// The option that names a file, unless commands find it by themselves.
    fn file_option(&self, option: &str, path: &Path) -> String {
        if self.is_default_directory {
            return String::new();
        }
        format!(" {option} {}", quoted(&path.display().to_string()))
    }

    /// A command line, with the options that name the server. They are inserted at ` -- `, so that they stand before a long
    /// last argument.
    fn command(&self, command: &str, server: &str) -> String {
        let program = self.program.command();
        let (before, after) = command.split_once(" -- ").unwrap_or((command, ""));
        format!("  {program} {before}{server} {after}").trim_end().to_owned()
    }
}

/// The option that names a server, if it is not at its default address.
fn server_option(option: &str, address: SocketAddr, default: &str) -> String {
    let url = format!("http://{address}");
    if url == default { String::new() } else { format!(" {option} {url}") }
}
