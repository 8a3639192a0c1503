//! Fetching a file: in pieces that are hashed as they come, going on where the last try was cut.

use std::{
    fs::File,
    io::{Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use protocol::agents::InstallPhase;
use reqwest::{
    Response, StatusCode,
    header::{CONTENT_RANGE, ETAG, HeaderMap, IF_RANGE, LAST_MODIFIED, RANGE},
};
use serde::{Deserialize, Serialize};

use super::{
    Fault,
    digest::{self, Checksum, Hasher},
    http::{Http, Tries, check},
    npm::authorized,
    progress::Teller,
};

/// The largest file that is fetched: ten times the largest agent.
pub(crate) const FILE_BYTES_MAX: u64 = 4 << 30;

/// How much is gathered before it is written and hashed, away from the tasks that wait for the network.
const PIECE_BYTES: usize = 1 << 20;

/// What is to be fetched.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    pub(crate) url: &'a str,
    pub(crate) authorization: Option<String>,
    pub(crate) checksum: Option<&'a Checksum>,
}

/// What was fetched.
#[derive(Debug)]
pub(crate) struct Fetched {
    pub(crate) path: PathBuf,
    pub(crate) sha256: String,
}

/// What is known of a file that has come in part.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Note {
    url: String,
    /// What tells whether the file is still the same: its entity tag, or when it was changed.
    validator: Option<String>,
    total: Option<u64>,
}

/// Fetches a file into the directory `parts`. What has come stays there if it fails, and the next try goes on with it.
pub(crate) async fn fetch(
    http: &Http,
    request: &Request<'_>,
    parts: &Path,
    teller: &Teller,
) -> Result<Fetched, Fault> {
    let mut part = Part::open(parts, request.url)?;
    teller.phase(InstallPhase::Downloading);
    let mut tries = Tries::default();
    let mut afresh = false;
    loop {
        let before = part.length()?;
        let resumed = before > 0;
        let tried = match once(http, request, &mut part, teller).await {
            // No agent is an empty file, whatever checksum was published for it.
            Ok(_) if part.length()? == 0 => Err(Fault::Empty),
            Ok(hasher) => {
                teller.phase(InstallPhase::Verifying);
                hasher.finish(request.checksum)
            }
            Err(fault) => Err(fault),
        };
        match tried {
            Ok(sha256) => {
                return Ok(Fetched { path: part.finish()?, sha256 });
            }
            // The first part may be of another file than the second: once more, from the start.
            Err(Fault::Checksum { .. }) if resumed && !afresh => {
                afresh = true;
                part.forget()?;
                teller.phase(InstallPhase::Downloading);
            }
            Err(fault) => {
                if matches!(fault, Fault::Checksum { .. } | Fault::TooLarge { .. }) {
                    part.forget()?;
                }
                if part.length()? > before {
                    tries.moved();
                }
                tries.again(fault).await?;
            }
        }
    }
}

/// One request, and all that comes of it.
async fn once(http: &Http, request: &Request<'_>, part: &mut Part, teller: &Teller) -> Result<Hasher, Fault> {
    let url = request.url;
    let start = part.resumable(request.checksum.is_some())?;
    let mut asked = authorized(http.get(url)?, request.authorization.as_deref());
    if start > 0 {
        asked = asked.header(RANGE, format!("bytes={start}-"));
        if let Some(validator) = &part.note.validator {
            asked = asked.header(IF_RANGE, validator);
        }
    }
    let response = asked.send().await.map_err(|error| http.fault(url, &error))?;
    if response.status() == StatusCode::RANGE_NOT_SATISFIABLE && start > 0 {
        if part.note.total == Some(start) {
            return part.hashed(request.checksum).await;
        }
        part.forget()?;
        return Err(Fault::Truncated { got: 0, expected: start });
    }
    check(url, &response)?;
    let goes_on = response.status() == StatusCode::PARTIAL_CONTENT && range_start(&response) == Some(start);
    if !goes_on {
        part.forget()?;
    }
    let start = if goes_on { start } else { 0 };
    let total = response.content_length().map(|rest| start + rest);
    if total.is_some_and(|total| total > FILE_BYTES_MAX) {
        return Err(Fault::TooLarge { most: FILE_BYTES_MAX });
    }
    part.write_note(Note { url: url.into(), validator: validator(response.headers()), total })?;
    receive(http, response, request, part, start, total, teller).await
}

async fn receive(
    http: &Http,
    mut response: Response,
    request: &Request<'_>,
    part: &mut Part,
    start: u64,
    total: Option<u64>,
    teller: &Teller,
) -> Result<Hasher, Fault> {
    let mut hasher = part.hashed(request.checksum).await?;
    let (mut come, mut gathered) = (start, Vec::with_capacity(PIECE_BYTES));
    teller.bytes(come, total);
    loop {
        let piece = response.chunk().await;
        if let Ok(Some(piece)) = &piece {
            come += piece.len() as u64;
            if come > FILE_BYTES_MAX {
                return Err(Fault::TooLarge { most: FILE_BYTES_MAX });
            }
            gathered.extend_from_slice(piece);
            if gathered.len() < PIECE_BYTES {
                continue;
            }
        }
        // Also what came before a cut is kept.
        (hasher, gathered) = part.write(hasher, gathered).await?;
        teller.bytes(come, total);
        match piece {
            Ok(Some(_)) => {}
            Ok(None) if total.is_some_and(|total| come < total) => {
                return Err(Fault::Truncated { got: come, expected: total.unwrap_or_default() });
            }
            Ok(None) => return Ok(hasher),
            Err(error) if error.is_timeout() => return Err(http.fault(request.url, &error)),
            Err(_) => return Err(Fault::Truncated { got: come, expected: total.unwrap_or(come + 1) }),
        }
    }
}

fn range_start(response: &Response) -> Option<u64> {
    let range = response.headers().get(CONTENT_RANGE)?.to_str().ok()?;
    range.strip_prefix("bytes ")?.split('-').next()?.trim().parse().ok()
}

/// A weak tag does not promise the same bytes, so it is none.
fn validator(headers: &HeaderMap) -> Option<String> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    text(ETAG).filter(|tag| !tag.starts_with("W/")).or_else(|| text(LAST_MODIFIED))
}

/// A file that has come in part, and what is known of it.
struct Part {
    path: PathBuf,
    note_path: PathBuf,
    note: Note,
    file: File,
}

impl Part {
    fn open(parts: &Path, url: &str) -> Result<Self, Fault> {
        let doing = "create a directory for the download";
        std::fs::create_dir_all(parts).map_err(Fault::local(doing))?;
        let name = digest::of_text(url);
        let (path, note_path) = (parts.join(format!("{name}.part")), parts.join(format!("{name}.json")));
        let note = std::fs::read(&note_path).ok().and_then(|text| serde_json::from_slice::<Note>(&text).ok());
        let note = note.filter(|note| note.url == url);
        let mut options = File::options();
        // Without its note nothing is known of it.
        options.read(true).write(true).create(true).truncate(note.is_none());
        let file = options.open(&path).map_err(Fault::local(doing))?;
        Ok(Self { path, note_path, note: note.unwrap_or_default(), file })
    }

    fn length(&self) -> Result<u64, Fault> {
        Ok(self.file.metadata().map_err(Fault::local("inspect the download"))?.len())
    }

    /// Where to go on: only if a change of the file would be noticed, now or by its checksum.
    fn resumable(&mut self, checked: bool) -> Result<u64, Fault> {
        if self.note.validator.is_none() && !checked {
            self.forget()?;
        }
        self.length()
    }

    fn write_note(&mut self, note: Note) -> Result<(), Fault> {
        let text = serde_json::to_vec(&note).unwrap_or_default();
        std::fs::write(&self.note_path, text).map_err(Fault::local("record the download"))?;
        self.note = note;
        Ok(())
    }

    fn forget(&mut self) -> Result<(), Fault> {
        self.note = Note::default();
        self.file.set_len(0).map_err(Fault::local("empty the download"))
    }

    /// A hasher of what has come.
    async fn hashed(&mut self, expected: Option<&Checksum>) -> Result<Hasher, Fault> {
        let mut hasher = Hasher::new(expected);
        let mut file = self.another()?;
        blocking("read the download", move || {
            file.seek(SeekFrom::Start(0))?;
            hasher.read(&file)?;
            Ok(hasher)
        })
        .await
    }

    /// Writes and hashes a piece; gives back its memory for the next one.
    async fn write(&mut self, mut hasher: Hasher, mut piece: Vec<u8>) -> Result<(Hasher, Vec<u8>), Fault> {
        let mut file = self.another()?;
        blocking("write the download", move || {
            file.seek(SeekFrom::End(0))?;
            file.write_all(&piece)?;
            hasher.update(&piece);
            piece.clear();
            Ok((hasher, piece))
        })
        .await
    }

    fn another(&self) -> Result<File, Fault> {
        self.file.try_clone().map_err(Fault::local("reopen the download"))
    }

    fn finish(self) -> Result<PathBuf, Fault> {
        self.file.sync_all().map_err(Fault::local("write the download"))?;
        let _ = std::fs::remove_file(&self.note_path); // without its file it means nothing
        Ok(self.path)
    }
}

/// Runs what waits for the disk where waiting is allowed.
pub(crate) async fn blocking<T: Send + 'static>(
    doing: &'static str,
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T, Fault> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(std::io::Error::other(error))).map_err(Fault::local(doing))
}
