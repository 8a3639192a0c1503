//! Checks that an agent can use its model, with a small prompt outside of the session.

use std::time::Duration;

use agent_adapters::{Fact, Order, Out, Prompt};
use protocol::{Event, InputId, sessions::AgentError};

use crate::{
    agent_link::{AgentLink, AgentOutput},
    launcher::{AgentStart, Launcher},
};

const PROMPT: &str = "Reply with the word OK and nothing else.";

/// How long the agent may take to answer.
const ANSWER_MAX: Duration = Duration::from_secs(60);

/// Checks that the agent can use its model.
///
/// # Errors
/// The reason why it cannot.
pub(crate) async fn probe(launcher: &Launcher, start: AgentStart) -> Result<(), AgentError> {
    let mut link = launcher.start(start).await?;
    let outcome = tokio::time::timeout(ANSWER_MAX, prompt(&mut link)).await;
    let late = || AgentError::Timeout { message: "the agent did not answer the test prompt in time".into() };
    match outcome.map_err(|_| late())? {
        Some(outcome) => {
            link.stop().await;
            outcome
        }
        None => Err(link.wait_for_exit().await),
    }
}

/// Sends the prompt and waits for the end of its turn; `None` if the agent ends before.
async fn prompt(link: &mut AgentLink) -> Option<Result<(), AgentError>> {
    let mut out = link.start();
    loop {
        if let Some(outcome) = outcome(&out) {
            return Some(outcome);
        }
        let is_ready = out.facts.contains(&Fact::Ready);
        out.says.drain(..).for_each(|message| link.send(message));
        out = if is_ready {
            let prompt = Prompt { id: InputId::mint(), text: PROMPT.into(), attachments: Vec::new() };
            link.order(Order::Prompt(prompt))
        } else {
            merge(link.next_output().await?)
        };
    }
}

fn merge(outputs: Vec<AgentOutput>) -> Out {
    let mut merged = Out::default();
    for output in outputs {
        merged.says.extend(output.out.says);
        merged.facts.extend(output.out.facts);
    }
    merged
}

fn outcome(out: &Out) -> Option<Result<(), AgentError>> {
    out.facts.iter().find_map(|fact| match fact {
        Fact::Failed(error) | Fact::Event(Event::Error(error @ AgentError::TokenError { .. })) => {
            Some(Err(error.clone()))
        }
        Fact::TurnEnded { error: Some(error), .. } => Some(Err(error.clone())),
        Fact::TurnEnded { error: None, .. } => Some(Ok(())),
        _ => None,
    })
}
