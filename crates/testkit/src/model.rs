//! A scripted model: a server on the loopback interface that implements the vendors' model APIs for real agents and
//! plays the script in the prompt.
//!
//! The script is part of the prompt, or comes from a [`Scenario`]. Line breaks or ` ;; ` separate its steps:
//!
//! | step | the model |
//! |---|---|
//! | `say:TEXT`, `think:TEXT` | answers TEXT, or sends it as reasoning |
//! | `slow:SECONDS WORDS` | streams WORDS one by one, spread over that time |
//! | `wait:SECONDS`, `hang:` | starts the answer and sends nothing for that time, or for [`HANG`](script::HANG) |
//! | `tool:bash COMMAND` | calls the agent's own shell tool; `tool:bash! …` requests to leave the agent's sandbox |
//! | `tool:NAME {json}` | calls the tool NAME; `tool+:…` puts the next call into the same answer |
//! | `edit:PATH TEXT` | writes a file with the agent's own tool |
//! | `ask:QUESTION\|A\|B`, `plan:TEXT`, `todo:A\|B\|C` | calls the agent's tool for questions, plans or lists |
//! | `err:STATUS TEXT`, `err1:…` | fails with that HTTP status; `err1` only the first time |
//! | `cut:`, `cut1:` | breaks the connection in mid-answer; `cut1` only the first time |
//! | `max:TEXT` | answers TEXT and stops as if the token limit was reached |
//!
//! An answer contains the steps up to and including the next tool call; the agent's next request, which has the
//! result of the call, gets the steps after it. When the script ends with a call, the model answers `tool-result: …`
//! with that result, so that a test sees how the agent reported a denial. A request for structured output gets a
//! value that fits its schema. A request without tools, such as for a session title, gets `scripted title`.

mod amp_backend;
mod answer_frames;
mod anthropic;
mod api_key;
mod chat;
mod conversation;
mod gemini;
mod model_api;
mod model_reply;
mod model_request;
mod next_reply;
mod offered_tools;
mod responses;
mod scenario;
mod schema_example;
pub mod script;
mod scripted_model;

pub use api_key::SentKey;
pub use model_api::ModelApi;
pub use model_request::ModelRequest;
pub use scenario::{InvalidScenario, Scenario};
pub use scripted_model::{ScriptedModel, ScriptedModelOptions};

#[cfg(test)]
mod tests;
