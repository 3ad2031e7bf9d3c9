"""One run of a verb: what it may say and where, what it writes, and with which code it ends."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, get_type_hints

import typer

from pliant.commands.options import STANDARD, Shared
from pliant.commands.places import Place, places_of, require_apart
from pliant.runtime.terminal import Nowhere, complain, printable, to_standard_output

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

    from pliant.report.outputs import Result
    from pliant.runtime.tally import Stage
    from pliant.runtime.threads import Progress

CLEAN, FOUND, FAILED = 0, 1, 2
WIDTH = 1000  # columns where there is no terminal: lines of a file are never folded


def verb(work: Callable[..., int]) -> Callable[..., None]:
    """Make a command of ``work(run, ...)``, which returns the exit code: with the options that all share.

    typer reads a command's options off its signature: this writes one, of the parameters of `work` and of `Shared`.
    """
    shared_hints = get_type_hints(Shared, include_extras=True)
    named = inspect.Parameter.KEYWORD_ONLY
    # Not get_type_hints: on Python 3.10 it hides the Annotated of parameters whose default is None.
    own = list(inspect.signature(work, eval_str=True).parameters.values())[1:]
    parameters = [one.replace(kind=named) for one in own]
    parameters += [
        inspect.Parameter(name, named, default=Shared._field_defaults[name], annotation=shared_hints[name])
        for name in Shared._fields
    ]

    @functools.wraps(work)
    def command(**given: Any) -> None:
        require_apart(places := places_of(parameters, given))
        shared = Shared(**{name: given.pop(name) for name in Shared._fields})
        with Run(shared, places) as run:
            code = work(run, **given)
        raise typer.Exit(code)

    vars(command)["__signature__"] = inspect.Signature(parameters)
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    return command


class Run(contextlib.ExitStack):
    """What a verb says and writes. Standard output belongs to one: to people, or to --json, --csv - or --npz -."""

    def __init__(self, shared: Shared, places: list[Place]) -> None:
        super().__init__()
        self._places = places  # that are read and written
        self.threads, self.verbose, self.displacement = shared.threads, shared.verbose, shared.displacement
        shared = self._shared = shared._replace(csv=as_standard(shared.csv), npz=as_standard(shared.npz))
        self.input: Path | None = None  # where standard input was put
        taken = shared.as_json + (shared.csv == STANDARD) + (shared.npz == STANDARD)
        if taken > 1:
            raise fault("one of --json, --csv - and --npz - can have standard output; give the others a file")
        if taken:
            require_standard_output()
        self._standard_is_taken = bool(taken)
        self._speaks = not (shared.quiet or taken)
        self._written: list[Path] = []
        for path in (shared.csv, shared.npz):
            self.require_room(path)

    def __enter__(self) -> Run:
        from pliant.runtime.reading import allowing

        self.enter_context(allowing(self._shared.budget, self._shared.allow_outside))
        self.enter_context(warnings.catch_warnings())
        warnings.showwarning = self._show_warning
        return self

    def _show_warning(self, message: Warning | str, *where: Any, **more: Any) -> None:
        self.warn(f"{message}")

    def warn(self, message: str) -> None:
        """On standard error, and the run goes on."""
        if not self._shared.quiet:
            complain(message)

    @functools.cached_property
    def console(self) -> Console:
        """Standard output, for people."""
        from pliant.report.consoles import PlainConsole

        console = PlainConsole(highlight=False, markup=False, emoji=False, soft_wrap=False)
        if not console.is_terminal:
            console.width = WIDTH
        return console

    def say(self, *parts: RenderableType | None, style: str = "") -> None:
        """To people, if there are any: lines end between words on a terminal, and nowhere in a file."""
        with to_standard_output():
            for part in parts if self._speaks else ():
                if isinstance(part, str):
                    self.console.print(self._folded(printable(part)), style=style or None, soft_wrap=True)
                elif part is not None:
                    self.console.print(part, style=style or None)

    def _folded(self, words: str) -> Text:
        from rich.text import Text

        if self.console.is_terminal:
            width = self.console.width
            words = textwrap.fill(words, width, break_long_words=False, break_on_hyphens=False)
        return Text(words)

    def say_stages(self, stages: tuple[Stage, ...], what: str = "") -> None:
        """What every stage did, to those who asked for it."""
        if self.verbose and stages:
            from pliant.report.tables import stage_table

            self.say("", f"What every stage did {what}".rstrip(), style="bold")
            self.say(stage_table(stages))

    def take_output(self, path: Path | None, folder: bool = False) -> None:
        """A file of the verb's own, or a folder; on standard output, nobody else may speak then."""
        if path == STANDARD:
            if self._standard_is_taken:
                raise fault("two results cannot both go to standard output; give one of them a file")
            require_standard_output()
            self._standard_is_taken, self._speaks = True, False
        self.require_room(path, folder)

    def take_outputs_of_run(self, number: int, files: dict[str, Path]) -> None:
        """Files of one of several runs, by the options that they belong to: none replaces another, nor what is read."""
        self._places += [Place(path, name, True, number) for name, path in files.items()]
        require_apart(self._places)
        for path in files.values():
            self.require_room(path)

    def reads(self, files: Iterable[Path]) -> None:
        """Files that a file names: no output replaces one of them."""
        self._places += [Place(path, path.name, False) for path in files]
        require_apart(self._places)

    def require_room(self, path: Path | None, folder: bool = False) -> None:
        """Said before anything is computed: whether a file can be there at all."""
        if path is None or path == STANDARD:
            return
        if not path.parent.is_dir():
            raise fault(f"{path} cannot be written: {path.parent} is not a folder; make it first")
        if path.is_dir() and not folder:
            raise fault(f"{path} cannot be written: it is a folder; name a file in it")
        from pliant.runtime.writing import is_stream

        room = Path(os.path.realpath(path)).parent  # files are written beside what they replace
        for place in () if is_stream(path) else (path, room) if path.exists() else (room,):
            if not os.access(place, os.W_OK):
                raise fault(f"{path} cannot be written: there is no permission to write {place}")

    @contextlib.contextmanager
    def bar(self, what: str) -> Iterator[Progress | None]:
        """A bar with the time left, on a terminal: what is yielded takes (done, of how many)."""
        if self._shared.quiet or not sys.stderr.isatty():
            yield None
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
            task = shown.add_task(what, total=None)
            yield lambda done, total: shown.update(task, completed=done, total=total)

    def write(self, path: Path, write: Callable[[IO[bytes]], object]) -> None:
        """All of a file or nothing of it."""
        from pliant.runtime.writing import write_atomically

        if path == STANDARD:
            with to_standard_output():
                write(sys.stdout.buffer)
            return
        write_atomically(path, write)
        self.wrote(path)

    def wrote(self, path: Path) -> None:
        self._written.append(path)

    def finish(self, result: Result) -> None:
        """Give the result to machines, and tell people which files there are."""
        from pliant.report.outputs import as_csv, write_json, write_npz

        if self._shared.as_json:
            with to_standard_output():
                write_json(result, sys.stdout)
        if self._shared.csv is not None:
            self.write(self._shared.csv, lambda file: file.write(as_csv(result)))
        if self._shared.npz is not None:
            self.write(self._shared.npz, lambda file: write_npz(result, file))
        for path in self._written:
            self.say(f"Wrote {path.as_posix()}")


def told(path: Path, name: str, error: Exception) -> str:
    """Complain about a file that does not keep others from being examined; what was said, on one line."""
    message = str(error) if str(error).startswith(path.name) else f"{name}: {error}"
    complain(message)
    return " ".join(message.split())


def fault(message: str) -> ValueError:
    """An error of the user's, that ends in one line."""
    from pliant.runtime.arrays import OptionError

    return OptionError(message)


def as_standard(path: Path | None) -> Path | None:
    """Names of standard output, such as /dev/stdout, are the same as -."""
    from pliant.runtime.writing import descriptor_of

    return STANDARD if path is not None and descriptor_of(path) == 1 else path


def require_standard_output() -> None:
    """Said before anything is computed: a result that nobody could get."""
    if isinstance(sys.stdout, Nowhere):
        raise fault("standard output is closed, and the result was to go there")
