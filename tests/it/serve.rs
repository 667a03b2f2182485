//! The daemon: its own protocol, whom it lets in, and how it ends.
