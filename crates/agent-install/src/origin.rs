//! Keys of what is cached: they name the server that something comes from.
//!
//! A user may install through a mirror once and without it later. What the mirror sent must not be installed then, so a
//! key holds the URL that is really requested. Only a file whose checksum is pinned in the catalog is the same wherever
//! it comes from, and its key is that checksum.

use std::{collections::BTreeMap, fmt, fs, path::PathBuf};

use reqwest::Url;

use super::{
    Fault,
    digest::{self, Checksum},
    npm::NpmConfig,
    offer::Offer,
};
use agent_catalog::{Component, Source, UserEnvironment, Version, Want};

/// Variables that decide where pip and uv look for packages.
const PYTHON_VARIABLES: [&str; 10] = [
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS",
    "PIP_NO_INDEX",
    "UV_DEFAULT_INDEX",
    "UV_INDEX",
    "UV_INDEX_URL",
    "UV_EXTRA_INDEX_URL",
    "UV_FIND_LINKS",
    "UV_NO_INDEX",
];

/// Variables that name a configuration file of pip or uv.
const PYTHON_FILE_VARIABLES: [&str; 2] = ["PIP_CONFIG_FILE", "UV_CONFIG_FILE"];

/// Configuration files of pip and uv: below the directory for configuration, below the home, and of the machine.
const PYTHON_CONFIG_FILES: [&str; 2] = ["pip/pip.conf", "uv/uv.toml"];
const PYTHON_HOME_FILE: &str = ".pip/pip.conf";
const PYTHON_MACHINE_FILES: [&str; 2] = ["/etc/pip.conf", "/etc/uv/uv.toml"];

/// Where something comes from, as a key of the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OriginKey {
    /// For people. It holds no password, so different keys may show the same text.
    shown: String,
    digest: String,
}

impl OriginKey {
    /// The key of the files that `offer` has of `version`; `row` is its component.
    pub(crate) fn of_offer(
        offer: &Offer<'_>,
        row: &Component,
        version: &Version,
        want: &Want,
        npm: &NpmConfig,
        environment: &UserEnvironment,
    ) -> Result<Self, Fault> {
        let fill = |text: &str| offer.fill(text, version.as_str());
        match (offer.source, offer.pinned(row, version)?) {
            (Source::Download { .. } | Source::NpmTarball { .. }, Some(pinned)) => {
                Ok(Self::of_checksum(&pinned))
            }
            (Source::Download { .. }, None) => {
                // The URL of the newest version stays when the version changes.
                let place = offer.place(&offer.url(version, want)?)?;
                Ok(Self::new(&format!("{version} from "), &place))
            }
            (Source::NpmTarball { package, release, .. }, None) => {
                let package = fill(package)?;
                let name = format!("npm tarball {package}@{} from ", fill(release)?);
                Ok(Self::new(&name, &npm.registry(&package)?))
            }
            // Dependencies may come from other registries than the package itself.
            (Source::NpmInstall { package, omit_optional, .. }, pinned) => {
                let pinned = pinned.map(|pinned| pinned.to_string()).unwrap_or_default();
                let name = format!("npm package {package}@{version} {pinned} {omit_optional} from ");
                Ok(Self::new(&name, &npm.registries()))
            }
            (Source::Pypi { packages, .. }, _) => {
                let packages: Result<Vec<_>, _> = packages.iter().map(|package| fill(package)).collect();
                let name = format!("PyPI packages {} with configuration ", packages?.join(" "));
                Ok(Self::new(&name, &python_configuration(environment)))
            }
        }
    }

    /// The key of whatever has this checksum, wherever it comes from.
    fn of_checksum(checksum: &Checksum) -> Self {
        Self::new(&checksum.to_string(), "")
    }

    /// The key of the file at `url`.
    #[cfg(test)]
    pub(crate) fn of_url(url: &str) -> Self {
        Self::new("from ", url)
    }

    fn new(name: &str, place: &str) -> Self {
        let digest = digest::of_text(&format!("origin 1 {name}{place}"));
        Self { shown: format!("{name}{}", without_secrets(place)), digest }
    }

    /// A name for files.
    pub(crate) fn digest(&self) -> &str {
        &self.digest
    }
}

impl fmt::Display for OriginKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// A URL without its user, password and query; nothing of a text that is no URL.
fn without_secrets(place: &str) -> String {
    let Ok(mut url) = place.parse::<Url>() else { return "(not shown)".into() };
    // A URL that cannot have a password has none.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.to_string()
}

/// Everything that decides where pip and uv look for packages. Read here, because a start of pip takes longer than the
/// installation of something that is cached.
fn python_configuration(environment: &UserEnvironment) -> String {
    let variable = |name: &&'static str| Some((*name, environment.variables.get(*name)?.clone()));
    let variables: BTreeMap<_, _> = PYTHON_VARIABLES.iter().filter_map(variable).collect();
    let named = PYTHON_FILE_VARIABLES.iter().filter_map(|name| environment.variables.get(*name));
    let config_home = environment.variables.get("XDG_CONFIG_HOME").map(PathBuf::from);
    let config_home = config_home.or_else(|| Some(environment.home.as_ref()?.join(".config")));
    let of_user =
        config_home.iter().flat_map(|directory| PYTHON_CONFIG_FILES.map(|file| directory.join(file)));
    let of_user = of_user.chain(environment.home.iter().map(|home| home.join(PYTHON_HOME_FILE)));
    let files = named.map(PathBuf::from).chain(of_user).chain(PYTHON_MACHINE_FILES.map(PathBuf::from));
    // Most of them do not exist.
    let contents: Vec<_> = files.map(|file| fs::read_to_string(file).unwrap_or_default()).collect();
    format!("{variables:?} {contents:?}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_catalog::{Platform, Table};

    use crate::{Mirror, offer::offers};

    /// The keys of every source of a component, as the catalog has them.
    fn keys(component: &str, version: Option<&str>, mirrors: &[&str], registry: &str) -> Vec<String> {
        let table = Table::built_in().unwrap();
        let row = &table.components[&component.parse().unwrap()];
        let mirrors: Vec<_> = mirrors.iter().map(|mirror| Mirror::parse(mirror).unwrap()).collect();
        let variables = [("npm_config_registry".to_owned(), registry.to_owned())].into();
        let environment = UserEnvironment { variables, home: None, project: None };
        let npm = NpmConfig::of_files(&environment);
        let version = version.map_or(row.version.clone(), |version| version.parse().unwrap());
        let key = |offer: &Offer<'_>| {
            OriginKey::of_offer(offer, row, &version, &Want::Pinned, &npm, &environment).unwrap()
        };
        let offers = offers(row, Platform::LinuxX64, &mirrors);
        offers.iter().map(|offer| key(offer).digest).collect()
    }

    #[test]
    fn each_mirror_and_the_vendor_have_keys_of_their_own() {
        let npm = "https://npm.example";
        let all = keys("opencode", Some("1.0.0"), &["http://a.example", "http://a.example:81"], npm);
        let different: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!((all.len(), different.len()), (4, 4), "two mirrors, the vendor and npm");
        let alone = keys("opencode", Some("1.0.0"), &[], npm);
        assert_eq!(alone, all[2..]);
        let secure = keys("opencode", Some("1.0.0"), &["https://a.example"], npm);
        assert_ne!(secure[0], all[0], "the scheme is a part of the origin");
    }

    #[test]
    fn a_registry_is_a_part_of_the_key_unless_the_checksum_is_pinned() {
        let last = |component, version, registry| keys(component, version, &[], registry).pop().unwrap();
        let [one, two] = ["https://one.example", "https://two.example"];
        assert_ne!(last("opencode", Some("1.0.0"), one), last("opencode", Some("1.0.0"), two));
        assert_eq!(last("opencode", None, one), last("opencode", None, two), "this version is pinned");
        // The dependencies of a package that npm installs are not pinned.
        assert_ne!(last("gemini", None, one), last("gemini", None, two));
    }

    #[test]
    fn secrets_of_a_url_are_not_shown() {
        let key = OriginKey::of_url("https://user:secret@a.example/x?token=secret");
        assert_eq!(key.to_string(), "from https://a.example/x");
        assert_ne!(key, OriginKey::of_url("https://a.example/x"));
        assert_eq!(OriginKey::new("with ", "PIP=secret").to_string(), "with (not shown)");
    }
}
