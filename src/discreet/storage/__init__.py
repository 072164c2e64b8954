"""How files of ours are written, read, hashed and locked."""
