//! Real agents over `/v1/sessions`, with a scripted model behind them: one suite for all of them (sessions-16).
//!
//! Its tests are named agent and feature, such as `claude::plan_approved`, and what they show is kept in
//! `docs/sessions.json` (sessions-17).

mod agent;
mod agents;
mod chat;
mod credentials;
mod device;
mod features;
mod stage;
mod suite;
mod turn;
