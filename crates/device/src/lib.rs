//! A device: what its owner lends to agents, on the owner's terms.
//!
//! A [`Device`] answers what a relay server asks, with one [`Provider`] for each family that it lends. It never lends more
//! than its owner selected: what the server grants can only take away from that. Its owner can be asked first ([`Consent`]),
//! and can pause or end it at any time ([`Control`]). A [`Link`] keeps it connected.

mod build;
mod config;
mod consent;
mod control;
mod desk;
mod fileops;
mod home;
pub mod ledger;
mod link;
mod own;
mod paired;
mod provider;
mod reconnect;
mod roots;
pub mod shell;
mod socket;
pub mod tools;
mod usage;
mod visit;

pub use build::{BuildError, Built, Surroundings, Workshop, build};
pub use config::{DeviceConfig, InvalidConfig, InvalidRoot, LentRoot, Places, ShellConfig, WhenLost};
pub use consent::{Agreement, Answer, Consent, Nobody, Prompt, Question, Rules, Run, Subject, Unanswered};
pub use control::{Control, Lending};
pub use desk::Device;
pub use fileops::Fileops;
pub use home::{Home, HomeError};
pub use ledger::{Kept, Ledger, LedgerError};
pub use link::{Link, Standing, Unwanted};
pub use paired::Paired;
pub use provider::{Look, Provider};
pub use roots::{Lent, OpenError, Roots};
pub use socket::{ControlSocket, Telling, ask};
pub use usage::{Live, Seen, Usage};
pub use visit::{Lasting, Visit};
