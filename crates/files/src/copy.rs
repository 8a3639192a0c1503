//! Copying a tree to another filesystem, where it cannot be renamed to.

use std::{
    ffi::OsStr,
    fs::File,
    io::{Read, Write},
    os::{
        fd::{AsFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
};

use rustix::fs::{self, AtFlags, Dir, FileType, Gid, Mode, OFlags, Stat, Timespec, Timestamps, Uid};

use crate::{CHUNK_BYTES, DEPTH_MAX, FileErrorCause, root_directory::DIRECTORY, root_directory::open_child};

/// Copies the entry `from` to the free name `to`: content, permissions, times and, if permitted, the owner. Links are copied
/// as links. Pipes, sockets and devices are errors. After an error the caller removes the partial copy.
pub(crate) fn copy(
    from_dir: &OwnedFd,
    from: &OsStr,
    to_dir: &OwnedFd,
    to: &OsStr,
) -> Result<(), FileErrorCause> {
    let mut buffer = vec![0; CHUNK_BYTES];
    let Some(top) = copy_one(from_dir, from, to_dir, to, &mut buffer)? else { return Ok(()) };
    let mut levels = vec![top];
    while let Some(level) = levels.last_mut() {
        let Some(entry) = level.entries.read() else {
            // The metadata comes last: adding entries changes the directory's time, and its mode may forbid adding entries.
            copy_metadata(&open_child(&level.copy, OsStr::new("."), OFlags::RDONLY)?, &level.stat)?;
            levels.pop();
            continue;
        };
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        let below = copy_one(level.entries.fd()?, name, &level.copy, name, &mut buffer)?;
        levels.extend(below);
        if levels.len() > DEPTH_MAX {
            return Err(FileErrorCause::TooDeep);
        }
    }
    Ok(())
}

/// A directory that is being copied.
struct CopyLevel {
    entries: Dir,
    copy: OwnedFd,
    stat: Stat,
}

/// Copies one entry. A directory is created empty and returned, to be filled.
fn copy_one(
    from_dir: impl AsFd,
    from: &OsStr,
    to_dir: &OwnedFd,
    to: &OsStr,
    buffer: &mut [u8],
) -> Result<Option<CopyLevel>, FileErrorCause> {
    let stat = fs::statat(&from_dir, from, AtFlags::SYMLINK_NOFOLLOW)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {
            let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let source = fs::openat(&from_dir, from, flags, Mode::empty())?;
            copy_content(File::from(source), to_dir, to, buffer)?;
        }
        FileType::Directory => {
            let entries = Dir::new(open_child(&from_dir, from, OFlags::RDONLY)?)?;
            fs::mkdirat(to_dir, to, Mode::from_raw_mode(0o700))?;
            return Ok(Some(CopyLevel { entries, copy: open_child(to_dir, to, DIRECTORY)?, stat }));
        }
        FileType::Symlink => {
            fs::symlinkat(fs::readlinkat(&from_dir, from, Vec::new())?, to_dir, to)?;
        }
        _ => return Err(FileErrorCause::NotAFile),
    }
    Ok(None)
}

fn copy_content(
    mut source: File,
    to_dir: &OwnedFd,
    to: &OsStr,
    buffer: &mut [u8],
) -> Result<(), FileErrorCause> {
    let stat = fs::fstat(&source)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(FileErrorCause::NotAFile);
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut target = File::from(fs::openat(to_dir, to, flags, Mode::from_raw_mode(0o600))?);
    loop {
        match source.read(buffer)? {
            0 => break,
            count => target.write_all(&buffer[..count])?,
        }
    }
    copy_metadata(&target.into(), &stat)
}

fn copy_metadata(copy: &OwnedFd, stat: &Stat) -> Result<(), FileErrorCause> {
    let owned = fs::fchown(copy, Some(Uid::from_raw(stat.st_uid)), Some(Gid::from_raw(stat.st_gid))).is_ok();
    // Drop set-user-id and set-group-id if the owner could not be kept: the file must not run as its new owner.
    let kept = if owned { 0o7777 } else { 0o777 };
    fs::fchmod(copy, Mode::from_raw_mode(stat.st_mode & kept))?;
    let time = |tv_sec, nanos: u64| Timespec { tv_sec, tv_nsec: i64::try_from(nanos).unwrap_or(0) };
    let times = Timestamps {
        last_access: time(stat.st_atime, stat.st_atime_nsec),
        last_modification: time(stat.st_mtime, stat.st_mtime_nsec),
    };
    Ok(fs::futimens(copy, &times)?)
}
