//! Deprecated spellings of options still work, and stderr names their replacement.

use super::{Run, mirrored::Recorder, tombolo};

const ANSWER: &str = "HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n";

const PROCESS: &str = "prc_0198c0de0198c0de0198c0de0198c0de";

/// Runs a command against a server that records requests; `URL` stands for its address.
fn run(arguments: &str) -> (Run, Vec<String>) {
    let server = Recorder::start(ANSWER);
    let arguments = arguments.replace("URL", &server.endpoint());
    let mut command = tombolo();
    command.args(arguments.split(' ')).env_remove("TOMBOLO_HUB").env_remove("TOMBOLO_HUB_TOKEN");
    let run = Run::of(command.output().unwrap());
    (run, server.asked())
}

/// The old and the new command line send the same request; only the old one prints a warning.
#[track_caller]
fn check(old: &str, new: &str, warning: &str) {
    let (old_run, old_requests) = run(old);
    let (new_run, new_requests) = run(new);
    assert!(!new_requests.is_empty(), "{new}: {}", new_run.stderr);
    assert_eq!(old_requests, new_requests, "{old}: {}", old_run.stderr);
    let lines: Vec<_> = old_run.stderr.lines().filter(|line| line.starts_with("warning: ")).collect();
    assert_eq!(lines, [format!("warning: {warning}")], "{old}");
    assert!(!new_run.stderr.contains("warning: "), "{new}: {}", new_run.stderr);
}

#[test]
fn hub_commands_accept_endpoint() {
    let warning = "--endpoint is deprecated: use --hub URL";
    check("hub runtimes list --endpoint URL", "hub runtimes list --hub URL", warning);
    check("hub runtimes --endpoint URL list", "hub runtimes --hub URL list", warning);
    check("hub whoami --endpoint URL", "hub whoami --hub URL", warning);
    check("audit list --endpoint URL", "audit list --hub URL", warning);
}

#[test]
fn durations_are_accepted_in_milliseconds() {
    check(
        "api acp send a {} --timeout-ms 2000 --endpoint URL",
        "api acp send a {} --timeout 2s --endpoint URL",
        "--timeout-ms is deprecated: use --timeout, for example --timeout 30s",
    );
    check(
        "api acp send a {} --linger-ms 60000 --endpoint URL",
        "api acp send a {} --linger 1m --endpoint URL",
        "--linger-ms is deprecated: use --linger, for example --linger 10m",
    );
    check(
        "api acp delete a --grace-ms 1500 --endpoint URL",
        "api acp delete a --grace 1500ms --endpoint URL",
        "--grace-ms is deprecated: use --grace, for example --grace 2s",
    );
    check(
        &format!("api processes wait {PROCESS} --timeout-ms 90000 --endpoint URL"),
        &format!("api processes wait {PROCESS} --timeout 90s --endpoint URL"),
        "--timeout-ms is deprecated: use --timeout, for example --timeout 30s",
    );
}
