"""A learned model as a value: labels, weight domain, training, files, and the check of its claim."""
