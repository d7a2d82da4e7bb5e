"""The documentation as a site: ``python -m sphinx -W -b html docs build/site`` (extra ``docs``).

The pages are docs/*.md, which are written for GitHub: links that leave the folder are turned, and the table of contents
is added, as they are read. The reference comes from docstrings, the gallery from running the examples.
"""

import re
import shutil
from importlib.metadata import metadata
from pathlib import Path

HERE = Path(__file__).parent
PAGES = {
    "Start": [
        "getting-started",
        "concepts",
        "adapters",
        "features",
        "choosing",
        "scikit-learn",
        "gallery/index",
    ],
    "Energies": ["inference", "energies", "cliques"],
    "Scenes": ["labelling", "pages-of-results", "scene-features", "clouds", "bridges", "scanning"],
    "Claims and numbers": ["proofs", "accuracy", "comparison", "performance", "paper", "mathematics"],
    "Reference": ["reference/index", "cli", "many-machines"],
    "Development": ["developing", "releasing", "decisions/README"],
}
"""The table of contents; what it leaves out is an error of the build."""

project, author, copyright = "gapcut", "The gapcut developers", "The gapcut developers"
version = release = metadata("gapcut")["Version"]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.doctest"]
extensions += ["sphinx.ext.mathjax", "sphinx_gallery.gen_gallery"]
root_doc = "index"
exclude_patterns = ["runs"]
html_theme, html_title = "furo", f"gapcut {version}"
highlight_language = "none"  # outputs, most of them
myst_enable_extensions = ["dollarmath"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 4
autodoc_member_order, autodoc_typehints = "bysource", "none"
linkcheck_ignore = ["http"]  # only links within the site

# The examples write files beside themselves, so a copy of them runs.
COPY = HERE.parent / "build" / "examples"
shutil.copytree(HERE.parent / "examples", COPY, dirs_exist_ok=True)
sphinx_gallery_conf = {
    "examples_dirs": str(COPY),
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "min_reported_time": 60,
    "within_subsection_order": "FileNameSortKey",
}


def read(app, page, source):
    """A page of the folder as one of the site."""
    text = source[0]
    if "/" not in page:
        text = re.sub(r"\]\(\.\./examples/(\w+)\.py\)", r"](gallery/\1.rst)", text)
        text = text.replace("](../examples)", "](gallery/index.rst)")
        text = re.sub(r"\[([^][]*)\]\(((?:\.\./|runs)[^)]*)\)", outside, text)
    if page == "index":
        text += "".join(contents(name, of) for name, of in PAGES.items())
    if page == "decisions/README":
        text += contents("Decisions", [path.stem for path in sorted((HERE / "decisions").glob("0*.md"))])
    source[0] = text


def contents(name, pages):
    """A part of the table of contents."""
    return "\n".join(["", "```{toctree}", ":hidden:", f":caption: {name}", "", *pages, "```", ""])


def outside(link):
    """A link to a file that is no page leads to the repository, where the package says where that is."""
    urls = [
        url.split(", ")[1]
        for url in metadata("gapcut").get_all("Project-URL") or []
        if url.startswith("Source")
    ]
    text, path = link.groups()
    path = path.removeprefix("../") if path.startswith("../") else f"docs/{path}"
    return f"[{text}]({urls[0]}/blob/main/{path})" if urls else text


def setup(app):
    app.connect("source-read", read)
