//! How a program of a request is run.
