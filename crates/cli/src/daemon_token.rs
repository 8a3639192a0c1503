//! The token that a daemon generates for itself, and how commands of the same user find it.
//!
//! Two files in the data directory belong together: `daemon-token`, which stays the same across restarts, and
//! `daemon-address`, which says where the daemon listens and is locked while it does. A command sends the token to that
//! address only, and only while the lock is held: once the daemon has ended, another user may listen there.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, Write},
    net::SocketAddr,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use client::{Client, Endpoint, Token};
use daemon::DaemonToken;
use files::private_file;
use rustix::{
    fs::OFlags,
    rand::{GetRandomFlags, getrandom},
};

use crate::storage::data_dir;

/// The file with the token, in the data directory.
const TOKEN_FILE: &str = "daemon-token";

/// The file with the address, in the data directory.
const ADDRESS_FILE: &str = "daemon-address";

/// The length of a token before it is encoded as text: 256 bits, as for the tokens of a hub.
const TOKEN_BYTES: usize = 32;

/// How often a daemon tries to lock its address, and how long it waits in between. Commands hold the lock for the moment in which
/// they look whether a daemon holds it.
const LOCK_ATTEMPTS: u32 = 100;
const LOCK_RETRY_AFTER: Duration = Duration::from_millis(10);

/// Where the daemon with this data directory stores its token.
pub(crate) fn path(data_dir: &Path) -> PathBuf {
    data_dir.join(TOKEN_FILE)
}

/// The token of the daemon with this data directory, generated on its first start.
pub(crate) fn load_or_generate(data_dir: &Path) -> anyhow::Result<DaemonToken> {
    private_file::create_directory(data_dir).with_context(|| {
        format!("could not use the data directory `{}`; choose another with --data-dir", data_dir.display())
    })?;
    let path = path(data_dir);
    let describe = || {
        let path = path.display();
        format!("could not use the token file `{path}`: delete it to get a new token, or pass --token-file")
    };
    let token = private_file::read_or_create_own(&path, generate).with_context(describe)?;
    let token = String::from_utf8(token).map_err(io::Error::other).with_context(describe)?;
    DaemonToken::new(&token).with_context(describe)
}

fn generate() -> io::Result<Vec<u8>> {
    let mut bytes = [0; TOKEN_BYTES];
    // The kernel returns so few bytes completely or not at all.
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(format!("{}\n", URL_SAFE_NO_PAD.encode(bytes)).into_bytes())
}

/// Says where a daemon with a generated token listens, for as long as this value lives.
#[derive(Debug)]
pub(crate) struct AddressRecord {
    _locked: File,
}

impl AddressRecord {
    /// Records that this process listens on `address` and uses the token in `data_dir`.
    pub(crate) async fn publish(data_dir: &Path, address: SocketAddr) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
        let mut file = options.open(data_dir.join(ADDRESS_FILE))?;
        lock(&file).await?;
        file.set_len(0)?;
        file.write_all(content(address).as_bytes())?;
        Ok(Self { _locked: file })
    }
}

async fn lock(file: &File) -> io::Result<()> {
    for _ in 0..LOCK_ATTEMPTS {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => tokio::time::sleep(LOCK_RETRY_AFTER).await,
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Err(io::ErrorKind::ResourceBusy.into())
}

/// A client with the generated token, if a daemon of this user listens at `endpoint`. The client checks that before each
/// connection: it may live, and reconnect, longer than the daemon.
pub(crate) fn connect(endpoint: &Endpoint) -> Option<client::Result<Client>> {
    let data_dir = data_dir(None).ok()?;
    let listener = recorded_address(&data_dir)?;
    let endpoint = endpoint.at_loopback(listener)?;
    let token = private_file::read(&path(&data_dir)).ok()??;
    let token: Token = String::from_utf8(token).ok()?.parse().ok()?;
    let find_listener = move || recorded_address(&data_dir).filter(|address| *address == listener);
    Some(Client::new_local(endpoint, &token, find_listener))
}

/// Where the daemon with this data directory listens; `None` if it has ended or is in another network namespace.
fn recorded_address(data_dir: &Path) -> Option<SocketAddr> {
    let path = data_dir.join(ADDRESS_FILE);
    let file = File::open(&path).ok()?;
    let Err(TryLockError::WouldBlock) = file.try_lock_shared() else { return None };
    let recorded = io::read_to_string(file).ok()?;
    let address = recorded.lines().next()?.parse().ok()?;
    (recorded == content(address)).then_some(address)
}

/// The content of the file. In another network namespace, as containers have it, the same address is another server.
fn content(address: SocketAddr) -> String {
    let namespace = std::fs::read_link("/proc/self/ns/net").unwrap_or_default();
    format!("{address}\n{}\n", namespace.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_address_is_valid_while_its_daemon_lives_in_the_same_network_namespace() {
        let directory = tempfile::tempdir().unwrap();
        let address: SocketAddr = "127.0.0.1:2468".parse().unwrap();
        assert_eq!(recorded_address(directory.path()), None);
        let record = AddressRecord::publish(directory.path(), address).await.unwrap();
        assert_eq!(recorded_address(directory.path()), Some(address));
        drop(record);
        assert_eq!(recorded_address(directory.path()), None);
        let record = AddressRecord::publish(directory.path(), address).await.unwrap();
        std::fs::write(directory.path().join(ADDRESS_FILE), format!("{address}\nnet:[1]\n")).unwrap();
        assert_eq!(recorded_address(directory.path()), None);
        drop(record);
    }

    #[test]
    fn a_token_has_256_bits_and_is_kept() {
        use secrecy::ExposeSecret;
        let directory = tempfile::tempdir().unwrap();
        let load = || load_or_generate(&directory.path().join("data")).unwrap().expose_secret().to_owned();
        let token = load();
        assert_eq!(URL_SAFE_NO_PAD.decode(&token).unwrap().len(), TOKEN_BYTES);
        assert_eq!(load(), token);
    }
}
