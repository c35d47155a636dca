"""What every package may use and knows nothing of the method: arrays, files, messages, progress, processes."""
