//! `/v1/config`: the MCP servers and skills of a directory.

use protocol::config::{McpServer, McpServerList, Skill, SkillList};
use reqwest::Method;
use serde_json::value::RawValue;

use crate::{ApiResponse, Client, Result};

macro_rules! entries {
    ($(#[$doc:meta])* $entries:ident = $route:literal, $parameter:literal, $entry:ty, $list:ty) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub struct $entries<'a>(pub(crate) &'a Client);

        impl $entries<'_> {
            const ROUTE: &'static [&'static str] = &["v1", "config", $route];

            /// Lists the entries of a directory.
            pub async fn list(self, directory: &str) -> Result<ApiResponse<$list>> {
                self.0.call(Method::GET, Self::ROUTE, &[("directory", Some(directory))]).await
            }

            /// Reads one entry.
            pub async fn get(self, directory: &str, name: &str) -> Result<ApiResponse<$entry>> {
                let query = [("directory", Some(directory)), ($parameter, Some(name))];
                self.0.call(Method::GET, Self::ROUTE, &query).await
            }

            /// Stores an entry, replacing the one with the same name.
            pub async fn set(self, directory: &str, name: &str, entry: &$entry) -> Result<ApiResponse<()>> {
                let query = [("directory", Some(directory)), ($parameter, Some(name))];
                self.0.call_with_body(Method::PUT, Self::ROUTE, &query, entry).await
            }

            /// Stores an entry as raw JSON, which may have fields that only a newer daemon knows.
            pub async fn set_json(self, directory: &str, name: &str, entry: &RawValue) -> Result<ApiResponse<()>> {
                let query = [("directory", Some(directory)), ($parameter, Some(name))];
                self.0.call_with_body(Method::PUT, Self::ROUTE, &query, entry).await
            }

            /// Deletes an entry, if it exists.
            pub async fn delete(self, directory: &str, name: &str) -> Result<ApiResponse<()>> {
                let query = [("directory", Some(directory)), ($parameter, Some(name))];
                self.0.call(Method::DELETE, Self::ROUTE, &query).await
            }
        }
    };
}

entries! {
    /// MCP servers, by directory and name.
    McpApi = "mcp", "mcpName", McpServer, McpServerList
}

entries! {
    /// Skills, by directory and name.
    SkillsApi = "skills", "skillName", Skill, SkillList
}
