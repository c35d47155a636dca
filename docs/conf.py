"""How the documentation is built: ``make docs``. Nothing is fetched, neither by the build nor by the pages."""

import importlib
import os
import sys
from pathlib import Path

# One thread for BLAS, as in the workers of `compare`: gallery and documentation are built on any machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

project = "ispca"
author = "the ispca developers"
copyright = "the ispca developers; BSD-3-Clause"
version = release = importlib.import_module("ispca").__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "elsewhere",
    "underscores",
]
exclude_patterns = [
    "_build",
    "_extensions",
    "_templates",
    "gallery/**/*.py",
    "gallery/**/*.ipynb",
    "gallery/**/*.md5",
]
templates_path = ["_templates"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
root_doc = "index"

myst_enable_extensions = ["dollarmath", "amsmath", "deflist", "colon_fence"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"
autodoc_default_options = {"inherited-members": None}
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
default_role = "code"

html_theme = "pydata_sphinx_theme"
html_title = "ispca"
html_static_path = ["_static"]
html_css_files = ["ispca.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": True,
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
# Top-level pages have no subpages to list, and the wide figures of the results need the room.
html_sidebars = {"index": [], "start": [], "cli": [], "report": [], "faq": [], "paper-results": []}


sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("ispca",),
    "reference_url": {"ispca": None},
    "reset_modules": ("looks.reset",),
    "abort_on_example_error": False,
    "only_warn_on_example_error": False,
    "capture_repr": (),
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "remove_config_comments": True,
    "min_reported_time": 1000,
    "write_computation_times": False,
    "notebook_images": False,
    "matplotlib_animations": False,
    "image_srcset": [],
    "plot_gallery": True,
}
