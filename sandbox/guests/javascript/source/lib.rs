//! Empty: only the lock file beside it is used.
