"""The entry point: finds the command, runs it, and turns every error into one line and an exit code."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

import click

from memdash import __version__
from memdash.cli.exits import FAILED, INTERRUPTED, OK, OUT_OF_BUDGET, WRONG_USAGE
from memdash.cli.group import Group
from memdash.cli.output import complain, flush
from memdash.errors import BudgetExceeded, InputError, MemdashError, StoreError

_COMMANDS = {
    "run": "memdash.cli.run:run",
    "sweep": "memdash.cli.sweep:sweep",
    "show": "memdash.cli.stored:show",
    "export": "memdash.cli.stored:export",
    "import": "memdash.cli.bundles:import_bundle",
    "purge": "memdash.cli.stored:purge",
    "backup": "memdash.cli.backup:backup",
    "scripts": "memdash.cli.scripts:scripts",
    "strategies": "memdash.cli.listings:strategies",
    "prices": "memdash.cli.prices:prices",
    "simulate": "memdash.cli.simulate:simulate",
    "calibrate": "memdash.cli.calibrate:calibrate",
    "check": "memdash.cli.check:check",
}
"""Where each command lives, in the order the help shows them."""


class _LazyGroup(Group):
    """A group that imports a command when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, _, name = _COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command


@click.group(
    cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}
)
@click.version_option(__version__, prog_name="memdash", message="%(prog)s %(version)s")
def cli() -> None:
    """Replay one scripted conversation through several conversation-memory strategies, and compare the bill.

    Needs no key and no network: a local simulator of the Messages API answers, unless --provider anthropic says
    otherwise. With no arguments, `memdash run` replays the bundled trip-planning script through four strategies.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; ``arguments`` default to those of the process."""
    code = _answer(arguments)
    flush()
    return code


def _answer(arguments: Sequence[str] | None) -> int:
    try:
        result = cli.main(arguments, prog_name="memdash", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        complain(error.format_message())
        return WRONG_USAGE
    except click.ClickException as error:
        complain(_usage_line(error))
        return WRONG_USAGE
    except (click.Abort, KeyboardInterrupt):
        complain("memdash: interrupted")
        return INTERRUPTED
    except BudgetExceeded as error:
        complain(f"memdash: {_one_line(error)}")
        return OUT_OF_BUDGET
    except (InputError, StoreError) as error:
        complain(f"memdash: {_one_line(error)}")
        return WRONG_USAGE
    except MemdashError as error:
        complain(f"memdash: {_one_line(error)}")
        return FAILED
    except OSError as error:  # a full disk, a stream that cannot be written: nothing of ours to trace
        complain(f"memdash: {_one_line(error)}")
        return FAILED
    return result if isinstance(result, int) else OK


def _usage_line(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "memdash"
    hint = f" (see {path} --help)" if isinstance(error, click.UsageError) else ""
    return f"{path}: {_one_line(error.format_message())}{hint}"


def _one_line(error: object) -> str:
    return " ".join(str(error).split())
