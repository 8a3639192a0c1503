//! Maps paths to route templates, so that metrics have one label per route instead of one per path.

use std::sync::Arc;

/// The label of requests that match no route.
pub(crate) const NO_ROUTE: &str = "none";

/// The route templates of a server.
#[derive(Debug)]
pub struct RouteTemplates {
    routes: matchit::Router<Arc<str>>,
    none: Arc<str>,
}

impl RouteTemplates {
    /// Collects the templates of a router, such as `/v1/acp/{server_id}`.
    pub fn new<T: Into<String>>(templates: impl IntoIterator<Item = T>) -> Self {
        let mut routes = matchit::Router::new();
        for template in templates {
            let template: String = template.into();
            // Ignore errors: axum has already rejected duplicate and malformed templates of the same router.
            let _ = routes.insert(template.clone(), template.into());
        }
        Self { routes, none: NO_ROUTE.into() }
    }

    /// The template that matches a path.
    pub(crate) fn find(&self, path: &str) -> &Arc<str> {
        self.routes.at(path).map_or(&self.none, |found| found.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_maps_to_its_template() {
        let templates =
            RouteTemplates::new(["/v1/acp", "/v1/acp/{id}", "/v1/acp/{id}/x", "/api/{of}/{*rest}"]);
        for (path, route) in [
            ("/v1/acp", "/v1/acp"),
            ("/v1/acp/a", "/v1/acp/{id}"),
            ("/v1/acp/a/x", "/v1/acp/{id}/x"),
            ("/v1/acp/a/secret", NO_ROUTE),
            ("/api/box/v1/secret", "/api/{of}/{*rest}"),
            ("/", NO_ROUTE),
        ] {
            assert_eq!(&**templates.find(path), route, "{path}");
        }
    }
}
