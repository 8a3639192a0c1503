//! How an MCP server is reached.

use std::collections::HashMap;

use http::{HeaderName, HeaderValue};
use process::ProcessSpec;

use super::{
    Config, ConfigError, Variables, command,
    config::{ServerConfig, senseless},
};

/// How a server is reached.
pub(crate) enum Reach {
    Program(Box<ProcessSpec>),
    Url { url: String, headers: HashMap<HeaderName, HeaderValue> },
}

impl Reach {
    pub(crate) fn of(
        name: &str,
        server: &ServerConfig,
        config: &Config,
        env: &Variables,
    ) -> Result<Self, ConfigError> {
        let Some(url) = &server.url else {
            let spec = command::spec(&server.command, &config.directory, env, &server.inherit_env);
            let spec = server.env.iter().fold(spec, |spec, (name, value)| spec.env(name, value));
            return Ok(Self::Program(Box::new(spec.cwd(command::absolute(&config.directory)))));
        };
        let mut headers = HashMap::new();
        for (header, value) in &server.headers {
            let bad = || {
                senseless(
                    name,
                    &format!(
                        "`{header}` is not a valid HTTP header name, or its value is not a valid header value"
                    ),
                )
            };
            let mut value = HeaderValue::try_from(value).map_err(|_| bad())?;
            value.set_sensitive(true);
            headers.insert(HeaderName::try_from(header).map_err(|_| bad())?, value);
        }
        Ok(Self::Url { url: url.clone(), headers })
    }
}
