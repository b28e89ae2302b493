"""Post the report of a run as one comment on its pull request, or edit that comment.

    python comment.py FILE

FILE is what ``tokgate report --format comment`` has printed. The comment is recognised by a hidden
marker on its first line, so that a pull request has one comment for each use of the action, however
often it runs. This script uses the standard library alone, and GitHub's REST API:
https://docs.github.com/en/rest/issues/comments

It reads the environment that GitHub gives to a step, and besides GITHUB_TOKEN (permission
``pull-requests: write``), STATUS (the exit status of tokgate) and KEY (what tells this use of the
action from others). A comment that cannot be posted is a warning and never fails the job: the
token of a pull request from a fork may only read.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

MAX_CHARACTERS = 65_536
"""The longest comment that GitHub takes."""

SECONDS = 30
"""The time limit for a request."""

NO_REPORT = "## ❔ tokgate: no report\n\ntokgate ended with exit status {}. The log says why.\n"


def marker(key: str) -> str:
    """The hidden line by which the comment is found again."""
    return f"<!-- tokgate {hashlib.sha256(key.encode()).hexdigest()[:16]} -->"


def body(text: str, key: str, run: str, commit: str) -> str:
    """The whole comment: marker, text, and where it is from. It is at most as long as GitHub takes.

    run: the address of the workflow's run.
    """
    head = f"{marker(key)}\n"
    tail = f"\n<sub>Commit {commit[:10]} · [log and artifacts]({run})</sub>\n"
    return head + text[: MAX_CHARACTERS - len(head) - len(tail)] + tail


class Api:
    """The comments of one pull request. Raises OSError, such as HTTPError, or ValueError."""

    def __init__(self, environment: Mapping[str, str], number: int) -> None:
        self._token = environment["GITHUB_TOKEN"]
        address, repository = environment["GITHUB_API_URL"], environment["GITHUB_REPOSITORY"]
        self._issues = f"{address}/repos/{repository}/issues"
        self._comments = f"{self._issues}/{number}/comments"

    def put(self, text: str, mark: str) -> None:
        """Edit the comment with this marker, or post a new one."""
        known = next((one["id"] for one in self._ours() if one["body"].startswith(mark)), None)
        if known is None:
            self._ask("POST", self._comments, {"body": text})
        else:
            self._ask("PATCH", f"{self._issues}/comments/{known}", {"body": text})

    def _ours(self) -> Iterator[Any]:
        """The comments of bots, as this token is one: nobody else's comment is edited."""
        page: str | None = f"{self._comments}?per_page=100"
        while page:
            comments, page = self._ask("GET", page)
            yield from (one for one in comments if one["user"]["type"] == "Bot")

    def _ask(self, method: str, address: str, data: object = None) -> tuple[Any, str | None]:
        """The answer to a request, and the address of the next page if there is one."""
        request = urllib.request.Request(
            address,
            None if data is None else json.dumps(data).encode(),
            {
                "Accept": "application/vnd.github+json",
                "Authorization": f"Bearer {self._token}",
                "X-GitHub-Api-Version": "2022-11-28",
                "Content-Type": "application/json",
            },
            method=method,
        )
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            following = re.search(r'<([^>]+)>; rel="next"', answer.headers.get("Link", ""))
            return json.load(answer), following and following[1]


def main(file: Path, environment: Mapping[str, str]) -> str:
    """Post the comment; the answer is a line for the log."""
    event = json.loads(Path(environment["GITHUB_EVENT_PATH"]).read_text("utf-8"))
    request = event.get("pull_request")
    if request is None:
        return "::notice::tokgate: no comment, as this is not the run of a pull request"
    text = file.read_text("utf-8") if file.is_file() else NO_REPORT.format(environment["STATUS"])
    server, repository = environment["GITHUB_SERVER_URL"], environment["GITHUB_REPOSITORY"]
    run = f"{server}/{repository}/actions/runs/{environment['GITHUB_RUN_ID']}"
    key = environment["KEY"]
    try:
        Api(environment, request["number"]).put(
            body(text, key, run, request["head"]["sha"]), marker(key)
        )
    except urllib.error.HTTPError as error:
        why = f"GitHub answered {error.code} {error.reason}"
        if error.code in (403, 404):
            why += "; the job needs `pull-requests: write`, which a fork's pull request cannot have"
    except (OSError, ValueError, LookupError, TypeError) as error:
        why = f"{type(error).__name__}: {error}"
    else:
        return f"tokgate: the comment on pull request {request['number']} is up to date"
    return f"::warning::tokgate: the comment could not be posted: {' '.join(why.split())}"


if __name__ == "__main__":
    print(main(Path(sys.argv[1]), os.environ))
