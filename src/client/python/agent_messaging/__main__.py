"""``python3 -m agent_messaging``: what a script needs."""
from __future__ import annotations

import argparse
import base64
import json
import mimetypes
import os
import signal
import sys
from typing import Any

from ._agent import Agent
from ._call import NOT_GIVEN
from ._message import Message
from ._position import FileStore
from .errors import AmsError

_ABOUT = "What a script needs of an agent. AMS_URL and AMS_TOKEN say where the service is, and who asks."


def _printable(text: str) -> str:
    """On one line, without what could control a terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _line(message: Message) -> str:
    name = f"{message.counterpart_name} <{message.counterpart}>" if message.counterpart_name else message.counterpart
    about = message.subject or message.reply_text
    return _printable(f"{message.created_at} {name} {about[:200]} {message.id}")


def _listen(agent: Agent, given: argparse.Namespace) -> int:
    start: Any = int(given.start) if given.start.isdigit() else given.start
    if start not in ("now", "beginning") and not isinstance(start, int):
        raise AmsError("invalid_input", "--from: must be now, beginning or the id of an event")
    store = FileStore(given.position) if given.position else None
    inbox = agent.messages(store=store, from_=start)
    signal.signal(signal.SIGTERM, lambda *_: inbox.close())
    for count, message in enumerate(inbox, 1):
        item = {"event": message.event.data, "message": message.data}
        print(json.dumps(item) if given.json else _line(message), flush=True)
        message.done()
        if count == given.count:
            break
    return 0


def _attachment(path: str) -> Any:
    with open(path, "rb") as file:
        content = base64.b64encode(file.read()).decode()
    kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
    return {"name": os.path.basename(path), "type": kind, "content": content}


def _send(agent: Agent, given: argparse.Namespace) -> int:
    text = sys.stdin.read() if given.text == "-" else given.text
    options: dict[str, Any] = {
        "to": given.to or NOT_GIVEN,
        "subject": NOT_GIVEN if given.subject is None else given.subject,
        "attachments": [_attachment(path) for path in given.attach] or NOT_GIVEN,
        "key": given.key,
    }
    if given.reply_to is None:
        options["channel"] = given.channel
    else:
        options["reply_to"] = given.reply_to
    print(agent.send(text=text, **options).id)
    return 0


def _code(agent: Agent, given: argparse.Namespace) -> int:
    options: dict[str, Any] = {"from_": given.sender, "kind": given.kind, "purpose": given.purpose, "as_": given.name}
    wanted = {name: value for name, value in options.items() if value is not None}
    code = agent.code(seconds=given.seconds, unproven=given.unproven or NOT_GIVEN, **wanted)
    if code is None:
        hint = "" if given.unproven else "; one of a sender that is not proven needs --unproven"
        print(f"agent_messaging: no such code came within {given.seconds} s{hint}", file=sys.stderr)
        return 1
    if "value" in code:
        print(_printable(code["value"]))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python3 -m agent_messaging", description=_ABOUT)
    parser.add_argument("--id", help="the agent's id; needed only with a member's token")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    listen = commands.add_parser("listen", help="connect as the agent's client, and print a line for each new message")
    listen.add_argument("--json", action="store_true", help="print the event and the message as JSON")
    listen.add_argument("--position", metavar="FILE", help="keep the position in FILE, and go on from there")
    start = "now (default), beginning or an event's id"
    listen.add_argument("--from", dest="start", default="now", metavar="POSITION", help=start)
    listen.add_argument("--count", type=int, metavar="N", help="end after N messages")
    listen.set_defaults(run=_listen)
    send = commands.add_parser("send", help="send a message, and print its id")
    send.add_argument("text", metavar="TEXT", help="the text, or - for standard input")
    send.add_argument("--to", action="append", metavar="ADDRESS", help="a recipient; can be repeated")
    send.add_argument("--reply-to", metavar="ID", help="reply to this message, in its thread")
    send.add_argument("--channel", choices=("email", "sms", "telegram"), default="email")
    send.add_argument("--subject")
    send.add_argument("--attach", action="append", default=[], metavar="FILE", help="attach a file; can be repeated")
    send.add_argument("--key", help="send nothing a second time with the same key within 24 hours")
    send.set_defaults(run=_send)
    code = commands.add_parser("code", help="take the code of a sign-up, or wait for it, and print it alone")
    code.add_argument("--from", dest="sender", metavar="SENDER", help="an address, *@example.com or example.com")
    code.add_argument("--kind", choices=("code", "link"))
    code.add_argument("--purpose", choices=("sign_in", "verify", "reset", "other"))
    code.add_argument("--seconds", type=int, default=30, help="how long to wait; 30 by default")
    code.add_argument("--unproven", action="store_true", help="take it of senders that are not proven too")
    code.add_argument("--as", dest="name", metavar="NAME", help="make it the agent's secret NAME, and print nothing")
    code.set_defaults(run=_code)
    return parser


def main(arguments: list[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    try:
        run: int = given.run(Agent(id=given.id, client="python3 -m agent_messaging"), given)
        return run
    except AmsError as error:
        print(f"agent_messaging: {_printable(str(error))}", file=sys.stderr)
    except BrokenPipeError:  # `listen | head` closes our output: nothing is wrong with that
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (OSError, UnicodeError) as error:  # a file that cannot be read
        print(f"agent_messaging: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        return 130
    return 1


if __name__ == "__main__":
    sys.exit(main())
