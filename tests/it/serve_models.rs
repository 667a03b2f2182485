//! The daemon, asked as text-embeddings-inference, vLLM and graders are.
