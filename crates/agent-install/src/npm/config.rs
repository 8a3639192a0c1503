//! The user's npm configuration: which registry serves a package, and what it wants to see.
//!
//! We name no registry ourselves. It is the one of the environment, of the project's or the user's `.npmrc`, or
//! whatever an npm on the `PATH` says.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use process::ProcessSpec;

use agent_catalog::{SearchPath, UserEnvironment};

use crate::{Fault, tool};

/// How long npm may take to say how it is configured.
const NPM_ANSWER_MAX: Duration = Duration::from_secs(30);

/// Why it is not known which registry to ask.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// Nobody said.
    #[error(
        "no npm registry is configured: set `registry` in ~/.npmrc or npm_config_registry, or install npm"
    )]
    NoRegistry,
    /// What was said is no address.
    #[error("the configured npm registry is not an http or https URL")]
    NotAnAddress,
}

/// One layer of configuration, such as a file.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Rc(BTreeMap<String, String>);

impl Rc {
    /// Reads a file; `${NAME}` stands for a variable.
    pub(crate) fn parse(text: &str, variables: &BTreeMap<String, String>) -> Self {
        let mut entries = BTreeMap::new();
        for line in text.lines().map(str::trim) {
            if line.starts_with([';', '#', '[']) {
                continue;
            }
            let Some((key, value)) = line.split_once('=') else { continue };
            let (key, value) = (unquoted(key.trim()), unquoted(value.trim()));
            entries.insert(expanded(key, variables), expanded(value, variables));
        }
        Self(entries)
    }

    /// The layer that the environment makes.
    fn of_variables(variables: &BTreeMap<String, String>) -> Self {
        let entries = variables.iter().filter_map(|(name, value)| {
            let prefix = name.get(.."npm_config_".len())?;
            let key = &name[prefix.len()..];
            if !prefix.eq_ignore_ascii_case("npm_config_") || key.is_empty() || value.is_empty() {
                return None;
            }
            // `//host/:_authToken` is taken as it is; other names may be written in capitals and with underscores.
            let key = if key.starts_with("//") { key.to_owned() } else { plain_key(key) };
            Some((key, value.clone()))
        });
        Self(entries.collect())
    }

    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str).filter(|value| !value.is_empty())
    }
}

fn plain_key(key: &str) -> String {
    let lower = key.to_ascii_lowercase();
    let (leading, rest) = lower.split_at(lower.len() - lower.trim_start_matches('_').len());
    format!("{leading}{}", rest.replace('_', "-"))
}

fn unquoted(text: &str) -> &str {
    let inner = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    inner('"').or_else(|| inner('\'')).unwrap_or(text)
}

/// `${NAME}` becomes the variable; one that is not set stays as it is, or vanishes as `${NAME?}`.
fn expanded(text: &str, variables: &BTreeMap<String, String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, behind)) = after.split_once('}') else { break };
        out += before;
        let optional = name.strip_suffix('?');
        match variables.get(optional.unwrap_or(name)) {
            Some(value) => out += value,
            None if optional.is_some() => {}
            None => out += &format!("${{{name}}}"),
        }
        rest = behind;
    }
    out + rest
}

/// The whole configuration: layers, the strongest first.
#[derive(Clone, Default)]
pub(crate) struct NpmConfig(Vec<Rc>);

impl NpmConfig {
    /// Reads the environment and the files; asks npm if they do not name a registry.
    pub(crate) async fn read(environment: &UserEnvironment, path: &SearchPath) -> Self {
        let mut config = Self::of_files(environment);
        if config.get("registry").is_none()
            && let Ok(Some(answer)) = ask_npm(path).await
        {
            let global =
                answer.get("globalconfig").map(|file| std::fs::read_to_string(file).unwrap_or_default());
            // npm may answer what it would do by default, so that is weaker than any file.
            config.0.extend(global.map(|text| Rc::parse(&text, &environment.variables)));
            config.0.push(answer);
        }
        config
    }

    /// Reads the environment and the files, without asking npm.
    pub(crate) fn of_files(environment: &UserEnvironment) -> Self {
        let variables = Rc::of_variables(&environment.variables);
        let project = environment.project.as_ref().map(|directory| directory.join(".npmrc"));
        let named = variables.get("userconfig").map(PathBuf::from);
        let user = named.or_else(|| environment.home.as_ref().map(|home| home.join(".npmrc")));
        let global = variables.get("globalconfig").map(PathBuf::from);
        let files = [project, user, global].into_iter().flatten().filter_map(|file| {
            let text = std::fs::read_to_string(file).ok()?; // most people have none
            Some(Rc::parse(&text, &environment.variables))
        });
        Self([variables].into_iter().chain(files).collect())
    }

    fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find_map(|layer| layer.get(key))
    }

    /// The registry that serves `package`, without a slash at its end.
    pub(crate) fn registry(&self, package: &str) -> Result<String, ConfigError> {
        let scope = package.split_once('/').map(|(scope, _)| scope).filter(|scope| scope.starts_with('@'));
        let scoped = scope.and_then(|scope| self.get(&format!("{scope}:registry")));
        let registry = scoped.or_else(|| self.get("registry")).ok_or(ConfigError::NoRegistry)?;
        if !registry.starts_with("http://") && !registry.starts_with("https://") {
            return Err(ConfigError::NotAnAddress);
        }
        Ok(registry.trim_end_matches('/').to_owned())
    }

    /// Every registry that is configured, of all packages and of scopes. Empty if npm itself decides.
    pub(crate) fn registries(&self) -> String {
        let mut registries = BTreeMap::new();
        // The strongest layer comes first, so it is entered last.
        for layer in self.0.iter().rev() {
            let entries = layer.0.iter().filter(|(key, value)| {
                !value.is_empty() && (*key == "registry" || key.ends_with(":registry"))
            });
            registries.extend(entries.map(|(key, value)| (key, value.trim_end_matches('/'))));
        }
        let entries: Vec<_> = registries.into_iter().map(|(key, value)| format!("{key}={value}")).collect();
        entries.join(" ")
    }

    /// The `Authorization` that the server of `url` wants to see: of the longest path that is configured for it.
    pub(crate) fn authorization(&self, url: &str) -> Option<String> {
        let (_, rest) = url.split_once("://")?;
        let mut place = format!("//{}", rest.split(['?', '#']).next()?);
        loop {
            for form in [place.clone(), format!("{}/", place.trim_end_matches('/'))] {
                if let Some(found) = self.authorization_at(&form) {
                    return Some(found);
                }
            }
            place.truncate(place.trim_end_matches('/').rfind('/').filter(|at| *at > 1)?);
        }
    }

    fn authorization_at(&self, place: &str) -> Option<String> {
        let get = |key: &str| self.get(&format!("{place}:{key}"));
        if let Some(token) = get("_authToken") {
            return Some(format!("Bearer {token}"));
        }
        if let Some(basic) = get("_auth") {
            return Some(format!("Basic {basic}"));
        }
        let password = STANDARD.decode(get("_password")?).ok()?;
        let pair = format!("{}:{}", get("username")?, String::from_utf8_lossy(&password));
        Some(format!("Basic {}", STANDARD.encode(pair)))
    }

    /// A file of certificates that npm trusts besides the system's.
    pub(crate) fn certificates(&self) -> Option<PathBuf> {
        self.get("cafile").filter(|file| *file != "null").map(PathBuf::from)
    }
}

/// What an npm on the `PATH` says; nothing if there is none.
async fn ask_npm(path: &SearchPath) -> Result<Option<Rc>, Fault> {
    let Some(npm) = path.find(std::path::Path::new("npm")) else { return Ok(None) };
    let spec = ProcessSpec::new(npm).args(["config", "get", "registry", "globalconfig", "cafile"]);
    let answer = tool::run(&spec, NPM_ANSWER_MAX).await?;
    // It answers as a file would.
    Ok(Some(Rc::parse(&answer, &BTreeMap::new())))
}

#[cfg(test)]
mod tests;
