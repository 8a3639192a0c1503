//! The owner of a device.

use std::sync::Arc;

use async_trait::async_trait;
use device::{Agreement, Answer, Prompt, Question, Unanswered};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::Notify;

/// An owner who says the same each time, and remembers what they were asked.
#[derive(Clone)]
pub(crate) struct Owner {
    pub(crate) says: Answer,
    pub(crate) asked: Arc<Mutex<Vec<Value>>>,
    /// What they could have agreed to, each time.
    pub(crate) offered: Arc<Mutex<Vec<Option<Agreement>>>>,
    /// While it is there they think about it.
    pub(crate) thinking: Option<Arc<Notify>>,
}

#[async_trait]
impl Prompt for Owner {
    async fn ask(&self, question: Question<'_>) -> Result<Answer, Unanswered> {
        self.asked.lock().push(question.request.params.read().unwrap());
        self.offered.lock().push(question.agreement.cloned());
        if let Some(thinking) = &self.thinking {
            thinking.notified().await;
        }
        Ok(self.says)
    }
}

impl Owner {
    pub(crate) fn saying(says: Answer) -> Self {
        Self { says, asked: Arc::default(), offered: Arc::default(), thinking: None }
    }

    pub(crate) fn count(&self) -> usize {
        self.asked.lock().len()
    }
}
