//! What a command runs in where the system can do that.
//!
//! Bubblewrap makes the namespaces and a root filesystem of its own: the programs of the system, read-only; a selection of
//! `/etc`; an empty `/tmp`; and the directories that are granted, at their virtual paths. Nothing else of the machine is
//! there, so there is nothing to hide. Everything that is bound is handed over as a descriptor, so that neither its path nor
//! another thing at that path gets in. The first process inside is [`init`](super::init), which adds landlock, a filter of
//! system calls and limits before it starts the command.

mod view;

use std::{
    ffi::OsString,
    fs::File,
    io,
    os::fd::{AsRawFd, OwnedFd},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use process::ProcessSpec;
use protocol::relay::{CommandNetwork, RootMode, VirtualPath};

use super::{
    init::{Orders, VARIABLE_PREFIX, command_variables},
    place::Bound,
    plan::Plan,
    proxy::handover::ListenerReceiver,
    report::{Report, Word},
    scratch::Lease,
};

/// Where bubblewrap is on every distribution that we know.
const BWRAP: &str = "/usr/bin/bwrap";

/// Where the first process lies inside.
const INIT: &str = "/run/tombolo-init";

/// Of what a command may keep files in, `/dev/shm` has this part and `/tmp` the rest: browsers and databases use the former,
/// and little of it.
const SHM_PART: u64 = 4;

/// What the trial may keep files in: it keeps none.
const PROBE_SCRATCH_BYTES: u64 = 1 << 20;

/// How long the trial may take: the machine may be starting.
const PROBE_MAX: Duration = Duration::from_secs(20);

/// How a sandbox is made.
#[derive(Debug, Clone)]
pub struct Sandbox {
    bwrap: PathBuf,
    /// The program that becomes the first process inside, …
    init: Arc<OwnedFd>,
    /// … and the argument that makes it that.
    argument: OsString,
    /// The version of landlock of which it uses nothing newer.
    landlock: i32,
}

/// The device's ends of what connects it with a sandbox.
pub(super) struct SandboxConnection {
    pub(super) report: Report,
    /// Receives the listener of the proxy, if the command has one.
    pub(super) listener: Option<ListenerReceiver>,
}

/// Why there is no sandbox.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// It could not be described.
    #[error("the kernel lacks a feature that the sandbox needs")]
    System(#[from] io::Error),
    /// Bubblewrap could not be started.
    #[error("could not start bubblewrap (`bwrap`); install it")]
    Start(#[from] process::Error),
    /// A command in it did not come to its end.
    #[error("a test command in the sandbox failed: {0}")]
    Failed(String),
}

impl Sandbox {
    /// A sandbox in which this program, started with [`init::ARGUMENT`](super::init::ARGUMENT), is the first.
    ///
    /// # Errors
    /// If the program cannot be opened.
    pub fn new(program: &std::path::Path) -> io::Result<Self> {
        let init = Arc::new(OwnedFd::from(File::open(program)?));
        Ok(Self { bwrap: BWRAP.into(), init, argument: super::init::ARGUMENT.into(), landlock: i32::MAX })
    }

    /// The same, made by this bubblewrap.
    #[must_use]
    pub fn bwrap(mut self, bwrap: impl Into<PathBuf>) -> Self {
        self.bwrap = bwrap.into();
        self
    }

    /// The same, on a system that knows no newer landlock than this version of it.
    #[must_use]
    pub fn landlock(mut self, version: i32) -> Self {
        self.landlock = version;
        self
    }

    /// Whether it works: a command is run in it.
    ///
    /// # Errors
    /// What is in the way.
    pub async fn probe(&self) -> Result<(), Unusable> {
        let inside = Inside {
            bound: &[],
            network: CommandNetwork::None,
            cwd: "/",
            terminal: false,
            scratch_bytes: PROBE_SCRATCH_BYTES,
        };
        let (spec, mut connection) =
            self.describe(&inside, &[], &["/bin/sh".into(), "-c".into(), ":".into()])?;
        let report = &mut connection.report;
        let raw = process::spawn_raw(&spec).await?;
        drop(spec);
        let said = async { (report.next().await, report.next().await) };
        let said = tokio::time::timeout(PROBE_MAX, said).await;
        if let Ok((Some(Word::Started), Some(Word::Exited(0)))) = said {
            raw.control.stop().await;
            return Ok(());
        }
        let mut outputs = raw.outputs;
        let written = tokio::time::timeout(PROBE_MAX, outputs.next()).await.ok().flatten();
        let written = written.map(|output| String::from_utf8_lossy(&output.bytes).trim().to_owned());
        raw.control.stop().await;
        Err(Unusable::Failed(written.unwrap_or_else(|| format!("{said:?}"))))
    }

    /// What to run for a command, and the device's ends of what connects it with the sandbox.
    pub(super) fn spec(&self, plan: &Plan, scratch: &Lease) -> io::Result<(ProcessSpec, SandboxConnection)> {
        let inside = Inside {
            bound: &plan.bound,
            network: plan.network,
            cwd: plan.place.at.as_str(),
            terminal: plan.pty.is_some(),
            scratch_bytes: scratch.bytes(),
        };
        let command: Vec<_> = std::iter::once(&plan.program).chain(&plan.args).cloned().collect();
        self.describe(&inside, &plan.env, &command)
    }

    fn describe(
        &self,
        inside: &Inside<'_>,
        env: &[(String, String)],
        command: &[OsString],
    ) -> io::Result<(ProcessSpec, SandboxConnection)> {
        let (report, writer) = Report::new()?;
        let (listener, sender) = match inside.network {
            CommandNetwork::None | CommandNetwork::Host => (None, None),
            CommandNetwork::Proxy => {
                let (listener, sender) = ListenerReceiver::new()?;
                (Some(listener), Some(Arc::new(sender)))
            }
        };
        let orders = Orders {
            report: writer.as_raw_fd(),
            writable: inside.writable(),
            network: inside.network,
            proxy: sender.as_ref().map(|sender| sender.as_raw_fd()),
            landlock: self.landlock,
        };
        let mut spec = ProcessSpec::new(&self.bwrap)
            .args(inside.namespaces())
            .args(view::system())
            .args(inside.scratch())
            .args(["--ro-bind-fd", &self.init.as_raw_fd().to_string(), INIT])
            .args(inside.roots())
            .args(["--remount-ro", "/", "--chdir", inside.cwd, "--", INIT])
            .arg(&self.argument)
            .arg(orders.to_argument())
            // Bubblewrap waits for the command, which the signals are for.
            .ignore_signals()
            .new_session()
            .env_clear()
            .inherit_fd(Arc::new(writer))
            .inherit_fd(self.init.clone());
        for bound in inside.bound {
            spec = spec.inherit_fd(bound.handle.clone());
        }
        if let Some(sender) = sender {
            spec = spec.inherit_fd(sender);
        }
        if inside.terminal {
            spec = spec.env(format!("{VARIABLE_PREFIX}TERM"), "xterm-256color");
        }
        for (name, word) in command_variables(command) {
            spec = spec.env(name, word);
        }
        // Bubblewrap itself must not be told what to load.
        for (name, value) in env {
            spec = spec.env(format!("{VARIABLE_PREFIX}{name}"), value);
        }
        Ok((spec, SandboxConnection { report, listener }))
    }
}

/// Whether a sandbox has something of its own at a path, or above or below it.
pub(super) fn has(path: &VirtualPath) -> bool {
    let is_in = |place: &str| {
        let place: Result<VirtualPath, _> = place.parse();
        place.is_ok_and(|place| place.below(path).is_some() || path.below(&place).is_some())
    };
    view::PLACES.into_iter().any(is_in)
}

/// What there is inside.
struct Inside<'a> {
    bound: &'a [Bound],
    network: CommandNetwork,
    cwd: &'a str,
    terminal: bool,
    scratch_bytes: u64,
}

impl Inside<'_> {
    fn namespaces(&self) -> Vec<&'static str> {
        let mut args = vec![
            "--unshare-user",
            "--unshare-pid",
            "--unshare-ipc",
            "--unshare-uts",
            "--unshare-cgroup-try",
            "--hostname",
            "sandbox",
            "--die-with-parent",
            "--as-pid-1",
            // Who is root outside would be nearly that inside.
            "--cap-drop",
            "ALL",
        ];
        match self.network {
            // Bubblewrap brings the loopback interface of the new namespace up.
            CommandNetwork::None | CommandNetwork::Proxy => args.push("--unshare-net"),
            CommandNetwork::Host => {
                args.extend(view::NETWORK.iter().flat_map(|path| ["--ro-bind-try", path, path]))
            }
        }
        args
    }

    /// What is written here is gone with the command.
    fn scratch(&self) -> Vec<String> {
        let mut args: Vec<_> = ["--proc", "/proc", "--dev", "/dev"].map(str::to_owned).into();
        let shm = self.scratch_bytes / SHM_PART;
        for (place, bytes) in [("/tmp", self.scratch_bytes - shm), ("/dev/shm", shm)] {
            args.extend(["--size", &bytes.to_string(), "--tmpfs", place].map(str::to_owned));
        }
        args.extend(["--symlink", "/tmp", "/var/tmp", "--remount-ro", "/dev"].map(str::to_owned));
        args
    }

    fn roots(&self) -> Vec<String> {
        let bind = |Bound { handle, at, mode }: &Bound| {
            let how = if *mode == RootMode::Rw { "--bind-fd" } else { "--ro-bind-fd" };
            [how.to_owned(), handle.as_raw_fd().to_string(), at.to_string()]
        };
        self.bound.iter().flat_map(bind).collect()
    }

    fn writable(&self) -> Vec<String> {
        let roots =
            self.bound.iter().filter(|bound| bound.mode == RootMode::Rw).map(|bound| bound.at.to_string());
        roots.chain(["/tmp", "/dev"].map(str::to_owned)).collect()
    }
}
