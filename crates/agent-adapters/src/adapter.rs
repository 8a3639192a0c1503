//! The state machine that every agent protocol implements.

use crate::{Heard, Order, Out};

/// The state of one process of one session, in the agent's own protocol.
pub trait Adapter: Send {
    /// Produces the first input of a process that has just started. The next call follows only after [`Fact::Ready`].
    ///
    /// [`Fact::Ready`]: crate::Fact::Ready
    fn start(&mut self, out: &mut Out);

    /// Completes the message that the agent sent outside any turn: a user's message is about to begin a turn, whose output
    /// belongs to another message.
    fn turn_begins(&mut self, _: &mut Out) {}

    /// Handles output of the agent.
    fn hear(&mut self, heard: Heard<'_>, out: &mut Out);

    /// Handles a command of the session.
    fn tell(&mut self, order: Order, out: &mut Out);

    /// Whether the agent accepts a message during a turn ([`Order::Steer`]).
    fn steers(&self) -> bool {
        true
    }
}
