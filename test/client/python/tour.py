"""What an agent does at a service, with blocking sockets."""
from datetime import datetime, timedelta, timezone
from agent_messaging import Agent, AmsError, MemoryStore

agent, store = Agent(), MemoryStore()
message = next(agent.messages(store=store, from_="beginning"))
assert (message.subject, message.counterpart, message.reply_text) == ("Where is it?", "ann@example.com", "the text")
reply = message.reply("On its way.", key=message.id)
assert message.reply("On its way.", key=message.id).id == reply.id
try:
    message.reply("Another.", key=message.id)
    raise AssertionError
except AmsError as error:
    assert (error.code, error.reason, error.message_id) == ("invalid_input", "key_reused", reply.id), error
assert [one.id for one in message.conversation()] == [reply.id, message.id]
assert [one["address"] for one in reply.recipients()] == ["ann@example.com"]
assert store.load() == 0
message.done()
assert store.load() == agent.position() == 1
assert b"Subject: Where is it?" in message.raw().read()
assert message.mark(labels=["a"]).labels == ["a"]
draft = agent.drafts.create(text="Hi", to=["bo@example.com"], channel="email")
agent.drafts.update(draft["id"], subject="Sub", send_at=datetime.now(timezone.utc) + timedelta(hours=1))
assert [one["subject"] for one in agent.drafts.list()] == ["Sub"]
agent.drafts.delete(draft["id"])
agent.secrets.set("KEY", "value")
assert agent.secrets.reveal(["KEY"]) == {"KEY": "value"}
agent.secrets.delete("KEY")
file = {"name": "a.csv", "type": "text/csv", "content": "YSxiCg=="}
sent = agent.send(channel="email", to="bo@example.com", subject="File", text="x", attachments=[file])
assert (sent.attachment(0).name, sent.attachment(0).bytes()) == ("a.csv", b"a,b\n")
assert b"".join(sent.attachment(0).open()) == b"a,b\n"
pages = agent.list(direction="outbound", limit=1)
assert [one.id for one in pages] == [sent.id, reply.id] and [one.id for one in pages.all(1)] == [sent.id]
second = pages.page(pages.page().next_cursor)
assert ([one.id for one in second.items], second.next_cursor) == ([reply.id], None), second
report = []
imported = agent.import_("From: c@example.com\nSubject: Old\nMessage-ID: <1@example.com>\n\nx", type="message/rfc822", on_progress=report.append)
assert imported["imported"] == 1 and report, imported
assert agent.next(after=0, seconds=0).id == message.id and agent.next(seconds=0) is None
assert [event["id"] for event in agent.log(limit=1)] == [1]
assert len(agent.export().read()) > 1024
print("done")
