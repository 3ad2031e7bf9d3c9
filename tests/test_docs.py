"""The documentation: its code runs, its commands exist, and the site builds without a warning."""

from __future__ import annotations

import re
import runpy
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import pliant

CHECKOUT = Path(__file__).resolve().parents[1]
DOCS = CHECKOUT / "docs"
PAGES_THAT_RUN = [
    *(DOCS / f"{name}.md" for name in ("first-five-minutes", "options", "questions", "detector")),
    *sorted((DOCS / "tasks").glob("*.md")),
    CHECKOUT / "README.md",
]
_FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str) -> list[tuple[int, str]]:
    """Line and text of every block of a language."""
    return [(line, text) for line, name, text in all_blocks(page) if name == language]


def all_blocks(page: Path) -> list[tuple[int, str, str]]:
    """Line, language and text of every block that names a language."""
    text = page.read_text("utf-8")
    return [(text.count("\n", 0, match.start(2)) + 1, match[1], match[2]) for match in _FENCE.finditer(text)]


def sessions(text: str) -> list[tuple[str, list[str]]]:
    """The commands of a block of a console, and the lines that each is said to print."""
    out: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            out.append((line[2:], []))
        else:
            out[-1][1].append(line)
    return [(call, "\n".join(lines).rstrip().splitlines()) for call, lines in out]


class Console:
    """Runs what the pages show in a console, in this process, so that nothing is compiled twice."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys, self.code = capsys, 0

    def run(self, call: str) -> list[str]:
        """What is printed, without what differs from run to run."""
        from pliant.cli import main

        self._capsys.readouterr()
        name, *words = shlex.split(call)
        if call == "echo $?":
            return [str(self.code)]
        if name == "cat":
            said = "".join(Path(word).read_text("utf-8") for word in words)
        else:
            assert name == "pliant", f"{call}: only pliant, cat and echo $? can be run here"
            with pytest.raises(SystemExit) as end:
                main(words)
            assert isinstance(end.value.code, int)
            self.code = end.value.code
            said = "".join(self._capsys.readouterr())
        lines = [line for line in said.splitlines() if "compiling kernels" not in line]
        return [steady(line) for line in lines]

    def compare(self, page: Path, text: str) -> None:
        """Run the commands of a block: each prints the lines below it."""
        for call, lines in sessions(text):
            whole = "".join(f"{one}\n" for one in self.run(call))
            assert as_pattern(lines).fullmatch(whole), f"{page.name}: {call} prints\n{whole}"


_SCANNED = re.compile(r"( *\d+(?: +[\d,.e-]+){4}) +\d+ +(\S+\.obj) *")  # a frame: milliseconds before its file


def steady(line: str) -> str:
    """A line without times, which differ, and without the blanks that end it."""
    line = _SCANNED.sub(r"\1 # \2", re.sub(r" +ms +file *$", " ms file", line))
    return re.sub(r"\b\d+\.\d+ s\b", "# s", re.sub(r'\btime="[\d.]+"', 'time="#"', line)).rstrip()


def as_pattern(lines: list[str]) -> re.Pattern[str]:
    """What matches these lines; one of three dots alone stands for any lines."""
    parts = [r"(?:.*\n)*?" if line == "..." else re.escape(steady(line)) + r"\n" for line in lines]
    return re.compile("".join(parts))


def test_sessions_and_patterns():
    assert sessions("$ a b\nx\n\n$ c\n") == [("a b", ["x"]), ("c", [])]
    assert steady("  9  54  2,893  1e-05  2,572   13  a.obj ") == steady("  9  54  2,893  1e-05  2,572  7  a.obj")
    pattern = as_pattern(["1.2 s (x)", "...", "end"])
    assert pattern.fullmatch("# s (x)\nmore\nlines\nend\n")
    assert not pattern.fullmatch("# s (x)\nmore\n")


def test_blocks_are_found_with_their_lines(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text(
        "a\n```python\nx = 1\n```\n```sh\npliant demo\n```\n```\nout\n```\n```python\ny = 2\n```\n", "utf-8"
    )
    assert blocks(page, "python") == [(3, "x = 1\n"), (12, "y = 2\n")]
    assert blocks(page, "sh") == [(6, "pliant demo\n")]


@pytest.mark.parametrize("page", PAGES_THAT_RUN, ids=lambda page: page.stem)
def test_code_of_a_page_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """All Python of a page, from top to bottom in one namespace and an empty folder; and its commands, which print what
    the page says that they print."""
    monkeypatch.chdir(tmp_path)
    code = blocks(page, "python")
    assert code
    assert page.name == "README.md" or any("assert " in text for _, text in code), "a page that claims has to show"
    names: dict[str, object] = {"__name__": page.stem}
    console = Console(capsys)
    for line, language, text in all_blocks(page):
        if language == "python":
            exec(compile("\n" * (line - 1) + text, str(page), "exec"), names)
        elif language == "console":
            console.compare(page, text)


def test_the_commands_of_the_command_line_print_what_their_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Columns were added to tables, and the page showed the old ones."""
    pytest.importorskip("typer")
    monkeypatch.chdir(tmp_path)
    console, page = Console(capsys), DOCS / "command-line.md"
    texts = [text for _, text in blocks(page, "console")]
    assert len(texts) > 4
    for text in texts:
        console.compare(page, text)


def test_the_workflow_of_the_page_does_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Its steps are run in a folder with assets: known offenders pass, a new one fails."""
    yaml = pytest.importorskip("yaml")
    monkeypatch.chdir(tmp_path)
    page = DOCS / "tasks" / "continuous-integration.md"
    names: dict[str, object] = {}
    exec(blocks(page, "python")[0][1], names)
    ((_, text),) = blocks(page, "yaml")
    workflow = yaml.safe_load(text)
    assert workflow.keys() == {"name", True, "permissions", "jobs"}  # YAML takes a bare "on" for true
    steps = workflow["jobs"]["assets"]["steps"]
    calls = [step["run"] for step in steps if step.get("run", "").startswith("pliant ")]
    assert calls
    console = Console(capsys)
    console.run("pliant check --each 'assets/**/*.obj' --write-baseline assets/known.json")
    for call in calls:
        console.run(call)
        assert console.code == 0, call
    sarif = next(step["with"]["sarif_file"] for step in steps if "upload-sarif" in step.get("uses", ""))
    assert Path(sarif).exists()
    lamp = Path("assets/props/lamp.obj")
    (lamp.parent / "new.obj").write_bytes(lamp.read_bytes())
    for call in calls:
        console.run(call)
        assert console.code == 1, call
    assert "assets/props/new.obj" in Path(sarif).read_text("utf-8")


def commands() -> list[tuple[str, list[str]]]:
    """Where, and the words of every call of pliant in a shell block of a page, without its redirections."""
    found = []
    for page in [CHECKOUT / "README.md", *sorted(DOCS.rglob("*.md"))]:
        for line, language, text in all_blocks(page):
            for offset, call in enumerate(text.splitlines() if language in ("sh", "console") else ()):
                if language == "console" and not call.startswith("$ "):
                    continue
                words = shlex.split(call.removeprefix("$ "), comments=True)
                if words and words[0] == "pliant":
                    found.append((f"{page.name}:{line + offset}", words[1:]))
    return found


def test_commands_of_the_pages_exist():
    typer = pytest.importorskip("typer")
    from pliant.commands import app

    known = typer.main.get_command(app).commands
    wrong = []
    for where, (verb, *words) in commands():
        if verb.startswith("-"):
            continue
        if verb not in known:
            wrong.append(f"{where}: there is no verb {verb}")
            continue
        options = {name for one in known[verb].params for name in (*one.opts, *one.secondary_opts)} | {"--help"}
        wrong += [
            f"{where}: {verb} has no {word}"
            for word in words
            if word.startswith("-") and word != "-" and word.partition("=")[0] not in options
        ]
    assert wrong == []


WRAPPED = [CHECKOUT / "README.md", CHECKOUT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]


@pytest.mark.parametrize("page", WRAPPED, ids=lambda page: page.stem)
def test_prose_is_wrapped_at_100_columns(page: Path):
    """Not code, tables, headings, pictures and entries of the reference, nor one word that is longer."""
    prose = re.sub(r"^ *```.*?^ *```$", "", page.read_text("utf-8"), flags=re.M | re.S)
    long = [line for line in prose.splitlines() if len(line) > 100 and not line.startswith(("|", "#", "!", "<", ":::"))]
    assert [line for line in long if len(line.split()) > 2] == []


def test_every_picture_is_shown_and_follows_the_colour_scheme():
    shown = "".join(page.read_text("utf-8") for page in WRAPPED)
    drawings = sorted((DOCS / "pictures").glob("*.svg"))
    assert drawings
    for picture in [*drawings, *DOCS.glob("*.png")]:
        assert picture.name in shown
    for drawing in drawings:
        text = drawing.read_text("utf-8")
        assert "prefers-color-scheme: dark" in text
        assert "<title>" in text
        assert "//" not in text.replace("http://www.w3.org/2000/svg", "")  # nothing comes from elsewhere


def test_the_citation_is_of_this_version():
    text = (CHECKOUT / "CITATION.cff").read_text("utf-8")
    assert re.search(r"^version: (.*)$", text, re.M)[1] == pliant.__version__  # pyright: ignore[reportOptionalSubscript]


def test_links_of_the_readme_lead_somewhere():
    text = (CHECKOUT / "README.md").read_text("utf-8")
    links = [link for link in re.findall(r"\]\(([^)#\s]+)", text) if "://" not in link]
    assert links
    assert [link for link in links if not (CHECKOUT / link).exists()] == []


def test_pages_of_stages_say_what_they_guarantee():
    pages = set(re.findall(r"\]\(([a-z-]+\.md)", (DOCS / "stages.md").read_text("utf-8"))) - {"errata.md", "names.md"}
    assert len(pages) > 10
    assert [page for page in sorted(pages) if not re.search(r"^(## |\*\*)Guaranteed", read(page), re.MULTILINE)] == []
    assert [page for page in sorted(pages) if not re.search(r"^(## |\*\*)Not ", read(page), re.MULTILINE)] == []


def read(page: str | Path) -> str:
    return (DOCS / page).read_text("utf-8")


PAGES_THAT_NAME_FILES = [*sorted(DOCS.rglob("*.md")), CHECKOUT / "ARCHITECTURE.md", CHECKOUT / "CONTRIBUTING.md"]
ROOTS = (CHECKOUT, CHECKOUT / "tests", CHECKOUT / "src" / "pliant")


def test_files_that_are_named_exist():
    """A module by its path in the checkout, in tests/ or in the package; folders of ARCHITECTURE too."""
    named = [
        (page.name, name)
        for page in PAGES_THAT_NAME_FILES
        for name in re.findall(r"`([\w/.]+?(?:\.py|/))(?=[`:])", page.read_text("utf-8"))
        if "/" in name and not name.startswith(("..", "/")) and (name.endswith(".py") or page.name == "ARCHITECTURE.md")
    ]
    assert len(named) > 60
    assert [one for one in named if not any((root / one[1]).exists() for root in ROOTS)] == []


def test_every_public_name_is_in_the_reference():
    described = {
        name for page in (DOCS / "reference").glob("*.md") for name in re.findall(r"^::: ([\w.]+)$", read(page), re.M)
    }
    assert [name for name in pliant.__all__ if f"pliant.{name}" not in described] == []


def machinery(name: str) -> dict[str, Any]:
    """The names of a file that the build of the site uses."""
    for package in ("mkdocs", "griffe"):
        pytest.importorskip(package, reason="the site needs an extra: pip install '.[docs]'")
    return runpy.run_path(str(DOCS / "machinery" / f"{name}.py"))


def test_entries_of_a_docstring_become_a_list():
    as_markdown = machinery("docstrings")["as_markdown"]
    text = "What it does.\n\nx0, x1 : (n, 3) positions\nmesh : faces\n    or cells\n\nNothing else."
    assert as_markdown(text) == (
        "What it does.\n\n\n- `x0`, `x1`: (n, 3) positions\n- `mesh`: faces\n    or cells\n\nNothing else."
    )
    text = "Parameters\n---\nx0, x1 : (n, 3)\n    Where.\n\nReturns\n---\nContacts\n    All.\n\nNotes\n---\nNo."
    assert as_markdown(text).splitlines() == [
        *("**Parameters**", "", "- `x0`, `x1`: (n, 3)<br>", "    Where.", ""),
        *("**Returns**", "", "- `Contacts`<br>", "    All.", "", "**Notes**", "", "No."),
    ]
    assert as_markdown("One line: no entry.\n\n    code : int = 1") == "One line: no entry.\n\n    code : int = 1"


@pytest.mark.parametrize(
    ("link", "source", "page", "becomes"),
    [
        ("docs/culling.md", "ARCHITECTURE.md", "", "culling.md"),
        ("../ARCHITECTURE.md", "docs/stages.md", "stages.md", "architecture.md"),
        ("../../bench/README.md#peers", "docs/tasks/x.md", "tasks/x.md", "../measurements.md#peers"),
        ("../culling.md", "docs/tasks/x.md", "tasks/x.md", "../culling.md"),
        ("https://example.com/a.md", "ARCHITECTURE.md", "", "https://example.com/a.md"),
    ],
)
def test_links_lead_to_pages_of_the_site(link: str, source: str, page: str, becomes: str):
    assert machinery("outside")["relinked"](f"[a]({link})", source, page) == f"[a]({becomes})"


def test_parts_of_the_readme_come_by_their_headings():
    section = machinery("outside")["section"]
    assert "pip install" in section("install")
    assert "import pliant" in section("ten-lines")
    assert "(../bench/README.md)" in section("against-ipctk-161")
    with pytest.raises(KeyError):
        section("nothing")


def test_files_that_people_read_have_no_marks_and_no_name_that_is_not_ours():
    """`--8<--` was printed by code hosts, and `pip install pliant` would fetch what somebody else may put there."""
    files = [
        *CHECKOUT.glob("*.md"),
        *DOCS.rglob("*.md"),
        *(CHECKOUT / "src").rglob("*.py"),
        *(CHECKOUT / "examples").iterdir(),
    ]
    texts = {path.name: path.read_text("utf-8") for path in files if path.is_file() and path.name != "CHANGELOG.md"}
    assert len(texts) > 100
    wrong = re.compile(r"--8<--|pip install ['\"]?pliant(?!-)\b")
    assert [name for name, text in texts.items() if wrong.search(text)] == []


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path: Path):
    if not all(map(find_spec, ("mkdocs", "material", "mkdocstrings"))):
        pytest.skip("the site needs an extra: pip install '.[docs]'")
    call = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(call, cwd=CHECKOUT, capture_output=True, text=True, encoding="utf-8")
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert "WARNING" not in said
    assert "ERROR" not in said
    pages = {path.relative_to(tmp_path / "site").as_posix() for path in (tmp_path / "site").rglob("*.html")}
    assert {"index.html", "tasks/cloth-solver.html", "reference/queries.html", "measurements.html"} <= pages
    assert foreign_parts(tmp_path / "site") == []


def foreign_parts(site: Path) -> list[str]:
    """What pages of a site would load from another host."""
    part = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)=["']?((?:https?:)?//[^"'\s>]+)""")
    pages = sorted(site.rglob("*.html"))
    return [f"{page.name}: {match[1]}" for page in pages for match in part.finditer(page.read_text("utf-8"))]
