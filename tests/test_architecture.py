"""The rules of who may import whom, read from the source itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((ROOT / "memdash").rglob("*.py"))
}
PURE_ROOMS = ("replay", "strategies", "simulator", "metrics", "charts", "inspection")


def imports(name: str, *, at_start_only: bool = False) -> Iterator[str]:
    """Every module that module ``name`` imports, for its types alone excepted."""
    path = MODULES[name]
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in _statements(ast.parse(path.read_text("utf-8")), at_start_only=at_start_only):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parents, *([base] if base else [])])
            for alias in node.names:
                whole = f"{base}.{alias.name}"
                yield whole if whole in MODULES else base


def _statements(node: ast.AST, *, at_start_only: bool) -> Iterator[ast.AST]:
    """The statements under ``node`` that run; with ``at_start_only`` those that run when the module is imported."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            continue
        if at_start_only and isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        yield child
        yield from _statements(child, at_start_only=at_start_only)


def room(name: str) -> str:
    """The room of a module: ``memdash.store.queries`` is in ``store``."""
    return name.split(".")[1] if name.count(".") else ""


def test_the_walk_sees_the_modules_and_their_imports() -> None:
    assert "memdash.errors" in set(imports("memdash.spec"))
    assert "memdash.strategies" in set(imports("memdash.spec", at_start_only=True))


@pytest.mark.parametrize("name", [name for name in MODULES if room(name) in PURE_ROOMS])
def test_the_measuring_rooms_import_neither_streamlit_nor_duckdb(name: str) -> None:
    assert not {one for one in imports(name) if one.split(".")[0] in ("streamlit", "duckdb")}


@pytest.mark.parametrize("name", [name for name in MODULES if room(name) == "simulator"])
def test_the_simulator_sees_requests_and_nothing_else(name: str) -> None:
    assert not {one for one in imports(name) if room(one) in ("scripts", "strategies", "replay")}


@pytest.mark.parametrize("name", [name for name in MODULES if room(name) != "views"])
def test_streamlit_lives_in_the_views_only(name: str) -> None:
    assert not {one for one in imports(name) if one.split(".")[0] == "streamlit"}


@pytest.mark.parametrize("name", [name for name in MODULES if name != "memdash.__main__"])
def test_nothing_imports_the_views_or_the_command_line(name: str) -> None:
    foreign = {"views", "cli"} - {room(name)}
    assert not {one for one in imports(name) if one.startswith("memdash.") and room(one) in foreign}


@pytest.mark.parametrize("name", [name for name in MODULES if room(name) != "store"])
def test_sql_is_written_in_the_store_only(name: str) -> None:
    assert "duckdb" not in {one.split(".")[0] for one in imports(name)}
    statement = re.compile(
        r"\s*(SELECT\s.+\sFROM\s|INSERT\s+INTO\s|CREATE\s+(OR\s+REPLACE\s+)?TABLE\s|DELETE\s+FROM\s)",
        re.DOTALL,
    )
    texts = [
        node.value
        for node in ast.walk(ast.parse(MODULES[name].read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    assert not [text for text in texts if statement.match(text)]


@pytest.mark.parametrize("name", [name for name in MODULES if room(name) in ("cli", "scripts", "strategies")])
def test_what_the_command_line_starts_with_imports_no_heavy_library(name: str) -> None:
    heavy = {"anthropic", "pandas", "plotly", "duckdb", "streamlit", "pyarrow", "uvicorn", "starlette"}
    assert not {one for one in imports(name, at_start_only=True) if one.split(".")[0] in heavy}


def test_no_import_cycles() -> None:
    graph = {
        name: {one for one in imports(name, at_start_only=True) if one in MODULES and one != name}
        for name in MODULES
    }
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " → ".join([*path[path.index(name) :], name])
        if name in done:
            return
        for other in sorted(graph[name]):
            visit(other, (*path, name))
        done.add(name)

    for name in MODULES:
        visit(name, ())
