//! Two policies as one.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use protocol::{Event, RuntimeId, sessions::SessionSnapshot, wait::Wait};
use serde_json::Value;

use super::{Lens, Look, Policy, Sight, Verdict, What, Who};

/// Two policies: both must allow what is done, and what the first shows is shown through the second.
pub struct Both {
    near: Arc<dyn Policy>,
    far: Arc<dyn Policy>,
    /// The lenses that somebody looks through: who has the same two shares what they show.
    stacks: Mutex<Vec<Weak<Stack>>>,
}

impl Both {
    /// The second is asked about what the first allows and shows.
    pub fn new(near: Arc<dyn Policy>, far: Arc<dyn Policy>) -> Self {
        Self { near, far, stacks: Mutex::default() }
    }

    fn stack(&self, near: Arc<dyn Lens>, far: Arc<dyn Lens>) -> Arc<Stack> {
        let mut stacks = self.stacks.lock();
        stacks.retain(|stack| stack.strong_count() > 0);
        let same = |stack: &Arc<Stack>| Arc::ptr_eq(&stack.near, &near) && Arc::ptr_eq(&stack.far, &far);
        if let Some(known) = stacks.iter().filter_map(Weak::upgrade).find(same) {
            return known;
        }
        let stack = Arc::new(Stack { near, far });
        stacks.push(Arc::downgrade(&stack));
        stack
    }
}

impl Policy for Both {
    fn may(&self, who: &Who, what: &What<'_>) -> Verdict {
        match self.near.may(who, what) {
            Verdict::Allowed => self.far.may(who, what),
            denied @ Verdict::Denied(_) => denied,
        }
    }

    fn sight(&self, who: &Who, runtime: &RuntimeId) -> Sight {
        match (self.near.sight(who, runtime), self.far.sight(who, runtime)) {
            (Sight::Whole, sight) | (sight, Sight::Whole) => sight,
            (Sight::Through(near), Sight::Through(far)) => Sight::Through(self.stack(near, far)),
        }
    }
}

/// A lens behind a lens.
struct Stack {
    near: Arc<dyn Lens>,
    far: Arc<dyn Lens>,
}

impl Lens for Stack {
    fn look(&self) -> Box<dyn Look> {
        Box::new(Looking { near: self.near.look(), far: self.far.look() })
    }

    fn value(&self, value: Value) -> Value {
        self.far.value(self.near.value(value))
    }

    fn wait(&self, wait: Wait) -> Option<Wait> {
        self.far.wait(self.near.wait(wait)?)
    }
}

/// Looks at one worker.
struct Looking {
    near: Box<dyn Look>,
    far: Box<dyn Look>,
}

impl Look for Looking {
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
