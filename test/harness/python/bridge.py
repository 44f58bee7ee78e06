"""Makes the calls of the Python client that a test writes to the standard input, a JSON line each.

A line is {"id", "client": "sync" | "async", "call", "args", "kwargs"}; its reply is {"id", "value"} or {"id", "error"}.
All calls run at the same time.
"""

import asyncio
import dataclasses
import json
import sys
import threading
import typing

import parley
from parley import models, webhooks

BASE_URL, RETRY = sys.argv[1], parley.Retry(**json.loads(sys.argv[2]))


def plain(value):
    if dataclasses.is_dataclass(value):
        return {**dataclasses.asdict(value), "accepted": value.accepted, "repr": repr(value)}
    return value


def write(line):
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def report(command, error):
    fields = ("code", "status", "retry_after_seconds", "problem")
    if isinstance(error, parley.ParleyError):
        write({"id": command["id"], "error": {"message": str(error), **{f: getattr(error, f) for f in fields}}})
    else:
        write({"id": command["id"], "error": {"code": type(error).__name__, "message": str(error)}})


def keys_of(name):
    record = getattr(models, name)
    return {"required": sorted(record.__required_keys__), "optional": sorted(record.__optional_keys__)}


def verify(secret, headers, body):
    return webhooks.verify(secret, headers, body.encode())


def question_of():
    return sorted(typing.get_type_hints(parley.Question))


PLAIN = {"keys_of": keys_of, "verify": verify, "question_of": question_of}


def call_sync(command):
    try:
        if command["call"] in PLAIN:
            made = PLAIN[command["call"]]
        else:
            made = getattr(parley.Client(command.get("baseUrl", BASE_URL), command["token"], retry=RETRY), command["call"])
        value = made(*command["args"], **command["kwargs"])
        write({"id": command["id"], "value": plain(value if not hasattr(value, "__next__") else list(value))})
    except Exception as error:
        report(command, error)


async def call_async(command, tasks):
    if command["call"] == "cancel":
        tasks[command["args"][0]].cancel()
        return write({"id": command["id"], "value": None})
    try:

        async def token():
            return command["token"]

        client = parley.AsyncClient(command.get("baseUrl", BASE_URL), token, retry=RETRY)
        value = getattr(client, command["call"])(*command["args"], **command["kwargs"])
        if hasattr(value, "__anext__"):
            write({"id": command["id"], "value": [each async for each in value]})
        else:
            write({"id": command["id"], "value": plain(await value)})
    except (Exception, asyncio.CancelledError) as error:
        report(command, error)


async def main():
    loop = asyncio.get_running_loop()
    lines = asyncio.Queue()

    def read():
        for line in sys.stdin:
            loop.call_soon_threadsafe(lines.put_nowait, json.loads(line))
        loop.call_soon_threadsafe(lines.put_nowait, None)

    threading.Thread(target=read, daemon=True).start()
    tasks = {}
    while (command := await lines.get()) is not None:
        if command["client"] == "sync":
            threading.Thread(target=call_sync, args=(command,), daemon=True).start()
        else:
            tasks[command["id"]] = asyncio.create_task(call_async(command, tasks))


asyncio.run(main())
