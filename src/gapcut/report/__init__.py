"""What people look at: score tables as plain data, and figures (extra ``plot``)."""
