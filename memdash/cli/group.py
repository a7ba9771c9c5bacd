"""A group of commands that, for a misspelt one, says which comes near."""

from __future__ import annotations

from difflib import get_close_matches

import click


class Group(click.Group):
    """Finds a command by its name, else fails with what comes near and all there are."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that ``args`` begin with."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            known = self.list_commands(ctx)
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
            ctx.fail(f"there is no command {name!r}; {hint}")
        return super().resolve_command(ctx, args)
