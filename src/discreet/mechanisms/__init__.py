"""Mechanisms: how an exact table becomes one that may be published, each with its proof."""
