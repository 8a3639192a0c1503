//! Files that only their owner can read, replaced as a whole.
//!
//! A write goes to a temporary file in the same directory (mode 0600), is flushed to the disk, and is then renamed over the
//! old file; the directory is flushed last. A crash at any point leaves the old content or the new, never a part.

use std::{
    fs::{DirBuilder, File, OpenOptions, Permissions},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::Path,
};

use rustix::fs::OFlags;
use tempfile::NamedTempFile;

/// The mode bit of directories in which many users create files.
const STICKY: u32 = 0o1000;

/// Reads a file; `None` if it does not exist.
///
/// # Errors
/// If it exists and cannot be read.
pub fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match std::fs::read(path) {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Replaces the content of a file, or creates it.
///
/// # Errors
/// If it cannot be written. The old content is still there then.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    write_with(path, |file| file.write_all(content))
}

/// Replaces the content of a file by what `fill` writes, for content that is too large to hold in memory.
///
/// # Errors
/// If `fill` fails or the file cannot be written. The old content is still there then.
pub fn write_with(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let directory = directory_of(path);
    // `tempfile` creates files with mode 0600 and deletes this one if we return before `persist`.
    let mut file = NamedTempFile::new_in(directory)?;
    fill(file.as_file_mut())?;
    // Without this, a power failure after the rename could leave an empty file under the final name.
    file.as_file().sync_all()?;
    file.persist(path)?;
    // The rename itself is durable once the directory is.
    File::open(directory)?.sync_all()
}

/// Reads a secret of this process's user, or creates its file from what `make` returns. Several processes may do so at once:
/// all of them get what the first one created.
///
/// A file that others could read becomes private. In a shared directory, another user could have left a secret that he knows:
/// a link, or a file of another user, is an error.
///
/// # Errors
/// If the file cannot be read or created, or is not a file of this user.
pub fn read_or_create_own(path: &Path, make: impl FnOnce() -> io::Result<Vec<u8>>) -> io::Result<Vec<u8>> {
    if let Some(content) = read_own(path)? {
        return Ok(content);
    }
    let mut file = NamedTempFile::new_in(directory_of(path))?;
    file.write_all(&make()?)?;
    file.as_file().sync_all()?;
    // Unlike a rename, this fails if another process was faster; that process's file is read below.
    match file.persist_noclobber(path) {
        Ok(_) => File::open(directory_of(path))?.sync_all()?,
        Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(failed) => return Err(failed.error),
    }
    read_own(path)?.ok_or_else(|| io::ErrorKind::NotFound.into())
}

fn read_own(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let mut file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other("it belongs to another user"));
    }
    if metadata.permissions().mode() & 0o077 != 0 {
        file.set_permissions(Permissions::from_mode(0o600))?;
    }
    let mut content = Vec::new();
    file.read_to_end(&mut content)?;
    Ok(Some(content))
}

fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Creates an empty file if there is none, for a library that opens the path itself and would make it readable to others.
///
/// # Errors
/// If it cannot be created.
pub fn create_if_missing(path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path).map(drop)
}

/// Creates a directory that only its owner can enter, and its parents, if it does not exist.
///
/// # Errors
/// If it cannot be created.
pub fn create_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Makes a directory private: creates it if it does not exist, and otherwise takes the access of others away. Returns whether
/// others had access.
///
/// A directory that is shared by design, as `/tmp` and the root of a tmpfs are, is left as it is: what is in it must be private
/// by itself.
///
/// # Errors
/// If it cannot be created or changed.
pub fn make_directory_private(path: &Path) -> io::Result<bool> {
    create_directory(path)?;
    let mode = path.metadata()?.permissions().mode();
    if mode & STICKY != 0 || mode & 0o077 == 0 {
        return Ok(false);
    }
    std::fs::set_permissions(path, Permissions::from_mode(0o700))?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = directory.read_dir().unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_file_is_created_and_replaced_for_its_owner_only() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        assert_eq!(read(&path).unwrap(), None);
        write(&path, b"old").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        write(&path, b"new").unwrap();
        assert_eq!(read(&path).unwrap().unwrap(), b"new");
        assert_eq!(mode(&path), 0o600);
        assert_eq!(names(directory.path()), ["file"]);
    }

    #[test]
    fn processes_that_create_a_secret_at_once_get_the_same() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret");
        let create = |n: u8| read_or_create_own(&path, || Ok(vec![n])).unwrap();
        let contents: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|n| scope.spawn(move || create(n))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(contents.iter().all(|content| *content == contents[0]), "{contents:?}");
        assert_eq!((names(directory.path()).len(), mode(&path)), (1, 0o600));
        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        assert_eq!(read_or_create_own(&path, || Ok(vec![9])).unwrap(), contents[0]);
        assert_eq!(mode(&path), 0o600);
    }

    #[test]
    fn a_write_that_fails_halfway_leaves_the_old_content_and_nothing_beside_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        write(&path, b"old").unwrap();
        let failed = write_with(&path, |file| {
            file.write_all(b"ne")?;
            Err(io::Error::other("disk full"))
        });
        assert_eq!(failed.unwrap_err().to_string(), "disk full");
        assert_eq!(read(&path).unwrap().unwrap(), b"old");
        assert_eq!(names(directory.path()), ["file"]);
    }

    #[test]
    fn a_directory_that_others_could_enter_is_made_private_unless_it_is_shared() {
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("data");
        assert!(!make_directory_private(&directory).unwrap());
        assert_eq!(mode(&directory), 0o700);
        std::fs::set_permissions(&directory, Permissions::from_mode(0o755)).unwrap();
        assert!(make_directory_private(&directory).unwrap());
        assert_eq!(mode(&directory), 0o700);
        std::fs::set_permissions(&directory, Permissions::from_mode(0o1777)).unwrap();
        assert!(!make_directory_private(&directory).unwrap());
        assert_eq!(mode(&directory), 0o777);
    }

    /// A reader that opens the file during any number of writes sees one of the two contents as a whole.
    #[test]
    fn readers_never_see_a_partial_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let contents = [vec![b'a'; 100_000], vec![b'b'; 50_000]];
        write(&path, &contents[0]).unwrap();
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| (0..20).for_each(|turn| write(&path, &contents[turn % 2]).unwrap()));
            while !writer.is_finished() {
                assert!(contents.contains(&read(&path).unwrap().unwrap()));
            }
        });
    }

    #[test]
    fn an_existing_file_is_not_truncated_when_it_should_only_exist() {
        let directory = tempfile::tempdir().unwrap();
        let inner = directory.path().join("a/b");
        create_directory(&inner).unwrap();
        assert_eq!(mode(&inner), 0o700);
        let path = inner.join("file");
        create_if_missing(&path).unwrap();
        assert_eq!(mode(&path), 0o600);
        write(&path, b"content").unwrap();
        create_if_missing(&path).unwrap();
        assert_eq!(read(&path).unwrap().unwrap(), b"content");
    }
}
