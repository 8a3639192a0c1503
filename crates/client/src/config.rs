//! `/v1/config`: MCP servers and skills of a directory.

use protocol::config::{McpServer, McpServerList, Skill, SkillList};
use reqwest::Method;
use serde_json::value::RawValue;

use crate::{Answer, Client, Result};

macro_rules! entries {
    ($(#[$doc:meta])* $entries:ident = $route:literal, $parameter:literal, $entry:ty, $list:ty) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub struct $entries<'a>(pub(crate) &'a Client);

        impl $entries<'_> {
            const ROUTE: &'static [&'static str] = &["v1", "config", $route];

            /// All of a directory.
            pub async fn list(self, directory: &str) -> Result<Answer<$list>> {
                self.0.ask(Method::GET, Self::ROUTE, &[("directory", Some(directory))]).await
            }

            /// The one of that name.
            pub async fn get(self, directory: &str, name: &str) -> Result<Answer<$entry>> {
                let query = [("directory", Some(directory)), ($parameter, Some(name))];
                self.0.ask(Method::GET, Self::ROUTE, &query).await
            }

            /// Stores it under that name, in place of what was there.
            pub async fn set(self, directory: &str, name: &str, entry: &$entry) -> Result<Answer<()>> {
                let query = [("directory", Some(directory)), ($parameter, Some(name))];
                self.0.tell(Method::PUT, Self::ROUTE, &query, entry).await
            }

            /// Stores it under that name, as a newer daemon than this client may understand it.
            pub async fn set_json(self, directory: &str, name: &str, entry: &RawValue) -> Result<Answer<()>> {
                let query = [("directory", Some(directory)), ($parameter, Some(name))];
                self.0.tell(Method::PUT, Self::ROUTE, &query, entry).await
            }

            /// Forgets it; it need not be there.
            pub async fn delete(self, directory: &str, name: &str) -> Result<Answer<()>> {
                let query = [("directory", Some(directory)), ($parameter, Some(name))];
                self.0.ask(Method::DELETE, Self::ROUTE, &query).await
            }
        }
    };
}

entries! {
    /// MCP servers, by directory and name.
    Mcp = "mcp", "mcpName", McpServer, McpServerList
}

entries! {
    /// Skills, by directory and name.
    Skills = "skills", "skillName", Skill, SkillList
}
