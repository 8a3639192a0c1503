//! `tombolo device`: the real program, and in place of a hub one end of a connection that says what it hears.

mod agreed;
mod connect;
mod control;
mod hub;
mod local;
mod paired;
mod prompts;
mod providers;
mod terminal;

use std::{
    fs::File,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;
use testkit::within_blocking;

use self::hub::StandIn;
use crate::{TOMBOLO, secs};

/// The token that the hub of these tests lets in.
const TOKEN: &str = "tombolo_dev_0123456789abcdef";

/// A device that runs, with its own files and a directory to lend.
struct Lender {
    child: Child,
    place: Place,
}

/// Where the files of a device are.
struct Place {
    directory: TempDir,
}

impl Place {
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        std::fs::create_dir(directory.path().join("code")).unwrap();
        std::fs::write(directory.path().join("token"), TOKEN).unwrap();
        Self { directory }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.directory.path().join(below)
    }

    /// The program as `tombolo device …`, with the files of this place.
    fn device(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(TOMBOLO);
        for name in ["TOMBOLO_DEVICE_TOKEN", "TOMBOLO_LOG", "XDG_DATA_HOME", "XDG_CONFIG_HOME"] {
            command.env_remove(name);
        }
        command.env("HOME", self.directory.path()).arg("device").args(arguments);
        command.args(["--data-dir"]).arg(self.path("data"));
        command.stdin(Stdio::null()).current_dir(self.directory.path());
        command
    }

    /// The same, run to its end.
    fn run(&self, arguments: &[&str]) -> Output {
        self.device(arguments).output().unwrap()
    }

    /// What the device says of itself.
    fn status(&self) -> Option<Value> {
        let output = self.run(&["status", "--json"]);
        output.status.success().then(|| serde_json::from_slice(&output.stdout).unwrap())
    }

    /// Connects, as `laptop`.
    fn connect(self, hub: &StandIn, arguments: &[&str]) -> Lender {
        let log = File::create(self.path("stderr.log")).unwrap();
        let mut command = self.device(&["connect", hub.base(), "--client-id", "laptop"]);
        command.arg("--token-file").arg(self.path("token")).args(arguments);
        let child = command.stdout(Stdio::null()).stderr(log).spawn().unwrap();
        Lender { child, place: self }
    }
}

impl Lender {
    /// Lends a directory to this hub.
    fn start(hub: &StandIn) -> Self {
        Self::start_with(hub, &[])
    }

    /// The same, with more arguments.
    fn start_with(hub: &StandIn, arguments: &[&str]) -> Self {
        let place = Place::new();
        let root = format!("main={}:rw", place.path("code").display());
        place.connect(hub, &[&["--root", &root], arguments].concat())
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.place.path("stderr.log")).unwrap()
    }

    /// Waits until this was said.
    fn said(&self, text: &str) {
        within_blocking(secs(10), || self.log().contains(text));
    }

    /// Its exit code, once it has ended.
    fn ended(&mut self) -> Option<i32> {
        let mut status = None;
        within_blocking(secs(15), || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        status.and_then(|status| status.code())
    }

    /// Everything that is below one of its directories.
    fn audit(&self) -> PathBuf {
        self.place.path("data/device/laptop/audit/audit.jsonl")
    }
}

impl Drop for Lender {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("the device said:\n{}", self.log());
        }
    }
}

/// What was said on a standard stream.
fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The permissions of a file.
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}
