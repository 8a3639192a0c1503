//! HTTP parts that the daemon and the hub share: connections, access checks, problem documents, extractors, WebSockets.
//!
//! An [`HttpListener`] accepts connections, limits their number and closes them in order. Before a request reaches a
//! route, the [`AccessGate`] consults an [`AccessCheck`]. Every failure leaves as a problem document
//! ([`ProblemResponse`]). Each request gets a [`RequestId`] and a tracing span, and is counted ([`HttpMetrics`]).
//!
//! Routes, tokens and configuration belong to the daemon and the hub.

mod access_gate;
pub mod api;
mod client_socket;
mod cors;
pub mod extract;
mod host_policy;
mod http_listener;
mod in_process_service;
pub mod metrics;
pub mod observation;
mod open_websockets;
mod problem_response;
pub mod request_body;
mod request_id;
mod request_tracker;
mod route_collector;
mod route_templates;
pub mod sse;
mod subprotocol;
mod websocket_upgrade;

pub use access_gate::{AccessCheck, AccessGate, AllowAll};
pub use cors::{CorsConfig, InvalidCors};
pub use extract::StallTimeout;
pub use host_policy::{HostPolicy, bearer_token, host_port, is_loopback_host};
pub use http_listener::{HttpListener, HttpService, PeerAddress};
pub use in_process_service::InProcessService;
pub use metrics::HttpMetrics;
pub use open_websockets::{OpenWebSockets, ServerWebSocket};
pub use problem_response::{ProblemResponse, Result};
pub use protocol::ErrorChain;
pub use request_id::{REQUEST_ID, RequestId};
pub use route_collector::{DocumentedRoutes, PathRoutes, RouteCollector, ServedRoutes, method_filter};
pub use route_templates::RouteTemplates;
pub use subprotocol::offered_subprotocol;
pub use websocket_upgrade::WebSocketUpgrade;
