//! What a session uses of a device: every test in one process, without a network (relay-115).

mod device;
mod files;
mod mapping;
mod parts;
mod shell;
mod tools;
