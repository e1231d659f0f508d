-- The schema of version 1.0.0, in place of the migrations that made it. A database that has all of these counts as having
-- this one, and a new one gets their names too, so that an earlier build, which knows them, applies none of them.
-- replaces 20261121000000_init 49f721d0c98449e085a19b03319e71821839de55f558b7e893c97233cd708fbd
-- replaces 20261121010000_message_search 1c7d1ee26c2b302dabe1ccb756bd7f16816f5cbd834d79f497fbfea67d5cc4b9
-- replaces 20261121011000_webhook_operations d44e445763d47a8961aa8ff0c3322be7dad64c34e682175f04f8c7327fe24063
-- replaces 20261121031500_delivery_reports 349d30cfafb539b96ee4f8f2296a509a91b2e1268de4ae8c0686c70f0163548d
-- replaces 20261121031600_own_domains 8d42e5388cc24011fb8c2e4bd5320f266ea2ac93d8ed93112181c0e60752928c
-- replaces 20261121040000_search_index b943ba474e61acf4284dcad33cbe56d32c41984ef12b6e75b684065761e2218a
-- replaces 20261121040000_telegram e65810765df9ff39f7d95b578770a34d71b2b1259f748d0c7c685340be339659
-- replaces 20261121041000_reply_address 51d35ec8634c164cc1d44780bd2df6ca86ac103453ca6b6b40f203dd5b7be260
-- replaces 20261121041500_phone_number_plans ed1c64847e9ef2c761ab4d55d507c58721af9d6b8ff01321997ea4b3052ecb26
-- replaces 20261121043500_identity_claims d9268940069f180f165d59a30702f4752a39ab2cef2516cccd45d7577a0abb31
-- replaces 20261121044500_identity_links 53e304d24e07849e2d9e2172b3f56c989b4540d98af5fdd887d0a414effe0b15
-- replaces 20261121045000_awaited_reports 28eaa56391ae025137502307e95211d2e0f2a89092a8656db4f8ec2c8326b048
-- replaces 20261121070500_numbers_follow_the_service fdc648170dc79b774e86dae5c66461fa0750a58c2c75d96e8478bf82a7b7827a
-- replaces 20261121073500_setup_links_one_at_a_time b58fe2f87ddc53804ac1204e4d2e03b59690b5749d5424032198d46ae5ce1e20
-- replaces 20261121073500_words_between_punctuation 8055e1ae03df368b48fb733e31f65154198bc0e305ce0ddad4ab7169ce569329
-- replaces 20261122000201_given_addresses 9e03f0fb82091bb29176106d3dbacf160d72ac03efc3a1fb399e005d06e761f1
-- replaces 20261122000202_proven_senders 2679b0b1cd0efa2e7dc3f0ca189d5a2e416625c6c47b5931017b086c38d53693
-- replaces 20261122000203_refused_mail c9dcaae2cb27732ade1eb04842c78797ae79b8842cd70c1985a3e8b7eae84c1e
-- replaces 20261122000204_refused_mail_index 36588229342df9b6d7c26442c9c5852c78a1533880f31386aff46e717cd2c445
-- replaces 20261122000301_reserved_idempotency_keys e15dc3590c16da51c813091d6635abc2b183ea45d24b4dc30340d67fd2afc47d
-- replaces 20261122000302_purchases_step_by_step 2f849849e2ece02f991dc28f693a763d7eaf64aaf11722b7ef34867b2797ee36
-- replaces 20261122000303_what_ends_with_a_membership da726bd0ad4b5b450a9c621d525663d9532b38ad70d83b37d850158f839d9016
-- replaces 20261122000304_retired_data_keys da3d4f1186bd0729e3b89b62dab301cdede9c5dfc546524c13e57a5f0e7fe3f2
-- replaces 20261122000501_mcp_subscriptions 9b884dea44849ee576c3dc853beae58e35fbc04e664c97846642b320aff8551d
-- replaces 20261122000601_agent_columns 6a13082af11e5205506a6518b12fb7a4aee6065bdc3649e6f54a25d02bee606a
-- replaces 20261122000602_agent_keys_built a95554c9f7fa10b543078eb39bc73967ecbd97527a4f43cfa0d3f5ebbdfa179a
-- replaces 20261122000603_agent_keys 792b3fa7b55468c90fe8384bcb59f15e32fc32745e111484661dc176faec5f67
-- replaces 20261122000604_agent_foreign_keys 12e70d36ecde31d0bef143e932eb574db122b0fb4ece1790d919866dff95ce3a
-- replaces 20261122000701_holds f3c4a04c0bb18c8a7227e71748354322539b1bbfc3f85934bcb78ad1956723d8
-- replaces 20261122000702_held_messages 91524ae63491e22392024913394475d75bf19ec5860aaa0111c78983b931eca5
-- replaces 20261122144001_message_marks f38678e6d234d7c08deb593ef5b08685dc183fea2909cb2235c9c39ec788cd2c
-- replaces 20261122144002_message_mark_indexes 247226e7f63ea81be0aa3b8d3c9b848a2102dc4951065bb7c06c2ba7c574bdf7
-- replaces 20261122144500_sessions 4cc2f0addaeff9cf10701cfc913d571aa4d0c8c99a0a61131feb23bf82165bfe
-- replaces 20261122144828_oauth_apps 38975861b6460f1612e05a6dd6beed5efff504d3ba952be32f2d7a9e7d01913c
-- replaces 20261122145001_kept_usage cf8a5060594de383668d2bcf6079f50a3a2a7a47c1148fef5a084ae29f6ffb2c
-- replaces 20261122150001_blocked_senders 37f46b326070325e89612a77211797bd74bef4cb183963e399fcb748ebec53e3
-- replaces 20261122150501_message_kind_index 198b3fe98cd8efedf6a88c722c70be26394cfaff8317cef5c77a65cd353ceda6
-- replaces 20261122151500_sign_in_links_and_passkeys 47033cebe0f470db4cfe090d5b3efe47c55d3bfb70ff365398594f811043097f
-- replaces 20261122153001_wake_limits 1a53066051384561679b01d1cbbeea564802c20b1dd2721ea0ce26f737d68cf0
-- replaces 20261122153500_webhook_due_at 6a49c1294c8dd2b8c6b5e1a9fd221e7c98d0fdc3fcd21fff4e7e823a17c366b2
-- replaces 20261122154500_drafts 569e2d430d280990412908d2a63b7b1c6c4a20e444112d9f1ce9de4819fffdac
-- replaces 20261122181001_imported_references_index 869af2db274c4ab792467ab4992d0d48385787faa08d6378c92a360f5aa02c58
-- replaces 20261122181001_workspace_message_indexes 8bd9528c888571c18c775828e18f4c01012dd8a4b033a076564febc93df5a3ab
-- replaces 20261122181500_event_types 0466c567048114eb31f566bd7152c9937b021922493dd9a67ba3e6e25a045e89
-- replaces 20261122182001_deleted_agents 60ca6b9c03193727e20b1fca82c6b3b08505de18fb9af9066f8fa665be744003
-- replaces 20261122183000_webhook_names_and_pauses c8cbbfd17a63d0942f736eface52fce58f59fe24c4981789e3736ff07f815dc6
-- replaces 20261122183001_import_positions da98152f20396269b684a4b5cd611094a33536cafd43df5c70bbf600d79face9
-- replaces 20261122184001_workspace_changes f928e819563d4d1cd8b9133b6232b06f04e63d1217d68a18b3911b992f419987
-- replaces 20261122184002_audit_actors 38ead80e7dfbe13325a5dbd305592f5211924c73c6329c7fc8de9c26e649bb7b
-- replaces 20261122184003_audit_actor_index feaff4331d45cdde2e06d053a97a6837ce099937816cb0a98711bebbf333c194
-- replaces 20261122184701_growth_indexes 50e70aae39efe1518850f03f3b2ab72a13ffff0f9275f7a861dbce10c5b8cf0b
-- replaces 20261122185500_daily_counts b5d9b53fd2d19132aa1dc3917de1ed134e29474d523130e01c69561fed634be5
-- replaces 20261122211500_outgoing_html 343e02a8aee54cb5bf100b074c80094d1d94ec936772a1fa92f79efee07f0c9e
-- replaces 20261122212000_dkim_ed25519 6d344f9d357d8400ef4eaad338499b75b0d8dc72f0e7f46ad1cff7c9991d9db8
-- replaces 20261122213000_workspace_deletion 4674171252a9c98f3b3c26c1c5442f8458dda213e3fb5cfe16bcab205accec13
-- replaces 20261122214000_tls_results 60ad78f8d01484c40ef4dea72a93af0673472462b1a756ca8c1c2ad0d0306beb
-- replaces 20261122215100_worker a603a0fdd61951c706b82bd50ceb28c853900f1dfbcacc59ac77fd85ddc99397
-- replaces 20261122223200_album_parts 4f8755f19217ca9173d1e7cbc58796729ef4b79175c839bbaf9a307ebae7e2a8

CREATE TYPE "ActorKind" AS ENUM (
    'operator',
    'member',
    'agent'
);

CREATE TYPE "Admission" AS ENUM (
    'team',
    'listed',
    'anyone'
);

CREATE TYPE "Admit" AS ENUM (
    'anyone',
    'team',
    'list'
);

CREATE TYPE "Approval" AS ENUM (
    'none',
    'strangers',
    'all'
);

CREATE TYPE "Channel" AS ENUM (
    'email',
    'sms',
    'telegram',
    'url'
);

CREATE TYPE "Direction" AS ENUM (
    'inbound',
    'outbound'
);

CREATE TYPE "DomainState" AS ENUM (
    'pending',
    'verified',
    'broken'
);

CREATE TYPE "HoldReason" AS ENUM (
    'approval',
    'schedule'
);

CREATE TYPE "JobKind" AS ENUM (
    'webhook',
    'send'
);

CREATE TYPE "JobState" AS ENUM (
    'pending',
    'delivered',
    'skipped',
    'expired',
    'failed'
);

CREATE TYPE "MemberRole" AS ENUM (
    'owner',
    'member'
);

CREATE TYPE "MessageStatus" AS ENUM (
    'received',
    'refused',
    'sending',
    'sent',
    'failed',
    'imported',
    'reported'
);

CREATE TYPE "RecipientStatus" AS ENUM (
    'sending',
    'sent',
    'failed'
);

CREATE TYPE "Refusal" AS ENUM (
    'self',
    'spam',
    'plan_limit',
    'rate_limit',
    'sender',
    'outsider',
    'unverified'
);

CREATE TYPE "SuppressionReason" AS ENUM (
    'bounce',
    'complaint'
);

CREATE TYPE "WebhookKind" AS ENUM (
    'webhook',
    'mcp'
);

CREATE TABLE access (
    agent_id uuid NOT NULL,
    channel "Channel" NOT NULL,
    admit "Admit" NOT NULL,
    senders text[],
    blocked text[] DEFAULT ARRAY[]::text[]
);

CREATE TABLE address (
    id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    channel "Channel" NOT NULL,
    value text NOT NULL,
    domain_id uuid,
    "primary" boolean DEFAULT false NOT NULL,
    given boolean DEFAULT false NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    CONSTRAINT address_channel_check CHECK ((channel <> 'url'::"Channel"))
);

CREATE TABLE agent (
    id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    name text NOT NULL,
    icon text NOT NULL,
    created_by_member_id uuid,
    created_by_agent_id uuid,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    approval "Approval" DEFAULT 'none'::"Approval" NOT NULL,
    wakes_per_hour integer,
    wakes_per_thread_day integer,
    event_types text[] DEFAULT ARRAY['message.received'::text]
);

CREATE TABLE agent_day (
    agent_id uuid NOT NULL,
    day date NOT NULL,
    metric text NOT NULL,
    count integer NOT NULL
);

CREATE TABLE album_part (
    agent_id uuid NOT NULL,
    address_id uuid NOT NULL,
    chat_id bigint NOT NULL,
    group_id text NOT NULL,
    message_id bigint NOT NULL,
    content text,
    arrived_at timestamp(3) with time zone NOT NULL,
    batch_id uuid,
    lease_until timestamp(3) with time zone
);

CREATE TABLE attachment (
    message_id uuid NOT NULL,
    index integer NOT NULL,
    name text NOT NULL,
    type text NOT NULL,
    size integer NOT NULL,
    content bytea NOT NULL,
    agent_id uuid NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.02', toast.autovacuum_vacuum_scale_factor='0.02');

ALTER TABLE ONLY attachment ALTER COLUMN content SET STORAGE EXTERNAL;

CREATE TABLE audit_entry (
    id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    agent_id uuid,
    actor_kind "ActorKind" NOT NULL,
    actor_id uuid,
    token_id uuid,
    action text NOT NULL,
    detail jsonb NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    actor_name text
);

CREATE TABLE connected_app (
    token_id uuid NOT NULL,
    member_id uuid NOT NULL,
    client_id text NOT NULL,
    host text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE connection (
    id uuid NOT NULL,
    agent_id uuid NOT NULL,
    token_id uuid NOT NULL,
    client text NOT NULL,
    machine text NOT NULL,
    start_after bigint NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    lease_until timestamp(3) with time zone,
    replaced_at timestamp(3) with time zone
);

CREATE TABLE deleted_agent (
    agent_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    deleted_at timestamp(3) with time zone NOT NULL,
    empty_at timestamp(3) with time zone
);

CREATE TABLE dkim_key (
    id uuid NOT NULL,
    workspace_id uuid,
    domain text NOT NULL,
    selector text NOT NULL,
    public_key text NOT NULL,
    private_key bytea NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    retired_at timestamp(3) with time zone,
    ed25519_private_key bytea,
    ed25519_public_key text
);

CREATE TABLE domain (
    id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    name text NOT NULL,
    state "DomainState" DEFAULT 'pending'::"DomainState" NOT NULL,
    ownership_token text NOT NULL,
    findings jsonb DEFAULT '[]'::jsonb NOT NULL,
    checked_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    recheck_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    failures integer DEFAULT 0 NOT NULL
);

CREATE TABLE draft (
    id uuid NOT NULL,
    agent_id uuid NOT NULL,
    content jsonb NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE draft_file (
    draft_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    index integer NOT NULL,
    name text NOT NULL,
    type text NOT NULL,
    size integer NOT NULL,
    content bytea NOT NULL
);

CREATE TABLE event (
    agent_id uuid NOT NULL,
    id bigint NOT NULL,
    type text NOT NULL,
    channel "Channel" NOT NULL,
    message_id uuid NOT NULL,
    sender jsonb NOT NULL,
    "from" text NOT NULL,
    subject text,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    agent_name text,
    detail jsonb
)
WITH (autovacuum_vacuum_scale_factor='0.02');

CREATE TABLE event_log (
    agent_id uuid NOT NULL,
    last_id bigint DEFAULT 0 NOT NULL,
    horizon bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE given_address (
    value text NOT NULL,
    workspace_id uuid NOT NULL
);

CREATE TABLE idempotency_key (
    token_id uuid NOT NULL,
    key text NOT NULL,
    request_hash bytea NOT NULL,
    status integer NOT NULL,
    body bytea NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    lease_until timestamp(3) with time zone
);

CREATE TABLE identity_claim (
    member_id uuid NOT NULL,
    channel "Channel" NOT NULL,
    value text NOT NULL,
    code bytea NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE identity_link (
    code_hash bytea NOT NULL,
    member_id uuid NOT NULL,
    agent_id uuid,
    used_by text,
    expires_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE import_position (
    agent_id uuid NOT NULL,
    source text NOT NULL,
    "position" text NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE invitation (
    id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    email text NOT NULL,
    role "MemberRole" DEFAULT 'member'::"MemberRole" NOT NULL,
    token_hash bytea NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    accepted_at timestamp(3) with time zone,
    invited_by_id uuid
);

CREATE TABLE job (
    id uuid NOT NULL,
    kind "JobKind" NOT NULL,
    state "JobState" DEFAULT 'pending'::"JobState" NOT NULL,
    agent_id uuid NOT NULL,
    lane uuid NOT NULL,
    seq bigint NOT NULL,
    due_at timestamp(3) with time zone,
    attempts integer DEFAULT 0 NOT NULL,
    log jsonb DEFAULT '[]'::jsonb NOT NULL,
    payload bytea,
    lease_owner uuid,
    lease_until timestamp(3) with time zone,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    asked_at timestamp(3) with time zone,
    event_id bigint
)
WITH (fillfactor='60', autovacuum_vacuum_scale_factor='0.02');

CREATE TABLE member (
    id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    email text NOT NULL,
    name text,
    role "MemberRole" DEFAULT 'member'::"MemberRole" NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    approval_mails boolean DEFAULT false NOT NULL
);

CREATE TABLE member_identity (
    member_id uuid NOT NULL,
    channel "Channel" NOT NULL,
    value text NOT NULL,
    verified_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE message (
    id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    address_id uuid NOT NULL,
    channel "Channel" NOT NULL,
    direction "Direction" NOT NULL,
    status "MessageStatus" NOT NULL,
    refusal "Refusal",
    admission "Admission",
    error text,
    counterpart text NOT NULL,
    counterpart_name text,
    "to" text[],
    cc text[],
    subject text,
    text text NOT NULL,
    reply_text text,
    internet_message_id text,
    thread_message_id text,
    thread_references text[],
    thread_id uuid NOT NULL,
    reply_to_id uuid,
    forward_of_id uuid,
    checks jsonb DEFAULT '[]'::jsonb NOT NULL,
    fingerprint bytea,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    reply_address text,
    proven boolean,
    hold_reason "HoldReason",
    hold_until timestamp(3) with time zone,
    hold_by text,
    send_at timestamp(3) with time zone,
    labels text[] DEFAULT ARRAY[]::text[],
    read_at timestamp(3) with time zone,
    html text,
    CONSTRAINT message_channel_check CHECK ((channel <> 'url'::"Channel")),
    CONSTRAINT message_refusal_check CHECK (((status = 'refused'::"MessageStatus") = (refusal IS NOT NULL)))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.05');

CREATE TABLE message_raw (
    message_id uuid NOT NULL,
    content bytea NOT NULL,
    agent_id uuid NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.02', toast.autovacuum_vacuum_scale_factor='0.02');

ALTER TABLE ONLY message_raw ALTER COLUMN content SET STORAGE EXTERNAL;

CREATE TABLE message_search (
    message_id uuid NOT NULL,
    words tsvector NOT NULL,
    agent_id uuid NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.02');

CREATE TABLE oauth_record (
    kind text NOT NULL,
    hash bytea NOT NULL,
    app_id uuid,
    payload jsonb NOT NULL,
    consumed_at timestamp(3) with time zone,
    expires_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE opt_out (
    ours text NOT NULL,
    theirs text NOT NULL,
    keyword text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE passkey (
    id uuid NOT NULL,
    member_id uuid NOT NULL,
    credential_id bytea NOT NULL,
    public_key bytea NOT NULL,
    counter bigint DEFAULT 0 NOT NULL,
    transports text[],
    name text NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    last_used_at timestamp(3) with time zone,
    challenged_at timestamp(3) with time zone
);

CREATE TABLE phone_number (
    id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    value text NOT NULL,
    provider_id text NOT NULL,
    address_id uuid,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    webhook_url text DEFAULT ''::text NOT NULL,
    asked_at timestamp(3) with time zone DEFAULT now(),
    busy_until timestamp(3) with time zone,
    buyer jsonb
);

CREATE TABLE plan (
    key text NOT NULL,
    agents integer,
    members integer,
    own_domains integer,
    webhooks integer,
    sends_per_day integer,
    stored_messages integer,
    change_address boolean DEFAULT true NOT NULL,
    phone_numbers integer
);

CREATE UNLOGGED TABLE rate_count (
    key text NOT NULL,
    window_start timestamp(3) with time zone NOT NULL,
    count integer NOT NULL,
    window_end timestamp(3) with time zone
)
WITH (fillfactor='50');

CREATE TABLE recipient (
    message_id uuid NOT NULL,
    address text NOT NULL,
    status "RecipientStatus" DEFAULT 'sending'::"RecipientStatus" NOT NULL,
    detail text,
    updated_at timestamp(3) with time zone NOT NULL,
    delivered_at timestamp(3) with time zone,
    provider_id text,
    parts text[],
    agent_id uuid NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.02');

CREATE TABLE retired_data_key (
    id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    key bytea NOT NULL,
    retired_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE secret (
    agent_id uuid NOT NULL,
    name text NOT NULL,
    sealed bytea NOT NULL,
    set_by_kind "ActorKind" NOT NULL,
    set_by_id uuid,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE session (
    token_id uuid NOT NULL,
    browser text NOT NULL,
    ends_at timestamp(3) with time zone NOT NULL,
    enrolling boolean DEFAULT false NOT NULL
);

CREATE TABLE setup_link (
    id uuid NOT NULL,
    agent_id uuid NOT NULL,
    member_id uuid,
    channel "Channel" NOT NULL,
    token_hash bytea NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    used_at timestamp(3) with time zone,
    suggestion text,
    busy_until timestamp(3) with time zone
);

CREATE TABLE sign_in_link (
    hash bytea NOT NULL,
    member_id uuid NOT NULL,
    browser_hash bytea,
    expires_at timestamp(3) with time zone NOT NULL,
    used_at timestamp(3) with time zone
);

CREATE TABLE suppression (
    agent_id uuid NOT NULL,
    channel "Channel" NOT NULL,
    recipient text NOT NULL,
    reason "SuppressionReason" NOT NULL,
    detail text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE telegram_bot (
    address_id uuid NOT NULL,
    bot_id bigint NOT NULL,
    token bytea NOT NULL,
    secret_hash bytea NOT NULL,
    webhook_url text NOT NULL
);

CREATE TABLE tls_result (
    day date NOT NULL,
    domain text NOT NULL,
    key text NOT NULL,
    detail jsonb NOT NULL,
    count integer NOT NULL,
    claimed_at timestamp(3) with time zone
);

CREATE TABLE token (
    id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    member_id uuid,
    agent_id uuid,
    name text,
    hash bytea NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    last_used_at timestamp(3) with time zone,
    expires_at timestamp(3) with time zone,
    CONSTRAINT token_holder_check CHECK ((num_nonnulls(member_id, agent_id) = 1))
);

CREATE TABLE unindexed_message (
    message_id uuid NOT NULL,
    agent_id uuid NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='2000');

CREATE TABLE usage_change (
    id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    agents integer DEFAULT 0 NOT NULL,
    webhooks integer DEFAULT 0 NOT NULL,
    stored integer DEFAULT 0 NOT NULL,
    sent integer DEFAULT 0 NOT NULL,
    sent_at timestamp(3) with time zone,
    day date,
    metric text,
    count integer DEFAULT 0 NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='2000');

CREATE TABLE webhook (
    id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    url text NOT NULL,
    secret bytea NOT NULL,
    previous_secret bytea,
    previous_until timestamp(3) with time zone,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    "position" bigint NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    error text,
    retry_at timestamp(3) with time zone,
    last_delivered_at timestamp(3) with time zone,
    lease_owner uuid,
    lease_until timestamp(3) with time zone,
    answered integer DEFAULT 0 NOT NULL,
    asked integer DEFAULT 0 NOT NULL,
    failing_since timestamp(3) with time zone,
    given_up_at timestamp(3) with time zone,
    owner_told_at timestamp(3) with time zone,
    revision integer DEFAULT 0 NOT NULL,
    kind "WebhookKind" DEFAULT 'webhook'::"WebhookKind" NOT NULL,
    types text[] DEFAULT ARRAY['message.received'::text],
    channels "Channel"[] DEFAULT ARRAY[]::"Channel"[],
    subscription text,
    principal_id uuid,
    token_id uuid,
    expires_at timestamp(3) with time zone,
    verified_at timestamp(3) with time zone,
    due_at timestamp(3) with time zone,
    name text,
    paused_at timestamp(3) with time zone
)
WITH (fillfactor='50');

CREATE TABLE webhook_farewell (
    id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    url text NOT NULL,
    secret bytea NOT NULL,
    previous_secret bytea,
    previous_until timestamp(3) with time zone,
    subscription text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    due_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    agent_id uuid NOT NULL
);

CREATE TABLE worker (
    id uuid NOT NULL,
    session bigint NOT NULL
);

CREATE TABLE workspace (
    id uuid NOT NULL,
    name text NOT NULL,
    plan_key text NOT NULL,
    data_key bytea NOT NULL,
    agents_may_set_access boolean DEFAULT true NOT NULL,
    agents_may_create_agents boolean DEFAULT true NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    keep_refused_days integer DEFAULT 30 NOT NULL,
    require_passkeys boolean DEFAULT false NOT NULL,
    keep_messages_days integer,
    keep_raw_days integer,
    delete_at timestamp(3) with time zone,
    CONSTRAINT workspace_keep_messages_days_check CHECK (((keep_messages_days >= 1) AND (keep_messages_days <= 36500))),
    CONSTRAINT workspace_keep_raw_days_check CHECK (((keep_raw_days >= 1) AND (keep_raw_days <= 36500))),
    CONSTRAINT workspace_keep_refused_days_check CHECK (((keep_refused_days >= 1) AND (keep_refused_days <= 365)))
);

CREATE TABLE workspace_change (
    workspace_id uuid NOT NULL,
    xid bigint NOT NULL,
    id bigint NOT NULL,
    kind text NOT NULL,
    agent_id uuid,
    ids uuid[],
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000');

CREATE SEQUENCE workspace_change_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE workspace_change_id_seq OWNED BY workspace_change.id;

CREATE TABLE workspace_day (
    workspace_id uuid NOT NULL,
    day date NOT NULL,
    metric text NOT NULL,
    count bigint NOT NULL
);

CREATE TABLE workspace_usage (
    workspace_id uuid NOT NULL,
    minute timestamp(3) with time zone NOT NULL,
    agents integer DEFAULT 0 NOT NULL,
    webhooks integer DEFAULT 0 NOT NULL,
    stored bigint DEFAULT 0 NOT NULL,
    sent integer DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE ONLY workspace_change ALTER COLUMN id SET DEFAULT nextval('workspace_change_id_seq'::regclass);
ALTER TABLE ONLY access ADD CONSTRAINT access_pkey PRIMARY KEY (agent_id, channel);
ALTER TABLE ONLY address ADD CONSTRAINT address_pkey PRIMARY KEY (id);
ALTER TABLE ONLY agent_day ADD CONSTRAINT agent_day_pkey PRIMARY KEY (agent_id, day, metric);
ALTER TABLE ONLY agent ADD CONSTRAINT agent_pkey PRIMARY KEY (id);
ALTER TABLE ONLY album_part ADD CONSTRAINT album_part_pkey PRIMARY KEY (agent_id, address_id, chat_id, group_id, message_id);
ALTER TABLE ONLY attachment ADD CONSTRAINT attachment_pkey PRIMARY KEY (message_id, index, agent_id);
ALTER TABLE ONLY audit_entry ADD CONSTRAINT audit_entry_pkey PRIMARY KEY (id);
ALTER TABLE ONLY connected_app ADD CONSTRAINT connected_app_pkey PRIMARY KEY (token_id);
ALTER TABLE ONLY connection ADD CONSTRAINT connection_pkey PRIMARY KEY (id, agent_id);
ALTER TABLE ONLY deleted_agent ADD CONSTRAINT deleted_agent_pkey PRIMARY KEY (agent_id);
ALTER TABLE ONLY dkim_key ADD CONSTRAINT dkim_key_pkey PRIMARY KEY (id);
ALTER TABLE ONLY domain ADD CONSTRAINT domain_pkey PRIMARY KEY (id);
ALTER TABLE ONLY draft_file ADD CONSTRAINT draft_file_pkey PRIMARY KEY (draft_id, index, agent_id);
ALTER TABLE ONLY draft ADD CONSTRAINT draft_pkey PRIMARY KEY (id, agent_id);
ALTER TABLE ONLY event_log ADD CONSTRAINT event_log_pkey PRIMARY KEY (agent_id);
ALTER TABLE ONLY event ADD CONSTRAINT event_pkey PRIMARY KEY (agent_id, id);
ALTER TABLE ONLY given_address ADD CONSTRAINT given_address_pkey PRIMARY KEY (value);
ALTER TABLE ONLY idempotency_key ADD CONSTRAINT idempotency_key_pkey PRIMARY KEY (token_id, key);
ALTER TABLE ONLY identity_claim ADD CONSTRAINT identity_claim_pkey PRIMARY KEY (member_id, channel);
ALTER TABLE ONLY identity_link ADD CONSTRAINT identity_link_pkey PRIMARY KEY (code_hash);
ALTER TABLE ONLY import_position ADD CONSTRAINT import_position_pkey PRIMARY KEY (agent_id, source);
ALTER TABLE ONLY invitation ADD CONSTRAINT invitation_pkey PRIMARY KEY (id);
ALTER TABLE ONLY job ADD CONSTRAINT job_pkey PRIMARY KEY (id, agent_id);
ALTER TABLE ONLY member_identity ADD CONSTRAINT member_identity_pkey PRIMARY KEY (member_id, channel, value);
ALTER TABLE ONLY member ADD CONSTRAINT member_pkey PRIMARY KEY (id);
ALTER TABLE ONLY message ADD CONSTRAINT message_pkey PRIMARY KEY (id, agent_id);
ALTER TABLE ONLY message_raw ADD CONSTRAINT message_raw_pkey PRIMARY KEY (message_id, agent_id);
ALTER TABLE ONLY message_search ADD CONSTRAINT message_search_pkey PRIMARY KEY (message_id, agent_id);
ALTER TABLE ONLY oauth_record ADD CONSTRAINT oauth_record_pkey PRIMARY KEY (hash, kind);
ALTER TABLE ONLY opt_out ADD CONSTRAINT opt_out_pkey PRIMARY KEY (ours, theirs);
ALTER TABLE ONLY passkey ADD CONSTRAINT passkey_pkey PRIMARY KEY (id);
ALTER TABLE ONLY phone_number ADD CONSTRAINT phone_number_pkey PRIMARY KEY (id);
ALTER TABLE ONLY plan ADD CONSTRAINT plan_pkey PRIMARY KEY (key);
ALTER TABLE ONLY rate_count ADD CONSTRAINT rate_count_pkey PRIMARY KEY (key);
ALTER TABLE ONLY recipient ADD CONSTRAINT recipient_pkey PRIMARY KEY (message_id, address, agent_id);
ALTER TABLE ONLY retired_data_key ADD CONSTRAINT retired_data_key_pkey PRIMARY KEY (id);
ALTER TABLE ONLY secret ADD CONSTRAINT secret_pkey PRIMARY KEY (agent_id, name);
ALTER TABLE ONLY session ADD CONSTRAINT session_pkey PRIMARY KEY (token_id);
ALTER TABLE ONLY setup_link ADD CONSTRAINT setup_link_pkey PRIMARY KEY (id);
ALTER TABLE ONLY sign_in_link ADD CONSTRAINT sign_in_link_pkey PRIMARY KEY (hash);
ALTER TABLE ONLY suppression ADD CONSTRAINT suppression_pkey PRIMARY KEY (agent_id, channel, recipient);
ALTER TABLE ONLY telegram_bot ADD CONSTRAINT telegram_bot_pkey PRIMARY KEY (address_id);
ALTER TABLE ONLY tls_result ADD CONSTRAINT tls_result_pkey PRIMARY KEY (day, domain, key);
ALTER TABLE ONLY token ADD CONSTRAINT token_pkey PRIMARY KEY (id);
ALTER TABLE ONLY unindexed_message ADD CONSTRAINT unindexed_message_pkey PRIMARY KEY (agent_id, message_id);
ALTER TABLE ONLY usage_change ADD CONSTRAINT usage_change_pkey PRIMARY KEY (workspace_id, id, agent_id);
ALTER TABLE ONLY webhook_farewell ADD CONSTRAINT webhook_farewell_pkey PRIMARY KEY (id, agent_id);
ALTER TABLE ONLY webhook ADD CONSTRAINT webhook_pkey PRIMARY KEY (id, agent_id);
ALTER TABLE ONLY worker ADD CONSTRAINT worker_pkey PRIMARY KEY (id);
ALTER TABLE ONLY workspace_change ADD CONSTRAINT workspace_change_pkey PRIMARY KEY (workspace_id, xid, id);
ALTER TABLE ONLY workspace_day ADD CONSTRAINT workspace_day_pkey PRIMARY KEY (workspace_id, day, metric);
ALTER TABLE ONLY workspace ADD CONSTRAINT workspace_pkey PRIMARY KEY (id);
ALTER TABLE ONLY workspace_usage ADD CONSTRAINT workspace_usage_pkey PRIMARY KEY (workspace_id, minute);
CREATE INDEX address_agent_id_channel_idx ON address USING btree (agent_id, channel);
CREATE UNIQUE INDEX address_channel_value_key ON address USING btree (channel, value);
CREATE INDEX address_domain_id_idx ON address USING btree (domain_id);
CREATE UNIQUE INDEX address_primary_key ON address USING btree (agent_id, channel) WHERE "primary";
CREATE INDEX address_workspace_id_idx ON address USING btree (workspace_id);
CREATE INDEX agent_created_by_agent_id_idx ON agent USING btree (created_by_agent_id);
CREATE INDEX agent_created_by_member_id_idx ON agent USING btree (created_by_member_id);
CREATE INDEX agent_day_day_idx ON agent_day USING btree (day);
CREATE INDEX agent_workspace_id_created_at_idx ON agent USING btree (workspace_id, created_at);
CREATE INDEX album_part_address_id_idx ON album_part USING btree (address_id);
CREATE INDEX album_part_arrived_at_idx ON album_part USING btree (arrived_at);
CREATE INDEX album_part_waiting_idx ON album_part USING btree (address_id, chat_id, group_id) WHERE (content IS NOT NULL);
CREATE INDEX audit_entry_actor_id_created_at_idx ON audit_entry USING btree (actor_id, created_at);
CREATE INDEX audit_entry_agent_id_created_at_idx ON audit_entry USING btree (agent_id, created_at);
CREATE INDEX audit_entry_workspace_id_created_at_idx ON audit_entry USING btree (workspace_id, created_at);
CREATE INDEX connected_app_client_id_idx ON connected_app USING btree (client_id);
CREATE INDEX connected_app_member_id_idx ON connected_app USING btree (member_id);
CREATE INDEX connection_agent_id_created_at_idx ON connection USING btree (agent_id, created_at);
CREATE UNIQUE INDEX connection_current_key ON connection USING btree (agent_id) WHERE (replaced_at IS NULL);
CREATE INDEX connection_replaced_at_idx ON connection USING btree (replaced_at) WHERE (replaced_at IS NOT NULL);
CREATE INDEX connection_token_id_idx ON connection USING btree (token_id);
CREATE UNIQUE INDEX dkim_key_domain_selector_workspace_id_key ON dkim_key USING btree (domain, selector, workspace_id);
CREATE INDEX domain_name_idx ON domain USING btree (name);
CREATE INDEX domain_recheck_at_idx ON domain USING btree (recheck_at);
CREATE UNIQUE INDEX domain_verified_name_key ON domain USING btree (name) WHERE (state = 'verified'::"DomainState");
CREATE UNIQUE INDEX domain_workspace_id_name_key ON domain USING btree (workspace_id, name);
CREATE INDEX draft_agent_id_created_at_id_idx ON draft USING btree (agent_id, created_at DESC, id DESC);
CREATE INDEX event_created_at_idx ON event USING btree (created_at);
CREATE INDEX idempotency_key_created_at_idx ON idempotency_key USING btree (created_at);
CREATE INDEX identity_link_agent_id_idx ON identity_link USING btree (agent_id);
CREATE INDEX identity_link_member_id_idx ON identity_link USING btree (member_id);
CREATE INDEX invitation_invited_by_id_idx ON invitation USING btree (invited_by_id);
CREATE UNIQUE INDEX invitation_token_hash_key ON invitation USING btree (token_hash);
CREATE UNIQUE INDEX invitation_workspace_id_email_key ON invitation USING btree (workspace_id, email);
CREATE INDEX job_agent_id_idx ON job USING btree (agent_id);
CREATE INDEX job_created_at_idx ON job USING btree (created_at);
CREATE INDEX job_due_at_idx ON job USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE UNIQUE INDEX job_lane_seq_agent_id_key ON job USING btree (lane, seq, agent_id);
CREATE INDEX member_email_idx ON member USING btree (email);
CREATE INDEX member_identity_channel_value_idx ON member_identity USING btree (channel, value);
CREATE UNIQUE INDEX member_workspace_id_email_key ON member USING btree (workspace_id, email);
CREATE INDEX message_agent_id_created_at_id_idx ON message USING btree (agent_id, created_at DESC, id DESC);
CREATE INDEX message_agent_id_internet_message_id_idx ON message USING btree (agent_id, internet_message_id);
CREATE INDEX message_agent_id_thread_id_created_at_idx ON message USING btree (agent_id, thread_id, created_at);
CREATE INDEX message_counterpart_idx ON message USING btree (agent_id, address_id, counterpart, created_at DESC) WHERE (channel = ANY (ARRAY['sms'::"Channel", 'telegram'::"Channel"]));
CREATE UNIQUE INDEX message_fingerprint_key ON message USING btree (agent_id, fingerprint) WHERE (fingerprint IS NOT NULL);
CREATE INDEX message_forward_of_id_idx ON message USING btree (forward_of_id) WHERE (forward_of_id IS NOT NULL);
CREATE INDEX message_held_idx ON message USING btree (agent_id, created_at DESC, id DESC) WHERE ((status = 'sending'::"MessageStatus") AND (hold_reason IS NOT NULL) AND (hold_until IS NOT NULL));
CREATE INDEX message_imported_references_idx ON message USING gin (thread_references) WHERE (status = 'imported'::"MessageStatus");
CREATE INDEX message_kind_idx ON message USING btree (agent_id, channel, direction, status, created_at DESC, id DESC);
CREATE INDEX message_labelled_idx ON message USING btree (agent_id, created_at DESC, id DESC) WHERE (labels <> '{}'::text[]);
CREATE INDEX message_reply_to_id_idx ON message USING btree (reply_to_id) WHERE (reply_to_id IS NOT NULL);
CREATE INDEX message_search_words_idx ON message_search USING gin (words);
CREATE INDEX message_sender_idx ON message USING btree (agent_id, channel, counterpart) WHERE ((direction = 'inbound'::"Direction") AND (status = ANY (ARRAY['received'::"MessageStatus", 'imported'::"MessageStatus"])));
CREATE INDEX message_unread_idx ON message USING btree (agent_id, created_at DESC, id DESC) WHERE ((status = 'received'::"MessageStatus") AND (read_at IS NULL));
CREATE INDEX message_workspace_held_idx ON message USING btree (workspace_id, created_at DESC, id DESC) WHERE ((status = 'sending'::"MessageStatus") AND (hold_reason IS NOT NULL) AND (hold_until IS NOT NULL));
CREATE INDEX message_workspace_idx ON message USING btree (workspace_id, created_at DESC, id DESC);
CREATE INDEX message_workspace_labelled_idx ON message USING btree (workspace_id, created_at DESC, id DESC) WHERE (labels <> '{}'::text[]);
CREATE INDEX message_workspace_status_idx ON message USING btree (workspace_id, status, created_at DESC, id DESC) WHERE (status = ANY (ARRAY['refused'::"MessageStatus", 'failed'::"MessageStatus", 'reported'::"MessageStatus"]));
CREATE INDEX message_workspace_unread_idx ON message USING btree (workspace_id, created_at DESC, id DESC) WHERE ((status = 'received'::"MessageStatus") AND (read_at IS NULL));
CREATE INDEX oauth_record_app_id_idx ON oauth_record USING btree (app_id);
CREATE INDEX oauth_record_expires_at_idx ON oauth_record USING btree (expires_at);
CREATE UNIQUE INDEX passkey_credential_id_key ON passkey USING btree (credential_id);
CREATE INDEX passkey_member_id_idx ON passkey USING btree (member_id);
CREATE UNIQUE INDEX phone_number_address_id_key ON phone_number USING btree (address_id);
CREATE UNIQUE INDEX phone_number_value_key ON phone_number USING btree (value);
CREATE INDEX phone_number_workspace_id_idx ON phone_number USING btree (workspace_id);
CREATE INDEX rate_count_window_start_idx ON rate_count USING btree (window_start);
CREATE INDEX recipient_awaited_idx ON recipient USING btree (updated_at) WHERE ((status = 'sending'::"RecipientStatus") AND (provider_id IS NOT NULL));
CREATE INDEX recipient_parts_idx ON recipient USING gin (parts) WHERE (parts IS NOT NULL);
CREATE INDEX recipient_provider_id_idx ON recipient USING btree (provider_id) WHERE (provider_id IS NOT NULL);
CREATE INDEX retired_data_key_workspace_id_idx ON retired_data_key USING btree (workspace_id);
CREATE INDEX setup_link_agent_id_idx ON setup_link USING btree (agent_id);
CREATE INDEX setup_link_member_id_idx ON setup_link USING btree (member_id);
CREATE UNIQUE INDEX setup_link_suggestion_key ON setup_link USING btree (suggestion);
CREATE UNIQUE INDEX setup_link_token_hash_key ON setup_link USING btree (token_hash);
CREATE INDEX sign_in_link_expires_at_idx ON sign_in_link USING btree (expires_at);
CREATE INDEX sign_in_link_member_id_idx ON sign_in_link USING btree (member_id);
CREATE UNIQUE INDEX telegram_bot_bot_id_key ON telegram_bot USING btree (bot_id);
CREATE INDEX token_agent_id_idx ON token USING btree (agent_id);
CREATE UNIQUE INDEX token_hash_key ON token USING btree (hash);
CREATE INDEX token_member_id_idx ON token USING btree (member_id);
CREATE INDEX token_workspace_id_idx ON token USING btree (workspace_id);
CREATE INDEX webhook_agent_id_idx ON webhook USING btree (agent_id);
CREATE UNIQUE INDEX webhook_agent_id_url_key ON webhook USING btree (agent_id, url) WHERE (kind = 'webhook'::"WebhookKind");
CREATE INDEX webhook_due_at_idx ON webhook USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX webhook_expires_at_idx ON webhook USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX webhook_farewell_due_at_idx ON webhook_farewell USING btree (due_at);
CREATE INDEX webhook_given_up_at_idx ON webhook USING btree (given_up_at) WHERE ((given_up_at IS NOT NULL) AND (owner_told_at IS NULL));
CREATE INDEX webhook_principal_id_idx ON webhook USING btree (principal_id);
CREATE UNIQUE INDEX webhook_subscription_agent_id_key ON webhook USING btree (subscription, agent_id);
CREATE INDEX webhook_token_id_idx ON webhook USING btree (token_id);
CREATE INDEX webhook_workspace_id_idx ON webhook USING btree (workspace_id);
CREATE INDEX workspace_change_created_at_idx ON workspace_change USING brin (created_at);
CREATE INDEX workspace_day_day_idx ON workspace_day USING btree (day);
ALTER TABLE ONLY access ADD CONSTRAINT access_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agent(id) ON DELETE CASCADE;
ALTER TABLE ONLY address ADD CONSTRAINT address_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agent(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY address ADD CONSTRAINT address_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES domain(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE ONLY address ADD CONSTRAINT address_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY agent ADD CONSTRAINT agent_created_by_agent_id_fkey FOREIGN KEY (created_by_agent_id) REFERENCES agent(id) ON UPDATE CASCADE ON DELETE SET NULL;
ALTER TABLE ONLY agent ADD CONSTRAINT agent_created_by_member_id_fkey FOREIGN KEY (created_by_member_id) REFERENCES member(id) ON UPDATE CASCADE ON DELETE SET NULL;
ALTER TABLE ONLY agent_day ADD CONSTRAINT agent_day_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agent(id) ON DELETE CASCADE;
ALTER TABLE ONLY agent ADD CONSTRAINT agent_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY album_part ADD CONSTRAINT album_part_address_id_fkey FOREIGN KEY (address_id) REFERENCES address(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY attachment ADD CONSTRAINT attachment_message_id_agent_id_fkey FOREIGN KEY (message_id, agent_id) REFERENCES message(id, agent_id) ON DELETE CASCADE;
ALTER TABLE ONLY audit_entry ADD CONSTRAINT audit_entry_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY connected_app ADD CONSTRAINT connected_app_member_id_fkey FOREIGN KEY (member_id) REFERENCES member(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY connected_app ADD CONSTRAINT connected_app_token_id_fkey FOREIGN KEY (token_id) REFERENCES token(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY connection ADD CONSTRAINT connection_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agent(id) ON DELETE CASCADE;
ALTER TABLE ONLY connection ADD CONSTRAINT connection_token_id_fkey FOREIGN KEY (token_id) REFERENCES token(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY domain ADD CONSTRAINT domain_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY draft ADD CONSTRAINT draft_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agent(id) ON DELETE CASCADE;
ALTER TABLE ONLY draft_file ADD CONSTRAINT draft_file_draft_id_agent_id_fkey FOREIGN KEY (draft_id, agent_id) REFERENCES draft(id, agent_id) ON DELETE CASCADE;
ALTER TABLE ONLY event_log ADD CONSTRAINT event_log_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agent(id) ON DELETE CASCADE;
ALTER TABLE ONLY idempotency_key ADD CONSTRAINT idempotency_key_token_id_fkey FOREIGN KEY (token_id) REFERENCES token(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY identity_claim ADD CONSTRAINT identity_claim_member_id_fkey FOREIGN KEY (member_id) REFERENCES member(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY identity_link ADD CONSTRAINT identity_link_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agent(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY identity_link ADD CONSTRAINT identity_link_member_id_fkey FOREIGN KEY (member_id) REFERENCES member(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY import_position ADD CONSTRAINT import_position_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agent(id) ON DELETE CASCADE;
ALTER TABLE ONLY invitation ADD CONSTRAINT invitation_invited_by_id_fkey FOREIGN KEY (invited_by_id) REFERENCES member(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY invitation ADD CONSTRAINT invitation_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY member_identity ADD CONSTRAINT member_identity_member_id_fkey FOREIGN KEY (member_id) REFERENCES member(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY member ADD CONSTRAINT member_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY message ADD CONSTRAINT message_forward_of_id_agent_id_fkey FOREIGN KEY (forward_of_id, agent_id) REFERENCES message(id, agent_id);
ALTER TABLE ONLY message_raw ADD CONSTRAINT message_raw_message_id_agent_id_fkey FOREIGN KEY (message_id, agent_id) REFERENCES message(id, agent_id) ON DELETE CASCADE;
ALTER TABLE ONLY message ADD CONSTRAINT message_reply_to_id_agent_id_fkey FOREIGN KEY (reply_to_id, agent_id) REFERENCES message(id, agent_id);
ALTER TABLE ONLY message_search ADD CONSTRAINT message_search_message_id_agent_id_fkey FOREIGN KEY (message_id, agent_id) REFERENCES message(id, agent_id) ON DELETE CASCADE;
ALTER TABLE ONLY oauth_record ADD CONSTRAINT oauth_record_app_id_fkey FOREIGN KEY (app_id) REFERENCES connected_app(token_id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY passkey ADD CONSTRAINT passkey_member_id_fkey FOREIGN KEY (member_id) REFERENCES member(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY phone_number ADD CONSTRAINT phone_number_address_id_fkey FOREIGN KEY (address_id) REFERENCES address(id) ON UPDATE CASCADE ON DELETE SET NULL;
ALTER TABLE ONLY phone_number ADD CONSTRAINT phone_number_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE ONLY recipient ADD CONSTRAINT recipient_message_id_agent_id_fkey FOREIGN KEY (message_id, agent_id) REFERENCES message(id, agent_id) ON DELETE CASCADE;
ALTER TABLE ONLY retired_data_key ADD CONSTRAINT retired_data_key_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY secret ADD CONSTRAINT secret_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agent(id) ON DELETE CASCADE;
ALTER TABLE ONLY session ADD CONSTRAINT session_token_id_fkey FOREIGN KEY (token_id) REFERENCES token(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY setup_link ADD CONSTRAINT setup_link_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agent(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY setup_link ADD CONSTRAINT setup_link_member_id_fkey FOREIGN KEY (member_id) REFERENCES member(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY sign_in_link ADD CONSTRAINT sign_in_link_member_id_fkey FOREIGN KEY (member_id) REFERENCES member(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY suppression ADD CONSTRAINT suppression_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agent(id) ON DELETE CASCADE;
ALTER TABLE ONLY telegram_bot ADD CONSTRAINT telegram_bot_address_id_fkey FOREIGN KEY (address_id) REFERENCES address(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY token ADD CONSTRAINT token_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agent(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY token ADD CONSTRAINT token_member_id_fkey FOREIGN KEY (member_id) REFERENCES member(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY token ADD CONSTRAINT token_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY webhook ADD CONSTRAINT webhook_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agent(id) ON DELETE CASCADE;
ALTER TABLE ONLY webhook ADD CONSTRAINT webhook_token_id_fkey FOREIGN KEY (token_id) REFERENCES token(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY webhook ADD CONSTRAINT webhook_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY workspace_day ADD CONSTRAINT workspace_day_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY workspace ADD CONSTRAINT workspace_plan_key_fkey FOREIGN KEY (plan_key) REFERENCES plan(key) ON UPDATE CASCADE ON DELETE RESTRICT;
ALTER TABLE ONLY workspace_usage ADD CONSTRAINT workspace_usage_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspace(id) ON UPDATE CASCADE ON DELETE CASCADE;

INSERT INTO plan (key, agents, members, own_domains, webhooks, sends_per_day, stored_messages, change_address, phone_numbers) VALUES
    ('unlimited', NULL, NULL, NULL, NULL, NULL, NULL, true, NULL),
    ('team', 50, 20, 5, 100, 5000, 500000, true, 10),
    ('free', 3, 3, 0, 3, 100, 5000, false, 1);
