//! Devices that are lent through a hub: the real hub, real sockets, and a device that does as it is told.

mod accepted;
mod approved;
mod codes;
mod device;
mod doors;
mod events;
mod frames;
mod held;
mod methods;
mod paired;
mod raw;
mod reconnected;
mod recorded;
mod refused;
mod remembered;
mod revoked;
mod scoped;
mod sessions;
mod status;
mod tools;
mod waiting;
pub(crate) mod world;
