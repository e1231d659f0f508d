"""What no table of requests and answers shows: threads, tasks, time, connections, files."""
import asyncio
import gc
import json
import os
import random
import socket
import stat
import tempfile
import threading
import unittest
from unittest import mock

import agent_messaging._stream
from agent_messaging import Agent, AmsError, AsyncAgent, FileStore, MemoryStore, Message, api
from agent_messaging._position import Progress
from agent_messaging._shells import Shell
from agent_messaging._sse import FrameParser

OPEN = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 99999\r\n\r\n: open\n\n"


def answer(body, status="200 OK"):
    return f"HTTP/1.1 {status}\r\ncontent-length: {len(body)}\r\n\r\n{body}".encode()


class Server:
    """Gives each request to a function with its connection, and notes which connections were closed by the client."""

    def __init__(self, respond):
        self.respond = respond
        self.requests = []
        self.closed = threading.Semaphore(0)
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d" % self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection:
            request = connection.recv(65536).split(b"\r\n")[0].decode().rsplit(" ", 1)[0]
            self.requests.append(request)
            if not self.respond(request, connection):
                return
            try:
                while connection.recv(1):
                    pass
            except ConnectionError:
                pass
            self.closed.release()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


def streaming(*frames):
    """A service with one stream that stays open."""

    def respond(request, connection):
        if "/connection " in request + " ":
            connection.sendall(answer('{"id": "c"}'))
        elif "/connections/" in request:
            connection.sendall(OPEN + b"".join(frames))
            return True
        else:
            connection.sendall(answer(json.dumps({"id": "m", "subject": "Hi", "channel": "email", "attachments": []})))

    return Server(respond)


FRAME = b'data: {"id": 5, "type": "message.received", "channel": "email", "messageId": "m"}\n\n'


class Loops(unittest.TestCase):
    def test_close_ends_a_loop_that_waits_in_another_thread(self):
        with streaming() as server:
            told = []
            inbox = Agent(url=server.url, token="t", id="A", on_waiting=told.append).messages(store=MemoryStore(4))
            ended = threading.Event()

            def wait():
                self.assertEqual(list(inbox), [])
                ended.set()

            threading.Thread(target=wait, daemon=True).start()
            while len(server.requests) < 2:
                threading.Event().wait(0.01)
            inbox.close()
            self.assertTrue(ended.wait(10))
            self.assertEqual(told, [])
            self.assertTrue(server.closed.acquire(timeout=10))

    def test_a_loop_that_is_left_closes_its_connection(self):
        with streaming(FRAME) as server:
            for message in Agent(url=server.url, token="t", id="A").messages(store=MemoryStore(4)):
                self.assertEqual((message.subject, message.event.id), ("Hi", 5))
                break
            gc.collect()
            self.assertTrue(server.closed.acquire(timeout=10))

    def test_with_asyncio_aclose_and_cancelling_close_the_connection(self):
        async def main(url, leave):
            inbox = AsyncAgent(url=url, token="t", id="A").messages(store=MemoryStore(4))
            messages = []

            async def wait():
                async for message in inbox:
                    messages.append(message.subject)

            task = asyncio.create_task(wait())
            while not messages:
                await asyncio.sleep(0.01)
            await leave(inbox, task)
            return messages

        async def close(inbox, task):
            await inbox.aclose()
            await asyncio.wait_for(task, 10)

        async def cancel(_, task):
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task

        for leave in (close, cancel):
            with streaming(FRAME) as server:
                self.assertEqual(asyncio.run(main(server.url, leave)), ["Hi"])
                self.assertTrue(server.closed.acquire(timeout=10))

    def test_a_silent_stream_is_opened_again_and_heartbeats_keep_it_open(self):
        streams = []

        def respond(request, connection):
            if "/connections/" not in request:
                return connection.sendall(answer('{"id": "c", "channel": "email", "attachments": []}'))
            streams.append(request)
            connection.sendall(OPEN)
            for _ in range(4 if len(streams) == 1 else 0):
                threading.Event().wait(0.25)
                connection.sendall(b": heartbeat\n\n")
            if len(streams) == 2:
                connection.sendall(FRAME)
            return True

        with mock.patch.object(agent_messaging._stream, "_MAX_SILENCE", 0.6), Server(respond) as server:
            told = []
            agent = Agent(url=server.url, token="t", id="A", on_waiting=lambda error: told.append(error.message))
            next(agent.messages(store=MemoryStore(4)))
            self.assertEqual(len(streams), 2)
            self.assertEqual(told, [f"Cannot reach {server.url}: no answer within 0.6 s"])

    def test_a_reply_in_a_loop_that_was_closed_waits_no_longer(self):
        with streaming(FRAME) as server:
            inbox = Agent(url=server.url, token="t", id="A", on_waiting=lambda _: None).messages(store=MemoryStore(4))
            message = next(inbox)
            server.socket.close()
            inbox.close()
            with self.assertRaises(AmsError) as raised:
                message.reply("Never.")
            self.assertEqual(raised.exception.code, "unreachable")


class Requests(unittest.TestCase):
    def test_what_cannot_be_a_header_or_a_url_is_refused_at_once(self):
        for options, field in (
            ({"url": "ftp://x"}, "url"),
            ({"url": "not a url"}, "url"),
            ({"url": "http://x:99999"}, "url"),
            ({"token": ""}, "token"),
            ({"token": "a\r\nHost: evil"}, "token"),
        ):
            with self.assertRaises(AmsError) as raised:
                Agent(**{"url": "http://x.example", "token": "t", **options})
            self.assertEqual((raised.exception.code, raised.exception.field), ("invalid_input", field))
        with self.assertRaises(AmsError) as raised:
            Agent(url="http://x.example", token="t", id="A").secrets.reveal(key="a\nb")
        self.assertEqual(raised.exception.field, "key")

    def test_a_proxy_with_a_port_that_is_none_is_refused(self):
        with mock.patch.dict(os.environ, {"http_proxy": "http://127.0.0.1:x", "no_proxy": ""}):
            with self.assertRaises(AmsError) as raised:
                Agent(url="http://x.example", token="t", id="A").secrets.list()
        self.assertEqual((raised.exception.code, raised.exception.field), ("invalid_input", "HTTP_PROXY"))

    def test_what_is_not_http_is_no_answer(self):
        for said in (
            b"220 mail.example ESMTP\r\n",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-5\r\nhello",
            b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 200 + b"\r\n",
            b"x" * 100_000,
            b"",
        ):
            with Server(lambda _, connection: connection.sendall(said)) as server:
                agent = Agent(url=server.url, token="t", id="A", retries=0)
                with self.assertRaises(AmsError) as raised:
                    agent.secrets.list()
                self.assertEqual(raised.exception.code, "unreachable", said[:40])

    def test_chunks_informational_answers_and_bodies_without_a_length_are_read(self):
        for said in (
            b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
            b"2;x=y\r\n[1\r\n1\r\n]\r\n0\r\n\r\n",
            b"HTTP/1.0 200 OK\r\n\r\n[1]",
            b"HTTP/1.0 200 OK\r\ncontent-length: \xb2\r\n\r\n[1]",
        ):
            with Server(lambda _, connection: connection.sendall(said)) as server:
                self.assertEqual(Agent(url=server.url, token="t", id="A").secrets.list(), [1])

    def test_an_import_that_is_refused_early_says_why(self):
        refusal = answer('{"error": {"code": "invalid_input", "message": "Too large."}}', "413 Too Large")
        with Server(lambda _, connection: connection.sendall(refusal)) as server:
            with self.assertRaises(AmsError) as raised:
                Agent(url=server.url, token="t", id="A").import_(b"x" * 30_000_000, type="application/mbox")
            self.assertEqual((raised.exception.status, raised.exception.message), (413, "Too large."))

    def test_a_new_field_never_hides_a_method(self):
        agent = Agent(url="http://x.example", token="t", id="A")
        message = Message(agent._source, {"id": "m", "channel": "email", "attachments": [], "reply": 1, "newField": 2})
        self.assertTrue(callable(message.reply))
        self.assertEqual((message.new_field, message.data["reply"], message.subject), (2, 1, None))


class Positions(unittest.TestCase):
    def test_the_position_never_goes_back_whatever_order_threads_are_done_in(self):
        for _ in range(50):
            saved = []
            store = MemoryStore(0)
            store.save = saved.append
            progress = Progress(store, 0)
            ids = list(range(1, 9))
            for number in ids:
                Shell().run(progress.deliver(number))
            random.shuffle(ids)
            open_ = ids[random.randrange(9) :]
            threads = [
                threading.Thread(target=lambda number=number: Shell().run(progress.done(number)))
                for number in ids
                if number not in open_
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(saved, sorted(set(saved)))
            self.assertEqual(saved[-1] if saved else 0, min(open_, default=9) - 1)

    def test_a_position_that_could_not_be_stored_is_stored_by_the_same_event_done_again(self):
        store = MemoryStore(0)
        progress = Progress(store, 0)
        Shell().run(progress.deliver(1))
        with mock.patch.object(store, "save", side_effect=OSError("disk full")), self.assertRaises(OSError):
            Shell().run(progress.done(1))
        Shell().run(progress.done(1))
        self.assertEqual(store.load(), 1)

    def test_a_file_keeps_the_position_for_this_user_only(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "state", "position")
            store = FileStore(path)
            self.assertIsNone(store.load())
            store.save(41)
            store.save(42)
            self.assertEqual(FileStore(path).load(), 42)
            self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
            os.mkdir(os.path.join(folder, "state", "folder"))
            with self.assertRaises(OSError):
                FileStore(os.path.join(folder, "state", "folder")).save(1)
            self.assertEqual(sorted(os.listdir(os.path.dirname(path))), ["folder", "position"])
            for text in ("", "x", "-1", "1.5", "12 13", "９"):
                with open(path, "w") as file:
                    file.write(text)
                with self.assertRaises(AmsError):
                    store.load()


class Parsing(unittest.TestCase):
    def test_the_pieces_that_a_stream_comes_in_make_no_difference(self):
        for _ in range(300):
            end = random.choice(("\n", "\r\n", "\r"))
            lines = random.choices(("event: e", "data: ä:b", "data", ": c", "", "id: 3"), k=random.randrange(20))
            text = ("\ufeff" + end.join([*lines, "", "", ":", ""])).encode()
            cuts = sorted(random.choices(range(len(text)), k=random.randrange(8)))
            parser = FrameParser()
            frames = []
            for start, stop in zip([0, *cuts], [*cuts, len(text)]):
                frames += parser.push(text[start:stop])
            self.assertEqual(frames, FrameParser().push(("\n".join([*lines, "", "", ":", ""])).encode()))


class Description(unittest.TestCase):
    def test_printed_functions_leave_out_what_was_not_given_and_keep_null(self):
        call = api.update_draft("d", text=None, send_at="x")
        self.assertEqual((call.body, call.path), ({"text": None, "sendAt": "x"}, "/agents/{id}/drafts/{draftId}"))


if __name__ == "__main__":
    unittest.main()
