//! An npm registry: plain HTTP and JSON.

use std::collections::BTreeMap;

use reqwest::{
    RequestBuilder,
    header::{ACCEPT, AUTHORIZATION, HeaderValue},
};
use serde::Deserialize;

use super::NpmConfig;
use agent_catalog::Version;

use crate::{Fault, digest::Checksum, http::Http};

/// The short form of what a registry says of a package; those that do not have it send the long one.
const SHORT_FORM: &str = "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8";

/// What a registry says of a package.
#[derive(Debug, Deserialize)]
struct Packument {
    #[serde(rename = "dist-tags", default)]
    tags: BTreeMap<String, String>,
    #[serde(default)]
    versions: BTreeMap<String, Release>,
}

#[derive(Debug, Deserialize)]
struct Release {
    dist: Dist,
}

#[derive(Debug, Deserialize)]
struct Dist {
    tarball: String,
    integrity: Option<String>,
    shasum: Option<String>,
}

/// Where the tarball of a package is.
#[derive(Debug)]
pub(crate) struct Tarball {
    /// Where to look, the likeliest first.
    pub(crate) urls: Vec<String>,
    /// What it must be.
    pub(crate) checksum: Option<Checksum>,
}

/// The tarball of `package` in `version`.
pub(crate) async fn tarball(
    http: &Http,
    config: &NpmConfig,
    package: &str,
    version: &str,
) -> Result<Tarball, Fault> {
    let registry = config.registry(package)?;
    let mut packument = packument(http, config, &registry, package).await?;
    let Some(Release { dist }) = packument.versions.remove(version) else {
        return Err(Fault::NoVersion { package: package.into(), version: version.into() });
    };
    let checksum = Checksum::npm(dist.integrity.as_deref(), dist.shasum.as_deref());
    Ok(Tarball { urls: places(&registry, &dist.tarball), checksum })
}

/// The newest version of `package`.
pub(crate) async fn latest(http: &Http, config: &NpmConfig, package: &str) -> Result<Version, Fault> {
    let registry = config.registry(package)?;
    let packument = packument(http, config, &registry, package).await?;
    let latest = packument.tags.get("latest").ok_or(Fault::NoLatest)?;
    latest.parse().map_err(|error| Fault::Answer(format!("{error}")))
}

async fn packument(
    http: &Http,
    config: &NpmConfig,
    registry: &str,
    package: &str,
) -> Result<Packument, Fault> {
    let url = format!("{registry}/{}", package.replace('/', "%2f"));
    let authorization = config.authorization(&url);
    let text =
        http.text(&url, |request| authorized(request, authorization.as_deref()).header(ACCEPT, SHORT_FORM));
    let missing = || Fault::NoVersion { package: package.into(), version: "latest".into() };
    let text = text.await?.ok_or_else(missing)?;
    serde_json::from_str(&text)
        .map_err(|error| Fault::Answer(format!("the registry's document for {package} is invalid: {error}")))
}

/// Adds a secret to a request, in a way that keeps it out of logs.
pub(crate) fn authorized(request: RequestBuilder, authorization: Option<&str>) -> RequestBuilder {
    match authorization.and_then(|value| HeaderValue::from_str(value).ok()) {
        Some(mut value) => {
            value.set_sensitive(true);
            request.header(AUTHORIZATION, value)
        }
        None => request,
    }
}

/// Where a tarball may be. A mirror often passes on the address of the registry that it mirrors, which may be out of
/// reach: then the same path on the mirror is where it is.
fn places(registry: &str, tarball: &str) -> Vec<String> {
    let origin = |url: &str| {
        let (scheme, rest) = url.split_once("://")?;
        Some(format!("{scheme}://{}", rest.split('/').next()?))
    };
    let (Some(ours), Some(theirs)) = (origin(registry), origin(tarball)) else { return vec![tarball.into()] };
    if ours == theirs {
        return vec![tarball.into()];
    }
    vec![format!("{registry}{}", &tarball[theirs.len()..]), tarball.into()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tarball_elsewhere_is_looked_for_on_the_registry_first() {
        let same = "https://a.example/npm/x/-/x-1.tgz";
        assert_eq!(places("https://a.example/npm", same), [same]);
        let other = "https://b.example/x/-/x-1.tgz";
        assert_eq!(places("https://a.example/npm", other), ["https://a.example/npm/x/-/x-1.tgz", other]);
    }
}
