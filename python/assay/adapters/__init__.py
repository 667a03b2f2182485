"""One module for each trainer, with the function that the trainer wants."""
