//! The agents that can be run: which exist, how each is installed and started, and the built-in mock.
//!
//! Knows nothing of the daemon's routes or storage. A program is started by `process`, from the plan that is made here.

mod component;
mod platform;
mod release;
mod template;

mod registry;
mod table;

pub mod adapter;
mod catalog;
mod config_file;
mod credentials;
mod definition;
mod search_path;
mod unknown_agent;

pub mod install;
pub mod mock;
pub mod serve;
mod skills;

pub use catalog::{Catalog, InvalidCatalog};
pub use component::ComponentName;
pub use config_file::{ConfigFile, InstallSection, InvalidConfigFile};
pub use credentials::{Credential, found as credentials};
pub use definition::{Definition, Error, Launch, Purpose, UserAgent};
pub use install::Installer;
pub use platform::{Platform, UnknownPlatform};
pub use registry::Registry;
pub use release::{InvalidVersion, Release, Version, Want};
pub use search_path::SearchPath;
pub use skills::SkillsRow;
pub use table::{Archive, Component, Source, Table};
pub use template::{Found, InvalidTemplate, Template};
pub use unknown_agent::UnknownAgent;
