//! `tombolo up`: a newcomer who types what it prints, and nothing else, gets an answer.

use std::{
    io::{BufRead, BufReader},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;

use super::{Run, tombolo};
use crate::TOMBOLO;

/// The last printed line.
const LAST_LINE: &str = "Ctrl-C stops both servers and all agents.";

/// `up`, which ends with the test.
struct Up(Child);

impl Drop for Up {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A user with a fresh home, and directories of programs in it.
struct Newcomer {
    home: TempDir,
    program: PathBuf,
    path: String,
}

impl Newcomer {
    /// The program is on the PATH.
    fn with_program_on_path() -> Self {
        let home = TempDir::new().unwrap();
        let bin = home.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        let program = bin.join("tombolo");
        std::os::unix::fs::symlink(TOMBOLO, &program).unwrap();
        let path = format!("{}:/usr/bin:/bin", bin.display());
        Self { home, program, path }
    }

    /// The program was built in a checkout and is on no PATH. `cargo` only checks what it is told to install.
    fn with_program_in_checkout() -> Self {
        let home = TempDir::new().unwrap();
        let [bin, release, package] = ["bin", "checkout/target/release", "checkout/crates/cli"];
        for directory in [bin, release, package] {
            std::fs::create_dir_all(home.path().join(directory)).unwrap();
        }
        std::fs::write(home.path().join(package).join("Cargo.toml"), "").unwrap();
        let program = home.path().join(release).join("tombolo");
        // The program finds itself by its real path, so that a symbolic link would not do.
        if std::fs::hard_link(TOMBOLO, &program).is_err() {
            std::fs::copy(TOMBOLO, &program).unwrap();
        }
        let cargo = home.path().join(bin).join("cargo");
        std::fs::write(&cargo, "#!/bin/sh\n[ \"$1 $2\" = 'install --path' ] && [ -f \"$3/Cargo.toml\" ]\n")
            .unwrap();
        std::fs::set_permissions(&cargo, PermissionsExt::from_mode(0o755)).unwrap();
        let path = format!("{}:/usr/bin:/bin", home.path().join(bin).display());
        Self { home, program, path }
    }

    fn home(&self) -> &Path {
        self.home.path()
    }

    fn environment<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        for name in ["TOMBOLO_TOKEN", "TOMBOLO_HUB_TOKEN", "TOMBOLO_HUB", "TOMBOLO_ENDPOINT", "XDG_DATA_HOME"]
        {
            command.env_remove(name);
        }
        command.env("HOME", self.home()).env("PATH", &self.path)
    }

    /// Starts `up` and reads all that it prints.
    fn up(&self, options: &[&str]) -> (Up, Vec<String>) {
        let mut up = Command::new(&self.program);
        self.environment(&mut up).args(["up", "--port", "0"]).args(options);
        let mut up =
            Up(up.current_dir(self.home()).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap());
        let mut printed = Vec::new();
        for line in BufReader::new(up.0.stdout.take().unwrap()).lines().map(Result::unwrap) {
            let is_last = line == LAST_LINE;
            printed.push(line);
            if is_last {
                return (up, printed);
            }
        }
        panic!("it ended: {printed:#?}");
    }

    /// Types the commands into one terminal, in another directory, with `hello` for what reads standard input. Returns each
    /// with its result.
    fn type_commands(&self, commands: &[String]) -> Vec<(String, Run)> {
        let elsewhere = self.home().join("elsewhere");
        std::fs::create_dir_all(&elsewhere).unwrap();
        let mut exported = String::new();
        let mut results = Vec::new();
        for line in commands {
            let mut shell = Command::new("/bin/sh");
            self.environment(&mut shell).current_dir(&elsewhere);
            let typed = format!("{exported}echo hello | {{ {line}; }}");
            let run = Run::of(shell.args(["-c", &typed]).stdin(Stdio::null()).output().unwrap());
            results.push((line.clone(), run));
            // What was exported holds for the commands after it.
            if line.starts_with("export ") {
                exported += &format!("{line}\n");
            }
        }
        results
    }
}

fn commands(printed: &[String]) -> Vec<String> {
    printed.iter().filter_map(|line| line.strip_prefix("  ")).map(str::to_owned).collect()
}

/// Runs every printed command, and checks that the conversation with the mock agent took place.
#[track_caller]
fn check_commands(newcomer: &Newcomer, printed: &[String]) {
    let results = newcomer.type_commands(&commands(printed));
    for (command, run) in &results {
        assert_eq!(run.code, Some(0), "{command}: {}", run.stderr);
    }
    let output = |part: &str| {
        let found = results.iter().find(|(command, _)| command.contains(part));
        &found.unwrap_or_else(|| panic!("no command has `{part}`: {printed:#?}")).1.stdout
    };
    let chat = results.iter().position(|(command, _)| command.contains(" chat "));
    let first = results
        .iter()
        .position(|(command, _)| !command.starts_with("cargo ") && !command.starts_with("export "));
    assert_eq!(chat, first, "the chat comes first: {printed:#?}");
    for answer in [" chat ", " run ", " sessions send "] {
        assert_eq!(output(answer), "hello\n", "{answer}");
    }
    assert!(output(" agents list").contains("mock"));
    assert!(output(" runtimes list").contains("local"));
    assert!(output(" workers list").contains("hello"));
}

fn stop(mut up: Up) {
    let stopped = Command::new("kill").arg(up.0.id().to_string()).status().unwrap();
    assert!(stopped.success() && up.0.wait().unwrap().success());
}

/// Issue 17: "newcomer script: clean clone → up → chat answer, without reading anything but what is printed".
#[test]
fn a_newcomer_gets_an_answer_by_typing_what_is_printed() {
    let newcomer = Newcomer::with_program_on_path();
    let (up, printed) = newcomer.up(&[]);
    let text = printed.join("\n");
    assert!(text.contains("admin token of the hub, shown once: tombolo_"), "{text}");
    assert!(text.contains("without a sandbox"), "{text}");
    assert!(commands(&printed).iter().any(|command| command.starts_with("tombolo chat ")), "{text}");
    assert!(!text.contains("cargo install"), "{text}");
    check_commands(&newcomer, &printed);
    stop(up);
    // The hub's token is not known any more, and the commands work all the same.
    let (up, printed) = newcomer.up(&[]);
    assert!(!printed.join("\n").contains("tombolo_"), "{printed:#?}");
    check_commands(&newcomer, &printed);
    stop(up);
}

#[test]
fn a_newcomer_with_a_checkout_learns_how_to_install_the_program() {
    let newcomer = Newcomer::with_program_in_checkout();
    let (up, printed) = newcomer.up(&[]);
    assert!(commands(&printed)[0].starts_with("cargo install --path "), "{printed:#?}");
    check_commands(&newcomer, &printed);
    stop(up);
}

/// Commands look for the tokens of daemon and hub in the default directories only.
#[test]
fn commands_for_files_in_another_directory_work_as_they_are() {
    let newcomer = Newcomer::with_program_on_path();
    for _ in 0..2 {
        let (up, printed) = newcomer.up(&["--data-dir", "my data"]);
        check_commands(&newcomer, &printed);
        stop(up);
    }
}

/// Issue 17: "`up &` then `hub &` explains itself".
#[test]
fn a_second_server_says_what_is_in_its_way() {
    let newcomer = Newcomer::with_program_on_path();
    let (up, printed) = newcomer.up(&[]);
    let start = |arguments: &[&str]| {
        let mut command = tombolo();
        Run::of(newcomer.environment(&mut command).args(arguments).output().unwrap()).said(1)
    };
    let second = start(&["hub", "--port", "0"]);
    let expected = format!("another hub (process {}) uses `{}", up.0.id(), newcomer.home().display());
    assert!(second.contains(&expected) && second.contains("--data-dir"), "{second}");
    let port = |line: &str| line.rsplit_once(':').unwrap().1.to_owned();
    let (daemon, hub) = (port(&printed[0]), port(&printed[1]));
    let other = TempDir::new().unwrap();
    let other = other.path().to_str().unwrap();
    for (arguments, remedy) in [
        (&["daemon", "--port", &daemon][..], "--port 0"),
        (&["hub", "--port", &hub], "--port 0"),
        (&["up", "--port", &daemon], "--port 0"),
        (&["up", "--port", "0", "--hub-port", &hub], "--hub-port 0"),
    ] {
        let error = start(&[arguments, &["--data-dir", other]].concat());
        assert!(error.contains("is `tombolo up` running already?") && error.contains(remedy), "{error}");
    }
    stop(up);
}
