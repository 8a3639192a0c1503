//! What is asked for, checked against what is lent and granted, before anything is started.

use std::{ffi::OsString, time::Duration};

use protocol::relay::{
    CommandNetwork, RelayError, RelayErrorCode, RequestLimits, RootMode,
    shell::{CommandProgram, StartCommand, TerminalDimensions},
};

use super::{
    Config, Runtime,
    allowed::Allowed,
    place::{Bound, Floors, Place},
    refusal,
};

/// Who runs a line.
const LINE_SHELL: &str = "/bin/sh";

/// What every command has, if it is granted nothing else: where programs are, a place to write, and text that is UTF-8.
const BASE: [(&str, &str); 3] = [
    ("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
    ("HOME", "/tmp"),
    ("LANG", "C.UTF-8"),
];

/// A command that may be started.
#[derive(Clone)]
pub(super) struct Plan {
    pub(super) program: OsString,
    pub(super) args: Vec<OsString>,
    /// All of its environment.
    pub(super) env: Vec<(String, String)>,
    pub(super) place: Place,
    pub(super) bound: Vec<Bound>,
    pub(super) network: CommandNetwork,
    pub(super) pty: Option<TerminalDimensions>,
    pub(super) background: bool,
    pub(super) runtime_max: Duration,
    pub(super) output_max: Option<u64>,
}

impl Plan {
    pub(super) fn new(
        asked: &StartCommand,
        terms: Option<&RequestLimits>,
        config: &Config,
        floors: &Floors,
        runtime: Runtime,
    ) -> Result<Self, RelayError> {
        if runtime == Runtime::Unavailable {
            return Err(RelayError::new(
                RelayErrorCode::CapabilityUnavailable,
                "this device has no sandbox for commands",
            ));
        }
        let allowed = Allowed::new(&config.lends, terms)?;
        if runtime == Runtime::Local && !allowed.unsandboxed() {
            return Err(refusal::denied(
                "this device has no sandbox, and commands without one are not granted",
            ));
        }
        let (program, args) = program(asked)?;
        let place = floors.place(asked.cwd.as_ref(), terms, &allowed)?;
        if runtime == Runtime::Local && place.mode == RootMode::Ro {
            // Nothing would keep it from writing there.
            return Err(refusal::denied("the root is read-only, which cannot be enforced without a sandbox"));
        }
        if asked.pty.is_some_and(|size| size.cols == 0 || size.rows == 0) {
            return Err(refusal::invalid("a terminal needs at least one column and one row"));
        }
        Ok(Self {
            program,
            args,
            env: environment(asked, config, &allowed)?,
            place,
            bound: floors.bound(terms),
            network: allowed.network(),
            pty: asked.pty,
            background: asked.background,
            runtime_max: allowed.runtime(asked.timeout_ms),
            output_max: allowed.output(asked.output_limit_bytes),
        })
    }
}

fn program(asked: &StartCommand) -> Result<(OsString, Vec<OsString>), RelayError> {
    let (program, args) = match asked.program() {
        Some(CommandProgram::Line(line)) => (LINE_SHELL, vec!["-c".to_owned(), line.to_owned()]),
        Some(CommandProgram::Argv(program, args)) => (program, args.to_vec()),
        None => return Err(refusal::invalid("set either `command` or `argv`")),
    };
    if program.is_empty() || program.contains('\0') || args.iter().any(|arg| arg.contains('\0')) {
        return Err(refusal::invalid("`argv` needs a program name, and no argument may contain NUL"));
    }
    Ok((program.into(), args.into_iter().map(Into::into).collect()))
}

/// From nothing: what every command has, what the owner hands on, and what is asked for, as far as both sides allow it.
fn environment(
    asked: &StartCommand,
    config: &Config,
    allowed: &Allowed<'_>,
) -> Result<Vec<(String, String)>, RelayError> {
    for (name, value) in &asked.env {
        if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
            return Err(refusal::invalid(
                "`env` contains an invalid variable: names must not be empty or contain `=`, and nothing may contain NUL",
            ));
        }
        if !allowed.variable(name) {
            return Err(refusal::denied(
                "the device's owner or its grant does not allow this environment variable",
            )
            .with("variable", name.as_str()));
        }
    }
    let mut env: Vec<_> = BASE.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let handed_on = config.environment.iter().filter(|(name, _)| allowed.variable(name));
    for (name, value) in handed_on.chain(&asked.env) {
        env.retain(|(known, _)| known != name);
        env.push((name.clone(), value.clone()));
    }
    Ok(env)
}
