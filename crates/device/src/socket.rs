//! Where the owner speaks to a device that runs: a local socket, a line of JSON each way.

pub(crate) mod path;

use std::{
    fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use protocol::device::{DeviceControlCommand, DeviceReply, LocalDeviceStatus};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{UnixListener, UnixStream},
    task::JoinSet,
    time::timeout,
};
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::Device;

/// The longest thing that is said to a device.
const LINE_BYTES_MAX: u64 = 4 << 10;

/// The longest thing that a device says: what runs, who used it and what went wrong are bounded, and so are their texts.
const ANSWER_BYTES_MAX: u64 = 1 << 20;

/// How many may speak to it at a time: people, and what they look with.
const CALLERS_MAX: usize = 16;

/// How long somebody may say nothing; who stays to see the end has said all.
const SILENCE_MAX: Duration = Duration::from_secs(30);

/// How long a device may take to answer: it only looks.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(5);

/// What a device tells of itself.
pub type Telling = Arc<dyn Fn() -> LocalDeviceStatus + Send + Sync>;

/// Where the owner speaks to a device that runs. Nobody else can.
#[derive(Debug)]
pub struct ControlSocket {
    listener: UnixListener,
    path: PathBuf,
}

impl ControlSocket {
    /// Listens there. Whoever calls is the only process that does.
    ///
    /// # Errors
    /// If that is not possible.
    pub fn bind(path: &Path) -> io::Result<Self> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            // It is what a device left that was killed.
            _ => {}
        }
        let listener = path::short(path, |path| UnixListener::bind(path))?;
        // Its directory is for its owner only, so nobody was there before.
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
        Ok(Self { listener, path: path.to_owned() })
    }

    /// Answers until `stop`; who is still there then sees the end of the connection.
    pub async fn serve(self, device: Device, telling: Telling, stop: CancellationToken) {
        let mut callers = JoinSet::new();
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                Some(_) = callers.join_next() => {}
                accepted = self.listener.accept(), if callers.len() < CALLERS_MAX => match accepted {
                    Ok((stream, _)) if is_ours(&stream) => {
                        callers.spawn(answer(stream, device.clone(), telling.clone()));
                    }
                    Ok(_) => warn!("rejected a control connection from another user"),
                    Err(error) => warn!(%error, "could not accept a control connection"),
                },
            }
        }
        // Before the socket is gone nobody takes the device for another one.
        let _ = fs::remove_file(&self.path);
        callers.shutdown().await;
    }
}

/// Whether the other side is the same user, or the one who may do everything.
fn is_ours(stream: &UnixStream) -> bool {
    let own = rustix::process::getuid().as_raw();
    stream.peer_cred().is_ok_and(|peer| peer.uid() == own || peer.uid() == 0)
}

async fn answer(mut stream: UnixStream, device: Device, telling: Telling) {
    let (reader, mut writer) = stream.split();
    let mut reader = BufReader::new(reader);
    loop {
        let mut line = Vec::new();
        let mut limited = (&mut reader).take(LINE_BYTES_MAX);
        match timeout(SILENCE_MAX, limited.read_until(b'\n', &mut line)).await {
            Ok(Ok(read)) if read > 0 => {}
            _ => return,
        }
        let is_whole = line.ends_with(b"\n");
        let said = if is_whole {
            serde_json::from_slice(&line).map_err(|error| error.to_string())
        } else {
            Err("the request line is too long or incomplete".into())
        };
        let answer = match said {
            Ok(command) => {
                obey(&device, command);
                DeviceReply::Status(Box::new(telling()))
            }
            Err(why) => DeviceReply::Error(why),
        };
        let mut bytes = serde_json::to_vec(&answer).unwrap_or_default();
        bytes.push(b'\n');
        let written = timeout(SILENCE_MAX, writer.write_all(&bytes)).await;
        if !is_whole || !matches!(written, Ok(Ok(()))) {
            return;
        }
    }
}

fn obey(device: &Device, command: DeviceControlCommand) {
    match command {
        DeviceControlCommand::Status => {}
        DeviceControlCommand::Pause { reason } => device.control().pause(reason),
        DeviceControlCommand::Resume => device.control().resume(),
        DeviceControlCommand::Forget => device.consent().forget(),
        DeviceControlCommand::Stop => device.control().stop(),
    }
}

/// Says something to the device that listens there, and returns what it answers; and the connection, which ends when the
/// device does.
///
/// # Errors
/// If no device listens there, or it cannot make sense of it.
pub async fn ask(path: &Path, command: &DeviceControlCommand) -> io::Result<(LocalDeviceStatus, UnixStream)> {
    let address = path::short(path, |path| std::os::unix::net::UnixStream::connect(path))?;
    address.set_nonblocking(true)?;
    let mut stream = UnixStream::from_std(address)?;
    let asking = async {
        let mut line = serde_json::to_vec(command)?;
        line.push(b'\n');
        stream.write_all(&line).await?;
        let mut answer = Vec::new();
        BufReader::new((&mut stream).take(ANSWER_BYTES_MAX)).read_until(b'\n', &mut answer).await?;
        match serde_json::from_slice(&answer)? {
            DeviceReply::Status(status) => Ok(*status),
            DeviceReply::Error(why) => Err(io::Error::new(io::ErrorKind::InvalidInput, why)),
        }
    };
    let status: io::Result<LocalDeviceStatus> =
        timeout(ANSWER_WAIT_MAX, asking).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    Ok((status?, stream))
}

#[cfg(test)]
mod tests;
