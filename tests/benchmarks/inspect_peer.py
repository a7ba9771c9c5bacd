"""The same shape in Inspect AI: 60 conversations of 60 turns with its built-in mock model, logged to disk.

Run by ``tests.benchmarks.throughput`` in an interpreter that has ``inspect_ai``; prints the number of turns played.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any


def main() -> None:
    """Evaluate the task and print how many answers were given."""
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ChatMessageUser, ModelOutput, get_model
    from inspect_ai.scorer import includes
    from inspect_ai.solver import Generate, TaskState, solver

    conversations, turns, folder = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from tests.benchmarks.conversations import reply_text, user_text

    _count_without_a_download()

    @solver
    def conversation() -> Any:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            for turn in range(2, turns + 1):
                state = await generate(state)
                state.messages.append(ChatMessageUser(content=user_text(state.sample_id, turn)))
            return await generate(state)

        return solve

    def outputs() -> Any:
        while True:
            yield ModelOutput.from_content("mockllm/model", reply_text())

    log = eval(
        Task(
            dataset=[
                Sample(id=one, input=user_text(one, 1), target="noted") for one in range(1, conversations + 1)
            ],
            solver=conversation(),
            scorer=includes(),
        ),
        model=get_model("mockllm/model", custom_outputs=outputs()),
        log_dir=str(folder),
        display="none",
    )[0]
    assert log.status == "success", log.error
    answers = sum(one.role == "assistant" for sample in log.samples or [] for one in sample.messages)
    print(answers)


def _count_without_a_download() -> None:
    """Its token counter would fetch a vocabulary from the network: four characters a token instead, which costs it nothing."""
    import tiktoken

    class Quarter:
        def encode(self, text: str, **_: Any) -> list[int]:
            return [0] * (len(text) // 4)

    tiktoken.get_encoding = lambda _: Quarter()


if __name__ == "__main__":
    main()
