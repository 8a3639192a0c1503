//! Workers as people see them through the hub, against a runtime that does as it is told.

mod bus;
mod histories;
mod viewer;
mod watched;
