//! The journals on disk: many in one SQLite file.
