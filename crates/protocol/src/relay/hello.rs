//! The first frame of a device: who it is and what it offers.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capabilities, ClientId, Code, Family, Mode, OfferedRoot, PROTOCOL, RelayError, Root};
use crate::json_object;

/// How many roots a device may offer: each is looked at for every other.
pub const ROOTS_MAX: usize = 256;

/// Who a device is and what it offers, as it says it. [`check`](Self::check) makes an [`Offer`] of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hello {
    /// [`PROTOCOL`].
    pub protocol: String,
    /// The device.
    pub client_id: String,
    /// What kind of device, such as `headless`.
    pub client_kind: String,
    /// The version of its program.
    pub client_version: String,
    /// What it offers.
    #[serde(default, deserialize_with = "json_object::one")]
    #[schemars(with = "Capabilities")]
    pub capabilities: Capabilities,
}

/// What a device offers, once it is known to make sense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The device.
    pub client_id: ClientId,
    /// What is on.
    pub families: BTreeSet<Family>,
    /// The directories; none if files are off.
    pub roots: Vec<Root>,
}

/// What of a hello makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{field}`: {reason}")]
pub struct InvalidHello {
    /// Where, such as `capabilities.fileops.roots[1].mode`.
    pub field: String,
    /// Why.
    pub reason: String,
}

impl Hello {
    /// What the device offers.
    ///
    /// # Errors
    /// If it speaks another protocol, or the same root twice, roots within each other or what is no path, mode or name.
    pub fn check(&self) -> Result<Offer, InvalidHello> {
        if self.protocol != PROTOCOL {
            let theirs: String = self.protocol.chars().filter(|c| !c.is_control()).take(64).collect();
            return Err(invalid("protocol", &format!("`{theirs}` is not spoken here, but `{PROTOCOL}` is")));
        }
        let client_id = self.client_id.parse().map_err(|why| invalid("client_id", &why))?;
        let families = self.capabilities.families();
        let roots = match &self.capabilities.fileops {
            Some(fileops) => roots(&fileops.roots)?,
            None => Vec::new(),
        };
        let roots = if families.contains(&Family::Fileops) { roots } else { Vec::new() };
        Ok(Offer { client_id, families, roots })
    }
}

fn roots(offered: &[OfferedRoot]) -> Result<Vec<Root>, InvalidHello> {
    if offered.len() > ROOTS_MAX {
        return Err(invalid("capabilities.fileops.roots", &format!("there are more than {ROOTS_MAX}")));
    }
    let mut roots: Vec<Root> = Vec::with_capacity(offered.len());
    for (index, said) in offered.iter().enumerate() {
        let at = |field: &str| format!("capabilities.fileops.roots[{index}].{field}");
        let root = Root {
            root_id: said.root_id.parse().map_err(|why| invalid(at("root_id"), &why))?,
            label: said.label.clone(),
            virtual_path: said.virtual_path.parse().map_err(|why| invalid(at("virtual_path"), &why))?,
            mode: match said.mode.as_str() {
                "ro" => Mode::Ro,
                "rw" => Mode::Rw,
                _ => return Err(invalid(at("mode"), "must be `ro` or `rw`")),
            },
        };
        if roots.iter().any(|other| other.root_id == root.root_id) {
            return Err(invalid(at("root_id"), "another root has the same"));
        }
        let path = &root.virtual_path;
        let overlaps = |other: &Root| {
            other.virtual_path.below(path).is_some() || path.below(&other.virtual_path).is_some()
        };
        if let Some(other) = roots.iter().find(|other| overlaps(other)) {
            return Err(invalid(
                at("virtual_path"),
                &format!("overlaps that of the root `{}`", other.root_id),
            ));
        }
        roots.push(root);
    }
    Ok(roots)
}

fn invalid(field: impl Into<String>, reason: &(impl ToString + ?Sized)) -> InvalidHello {
    InvalidHello { field: field.into(), reason: reason.to_string() }
}

impl From<InvalidHello> for RelayError {
    fn from(invalid: InvalidHello) -> Self {
        Self::new(Code::InvalidRequest, invalid.to_string()).with("field", invalid.field)
    }
}

#[cfg(test)]
mod tests;
