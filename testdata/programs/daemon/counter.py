import json, os
from http.server import BaseHTTPRequestHandler, HTTPServer

total = 0


class Counter(BaseHTTPRequestHandler):
    def do_GET(self):  # parley asks for /ready until this answers
        self.answer("")

    def do_POST(self):
        global total
        given = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or "{}")
        total += int(given.get("by") or 1)
        self.answer(f"{total} ({self.headers['X-GPTScript-Tool-Name']})")

    def answer(self, text):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *args):
        pass


HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Counter).serve_forever()
