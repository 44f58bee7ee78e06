"""Takes refunds over HTTP and asks a person about each. It needs only the standard library and parley-client."""

import json
import os
import sqlite3
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from parley import Client, ParleyError

DAY = 86_400
FORM = {
    "type": "object",
    "properties": {"pay": {"type": "boolean", "title": "Pay the money back"}},
    "required": ["pay"],
}

parley = Client(os.environ.get("PARLEY_URL", "http://localhost:3000"), os.environ.get("PARLEY_TOKEN", ""))
approver = os.environ.get("APPROVER", "me")
lock = threading.Lock()
database = sqlite3.connect("refunds.db", isolation_level=None, check_same_thread=False)
database.execute("CREATE TABLE IF NOT EXISTS refunds (number TEXT PRIMARY KEY, euros INTEGER, status TEXT)")


def query(sql, *values):
    with lock:
        return database.execute(sql, values).fetchall()


def decide(number, euros):
    """Asks a person and waits, perhaps for a day."""
    try:
        # After a restart, the same key finds the same question, with its answer if there is one.
        outcome = parley.ask(
            approver,
            f"Refund {euros} euros for order {number}?",
            requested_schema=FORM,
            timeout_seconds=DAY,
            idempotency_key=f"refund-{number}",
        )
    except ParleyError as error:
        print(f"Order {number} still waits; the next start of the service asks again: {error}", flush=True)
        return
    # Declined, cancelled, expired and withdrawn questions are not consent.
    status = "paid" if outcome.accepted and outcome.content["pay"] else "refused"
    # Make the payment here, with the order number as the payment's idempotency key.
    query("UPDATE refunds SET status = ? WHERE number = ?", status, number)
    print(f"Order {number} is {status}.", flush=True)


def begin(number, euros):
    threading.Thread(target=decide, args=(number, euros), daemon=True).start()


class Refunds(BaseHTTPRequestHandler):
    def do_POST(self):
        refund = json.loads(self.rfile.read(int(self.headers["content-length"])))
        number, euros = str(refund["order"]), int(refund["euros"])
        added = query("INSERT OR IGNORE INTO refunds VALUES (?, ?, 'waiting') RETURNING number", number, euros)
        if added:
            begin(number, euros)
        self.reply(202, number)

    def do_GET(self):
        self.reply(200, self.path.removeprefix("/refunds/"))

    def reply(self, status, number):
        found = query("SELECT number, euros, status FROM refunds WHERE number = ?", number)
        body = json.dumps(dict(zip(("order", "euros", "status"), found[0])) if found else {}).encode()
        self.send_response(status if found else 404)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


# The previous process may have been killed while people were being asked.
for number, euros in query("SELECT number, euros FROM refunds WHERE status = 'waiting'"):
    begin(number, euros)

server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8000"))), Refunds)
print(f"Refunds are taken at http://localhost:{server.server_port}/refunds", flush=True)
server.serve_forever()
