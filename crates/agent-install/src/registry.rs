//! Another ACP registry than ours: asked once, and remembered for when it cannot be reached.

use std::sync::Arc;

use super::{Fault, Inner};
use agent_catalog::Registry;

impl Inner {
    /// Takes the registry that the configuration names; without it, the one that is part of this program stays.
    pub(super) async fn fetch_registry(&self) {
        let Some(url) = &self.config.acp_registry else { return };
        match fetch(self, url).await {
            Ok(fetched) => {
                let mut catalog = self.catalog.write();
                *catalog = Arc::new(catalog.with_registry(&fetched));
            }
            Err(fault) => {
                tracing::warn!(%fault, "could not read the ACP registry; using the built-in copy")
            }
        }
    }
}

/// The registry at `url`, or as it was when it was last reached.
async fn fetch(inner: &Inner, url: &str) -> Result<Registry, Fault> {
    let kept = inner.config.directory.join("registry.json");
    let http = inner.http(None).map_err(|error| Fault::Needs(Arc::new(error)))?;
    let answer = http.text(url, |request| request).await;
    let missing = || Fault::Answer("the ACP registry's URL returned nothing".into());
    match answer.and_then(|text| text.ok_or_else(missing)) {
        Ok(text) => {
            let registry = Registry::parse(&text)?;
            // Not being able to remember it is no reason not to use it.
            let _ =
                std::fs::create_dir_all(&inner.config.directory).and_then(|()| std::fs::write(kept, text));
            Ok(registry)
        }
        Err(fault) => match std::fs::read_to_string(kept) {
            Ok(text) => Ok(Registry::parse(&text)?),
            Err(_) => Err(fault),
        },
    }
}
