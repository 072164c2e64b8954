"""How the site is built: `make docs` (offline; every warning is an error)."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent / "src")]

import discreet  # noqa: E402  the path to it is set above

project = "discreet"
author = "The discreet authors"
copyright = "The discreet authors"
version = release = discreet.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_design",
    "myst_parser",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "claims",
    "made_pages",
    "model_pages",
    "paper_pages",
]
exclude_patterns = ["_made/gallery/*.ipynb", "_templates"]
templates_path = ["_templates"]
nitpicky = False
suppress_warnings = ["config.cache"]

default_role = "code"  # docstrings set code in single backticks
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

sphinx_gallery_conf = {
    "examples_dirs": ["../examples/gallery"],
    "gallery_dirs": ["_made/gallery"],
    "filename_pattern": r"/plot_",
    "download_all_examples": False,
    "show_signature": False,
    "abort_on_example_error": True,
    "min_reported_time": 3600,
    "remove_config_comments": True,
}

html_theme = "pydata_sphinx_theme"
html_title = f"discreet {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "navigation_with_keys": False,
    "header_links_before_dropdown": 8,
}
html_sidebars = {"index": [], "changelog": []}
