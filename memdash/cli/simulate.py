"""``memdash simulate``: the simulated Messages API over HTTP, for any client in any language."""

from __future__ import annotations

from pathlib import Path

import click

from memdash.cli.output import complain, say
from memdash.cli.values import Finite


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8787, show_default=True, help="Port; 0 takes a free one."
)
@click.option(
    "--seed",
    type=int,
    help="Make replies, lengths and ids repeatable; without it they differ like a real model's.",
)
@click.option(
    "--enforce-binding/--no-enforce-binding",
    help="Check thinking blocks against their prefix on every request, as for new accounts, or (the default) only "
    "where a request sets prefix_mismatch_behavior.",
)
@click.option(
    "--latency",
    type=Finite(0),
    default=0.0,
    show_default=True,
    help="Factor on the modelled latency: 0 answers at once, 1 takes as long as the real API would.",
)
@click.option(
    "--record", type=click.Path(dir_okay=False, path_type=Path), help="Append each request and its answer to this JSONL file."
)  # fmt: skip
def simulate(
    host: str, port: int, seed: int | None, enforce_binding: bool, latency: float, record: Path | None
) -> None:
    """Serve the simulated Messages API over HTTP until Ctrl-C.

    Any non-empty key is accepted. POST /v1/messages (JSON and streaming), POST /v1/messages/count_tokens, GET /v1/models.
    """
    from memdash.simulator.engine import SimulatorConfig
    from memdash.simulator.server import serve

    config = SimulatorConfig(seed=seed, enforce_binding=enforce_binding, latency_factor=latency)
    serve(host, port, config, latency, record, on_ready=_announce)
    complain("stopped")


def _announce(url: str) -> None:
    say(
        f"The simulated Messages API answers at {url}\n\n"
        "Point a client at it (Ctrl-C stops):\n"
        f"  any Anthropic SDK   ANTHROPIC_BASE_URL={url} ANTHROPIC_API_KEY=simulated\n"
        f'  Python              anthropic.Anthropic(base_url="{url}", api_key="simulated")\n'
        f'  TypeScript          new Anthropic({{ baseURL: "{url}", apiKey: "simulated" }})\n'
        f"  memdash, live road  ANTHROPIC_BASE_URL={url} ANTHROPIC_API_KEY=simulated \\\n"
        "                      memdash run --provider anthropic --budget none\n"
    )
