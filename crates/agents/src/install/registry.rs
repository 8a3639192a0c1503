//! Another ACP registry than ours: asked once, and remembered for when it cannot be reached.

use super::{Fault, Inner};
use crate::Registry;

/// The registry at `url`, or as it was when it was last reached.
pub(super) async fn fetch(inner: &Inner, url: &str) -> Result<Registry, Fault> {
    let kept = inner.config.directory.join("registry.json");
    let http = inner.http(None).map_err(|error| Fault::Needs(std::sync::Arc::new(error)))?;
    let answer = http.text(url, |request| request).await;
    let missing = || Fault::Answer("there is nothing at the address of the ACP registry".into());
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
