"""Turns Hugging Face reward models into model folders for assay (docs/model-folder.md)."""
