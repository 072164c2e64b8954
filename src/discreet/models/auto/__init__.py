"""One model to type: Auto picks a family and its parameters from public facts."""
