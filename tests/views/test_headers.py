"""What is added to the server's answers."""

from __future__ import annotations

import pytest
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.testclient import TestClient

from memdash.views.server import Headers

DOWNLOADED = {"Content-Disposition": 'attachment; filename="report.html"'}


@pytest.mark.parametrize(
    ("answer", "needs_parts"),
    [
        (HTMLResponse("<h1>a page</h1>"), True),
        (HTMLResponse("<h1>a report</h1>", headers=DOWNLOADED), False),
        (JSONResponse({}), False),
    ],
    ids=["page", "downloaded report", "data"],
)
def test_a_page_alone_names_the_parts_that_a_browser_should_load_ahead(
    answer: Response, needs_parts: bool
) -> None:
    headers = TestClient(Headers(answer)).get("/").headers
    assert ("modulepreload" in headers.get("Link", "")) is needs_parts
    assert headers["X-Frame-Options"] == "DENY"
