//! File operations that cannot leave their directory tree.
//!
//! A [`RootDirectory`] holds one directory handle, and the kernel resolves every path relative to it (`openat2` with
//! `RESOLVE_IN_ROOT`): `..`, absolute paths and symbolic links cannot lead outside, even while other processes rename
//! directories. The second step of an operation works on the handle that the first one opened and never resolves the
//! name again.
//!
//! All functions are synchronous and stream through buffers of at most [`CHUNK_BYTES`]; callers with an async runtime use
//! its blocking pool. The crate knows no HTTP: callers pass a [`RootedPath`] and get an [`Error`] with its [`FileErrorCause`].

#[cfg(not(target_os = "linux"))]
compile_error!(
    "`files` confines paths with openat2(2), which only Linux has: build this crate for a Linux target"
);

mod error;
mod rooted_path;

mod root_directory;

mod append_file;
mod atomic_file;
mod copy;
mod entry_metadata;
mod entry_page;
mod file_watcher;
mod mkdir;
mod open_directory;
mod read;
mod remove;
mod rename;
mod temp_file;

pub mod private_file;
pub mod slot_file;
mod tar_reader;
pub mod unpack;

pub use append_file::AppendFile;
pub use atomic_file::{AtomicFile, CreateOptions, Durability, IfExists, WriteOutcome};
pub use entry_metadata::{EntryMetadata, EntryType, LinkHandling};
pub use entry_page::{ENTRIES_MAX, EntryPage, FileEntry};
pub use error::{Error, FileErrorCause, FileOperation};
pub use file_watcher::{FileChange, FileWatcher, WATCHED_MAX, WatchScope};
pub use mkdir::ParentDirectories;
pub use open_directory::{DirEntry, OpenDirectory};
pub use remove::RemovalScope;
pub use root_directory::RootDirectory;
pub use rooted_path::{PATH_BYTES_MAX, RootedPath};

/// The size of one read or write: large enough that the cost of system calls is negligible, small enough for many
/// concurrent transfers.
pub const CHUNK_BYTES: usize = 256 * 1024;

/// The maximum depth of a tree that is copied to another filesystem or unpacked from an archive. A copy holds two handles per
/// level, and a process has 1,024 by default. Removing and listing have no such limit.
pub const DEPTH_MAX: usize = 128;
