//! `/v1/search`: finds text in all sessions.

use axum::{Json, extract::State};
use protocol::{ProblemKind, search::SearchPage};
use serde::Deserialize;
use server::{RouteCollector, extract::Query, routes};
use utoipa::IntoParams;
use worker_runtime::{SEARCH_HITS_MAX, TextQuery};

use super::Problems;
use crate::{
    api_error::{ApiError, Result},
    app::App,
};

/// The size of a page without `limit`.
const DEFAULT_LIMIT: usize = 20;

/// The longest cursor: a time, a key and the id of a session.
const CURSOR_BYTES_MAX: usize = 256;

pub(crate) fn collect_routes(collector: &mut impl RouteCollector<App>) {
    collector.add(routes!(search));
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct SearchQuery {
    /// The text to find, without regard to case. Words must be next to each other.
    #[param(min_length = 1, max_length = 200)]
    query: String,
    /// The `nextCursor` of the previous page; the first page if left out.
    cursor: Option<String>,
    /// The maximum number of hits in the page.
    #[param(minimum = 1, maximum = 100, default = 20)]
    limit: Option<usize>,
}

/// Find text in the titles and messages of all sessions.
///
/// The daemon reads a limited amount per request, so a page may have few hits, or none, although others follow: continue until
/// `nextCursor` is `null`.
#[utoipa::path(
    get, path = "/v1/search", tag = "sessions", params(SearchQuery),
    responses((status = OK, body = SearchPage), Problems)
)]
async fn search(State(app): State<App>, Query(search): Query<SearchQuery>) -> Result<Json<SearchPage>> {
    let invalid = |detail: String| ApiError::new(ProblemKind::InvalidRequest, detail);
    let query = TextQuery::new(&search.query).ok_or_else(|| {
        invalid(format!(
            "`query` must have between 1 and {} characters that are not blank",
            TextQuery::CHARS_MAX
        ))
    })?;
    let limit = search.limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=SEARCH_HITS_MAX).contains(&limit) {
        return Err(invalid(format!("`limit` must be between 1 and {SEARCH_HITS_MAX}")));
    }
    let cursor = search.cursor.as_deref().filter(|cursor| !cursor.is_empty());
    let cursor = match cursor {
        Some(cursor) if cursor.len() > CURSOR_BYTES_MAX => {
            return Err(invalid("`cursor` must be the `nextCursor` of a page".into()));
        }
        Some(cursor) => Some(
            cursor
                .parse()
                .map_err(|error: worker_runtime::InvalidSearchCursor| invalid(error.to_string()))?,
        ),
        None => None,
    };
    Ok(Json(app.sessions.search(&query, cursor.as_ref(), limit).await?))
}
