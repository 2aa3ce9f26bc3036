"""How Sphinx builds these pages: `sphinx-build -W docs docs/_build`."""

import re
import shutil
from pathlib import Path

from docutils.nodes import SkipNode
from docutils.nodes import paragraph as paragraph_node
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.addnodes import pending_xref

import gbrank

project = "gbrank"
author = "The gbrank developers"
project_copyright = f"2026, {author}"
release = gbrank.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
html_math_renderer = "mathml"  # what browsers typeset themselves, without a network
html_theme = "furo"
html_title = f"gbrank {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_search_scorer = str(Path(__file__).parent / "scorer.js")
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence", "dollarmath"]
nb_render_markdown_format = "myst"  # tables and formulas that cells print
nb_merge_streams = True  # what a cell prints is one block, however Jupyter has cut it
nb_execution_mode = "off"  # they are committed with their pictures; .ci/run executes them
autodoc_member_order = "bysource"
# What scikit-learn adds to every estimator, and documents itself.
OF_SCIKIT_LEARN = [
    "set_params",
    "get_metadata_routing",
    *(f"set_{method}_request" for method in ("fit", "partial_fit", "predict", "score", "split")),
]
# Properties that the docstring of their class lists among the attributes.
LISTED = [
    "sigmas", "booster_", "feature_importances_", "feature_names_in_", "n_features_in_",
    "training_data_",
]  # fmt: skip
autodoc_default_options = {"exclude-members": ", ".join([*OF_SCIKIT_LEARN, *LISTED])}
autodoc_typehints = "none"  # the docstrings say what is taken, with shapes and units
autosummary_generate = True
default_role = "py:obj"  # `name` in a docstring is code, and a link where the name has a page
napoleon_google_docstring = False
napoleon_use_rtype = False


def read_docstring(app, what, name, item, options, lines):
    # |x| is an absolute value in the docstrings, but a substitution in reStructuredText.
    for number, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            line = line.replace("|", r"\|")
            lines[number] = re.sub(r"docs/([\w/]+)\.md", r":doc:`/\1`", line)


def skip_fields(app, what, name, item, skip, options):
    # Of a named tuple, which its class lists.
    return str(item.__doc__).startswith("Alias for field") or None


def unlink_shapes(app, doctree):
    # Sphinx takes each word of a type for a class, and `n_documents` of a shape for an attribute.
    for node in list(doctree.findall(pending_xref)):
        if node["reftype"] == "class" and node["reftarget"].rpartition(".")[2].islower():
            node.replace_self(node.children)


def write_math(writer, node):
    """Write a formula as MathML."""
    block = node.tagname == "math_block"
    text = re.sub(r"(\\(?:bar|hat)\{\w\})_", r"\1{}_", node.astext())  # else the index stands below
    formula = tex2mathml(text, as_block=block)
    writer.body.append(f'<div class="formula">{formula}</div>' if block else formula)
    raise SkipNode


def copy_notebooks():
    """Put the notebooks beside the pages, where Sphinx finds them."""
    folder = Path(__file__).parent
    (folder / "notebooks").mkdir(exist_ok=True)
    for path in (folder.parent / "notebooks").glob("*.ipynb"):
        shutil.copy(path, folder / "notebooks")


def readme():
    """Read README.md, its links as they are from this folder."""
    page = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    page = page.replace("](docs/", "](").replace("](benchmarks/", "](../benchmarks/")
    page = page.replace("](CONTRIBUTING.md)", "](path:../CONTRIBUTING.md)")
    return re.sub(r"<!-- ci: \w+ -->\n", "", page)


def read_page(app, name, text):
    if name == "index":
        text[0] = re.sub(r"<!-- README.md: .* -->", lambda _: readme(), text[0])
    # In the repository notebooks and pages are in folders side by side.
    text[0] = text[0].replace("](../notebooks/", "](notebooks/")
    text[0] = text[0].replace("](../../notebooks/", "](../notebooks/")
    text[0] = text[0].replace("](../docs/", "](../")
    # Tables of studies stand beside their numbers, outside of these pages: they are downloads.
    text[0] = re.sub(r"\]\(((?:\.\./)+benchmarks/[\w/]+\.md)\)", r"](path:\1)", text[0])
    # An empty line ends what doctest reads as output; no reader needs it.
    text[0] = re.sub(r"(```python\n(?:[^`]|`(?!``))*?\n)\n```", r"\1```", text[0])
    text[0] = re.sub(r"(- Class: )(`gbrank\.\w+`)", r"\1{class}\2", text[0])


def list_classes(kind, facts):
    """Write the page of all registered classes of a kind; autosummary then gives each its own."""
    names = "".join(f"   {cls}\n" for cls in sorted(item.cls.__name__ for item in facts))
    title = f"Classes of {kind}"
    page = f"{title}\n{'=' * len(title)}\n\n.. currentmodule:: gbrank\n\n.. autosummary::\n"
    folder = Path(__file__).parent / "api"
    folder.mkdir(exist_ok=True)
    (folder / f"{kind}.rst").write_text(f"{page}   :toctree:\n   :nosignatures:\n\n{names}")


def write_index(app, error):
    """Write llms.txt: each page's title, the address of its Markdown, and its first sentence."""
    lines = ["# gbrank", "", f"> {first_sentence(app.env.get_doctree('index'))}", ""]
    for name in sorted(app.env.found_docs - {"index"}):
        source = Path(app.env.doc2path(name))
        if source.suffix == ".md":
            address = f"_sources/{name}.md{app.config.html_sourcelink_suffix}"
            title = app.env.titles[name].astext()
            sentence = first_sentence(app.env.get_doctree(name))
            lines.append(f"- [{title}]({address}): {sentence}")
    text = "\n".join(lines) + "\n"
    (Path(app.outdir) / "llms.txt").write_text(text, encoding="utf-8")


def first_sentence(doctree):
    """Return the first sentence of a page."""
    paragraph = " ".join(next(doctree.findall(paragraph_node)).astext().split())
    return re.split(r"(?<=[.!?:]) (?=[A-Z])", paragraph)[0].rstrip(":")


copy_notebooks()
list_classes("objectives", gbrank.list_objectives())
list_classes("measures", gbrank.list_measures())


def setup(app):
    app.add_html_math_renderer("mathml", (write_math, None), (write_math, None))
    app.connect("autodoc-process-docstring", read_docstring)
    app.connect("autodoc-skip-member", skip_fields)
    app.connect("doctree-read", unlink_shapes)
    app.connect("source-read", read_page)
    app.connect("build-finished", write_index)
