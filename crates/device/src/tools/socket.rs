//! Where programs of this machine offer tools.

use std::{
    fs, io,
    os::unix::{
        fs::{FileTypeExt, PermissionsExt},
        net::UnixStream as StdUnixStream,
    },
    path::{Path, PathBuf},
    sync::Arc,
};

use relay::{Limits, Lines, Peer, Side};
use rustix::process::geteuid;
use tokio::{
    net::{UnixListener, UnixStream},
    sync::Semaphore,
    task::JoinSet,
    time::{Duration, sleep},
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use super::{Shelf, outcome::RESULT_BYTES_MAX, program::Program};
use crate::socket::path;

/// How many programs may be there at a time.
const PROGRAMS_MAX: usize = 32;

/// How long it waits when the system has no room for one more connection.
const ACCEPT_AGAIN: Duration = Duration::from_millis(200);

/// Where programs of this machine offer tools: a Unix socket on which both sides speak the frames of the relay, one on each line.
/// Only programs of the same user are heard. When one leaves, its tools are gone.
#[derive(Debug)]
pub struct ToolSocket {
    listener: UnixListener,
    path: PathBuf,
}

impl ToolSocket {
    /// Opens the socket at `path`, in place of one that nobody listens at any more.
    ///
    /// # Errors
    /// If somebody listens there, or it cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        match path::short(path, |path| StdUnixStream::connect(path)) {
            Ok(_) => return Err(io::ErrorKind::AddrInUse.into()),
            // Nobody listens at what is no socket either.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused && is_socket(path) => {
                fs::remove_file(path)?
            }
            Err(_) => {}
        }
        let listener = path::short(path, |path| UnixListener::bind(path))?;
        // Until then the user of whoever connects is looked at, as it is afterwards.
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
        Ok(Self { listener, path: path.to_owned() })
    }

    /// Lets programs put tools on the shelf, until `stop`.
    pub async fn serve(self, shelf: Shelf, stop: CancellationToken) {
        let mut programs = JoinSet::new();
        let room = Arc::new(Semaphore::new(PROGRAMS_MAX));
        loop {
            let accepted = tokio::select! {
                () = stop.cancelled() => break,
                Some(_) = programs.join_next() => continue,
                accepted = self.listener.accept() => accepted,
            };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    warn!(%error, "could not accept a tool program's connection");
                    sleep(ACCEPT_AGAIN).await;
                    continue;
                }
            };
            if !is_ours(&stream) {
                warn!("rejected a tool program of another user");
                continue;
            }
            let Ok(place) = Arc::clone(&room).try_acquire_owned() else {
                warn!(limit = PROGRAMS_MAX, "rejected a tool program: too many are connected");
                continue;
            };
            let (shelf, stop) = (shelf.clone(), stop.clone());
            programs.spawn(async move {
                attend(stream, shelf, stop).await;
                drop(place);
            });
        }
        programs.shutdown().await;
    }
}

impl Drop for ToolSocket {
    fn drop(&mut self) {
        // Whoever comes next removes it otherwise.
        let _ = fs::remove_file(&self.path);
    }
}

fn is_socket(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| about.file_type().is_socket())
}

/// Whether the program at the other end belongs to the same user.
fn is_ours(stream: &UnixStream) -> bool {
    stream.peer_cred().is_ok_and(|peer| peer.uid() == geteuid().as_raw())
}

/// Speaks with one program until it leaves.
async fn attend(stream: UnixStream, shelf: Shelf, stop: CancellationToken) {
    // What a tool answers is passed on in one message.
    let limits = Limits { frame_bytes_max: RESULT_BYTES_MAX, ..Limits::default() };
    let (program, presence) = Program::new(shelf);
    let (peer, driver) = Peer::start(Lines::new(stream, &limits), program, Side::Server, limits);
    presence.begin(peer.clone());
    let mut driver = std::pin::pin!(driver);
    let lost = tokio::select! {
        lost = &mut driver => lost,
        () = stop.cancelled() => {
            peer.close("the device is shutting down");
            driver.await
        }
    };
    debug!(%lost, "a tool program disconnected");
}
