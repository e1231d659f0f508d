from agent_messaging import Agent

for message in Agent().messages():
    message.reply(f"You wrote: {message.subject}")
    message.done()
