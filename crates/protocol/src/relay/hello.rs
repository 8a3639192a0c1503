//! The first frame of a device: its identity and the capabilities that it offers.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ClientId, DeviceCapabilities, Family, OfferedRoot, PROTOCOL, RelayError, RelayErrorCode, Root, RootMode,
};
use crate::json_object;

/// Maximum number of roots that a device may offer. Validation compares each root with every other.
pub const ROOTS_MAX: usize = 256;

/// Identity and capabilities of a device, not validated yet. [`check`](Self::check) turns it into a [`DeviceOffer`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hello {
    /// Must be [`PROTOCOL`].
    pub protocol: String,
    /// Id of the device.
    pub client_id: String,
    /// Kind of device, such as `headless`.
    pub client_kind: String,
    /// Version of the device program.
    pub client_version: String,
    /// The offered capabilities.
    #[serde(default, deserialize_with = "json_object::one")]
    #[schemars(with = "DeviceCapabilities")]
    pub capabilities: DeviceCapabilities,
}

/// The validated content of a hello.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceOffer {
    /// The device.
    pub client_id: ClientId,
    /// The enabled families.
    pub families: BTreeSet<Family>,
    /// The offered roots; empty if file access is disabled.
    pub roots: Vec<Root>,
}

/// An invalid field of a hello.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{field}`: {reason}")]
pub struct InvalidHello {
    /// Path of the field, such as `capabilities.fileops.roots[1].mode`.
    pub field: String,
    /// Description of the problem.
    pub reason: String,
}

impl Hello {
    /// Validates the hello.
    ///
    /// # Errors
    /// Fails for another protocol version, invalid ids, paths or modes, and for duplicate or overlapping roots.
    pub fn check(&self) -> Result<DeviceOffer, InvalidHello> {
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
        Ok(DeviceOffer { client_id, families, roots })
    }
}

fn roots(offered: &[OfferedRoot]) -> Result<Vec<Root>, InvalidHello> {
    if offered.len() > ROOTS_MAX {
        return Err(invalid("capabilities.fileops.roots", &format!("there are more than {ROOTS_MAX}")));
    }
    let mut roots: Vec<Root> = Vec::with_capacity(offered.len());
    for (index, root) in offered.iter().enumerate() {
        let at = |field: &str| format!("capabilities.fileops.roots[{index}].{field}");
        let root = Root {
            root_id: root.root_id.parse().map_err(|why| invalid(at("root_id"), &why))?,
            label: root.label.clone(),
            virtual_path: root.virtual_path.parse().map_err(|why| invalid(at("virtual_path"), &why))?,
            mode: match root.mode.as_str() {
                "ro" => RootMode::Ro,
                "rw" => RootMode::Rw,
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
        Self::new(RelayErrorCode::InvalidRequest, invalid.to_string()).with("field", invalid.field)
    }
}

#[cfg(test)]
mod tests;
