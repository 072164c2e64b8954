"""How a record is read: files, columns and values, the same for training and prediction."""
