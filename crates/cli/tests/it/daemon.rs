//! The daemon around its instances: HTTP in general, agents, files, config.
