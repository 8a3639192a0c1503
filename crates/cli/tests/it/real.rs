//! Real agents over `/v1/acp`, with a scripted model behind them: what each of them was shown to do.
//!
//! Every agent goes through one suite. Its tests are named agent and feature, such as `claude::resume`, and what they
//! show is kept in `docs/agents.json`: a run compares with it, and `TOMBOLO_WRITE_FEATURES=1` writes it anew.

mod agent;
mod agents;
mod features;
pub(crate) mod processes;
mod registry;
mod sandbox_flag;
mod stage;
mod suite;
mod talk;
mod turn;
