# Printed from the API's description by `npm run client:types`; do not change it by hand.
"""What the API takes and returns, with the names of its JSON, and a function for each of its operations."""
from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Union

from ._call import NOT_GIVEN, Call, Fields, NotGiven, Page, listed

if sys.version_info >= (3, 11):
    from typing import NotRequired
elif TYPE_CHECKING:
    from typing_extensions import NotRequired

ErrorCode = Literal["invalid_input", "unauthorized", "forbidden", "plan_limit", "not_found", "conflict", "rate_limited", "internal", "unavailable"]


ErrorErrorReason = Literal["key_reused"]


class ErrorError(TypedDict):
    code: ErrorCode
    message: str
    # Only when the `Idempotency-Key` was used for another request: `key_reused`.
    reason: NotRequired[ErrorErrorReason]
    # With `key_reused`: the message that the first request sent, if it sent one.
    messageId: NotRequired[str]


class Error(TypedDict):
    error: ErrorError


WebhookPayloadName = Literal["message.received", "message.refused", "message.held", "message.sent", "message.failed", "message.reported", "question.answered"]


class WebhookPayloadDataAgent(TypedDict):
    # The agent's id
    id: str
    # Its name
    name: str


WebhookPayloadDataMessageChannel = Literal["email", "sms", "telegram", "url"]


WebhookPayloadDataMessageSenderKind = Literal["member", "agent", "contact"]


class WebhookPayloadDataMessageSender(TypedDict):
    # A member's or an agent's id, if verified; null for a contact
    id: str | None
    # The sender's relationship to the workspace. `member`: A member, verified. `agent`: Another agent of the workspace, verified. `contact`: Anyone else
    kind: WebhookPayloadDataMessageSenderKind
    # The name, if one is known
    name: str | None
    # The email address, as given in the message
    email: str | None
    # The phone number
    phone: str | None


WebhookPayloadDataMessageRefusal = Literal["self", "spam", "plan_limit", "rate_limit", "sender", "outsider", "unverified"]


WebhookPayloadDataMessageHoldReason = Literal["approval", "schedule"]


class WebhookPayloadDataMessageHold(TypedDict):
    # A member's approval, or its time
    reason: WebhookPayloadDataMessageHoldReason
    # When it is sent (schedule), or rejected if nobody approved it (approval)
    until: str


WebhookPayloadDataMessage = TypedDict("WebhookPayloadDataMessage", {"id": "str", "channel": "WebhookPayloadDataMessageChannel", "from": "str", "subject": "str | None", "mayInstruct": "bool", "text": "NotRequired[str]", "sender": "NotRequired[WebhookPayloadDataMessageSender]", "refusal": "NotRequired[WebhookPayloadDataMessageRefusal]", "hold": "NotRequired[WebhookPayloadDataMessageHold]", "error": "NotRequired[str]", "question": "NotRequired[EndedQuestion]"})


WebhookPayloadDataAddressed = Literal["to", "cc", "bcc"]


WebhookPayloadData = TypedDict("WebhookPayloadData", {"agent": "WebhookPayloadDataAgent", "message": "WebhookPayloadDataMessage", "messageId": "str", "from": "str", "threadId": "str | None", "conversation": "str | None", "addressed": "WebhookPayloadDataAddressed | None"})


class WebhookPayload(TypedDict):
    # The same on every attempt, and sent as `webhook-id`; ends with the id of the event in the log
    eventId: str
    # What happened: message.received, message.refused, message.held, message.sent, message.failed, message.reported, question.answered
    name: WebhookPayloadName
    # When the event happened
    timestamp: str
    data: WebhookPayloadData
    # Pass it as `after` to continue from here
    cursor: str


EndedQuestionStatus = Literal["open", "answered", "expired", "withdrawn"]


class EndedQuestion(TypedDict):
    # The question's id
    id: str
    # Whether somebody answered in time. `open`: It waits for an answer. `answered`: A member answered it. `expired`: Nobody answered it in time. `withdrawn`: It was withdrawn
    status: EndedQuestionStatus
    answer: Answer | None


AnswerThrough = Literal["app", "email", "telegram", "sms", "api"]


class Answer(TypedDict):
    # The answer; one of the options if there are any
    text: str
    # The name that the member had then, or else the email address
    by: str
    # When it was given
    at: str
    # How the member answered. `app`: In the web application. `email`: On the page of the link that was mailed to them. `telegram`: In Telegram, from the account that they have verified. `sms`: With a text message from the number that they have verified. `api`: With a token
    through: AnswerThrough


class WorkspacePlanLimits(TypedDict):
    # Agents
    agents: int | None
    # Members
    members: int | None
    # The workspace's own domains
    ownDomains: int | None
    # Webhooks across all agents
    webhooks: int | None
    # Messages sent in 24 hours
    sendsPerDay: int | None
    # Stored messages, not counting refused ones
    storedMessages: int | None
    # Phone numbers
    phoneNumbers: int | None


class WorkspacePlanUsage(TypedDict):
    # Agents
    agents: int
    # Members
    members: int
    # The workspace's own domains
    ownDomains: int
    # Webhooks across all agents
    webhooks: int
    # Messages sent in 24 hours
    sendsPerDay: int
    # Stored messages, not counting refused ones
    storedMessages: int
    # Phone numbers
    phoneNumbers: int


class WorkspacePlan(TypedDict):
    # Its name
    key: str
    # The limits of a plan. Null means no limit
    limits: WorkspacePlanLimits
    # A workspace's current usage of the quantities that plans limit. `sendsPerDay` counts the last 24 hours
    usage: WorkspacePlanUsage
    # Whether the email address that the service assigns to an agent can be changed
    changeAddress: bool


WorkspaceSettingsSignInRole = Literal["owner", "member"]


class WorkspaceSettingsSignIn(TypedDict):
    # The provider's issuer: an https URL on the public internet
    issuer: str
    # Id of this service at the provider
    clientId: str
    # Domains of the email addresses that it may sign in
    domains: list[str]
    # Role of those who become members by signing in: never `owner`. `owner`: Can also invite owners and remove members. `member`: Can work with the workspace's agents
    role: WorkspaceSettingsSignInRole
    # Whether members with such addresses have no other way to sign in. Owners keep the link of the operator
    required: bool
    # The redirect URI to register with the provider
    redirectUrl: str
    # The back-channel logout URI to register with the provider, if it has one
    logoutUrl: str


class WorkspaceSettings(TypedDict):
    # Whether agents may set who can send messages on their channels
    agentsMaySetAccess: bool
    # Whether agents may create agents
    agentsMayCreateAgents: bool
    # Whether members need a passkey, or the account of their company, to sign in
    requirePasskeys: bool
    # How members sign in with the account of their company; null if they do not
    signIn: WorkspaceSettingsSignIn | None
    # Days after which refused messages are deleted
    keepRefusedDays: int
    # Days after which all other messages are deleted; null means never
    keepMessagesDays: int | None
    # Days after which the originals of received emails are deleted; null means never
    keepRawDays: int | None


class Workspace(TypedDict):
    # Unique identifier
    id: str
    # Its name
    name: str
    # The plan and its current usage
    plan: WorkspacePlan
    # What agents may do on their own, how members sign in, and how long messages are kept
    settings: WorkspaceSettings
    # When the workspace will be deleted, as an owner has asked; null if it is not
    deletesAt: str | None
    # When it was created
    createdAt: str


AuditEntryAction = Literal["secret.reveal", "secret.set", "secret.delete", "agent.create", "agent.delete", "address.add", "address.update", "address.remove", "webhook.add", "webhook.update", "webhook.rotate", "webhook.remove", "suppression.remove", "agent.approval", "message.send", "message.refuse", "message.hold", "message.approve", "message.reject", "message.cancel", "message.unsubscribe", "message.reschedule", "token.create", "token.revoke", "session.link", "session.create", "session.refuse", "session.revoke", "app.connect", "app.disconnect", "passkey.add", "passkey.remove", "workspace.update", "workspace.delete", "workspace.restore", "workspace.export", "agent.export", "agent.update", "access.set", "message.release", "message.import", "message.delete", "code.take", "question.answer", "question.withdraw", "member.invite", "member.join", "member.remove", "member.role", "member.update", "invitation.revoke", "number.buy", "identity.claim", "identity.verify", "identity.remove", "number.release", "domain.add", "domain.verify", "domain.update", "domain.remove"]


AuditEntryActorKind = Literal["operator", "member", "agent"]


class AuditEntryActor(TypedDict):
    # Its kind. `operator`: The operator of the service. `member`: A member of the workspace. `agent`: An agent: this one or another
    kind: AuditEntryActorKind
    # The member's or the agent's id
    id: str | None
    # The name that it had then, or else the email address; null for the operator, and for some who have left
    name: str | None
    # The token that was used; null if there was none
    tokenId: str | None


class AuditEntry(TypedDict):
    # Unique identifier
    id: str
    # The action
    action: AuditEntryAction
    # The agent that was affected, which may have been deleted since; null for the workspace
    agentId: str | None
    # Who performed the action, and with which token
    actor: AuditEntryActor
    # Details of the action, such as the `names` of revealed secrets; never a value or a token
    detail: dict[str, Any]
    # When the action was performed
    createdAt: str


DayCountsRefusalReason = Literal["self", "spam", "plan_limit", "rate_limit", "sender", "outsider", "unverified"]


class DayCountsRefusal(TypedDict):
    # The reason. `self`: The agent's own message, or an automatic reply. `spam`: The message is spam. `plan_limit`: A limit of the workspace's plan was reached. `rate_limit`: The sender exceeded the rate limit. `sender`: The sender is not on the channel's list. `outsider`: The sender is neither in the team nor on the channel's list. `unverified`: The message claims to be from an allowed sender, but the sender could not be verified
    reason: DayCountsRefusalReason
    # The number of messages
    count: int


class DayCounts(TypedDict):
    # The day (UTC), as YYYY-MM-DD
    day: str
    # Messages received. One that was released counts for the day on which it arrived
    received: int
    # Messages refused
    refused: int
    # The refused messages by reason; only reasons that occurred
    refusals: list[DayCountsRefusal]
    # Messages that the receiving side accepted
    sent: int
    # Messages that could not be sent or delivered. One that bounced later also counts as sent
    failed: int
    # Recipients whose email came back after it was sent, on the day on which it did
    bounced: int
    # Recipients who reported an email as spam, on the day on which they did
    reported: int
    # Deliveries that webhooks accepted
    deliveriesAccepted: int
    # Attempts to deliver to webhooks that failed
    deliveriesFailed: int


MemberRole = Literal["owner", "member"]


class Member(TypedDict):
    # Unique identifier
    id: str
    # The email address, in lower case
    email: str
    # The name, if one is known
    name: str | None
    # The member's role in the workspace. `owner`: Can also invite owners and remove members. `member`: Can work with the workspace's agents
    role: MemberRole
    # Whether messages that wait for approval are announced to them by email
    approvalMails: bool
    # Whether questions of agents are announced to them by email and in chats, and not only in the web application
    questionMails: bool
    # When they joined
    createdAt: str


InvitationRole = Literal["owner", "member"]


class Invitation(TypedDict):
    # Unique identifier
    id: str
    # The email address that it was sent to
    email: str
    # The role that the person will have. `owner`: Can also invite owners and remove members. `member`: Can work with the workspace's agents
    role: InvitationRole
    # When its link stops working
    expiresAt: str


TokenScope = Literal["messages:read", "messages:write", "events", "secrets:reveal", "settings", "tokens", "members", "billing", "audit"]


class Token(TypedDict):
    # Unique identifier
    id: str
    # Its name, if it has one
    name: str | None
    # When it was created
    createdAt: str
    # When it was last used, to the minute
    lastUsedAt: str | None
    # When it expires; null if it never does
    expiresAt: str | None
    # What it may be used for; null means everything that its holder may do
    scopes: list[TokenScope] | None
    # The token that it was made with: it ends with it, and has no more than it. Null if it was made in the web application or by the operator
    parentId: str | None


IdentityChannel = Literal["sms", "telegram"]


class Identity(TypedDict):
    # Its channel. `sms`: A phone number. `telegram`: A Telegram user id
    channel: IdentityChannel
    # The number in E.164, or the id
    value: str
    # When it was verified
    verifiedAt: str


IdentityClaimChannel = Literal["sms", "telegram"]


class IdentityClaim(TypedDict):
    # The channel on which it was sent. `sms`: A phone number. `telegram`: A Telegram user id
    channel: IdentityClaimChannel
    # Where the code was sent
    value: str
    # When it expires
    expiresAt: str


class TelegramLink(TypedDict):
    # Opens one of the workspace’s bots in Telegram. Tapping Start verifies the account
    url: str
    # When it expires
    expiresAt: str


class PhoneNumber(TypedDict):
    # Unique identifier
    id: str
    # The number, in E.164
    value: str
    # The id of the agent's address that uses it; null while it is not assigned to an agent
    addressId: str | None
    # When it was added to the pool
    createdAt: str


class PhoneNumberOfferPrice(TypedDict):
    # As a decimal number
    amount: str
    # Currency code (ISO 4217)
    currency: str


class PhoneNumberOffer(TypedDict):
    # The number, in E.164
    value: str
    # The city or region of the number
    locality: str | None
    # The price per month; null if the provider does not state it
    price: PhoneNumberOfferPrice | None


DomainState = Literal["pending", "verified", "broken"]


class Domain(TypedDict):
    # Unique identifier
    id: str
    # The domain name, in lower case and ASCII
    name: str
    # Its state. `pending`: Not all of its DNS records have been found yet. `verified`: The workspace has proven that it owns the domain: agents can have addresses on it. `broken`: The domain was verified, but its DNS records are no longer correct
    state: DomainState
    # The agent that gets mail to addresses on the domain that no agent has; null: such mail is refused
    catchAllAgentId: str | None
    # When its DNS records were last checked
    checkedAt: str | None
    # When it was added
    createdAt: str


DomainRecordPurpose = Literal["ownership", "mx", "dkim", "spf", "dmarc"]


DomainRecordType = Literal["MX", "TXT"]


class DomainRecord(TypedDict):
    # The purpose of the record. `ownership`: Proves that the workspace owns the domain. Required. `mx`: Routes mail for the domain to this service. Required. `dkim`: Mail from the domain is signed with this key. One is required. `spf`: Which servers may send mail from the domain. Recommended. `dmarc`: What receivers should do with mail that passes neither DKIM nor SPF. Recommended
    purpose: DomainRecordPurpose
    # Its type. `MX`: A mail exchanger. `TXT`: A text record
    type: DomainRecordType
    # The name of the record
    name: str
    # The expected value. A zone file splits a TXT record of more than 255 characters into several strings
    value: str
    # The priority of an MX record
    priority: int | None
    # Whether the domain's state depends on this record; if there are several DKIM records, one is enough
    required: bool
    # What the last check found: at most 10 values of 500 characters
    found: list[str]
    # Whether the record is correct; false until the first check
    ok: bool
    # A description of the problem; null if there is none, or before the first check
    problem: str | None


AgentIcon = Literal["bot", "sparkles", "bug", "message-square", "headphones", "search", "file-text", "mail", "calendar", "chart-line", "code", "git-pull-request", "database", "shield", "megaphone", "rocket", "wrench", "zap"]


AgentApproval = Literal["none", "strangers", "all"]


AgentInstructors = Literal["none", "members", "listed"]


AgentManipulated = Literal["accept", "refuse"]


AgentSecretsInMessages = Literal["refuse", "hold", "allow"]


AgentEventType = Literal["message.received", "message.refused", "message.held", "message.sent", "message.failed", "message.reported", "question.answered"]


class Agent(TypedDict):
    # Unique identifier
    id: str
    # Its name
    name: str
    # Its icon
    icon: AgentIcon
    # When it was created
    createdAt: str
    # Which of its messages wait for the approval of a member. `none`: None. `strangers`: Those to a recipient who is not a member, an agent of the workspace or on the list of the channel, and from whom the agent has received no message. `all`: All
    approval: AgentApproval
    # Whose messages may instruct it, if their senders are proven. `none`: Nobody's. `members`: Those of the workspace's members. `listed`: Those of members and of the senders on the list of the channel
    instructors: AgentInstructors
    # What happens to received emails whose check `manipulation` found something. `accept`: They are received like all others. `refuse`: They are refused as `spam`, and can be released
    manipulated: AgentManipulated
    # What happens to its messages that contain values of its secrets of 8 characters or more, encoded or in two parts too. `refuse`: They are not sent: `forbidden`, naming the secrets. `hold`: They wait for the approval of a member. `allow`: They are sent. Messages are not compared with secrets
    secretsInMessages: AgentSecretsInMessages
    # How many messages may wake it in an hour; null means no limit
    wakesPerHour: int | None
    # How many messages of one thread may wake it in 24 hours; null means no limit
    wakesPerThreadDay: int | None
    # Time in seconds, at most 300, for which a new message waits for others of its thread before the agent hears of all of them together
    wakeAfterSeconds: int
    # Types of the events that its log contains, of: message.received, message.refused, message.held, message.sent, message.failed, message.reported, question.answered. The first one is always among them
    eventTypes: list[AgentEventType]
    # What programs keep with it: at most 16 values of up to 500 characters, by keys of up to 40. No mail contains it
    metadata: dict[str, str]


AddressChannel = Literal["email", "sms", "telegram"]


class Address(TypedDict):
    # Unique identifier
    id: str
    # Its channel. `email`: Email. `sms`: Text messages of a phone number. `telegram`: A Telegram bot
    channel: AddressChannel
    # The email address, phone number or the bot's @username
    value: str
    # The workspace's own domain that the address belongs to; null for the service's domain and for other channels
    domainId: str | None
    # Whether new messages on this channel are sent from it
    primary: bool
    # When it was assigned to the agent
    createdAt: str


class Setup(TypedDict):
    # The page on which a member sets up the address. It can be used once, within an hour
    url: str


class AccessByChannel(TypedDict):
    email: Access
    sms: Access
    telegram: Access
    url: Access


AccessAdmit = Literal["anyone", "team", "list"]


class Access(TypedDict):
    # Who may send. `list`: only the listed senders; `team`: also the members and agents of the workspace; `anyone`: all senders. `anyone`: Anyone. Not allowed for the Message URL. `team`: The workspace's members and agents, and the listed senders. `list`: Only the listed senders
    admit: AccessAdmit
    # The allowed senders: email addresses and *@domain, phone numbers, Telegram user ids and usernames; for the Message URL, ids of agents and members
    senders: list[str]
    # Senders that are refused even if they are listed or on the team
    blocked: list[str]


ViewerKind = Literal["member", "agent"]


ViewerRole = Literal["owner", "member"]


ViewerScope = Literal["messages:read", "messages:write", "events", "secrets:reveal", "settings", "tokens", "members", "billing", "audit"]


class ViewerWorkspace(TypedDict):
    # Unique identifier
    id: str
    # Its name
    name: str


class Viewer(TypedDict):
    # Whether the caller is a member or an agent. `member`: A person in the workspace. `agent`: An agent
    kind: ViewerKind
    # The member's or the agent's id
    id: str
    # The member's or the agent's name
    name: str | None
    # A member's email address; null for an agent
    email: str | None
    # A member's role; null for an agent. `owner`: Can also invite owners and remove members. `member`: Can work with the workspace's agents
    role: ViewerRole | None
    # The id of the token that was sent with the request
    tokenId: str
    # When that token expires; null if it never does
    expiresAt: str | None
    # What that token may be used for; null means everything that the caller may do
    scopes: list[ViewerScope] | None
    # The caller's workspace
    workspace: ViewerWorkspace


class ConnectedAppAgent(TypedDict):
    # The agent that the app acts as
    id: str
    # The name of the agent
    name: str


class ConnectedAppMember(TypedDict):
    # The member who connected it. It ends when they are removed
    id: str
    # The email address of the member
    email: str


ConnectedAppScope = Literal["messages:read", "messages:write", "events", "secrets:reveal", "settings", "tokens", "members", "billing", "audit"]


class ConnectedApp(TypedDict):
    # Unique identifier
    id: str
    # The name that the app gave itself
    name: str
    # The host that the app is reached at
    host: str
    # The OAuth client
    clientId: str
    # The agent that the app acts as
    agent: ConnectedAppAgent
    # The member who connected it. It ends when they are removed
    member: ConnectedAppMember
    # What the member lets it do; null means everything that apps may do
    scopes: list[ConnectedAppScope] | None
    # When it was connected
    createdAt: str
    # When it was last used, to the minute
    lastUsedAt: str | None
    # When a member must connect it again
    expiresAt: str


class Connection(TypedDict):
    # Unique identifier; used to open the agent's event stream
    id: str
    # The client's name
    client: str
    # The machine that it runs on
    machine: str
    # The agent's token that it connected with
    tokenId: str


ListenerKind = Literal["client", "webhook"]


class Listener(TypedDict):
    # Whether it is the connected client or a webhook. `client`: The connected client, using an event stream, a GraphQL subscription or an MCP subscription. `webhook`: A customer's server, which receives signed requests
    kind: ListenerKind
    # Of a client: its name
    client: NotRequired[str]
    # Of a client: the machine that it runs on. A call that waits has none
    machine: NotRequired[str]
    # Of a webhook: its id
    id: NotRequired[str]
    # Of a webhook: its URL
    url: NotRequired[str]


EventType = Literal["message.received", "message.refused", "message.held", "message.sent", "message.failed", "message.reported", "question.answered"]


EventChannel = Literal["email", "sms", "telegram", "url"]


EventSenderKind = Literal["member", "agent", "contact"]


class EventSender(TypedDict):
    # A member's or an agent's id, if verified; null for a contact
    id: str | None
    # The sender's relationship to the workspace. `member`: A member, verified. `agent`: Another agent of the workspace, verified. `contact`: Anyone else
    kind: EventSenderKind
    # The name, if one is known
    name: str | None
    # The email address, as given in the message
    email: str | None
    # The phone number
    phone: str | None


EventAddressed = Literal["to", "cc", "bcc"]


EventRefusal = Literal["self", "spam", "plan_limit", "rate_limit", "sender", "outsider", "unverified"]


EventHoldReason = Literal["approval", "schedule"]


class EventHold(TypedDict):
    # A member's approval, or its time
    reason: EventHoldReason
    # When it is sent (schedule), or rejected if nobody approved it (approval)
    until: str


class Event(TypedDict):
    # Its position in the agent's log, which increases by 1 with each event. Pass it as `after`
    id: int
    # What happened: message.received, message.refused, message.held, message.sent, message.failed, message.reported, question.answered
    type: EventType
    # The channel of the message; of an answer to a question, how it came, and `email` for ways that are no channel. `email`: Email. `sms`: Text messages of a phone number. `telegram`: A Telegram bot. `url`: The agent's Message URL: messages from the team, which the service does not store
    channel: EventChannel
    # The message's id; the question's for question.answered
    messageId: str
    # When it happened
    createdAt: str
    # The full text of a message that the service does not store
    text: NotRequired[str]
    # Who sent the message: the agent itself, if the event is about one of its own
    sender: EventSender
    # Whether its sender could instruct the agent when it happened
    mayInstruct: bool
    # The thread of its message, the same for all of a conversation; null for `url`
    threadId: str | None
    # The agent's own key of the thread, if it gave one (`sendMessage`)
    conversation: str | None
    # How a received message names the agent; null for the messages of the agent itself and for `url`. `to`: Among its To recipients; or the message is in a chat. `cc`: In copy. `bcc`: Not at all, as in a blind copy, or when it was forwarded
    addressed: EventAddressed | None
    # Why the message was refused. Only for message.refused. `self`: The agent's own message, or an automatic reply. `spam`: The message is spam. `plan_limit`: A limit of the workspace's plan was reached. `rate_limit`: The sender exceeded the rate limit. `sender`: The sender is not on the channel's list. `outsider`: The sender is neither in the team nor on the channel's list. `unverified`: The message claims to be from an allowed sender, but the sender could not be verified
    refusal: NotRequired[EventRefusal]
    # What the message waits for. Only for message.held
    hold: NotRequired[EventHold]
    # Why the message failed; it may quote a mail server. Only for message.failed
    error: NotRequired[str]
    question: NotRequired[EndedQuestion]


StreamedEventEvent = Literal["message.received", "message.refused", "message.held", "message.sent", "message.failed", "message.reported", "question.answered"]


class StreamedEvent(TypedDict):
    # The position to resume after (`Last-Event-ID`)
    id: int
    event: StreamedEventEvent
    data: Event


StreamTruncatedEvent = Literal["truncated"]


class StreamTruncatedData(TypedDict):
    # The id of the next event
    nextId: int


class StreamTruncated(TypedDict):
    # The position to resume after (`Last-Event-ID`)
    id: int
    event: StreamTruncatedEvent
    data: StreamTruncatedData


StreamReplacedEvent = Literal["replaced"]


class StreamReplacedData(TypedDict):
    pass


class StreamReplaced(TypedDict):
    event: StreamReplacedEvent
    data: StreamReplacedData


MessageChannel = Literal["email", "sms", "telegram"]


MessageDirection = Literal["inbound", "outbound"]


class MessageAttachment(TypedDict):
    # Its name
    name: str
    # Its media type
    type: str
    # Its size in bytes
    size: int


class MessageThread(TypedDict):
    # For a received email, its Message-ID, empty if it has none; for a sent email, that of the email it replied to
    messageId: str
    # The References header of the same email, oldest first
    references: list[str]


MessageAddressed = Literal["to", "cc", "bcc"]


MessageStatus = Literal["received", "refused", "sending", "sent", "failed", "imported", "reported"]


MessageRefusal = Literal["self", "spam", "plan_limit", "rate_limit", "sender", "outsider", "unverified"]


MessageAdmission = Literal["team", "listed", "anyone"]


MessageSentByKind = Literal["agent", "member"]


class MessageSentBy(TypedDict):
    # Whether it was the agent or a member. `agent`: The agent itself. `member`: A member
    kind: MessageSentByKind
    # The agent's or the member's id
    id: str
    # The name that it had then, or else the email address
    name: str


MessageHighlightField = Literal["subject", "counterpart", "counterpartName", "text", "attachments"]


class MessageHighlightPart(TypedDict):
    # Its text, which may come from outside: it is data, and never markup
    text: str
    # Whether it is among what was searched for
    matched: bool


class MessageHighlight(TypedDict):
    # Where. `subject`: In the subject. `counterpart`: In the address of the counterpart. `counterpartName`: In the counterpart's name. `text`: In the text. `attachments`: In an attachment
    field: MessageHighlightField
    # A short fragment around the words, in parts, in one line; of an attachment, there is none
    parts: list[MessageHighlightPart]


class Message(TypedDict):
    # Unique identifier
    id: str
    # The agent's address that received or sends the message
    addressId: str
    # Its channel. `email`: Email. `sms`: Text messages of a phone number. `telegram`: A Telegram bot
    channel: MessageChannel
    # The direction of the message. `inbound`: Received by the agent. `outbound`: Sent by the agent
    direction: MessageDirection
    # The sender of an inbound message, or the recipients of an outbound one
    counterpart: str
    # The counterpart's name, if one is known
    counterpartName: str | None
    # The To recipients, including the agent unless it received a blind copy
    to: list[str]
    # The Cc recipients
    cc: list[str]
    # The Bcc recipients of a sent email, whom none of its copies names; empty for received messages
    bcc: list[str]
    # The subject, if the channel has subjects
    subject: str | None
    # The full text
    text: str
    # The text without quoted history
    replyText: str
    # Number of SMS segments; null on other channels
    segments: int | None
    # Its files
    attachments: list[MessageAttachment]
    # The threading headers; null if the message has none
    thread: MessageThread | None
    # The id of its thread, the same for all messages of a conversation
    threadId: str
    # The agent's own key of the thread, as of when the message was stored; see `sendMessage`
    conversation: str | None
    # How a received message names the agent. Null for sent and imported messages, and for those received before this was recorded. `to`: Among its To recipients; or the message is in a chat. `cc`: In copy. `bcc`: Not at all, as in a blind copy, or when it was forwarded
    addressed: MessageAddressed | None
    # The current status. `received`: Received, and the agent was notified. `refused`: Received but withheld from the agent; `refusal` says why. `sending`: Queued, or waiting for a retry. `sent`: Accepted by the receiving server or provider. `failed`: The message could not be sent or delivered; `error` says why. `imported`: It was imported from another mailbox. `reported`: The recipient marked an email that the agent sent as spam
    status: MessageStatus
    # Why an inbound message was refused. `self`: The agent's own message, or an automatic reply. `spam`: The message is spam. `plan_limit`: A limit of the workspace's plan was reached. `rate_limit`: The sender exceeded the rate limit. `sender`: The sender is not on the channel's list. `outsider`: The sender is neither in the team nor on the channel's list. `unverified`: The message claims to be from an allowed sender, but the sender could not be verified
    refusal: MessageRefusal | None
    # Whether its sender may instruct the agent: proven, and among those whom the agent's setting `instructors` names now
    mayInstruct: bool
    # For a received message, how its sender was admitted. `team`: A member or an agent of the workspace. `listed`: A sender on the channel's list. `anyone`: Anyone else, including senders who could not be verified
    admission: MessageAdmission | None
    # Why the message could not be sent or delivered
    error: str | None
    # The checks by which the message was received or refused. The last one decided
    checks: list[Check]
    # The codes and links in a received or refused email or SMS with which somebody signs in, verifies an address or resets a password: found by rules in what the sender wrote
    codes: list[Code]
    # Its labels, at most 20, shared by members and the agent
    labels: list[str]
    # When it was marked as read. A received message without it is unread
    readAt: str | None
    # What programs keep with it: at most 16 values of up to 500 characters, by keys of up to 40. No mail contains it
    metadata: dict[str, str]
    hold: Hold | None
    # Who sent it: the agent or a member. Null for received and imported messages, and for those sent before this was recorded
    sentBy: MessageSentBy | None
    # When it was received, or accepted for sending
    createdAt: str
    # Where it has the words of `q`: only in lists with `q`, at most three for each field
    highlights: NotRequired[list[MessageHighlight]]


class Check(TypedDict):
    # The name of the check
    name: str
    # The result of the check
    verdict: str
    # The reason
    detail: str


CodeKind = Literal["code", "link"]


CodePurpose = Literal["sign_in", "verify", "reset", "other"]


class Code(TypedDict):
    # The code, without spaces, and digits without hyphens; or the URL of the link
    value: str
    # Whether it is a code or a link. `code`: A code to enter. `link`: A link to open
    kind: CodeKind
    # What it is for. `sign_in`: To sign in. `verify`: To verify an address or an account. `reset`: To set a new password. `other`: Something else, such as to accept an invitation
    purpose: CodePurpose
    # The domain that is proven to have sent a code by email, or the host that a link leads to; null for a code whose sender has no proven domain
    domain: str | None
    # The service that counts the clicks on a link or checks it, such as SendGrid: the link leads to its host, and from there on. Left out if there is none
    tracker: NotRequired[str]


HoldReason = Literal["approval", "schedule"]


class Hold(TypedDict):
    # What it waits for. While it waits, the status of the message is `sending`. `approval`: The approval of a member. `schedule`: The time at which it is sent
    reason: HoldReason
    # When it is sent (schedule) or rejected (approval); null once that was decided
    until: str | None
    # Who approved, rejected or cancelled it; null if nobody did
    by: str | None


class MessageMarks(TypedDict):
    # The message's id
    id: str
    # Its labels, at most 20, shared by members and the agent
    labels: list[str]
    # When it was marked as read. A received message without it is unread
    readAt: str | None
    # What programs keep with it: at most 16 values of up to 500 characters, by keys of up to 40. No mail contains it
    metadata: dict[str, str]


ReleasedMessageStatus = Literal["received", "refused", "sending", "sent", "failed", "imported", "reported"]


ReleasedMessageAdmission = Literal["team", "listed", "anyone"]


class ReleasedMessage(TypedDict):
    # The message's id
    id: str
    # Its status now. `received`: Received, and the agent was notified. `refused`: Received but withheld from the agent; `refusal` says why. `sending`: Queued, or waiting for a retry. `sent`: Accepted by the receiving server or provider. `failed`: The message could not be sent or delivered; `error` says why. `imported`: It was imported from another mailbox. `reported`: The recipient marked an email that the agent sent as spam
    status: ReleasedMessageStatus
    # How its sender was admitted. `team`: A member or an agent of the workspace. `listed`: A sender on the channel's list. `anyone`: Anyone else, including senders who could not be verified
    admission: ReleasedMessageAdmission | None


TakenCodeKind = Literal["code", "link"]


TakenCodePurpose = Literal["sign_in", "verify", "reset", "other"]


TakenCode = TypedDict("TakenCode", {"value": "NotRequired[str]", "kind": "TakenCodeKind", "purpose": "TakenCodePurpose", "domain": "str | None", "tracker": "NotRequired[str]", "messageId": "str", "from": "str", "at": "str"})


RecipientStatus = Literal["sending", "sent", "failed"]


class Recipient(TypedDict):
    # The recipient
    address: str
    # The current status. `sending`: Queued, or waiting for a retry. `sent`: Accepted by the receiving server or provider. `failed`: The message could not be sent or delivered
    status: RecipientStatus
    # The last error reply of the receiving side, if any
    detail: str | None
    # When its delivery was reported, which SMS providers do; null if it was not
    deliveredAt: str | None
    # When the status last changed
    updatedAt: str


class AttachmentLink(TypedDict):
    # The URL. No token is required
    url: str
    # When it stops working
    expiresAt: str


AttachmentTextFormat = Literal["pdf", "docx", "xlsx", "pptx", "odt", "ods", "odp", "rtf", "html", "csv", "eml", "ics", "vcf", "text", "zip"]


class AttachmentText(TypedDict):
    # At most 50,000 characters; empty for a scan. Tables have a line for each row, with tabs between cells
    text: str
    # `offset` of the next page; null on the last one
    nextOffset: int | None
    # Pages of a PDF, or slides of a presentation; null for others
    pages: int | None
    # What it was read from
    format: AttachmentTextFormat


class HeaderField(TypedDict):
    # Its name, as written by the sender
    name: str
    # Its value, decoded, on one line
    value: str


class HiddenText(TypedDict):
    # Text that the HTML hides, that invisible characters spell, and that is encoded, each by itself; empty if there is none
    texts: list[str]


ThreadChannel = Literal["email", "sms", "telegram"]


class ThreadParticipant(TypedDict):
    # The email address, phone number or Telegram user
    address: str
    # The name, if one is known
    name: str | None


class ThreadAssignedTo(TypedDict):
    # The member's id
    id: str
    # The member's name, or else the email address
    name: str


class Thread(TypedDict):
    # The id of the thread, which is the id of the first message in it that the service saw, and `threadId` of all its messages
    id: str
    # The agent that it belongs to
    agentId: str
    # Its channel. `email`: Email. `sms`: Text messages of a phone number. `telegram`: A Telegram bot
    channel: ThreadChannel
    # The subject of its first message, if the channel has subjects
    subject: str | None
    # The participants other than the agent, in order of appearance; at most 100
    participants: list[ThreadParticipant]
    # Number of messages
    messageCount: int
    # Number of received messages that are not marked as read
    unreadCount: int
    # When its newest message was received or accepted for sending
    lastActivityAt: str
    # Its newest message
    lastMessageId: str
    # The labels of its messages, in alphabetical order; at most 100
    labels: list[str]
    # The agent's own key of it, if it gave one (`sendMessage`)
    conversation: str | None
    # When it was done; null while it is not. A new message opens it again
    doneAt: str | None
    # Until when it is postponed; null while it is not. A new message opens it again
    snoozedUntil: str | None
    # The member that it is assigned to
    assignedTo: ThreadAssignedTo | None


TranscriptEntrieDirection = Literal["inbound", "outbound"]


TranscriptEntrieStatus = Literal["received", "refused", "sending", "sent", "failed", "imported", "reported"]


TranscriptEntrie = TypedDict("TranscriptEntrie", {"messageId": "str", "at": "str", "direction": "TranscriptEntrieDirection", "status": "TranscriptEntrieStatus", "from": "str", "text": "str", "isCut": "bool"})


class Transcript(TypedDict):
    # Its messages, newest first, without refused ones
    entries: list[TranscriptEntrie]
    # Whether there are older messages than these
    more: bool


class ThreadNoteAuthor(TypedDict):
    # The member's id
    id: str
    # The member's name, or else the email address
    name: str


class ThreadNote(TypedDict):
    # Unique identifier
    id: str
    # The text
    text: str
    # When it was added
    createdAt: str
    # Who added it, with their name then
    author: ThreadNoteAuthor


DraftChannel = Literal["email", "sms", "telegram"]


class DraftAttachment(TypedDict):
    # Its name
    name: str
    # Its media type
    type: str
    # Its size in bytes
    size: int


DraftSavedByKind = Literal["agent", "member"]


class DraftSavedBy(TypedDict):
    # Whether it was the agent or a member. `agent`: The agent itself. `member`: A member
    kind: DraftSavedByKind
    # The agent's or the member's id
    id: str
    # The name that it had then, or else the email address
    name: str


class Draft(TypedDict):
    # Unique identifier
    id: str
    # Its text so far
    text: str | None
    # Its HTML, which is sanitized when it is sent
    html: str | None
    # The message that it replies to
    replyTo: str | None
    # Whether it replies to all
    replyAll: bool
    # The message that it forwards
    forward: str | None
    # The channel of a new message. `email`: Email. `sms`: Text messages of a phone number. `telegram`: A Telegram bot
    channel: DraftChannel | None
    # Its recipients
    to: list[str]
    # Its Cc recipients
    cc: list[str]
    # Its Bcc recipients
    bcc: list[str]
    # Its subject
    subject: str | None
    # The metadata of the message
    metadata: dict[str, str]
    # The agent's own key of its conversation
    conversation: str | None
    # When it is to be sent
    sendAt: str | None
    # Its files
    attachments: list[DraftAttachment]
    # Who saved it last; null if that was not recorded
    savedBy: DraftSavedBy | None
    # When it was created
    createdAt: str
    # When it was last changed
    updatedAt: str


class ImportSkipped(TypedDict):
    name: str
    reason: str


class Import(TypedDict):
    imported: int
    # Mails that the agent already had
    duplicates: int
    skippedCount: int
    # The first 1,000 mails that were skipped: too large, or not a mail
    skipped: list[ImportSkipped]


QuestionStatus = Literal["open", "answered", "expired", "withdrawn"]


class Question(TypedDict):
    # Unique identifier
    id: str
    # The agent that asks
    agentId: str
    # What it asks, in its own words
    text: str
    # The answers to choose from; empty for an answer in words
    options: list[str]
    # The ids of the members who may answer; empty for all
    to: list[str]
    # Whether it waits for an answer, or what became of it. `open`: It waits for an answer. `answered`: A member answered it. `expired`: Nobody answered it in time. `withdrawn`: It was withdrawn
    status: QuestionStatus
    answer: Answer | None
    # When it was asked
    createdAt: str
    # Until when it can be answered
    expiresAt: str


SuppressionChannel = Literal["email", "sms", "telegram"]


SuppressionReason = Literal["bounce", "complaint"]


class Suppression(TypedDict):
    # The channel of the recipient's address. `email`: Email. `sms`: Text messages of a phone number. `telegram`: A Telegram bot
    channel: SuppressionChannel
    # Its address
    recipient: str
    # The reason. `bounce`: A message bounced with a permanent failure. `complaint`: The recipient marked a message as spam
    reason: SuppressionReason
    # The reply of the receiving side
    detail: str
    # When the recipient was added
    createdAt: str


SecretKind = Literal["secret"]


SecretSetBy = Literal["operator", "member", "agent"]


class Secret(TypedDict):
    # Its name
    name: str
    # The kind of value. `secret`: A secret
    kind: SecretKind
    # Who last set it. `operator`: The operator of the service. `member`: A member of the workspace. `agent`: An agent: this one or another
    setBy: SecretSetBy
    # When it was last set
    updatedAt: str
    # When it is deleted, if it is not kept: a code that was taken as a secret
    expiresAt: NotRequired[str]


WebhookEvent = Literal["message.received", "message.refused", "message.held", "message.sent", "message.failed", "message.reported", "question.answered"]


class Webhook(TypedDict):
    # Unique identifier
    id: str
    # The URL to which events are sent
    url: str
    # Its name; null if it has none
    name: str | None
    # Types of the events that it receives
    events: list[WebhookEvent]
    # Additional headers of its requests. Their values are shown as `…` and the last 4 characters
    headers: dict[str, str]
    # The template of the body of its requests; null if the body is the event
    body: dict[str, Any] | None
    # When it was added. It receives the events after that
    createdAt: str
    # Since when it is paused; null while it is not
    pausedAt: str | None
    # The error of the last attempt to deliver the pending event
    error: str | None
    # Number of failed attempts to deliver the pending event
    attempts: int
    # When delivery of the pending event is retried
    retryAt: str | None
    # When it last accepted an event
    lastDeliveredAt: str | None


DeliveryStatus = Literal["pending", "delivered", "skipped", "expired"]


class DeliveryAttempt(TypedDict):
    # When it began
    at: str
    # The HTTP status of the response, if there was one
    status: NotRequired[int]
    # Why there was no response, or why the response was not accepted
    error: NotRequired[str]
    # How long it took, in milliseconds
    ms: int


class Delivery(TypedDict):
    # Unique identifier
    id: str
    # The event's identifier, as sent in `webhook-id` and `eventId`
    eventId: str
    # The current status. `pending`: Waiting, or being retried. `delivered`: The webhook accepted it. `skipped`: Skipped: the webhook answered that it is too large (413). `expired`: Given up, 3 days after the event happened
    status: DeliveryStatus
    # When the event happened, or when a manual delivery was requested
    createdAt: str
    # The requests made, oldest first
    attempts: list[DeliveryAttempt]


DeliveryDetailsStatus = Literal["pending", "delivered", "skipped", "expired"]


class DeliveryDetailsRequestHeader(TypedDict):
    # Its name, in lower case
    name: str
    # Its value
    value: str


class DeliveryDetailsRequest(TypedDict):
    # The URL
    url: str
    # The headers that are the same in every attempt: without `webhook-timestamp` and `webhook-signature`, and with masked values of those that the webhook adds
    headers: list[DeliveryDetailsRequestHeader]
    # The body, made by the template if the webhook has one; null for messages to the Message URL, which are not stored
    body: str | None


class DeliveryDetailsAttemptAnswerHeader(TypedDict):
    # Its name, in lower case
    name: str
    # Its value
    value: str


class DeliveryDetailsAttemptAnswer(TypedDict):
    # At most 20 headers, without cookies and credentials
    headers: list[DeliveryDetailsAttemptAnswerHeader]
    # The first KiB as text; null if it is empty or compressed
    body: str | None


class DeliveryDetailsAttempt(TypedDict):
    # When it began
    at: str
    # The HTTP status of the response, if there was one
    status: NotRequired[int]
    # Why there was no response, or why the response was not accepted
    error: NotRequired[str]
    # How long it took, in milliseconds
    ms: int
    # The webhook's response, which is not to be trusted: show it as text only. Not for messages to the Message URL
    answer: NotRequired[DeliveryDetailsAttemptAnswer]


class DeliveryDetails(TypedDict):
    # Unique identifier
    id: str
    # The event's identifier, as sent in `webhook-id` and `eventId`
    eventId: str
    # The current status. `pending`: Waiting, or being retried. `delivered`: The webhook accepted it. `skipped`: Skipped: the webhook answered that it is too large (413). `expired`: Given up, 3 days after the event happened
    status: DeliveryDetailsStatus
    # When the event happened, or when a manual delivery was requested
    createdAt: str
    # The request, made again from the event, with the webhook's present headers and body
    request: DeliveryDetailsRequest
    # The requests made, oldest first
    attempts: list[DeliveryDetailsAttempt]


class Replay(TypedDict):
    # Number of events that are resent
    events: int


class NewInvitation(Invitation):
    # The invitation link, which is also sent by email. Shown only once; it can be used once, within 7 days
    url: str


class NewToken(Token):
    # The token. Shown only once; the service stores only its hash
    token: str


class DomainWithRecords(Domain):
    # The DNS records that it needs
    records: list[DomainRecord]


class AgentWithTextsTemplate(TypedDict):
    # Its name
    name: str
    # What it says
    text: str


class AgentWithTexts(Agent):
    # What the web application puts below what people write for it; null if it has none
    signature: str | None
    # Texts to answer with
    templates: list[AgentWithTextsTemplate]


StreamEvent = Union[StreamedEvent, StreamTruncated, StreamReplaced]


class WorkspaceMessage(Message):
    # The agent whose message it is
    agentId: str


class StoredSecret(Secret):
    # Whether messages of the agent are compared with its value. They are not with values of fewer than 8 characters, and not with common ones such as `password` or `12345678`
    guarded: bool


class NewWebhook(Webhook):
    # The signing secret (Standard Webhooks), with which receivers verify deliveries: whsec_ followed by base64
    secret: str


class MessageFields(Fields):
    # Unique identifier
    id: str
    # The agent's address that received or sends the message
    address_id: str | None = None
    # Its channel. `email`: Email. `sms`: Text messages of a phone number. `telegram`: A Telegram bot
    channel: MessageChannel | Literal["url"]
    # The direction of the message. `inbound`: Received by the agent. `outbound`: Sent by the agent
    direction: MessageDirection
    # The sender of an inbound message, or the recipients of an outbound one
    counterpart: str
    # The counterpart's name, if one is known
    counterpart_name: str | None = None
    # The To recipients, including the agent unless it received a blind copy
    to: list[str]
    # The Cc recipients
    cc: list[str]
    # The Bcc recipients of a sent email, whom none of its copies names; empty for received messages
    bcc: list[str]
    # The subject, if the channel has subjects
    subject: str | None = None
    # The full text
    text: str
    # The text without quoted history
    reply_text: str
    # Number of SMS segments; null on other channels
    segments: int | None = None
    # The threading headers; null if the message has none
    thread: MessageThread | None = None
    # The id of its thread, the same for all messages of a conversation
    thread_id: str | None = None
    # How a received message names the agent. Null for sent and imported messages, and for those received before this was recorded. `to`: Among its To recipients; or the message is in a chat. `cc`: In copy. `bcc`: Not at all, as in a blind copy, or when it was forwarded
    addressed: MessageAddressed | None = None
    # The current status. `received`: Received, and the agent was notified. `refused`: Received but withheld from the agent; `refusal` says why. `sending`: Queued, or waiting for a retry. `sent`: Accepted by the receiving server or provider. `failed`: The message could not be sent or delivered; `error` says why. `imported`: It was imported from another mailbox. `reported`: The recipient marked an email that the agent sent as spam
    status: MessageStatus
    # Why an inbound message was refused. `self`: The agent's own message, or an automatic reply. `spam`: The message is spam. `plan_limit`: A limit of the workspace's plan was reached. `rate_limit`: The sender exceeded the rate limit. `sender`: The sender is not on the channel's list. `outsider`: The sender is neither in the team nor on the channel's list. `unverified`: The message claims to be from an allowed sender, but the sender could not be verified
    refusal: MessageRefusal | None = None
    # Whether its sender may instruct the agent: proven, and among those whom the agent's setting `instructors` names now
    may_instruct: bool
    # For a received message, how its sender was admitted. `team`: A member or an agent of the workspace. `listed`: A sender on the channel's list. `anyone`: Anyone else, including senders who could not be verified
    admission: MessageAdmission | None = None
    # Why the message could not be sent or delivered
    error: str | None = None
    # The checks by which the message was received or refused. The last one decided
    checks: list[Check]
    # The codes and links in a received or refused email or SMS with which somebody signs in, verifies an address or resets a password: found by rules in what the sender wrote
    codes: list[Code]
    # Its labels, at most 20, shared by members and the agent
    labels: list[str]
    # When it was marked as read. A received message without it is unread
    read_at: str | None = None
    # What programs keep with it: at most 16 values of up to 500 characters, by keys of up to 40. No mail contains it
    metadata: dict[str, str]
    hold: Hold | None = None
    # Who sent it: the agent or a member. Null for received and imported messages, and for those sent before this was recorded
    sent_by: MessageSentBy | None = None
    # When it was received, or accepted for sending
    created_at: str
    # Where it has the words of `q`: only in lists with `q`, at most three for each field
    highlights: list[MessageHighlight] | None = None


class EventFields(Fields):
    # Its position in the agent's log, which increases by 1 with each event. Pass it as `after`
    id: int
    # What happened: message.received, message.refused, message.held, message.sent, message.failed, message.reported, question.answered
    type: EventType
    # The channel of the message; of an answer to a question, how it came, and `email` for ways that are no channel. `email`: Email. `sms`: Text messages of a phone number. `telegram`: A Telegram bot. `url`: The agent's Message URL: messages from the team, which the service does not store
    channel: EventChannel
    # The message's id; the question's for question.answered
    message_id: str
    # When it happened
    created_at: str
    # The full text of a message that the service does not store
    text: str | None = None
    # Who sent the message: the agent itself, if the event is about one of its own
    sender: EventSender
    # Whether its sender could instruct the agent when it happened
    may_instruct: bool
    # The thread of its message, the same for all of a conversation; null for `url`
    thread_id: str | None = None
    # How a received message names the agent; null for the messages of the agent itself and for `url`. `to`: Among its To recipients; or the message is in a chat. `cc`: In copy. `bcc`: Not at all, as in a blind copy, or when it was forwarded
    addressed: EventAddressed | None = None
    # Why the message was refused. Only for message.refused. `self`: The agent's own message, or an automatic reply. `spam`: The message is spam. `plan_limit`: A limit of the workspace's plan was reached. `rate_limit`: The sender exceeded the rate limit. `sender`: The sender is not on the channel's list. `outsider`: The sender is neither in the team nor on the channel's list. `unverified`: The message claims to be from an allowed sender, but the sender could not be verified
    refusal: EventRefusal | None = None
    # What the message waits for. Only for message.held
    hold: EventHold | None = None
    # Why the message failed; it may quote a mail server. Only for message.failed
    error: str | None = None
    question: EndedQuestion | None = None


UpdateWorkspaceSignInRole = Literal["owner", "member"]


class UpdateWorkspaceSignIn(TypedDict):
    # The provider's issuer: an https URL on the public internet.
    issuer: str
    # Id of this service at the provider.
    clientId: str
    # The client's secret. Left out, the one that is set is kept, if the issuer and the client are the same.
    clientSecret: NotRequired[str]
    # Domains of the email addresses that it may sign in. They must be verified domains of the workspace.
    domains: list[str]
    # Role of those who become members by signing in: never `owner`. Left out, it stays as it is, at first `member`.
    role: NotRequired[UpdateWorkspaceSignInRole]
    # Whether members with such addresses have no other way to sign in. Owners keep the link of the operator. Left out, it stays as it is, at first false.
    required: NotRequired[bool]


ListAuditAction = Literal["secret.reveal", "secret.set", "secret.delete", "agent.create", "agent.delete", "address.add", "address.update", "address.remove", "webhook.add", "webhook.update", "webhook.rotate", "webhook.remove", "suppression.remove", "agent.approval", "message.send", "message.refuse", "message.hold", "message.approve", "message.reject", "message.cancel", "message.unsubscribe", "message.reschedule", "token.create", "token.revoke", "session.link", "session.create", "session.refuse", "session.revoke", "app.connect", "app.disconnect", "passkey.add", "passkey.remove", "workspace.update", "workspace.delete", "workspace.restore", "workspace.export", "agent.export", "agent.update", "access.set", "message.release", "message.import", "message.delete", "code.take", "question.answer", "question.withdraw", "member.invite", "member.join", "member.remove", "member.role", "member.update", "invitation.revoke", "number.buy", "identity.claim", "identity.verify", "identity.remove", "number.release", "domain.add", "domain.verify", "domain.update", "domain.remove"]


InviteMemberRole = Literal["owner", "member"]


ChangeRoleRole = Literal["owner", "member"]


CreateOwnTokenScope = Literal["messages:read", "messages:write", "events", "secrets:reveal", "settings", "tokens", "members", "billing", "audit"]


ClaimIdentityChannel = Literal["sms"]


VerifyIdentityChannel = Literal["sms"]


RemoveIdentityChannel = Literal["sms", "telegram"]


CreateAgentIcon = Literal["bot", "sparkles", "bug", "message-square", "headphones", "search", "file-text", "mail", "calendar", "chart-line", "code", "git-pull-request", "database", "shield", "megaphone", "rocket", "wrench", "zap"]


UpdateAgentIcon = Literal["bot", "sparkles", "bug", "message-square", "headphones", "search", "file-text", "mail", "calendar", "chart-line", "code", "git-pull-request", "database", "shield", "megaphone", "rocket", "wrench", "zap"]


UpdateAgentApproval = Literal["none", "strangers", "all"]


UpdateAgentInstructors = Literal["none", "members", "listed"]


UpdateAgentManipulated = Literal["accept", "refuse"]


UpdateAgentSecretsInMessages = Literal["refuse", "hold", "allow"]


UpdateAgentEventType = Literal["message.received", "message.refused", "message.held", "message.sent", "message.failed", "message.reported", "question.answered"]


class UpdateAgentTemplate(TypedDict):
    name: str
    text: str


ChangeAddressPrimary = Literal[True]


SetUpAddressChannel = Literal["email", "sms", "telegram"]


SetAccessAdmit = Literal["anyone", "team", "list"]


SetAccessChannel = Literal["email", "sms", "telegram", "url"]


AllowSenderChannel = Literal["email", "sms", "telegram", "url"]


DisallowSenderChannel = Literal["email", "sms", "telegram", "url"]


BlockSenderChannel = Literal["email", "sms", "telegram", "url"]


UnblockSenderChannel = Literal["email", "sms", "telegram", "url"]


CreateTokenScope = Literal["messages:read", "messages:write", "events", "secrets:reveal", "settings", "tokens", "members", "billing", "audit"]


SendMessageChannel = Literal["email", "sms", "telegram"]


class SendMessageAttachment(TypedDict):
    # Its name, on one line.
    name: str
    # Its media type, without parameters: application/pdf.
    type: str
    # The content in base64, padded and without line breaks. In GraphQL, pass it in a variable: a document is limited to 100,000 characters.
    content: str


ListMessagesChannel = Literal["email", "sms", "telegram"]


ListMessagesDirection = Literal["inbound", "outbound"]


ListMessagesStatus = Literal["received", "refused", "sending", "sent", "failed", "imported", "reported"]


ListMessagesRefusal = Literal["self", "spam", "plan_limit", "rate_limit", "sender", "outsider", "unverified"]


ListMessagesHold = Literal["approval", "schedule"]


ListWorkspaceMessagesChannel = Literal["email", "sms", "telegram"]


ListWorkspaceMessagesDirection = Literal["inbound", "outbound"]


ListWorkspaceMessagesStatus = Literal["received", "refused", "sending", "sent", "failed", "imported", "reported"]


ListWorkspaceMessagesRefusal = Literal["self", "spam", "plan_limit", "rate_limit", "sender", "outsider", "unverified"]


ListWorkspaceMessagesHold = Literal["approval", "schedule"]


TakeCodeKind = Literal["code", "link"]


TakeCodePurpose = Literal["sign_in", "verify", "reset", "other"]


ListThreadsState = Literal["open", "done", "snoozed"]


ListThreadsChannel = Literal["email", "sms", "telegram"]


CreateDraftChannel = Literal["email", "sms", "telegram"]


class CreateDraftAttachment(TypedDict):
    # Its name, on one line.
    name: str
    # Its media type, without parameters: application/pdf.
    type: str
    # The content in base64, padded and without line breaks. In GraphQL, pass it in a variable: a document is limited to 100,000 characters.
    content: str


UpdateDraftChannel = Literal["email", "sms", "telegram"]


class UpdateDraftAttachment(TypedDict):
    # Its name, on one line.
    name: str
    # Its media type, without parameters: application/pdf.
    type: str
    # The content in base64, padded and without line breaks. In GraphQL, pass it in a variable: a document is limited to 100,000 characters.
    content: str


ListQuestionsStatus = Literal["open", "answered", "expired", "withdrawn"]


AddWebhookEvent = Literal["message.received", "message.refused", "message.held", "message.sent", "message.failed", "message.reported", "question.answered"]


UpdateWebhookEvent = Literal["message.received", "message.refused", "message.held", "message.sent", "message.failed", "message.reported", "question.answered"]


ListDeliveriesStatus = Literal["pending", "delivered", "skipped", "expired"]


def read_workspace() -> Call[Workspace]:
    """Returns the workspace with its plan and current usage."""
    return Call("GET", "/workspace", {})


def update_workspace(*, name: str | NotGiven = NOT_GIVEN, agents_may_set_access: bool | NotGiven = NOT_GIVEN, agents_may_create_agents: bool | NotGiven = NOT_GIVEN, require_passkeys: bool | NotGiven = NOT_GIVEN, sign_in: UpdateWorkspaceSignIn | None | NotGiven = NOT_GIVEN, keep_refused_days: int | NotGiven = NOT_GIVEN, keep_messages_days: int | None | NotGiven = NOT_GIVEN, keep_raw_days: int | None | NotGiven = NOT_GIVEN) -> Call[Workspace]:
    """Changes the workspace's name, what agents may do on their own, how members sign in, or how long messages are kept."""
    return Call("PATCH", "/workspace", {}, body={"name": name, "agentsMaySetAccess": agents_may_set_access, "agentsMayCreateAgents": agents_may_create_agents, "requirePasskeys": require_passkeys, "signIn": sign_in, "keepRefusedDays": keep_refused_days, "keepMessagesDays": keep_messages_days, "keepRawDays": keep_raw_days})


def delete_workspace() -> Call[Workspace]:
    """Deletes the workspace in 24 hours."""
    return Call("DELETE", "/workspace", {})


def restore_workspace(*, key: str | None = None) -> Call[Workspace]:
    """Cancels the deletion of the workspace."""
    return Call("POST", "/workspace/restore", {}, key=key)


def list_audit(*, agent_id: str | NotGiven = NOT_GIVEN, action: ListAuditAction | NotGiven = NOT_GIVEN, actor_id: str | NotGiven = NOT_GIVEN, since: datetime | str | NotGiven = NOT_GIVEN, until: datetime | str | NotGiven = NOT_GIVEN, limit: int | NotGiven = NOT_GIVEN) -> Call[Page[AuditEntry]]:
    """Lists the audit log: who changed what in the workspace, and who revealed secrets."""
    return Call("GET", "/audit", {}, query={"agentId": agent_id, "action": action, "actorId": actor_id, "since": since, "until": until, "limit": limit})


def count_per_day(*, from_: str | NotGiven = NOT_GIVEN, to: str | NotGiven = NOT_GIVEN) -> Call[list[DayCounts]]:
    """Counts what happened each day in the workspace."""
    return Call("GET", "/counts", {}, query={"from": from_, "to": to})


def count_agent_per_day(*, from_: str | NotGiven = NOT_GIVEN, to: str | NotGiven = NOT_GIVEN) -> Call[list[DayCounts]]:
    """Counts what happened each day to an agent."""
    return Call("GET", "/agents/{id}/counts", {}, query={"from": from_, "to": to})


def list_members() -> Call[list[Member]]:
    """Lists the members of the workspace."""
    return Call("GET", "/members", {})


def invite_member(email: str, *, role: InviteMemberRole | NotGiven = NOT_GIVEN, key: str | None = None) -> Call[NewInvitation]:
    """Invites a person by email."""
    return Call("POST", "/members/invitations", {}, body={"email": email, "role": role}, key=key)


def list_invitations() -> Call[list[Invitation]]:
    """Lists open invitations."""
    return Call("GET", "/members/invitations", {})


def revoke_invitation(invitation_id: str) -> Call[None]:
    """Revokes an invitation: its link stops working."""
    return Call("DELETE", "/members/invitations/{invitationId}", {"invitationId": invitation_id})


def update_own_member(*, name: str | NotGiven = NOT_GIVEN, approval_mails: bool | NotGiven = NOT_GIVEN, question_mails: bool | NotGiven = NOT_GIVEN) -> Call[Member]:
    """Changes the name or the settings of the calling member."""
    return Call("PATCH", "/members/me", {}, body={"name": name, "approvalMails": approval_mails, "questionMails": question_mails})


def change_role(member_id: str, role: ChangeRoleRole) -> Call[Member]:
    """Changes a member's role."""
    return Call("PATCH", "/members/{memberId}", {"memberId": member_id}, body={"role": role})


def remove_member(member_id: str) -> Call[None]:
    """Removes a member from the workspace."""
    return Call("DELETE", "/members/{memberId}", {"memberId": member_id})


def create_own_token(*, name: str | None | NotGiven = NOT_GIVEN, expires_at: datetime | str | None | NotGiven = NOT_GIVEN, scopes: Sequence[CreateOwnTokenScope] | None | NotGiven = NOT_GIVEN, key: str | None = None) -> Call[NewToken]:
    """Creates another token for the calling member."""
    return Call("POST", "/tokens", {}, body={"name": name, "expiresAt": expires_at, "scopes": scopes}, key=key)


def list_own_tokens() -> Call[list[Token]]:
    """Lists the tokens of the calling member."""
    return Call("GET", "/tokens", {})


def revoke_own_token(token_id: str) -> Call[None]:
    """Revokes a token of the calling member and closes the connections open with it."""
    return Call("DELETE", "/tokens/{tokenId}", {"tokenId": token_id})


def list_identities() -> Call[list[Identity]]:
    """Lists the verified phone numbers and Telegram ids of the calling member."""
    return Call("GET", "/members/me/identities", {})


def claim_identity(channel: ClaimIdentityChannel, value: str, *, key: str | None = None) -> Call[IdentityClaim]:
    """Sends a verification code to a phone number of the calling member."""
    return Call("POST", "/members/me/identities", {}, body={"channel": channel, "value": value}, key=key)


def link_telegram(agent_id: str | NotGiven = NOT_GIVEN, *, key: str | None = None) -> Call[TelegramLink]:
    """Creates a link with which the calling member verifies a Telegram account."""
    return Call("POST", "/members/me/identities/telegram", {}, body={"agentId": agent_id}, key=key)


def verify_identity(channel: VerifyIdentityChannel, code: str, *, key: str | None = None) -> Call[Identity]:
    """Verifies a phone number with the code that was sent to it."""
    return Call("POST", "/members/me/identities/verify", {}, body={"channel": channel, "code": code}, key=key)


def remove_identity(channel: RemoveIdentityChannel, value: str) -> Call[None]:
    """Removes a verified phone number or Telegram id from the calling member."""
    return Call("DELETE", "/members/me/identities/{channel}/{value}", {"channel": channel, "value": value})


def list_phone_numbers() -> Call[list[PhoneNumber]]:
    """Lists the workspace's phone numbers."""
    return Call("GET", "/phone-numbers", {})


def buy_phone_number(value: str, *, key: str | None = None) -> Call[PhoneNumber]:
    """Rents a phone number."""
    return Call("POST", "/phone-numbers", {}, body={"value": value}, key=key)


def search_phone_numbers(country: str, *, area_code: str | NotGiven = NOT_GIVEN) -> Call[list[PhoneNumberOffer]]:
    """Searches for phone numbers to rent."""
    return Call("GET", "/phone-numbers/available", {}, query={"country": country, "areaCode": area_code})


def release_phone_number(phone_number_id: str) -> Call[None]:
    """Releases a rented phone number that is not assigned to an agent."""
    return Call("DELETE", "/phone-numbers/{phoneNumberId}", {"phoneNumberId": phone_number_id})


def list_domains() -> Call[list[Domain]]:
    """Lists the workspace's own email domains."""
    return Call("GET", "/domains", {})


def add_domain(name: str, *, key: str | None = None) -> Call[DomainWithRecords]:
    """Adds an email domain, which then has to be verified."""
    return Call("POST", "/domains", {}, body={"name": name}, key=key)


def read_domain(domain_id: str) -> Call[DomainWithRecords]:
    """Returns a domain with its DNS records."""
    return Call("GET", "/domains/{domainId}", {"domainId": domain_id})


def update_domain(domain_id: str, catch_all_agent_id: str | None | NotGiven = NOT_GIVEN) -> Call[DomainWithRecords]:
    """Sets the catch-all agent of a verified domain: mail to an address on it that no agent has reaches that agent, with all checks and limits that hold for its own mail."""
    return Call("PATCH", "/domains/{domainId}", {"domainId": domain_id}, body={"catchAllAgentId": catch_all_agent_id})


def remove_domain(domain_id: str) -> Call[None]:
    """Removes a domain on which no agent has an address."""
    return Call("DELETE", "/domains/{domainId}", {"domainId": domain_id})


def verify_domain(domain_id: str, *, key: str | None = None) -> Call[DomainWithRecords]:
    """Checks a domain's DNS records now, which takes up to 6 seconds."""
    return Call("POST", "/domains/{domainId}/verify", {"domainId": domain_id}, key=key)


def create_agent(name: str, icon: CreateAgentIcon, *, metadata: dict[str, str] | NotGiven = NOT_GIVEN, key: str | None = None) -> Call[Agent]:
    """Creates an agent with an email address on the service's domain."""
    return Call("POST", "/agents", {}, body={"name": name, "icon": icon, "metadata": metadata}, key=key)


def list_agents(*, limit: int | NotGiven = NOT_GIVEN, metadata: dict[str, str] | NotGiven = NOT_GIVEN) -> Call[Page[Agent]]:
    """Lists the agents that the token can read."""
    return Call("GET", "/agents", {}, query={"limit": limit, "metadata": metadata})


def read_agent() -> Call[AgentWithTexts]:
    """Returns an agent."""
    return Call("GET", "/agents/{id}", {})


def update_agent(*, name: str | NotGiven = NOT_GIVEN, icon: UpdateAgentIcon | NotGiven = NOT_GIVEN, approval: UpdateAgentApproval | NotGiven = NOT_GIVEN, instructors: UpdateAgentInstructors | NotGiven = NOT_GIVEN, manipulated: UpdateAgentManipulated | NotGiven = NOT_GIVEN, secrets_in_messages: UpdateAgentSecretsInMessages | NotGiven = NOT_GIVEN, wakes_per_hour: int | None | NotGiven = NOT_GIVEN, wakes_per_thread_day: int | None | NotGiven = NOT_GIVEN, wake_after_seconds: int | NotGiven = NOT_GIVEN, event_types: Sequence[UpdateAgentEventType] | NotGiven = NOT_GIVEN, metadata: dict[str, str | None] | NotGiven = NOT_GIVEN, signature: str | None | NotGiven = NOT_GIVEN, templates: Sequence[UpdateAgentTemplate] | NotGiven = NOT_GIVEN) -> Call[AgentWithTexts]:
    """Changes an agent's name, icon, metadata or settings."""
    return Call("PATCH", "/agents/{id}", {}, body={"name": name, "icon": icon, "approval": approval, "instructors": instructors, "manipulated": manipulated, "secretsInMessages": secrets_in_messages, "wakesPerHour": wakes_per_hour, "wakesPerThreadDay": wakes_per_thread_day, "wakeAfterSeconds": wake_after_seconds, "eventTypes": listed(event_types), "metadata": metadata, "signature": signature, "templates": templates})


def delete_agent() -> Call[None]:
    """Deletes an agent with its addresses, messages and secrets."""
    return Call("DELETE", "/agents/{id}", {})


def list_addresses() -> Call[list[Address]]:
    """Lists an agent's addresses."""
    return Call("GET", "/agents/{id}/addresses", {})


def change_address(address_id: str, *, value: str | NotGiven = NOT_GIVEN, primary: ChangeAddressPrimary | NotGiven = NOT_GIVEN) -> Call[Address]:
    """Changes the email address that the service assigned to the agent, if the plan includes it, or makes an address the primary one of its channel."""
    return Call("PATCH", "/agents/{id}/addresses/{addressId}", {"addressId": address_id}, body={"value": value, "primary": primary})


def remove_address(address_id: str) -> Call[None]:
    """Removes an address on the workspace's own domain, a phone number or a Telegram bot."""
    return Call("DELETE", "/agents/{id}/addresses/{addressId}", {"addressId": address_id})


def set_up_address(channel: SetUpAddressChannel, *, key: str | None = None) -> Call[Setup]:
    """Creates a link with which a member sets up an address with its provider, for example a Telegram bot."""
    return Call("POST", "/agents/{id}/addresses/setups", {}, body={"channel": channel}, key=key)


def read_access() -> Call[AccessByChannel]:
    """Returns the access settings of each channel."""
    return Call("GET", "/agents/{id}/access", {})


def set_access(channel: SetAccessChannel, senders: Sequence[str], *, admit: SetAccessAdmit | NotGiven = NOT_GIVEN, blocked: Sequence[str] | NotGiven = NOT_GIVEN) -> Call[Access]:
    """Sets who may send messages on a channel."""
    return Call("PUT", "/agents/{id}/access/{channel}", {"channel": channel}, body={"admit": admit, "senders": listed(senders), "blocked": listed(blocked)})


def allow_sender(channel: AllowSenderChannel, sender: str, *, key: str | None = None) -> Call[Access]:
    """Adds a sender to those that a channel admits."""
    return Call("POST", "/agents/{id}/access/{channel}/senders", {"channel": channel}, body={"sender": sender}, key=key)


def disallow_sender(channel: DisallowSenderChannel, sender: str) -> Call[None]:
    """Removes a sender from those that a channel admits."""
    return Call("DELETE", "/agents/{id}/access/{channel}/senders/{sender}", {"channel": channel, "sender": sender})


def block_sender(channel: BlockSenderChannel, sender: str, *, key: str | None = None) -> Call[Access]:
    """Blocks a sender on a channel."""
    return Call("POST", "/agents/{id}/access/{channel}/blocked", {"channel": channel}, body={"sender": sender}, key=key)


def unblock_sender(channel: UnblockSenderChannel, sender: str) -> Call[None]:
    """Unblocks a sender on a channel."""
    return Call("DELETE", "/agents/{id}/access/{channel}/blocked/{sender}", {"channel": channel, "sender": sender})


def read_viewer() -> Call[Viewer]:
    """Returns who the token belongs to, and what it may be used for."""
    return Call("GET", "/viewer", {})


def create_token(*, name: str | None | NotGiven = NOT_GIVEN, expires_at: datetime | str | None | NotGiven = NOT_GIVEN, scopes: Sequence[CreateTokenScope] | None | NotGiven = NOT_GIVEN, key: str | None = None) -> Call[NewToken]:
    """Creates a token for an agent."""
    return Call("POST", "/agents/{id}/tokens", {}, body={"name": name, "expiresAt": expires_at, "scopes": scopes}, key=key)


def list_tokens() -> Call[list[Token]]:
    """Lists the agent's own tokens."""
    return Call("GET", "/agents/{id}/tokens", {})


def revoke_token(token_id: str) -> Call[None]:
    """Revokes one of the agent's tokens and closes the connections open with it."""
    return Call("DELETE", "/agents/{id}/tokens/{tokenId}", {"tokenId": token_id})


def list_connected_apps() -> Call[list[ConnectedApp]]:
    """Lists the apps that members have connected to agents of the workspace (members only)."""
    return Call("GET", "/connected-apps", {})


def disconnect_app(app_id: str) -> Call[None]:
    """Disconnects an app (members only)."""
    return Call("DELETE", "/connected-apps/{appId}", {"appId": app_id})


def connect(client: str, machine: str) -> Call[Connection]:
    """Makes the caller the client that receives the agent's new messages, replacing any other."""
    return Call("PUT", "/agents/{id}/connection", {}, body={"client": client, "machine": machine})


def list_listeners() -> Call[list[Listener]]:
    """Lists the current listeners on the Message URL."""
    return Call("GET", "/agents/{id}/listeners", {})


def list_events(*, after: int | NotGiven = NOT_GIVEN, limit: int | NotGiven = NOT_GIVEN, wait: int | NotGiven = NOT_GIVEN, types: str | NotGiven = NOT_GIVEN) -> Call[Page[Event]]:
    """List an agent's event log."""
    return Call("GET", "/agents/{id}/events", {}, query={"after": after, "limit": limit, "wait": wait, "types": types})


def send_message(*, text: str | NotGiven = NOT_GIVEN, html: str | NotGiven = NOT_GIVEN, reply_to: str | NotGiven = NOT_GIVEN, reply_all: bool | NotGiven = NOT_GIVEN, forward: str | NotGiven = NOT_GIVEN, channel: SendMessageChannel | NotGiven = NOT_GIVEN, to: Sequence[str] | NotGiven = NOT_GIVEN, cc: Sequence[str] | NotGiven = NOT_GIVEN, bcc: Sequence[str] | NotGiven = NOT_GIVEN, subject: str | NotGiven = NOT_GIVEN, metadata: dict[str, str] | NotGiven = NOT_GIVEN, conversation: str | NotGiven = NOT_GIVEN, send_at: datetime | str | NotGiven = NOT_GIVEN, attachments: Sequence[SendMessageAttachment] | NotGiven = NOT_GIVEN, key: str | None = None) -> Call[Message]:
    """Sends a message: a reply (`replyTo`), a forward (`forward` with `to`) or a new message (`channel` with `to`)."""
    return Call("POST", "/agents/{id}/messages", {}, body={"text": text, "html": html, "replyTo": reply_to, "replyAll": reply_all, "forward": forward, "channel": channel, "to": listed(to), "cc": listed(cc), "bcc": listed(bcc), "subject": subject, "metadata": metadata, "conversation": conversation, "sendAt": send_at, "attachments": attachments}, key=key)


def reply_to_message(reply_to: str, text: str | NotGiven = NOT_GIVEN, *, html: str | NotGiven = NOT_GIVEN, reply_all: bool | NotGiven = NOT_GIVEN, to: Sequence[str] | NotGiven = NOT_GIVEN, cc: Sequence[str] | NotGiven = NOT_GIVEN, bcc: Sequence[str] | NotGiven = NOT_GIVEN, subject: str | NotGiven = NOT_GIVEN, metadata: dict[str, str] | NotGiven = NOT_GIVEN, conversation: str | NotGiven = NOT_GIVEN, send_at: datetime | str | NotGiven = NOT_GIVEN, attachments: Sequence[SendMessageAttachment] | NotGiven = NOT_GIVEN, key: str | None = None) -> Call[Message]:
    """Replies in the same thread, to whoever the message is from unless `to` says otherwise."""
    return Call("POST", "/agents/{id}/messages", {}, body={"replyTo": reply_to, "text": text, "html": html, "replyAll": reply_all, "to": listed(to), "cc": listed(cc), "bcc": listed(bcc), "subject": subject, "metadata": metadata, "conversation": conversation, "sendAt": send_at, "attachments": attachments}, key=key)


def forward_message(forward: str, to: Sequence[str], text: str | NotGiven = NOT_GIVEN, *, html: str | NotGiven = NOT_GIVEN, cc: Sequence[str] | NotGiven = NOT_GIVEN, bcc: Sequence[str] | NotGiven = NOT_GIVEN, subject: str | NotGiven = NOT_GIVEN, metadata: dict[str, str] | NotGiven = NOT_GIVEN, conversation: str | NotGiven = NOT_GIVEN, send_at: datetime | str | NotGiven = NOT_GIVEN, attachments: Sequence[SendMessageAttachment] | NotGiven = NOT_GIVEN, key: str | None = None) -> Call[Message]:
    """Passes a message on with its text and attachments."""
    return Call("POST", "/agents/{id}/messages", {}, body={"forward": forward, "to": listed(to), "text": text, "html": html, "cc": listed(cc), "bcc": listed(bcc), "subject": subject, "metadata": metadata, "conversation": conversation, "sendAt": send_at, "attachments": attachments}, key=key)


def list_messages(*, channel: ListMessagesChannel | NotGiven = NOT_GIVEN, direction: ListMessagesDirection | NotGiven = NOT_GIVEN, status: ListMessagesStatus | NotGiven = NOT_GIVEN, thread: str | NotGiven = NOT_GIVEN, thread_id: str | NotGiven = NOT_GIVEN, q: str | NotGiven = NOT_GIVEN, label: str | NotGiven = NOT_GIVEN, unread: bool | NotGiven = NOT_GIVEN, refusal: ListMessagesRefusal | NotGiven = NOT_GIVEN, has_attachment: bool | NotGiven = NOT_GIVEN, from_: str | NotGiven = NOT_GIVEN, to: str | NotGiven = NOT_GIVEN, subject: str | NotGiven = NOT_GIVEN, hold: ListMessagesHold | NotGiven = NOT_GIVEN, metadata: dict[str, str] | NotGiven = NOT_GIVEN, since: datetime | str | NotGiven = NOT_GIVEN, until: datetime | str | NotGiven = NOT_GIVEN, limit: int | NotGiven = NOT_GIVEN) -> Call[Page[Message]]:
    """Lists an agent's messages."""
    return Call("GET", "/agents/{id}/messages", {}, query={"channel": channel, "direction": direction, "status": status, "thread": thread, "threadId": thread_id, "q": q, "label": label, "unread": unread, "refusal": refusal, "hasAttachment": has_attachment, "from": from_, "to": to, "subject": subject, "hold": hold, "metadata": metadata, "since": since, "until": until, "limit": limit})


def mark_messages(ids: Sequence[str], *, add_labels: Sequence[str] | NotGiven = NOT_GIVEN, remove_labels: Sequence[str] | NotGiven = NOT_GIVEN, read: bool | NotGiven = NOT_GIVEN, metadata: dict[str, str | None] | NotGiven = NOT_GIVEN) -> Call[list[MessageMarks]]:
    """Adds labels to up to 100 messages, removes labels from them, sets their metadata, or marks them as read or unread."""
    return Call("PATCH", "/agents/{id}/messages", {}, body={"ids": listed(ids), "addLabels": listed(add_labels), "removeLabels": listed(remove_labels), "read": read, "metadata": metadata})


def list_workspace_messages(*, channel: ListWorkspaceMessagesChannel | NotGiven = NOT_GIVEN, direction: ListWorkspaceMessagesDirection | NotGiven = NOT_GIVEN, status: ListWorkspaceMessagesStatus | NotGiven = NOT_GIVEN, thread: str | NotGiven = NOT_GIVEN, thread_id: str | NotGiven = NOT_GIVEN, q: str | NotGiven = NOT_GIVEN, label: str | NotGiven = NOT_GIVEN, unread: bool | NotGiven = NOT_GIVEN, refusal: ListWorkspaceMessagesRefusal | NotGiven = NOT_GIVEN, has_attachment: bool | NotGiven = NOT_GIVEN, from_: str | NotGiven = NOT_GIVEN, to: str | NotGiven = NOT_GIVEN, subject: str | NotGiven = NOT_GIVEN, hold: ListWorkspaceMessagesHold | NotGiven = NOT_GIVEN, metadata: dict[str, str] | NotGiven = NOT_GIVEN, since: datetime | str | NotGiven = NOT_GIVEN, until: datetime | str | NotGiven = NOT_GIVEN, limit: int | NotGiven = NOT_GIVEN) -> Call[Page[WorkspaceMessage]]:
    """Lists the messages of all agents of the workspace (members only)."""
    return Call("GET", "/messages", {}, query={"channel": channel, "direction": direction, "status": status, "thread": thread, "threadId": thread_id, "q": q, "label": label, "unread": unread, "refusal": refusal, "hasAttachment": has_attachment, "from": from_, "to": to, "subject": subject, "hold": hold, "metadata": metadata, "since": since, "until": until, "limit": limit})


def read_message(message_id: str) -> Call[Message]:
    """Returns a message."""
    return Call("GET", "/agents/{id}/messages/{messageId}", {"messageId": message_id})


def mark_message(message_id: str, *, labels: Sequence[str] | NotGiven = NOT_GIVEN, read: bool | NotGiven = NOT_GIVEN, metadata: dict[str, str | None] | NotGiven = NOT_GIVEN, send_at: datetime | str | NotGiven = NOT_GIVEN) -> Call[Message]:
    """Sets the labels or the metadata of a message, marks it as read or unread, or changes when it is sent."""
    return Call("PATCH", "/agents/{id}/messages/{messageId}", {"messageId": message_id}, body={"labels": listed(labels), "read": read, "metadata": metadata, "sendAt": send_at})


def delete_message(message_id: str) -> Call[None]:
    """Deletes a message with its files and its original."""
    return Call("DELETE", "/agents/{id}/messages/{messageId}", {"messageId": message_id})


def approve_message(message_id: str, *, subject: str | NotGiven = NOT_GIVEN, text: str | NotGiven = NOT_GIVEN, html: str | NotGiven = NOT_GIVEN, key: str | None = None) -> Call[Message]:
    """Approves a message that waits for approval, optionally with changes (members only)."""
    return Call("POST", "/agents/{id}/messages/{messageId}/approve", {"messageId": message_id}, body={"subject": subject, "text": text, "html": html}, key=key)


def reject_message(message_id: str, reason: str | NotGiven = NOT_GIVEN, *, key: str | None = None) -> Call[Message]:
    """Rejects a message that waits for approval (members only)."""
    return Call("POST", "/agents/{id}/messages/{messageId}/reject", {"messageId": message_id}, body={"reason": reason}, key=key)


def cancel_message(message_id: str, *, key: str | None = None) -> Call[Message]:
    """Cancels a message that waits for approval or for its time."""
    return Call("POST", "/agents/{id}/messages/{messageId}/cancel", {"messageId": message_id}, key=key)


def unsubscribe(message_id: str, *, key: str | None = None) -> Call[Message]:
    """Unsubscribes the agent from what a received email belongs to."""
    return Call("POST", "/agents/{id}/messages/{messageId}/unsubscribe", {"messageId": message_id}, key=key)


def release_message(message_id: str, list_sender: bool | NotGiven = NOT_GIVEN, *, key: str | None = None) -> Call[Message]:
    """Releases a refused message, so that it reaches the agent."""
    return Call("POST", "/agents/{id}/messages/{messageId}/release", {"messageId": message_id}, body={"listSender": list_sender}, key=key)


def release_messages(ids: Sequence[str], *, list_sender: bool | NotGiven = NOT_GIVEN, key: str | None = None) -> Call[list[ReleasedMessage]]:
    """Releases up to 100 refused messages, oldest first: all of them, or none."""
    return Call("POST", "/agents/{id}/messages/release", {}, body={"ids": listed(ids), "listSender": list_sender}, key=key)


def delete_messages(ids: Sequence[str], *, key: str | None = None) -> Call[None]:
    """Deletes up to 100 messages with their files and originals: all of them, or none."""
    return Call("POST", "/agents/{id}/messages/delete", {}, body={"ids": listed(ids)}, key=key)


def take_code(*, from_: str | NotGiven = NOT_GIVEN, kind: TakeCodeKind | NotGiven = NOT_GIVEN, purpose: TakeCodePurpose | NotGiven = NOT_GIVEN, since: datetime | str | NotGiven = NOT_GIVEN, seconds: int | NotGiven = NOT_GIVEN, unproven: bool | NotGiven = NOT_GIVEN, as_: str | NotGiven = NOT_GIVEN, key: str | None = None) -> Call[TakenCode]:
    """Takes the newest code or link of an agent's messages that nobody has taken, or waits for one."""
    return Call("POST", "/agents/{id}/codes/take", {}, body={"from": from_, "kind": kind, "purpose": purpose, "since": since, "seconds": seconds, "unproven": unproven, "as": as_}, key=key)


def list_recipients(message_id: str) -> Call[list[Recipient]]:
    """Lists the recipients of a sent message with the status of each."""
    return Call("GET", "/agents/{id}/messages/{messageId}/recipients", {"messageId": message_id})


def link_attachment(message_id: str, index: int, *, key: str | None = None) -> Call[AttachmentLink]:
    """Creates a link to an attachment that works without a token, for ten minutes."""
    return Call("POST", "/agents/{id}/messages/{messageId}/attachments/{index}/link", {"messageId": message_id, "index": index}, key=key)


def read_attachment_text(message_id: str, index: int, *, offset: int | NotGiven = NOT_GIVEN) -> Call[AttachmentText]:
    """Returns the text of an attachment, in pages."""
    return Call("GET", "/agents/{id}/messages/{messageId}/attachments/{index}/text", {"messageId": message_id, "index": index}, query={"offset": offset})


def read_message_headers(message_id: str) -> Call[list[HeaderField]]:
    """Returns a received email's header fields."""
    return Call("GET", "/agents/{id}/messages/{messageId}/headers", {"messageId": message_id})


def read_hidden_text(message_id: str) -> Call[HiddenText]:
    """Returns the text of a received email that people do not see and that its text leaves out."""
    return Call("GET", "/agents/{id}/messages/{messageId}/hidden-text", {"messageId": message_id})


def link_message_html(message_id: str, remote_images: bool | NotGiven = NOT_GIVEN, *, key: str | None = None) -> Call[AttachmentLink]:
    """Creates a link to an email's HTML that works without a token, for ten minutes."""
    return Call("POST", "/agents/{id}/messages/{messageId}/html/link", {"messageId": message_id}, body={"remoteImages": remote_images}, key=key)


def link_raw_message(message_id: str, *, key: str | None = None) -> Call[AttachmentLink]:
    """Creates a link to the original email that works without a token, for ten minutes."""
    return Call("POST", "/agents/{id}/messages/{messageId}/raw/link", {"messageId": message_id}, key=key)


def list_threads(*, state: ListThreadsState | NotGiven = NOT_GIVEN, assigned_to: str | NotGiven = NOT_GIVEN, unread: bool | NotGiven = NOT_GIVEN, channel: ListThreadsChannel | NotGiven = NOT_GIVEN, label: str | NotGiven = NOT_GIVEN, from_: str | NotGiven = NOT_GIVEN, to: str | NotGiven = NOT_GIVEN, subject: str | NotGiven = NOT_GIVEN, limit: int | NotGiven = NOT_GIVEN) -> Call[Page[Thread]]:
    """Lists an agent's threads."""
    return Call("GET", "/agents/{id}/threads", {}, query={"state": state, "assignedTo": assigned_to, "unread": unread, "channel": channel, "label": label, "from": from_, "to": to, "subject": subject, "limit": limit})


def update_threads(ids: Sequence[str], *, done: bool | NotGiven = NOT_GIVEN, snoozed_until: datetime | str | None | NotGiven = NOT_GIVEN, assigned_to: str | None | NotGiven = NOT_GIVEN, read: bool | NotGiven = NOT_GIVEN, label: str | NotGiven = NOT_GIVEN, add_labels: Sequence[str] | NotGiven = NOT_GIVEN, remove_labels: Sequence[str] | NotGiven = NOT_GIVEN) -> Call[list[Thread]]:
    """Changes up to 100 threads: all of them, or none."""
    return Call("PATCH", "/agents/{id}/threads", {}, body={"ids": listed(ids), "done": done, "snoozedUntil": snoozed_until, "assignedTo": assigned_to, "read": read, "label": label, "addLabels": listed(add_labels), "removeLabels": listed(remove_labels)})


def read_thread(thread_id: str) -> Call[Thread]:
    """Returns a thread."""
    return Call("GET", "/agents/{id}/threads/{threadId}", {"threadId": thread_id})


def update_thread(thread_id: str, *, done: bool | NotGiven = NOT_GIVEN, snoozed_until: datetime | str | None | NotGiven = NOT_GIVEN, assigned_to: str | None | NotGiven = NOT_GIVEN, read: bool | NotGiven = NOT_GIVEN, label: str | NotGiven = NOT_GIVEN, add_labels: Sequence[str] | NotGiven = NOT_GIVEN, remove_labels: Sequence[str] | NotGiven = NOT_GIVEN) -> Call[Thread]:
    """Marks a thread as done, postpones it, assigns it, labels it, or marks it as read or unread."""
    return Call("PATCH", "/agents/{id}/threads/{threadId}", {"threadId": thread_id}, body={"done": done, "snoozedUntil": snoozed_until, "assignedTo": assigned_to, "read": read, "label": label, "addLabels": listed(add_labels), "removeLabels": listed(remove_labels)})


def read_transcript(thread_id: str, *, tokens: int | NotGiven = NOT_GIVEN) -> Call[Transcript]:
    """Returns what was written in a thread, newest first, as far as it fits into so many tokens."""
    return Call("GET", "/agents/{id}/threads/{threadId}/transcript", {"threadId": thread_id}, query={"tokens": tokens})


def add_thread_note(thread_id: str, text: str, *, key: str | None = None) -> Call[ThreadNote]:
    """Adds a note to a thread, for other members (members only)."""
    return Call("POST", "/agents/{id}/threads/{threadId}/notes", {"threadId": thread_id}, body={"text": text}, key=key)


def list_thread_notes(thread_id: str) -> Call[list[ThreadNote]]:
    """Lists the notes on a thread (members only)."""
    return Call("GET", "/agents/{id}/threads/{threadId}/notes", {"threadId": thread_id})


def delete_thread_note(thread_id: str, note_id: str) -> Call[None]:
    """Deletes a note (members only)."""
    return Call("DELETE", "/agents/{id}/threads/{threadId}/notes/{noteId}", {"threadId": thread_id, "noteId": note_id})


def create_draft(*, text: str | None | NotGiven = NOT_GIVEN, html: str | None | NotGiven = NOT_GIVEN, reply_to: str | None | NotGiven = NOT_GIVEN, reply_all: bool | None | NotGiven = NOT_GIVEN, forward: str | None | NotGiven = NOT_GIVEN, channel: CreateDraftChannel | None | NotGiven = NOT_GIVEN, to: Sequence[str] | None | NotGiven = NOT_GIVEN, cc: Sequence[str] | None | NotGiven = NOT_GIVEN, bcc: Sequence[str] | None | NotGiven = NOT_GIVEN, subject: str | None | NotGiven = NOT_GIVEN, metadata: dict[str, str] | None | NotGiven = NOT_GIVEN, conversation: str | None | NotGiven = NOT_GIVEN, send_at: datetime | str | None | NotGiven = NOT_GIVEN, attachments: Sequence[CreateDraftAttachment] | None | NotGiven = NOT_GIVEN, key: str | None = None) -> Call[Draft]:
    """Creates a draft of a message."""
    return Call("POST", "/agents/{id}/drafts", {}, body={"text": text, "html": html, "replyTo": reply_to, "replyAll": reply_all, "forward": forward, "channel": channel, "to": to, "cc": cc, "bcc": bcc, "subject": subject, "metadata": metadata, "conversation": conversation, "sendAt": send_at, "attachments": attachments}, key=key)


def list_drafts(*, limit: int | NotGiven = NOT_GIVEN) -> Call[Page[Draft]]:
    """Lists the agent's drafts."""
    return Call("GET", "/agents/{id}/drafts", {}, query={"limit": limit})


def read_draft(draft_id: str) -> Call[Draft]:
    """Returns a draft."""
    return Call("GET", "/agents/{id}/drafts/{draftId}", {"draftId": draft_id})


def update_draft(draft_id: str, *, text: str | None | NotGiven = NOT_GIVEN, html: str | None | NotGiven = NOT_GIVEN, reply_to: str | None | NotGiven = NOT_GIVEN, reply_all: bool | None | NotGiven = NOT_GIVEN, forward: str | None | NotGiven = NOT_GIVEN, channel: UpdateDraftChannel | None | NotGiven = NOT_GIVEN, to: Sequence[str] | None | NotGiven = NOT_GIVEN, cc: Sequence[str] | None | NotGiven = NOT_GIVEN, bcc: Sequence[str] | None | NotGiven = NOT_GIVEN, subject: str | None | NotGiven = NOT_GIVEN, metadata: dict[str, str] | None | NotGiven = NOT_GIVEN, conversation: str | None | NotGiven = NOT_GIVEN, send_at: datetime | str | None | NotGiven = NOT_GIVEN, attachments: Sequence[UpdateDraftAttachment] | None | NotGiven = NOT_GIVEN, unchanged_since: datetime | str | NotGiven = NOT_GIVEN) -> Call[Draft]:
    """Changes a draft."""
    return Call("PATCH", "/agents/{id}/drafts/{draftId}", {"draftId": draft_id}, body={"text": text, "html": html, "replyTo": reply_to, "replyAll": reply_all, "forward": forward, "channel": channel, "to": to, "cc": cc, "bcc": bcc, "subject": subject, "metadata": metadata, "conversation": conversation, "sendAt": send_at, "attachments": attachments, "unchangedSince": unchanged_since})


def delete_draft(draft_id: str) -> Call[None]:
    """Deletes a draft."""
    return Call("DELETE", "/agents/{id}/drafts/{draftId}", {"draftId": draft_id})


def send_draft(draft_id: str, *, key: str | None = None) -> Call[Message]:
    """Sends a draft."""
    return Call("POST", "/agents/{id}/drafts/{draftId}/send", {"draftId": draft_id}, key=key)


def ask_question(text: str, *, options: Sequence[str] | NotGiven = NOT_GIVEN, to: Sequence[str] | NotGiven = NOT_GIVEN, expires_in: int | NotGiven = NOT_GIVEN, key: str | None = None) -> Call[Question]:
    """Asks members a question."""
    return Call("POST", "/agents/{id}/questions", {}, body={"text": text, "options": listed(options), "to": listed(to), "expiresIn": expires_in}, key=key)


def list_questions(*, status: ListQuestionsStatus | NotGiven = NOT_GIVEN, limit: int | NotGiven = NOT_GIVEN) -> Call[Page[Question]]:
    """Lists the agent's questions."""
    return Call("GET", "/agents/{id}/questions", {}, query={"status": status, "limit": limit})


def read_question(question_id: str, *, seconds: int | NotGiven = NOT_GIVEN) -> Call[Question]:
    """Returns a question, or waits for its answer."""
    return Call("GET", "/agents/{id}/questions/{questionId}", {"questionId": question_id}, query={"seconds": seconds})


def withdraw_question(question_id: str) -> Call[None]:
    """Withdraws a question: it cannot be answered any more."""
    return Call("DELETE", "/agents/{id}/questions/{questionId}", {"questionId": question_id})


def answer_question(question_id: str, text: str, *, key: str | None = None) -> Call[Question]:
    """Answers a question (members only; if it names some, only these)."""
    return Call("POST", "/agents/{id}/questions/{questionId}/answer", {"questionId": question_id}, body={"text": text}, key=key)


def list_suppressions(*, limit: int | NotGiven = NOT_GIVEN) -> Call[Page[Suppression]]:
    """Lists the agent's suppression list: recipients that bounced with a permanent failure, or complained."""
    return Call("GET", "/agents/{id}/suppressions", {}, query={"limit": limit})


def remove_suppression(recipient: str) -> Call[None]:
    """Removes a recipient from the agent's suppression list, so that the agent can send to it again."""
    return Call("DELETE", "/agents/{id}/suppressions/{recipient}", {"recipient": recipient})


def list_secrets() -> Call[list[Secret]]:
    """Lists secrets, never their values."""
    return Call("GET", "/agents/{id}/secrets", {})


def reveal_secrets(names: Sequence[str] | NotGiven = NOT_GIVEN, *, key: str | None = None) -> Call[dict[str, str]]:
    """Reveals the values of secrets."""
    return Call("POST", "/agents/{id}/secrets/reveal", {}, body={"names": listed(names)}, key=key)


def set_secret(name: str, value: str) -> Call[StoredSecret]:
    """Sets a secret, replacing any previous value."""
    return Call("PUT", "/agents/{id}/secrets/{name}", {"name": name}, body={"value": value})


def delete_secret(name: str) -> Call[None]:
    """Deletes a secret."""
    return Call("DELETE", "/agents/{id}/secrets/{name}", {"name": name})


def send_to_url(text: str, *, key: str | None = None) -> Call[Event]:
    """Sends a message to an agent's Message URL, as the member or agent whose token is used."""
    return Call("POST", "/agents/{id}/url", {}, body={"text": text}, key=key)


def send_to_message_url(text: str, *, key: str | None = None) -> Call[Event]:
    """Sends a message to an agent's Message URL, as the member or agent whose token is used."""
    return Call("POST", "/a/{id}", {}, body={"text": text}, key=key)


def add_webhook(url: str, *, name: str | NotGiven = NOT_GIVEN, events: Sequence[AddWebhookEvent] | NotGiven = NOT_GIVEN, headers: dict[str, str] | None | NotGiven = NOT_GIVEN, body: Any | NotGiven = NOT_GIVEN, key: str | None = None) -> Call[NewWebhook]:
    """Adds a webhook."""
    return Call("POST", "/agents/{id}/webhooks", {}, body={"url": url, "name": name, "events": listed(events), "headers": headers, "body": body}, key=key)


def list_webhooks() -> Call[list[Webhook]]:
    """Lists the agent's webhooks, without their secrets."""
    return Call("GET", "/agents/{id}/webhooks", {})


def update_webhook(webhook_id: str, *, name: str | None | NotGiven = NOT_GIVEN, paused: bool | NotGiven = NOT_GIVEN, events: Sequence[UpdateWebhookEvent] | NotGiven = NOT_GIVEN, headers: dict[str, str] | None | NotGiven = NOT_GIVEN, body: Any | NotGiven = NOT_GIVEN) -> Call[Webhook]:
    """Changes a webhook's name, the types of the events that it receives, its headers or its body, or pauses or resumes it."""
    return Call("PATCH", "/agents/{id}/webhooks/{webhookId}", {"webhookId": webhook_id}, body={"name": name, "paused": paused, "events": listed(events), "headers": headers, "body": body})


def remove_webhook(webhook_id: str) -> Call[None]:
    """Removes a webhook and its deliveries."""
    return Call("DELETE", "/agents/{id}/webhooks/{webhookId}", {"webhookId": webhook_id})


def list_deliveries(webhook_id: str, *, status: ListDeliveriesStatus | NotGiven = NOT_GIVEN, limit: int | NotGiven = NOT_GIVEN) -> Call[Page[Delivery]]:
    """Lists a webhook's deliveries, including pending and manual ones."""
    return Call("GET", "/agents/{id}/webhooks/{webhookId}/deliveries", {"webhookId": webhook_id}, query={"status": status, "limit": limit})


def read_delivery(webhook_id: str, delivery_id: str) -> Call[DeliveryDetails]:
    """Returns a delivery with its request and the responses."""
    return Call("GET", "/agents/{id}/webhooks/{webhookId}/deliveries/{deliveryId}", {"webhookId": webhook_id, "deliveryId": delivery_id})


def rotate_webhook(webhook_id: str, *, key: str | None = None) -> Call[NewWebhook]:
    """Replaces a webhook's signing secret."""
    return Call("POST", "/agents/{id}/webhooks/{webhookId}/rotate", {"webhookId": webhook_id}, key=key)


def test_webhook(webhook_id: str, *, key: str | None = None) -> Call[DeliveryDetails]:
    """Sends a test delivery to a webhook."""
    return Call("POST", "/agents/{id}/webhooks/{webhookId}/test", {"webhookId": webhook_id}, key=key)


def resend_delivery(webhook_id: str, delivery_id: str, *, key: str | None = None) -> Call[Delivery]:
    """Resends the event of a delivery."""
    return Call("POST", "/agents/{id}/webhooks/{webhookId}/deliveries/{deliveryId}/resend", {"webhookId": webhook_id, "deliveryId": delivery_id}, key=key)


def unblock_webhook(webhook_id: str, delivery_id: str, skip: bool, *, key: str | None = None) -> Call[Webhook]:
    """Ends the wait of a webhook for the next attempt of the delivery that all others wait for."""
    return Call("POST", "/agents/{id}/webhooks/{webhookId}/deliveries/{deliveryId}/unblock", {"webhookId": webhook_id, "deliveryId": delivery_id}, body={"skip": skip}, key=key)


def replay_webhook(webhook_id: str, *, after: int | NotGiven = NOT_GIVEN, since: datetime | str | NotGiven = NOT_GIVEN, key: str | None = None) -> Call[Replay]:
    """Resends every event to a webhook after a position or since a time."""
    return Call("POST", "/agents/{id}/webhooks/{webhookId}/replay", {"webhookId": webhook_id}, body={"after": after, "since": since}, key=key)


def resend_given_up(webhook_id: str, since: datetime | str, *, key: str | None = None) -> Call[Replay]:
    """Resends the events that were given up (`expired`), of those that happened at `since` or later."""
    return Call("POST", "/agents/{id}/webhooks/{webhookId}/resend", {"webhookId": webhook_id}, body={"since": since}, key=key)
