//! Finding out whether an agent can use its model: it is asked something small, beside the session.

use std::time::Duration;

use agent_adapters::{Fact, Order, Out, Prompt};
use protocol::{Event, InputId, sessions::AgentError};

use crate::{
    launch::{Launcher, Start},
    link::Link,
};

/// What it is asked.
const QUESTION: &str = "Reply with the word OK and nothing else.";

/// How long it may take to answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Whether the agent can use its model; if not, why.
pub(crate) async fn probe(launcher: &Launcher, start: Start) -> Result<(), AgentError> {
    let mut link = launcher.start(start).await?;
    let answer = tokio::time::timeout(PATIENCE, answer(&mut link)).await;
    let late = || AgentError::Timeout { message: "the agent did not answer the test prompt in time".into() };
    match answer.map_err(|_| late())? {
        Some(outcome) => {
            link.stop().await;
            outcome
        }
        None => Err(link.gone().await),
    }
}

/// What it answers; nothing if it ends before that.
async fn answer(link: &mut Link) -> Option<Result<(), AgentError>> {
    let mut out = link.start();
    loop {
        if let Some(outcome) = outcome(&out) {
            return Some(outcome);
        }
        let ready = out.facts.contains(&Fact::Ready);
        out.says.drain(..).for_each(|saying| link.say(saying));
        out = match ready {
            true => {
                let prompt = Prompt { id: InputId::mint(), text: QUESTION.into(), attachments: Vec::new() };
                link.tell(Order::Prompt(prompt))
            }
            false => gathered(link.hear().await?),
        };
    }
}

fn gathered(said: Vec<crate::link::Said>) -> Out {
    let mut all = Out::default();
    for one in said {
        all.says.extend(one.out.says);
        all.facts.extend(one.out.facts);
    }
    all
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
