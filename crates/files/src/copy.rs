//! Copying a tree to where it cannot be renamed to.

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

use crate::{CHUNK_BYTES, Cause, DEPTH_MAX, root::DIRECTORY, root::child};

/// Copies the entry `from` to the free name `to`: content, permissions, times and, where allowed, the owner. Links are
/// copied as links. Pipes, sockets and devices are refused. What was copied before an error is left to the caller.
pub(crate) fn copy(from_dir: &OwnedFd, from: &OsStr, to_dir: &OwnedFd, to: &OsStr) -> Result<(), Cause> {
    let mut buffer = vec![0; CHUNK_BYTES];
    let Some(top) = copy_one(from_dir, from, to_dir, to, &mut buffer)? else { return Ok(()) };
    let mut levels = vec![top];
    while let Some(level) = levels.last_mut() {
        let Some(entry) = level.entries.read() else {
            // Last, since filling a directory moves its time, and its mode may forbid filling it.
            imitate(&child(&level.copy, OsStr::new("."), OFlags::RDONLY)?, &level.stat)?;
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
            return Err(Cause::TooDeep);
        }
    }
    Ok(())
}

/// A directory being copied.
struct Level {
    entries: Dir,
    copy: OwnedFd,
    stat: Stat,
}

/// Copies one entry; a directory is made empty and returned, to be filled.
fn copy_one(
    from_dir: impl AsFd,
    from: &OsStr,
    to_dir: &OwnedFd,
    to: &OsStr,
    buffer: &mut [u8],
) -> Result<Option<Level>, Cause> {
    let stat = fs::statat(&from_dir, from, AtFlags::SYMLINK_NOFOLLOW)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {
            let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let source = fs::openat(&from_dir, from, flags, Mode::empty())?;
            copy_content(File::from(source), to_dir, to, buffer)?;
        }
        FileType::Directory => {
            let entries = Dir::new(child(&from_dir, from, OFlags::RDONLY)?)?;
            fs::mkdirat(to_dir, to, Mode::from_raw_mode(0o700))?;
            return Ok(Some(Level { entries, copy: child(to_dir, to, DIRECTORY)?, stat }));
        }
        FileType::Symlink => {
            fs::symlinkat(fs::readlinkat(&from_dir, from, Vec::new())?, to_dir, to)?;
        }
        _ => return Err(Cause::NotAFile),
    }
    Ok(None)
}

fn copy_content(mut source: File, to_dir: &OwnedFd, to: &OsStr, buffer: &mut [u8]) -> Result<(), Cause> {
    let stat = fs::fstat(&source)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(Cause::NotAFile);
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut target = File::from(fs::openat(to_dir, to, flags, Mode::from_raw_mode(0o600))?);
    loop {
        match source.read(buffer)? {
            0 => break,
            count => target.write_all(&buffer[..count])?,
        }
    }
    imitate(&target.into(), &stat)
}

fn imitate(copy: &OwnedFd, stat: &Stat) -> Result<(), Cause> {
    let owned = fs::fchown(copy, Some(Uid::from_raw(stat.st_uid)), Some(Gid::from_raw(stat.st_gid))).is_ok();
    // A file that changed its owner on the way must not run as the new one.
    let kept = if owned { 0o7777 } else { 0o777 };
    fs::fchmod(copy, Mode::from_raw_mode(stat.st_mode & kept))?;
    let time = |tv_sec, nanos: u64| Timespec { tv_sec, tv_nsec: i64::try_from(nanos).unwrap_or(0) };
    let times = Timestamps {
        last_access: time(stat.st_atime, stat.st_atime_nsec),
        last_modification: time(stat.st_mtime, stat.st_mtime_nsec),
    };
    Ok(fs::futimens(copy, &times)?)
}
