//! Two policies combined.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use protocol::{Event, RuntimeId, sessions::SessionSnapshot, wait::Wait};
use serde_json::Value;

use super::{Decision, Policy, PolicySubject, Redactor, RequestedAction, StreamRedactor, Visibility};

/// Two policies: both must allow an action, and the second redacts the output of the first.
pub struct CombinedPolicy {
    near: Arc<dyn Policy>,
    far: Arc<dyn Policy>,
    /// The combined redactors that are in use: viewers with the same two redactors share one.
    stacks: Mutex<Vec<Weak<StackedRedactor>>>,
}

impl CombinedPolicy {
    /// The second policy decides about actions that the first allows, and redacts its output.
    pub fn new(near: Arc<dyn Policy>, far: Arc<dyn Policy>) -> Self {
        Self { near, far, stacks: Mutex::default() }
    }

    fn stack(&self, near: Arc<dyn Redactor>, far: Arc<dyn Redactor>) -> Arc<StackedRedactor> {
        let mut stacks = self.stacks.lock();
        stacks.retain(|stack| stack.strong_count() > 0);
        let same =
            |stack: &Arc<StackedRedactor>| Arc::ptr_eq(&stack.near, &near) && Arc::ptr_eq(&stack.far, &far);
        if let Some(known) = stacks.iter().filter_map(Weak::upgrade).find(same) {
            return known;
        }
        let stack = Arc::new(StackedRedactor { near, far });
        stacks.push(Arc::downgrade(&stack));
        stack
    }
}

impl Policy for CombinedPolicy {
    fn may(&self, who: &PolicySubject, what: &RequestedAction<'_>) -> Decision {
        match self.near.may(who, what) {
            Decision::Allowed => self.far.may(who, what),
            denied @ Decision::Denied(_) => denied,
        }
    }

    fn visibility(&self, who: &PolicySubject, runtime: &RuntimeId) -> Visibility {
        match (self.near.visibility(who, runtime), self.far.visibility(who, runtime)) {
            (Visibility::Full, sight) | (sight, Visibility::Full) => sight,
            (Visibility::Redacted(near), Visibility::Redacted(far)) => {
                Visibility::Redacted(self.stack(near, far))
            }
        }
    }
}

/// A redactor for the output of another one.
struct StackedRedactor {
    near: Arc<dyn Redactor>,
    far: Arc<dyn Redactor>,
}

impl Redactor for StackedRedactor {
    fn redact_stream(&self) -> Box<dyn StreamRedactor> {
        let (near, far) = (self.near.redact_stream(), self.far.redact_stream());
        Box::new(StackedStreamRedactor { near, far })
    }

    fn hides_content(&self) -> bool {
        self.near.hides_content() || self.far.hides_content()
    }

    fn may_change(&self, frame: &[u8]) -> bool {
        self.near.may_change(frame) || self.far.may_change(frame)
    }

    fn value(&self, value: Value) -> Value {
        self.far.value(self.near.value(value))
    }

    fn wait(&self, wait: Wait) -> Option<Wait> {
        self.far.wait(self.near.wait(wait)?)
    }
}

/// Redacts the events of one worker twice.
struct StackedStreamRedactor {
    near: Box<dyn StreamRedactor>,
    far: Box<dyn StreamRedactor>,
}

impl StreamRedactor for StackedStreamRedactor {
    fn begin(&mut self, snapshot: &SessionSnapshot) {
        self.near.begin(snapshot);
        self.far.begin(&self.near.snapshot(snapshot.clone()));
    }

    fn lose(&mut self, message: &str, part: &str) {
        self.near.lose(message, part);
        self.far.lose(message, part);
    }

    fn event(&mut self, event: &Event) -> Option<Event> {
        let near = self.near.event(event);
        let far = self.far.event(near.as_ref().unwrap_or(event));
        far.or(near)
    }

    fn snapshot(&self, snapshot: SessionSnapshot) -> SessionSnapshot {
        self.far.snapshot(self.near.snapshot(snapshot))
    }
}
