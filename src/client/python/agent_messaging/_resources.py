"""What belongs to an agent besides its messages: each line is one operation of the API."""
from __future__ import annotations

from . import api
from ._operation import M, Owner, pages, request


class Secrets(Owner[M]):
    """Encrypted values that only the agent can read."""

    list = request(api.list_secrets)
    set = request(api.set_secret)
    delete = request(api.delete_secret)
    reveal = request(api.reveal_secrets)


class Access(Owner[M]):
    """Who may write to the agent."""

    read = request(api.read_access)
    set = request(api.set_access)
    allow = request(api.allow_sender)
    disallow = request(api.disallow_sender)
    block = request(api.block_sender)
    unblock = request(api.unblock_sender)


class Addresses(Owner[M]):
    list = request(api.list_addresses)
    change = request(api.change_address)
    remove = request(api.remove_address)
    set_up = request(api.set_up_address)


class Tokens(Owner[M]):
    list = request(api.list_tokens)
    create = request(api.create_token)
    revoke = request(api.revoke_token)


class Suppressions(Owner[M]):
    list = pages(api.list_suppressions)
    remove = request(api.remove_suppression)


class Drafts(Owner[M]):
    """Messages that the agent and members are writing."""

    list = pages(api.list_drafts)
    create = request(api.create_draft)
    read = request(api.read_draft)
    update = request(api.update_draft)
    delete = request(api.delete_draft)
    send = request(api.send_draft)


class Threads(Owner[M]):
    """Conversations; notes are for members."""

    list = pages(api.list_threads)
    read = request(api.read_thread)
    transcript = request(api.read_transcript)
    update = request(api.update_thread)
    update_many = request(api.update_threads)
    notes = request(api.list_thread_notes)
    add_note = request(api.add_thread_note)
    delete_note = request(api.delete_thread_note)


class Questions(Owner[M]):
    """What the agent has asked. Members answer."""

    list = pages(api.list_questions)
    read = request(api.read_question)
    answer = request(api.answer_question)
    withdraw = request(api.withdraw_question)


class Webhooks(Owner[M]):
    list = request(api.list_webhooks)
    add = request(api.add_webhook)
    update = request(api.update_webhook)
    remove = request(api.remove_webhook)
    rotate = request(api.rotate_webhook)
    test = request(api.test_webhook)
    replay = request(api.replay_webhook)
    resend_given_up = request(api.resend_given_up)
    deliveries = pages(api.list_deliveries)
    delivery = request(api.read_delivery)
    resend = request(api.resend_delivery)
    unblock = request(api.unblock_webhook)
