"""Runs the cases of cases.json with the Python client, with blocking sockets or with asyncio: run.py sync|async URL"""
import asyncio
import json
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from agent_messaging import Agent, AmsError, AsyncAgent, MemoryStore, verify_webhook

CASES = json.loads((Path(__file__).parent / "cases.json").read_text())
RESERVED = ("from", "as")


def snake(name):
    name = re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), name)
    return name + "_" if name in RESERVED else name


def named(fields):
    return {snake(name): value for name, value in (fields or {}).items()}


def plain(value):
    return getattr(value, "data", value)


def error_of(error):
    names = ("code", "message", "status", "field", "retryAfter", "requestId", "reason", "messageId")
    return {"error": {name: getattr(error, snake(name)) for name in names}}


def method_of(agent, path):
    for name in path.split("."):
        agent = getattr(agent, snake(name))
    return agent


class Loop:
    """What both kinds of loop do with a message."""

    def __init__(self, given):
        self.given = given
        self.store = MemoryStore(given.get("position"))
        self.truncated = []
        self.subjects = []

    def options(self):
        more = {"from_": self.given["from"]} if "from" in self.given else {}
        return {"store": self.store, "on_truncated": self.truncated.append, **more}

    def is_done(self):
        return len(self.subjects) not in self.given.get("open", ())

    def is_last(self):
        return len(self.subjects) == self.given.get("take", 1)

    def observed(self, error):
        position = self.store.load()
        return {"result": self.subjects, "position": position, "truncated": self.truncated, **error}


def loop(agent, given):
    state, error = Loop(given), {}
    try:
        for message in agent.messages(**state.options()):
            state.subjects.append(message.subject)
            if "reply" in given:
                message.reply(given["reply"])
            if state.is_done():
                message.done()
            if state.is_last():
                break
    except AmsError as thrown:
        error = error_of(thrown)
    return state.observed(error)


async def loop_async(agent, given):
    state, error = Loop(given), {}
    try:
        async for message in agent.messages(**state.options()):
            state.subjects.append(message.subject)
            if "reply" in given:
                await message.reply(given["reply"])
            if state.is_done():
                await message.done()
            if state.is_last():
                break
    except AmsError as thrown:
        error = error_of(thrown)
    return state.observed(error)


def called(agent, step):
    if "verify" in step:
        given = step["verify"]
        return verify_webhook(given["headers"], given["body"], given["secrets"], tolerance_seconds=given["toleranceSeconds"])
    key = {"key": step["key"]} if "key" in step else {}
    method = method_of(agent, step.get("call") or step["list"])
    return method(*step.get("args", ()), **named(step.get("fields")), **key)


def agent_of(kind, url, case, waiting):
    options = {"token": "t", "id": "A", **case.get("options", {})}
    return kind(url=url, on_waiting=lambda error: waiting.append(error.code), **options)


def run(url, case):
    waiting, observed = [], []
    agent = agent_of(Agent, url, case, waiting)
    for step in case["steps"]:
        del waiting[:]
        try:
            if "file" in step:
                one = {"result": agent.message(step["file"]).attachment(0).text()}
            elif "loop" in step:
                one = loop(agent, step["loop"])
            elif "list" in step:
                one = {"result": [plain(item) for item in called(agent, step)]}
            else:
                one = {"result": plain(called(agent, step))}
        except AmsError as error:
            one = error_of(error)
        observed.append({**one, "waiting": list(waiting)})
    return observed


async def run_async(url, case):
    waiting, observed = [], []
    agent = agent_of(AsyncAgent, url, case, waiting)
    for step in case["steps"]:
        del waiting[:]
        try:
            if "file" in step:
                message = await agent.message(step["file"])
                one = {"result": await message.attachment(0).text()}
            elif "loop" in step:
                one = await loop_async(agent, step["loop"])
            elif "list" in step:
                one = {"result": [plain(item) async for item in called(agent, step)]}
            else:
                result = called(agent, step)
                one = {"result": plain(await result if asyncio.iscoroutine(result) else result)}
        except AmsError as error:
            one = error_of(error)
        observed.append({**one, "waiting": list(waiting)})
    return observed


async def all_async(url):
    return await asyncio.gather(*(run_async(f"{url}/{number}", case) for number, case in enumerate(CASES)))


def all_sync(url):
    with ThreadPoolExecutor(len(CASES)) as pool:
        return list(pool.map(lambda numbered: run(f"{url}/{numbered[0]}", numbered[1]), enumerate(CASES)))


if __name__ == "__main__":
    _, mode, where = sys.argv
    print(json.dumps(asyncio.run(all_async(where)) if mode == "async" else all_sync(where)))
