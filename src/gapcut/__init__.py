"""Learn the weights of discrete energies on any graph, and prove how good they are."""

__version__ = "0.1.0"
