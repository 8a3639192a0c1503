//! Taking a program out of the file that it came in.
//!
//! Names and links are judged by the rules of `files`: nothing leaves the directory. What is no tar is made into one
//! first, so that there is one set of rules.

use std::{
    fs::{self, File},
    io::{self, BufReader, Read, Seek},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use bzip2::read::MultiBzDecoder;
use files::{RootDirectory, RootedPath, unpack::UnpackLimits};

use super::Fault;
use agent_catalog::Archive;

/// How much may come out of one archive: ten times the largest agent.
const LIMITS: UnpackLimits = UnpackLimits { entries: 200_000, bytes: 8 << 30 };

/// Unpacks the file at `path` into the directory `into`, and makes `program` in it executable.
pub(crate) fn unpack(path: &Path, archive: Archive, into: &Path, program: &str) -> Result<(), Fault> {
    let file = File::open(path).map_err(Fault::local("open the archive"))?;
    match archive {
        Archive::Raw | Archive::ByName => {
            let target = inside(into, program)?;
            fs::copy(path, &target).map_err(Fault::local("copy the program"))?;
        }
        Archive::TarGz => tar(BufReader::new(file), into)?,
        Archive::TarBz2 => tar(MultiBzDecoder::new(BufReader::new(file)), into)?,
        Archive::Zip => tar(zip_as_tar(file)?, into)?,
    }
    make_executable(into, program)
}

/// Unpacks a tar, plain or gzip, into the directory `into`.
pub(crate) fn tar(reader: impl Read, into: &Path) -> Result<(), Fault> {
    let refused = |error: &dyn std::error::Error| Fault::Unpack(error.to_string());
    let root = RootDirectory::open(into).map_err(|error| refused(&error))?;
    match root.unpack(reader, &RootedPath::root(), &LIMITS) {
        Ok(_) => Ok(()),
        Err(error) if is_full(&error) => Err(Fault::NoSpace),
        Err(error) => Err(refused(&error)),
    }
}

fn is_full(error: &files::unpack::Error) -> bool {
    matches!(error, files::unpack::Error::Files(error) if matches!(error.cause(), files::FileErrorCause::NoSpace))
}

/// A place in `into` by a name of the catalog or of a registry.
fn inside(into: &Path, name: &str) -> Result<PathBuf, Fault> {
    let name = Path::new(name);
    let plain = name.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    if !plain || name.as_os_str().is_empty() {
        return Err(Fault::NoProgram(name.display().to_string()));
    }
    Ok(into.join(name))
}

/// Makes the program executable, if it is there: a file in `into`, whatever links lead to it.
pub(crate) fn make_executable(into: &Path, program: &str) -> Result<(), Fault> {
    let missing = || Fault::NoProgram(program.to_owned());
    let path = inside(into, program)?;
    let (real, whole) = (fs::canonicalize(path), fs::canonicalize(into));
    let (Ok(real), Ok(whole)) = (real, whole) else { return Err(missing()) };
    if !real.starts_with(whole) || !real.is_file() {
        return Err(missing());
    }
    let metadata = fs::metadata(&real).map_err(Fault::local("inspect the program"))?;
    if metadata.len() == 0 {
        return Err(Fault::EmptyProgram(program.to_owned()));
    }
    let mode = metadata.permissions().mode() & 0o777 | 0o755;
    // Some packages are made by those who forget it.
    fs::set_permissions(&real, fs::Permissions::from_mode(mode))
        .map_err(Fault::local("make the program executable"))
}

/// Rewrites a zip as a tar in a file that has no name, so that nothing of it is left behind.
fn zip_as_tar(file: File) -> Result<File, Fault> {
    let damaged = |error: zip::result::ZipError| Fault::Unpack(error.to_string());
    let mut zip = zip::ZipArchive::new(file).map_err(damaged)?;
    let mut tar = tar::Builder::new(
        tempfile::tempfile().map_err(Fault::local("create a temporary file for the archive"))?,
    );
    for index in 0..zip.len() {
        let mut member = zip.by_index(index).map_err(damaged)?;
        let mut header = tar::Header::new_gnu();
        let mode = member.unix_mode().unwrap_or(0o644);
        header.set_mode(mode & 0o777);
        header.set_mtime(0);
        let name = member.name().map_err(damaged)?.into_owned();
        let doing = Fault::local("rewrite the archive");
        if member.is_symlink() {
            let mut target = String::new();
            let most = files::PATH_BYTES_MAX as u64;
            member
                .by_ref()
                .take(most)
                .read_to_string(&mut target)
                .map_err(|e| Fault::Unpack(e.to_string()))?;
            header.set_entry_type(tar::EntryType::Symlink);
            header.set_size(0);
            append(&mut tar, header, &name, Some(&target), io::empty()).map_err(doing)?;
        } else if member.is_dir() {
            header.set_entry_type(tar::EntryType::Directory);
            header.set_size(0);
            append(&mut tar, header, &name, None, io::empty()).map_err(doing)?;
        } else {
            let bytes = member.size();
            if bytes > LIMITS.bytes {
                return Err(Fault::TooLarge { most: LIMITS.bytes });
            }
            header.set_entry_type(tar::EntryType::Regular);
            header.set_size(bytes);
            append(&mut tar, header, &name, None, member.take(bytes)).map_err(doing)?;
        }
    }
    let mut file = tar.into_inner().map_err(Fault::local("rewrite the archive"))?;
    file.rewind().map_err(Fault::local("rewrite the archive"))?;
    Ok(file)
}

/// Appends a member under the name that it has, however bad: `tar` would refuse some in its own words, and pass others.
fn append(
    tar: &mut tar::Builder<File>,
    mut header: tar::Header,
    name: &str,
    link: Option<&str>,
    content: impl Read,
) -> io::Result<()> {
    let mut pax = vec![("path", name.as_bytes())];
    pax.extend(link.map(|link| ("linkpath", link.as_bytes())));
    tar.append_pax_extensions(pax)?;
    header.set_cksum();
    tar.append(&header, content)
}

#[cfg(test)]
mod tests;
