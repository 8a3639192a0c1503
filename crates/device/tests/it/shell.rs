//! Commands that a device lends.

mod background;
mod confined;
mod ending;
mod flood;
mod limits;
mod network;
mod privileges;
mod reconnect;
mod record;
mod running;
pub(crate) mod support;
