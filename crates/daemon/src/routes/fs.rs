//! `/v1/fs`: files and directories of the sandbox.

use axum::{
    Json,
    body::Body,
    extract::State,
    response::{IntoResponse, Response},
};
use files::{CreateOptions, IfExists, LinkHandling, ParentDirectories, RemovalScope, RootedPath};
use http::{HeaderMap, StatusCode};
use protocol::{
    ProblemKind,
    fs::{
        ArchiveUnpacked, CreateDirectoryRequest, DirectoryCreated, DirectoryEntryList, FileMetadata,
        FileMoved, FileWritten, MoveFileRequest,
    },
};
use serde::Deserialize;
use server::{
    ProblemResponse, RouteCollector,
    extract::{self, Query},
    routes,
};
use utoipa::IntoParams;

use super::Problems;
use crate::{
    api_error::Result,
    app::App,
    file_transfer::{download, run_blocking, upload, wire},
};

pub(crate) fn collect_routes(collector: &mut impl RouteCollector<App>) {
    collector
        .add(routes!(entries))
        .add(routes!(read, write))
        .add(routes!(delete))
        .add(routes!(mkdir))
        .add(routes!(rename))
        .add(routes!(stat))
        .add(routes!(upload_batch));
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct FilePathQuery {
    /// The path. A relative path starts at the daemon's current directory, or at the root that `/v1/fs` is confined to.
    #[param(min_length = 1, max_length = 4096)]
    path: String,
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct EarlierDirectoryQuery {
    /// The directory, for clients of earlier versions: others send it in the body.
    #[param(ignore)]
    path: Option<String>,
}

/// A [`CreateDirectoryRequest`], which clients of earlier versions leave out.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct DirectoryBody {
    path: Option<String>,
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct EntriesQuery {
    /// The directory.
    #[param(min_length = 1, max_length = 4096)]
    path: String,
    /// The `nextCursor` of the previous page; the first page if left out.
    #[serde(alias = "after")]
    #[param(value_type = Option<String>)]
    cursor: Option<wire::EntryCursor>,
    /// The maximum number of entries.
    #[param(value_type = Option<u64>, minimum = 1, maximum = 10000, default = 1000)]
    limit: Option<wire::EntryLimit>,
}

/// List a directory.
#[utoipa::path(
    get, path = "/v1/fs/entries", tag = "fs", params(EntriesQuery),
    responses((status = OK, body = DirectoryEntryList), Problems)
)]
async fn entries(
    State(app): State<App>,
    Query(query): Query<EntriesQuery>,
) -> Result<Json<DirectoryEntryList>> {
    let path = RootedPath::parse(&query.path)?;
    let after = query.cursor.map(|cursor| cursor.0);
    let limit = query.limit.unwrap_or_default().get();
    let page = run_blocking(move || app.files.entries(&path, after.as_deref(), limit)).await?;
    Ok(Json(wire::entry_list(page)))
}

/// Read a file, whole or in part.
#[utoipa::path(
    get, path = "/v1/fs/file", tag = "fs", params(FilePathQuery),
    responses(
        (status = OK, description = "The content", body = String, content_type = "application/octet-stream"),
        (status = PARTIAL_CONTENT, description = "The requested range", body = String, content_type = "application/octet-stream"),
        (status = NOT_MODIFIED, description = "Not modified since the given entity tag"),
        Problems,
    )
)]
async fn read(
    State(app): State<App>,
    Query(query): Query<FilePathQuery>,
    headers: HeaderMap,
) -> Result<Response> {
    let path = RootedPath::parse(&query.path)?;
    let (file, stat) = run_blocking(move || app.files.open_read(&path)).await?;
    download::response(file, &stat, &headers)
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct WriteQuery {
    /// The file.
    #[param(min_length = 1, max_length = 4096)]
    path: String,
    /// Whether to create missing parent directories; true if left out.
    parents: Option<bool>,
}

/// Write a file: readers see the old content or the new, never a part.
#[utoipa::path(
    put, path = "/v1/fs/file", tag = "fs", params(WriteQuery),
    request_body(content = Option<String>, content_type = "application/octet-stream"),
    responses((status = OK, body = FileWritten), (status = CREATED, body = FileWritten), Problems)
)]
async fn write(
    State(app): State<App>,
    Query(query): Query<WriteQuery>,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, Json<FileWritten>)> {
    let path = RootedPath::parse(&query.path)?;
    let parents =
        if query.parents.unwrap_or(true) { ParentDirectories::Create } else { ParentDirectories::Require };
    let options = CreateOptions { parents, ..CreateOptions::default() };
    let written = upload::write_file(&app, path.clone(), options, &headers, body).await?;
    let status = if written.created { StatusCode::CREATED } else { StatusCode::OK };
    let etag = written.stat.etag();
    Ok((status, Json(FileWritten { path: path.to_string(), bytes: written.stat.size, etag })))
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct DeleteEntryQuery {
    /// The file, directory or link to remove. A link itself is removed, not its target.
    #[param(min_length = 1, max_length = 4096)]
    path: String,
    /// Whether to remove a directory with everything in it.
    recursive: Option<bool>,
}

/// Remove a file or a directory.
#[utoipa::path(
    delete, path = "/v1/fs/entry", tag = "fs", params(DeleteEntryQuery),
    responses((status = NO_CONTENT, description = "Deleted"), Problems)
)]
async fn delete(State(app): State<App>, Query(query): Query<DeleteEntryQuery>) -> Result<StatusCode> {
    let path = RootedPath::parse(&query.path)?;
    let removal = if query.recursive.unwrap_or(false) { RemovalScope::Tree } else { RemovalScope::Entry };
    run_blocking(move || app.files.remove(&path, removal)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Create a directory and its missing parents.
#[utoipa::path(
    post, path = "/v1/fs/mkdir", tag = "fs", params(EarlierDirectoryQuery), request_body = CreateDirectoryRequest,
    responses((status = OK, body = DirectoryCreated), (status = CREATED, body = DirectoryCreated), Problems)
)]
async fn mkdir(
    State(app): State<App>,
    Query(query): Query<EarlierDirectoryQuery>,
    extract::OptionalJson(body): extract::OptionalJson<DirectoryBody>,
) -> Result<(StatusCode, Json<DirectoryCreated>)> {
    let path = match (body.path, query.path) {
        (Some(path), None) | (None, Some(path)) => path,
        (Some(_), Some(_)) | (None, None) => {
            let detail = "name the directory once, as `path` in a JSON body";
            return Err(ProblemResponse::new(ProblemKind::InvalidRequest, detail).into());
        }
    };
    let path = RootedPath::parse(&path)?;
    let display_path = path.to_string();
    let created = run_blocking(move || app.files.mkdir(&path, ParentDirectories::Create)).await?;
    let status = if created { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(DirectoryCreated { path: display_path, created })))
}

/// Move or rename a file or a directory.
#[utoipa::path(
    post, path = "/v1/fs/move", tag = "fs", request_body = MoveFileRequest,
    responses((status = OK, body = FileMoved), Problems)
)]
async fn rename(
    State(app): State<App>,
    extract::Json(body): extract::Json<MoveFileRequest>,
) -> Result<Json<FileMoved>> {
    let (from, to) = (RootedPath::parse(&body.from)?, RootedPath::parse(&body.to)?);
    let existing = if body.overwrite { IfExists::Replace } else { IfExists::Refuse };
    run_blocking(move || app.files.rename(&from, &to, existing)).await?;
    Ok(Json(FileMoved { from: body.from, to: body.to }))
}

/// Read the metadata of a file or directory.
#[utoipa::path(get, path = "/v1/fs/stat", tag = "fs", params(FilePathQuery), responses((status = OK, body = FileMetadata), Problems))]
async fn stat(State(app): State<App>, Query(query): Query<FilePathQuery>) -> Result<Json<FileMetadata>> {
    let path = RootedPath::parse(&query.path)?;
    let (link, stat) = run_blocking(move || {
        let link = app.files.stat(&path, LinkHandling::Keep)?.symlink_target;
        Ok::<_, files::Error>((link, app.files.stat(&path, LinkHandling::Follow)?))
    })
    .await?;
    Ok(Json(wire::stat(query.path, &stat, link)))
}

/// Unpack a tar archive into a directory: all of it or nothing.
#[utoipa::path(
    post, path = "/v1/fs/upload-batch", tag = "fs", params(FilePathQuery),
    request_body(content = String, content_type = "application/octet-stream", description = "A tar archive: ustar, GNU or pax; plain or gzip"),
    responses((status = OK, body = ArchiveUnpacked), Problems)
)]
async fn upload_batch(
    State(app): State<App>,
    Query(query): Query<FilePathQuery>,
    body: Body,
) -> Result<Response> {
    let path = RootedPath::parse(&query.path)?;
    let unpacked = upload::unpack_archive(&app, path, body).await?;
    let files::unpack::UnpackSummary { files, directories, bytes } = unpacked;
    Ok(Json(ArchiveUnpacked { path: query.path, files, directories, bytes }).into_response())
}
