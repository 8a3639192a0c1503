//! The credentials that the catalog documents.

use serde_json::{Value, json};

use super::homes;
use crate::agent_stage::{ConfigureAgent, KEY};

/// One credential of an agent.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) agent: &'static str,
    pub(super) kind: SourceKind,
    /// The model of the session, where the credential is that of one of several providers.
    pub(super) model: Option<&'static str>,
    /// Configures the standard provider of the agent.
    pub(super) home: ConfigureAgent,
    /// The credential. Programs tell some kinds by their first letters.
    pub(super) key: &'static str,
    /// What the agent says if it does not send the credential to the model.
    pub(super) says: Option<&'static str>,
    /// With this credential the agent asks for more on its standard input before it can be told anything.
    pub(super) asks_on_stdin: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum SourceKind {
    Variable(&'static str),
    /// A file below the home with the credential at `pointer`.
    File {
        path: &'static str,
        pointer: &'static str,
        /// From the key and the URL of the model.
        content: fn(&str, &str) -> Value,
    },
    Token,
}

impl Source {
    /// Its name in the table.
    pub(super) fn name(&self) -> String {
        match (self.kind, self.model) {
            (SourceKind::Variable(name), _) => name.to_owned(),
            (SourceKind::File { path, pointer, .. }, _) => format!("{path}{pointer}"),
            (SourceKind::Token, Some(model)) => format!("token, model {model}"),
            (SourceKind::Token, None) => "token".to_owned(),
        }
    }

    pub(super) fn is_token(&self) -> bool {
        matches!(self.kind, SourceKind::Token)
    }

    const fn model(mut self, model: &'static str) -> Self {
        self.model = Some(model);
        self
    }

    const fn home(mut self, home: ConfigureAgent) -> Self {
        self.home = home;
        self
    }

    const fn key(mut self, key: &'static str) -> Self {
        self.key = key;
        self
    }

    const fn asks_on_stdin(mut self) -> Self {
        self.asks_on_stdin = true;
        self
    }

    const fn says(mut self, says: &'static str) -> Self {
        self.says = Some(says);
        self
    }
}

/// An agent, and the home that most of its credentials need.
struct Agent(&'static str, ConfigureAgent);

impl Agent {
    const fn source(&self, kind: SourceKind) -> Source {
        Source { agent: self.0, kind, model: None, home: self.1, key: KEY, says: None, asks_on_stdin: false }
    }

    const fn variable(&self, name: &'static str) -> Source {
        self.source(SourceKind::Variable(name))
    }

    const fn file(
        &self,
        path: &'static str,
        pointer: &'static str,
        content: fn(&str, &str) -> Value,
    ) -> Source {
        self.source(SourceKind::File { path, pointer, content })
    }

    const fn token(&self) -> Source {
        self.source(SourceKind::Token)
    }
}

const ANTHROPIC: &str = "anthropic/claude-sonnet-4-5";
const OPENAI: &str = "openai/gpt-5.1";
const GOOGLE: &str = "google/gemini-2.5-flash";

const AMP_FILE: &str = ".local/share/amp/secrets.json";
const CODEX_FILE: &str = ".codex/auth.json";
const OPENCODE_FILE: &str = ".local/share/opencode/auth.json";
const PI_FILE: &str = ".pi/agent/auth.json";

const AMP: Agent = Agent("amp", homes::amp);
const AMP_LOCAL: Agent = Agent("amp-local", homes::amp);
const CLAUDE: Agent = Agent("claude", homes::claude);
const CODEX: Agent = Agent("codex", homes::codex);
const GEMINI: Agent = Agent("gemini", homes::gemini);
const OPENCODE: Agent = Agent("opencode", homes::opencode);
const PI: Agent = Agent("pi", homes::pi);

/// An OAuth token of Anthropic.
const OAUTH: &str = "sk-ant-oat01-scripted";

/// The current Amp has a key, and then wants its vendor's server, which the scripted model is not.
const NO_AMP_SERVER: &str = "Unexpected error inside Amp CLI";

/// The current Amp looks for no key of a model.
const NO_AMP_KEY: &str = "Amp has no key";

/// The year 2100, in milliseconds.
const FUTURE: u64 = 4_102_444_800_000;

pub(super) const SOURCES: &[Source] = &[
    AMP.variable("AMP_API_KEY").says(NO_AMP_SERVER),
    AMP.variable("ANTHROPIC_API_KEY").says(NO_AMP_KEY),
    AMP.file(AMP_FILE, "/apiKey@https:~1~1ampcode.com~1", amp_secrets).says(NO_AMP_SERVER),
    AMP.file(".claude.json", "/primaryApiKey", |key, _| json!({ "primaryApiKey": key })).says(NO_AMP_KEY),
    AMP.token().says(NO_AMP_SERVER),
    AMP_LOCAL.variable("AMP_API_KEY"),
    AMP_LOCAL.file(AMP_FILE, "/apiKey@https:~1~1ampcode.com~1", amp_secrets),
    AMP_LOCAL.token(),
    CLAUDE.variable("ANTHROPIC_API_KEY"),
    CLAUDE.variable("ANTHROPIC_AUTH_TOKEN"),
    CLAUDE.variable("CLAUDE_CODE_OAUTH_TOKEN").key(OAUTH),
    CLAUDE.file(".claude.json", "/primaryApiKey", |key, _| json!({ "primaryApiKey": key })),
    CLAUDE
        .file(".claude/.credentials.json", "/claudeAiOauth/accessToken", |key, _| {
            let scopes = ["user:inference", "user:profile"];
            json!({ "claudeAiOauth": {
                "accessToken": key, "refreshToken": "r", "expiresAt": FUTURE, "scopes": scopes, "subscriptionType": "max",
            } })
        })
        .key(OAUTH),
    CLAUDE.token(),
    CODEX.variable("OPENAI_API_KEY"),
    CODEX.variable("CODEX_API_KEY"),
    CODEX.file(CODEX_FILE, "/OPENAI_API_KEY", |key, _| json!({ "OPENAI_API_KEY": key })),
    CODEX.file(CODEX_FILE, "/tokens/access_token", chatgpt),
    CODEX.token(),
    GEMINI.variable("GEMINI_API_KEY"),
    GEMINI.variable("GOOGLE_API_KEY").home(homes::gemini_vertex),
    // It asks Google's server whether the token is good, and with any other answer for a new login.
    GEMINI
        .file(".gemini/oauth_creds.json", "/access_token", |key, _| {
            json!({ "access_token": key, "refresh_token": "r", "expiry_date": FUTURE, "token_type": "Bearer" })
        })
        .home(homes::gemini_oauth)
        .says("Failed to authenticate with user code").asks_on_stdin(),
    GEMINI.token(),
    OPENCODE.variable("ANTHROPIC_API_KEY").model(ANTHROPIC),
    OPENCODE.variable("OPENAI_API_KEY").model(OPENAI),
    OPENCODE
        .file(OPENCODE_FILE, "/anthropic/key", |key, _| json!({ "anthropic": { "type": "api", "key": key } }))
        .model(ANTHROPIC),
    OPENCODE
        .file(OPENCODE_FILE, "/openai/key", |key, _| json!({ "openai": { "type": "api", "key": key } }))
        .model(OPENAI),
    // With a login of ChatGPT it uses the models and the server of that.
    OPENCODE.file(OPENCODE_FILE, "/openai/access", |key, _| json!({ "openai": oauth(key) })).model("openai/gpt-5.4").says("Cannot connect to API"),
    OPENCODE.token().model(ANTHROPIC),
    OPENCODE.token().model(OPENAI),
    OPENCODE.token().model(GOOGLE),
    PI.variable("ANTHROPIC_API_KEY").model(ANTHROPIC),
    PI.variable("OPENAI_API_KEY").model(OPENAI),
    PI.variable("GEMINI_API_KEY").model(GOOGLE),
    PI.file(PI_FILE, "/anthropic/key", |key, _| json!({ "anthropic": { "type": "api_key", "key": key } }))
        .model(ANTHROPIC),
    PI.file(PI_FILE, "/openai/key", |key, _| json!({ "openai": { "type": "api_key", "key": key } })).model(OPENAI),
    PI.file(PI_FILE, "/anthropic/access", |key, _| json!({ "anthropic": oauth(key) })).model(ANTHROPIC).key(OAUTH),
    PI.token().model(ANTHROPIC),
    PI.token().model(OPENAI),
    PI.token().model(GOOGLE),
];

/// An unsigned JSON Web Token that names an account.
const ID_TOKEN: &str = "eyJhbGciOiJub25lIn0.eyJlbWFpbCI6ImFAYi5jIiwiZXhwIjo0MTAyNDQ0ODAwLCJodHRwczovL2FwaS5vcGVuYWkuY29tL2F1dGgiOnsiY2hhdGdwdF9wbGFuX3R5cGUiOiJwcm8iLCJjaGF0Z3B0X2FjY291bnRfaWQiOiJhIiwiY2hhdGdwdF91c2VyX2lkIjoidSJ9fQ.c2ln";

fn chatgpt(key: &str, _url: &str) -> Value {
    let tokens =
        json!({ "access_token": key, "id_token": ID_TOKEN, "refresh_token": "r", "account_id": "a" });
    json!({ "auth_mode": "chatgpt", "last_refresh": "2099-01-01T00:00:00Z", "tokens": tokens })
}

fn oauth(key: &str) -> Value {
    json!({ "type": "oauth", "access": key, "refresh": "r", "expires": FUTURE })
}

/// Amp keeps one key for each server, here for the one that `AMP_URL` names.
fn amp_secrets(key: &str, url: &str) -> Value {
    json!({ format!("apiKey@{url}"): key })
}
