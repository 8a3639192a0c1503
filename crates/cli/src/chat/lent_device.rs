//! The device that a new session may use: `--device NAME[:ROOT,…]`.

use std::str::FromStr;

use protocol::{
    lending::EnvironmentSpec,
    relay::{ClientId, RootId},
};

/// A device, and the directories of it to use; all granted ones if none is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LentDevice {
    client_id: ClientId,
    roots: Option<Vec<RootId>>,
}

impl FromStr for LentDevice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, roots) = match text.split_once(':') {
            Some((name, roots)) => (name, Some(roots)),
            None => (text, None),
        };
        let roots = roots.map(|roots| roots.split(',').map(RootId::from_str).collect::<Result<Vec<_>, _>>());
        Ok(Self {
            client_id: name.parse().map_err(|error| format!("the device `{name}`: {error}"))?,
            roots: roots.transpose().map_err(|error| format!("the directories of `{name}`: {error}"))?,
        })
    }
}

impl From<&LentDevice> for EnvironmentSpec {
    fn from(LentDevice { client_id, roots }: &LentDevice) -> Self {
        Self {
            client_id: client_id.clone(),
            scope_id: None,
            capabilities: None,
            roots: roots.clone(),
            approvals: Default::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_named_with_or_without_its_directories() {
        let parse = |text: &str| text.parse::<LentDevice>();
        let roots = |text: &str| {
            let roots = parse(text).unwrap().roots;
            roots.map(|roots| roots.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        assert_eq!(roots("laptop"), None);
        assert_eq!(roots("laptop:main,docs"), Some(vec!["main".into(), "docs".into()]));
        for wrong in ["", ":main", "laptop:", "laptop:main,,docs", "a b"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
