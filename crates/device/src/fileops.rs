//! `file.*`: the directories that a device lends.
//!
//! Every path is opened through the handle of its root, so it cannot leave it, whatever happens on the disk meanwhile
//!. What blocks is done on the blocking threads of the runtime ([`Work`]), at most one for each request.
//!
//! The protocol has no methods to move and to copy, and none are added here: whoever needs them reads, writes and deletes
//!.

mod list;
mod look;
mod read;
mod refusal;
mod search;
mod spot;
mod watch;
mod work;
mod write;

use std::sync::Arc;

use async_trait::async_trait;
use protocol::relay::{
    DeviceCapabilities, Family, FileCapability as Offered, MethodAccess, MethodInfo, OfferedRoot, RawJson,
    RelayError, RelayErrorCode, Request, RootId, RootMode,
    file::ReadEncoding,
    method::{
        FileDelete, FileList, FileMkdir, FileRead, FileSearch, FileStat, FileWatch, FileWrite, RelayMethod,
    },
};
use relay::{Reply, bytes_not_taken};
use serde::Deserialize;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::{Look, Provider, Roots, Subject, Visit};
use spot::Spot;
use watch::WATCHES_MAX;
use work::Work;
use write::Turns;

/// The directories that a device lends.
#[derive(Debug)]
pub struct Fileops {
    roots: Arc<Roots>,
    turns: Arc<Turns>,
    watches: Arc<Semaphore>,
    work: Work,
}

impl Fileops {
    /// Lends these.
    pub fn new(roots: Arc<Roots>) -> Self {
        let watches = Arc::new(Semaphore::new(WATCHES_MAX));
        Self { roots, turns: Arc::default(), watches, work: Work::default() }
    }
}

#[async_trait]
impl Provider for Fileops {
    fn family(&self) -> Family {
        Family::Fileops
    }

    fn offer(&self, capabilities: &mut DeviceCapabilities) {
        let roots = self.roots.iter().map(|lent| OfferedRoot {
            root_id: lent.root.root_id.to_string(),
            label: lent.root.label.clone(),
            virtual_path: lent.root.virtual_path.to_string(),
            mode: match lent.root.mode {
                RootMode::Ro => "ro".into(),
                RootMode::Rw => "rw".into(),
            },
        });
        capabilities.fileops = Some(Offered { enabled: true, roots: roots.collect() });
    }

    fn look(
        &self,
        row: &'static MethodInfo,
        request: &Request,
        _: &CancellationToken,
    ) -> Result<Look, RelayError> {
        if row.access == MethodAccess::Read {
            return Ok(Look::default());
        }
        let Within { root_id } = request.params.object().map_err(|error| row.invalid_params(&error))?;
        Ok(Look { subject: Some(Subject::Root(root_id)), ..Look::default() })
    }

    async fn end(&self) {
        self.work.end().await;
    }

    async fn request(
        &self,
        row: &'static MethodInfo,
        request: Request,
        reply: &mut Reply,
        _: &Visit,
    ) -> Result<RawJson, RelayError> {
        let Request { params, context, .. } = request;
        let terms = context.and_then(|context| context.terms);
        let spot = |root_id, path| Spot::find(&self.roots, terms.as_ref(), root_id, path);
        let (work, cancelled) = (&self.work, reply.token());
        match row.name {
            name if name == FileRead::INFO.name => {
                let asked = FileRead::params(&params)?;
                if asked.encoding == ReadEncoding::Binary && !reply.takes_bytes() {
                    return Err(bytes_not_taken());
                }
                let spot = spot(&asked.root_id, &asked.path)?;
                work.run(cancelled, move |_| read::read(&spot, &asked)).await
            }
            name if name == FileWrite::INFO.name => {
                let asked = FileWrite::params(&params)?;
                let spot = spot(&asked.root_id, &asked.path)?.for_change()?;
                let turns = self.turns.clone();
                let write = move |stop: &_| {
                    write::write(&spot, asked, &turns, stop).map(|it| RawJson::from_value(&it))
                };
                work.run(cancelled, write).await
            }
            name if name == FileList::INFO.name => {
                let asked = FileList::params(&params)?;
                let spot = spot(&asked.root_id, &asked.path)?;
                work.run(cancelled, move |stop| {
                    list::list(&spot, &asked, stop).map(|it| RawJson::from_value(&it))
                })
                .await
            }
            name if name == FileStat::INFO.name => {
                let asked = FileStat::params(&params)?;
                let spot = spot(&asked.root_id, &asked.path)?;
                work.run(cancelled, move |_| look::stat(&spot).map(|it| RawJson::from_value(&it))).await
            }
            name if name == FileMkdir::INFO.name => {
                let asked = FileMkdir::params(&params)?;
                let spot = spot(&asked.root_id, &asked.path)?.for_change()?;
                work.run(cancelled, move |_| {
                    look::mkdir(&spot, asked.parents).map(|it| RawJson::from_value(&it))
                })
                .await
            }
            name if name == FileDelete::INFO.name => {
                let asked = FileDelete::params(&params)?;
                let spot = spot(&asked.root_id, &asked.path)?.for_change()?;
                let delete = move |stop: &_| {
                    look::delete(&spot, asked.recursive, stop).map(|it| RawJson::from_value(&it))
                };
                work.run(cancelled, delete).await
            }
            name if name == FileSearch::INFO.name => {
                let asked = FileSearch::params(&params)?;
                let spot = spot(&asked.root_id, &asked.path)?;
                search::search(spot, asked, work, reply).await
            }
            name if name == FileWatch::INFO.name => {
                let asked = FileWatch::params(&params)?;
                let spot = spot(&asked.root_id, &asked.path)?;
                watch::watch(spot, &asked, self.watches.clone(), work, reply).await
            }
            _ => Err(RelayError::new(RelayErrorCode::UnknownMethod, "unknown file method")
                .with("method", row.name)),
        }
    }
}

/// What all requests that change something say.
#[derive(Deserialize)]
struct Within {
    root_id: RootId,
}
