"""The comments of GitHub's REST API as it answers, on a local address."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAGE = 2
"""Comments on a page; GitHub has up to 100."""


class Comments(BaseHTTPRequestHandler):
    """GET, POST and PATCH of comments, which its server keeps in order."""

    def do_GET(self):
        path, _, query = self.path.partition("?")
        page = int(dict(one.split("=") for one in query.split("&")).get("page", 1))
        comments, end = self.server.comments, page * PAGE
        following = f'<{self.server.address}{path}?page={page + 1}>; rel="next"'
        last = f'<{self.server.address}{path}?page=9>; rel="last"'
        more = {"Link": f"{following}, {last}"} if end < len(comments) else {}
        self.answer(200, comments[end - PAGE : end], more)

    def do_POST(self):
        self.write(lambda text: self.server.comments.append(self.server.comment(text)))

    def do_PATCH(self):
        number = int(self.path.rpartition("/")[2])
        [one] = [one for one in self.server.comments if one["id"] == number]
        self.write(lambda text: one.update(body=text))

    def write(self, change):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]
        assert self.headers["Authorization"] == "Bearer secret"
        if self.server.refuses:
            self.answer(403, {"message": "Resource not accessible by integration"})
        elif len(body) > 65_536:
            self.answer(422, {"message": "Body is too long (maximum is 65536 characters)"})
        else:
            change(body)
            self.answer(201, {})

    def answer(self, status, body, headers=()):
        self.server.asked.append(f"{self.command} {self.path}")
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *arguments):
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """Comments of one pull request. refuses: as a token that may only read."""

    refuses = False

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Comments)
        self.address = f"http://127.0.0.1:{self.server_port}"
        self.comments, self.asked = [], []

    def comment(self, text, kind="Bot"):
        return {"id": 100 + len(self.comments), "body": text, "user": {"type": kind}}


@contextmanager
def api():
    """The server, while it answers."""
    with Server() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()
