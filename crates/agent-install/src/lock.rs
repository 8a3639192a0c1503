//! One installation of a component at a time, on the whole machine.

use std::{
    fs::{self, File, TryLockError},
    path::Path,
    time::Duration,
};

use protocol::agents::InstallPhase;

use super::{Error, progress::Teller};

/// How often a lock is tried that somebody else holds. A thread that waits in the kernel could not be called back, and
/// would hold up the end of the daemon for as long as a stranger likes.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// The right to change a component. The system takes it back when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct Lock(#[expect(dead_code, reason = "the lock lives as long as the file is open")] File);

impl Lock {
    /// Waits for the lock of the component in `directory`.
    pub(crate) async fn take(directory: &Path, teller: &Teller) -> Result<Self, Error> {
        let doing = "lock the component";
        fs::create_dir_all(directory).map_err(Error::store(doing))?;
        let file = File::options().create(true).truncate(false).write(true).open(directory.join("lock"));
        let file = file.map_err(Error::store(doing))?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self(file)),
                Err(TryLockError::WouldBlock) => {
                    teller.phase(InstallPhase::Waiting);
                    tokio::time::sleep(LOOK_AGAIN).await;
                }
                Err(TryLockError::Error(error)) => return Err(Error::store(doing)(error)),
            }
        }
    }
}
