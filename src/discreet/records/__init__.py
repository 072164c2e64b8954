"""How a file, a line and a value are read; training and prediction share it."""
