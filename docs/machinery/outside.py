"""Pages of the site that are files beside docs/, or are made of them: each fact stays in one place.

A hook of mkdocs. Links are changed so that they lead to pages of the site.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "bench/README.md": "measurements.md",
    "examples": "examples.md",
}
_HEADS = {"architecture.md": "---\nhide: [toc]\n---\n"}  # room for the drawing
# A page that repeats a part of the README names it in a line that is of use where the page is read as a file, too.
_FROM_README = re.compile(r"^\*In the README: \[[^\]]*\]\(\.\./README\.md#([\w-]+)\)\.\*$", re.M)
_SECTION = re.compile(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", re.M | re.S)
_LINK = re.compile(r"\]\(([^)#:\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages."""
    for source, page in PAGES.items():
        text = examples_page() if source == "examples" else (ROOT / source).read_text("utf-8")
        files.append(File.generated(config, page, content=_HEADS.get(page, "") + relinked(text, source)))
    return files


def on_page_markdown(markdown: str, page: object, config: MkDocsConfig, files: Files) -> str:
    """Links out of docs/ lead to the pages that stand for what they name."""
    source = page.file.src_uri  # pyright: ignore[reportAttributeAccessIssue]
    markdown = _FROM_README.sub(lambda match: section(match[1]), markdown)
    return markdown if source in PAGES.values() else relinked(markdown, f"docs/{source}", source)


def section(anchor: str) -> str:
    """What the README has under a heading, with links as from docs/."""
    for heading, body in _SECTION.findall((ROOT / "README.md").read_text("utf-8")):
        if re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") == anchor:
            return _LINK.sub(lambda match: f"](../{match[1]}{match[2] or ''})", body.strip())
    raise KeyError(f"the README has no heading #{anchor}")


def relinked(text: str, source: str, page: str = "") -> str:
    """Links from a file of the repository, as links from a page of the site to another."""

    def replaced(match: re.Match[str]) -> str:
        target = (ROOT / source).parent / match[1]
        name = Path(target).resolve().relative_to(ROOT).as_posix()
        if name in PAGES:
            name = PAGES[name]
        elif name.startswith("docs/"):
            name = name.removeprefix("docs/")
        else:
            return match[0]
        return f"]({'../' * page.count('/')}{name}{match[2] or ''})"

    return _LINK.sub(replaced, text)


def examples_page() -> str:
    """The numbered examples: what each shows, and its code."""
    parts = [
        "# Examples\n\nNumbered, under 100 lines, each ends in an assertion; the tests run all of them. "
        "They are in `examples/` of the repository: `python examples/01_all_contacts.py`.\n"
    ]
    for path in sorted((ROOT / "examples").glob("[0-9]*.py")):
        source = path.read_text("utf-8")
        about = (ast.get_docstring(ast.parse(source)) or "").strip()
        body = source.split('"""', 2)[2].strip()
        number, _, title = path.stem.partition("_")
        parts.append(f"## {int(number)}. {title.replace('_', ' ').capitalize()}\n\n{about}\n")
        parts.append(f'??? example "{path.name}"\n\n' + _indented(f"```python\n{body}\n```") + "\n")
    return "\n".join(parts)


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.splitlines())
