"""The documents say what is so: generated parts are up to date, examples run, every command and option is described.

``MEMDASH_UPDATE_DOCS=1 pytest tests/test_docs.py`` writes the generated parts anew.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from memdash.cli import main
from memdash.cli.entry import cli
from memdash.cli.listings import shown_default
from memdash.scripts import parse_script
from memdash.strategies import parameters, strategies

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
COMMAND_LINE = ROOT / "docs" / "command-line.md"


def block(name: str, language: str) -> str:
    """The code block after ``<!-- name -->`` in the README."""
    found = re.search(rf"<!-- {name} -->\n```{language}\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    assert found, f"README.md has no {language} block after <!-- {name} -->"
    return found[1]


def check_generated(name: str, fresh: str) -> None:
    """Compare the part of the README between its marks with ``fresh``, or write it where that is asked for."""
    text = README.read_text("utf-8")
    found = re.search(rf"(<!-- {name} -->\n)(.*?)(<!-- /{name} -->)", text, re.DOTALL)
    assert found, f"README.md has no part {name}"
    if os.environ.get("MEMDASH_UPDATE_DOCS"):
        README.write_text(text[: found.start(2)] + fresh + text[found.end(2) :], "utf-8")
        return
    assert found[2] == fresh, "write it anew with MEMDASH_UPDATE_DOCS=1"


COMMON = ("thinking", "instructions", "summary_model", "live_prefix", "max_tokens", "cap_results")
"""Parameters that many strategies share; the README explains them under its table."""


def strategies_table() -> str:
    rows = ["| strategy | what it does | parameters (defaults) |", "|---|---|---|"]
    for cls in sorted(
        strategies(),
        key=lambda one: ("full_history", "window", "truncate", "compaction", one.name).index(one.name),
    ):
        own = [one for one in parameters(cls.Params) if one.name not in COMMON]
        given = ", ".join(f"`{one.name}={shown_default(one)}`" for one in own)
        rows.append(f"| `{cls.name}` | {cls.description} | {given or '–'} |")
    return "\n".join(rows) + "\n"


def commands(group: click.Group, path: str = "memdash") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


@pytest.fixture
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder and a database of the test's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMDASH_DB", str(tmp_path / "docs.duckdb"))
    return tmp_path


def test_the_strategies_table_is_what_the_strategies_declare() -> None:
    check_generated("strategies", strategies_table())
    for name in COMMON:
        assert f"`{name}`" in README.read_text("utf-8")


def test_the_default_runs_table_is_what_a_default_run_prints(
    at_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--quiet", "--token-counter", "estimate"]) == 0
    printed = re.sub(r"cmp_[0-9a-f]+", "cmp_5f0c2a9d1b7e", capsys.readouterr().out)
    check_generated("default run", f"```text\n{printed}```\n")


def test_the_example_script_is_valid_and_its_fact_is_recalled_by_the_full_history(
    at_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert parse_script(block("example script", "yaml")).warnings == ()
    (at_home / "shop.yaml").write_text(block("example script", "yaml"), "utf-8")
    arguments = ["--script", "shop.yaml", "--strategy", "full_history", "--assert", "recall>=1"]
    assert main(["run", "--quiet", *arguments]) == 0


def test_the_example_strategy_runs_and_keeps_what_it_says(
    at_home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from memdash.strategies import registry

    monkeypatch.setattr(registry, "_registry", dict(registry._registry))
    (at_home / "bookends.py").write_text(block("example strategy", "python"), "utf-8")
    assert (
        main(["run", "--quiet", "--check", "--turns", "8", "--strategy", "bookends.py:2", "--format", "json"])
        == 0
    )
    (replay,) = json.loads(capsys.readouterr().out)["replays"]
    assert (replay["strategy"], replay["params"], replay["status"]) == ("bookends", {"last": 2}, "done")
    events = [event for turn in replay["turns"] for event in turn["events"]]
    # turn 1 stays; with turns 2, 3 and 4 there, the two last let turn 2 go when turn 5 opens, and so on up to turn 8
    assert [event["dropped_turns"] for event in events if event["kind"] == "trim"] == [[2], [3], [4], [5]]


def test_the_commands_of_the_ci_example_run(at_home: Path) -> None:
    text = README.read_text("utf-8")
    found = re.search(r"## In a CI job\n\n```bash\n(.*?)```", text, re.DOTALL)
    assert found
    words = shlex.split(found[1].replace("\\\n", " "))
    assert words[0] == "memdash"
    assert main([*words[1:], "--quiet", "--turns", "12"]) == 0


@pytest.mark.parametrize(
    ("path", "command"), list(commands(cli)), ids=lambda one: one if isinstance(one, str) else ""
)
def test_every_command_and_option_is_described(path: str, command: click.Command) -> None:
    described = COMMAND_LINE.read_text("utf-8")
    assert f"`{path}" in described
    assert command.help
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{path} {parameter.name} has no help"
            for spelling in (*parameter.opts, *parameter.secondary_opts):
                assert f"`{spelling}" in described, f"{path} {spelling} is not in docs/command-line.md"


@pytest.mark.parametrize(
    "document", [README, *sorted((ROOT / "docs").glob("*.md"))], ids=lambda path: path.name
)
def test_links_lead_to_files_that_are_there(document: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", document.read_text("utf-8"))
    for target in targets:
        if "://" not in target:
            assert (document.parent / target).exists(), target


def test_the_readme_names_every_environment_variable_of_the_code() -> None:
    named = set()
    for path in (ROOT / "memdash").rglob("*.py"):
        named |= set(re.findall(r"\bMEMDASH_[A-Z]+\b", path.read_text("utf-8")))
    assert {name for name in named if name not in README.read_text("utf-8")} == set()


def test_the_changelog_has_the_version_of_the_package() -> None:
    import memdash

    assert re.search(
        rf"^## \[(Unreleased|{re.escape(memdash.__version__)})\]",
        (ROOT / "CHANGELOG.md").read_text(),
        re.MULTILINE,
    )
