-- Made by scripts/dump-schema.mjs from the migrations; do not edit.

CREATE EXTENSION IF NOT EXISTS btree_gist WITH SCHEMA public;

COMMENT ON EXTENSION btree_gist IS 'support for indexing common datatypes in GiST';

CREATE TABLE public.access_tokens (
    partner_id uuid NOT NULL,
    token_id text NOT NULL,
    credential_id text NOT NULL,
    pepper_id text NOT NULL,
    hash bytea NOT NULL,
    scopes text[] NOT NULL,
    issued_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone
);

CREATE TABLE public.audit_blocks (
    partner_id uuid NOT NULL,
    source text NOT NULL,
    number integer NOT NULL,
    from_at timestamp with time zone NOT NULL,
    until_at timestamp with time zone NOT NULL,
    rows integer NOT NULL,
    key_id text NOT NULL,
    leaves bytea NOT NULL,
    previous bytea,
    hash bytea NOT NULL,
    sealed_at timestamp with time zone NOT NULL,
    CONSTRAINT audit_blocks_check CHECK ((until_at > from_at)),
    CONSTRAINT audit_blocks_number_check CHECK ((number > 0)),
    CONSTRAINT audit_blocks_rows_check CHECK ((rows >= 0)),
    CONSTRAINT audit_blocks_source_check CHECK ((source = ANY (ARRAY['history'::text, 'audit_log'::text])))
);

CREATE TABLE public.audit_log (
    partner_id uuid NOT NULL,
    entry_id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    actor_kind text NOT NULL,
    actor text NOT NULL,
    source bytea,
    action text NOT NULL,
    service_id uuid,
    result text NOT NULL,
    sealed_reason bytea,
    request_id uuid,
    times integer DEFAULT 1 NOT NULL,
    CONSTRAINT audit_log_actor_kind_check CHECK ((actor_kind = ANY (ARRAY['credential'::text, 'session'::text, 'operator'::text, 'command'::text, 'nobody'::text]))),
    CONSTRAINT audit_log_times_check CHECK ((times > 0))
);

CREATE TABLE public.caller_changes (
    partner_id uuid NOT NULL,
    changed_at timestamp with time zone NOT NULL
);

CREATE TABLE public.catalogue_versions (
    version integer NOT NULL,
    document jsonb NOT NULL,
    published_at timestamp with time zone NOT NULL,
    published_by text NOT NULL,
    CONSTRAINT catalogue_versions_version_check CHECK ((version > 0))
);

CREATE TABLE public.charged_from (
    partner_id uuid NOT NULL,
    service_id uuid NOT NULL,
    month text NOT NULL,
    anew_at timestamp with time zone,
    CONSTRAINT charged_from_month_check CHECK ((month ~ '^\d{4}-\d{2}$'::text))
);

CREATE TABLE public.consents (
    partner_id uuid NOT NULL,
    service_id uuid NOT NULL,
    name text NOT NULL,
    version text NOT NULL,
    locale text NOT NULL,
    agreed_at timestamp with time zone NOT NULL,
    channel text DEFAULT 'partner'::text NOT NULL,
    text_hash bytea,
    recorded_by text,
    CONSTRAINT consents_channel_check CHECK ((channel = ANY (ARRAY['page'::text, 'partner'::text, 'phone'::text, 'paper'::text, 'email'::text, 'import'::text])))
);

CREATE TABLE public.corrected_pasts (
    partner_id uuid NOT NULL,
    service_id uuid NOT NULL,
    recorded_at timestamp with time zone NOT NULL
);

CREATE TABLE public.covered_dependants (
    partner_id uuid NOT NULL,
    service_id uuid NOT NULL,
    enrolment_id uuid NOT NULL,
    place integer NOT NULL,
    benefit text NOT NULL,
    dependant_id uuid NOT NULL,
    relationship text NOT NULL,
    own_start_at timestamp with time zone,
    own_end_at timestamp with time zone,
    own_end_reason text,
    is_over boolean NOT NULL,
    starts_at timestamp with time zone NOT NULL,
    ends_at timestamp with time zone,
    counts boolean NOT NULL,
    CONSTRAINT covered_dependants_check CHECK (((ends_at IS NULL) OR (ends_at >= starts_at))),
    CONSTRAINT covered_dependants_check1 CHECK (((own_end_at IS NULL) = (own_end_reason IS NULL))),
    CONSTRAINT covered_dependants_own_end_reason_check CHECK ((own_end_reason = ANY (ARRAY['endsatage'::text, 'coverchanged'::text, 'corrected'::text]))),
    CONSTRAINT covered_dependants_relationship_check CHECK ((relationship = ANY (ARRAY['spouse'::text, 'domesticpartner'::text, 'child'::text])))
);

CREATE TABLE public.credential_uses (
    partner_id uuid NOT NULL,
    credential_id text NOT NULL,
    last_used_at timestamp with time zone NOT NULL
);

CREATE TABLE public.credentials (
    partner_id uuid NOT NULL,
    credential_id text NOT NULL,
    kind text NOT NULL,
    pepper_id text NOT NULL,
    hash bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    made_by text NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    CONSTRAINT credentials_kind_check CHECK ((kind = ANY (ARRAY['client_secret'::text, 'api_key'::text])))
);

CREATE TABLE public.data_keys (
    partner_id uuid NOT NULL,
    service_id uuid NOT NULL,
    wrapped_key bytea NOT NULL
);

CREATE TABLE public.dead_deliveries (
    partner_id uuid NOT NULL,
    event_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    attempts integer NOT NULL,
    reason text NOT NULL,
    died_at timestamp with time zone NOT NULL,
    CONSTRAINT dead_deliveries_reason_check CHECK ((reason = ANY (ARRAY['attempts'::text, 'age'::text])))
);

CREATE TABLE public.deliveries (
    partner_id uuid NOT NULL,
    event_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    service_id uuid NOT NULL,
    "position" bigint NOT NULL,
    work text DEFAULT 'fresh'::text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    due_at timestamp with time zone NOT NULL,
    queued_at timestamp with time zone NOT NULL,
    ordered boolean DEFAULT false NOT NULL,
    held_from timestamp with time zone,
    is_behind boolean DEFAULT false NOT NULL,
    CONSTRAINT deliveries_work_check CHECK ((work = ANY ('{fresh,retry,replay}'::text[])))
);

CREATE TABLE public.delivery_attempts (
    partner_id uuid NOT NULL,
    attempt_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    event_id uuid NOT NULL,
    attempt integer NOT NULL,
    started_at timestamp with time zone NOT NULL,
    pair text NOT NULL,
    status integer,
    error_class text,
    address text,
    dns_ms integer,
    connect_ms integer,
    tls_ms integer,
    first_byte_ms integer,
    total_ms integer NOT NULL,
    sealed_answer bytea,
    CONSTRAINT delivery_attempts_check CHECK (((status IS NULL) <> (error_class IS NULL))),
    CONSTRAINT delivery_attempts_pair_check CHECK ((pair = ANY (ARRAY['current'::text, 'next'::text])))
)
PARTITION BY RANGE (started_at);

CREATE TABLE public.delivery_attempts_rest (
    partner_id uuid NOT NULL,
    attempt_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    event_id uuid NOT NULL,
    attempt integer NOT NULL,
    started_at timestamp with time zone NOT NULL,
    pair text NOT NULL,
    status integer,
    error_class text,
    address text,
    dns_ms integer,
    connect_ms integer,
    tls_ms integer,
    first_byte_ms integer,
    total_ms integer NOT NULL,
    sealed_answer bytea,
    CONSTRAINT delivery_attempts_check CHECK (((status IS NULL) <> (error_class IS NULL))),
    CONSTRAINT delivery_attempts_pair_check CHECK ((pair = ANY (ARRAY['current'::text, 'next'::text])))
);

CREATE TABLE public.endpoint_health (
    partner_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    revision integer DEFAULT 1 NOT NULL,
    breaker jsonb NOT NULL,
    failing_since timestamp with time zone,
    notices integer DEFAULT 0 NOT NULL,
    paused_until timestamp with time zone,
    accepted_pair text,
    next_accepted_at timestamp with time zone,
    certificate_ends_at timestamp with time zone,
    reported text,
    reported_since timestamp with time zone,
    probing_until timestamp with time zone,
    next_at timestamp with time zone,
    CONSTRAINT endpoint_health_accepted_pair_check CHECK ((accepted_pair = ANY (ARRAY['current'::text, 'next'::text]))),
    CONSTRAINT endpoint_health_reported_check CHECK ((reported = ANY (ARRAY['failing'::text, 'disabled'::text])))
);

CREATE TABLE public.enrolments (
    partner_id uuid NOT NULL,
    service_id uuid NOT NULL,
    enrolment_id uuid NOT NULL,
    benefit text NOT NULL,
    offer text NOT NULL,
    is_fixed boolean NOT NULL,
    state text NOT NULL,
    pending_by text,
    catalogue_version integer NOT NULL,
    picked_at timestamp with time zone NOT NULL,
    starts_at timestamp with time zone NOT NULL,
    ends_at timestamp with time zone,
    own_end_at timestamp with time zone,
    own_end_reason text,
    corrected_end_at timestamp with time zone,
    action_due_at timestamp with time zone,
    close_reason text,
    is_single boolean DEFAULT false NOT NULL,
    corrects uuid,
    pending_cover jsonb,
    pending_cover_at timestamp with time zone,
    tiers_version integer,
    tiers_at timestamp with time zone,
    CONSTRAINT enrolments_check CHECK (((ends_at IS NULL) OR (ends_at >= starts_at) OR (state = ANY (ARRAY['withdrawn'::text, 'declined'::text, 'rejected'::text, 'void'::text])))),
    CONSTRAINT enrolments_check1 CHECK (((state <> 'endscheduled'::text) OR (ends_at IS NOT NULL))),
    CONSTRAINT enrolments_check2 CHECK (((state <> 'ended'::text) OR (ends_at IS NOT NULL))),
    CONSTRAINT enrolments_check3 CHECK (((own_end_at IS NULL) = (own_end_reason IS NULL))),
    CONSTRAINT enrolments_check4 CHECK (((corrected_end_at IS NULL) OR (own_end_reason = 'ineligible'::text))),
    CONSTRAINT enrolments_check5 CHECK (((pending_by IS NULL) OR (state <> ALL (ARRAY['enrolled'::text, 'endscheduled'::text, 'ended'::text])))),
    CONSTRAINT enrolments_pending_by_check CHECK ((pending_by = ANY ('{offer,swap}'::text[]))),
    CONSTRAINT enrolments_state_check CHECK ((state = ANY ('{selected,actionrequired,scheduled,enrolled,endscheduled,ended,withdrawn,declined,rejected,void}'::text[])))
);

CREATE TABLE public.erasures (
    partner_id uuid NOT NULL,
    service_id uuid NOT NULL,
    erased_at timestamp with time zone NOT NULL,
    scrubbed_at timestamp with time zone,
    events_removed_at timestamp with time zone
);

CREATE TABLE public.event_log_heads (
    partner_id uuid NOT NULL,
    last bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE public.events (
    partner_id uuid NOT NULL,
    event_id uuid NOT NULL,
    "position" bigint NOT NULL,
    service_id uuid NOT NULL,
    userid text NOT NULL,
    eventname text NOT NULL,
    body bytea NOT NULL,
    data jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE public.feed_differences (
    partner_id uuid NOT NULL,
    feed text NOT NULL,
    kind text NOT NULL,
    subject bytea NOT NULL,
    service_id uuid,
    benefit text NOT NULL,
    found_at timestamp with time zone NOT NULL,
    aside_at timestamp with time zone,
    aside_reason text,
    sealed bytea,
    dependant_id uuid,
    CONSTRAINT feed_differences_aside_reason_check CHECK ((aside_reason = ANY (ARRAY['insurermends'::text, 'listwrong'::text, 'formersystem'::text, 'agreed'::text]))),
    CONSTRAINT feed_differences_kind_check CHECK ((kind = ANY (ARRAY['missingthere'::text, 'unknownhere'::text, 'dates'::text, 'details'::text, 'twice'::text])))
);

CREATE TABLE public.feed_runs (
    feed text NOT NULL,
    run integer NOT NULL,
    version integer NOT NULL,
    catalogue_version integer NOT NULL,
    status text NOT NULL,
    is_full boolean NOT NULL,
    lines integer NOT NULL,
    counts jsonb NOT NULL,
    made_at timestamp with time zone NOT NULL,
    made_by text NOT NULL,
    decided_by text,
    taken_at timestamp with time zone,
    insurer_name text,
    CONSTRAINT feed_runs_run_check CHECK ((run > 0)),
    CONSTRAINT feed_runs_status_check CHECK ((status = ANY (ARRAY['made'::text, 'held'::text, 'taken'::text, 'dropped'::text])))
);

CREATE TABLE public.feed_seen (
    partner_id uuid NOT NULL,
    feed text NOT NULL,
    service_id uuid NOT NULL,
    version integer NOT NULL,
    look_at timestamp with time zone
);

CREATE TABLE public.feed_versions (
    version integer NOT NULL,
    document jsonb NOT NULL,
    published_at timestamp with time zone NOT NULL,
    published_by text NOT NULL,
    CONSTRAINT feed_versions_version_check CHECK ((version > 0))
);

CREATE TABLE public.feeds (
    feed text NOT NULL,
    published_at timestamp with time zone NOT NULL
);

CREATE TABLE public.files (
    hash bytea NOT NULL,
    media_type text NOT NULL,
    content bytea NOT NULL,
    stored_at timestamp with time zone NOT NULL,
    stored_by text NOT NULL,
    CONSTRAINT files_hash_check CHECK ((octet_length(hash) = 32)),
    CONSTRAINT files_media_type_check CHECK ((media_type = ANY (ARRAY['application/pdf'::text, 'image/png'::text, 'image/webp'::text])))
);

CREATE TABLE public.held_periods (
    partner_id uuid NOT NULL,
    service_id uuid NOT NULL,
    name text NOT NULL,
    starts_at timestamp with time zone NOT NULL,
    ends_at timestamp with time zone,
    catalogue_version integer NOT NULL,
    is_offer boolean NOT NULL,
    who text,
    CONSTRAINT held_periods_check CHECK (((ends_at IS NULL) OR (ends_at >= starts_at)))
);

CREATE TABLE public.history (
    partner_id uuid NOT NULL,
    service_id uuid NOT NULL,
    version integer NOT NULL,
    at timestamp with time zone NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    who text NOT NULL,
    lines jsonb NOT NULL,
    event_ids uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    actor text,
    request_id uuid,
    reference text
);

CREATE TABLE public.idempotency_keys (
    partner_id uuid NOT NULL,
    operation text NOT NULL,
    key_hash bytea NOT NULL,
    request_hash bytea NOT NULL,
    attempt_id uuid NOT NULL,
    service_id uuid,
    prefill_number integer,
    sealed_answer bytea,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

CREATE TABLE public.installation (
    only_row boolean DEFAULT true NOT NULL,
    sandbox boolean NOT NULL,
    keyring_check bytea NOT NULL,
    root_key_id text NOT NULL,
    wrapped_audit_key bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    quiet_since timestamp with time zone,
    operator_policy jsonb DEFAULT '{}'::jsonb NOT NULL,
    console_url text,
    service_url text,
    CONSTRAINT installation_only_row_check CHECK (only_row)
);

CREATE TABLE public.insurer_farewells (
    partner_id uuid NOT NULL,
    service_id uuid NOT NULL,
    insurer text NOT NULL,
    benefit text NOT NULL,
    cover integer NOT NULL,
    action text NOT NULL,
    feed text,
    run integer,
    line integer,
    sealed bytea NOT NULL,
    keep_until timestamp with time zone NOT NULL,
    CONSTRAINT insurer_farewells_action_check CHECK ((action = ANY (ARRAY['end'::text, 'correct'::text, 'void'::text])))
);

CREATE TABLE public.insurer_lines (
    partner_id uuid NOT NULL,
    service_id uuid NOT NULL,
    insurer text NOT NULL,
    benefit text NOT NULL,
    feed text NOT NULL,
    run integer NOT NULL,
    line integer NOT NULL,
    told_at timestamp with time zone NOT NULL,
    cover integer NOT NULL,
    action text NOT NULL,
    starts_on date NOT NULL,
    ends_on date,
    details bytea,
    sealed bytea,
    status text DEFAULT 'sent'::text NOT NULL,
    sealed_answer bytea,
    answered_at timestamp with time zone,
    dependant_id uuid,
    tier text,
    tier_starts_on date,
    CONSTRAINT insurer_lines_action_check CHECK ((action = ANY (ARRAY['add'::text, 'change'::text, 'correct'::text, 'end'::text, 'reinstate'::text, 'void'::text]))),
    CONSTRAINT insurer_lines_status_check CHECK ((status = ANY (ARRAY['sent'::text, 'accepted'::text, 'refused'::text, 'settled'::text, 'doubted'::text])))
);

CREATE TABLE public.migrations (
    name text NOT NULL,
    applied_at timestamp with time zone NOT NULL
);

CREATE TABLE public.operator_links (
    operator_id uuid NOT NULL,
    link_id uuid NOT NULL,
    pepper_id text NOT NULL,
    hash bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    spent_at timestamp with time zone
);

CREATE TABLE public.operator_requests (
    partner_id uuid NOT NULL,
    request_id uuid NOT NULL,
    action text NOT NULL,
    service_id uuid,
    sealed bytea NOT NULL,
    asked_by uuid NOT NULL,
    asked_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    decided_by uuid,
    decided_at timestamp with time zone,
    outcome text,
    used_in uuid,
    CONSTRAINT operator_requests_action_check CHECK ((action = ANY (ARRAY['void'::text, 'move'::text, 'erase'::text, 'dateandlink'::text, 'credentials'::text, 'release'::text]))),
    CONSTRAINT operator_requests_check CHECK (((decided_at IS NULL) = (outcome IS NULL))),
    CONSTRAINT operator_requests_check1 CHECK (((decided_by IS NULL) OR (decided_by <> asked_by))),
    CONSTRAINT operator_requests_outcome_check CHECK ((outcome = ANY (ARRAY['done'::text, 'refused'::text, 'withdrawn'::text, 'lapsed'::text])))
);

CREATE TABLE public.operator_sessions (
    session_id uuid NOT NULL,
    operator_id uuid NOT NULL,
    pepper_id text NOT NULL,
    hash bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone
);

CREATE TABLE public.operators (
    operator_id uuid NOT NULL,
    name text NOT NULL,
    role text NOT NULL,
    partners uuid[],
    issuer text,
    subject text,
    email text,
    created_at timestamp with time zone NOT NULL,
    disabled_at timestamp with time zone,
    CONSTRAINT operators_check CHECK (((issuer IS NULL) = (subject IS NULL))),
    CONSTRAINT operators_name_check CHECK ((name <> ''::text)),
    CONSTRAINT operators_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'support'::text, 'admin'::text, 'developer'::text])))
);

CREATE TABLE public.page_languages (
    partner_id uuid NOT NULL,
    userid text NOT NULL,
    locale text NOT NULL
);

CREATE TABLE public.page_sessions (
    partner_id uuid NOT NULL,
    session_id uuid NOT NULL,
    userid text NOT NULL,
    service_id uuid,
    purpose text NOT NULL,
    offername text,
    deeplinkdata text,
    redirecturl text,
    origins text[] NOT NULL,
    locale text,
    delivery text NOT NULL,
    token_pepper_id text NOT NULL,
    token_hash bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    token_expires_at timestamp with time zone NOT NULL,
    made_by uuid,
    spent_at timestamp with time zone,
    revoked_at timestamp with time zone,
    handle_pepper_id text,
    handle_hash bytea,
    last_seen_at timestamp with time zone,
    birthdate_tries integer DEFAULT 0 NOT NULL,
    birthdate_passed_at timestamp with time zone,
    birthdate_tried_at timestamp with time zone,
    last_view text,
    signed_out_at timestamp with time zone,
    outcome text,
    reference text,
    completed_at timestamp with time zone,
    result_pepper_id text,
    result_hash bytea,
    CONSTRAINT page_sessions_birthdate_tries_check CHECK (((birthdate_tries >= 0) AND (birthdate_tries <= 5))),
    CONSTRAINT page_sessions_check CHECK (((spent_at IS NULL) = (handle_hash IS NULL))),
    CONSTRAINT page_sessions_check1 CHECK (((outcome IS NULL) = (completed_at IS NULL))),
    CONSTRAINT page_sessions_delivery_check CHECK ((delivery = ANY (ARRAY['embed'::text, 'hosted'::text, 'sms'::text, 'email'::text]))),
    CONSTRAINT page_sessions_outcome_check CHECK ((outcome = ANY (ARRAY['enrolled'::text, 'swapped'::text, 'changed'::text, 'cancelled'::text, 'undone'::text, 'exited'::text, 'challengefailed'::text]))),
    CONSTRAINT page_sessions_purpose_check CHECK ((purpose = ANY (ARRAY['registration'::text, 'benefits'::text, 'swap'::text, 'offerchange'::text])))
);

CREATE TABLE public.partners (
    partner_id uuid NOT NULL,
    name text NOT NULL,
    aliases text[] DEFAULT '{}'::text[] NOT NULL,
    timezone text NOT NULL,
    locale text DEFAULT 'en'::text NOT NULL,
    origins text[] DEFAULT '{}'::text[] NOT NULL,
    redirects text[] DEFAULT '{}'::text[] NOT NULL,
    help jsonb DEFAULT '{}'::jsonb NOT NULL,
    legal jsonb DEFAULT '{}'::jsonb NOT NULL,
    look jsonb DEFAULT '{}'::jsonb NOT NULL,
    retain text,
    offers text[],
    api_key_optional boolean DEFAULT false NOT NULL,
    rate_per_second double precision,
    scopes text[],
    wrapped_key bytea NOT NULL,
    clock_offset_ms bigint DEFAULT 0 NOT NULL,
    disabled_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    cell text DEFAULT ''::text NOT NULL,
    CONSTRAINT partners_clock_offset_ms_check CHECK ((clock_offset_ms >= 0)),
    CONSTRAINT partners_locale_check CHECK ((locale = ANY (ARRAY['en'::text, 'es'::text]))),
    CONSTRAINT partners_name_check CHECK ((name <> ''::text)),
    CONSTRAINT partners_rate_per_second_check CHECK ((rate_per_second > (0)::double precision)),
    CONSTRAINT partners_retain_check CHECK ((retain ~ '^[1-9][0-9]?y$'::text))
);

CREATE TABLE public.refused_creates (
    partner_id uuid NOT NULL,
    userid_hash bytea NOT NULL,
    service_id uuid,
    at timestamp with time zone NOT NULL,
    request_id uuid NOT NULL,
    code text NOT NULL,
    reasons jsonb NOT NULL
);

CREATE TABLE public.retained_records (
    partner_id uuid NOT NULL,
    service_id uuid NOT NULL,
    kind text NOT NULL,
    wrapped_key bytea NOT NULL,
    sealed bytea NOT NULL,
    keep_until timestamp with time zone NOT NULL,
    CONSTRAINT retained_records_kind_check CHECK ((kind = ANY (ARRAY['consents'::text, 'confirmations'::text, 'coverage'::text, 'beneficiaries'::text])))
);

CREATE TABLE public.sealed_records (
    partner_id uuid NOT NULL,
    service_id uuid NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    version text NOT NULL,
    at timestamp with time zone NOT NULL,
    sealed bytea NOT NULL,
    facts jsonb,
    email_hash bytea,
    phone_hash bytea
);

CREATE TABLE public.statement_lines (
    partner_id uuid NOT NULL,
    month text NOT NULL,
    service_id uuid NOT NULL,
    place integer NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    offer text NOT NULL,
    from_date date NOT NULL,
    to_date date NOT NULL,
    person_cents bigint NOT NULL,
    taken_by text NOT NULL,
    partner_cents bigint NOT NULL,
    insurer_cents bigint NOT NULL,
    insurer text NOT NULL,
    about text NOT NULL,
    days integer,
    tier text,
    CONSTRAINT statement_lines_kind_check CHECK ((kind = ANY (ARRAY['benefit'::text, 'offer'::text, 'adjustment'::text])))
);

CREATE TABLE public.statements (
    partner_id uuid NOT NULL,
    month text NOT NULL,
    timezone text NOT NULL,
    begun_at timestamp with time zone NOT NULL,
    last_service_id uuid NOT NULL,
    users integer DEFAULT 0 NOT NULL,
    person_cents bigint DEFAULT 0 NOT NULL,
    partner_cents bigint DEFAULT 0 NOT NULL,
    finalized_at timestamp with time zone
);

CREATE TABLE public.users (
    partner_id uuid NOT NULL,
    service_id uuid NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    userid text NOT NULL,
    is_current boolean DEFAULT true NOT NULL,
    status text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    prefill_count integer DEFAULT 0 NOT NULL,
    prefill_written_at timestamp with time zone,
    entry_expires_at timestamp with time zone,
    offer text,
    offer_since timestamp with time zone,
    offer_version integer,
    offer_in_force boolean DEFAULT false NOT NULL,
    offer_admits boolean DEFAULT true NOT NULL,
    pending_offer text,
    pending_offer_at timestamp with time zone,
    swap_pairs jsonb,
    swap_at timestamp with time zone,
    cancel_at timestamp with time zone,
    cancel_requested_at timestamp with time zone,
    cancel_reason text,
    erased_at timestamp with time zone,
    due_at timestamp with time zone,
    dependants_version integer,
    CONSTRAINT users_cancel_reason_check CHECK ((cancel_reason = ANY ('{voluntary,employmentended,nonpayment,deceased,duplicate,mistake}'::text[]))),
    CONSTRAINT users_check CHECK (((status = 'erased'::text) = (erased_at IS NOT NULL))),
    CONSTRAINT users_check1 CHECK ((is_current OR (status = 'erased'::text))),
    CONSTRAINT users_check2 CHECK (((NOT offer_in_force) OR ((offer IS NOT NULL) AND (status = 'active'::text)))),
    CONSTRAINT users_check3 CHECK (((status <> 'active'::text) OR (offer IS NOT NULL))),
    CONSTRAINT users_check4 CHECK (((status <> 'cancelled'::text) OR (cancel_at IS NOT NULL))),
    CONSTRAINT users_check5 CHECK (((status = 'active'::text) OR ((pending_offer IS NULL) AND (swap_pairs IS NULL)))),
    CONSTRAINT users_status_check CHECK ((status = ANY ('{none,prefilled,registering,active,cancelled,erased}'::text[])))
);

CREATE TABLE public.webhook_endpoints (
    partner_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    url text NOT NULL,
    sealed_secrets bytea NOT NULL,
    events text[] NOT NULL,
    all_events boolean DEFAULT false NOT NULL,
    ordering text DEFAULT 'none'::text NOT NULL,
    rate_limit double precision,
    disabled_at timestamp with time zone,
    disabled_reason text,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    CONSTRAINT webhook_endpoints_check CHECK (((disabled_at IS NULL) = (disabled_reason IS NULL))),
    CONSTRAINT webhook_endpoints_ordering_check CHECK ((ordering = ANY (ARRAY['none'::text, 'user'::text])))
);

ALTER TABLE ONLY public.delivery_attempts ATTACH PARTITION public.delivery_attempts_rest DEFAULT;

ALTER TABLE ONLY public.access_tokens
    ADD CONSTRAINT access_tokens_pkey PRIMARY KEY (partner_id, token_id);

ALTER TABLE ONLY public.audit_blocks
    ADD CONSTRAINT audit_blocks_pkey PRIMARY KEY (partner_id, source, number);

ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY (partner_id, entry_id);

ALTER TABLE ONLY public.caller_changes
    ADD CONSTRAINT caller_changes_pkey PRIMARY KEY (partner_id);

ALTER TABLE ONLY public.catalogue_versions
    ADD CONSTRAINT catalogue_versions_pkey PRIMARY KEY (version);

ALTER TABLE ONLY public.charged_from
    ADD CONSTRAINT charged_from_pkey PRIMARY KEY (partner_id, service_id);

ALTER TABLE ONLY public.consents
    ADD CONSTRAINT consents_pkey PRIMARY KEY (partner_id, service_id, name, version);

ALTER TABLE ONLY public.corrected_pasts
    ADD CONSTRAINT corrected_pasts_pkey PRIMARY KEY (partner_id, service_id);

ALTER TABLE ONLY public.covered_dependants
    ADD CONSTRAINT covered_dependants_pkey PRIMARY KEY (partner_id, service_id, enrolment_id, place);

ALTER TABLE ONLY public.covered_dependants
    ADD CONSTRAINT covered_dependants_service_id_benefit_dependant_id_partner_excl EXCLUDE USING gist (service_id WITH =, benefit WITH =, dependant_id WITH =, partner_id WITH =, tstzrange(starts_at, ends_at) WITH &&) WHERE (counts);

ALTER TABLE ONLY public.credential_uses
    ADD CONSTRAINT credential_uses_pkey PRIMARY KEY (partner_id, credential_id);

ALTER TABLE ONLY public.credentials
    ADD CONSTRAINT credentials_pkey PRIMARY KEY (partner_id, credential_id);

ALTER TABLE ONLY public.data_keys
    ADD CONSTRAINT data_keys_pkey PRIMARY KEY (partner_id, service_id);

ALTER TABLE ONLY public.dead_deliveries
    ADD CONSTRAINT dead_deliveries_pkey PRIMARY KEY (partner_id, event_id, endpoint_id);

ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_pkey PRIMARY KEY (partner_id, event_id, endpoint_id);

ALTER TABLE ONLY public.delivery_attempts
    ADD CONSTRAINT delivery_attempts_pkey PRIMARY KEY (partner_id, event_id, started_at, attempt_id);

ALTER TABLE ONLY public.delivery_attempts_rest
    ADD CONSTRAINT delivery_attempts_rest_pkey PRIMARY KEY (partner_id, event_id, started_at, attempt_id);

ALTER TABLE ONLY public.endpoint_health
    ADD CONSTRAINT endpoint_health_pkey PRIMARY KEY (partner_id, endpoint_id);

ALTER TABLE ONLY public.enrolments
    ADD CONSTRAINT enrolments_pkey PRIMARY KEY (partner_id, service_id, enrolment_id);

ALTER TABLE ONLY public.enrolments
    ADD CONSTRAINT enrolments_service_id_benefit_partner_id_tstzrange_excl EXCLUDE USING gist (service_id WITH =, benefit WITH =, partner_id WITH =, tstzrange(starts_at, ends_at) WITH &&) WHERE ((state = ANY (ARRAY['selected'::text, 'actionrequired'::text, 'scheduled'::text, 'enrolled'::text, 'endscheduled'::text, 'ended'::text])));

ALTER TABLE ONLY public.erasures
    ADD CONSTRAINT erasures_pkey PRIMARY KEY (partner_id, service_id);

ALTER TABLE ONLY public.event_log_heads
    ADD CONSTRAINT event_log_heads_pkey PRIMARY KEY (partner_id);

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (partner_id, event_id);

ALTER TABLE ONLY public.feed_differences
    ADD CONSTRAINT feed_differences_pkey PRIMARY KEY (partner_id, feed, kind, subject);

ALTER TABLE ONLY public.feed_runs
    ADD CONSTRAINT feed_runs_pkey PRIMARY KEY (feed, run);

ALTER TABLE ONLY public.feed_seen
    ADD CONSTRAINT feed_seen_pkey PRIMARY KEY (partner_id, feed, service_id);

ALTER TABLE ONLY public.feed_versions
    ADD CONSTRAINT feed_versions_pkey PRIMARY KEY (version);

ALTER TABLE ONLY public.feeds
    ADD CONSTRAINT feeds_pkey PRIMARY KEY (feed);

ALTER TABLE ONLY public.files
    ADD CONSTRAINT files_pkey PRIMARY KEY (hash);

ALTER TABLE ONLY public.held_periods
    ADD CONSTRAINT held_periods_pkey PRIMARY KEY (partner_id, service_id, name, starts_at);

ALTER TABLE ONLY public.history
    ADD CONSTRAINT history_pkey PRIMARY KEY (partner_id, service_id, version);

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (partner_id, operation, key_hash);

ALTER TABLE ONLY public.installation
    ADD CONSTRAINT installation_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY public.insurer_farewells
    ADD CONSTRAINT insurer_farewells_pkey PRIMARY KEY (partner_id, service_id, benefit, cover);

ALTER TABLE ONLY public.insurer_lines
    ADD CONSTRAINT insurer_lines_pkey PRIMARY KEY (partner_id, service_id, benefit, feed, run, line);

ALTER TABLE ONLY public.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.operator_links
    ADD CONSTRAINT operator_links_pkey PRIMARY KEY (link_id);

ALTER TABLE ONLY public.operator_requests
    ADD CONSTRAINT operator_requests_pkey PRIMARY KEY (partner_id, request_id);

ALTER TABLE ONLY public.operator_sessions
    ADD CONSTRAINT operator_sessions_pkey PRIMARY KEY (session_id);

ALTER TABLE ONLY public.operators
    ADD CONSTRAINT operators_issuer_subject_key UNIQUE (issuer, subject);

ALTER TABLE ONLY public.operators
    ADD CONSTRAINT operators_name_key UNIQUE (name);

ALTER TABLE ONLY public.operators
    ADD CONSTRAINT operators_pkey PRIMARY KEY (operator_id);

ALTER TABLE ONLY public.page_languages
    ADD CONSTRAINT page_languages_pkey PRIMARY KEY (partner_id, userid);

ALTER TABLE ONLY public.page_sessions
    ADD CONSTRAINT page_sessions_pkey PRIMARY KEY (partner_id, session_id);

ALTER TABLE ONLY public.partners
    ADD CONSTRAINT partners_pkey PRIMARY KEY (partner_id);

ALTER TABLE ONLY public.refused_creates
    ADD CONSTRAINT refused_creates_pkey PRIMARY KEY (partner_id, userid_hash, at, request_id);

ALTER TABLE ONLY public.retained_records
    ADD CONSTRAINT retained_records_pkey PRIMARY KEY (partner_id, service_id, kind);

ALTER TABLE ONLY public.sealed_records
    ADD CONSTRAINT sealed_records_pkey PRIMARY KEY (partner_id, service_id, kind, name, version);

ALTER TABLE ONLY public.statement_lines
    ADD CONSTRAINT statement_lines_pkey PRIMARY KEY (partner_id, month, service_id, place);

ALTER TABLE ONLY public.statements
    ADD CONSTRAINT statements_pkey PRIMARY KEY (partner_id, month);

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (partner_id, service_id);

ALTER TABLE ONLY public.webhook_endpoints
    ADD CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (partner_id, endpoint_id);

CREATE INDEX access_tokens_expiry ON public.access_tokens USING btree (partner_id, expires_at) WHERE (expires_at IS NOT NULL);

CREATE INDEX audit_log_at ON public.audit_log USING brin (at) WITH (autosummarize='on');

CREATE INDEX audit_log_operators ON public.audit_log USING btree (partner_id, entry_id) WHERE (actor_kind = ANY (ARRAY['operator'::text, 'command'::text]));

CREATE INDEX audit_log_subject ON public.audit_log USING btree (partner_id, service_id, entry_id) WHERE (service_id IS NOT NULL);

CREATE INDEX caller_changes_newest ON public.caller_changes USING btree (changed_at);

CREATE INDEX dead_deliveries_of_endpoint ON public.dead_deliveries USING btree (partner_id, endpoint_id, event_id);

CREATE INDEX deliveries_due ON public.deliveries USING btree (partner_id, endpoint_id, work, due_at, event_id);

CREATE INDEX deliveries_of_user ON public.deliveries USING btree (partner_id, endpoint_id, service_id, "position") WHERE ordered;

CREATE INDEX erasures_unscrubbed ON public.erasures USING btree (partner_id, service_id) WHERE (scrubbed_at IS NULL);

CREATE INDEX erasures_with_events ON public.erasures USING btree (partner_id, service_id) WHERE (events_removed_at IS NULL);

CREATE UNIQUE INDEX events_position ON public.events USING btree (partner_id, "position");

CREATE INDEX held_periods_start ON public.held_periods USING btree (partner_id, starts_at);

CREATE INDEX history_recorded ON public.history USING brin (recorded_at) WITH (autosummarize='on');

CREATE INDEX idempotency_keys_answers ON public.idempotency_keys USING btree (partner_id, service_id) WHERE (sealed_answer IS NOT NULL);

CREATE INDEX idempotency_keys_expiry ON public.idempotency_keys USING btree (partner_id, expires_at);

CREATE INDEX insurer_lines_of_run ON public.insurer_lines USING btree (partner_id, feed, run, line);

CREATE INDEX operator_requests_newest ON public.operator_requests USING btree (request_id);

CREATE INDEX operator_requests_waiting ON public.operator_requests USING btree (request_id) WHERE (outcome IS NULL);

CREATE INDEX page_sessions_age ON public.page_sessions USING btree (partner_id, created_at) WHERE (created_at IS NOT NULL);

CREATE INDEX page_sessions_user ON public.page_sessions USING btree (partner_id, userid) WHERE (userid IS NOT NULL);

CREATE INDEX refused_creates_newest ON public.refused_creates USING btree (partner_id, at);

CREATE INDEX refused_creates_request ON public.refused_creates USING btree (request_id);

CREATE INDEX sealed_records_drafts ON public.sealed_records USING btree (partner_id, at) WHERE (kind = 'draft'::text);

CREATE INDEX sealed_records_email ON public.sealed_records USING btree (partner_id, email_hash) WHERE (email_hash IS NOT NULL);

CREATE INDEX sealed_records_phone ON public.sealed_records USING btree (partner_id, phone_hash) WHERE (phone_hash IS NOT NULL);

CREATE INDEX sealed_records_reference ON public.sealed_records USING btree (partner_id, name) WHERE (kind = 'confirmation'::text);

CREATE UNIQUE INDEX users_by_userid ON public.users USING btree (partner_id, userid) WHERE is_current;

CREATE INDEX users_changed ON public.users USING btree (partner_id, updated_at);

CREATE INDEX users_due ON public.users USING btree (partner_id, due_at, service_id) WHERE (due_at IS NOT NULL);

CREATE INDEX users_erased_before ON public.users USING btree (partner_id, userid) WHERE (NOT is_current);

ALTER INDEX public.delivery_attempts_pkey ATTACH PARTITION public.delivery_attempts_rest_pkey;

ALTER TABLE ONLY public.access_tokens
    ADD CONSTRAINT access_tokens_partner_id_credential_id_fkey FOREIGN KEY (partner_id, credential_id) REFERENCES public.credentials(partner_id, credential_id);

ALTER TABLE ONLY public.credentials
    ADD CONSTRAINT credentials_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partners(partner_id);

ALTER TABLE ONLY public.endpoint_health
    ADD CONSTRAINT endpoint_health_partner_id_endpoint_id_fkey FOREIGN KEY (partner_id, endpoint_id) REFERENCES public.webhook_endpoints(partner_id, endpoint_id);

ALTER TABLE ONLY public.operator_links
    ADD CONSTRAINT operator_links_operator_id_fkey FOREIGN KEY (operator_id) REFERENCES public.operators(operator_id);

ALTER TABLE ONLY public.operator_sessions
    ADD CONSTRAINT operator_sessions_operator_id_fkey FOREIGN KEY (operator_id) REFERENCES public.operators(operator_id);

ALTER TABLE ONLY public.webhook_endpoints
    ADD CONSTRAINT webhook_endpoints_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES public.partners(partner_id);
