"""How Sphinx builds these pages: `sphinx-build -W docs docs/_build`."""

import gbrank

project = "gbrank"
author = "The gbrank developers"
project_copyright = f"2026, {author}"
release = gbrank.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"gbrank {release}"

myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say what is taken, with shapes and units
autosummary_generate = True
napoleon_google_docstring = False
napoleon_use_rtype = False


def escape_bars(app, what, name, item, options, lines):
    # |x| is an absolute value in the docstrings, but a substitution in reStructuredText.
    for number, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            lines[number] = line.replace("|", r"\|")


def setup(app):
    app.connect("autodoc-process-docstring", escape_bars)
