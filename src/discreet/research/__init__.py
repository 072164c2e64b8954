"""Published algorithms, comparisons, reproductions and reports: built on the product, which does not know them."""
