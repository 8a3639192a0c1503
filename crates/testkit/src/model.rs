//! A model that does what the prompt says: one loopback server that speaks the vendors' APIs to real agents.
//!
//! A prompt, or a [`Scenario`], is a script. Its steps stand on lines of their own or between ` ;; `:
//!
//! | step | what the model does |
//! |---|---|
//! | `say:TEXT`, `think:TEXT` | answers, or thinks, TEXT |
//! | `slow:SECONDS WORDS` | answers word by word over that time |
//! | `wait:SECONDS`, `hang:` | opens the answer and says nothing for that time, or for [`HANG`](script::HANG) |
//! | `tool:bash COMMAND` | calls the agent's own shell tool; `tool:bash! …` asks to leave a sandbox, where there is one |
//! | `tool:NAME {json}` | calls that tool; `tool+:…` joins the next call in one answer |
//! | `edit:PATH TEXT` | writes a file with the agent's own tool for that |
//! | `ask:QUESTION\|A\|B`, `plan:TEXT`, `todo:A\|B\|C` | calls the agent's tool for questions, plans, lists |
//! | `err:STATUS TEXT`, `err1:…` | fails with that HTTP status; the first time only |
//! | `cut:`, `cut1:` | breaks the connection in mid-answer; the first time only |
//! | `max:TEXT` | answers TEXT and stops for want of tokens |
//!
//! Text joins the next call in one answer; a call ends the answer. After the last one the model says
//! `tool-result: …` with what the agent told it, so that a denial is seen. Requests for structured output get a value
//! that fits; requests without tools, such as for titles, get `scripted title`.

mod amp;
mod anthropic;
mod chat;
mod conversation;
mod dialect;
mod frames;
mod gemini;
mod key;
mod reply;
mod responses;
mod scenario;
mod schema;
pub mod script;
mod seen;
mod server;
mod tools;
mod turn;

pub use dialect::Dialect;
pub use scenario::{InvalidScenario, Scenario};
pub use seen::Seen;
pub use server::{Model, ModelOptions};

#[cfg(test)]
mod tests;
