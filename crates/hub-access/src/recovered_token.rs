//! A new token for an administrator who lost theirs and has access to the files of the hub.
//!
//! The program that creates it cannot change the users file: a running hub holds its content in memory and would overwrite the
//! change. It leaves the digest of the token in a directory of its own instead, as the name of an empty file. The hub takes it
//! from there when a client sends the token for the first time, and records that in its audit log.

use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use files::private_file;

use crate::{
    secret::{NewToken, token_digest},
    user_store::TOKEN_PREFIX,
};

/// The directory of the digests, in that of the hub.
const DIRECTORY: &str = "recovered-tokens";

/// How many tokens can be created before one of them is used.
const TOKENS_MAX: usize = 16;

/// Why no token was created.
#[derive(Debug, thiserror::Error)]
pub enum RecoverTokenError {
    /// There is no hub in the directory.
    #[error("there are no files of a hub in `{}`: pass the directory of the hub with --data-dir", .0.display())]
    NoHub(PathBuf),
    /// Another user runs the hub.
    #[error("the files in `{}` belong to the user with the id {owner}: run this command as that user", path.display())]
    OtherUser {
        /// The directory of the hub.
        path: PathBuf,
        /// The id of the user that it belongs to.
        owner: u32,
    },
    /// Too many tokens were created and never used.
    #[error("{TOKENS_MAX} recovered tokens were never used: use one of them, or delete `{}`", .0.display())]
    Full(PathBuf),
    /// The directory cannot be read or written.
    #[error("could not write to `{}`", path.display())]
    File {
        /// The directory.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// Creates a token that the hub with this users file accepts as that of an administrator, whether it runs or not. No other token
/// changes.
///
/// # Errors
/// If the caller is not the user that the file belongs to, or nothing can be written beside it.
pub fn recover_token(users_file: &Path) -> Result<NewToken, RecoverTokenError> {
    let directory = users_file.parent().unwrap_or(Path::new("."));
    let owner = match fs::metadata(users_file) {
        Ok(metadata) => metadata.uid(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(RecoverTokenError::NoHub(directory.into()));
        }
        Err(source) => return Err(RecoverTokenError::File { path: directory.into(), source }),
    };
    if owner != own_user() {
        return Err(RecoverTokenError::OtherUser { path: directory.into(), owner });
    }
    let path = directory.join(DIRECTORY);
    let file = |source| RecoverTokenError::File { path: path.clone(), source };
    private_file::create_directory(&path).map_err(file)?;
    if fs::read_dir(&path).map_err(file)?.count() >= TOKENS_MAX {
        return Err(RecoverTokenError::Full(path));
    }
    let new = NewToken::mint(TOKEN_PREFIX).map_err(file)?;
    private_file::write(&path.join(new.digest()), b"").map_err(file)?;
    Ok(new)
}

/// Whether this token was recovered and not used before. Forgets it: it is accepted once, and stored with the others from then on.
pub(crate) fn take(users_file: &Path, secret: &str) -> bool {
    let path = users_file.with_file_name(DIRECTORY);
    // A digest has no characters that mean something in a path.
    let digest = path.join(token_digest(secret));
    let is_own = |path: &Path, is_kind: fn(&fs::Metadata) -> bool| {
        let metadata = fs::symlink_metadata(path);
        metadata.is_ok_and(|metadata| is_kind(&metadata) && metadata.uid() == own_user())
    };
    // In a shared directory, another user could have created both.
    is_own(&path, fs::Metadata::is_dir)
        && is_own(&digest, fs::Metadata::is_file)
        && fs::remove_file(digest).is_ok()
}

fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}
