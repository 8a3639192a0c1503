//! Builds a router and its OpenAPI document from one list of routes.
//!
//! A server declares its routes once, in a function that is generic over a [`RouteCollector`]. [`ServedRoutes`] collects what
//! answers requests, and [`DocumentedRoutes`] what describes them. A program that only serves contains no code that builds
//! the document: it took more than a megabyte. The document is generated ahead, and embedded.

use std::mem;

use axum::{Router, routing::MethodRouter};
use utoipa::openapi::OpenApi;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use crate::RouteTemplates;

/// Declares the handlers of one path for [`RouteCollector::add`]. Each handler has the attribute `utoipa::path`.
#[macro_export]
macro_rules! routes {
    ($($handler:ident $(:: $nested:ident)?),+ $(,)?) => {
        $crate::PathRoutes {
            served: || {
                let mut path = ::std::string::String::new();
                let mut router = ::axum::routing::MethodRouter::new();
                $(
                    path = $crate::routes!(@describe path $handler $(:: $nested)?);
                    for method in $crate::routes!(@describe methods $handler $(:: $nested)?) {
                        let method = $crate::method_filter(&method);
                        router = router.on(method, $handler $(:: $nested)?);
                    }
                )+
                (path, router)
            },
            documented: || ::utoipa_axum::routes!($($handler $(:: $nested)?),+),
        }
    };
    // The attribute `utoipa::path` describes a handler by a type beside it, whose name starts with `__path_`.
    (@describe $function:ident $handler:ident) => {
        ::utoipa_axum::paste! { <[<__path_ $handler>] as ::utoipa::Path>::$function() }
    };
    (@describe $function:ident $module:ident :: $handler:ident) => {
        ::utoipa_axum::paste! { <$module::[<__path_ $handler>] as ::utoipa::Path>::$function() }
    };
}

/// The handlers of one path, as [`routes!`](crate::routes) declares them.
#[derive(Debug)]
pub struct PathRoutes<F, G> {
    /// Returns the path and its handlers.
    pub served: F,
    /// Returns the description of the handlers.
    pub documented: G,
}

/// The filter for the method of a handler.
#[doc(hidden)]
pub fn method_filter(method: &utoipa::openapi::HttpMethod) -> axum::routing::MethodFilter {
    utoipa_axum::PathItemExt::to_method_filter(method)
}

/// Collects the routes of a server, whose handlers share the state `S`.
pub trait RouteCollector<S> {
    /// Adds the handlers of one path.
    fn add<F, G>(&mut self, routes: PathRoutes<F, G>) -> &mut Self
    where
        F: FnOnce() -> (String, MethodRouter<S>),
        G: FnOnce() -> UtoipaMethodRouter<S>;
}

/// Collects a router and its route templates.
#[derive(Debug)]
pub struct ServedRoutes<S> {
    router: Router<S>,
    paths: Vec<String>,
}

impl<S: Clone + Send + Sync + 'static> ServedRoutes<S> {
    /// The router, and its route templates beside those of `further` routers.
    pub fn split(self, further: &[&str]) -> (Router<S>, RouteTemplates) {
        let further = further.iter().copied().map(ToOwned::to_owned);
        (self.router, RouteTemplates::new(self.paths.into_iter().chain(further)))
    }
}

impl<S: Clone + Send + Sync + 'static> Default for ServedRoutes<S> {
    fn default() -> Self {
        Self { router: Router::new(), paths: Vec::new() }
    }
}

impl<S: Clone + Send + Sync + 'static> RouteCollector<S> for ServedRoutes<S> {
    fn add<F, G>(&mut self, routes: PathRoutes<F, G>) -> &mut Self
    where
        F: FnOnce() -> (String, MethodRouter<S>),
    {
        let (path, handlers) = (routes.served)();
        self.router = mem::take(&mut self.router).route(&path, handlers);
        self.paths.push(path);
        self
    }
}

/// Collects the OpenAPI document of the routes.
pub struct DocumentedRoutes<S>(OpenApiRouter<S>);

impl<S: Clone + Send + Sync + 'static> DocumentedRoutes<S> {
    /// Adds the routes to the document `openapi`.
    pub fn new(openapi: OpenApi) -> Self {
        Self(OpenApiRouter::with_openapi(openapi))
    }

    /// The document with all routes.
    pub fn into_openapi(self) -> OpenApi {
        self.0.into_openapi()
    }
}

impl<S: Clone + Send + Sync + 'static> RouteCollector<S> for DocumentedRoutes<S> {
    fn add<F, G>(&mut self, routes: PathRoutes<F, G>) -> &mut Self
    where
        G: FnOnce() -> UtoipaMethodRouter<S>,
    {
        self.0 = mem::take(&mut self.0).routes((routes.documented)());
        self
    }
}
