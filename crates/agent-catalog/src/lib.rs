//! The agents that Tombolo can run: which exist, what each can do, how each is started, and which credentials a user has for them.
//!
//! An agent is a row of `catalog.toml`, of the public ACP registry, or of the user's configuration file. Code elsewhere branches on
//! an agent's protocol, never on its name.

mod catalog;
mod component;
mod config_file;
mod credentials;
mod definition;
mod platform;
mod registry;
mod release;
mod search_path;
mod skills;
mod table;
mod template;
mod unknown_agent;
mod user_environment;

pub use catalog::{Catalog, InvalidCatalog};
pub use component::ComponentName;
pub use config_file::{ConfigFile, InstallSection, InvalidConfigFile};
pub use credentials::{Credential, find_credentials, lent_credentials};
pub use definition::{Definition, Error, Launch, Purpose, UserAgent};
pub use platform::{Platform, UnknownPlatform};
pub use registry::Registry;
pub use release::{InvalidVersion, Release, Version, Want};
pub use search_path::SearchPath;
pub use skills::SkillsRow;
pub use table::{Archive, Component, Latest, LatestForm, Published, Source, Table};
pub use template::{Found, InvalidTemplate, Template};
pub use unknown_agent::UnknownAgent;
pub use user_environment::UserEnvironment;
