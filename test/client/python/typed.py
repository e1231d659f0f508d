"""Only for mypy: what it must accept, and what it must refuse."""
from agent_messaging import Agent, AsyncAgent, Message, Workspace

def blocking(agent: Agent) -> list[str | None]:
    for message in agent.messages(types=["message.received"]):
        reply: Message = message.reply("x", to=["a@example.com"])
        message.done()
        text: str = message.attachment(0).text()
    name: str = agent.drafts.list().all(3)[0]["id"]
    return [one.subject for one in agent.list(q="x")]

async def awaited(agent: AsyncAgent, workspace: Workspace) -> dict[str, str]:
    async for message in agent.messages(from_="beginning"):
        await (await message.reply("x")).mark(read=True)
        await message.done()
    workspace.agents.create("Bot", "unicorn")  # type: ignore[arg-type]
    await agent.send(channel="fax")  # type: ignore[arg-type]
    workspace.agent("x").access.set("fax", [])  # type: ignore[arg-type]
    return await agent.secrets.reveal(["A"])
