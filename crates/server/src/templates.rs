//! The routes that there are, as requests are counted: a path names what it is about, which there is no end of.

use std::sync::Arc;

/// Where a request belongs that no route has.
const NONE: &str = "none";

/// The routes that there are.
#[derive(Debug)]
pub struct Templates {
    routes: matchit::Router<Arc<str>>,
    none: Arc<str>,
}

impl Templates {
    /// Those of a router, such as `/v1/acp/{server_id}`.
    pub fn new<T: Into<String>>(templates: impl IntoIterator<Item = T>) -> Self {
        let mut routes = matchit::Router::new();
        for template in templates {
            let template: String = template.into();
            // The router would not take two that are the same, or one that makes no sense.
            let _ = routes.insert(template.clone(), template.into());
        }
        Self { routes, none: NONE.into() }
    }

    /// The route of a path.
    pub(crate) fn find(&self, path: &str) -> &Arc<str> {
        self.routes.at(path).map_or(&self.none, |found| found.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_counted_by_its_route() {
        let templates = Templates::new(["/v1/acp", "/v1/acp/{id}", "/v1/acp/{id}/x", "/api/{of}/{*rest}"]);
        for (path, route) in [
            ("/v1/acp", "/v1/acp"),
            ("/v1/acp/a", "/v1/acp/{id}"),
            ("/v1/acp/a/x", "/v1/acp/{id}/x"),
            ("/v1/acp/a/secret", NONE),
            ("/api/box/v1/secret", "/api/{of}/{*rest}"),
            ("/", NONE),
        ] {
            assert_eq!(&**templates.find(path), route, "{path}");
        }
    }
}
