//! The real device program, as a child process.

use std::{
    fs, io,
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;

use super::{BenchSetup, kill_with_parent::kill_with_parent, relay_hub::RelayHub};

/// The real device program, which offers the directory `files` and a shell. Dropping this kills it.
#[derive(Debug)]
pub(crate) struct DeviceProcess {
    child: Child,
    home: TempDir,
}

impl DeviceProcess {
    /// Starts the device `laptop` and waits until the hub reports it as connected.
    pub(crate) async fn connect(setup: &BenchSetup, hub: &RelayHub) -> io::Result<Self> {
        let home = TempDir::new_in(&setup.dir)?;
        let (files, token) = (home.path().join("files"), home.path().join("token"));
        fs::create_dir(&files)?;
        fs::write(&token, hub.register_device("laptop").await?)?;
        let mut command = Command::new(&setup.ours);
        command.args(["device", "connect", hub.base(), "--client-id", "laptop", "--shell"]);
        command.arg("--root").arg(format!("main={}:rw", files.display()));
        command.arg("--token-file").arg(token).arg("--data-dir").arg(home.path().join("data"));
        command.env("HOME", home.path()).stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(fs::File::create(home.path().join("log"))?);
        kill_with_parent(&mut command);
        let device = Self { child: command.spawn()?, home };
        hub.wait_until_connected("laptop").await?;
        Ok(device)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The directory that the device offers.
    pub(crate) fn files(&self) -> PathBuf {
        self.home.path().join("files")
    }
}

impl Drop for DeviceProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
