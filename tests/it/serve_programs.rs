//! The daemon, asked as SandboxFusion and Piston are.
