//! The daemon, asked as reward servers of trainers are.
