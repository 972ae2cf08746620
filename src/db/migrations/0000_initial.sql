CREATE TABLE "audit_entries" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" bigint,
	"at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"actor_kind" text NOT NULL,
	"actor_id" text,
	"user_name" text,
	"on_behalf_of" text,
	"action" text NOT NULL,
	"target" text NOT NULL,
	"detail" jsonb NOT NULL,
	"request_id" text,
	CONSTRAINT "audit_entries_action" CHECK (length("audit_entries"."action") between 1 and 100),
	CONSTRAINT "audit_entries_target" CHECK (octet_length("audit_entries"."target") between 1 and 2000)
);
--> statement-breakpoint
CREATE TABLE "api_keys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" bigint NOT NULL,
	"name" text NOT NULL,
	"hash" text NOT NULL,
	"scopes" text NOT NULL,
	"limits" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"lifetime_ms" bigint,
	"last_used_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone,
	"is_by_operator" boolean DEFAULT false NOT NULL,
	"replaces" uuid,
	CONSTRAINT "api_keys_hash" CHECK (length("api_keys"."hash") = 43),
	CONSTRAINT "api_keys_limits" CHECK ("api_keys"."limits" = '{}' or not 'keys' = any (string_to_array("api_keys"."scopes", '+'))),
	CONSTRAINT "api_keys_scopes" CHECK ("api_keys"."scopes" ~ '^[a-z]+([+][a-z]+)*$')
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"token_hash" text PRIMARY KEY NOT NULL,
	"tenant_id" bigint,
	"key_id" text,
	"api_key_id" uuid,
	"user_name" text,
	"groups" jsonb,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "sessions_key" CHECK (num_nonnulls("sessions"."key_id", "sessions"."api_key_id", "sessions"."user_name") = 1),
	CONSTRAINT "sessions_groups" CHECK (num_nonnulls("sessions"."user_name", "sessions"."groups") in (0, 2)),
	CONSTRAINT "sessions_operator" CHECK ("sessions"."tenant_id" is not null or "sessions"."key_id" is not null)
);
--> statement-breakpoint
CREATE TABLE "tenants" (
	"id" bigint PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"status" text DEFAULT 'active' NOT NULL,
	"weight" double precision DEFAULT 1 NOT NULL,
	"limits" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"allow" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"notifies" boolean DEFAULT false NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"deletion" jsonb,
	"deletion_lease" timestamp (3) with time zone,
	CONSTRAINT "tenants_status" CHECK (status in ('active', 'suspended', 'deleting')),
	CONSTRAINT "tenants_weight" CHECK ("tenants"."weight" between 0.01 and 100),
	CONSTRAINT "tenants_deletion" CHECK (("tenants"."status" = 'deleting') = ("tenants"."deletion" is not null)),
	CONSTRAINT "tenants_name_length" CHECK (length("tenants"."name") between 1 and 64)
);
--> statement-breakpoint
CREATE TABLE "token_revocations" (
	"tenant_id" bigint NOT NULL,
	"user_name" text NOT NULL,
	"revoked_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "token_revocations_tenant_id_user_name_pk" PRIMARY KEY("tenant_id","user_name")
);
--> statement-breakpoint
CREATE TABLE "branches" (
	"context_id" uuid NOT NULL,
	"tenant_id" bigint NOT NULL,
	"name" text NOT NULL,
	"parent_name" text,
	"fork_seq" bigint,
	"spans" jsonb,
	"message_count" bigint DEFAULT 0 NOT NULL,
	"request_count" bigint DEFAULT 0 NOT NULL,
	"input_tokens" bigint DEFAULT 0 NOT NULL,
	"output_tokens" bigint DEFAULT 0 NOT NULL,
	"cache_read_tokens" bigint DEFAULT 0 NOT NULL,
	"cache_write_tokens" bigint DEFAULT 0 NOT NULL,
	"cost_nanos" bigint,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "branches_context_id_name_pk" PRIMARY KEY("context_id","name"),
	CONSTRAINT "branches_fork" CHECK (("branches"."parent_name" is null) = ("branches"."fork_seq" is null))
);
--> statement-breakpoint
CREATE TABLE "compactions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" bigint NOT NULL,
	"context_id" uuid NOT NULL,
	"branch" text NOT NULL,
	"seq" bigint NOT NULL,
	"upto_seq" bigint NOT NULL,
	"type" text NOT NULL,
	"summary" text,
	"model" text,
	"tokens_before" integer NOT NULL,
	"tokens_after" integer NOT NULL,
	"job_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "compactions_type" CHECK (type in ('threshold', 'llm')),
	CONSTRAINT "compactions_summary" CHECK (("compactions"."type" = 'llm') = ("compactions"."summary" is not null)),
	CONSTRAINT "compactions_upto" CHECK ("compactions"."upto_seq" < "compactions"."seq")
);
--> statement-breakpoint
CREATE TABLE "contexts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" bigint NOT NULL,
	"user_name" text DEFAULT '' NOT NULL,
	"scheduling_status" text DEFAULT 'idle' NOT NULL,
	"state" text DEFAULT 'Idle' NOT NULL,
	"state_since" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"head_seq" bigint DEFAULT 0 NOT NULL,
	"wake_seq" bigint DEFAULT 0 NOT NULL,
	"control_seq" bigint DEFAULT 0 NOT NULL,
	"lease_owner" uuid,
	"lease_epoch" bigint DEFAULT 0 NOT NULL,
	"priority" smallint DEFAULT 5 NOT NULL,
	"next_check_at" timestamp (3) with time zone,
	"active_branch" text DEFAULT 'main' NOT NULL,
	"stopped" boolean DEFAULT false NOT NULL,
	"queued" integer DEFAULT 0 NOT NULL,
	"steers" integer DEFAULT 0 NOT NULL,
	"failed_claims" smallint DEFAULT 0 NOT NULL,
	"message_count" bigint DEFAULT 0 NOT NULL,
	"turn_count" bigint DEFAULT 0 NOT NULL,
	"request_count" bigint DEFAULT 0 NOT NULL,
	"input_tokens" bigint DEFAULT 0 NOT NULL,
	"output_tokens" bigint DEFAULT 0 NOT NULL,
	"cache_read_tokens" bigint DEFAULT 0 NOT NULL,
	"cache_write_tokens" bigint DEFAULT 0 NOT NULL,
	"cost_nanos" bigint,
	"stored_bytes" bigint DEFAULT 0 NOT NULL,
	"last_failure" jsonb,
	CONSTRAINT "contexts_scheduling_status" CHECK (scheduling_status in ('idle', 'runnable', 'running', 'waiting')),
	CONSTRAINT "contexts_running_is_owned" CHECK (("contexts"."scheduling_status" = 'running') = ("contexts"."lease_owner" is not null)),
	CONSTRAINT "contexts_idle_has_no_check" CHECK ("contexts"."scheduling_status" <> 'idle' or "contexts"."next_check_at" is null),
	CONSTRAINT "contexts_unowned_has_check" CHECK ("contexts"."scheduling_status" not in ('runnable', 'waiting') or "contexts"."next_check_at" is not null),
	CONSTRAINT "contexts_queued" CHECK ("contexts"."queued" >= 0 and "contexts"."steers" >= 0)
);
--> statement-breakpoint
CREATE TABLE "event_batches" (
	"context_id" uuid NOT NULL,
	"tenant_id" bigint NOT NULL,
	"seq" bigint NOT NULL,
	"first_seq" bigint NOT NULL,
	"epoch" bigint NOT NULL,
	"events" json NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "event_batches_context_id_seq_pk" PRIMARY KEY("context_id","seq"),
	CONSTRAINT "event_batches_numbers" CHECK ("event_batches"."first_seq" > 0 and "event_batches"."first_seq" <= "event_batches"."seq")
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"tenant_id" bigint NOT NULL,
	"key" text NOT NULL,
	"request" text NOT NULL,
	"response" jsonb,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "idempotency_keys_tenant_id_key_pk" PRIMARY KEY("tenant_id","key")
);
--> statement-breakpoint
CREATE TABLE "jobs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" bigint NOT NULL,
	"context_id" uuid NOT NULL,
	"worker_id" uuid NOT NULL,
	"user_name" text,
	"kind" text NOT NULL,
	"branch" text NOT NULL,
	"status" text DEFAULT 'queued' NOT NULL,
	"priority" smallint DEFAULT 5 NOT NULL,
	"position" bigint NOT NULL,
	"message_id" uuid,
	"turn" integer DEFAULT 0 NOT NULL,
	"attempt" integer DEFAULT 0 NOT NULL,
	"failures" integer DEFAULT 0 NOT NULL,
	"retry_at" timestamp (3) with time zone,
	"starts_at" timestamp (3) with time zone,
	"steps" integer DEFAULT 0 NOT NULL,
	"max_steps" integer,
	"output_schema" json,
	"corrections" smallint DEFAULT 0 NOT NULL,
	"deadline" timestamp (3) with time zone,
	"input_tokens" bigint DEFAULT 0 NOT NULL,
	"output_tokens" bigint DEFAULT 0 NOT NULL,
	"cache_read_tokens" bigint DEFAULT 0 NOT NULL,
	"cache_write_tokens" bigint DEFAULT 0 NOT NULL,
	"cost_nanos" bigint,
	"output_message_id" uuid,
	"has_data" boolean DEFAULT false NOT NULL,
	"first_seq" bigint,
	"last_seq" bigint,
	"error" jsonb,
	"stop_kind" text,
	"stop_mode" text,
	"stop_reason" text,
	"stop_actor" jsonb,
	"stop_requested_at" timestamp (3) with time zone,
	"stop_delivered_at" timestamp (3) with time zone,
	"stopped_at" timestamp (3) with time zone,
	"parent_job_id" uuid,
	"parent_tool_call_id" uuid,
	"hops" smallint DEFAULT 0 NOT NULL,
	"parent_notice" text,
	"notice_of_job_id" uuid,
	"cascade" text,
	"metadata" jsonb NOT NULL,
	"trace_parent" text,
	"compaction" jsonb,
	"created_at" timestamp (3) with time zone DEFAULT statement_timestamp() NOT NULL,
	"started_at" timestamp (3) with time zone,
	"finished_at" timestamp (3) with time zone,
	CONSTRAINT "jobs_hops" CHECK ("jobs"."hops" >= 0),
	CONSTRAINT "jobs_parent_notice" CHECK (parent_notice in ('wanted', 'due')),
	CONSTRAINT "jobs_cascade" CHECK (cascade in ('cancel', 'stop', 'interrupt')),
	CONSTRAINT "jobs_kind" CHECK (kind in ('input', 'retry', 'compact')),
	CONSTRAINT "jobs_status" CHECK (status in ('delayed', 'queued', 'running', 'waiting', 'completed', 'incomplete', 'failed', 'cancelled', 'interrupted')),
	CONSTRAINT "jobs_input_has_message" CHECK (("jobs"."kind" = 'input') = ("jobs"."message_id" is not null)),
	CONSTRAINT "jobs_delayed_has_start" CHECK ("jobs"."status" <> 'delayed' or "jobs"."starts_at" is not null),
	CONSTRAINT "jobs_started" CHECK ("jobs"."status" not in ('running', 'waiting') or "jobs"."started_at" is not null),
	CONSTRAINT "jobs_finished" CHECK (("jobs"."status" in ('completed', 'incomplete', 'failed', 'cancelled', 'interrupted')) = ("jobs"."finished_at" is not null)),
	CONSTRAINT "jobs_failed_says_why" CHECK ("jobs"."status" not in ('failed', 'incomplete') or "jobs"."error" is not null),
	CONSTRAINT "jobs_data_is_output" CHECK (not "jobs"."has_data" or ("jobs"."status" = 'completed' and "jobs"."output_message_id" is not null)),
	CONSTRAINT "jobs_trace_parent" CHECK ("jobs"."trace_parent" ~ '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$'),
	CONSTRAINT "jobs_priority" CHECK ("jobs"."priority" between 0 and 10),
	CONSTRAINT "jobs_stop_kind" CHECK (stop_kind in ('cancel', 'stop', 'interrupt')),
	CONSTRAINT "jobs_stop_mode" CHECK (stop_mode in ('discard', 'rollback', 'keep')),
	CONSTRAINT "jobs_interrupt_has_mode" CHECK (("jobs"."stop_kind" is not distinct from 'interrupt') = ("jobs"."stop_mode" is not null)),
	CONSTRAINT "jobs_stop_actor" CHECK ("jobs"."stop_actor" is null or "jobs"."stop_kind" is not null),
	CONSTRAINT "jobs_stop_request" CHECK (("jobs"."stop_kind" is null) = ("jobs"."stop_requested_at" is null))
);
--> statement-breakpoint
CREATE TABLE "messages" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" bigint NOT NULL,
	"context_id" uuid NOT NULL,
	"branch" text NOT NULL,
	"seq" bigint,
	"role" text NOT NULL,
	"type" text NOT NULL,
	"turn" text,
	"status" text NOT NULL,
	"content" json NOT NULL,
	"bytes" integer GENERATED ALWAYS AS (octet_length(content::text)) STORED NOT NULL,
	"job_id" uuid,
	"call" json,
	"sender_worker_id" uuid,
	"model_id" text,
	"provider_id" text,
	"input_tokens" integer,
	"output_tokens" integer,
	"cache_read_tokens" integer,
	"cache_write_tokens" integer,
	"cost_nanos" bigint,
	"finish_reason" text,
	"attempt" integer,
	"called_at" timestamp (3) with time zone,
	"first_byte_at" timestamp (3) with time zone,
	"throttled" jsonb,
	"prompt" jsonb,
	"retracted_seq" bigint,
	"retraction" jsonb,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"completed_at" timestamp (3) with time zone,
	"appended_at" timestamp (3) with time zone,
	CONSTRAINT "messages_role" CHECK (role in ('user', 'assistant', 'system', 'tool')),
	CONSTRAINT "messages_type" CHECK (type in ('text', 'plan', 'question', 'tool_call', 'tool_result', 'correction', 'partial')),
	CONSTRAINT "messages_status" CHECK (status in ('delayed', 'queued', 'completed', 'retracted', 'withdrawn')),
	CONSTRAINT "messages_numbered" CHECK (("messages"."status" in ('completed', 'retracted')) = ("messages"."seq" is not null)),
	CONSTRAINT "messages_turn" CHECK (("messages"."status" in ('completed', 'retracted')) = ("messages"."turn" is not null)),
	CONSTRAINT "messages_call" CHECK ("messages"."call" is null or "messages"."role" = 'tool'),
	CONSTRAINT "messages_retracted" CHECK ("messages"."retracted_seq" is null or "messages"."status" = 'retracted'),
	CONSTRAINT "messages_retraction" CHECK ("messages"."retraction" is null or "messages"."status" = 'retracted'),
	CONSTRAINT "messages_partial" CHECK ("messages"."type" <> 'partial' or ("messages"."status" = 'retracted' and "messages"."role" = 'assistant')),
	CONSTRAINT "messages_only_inputs_queue" CHECK ("messages"."status" in ('completed', 'retracted') or "messages"."role" = 'user')
);
--> statement-breakpoint
CREATE TABLE "failed_calls" (
	"job_id" uuid NOT NULL,
	"attempt" integer NOT NULL,
	"context_id" uuid NOT NULL,
	"tenant_id" bigint NOT NULL,
	"model" text NOT NULL,
	"error" jsonb,
	"called_at" timestamp (3) with time zone NOT NULL,
	"first_byte_at" timestamp (3) with time zone,
	"throttled" jsonb,
	"failed_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"retry_at" timestamp (3) with time zone,
	"prompt" jsonb,
	CONSTRAINT "failed_calls_job_id_attempt_pk" PRIMARY KEY("job_id","attempt")
);
--> statement-breakpoint
CREATE TABLE "tool_lists" (
	"tenant_id" bigint NOT NULL,
	"hash" text NOT NULL,
	"tools" json NOT NULL,
	"used_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "tool_lists_tenant_id_hash_pk" PRIMARY KEY("tenant_id","hash")
);
--> statement-breakpoint
CREATE TABLE "processes" (
	"id" uuid PRIMARY KEY NOT NULL,
	"lock_key" bigint NOT NULL,
	"host" text NOT NULL,
	"pid" integer NOT NULL,
	"session_name" text,
	"version" text NOT NULL,
	"tools" text[] NOT NULL,
	"roles" text[] NOT NULL,
	"models" text[] NOT NULL,
	"mcp_servers" text[] DEFAULT '{}' NOT NULL,
	"started_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"heartbeat_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"late_at" timestamp (3) with time zone,
	"metrics" jsonb,
	"can_drain" boolean DEFAULT false NOT NULL,
	"requested_status" text DEFAULT 'running' NOT NULL,
	"status" text DEFAULT 'running' NOT NULL,
	"dead_at" timestamp (3) with time zone,
	"end_reason" text,
	CONSTRAINT "processes_requested_status" CHECK (requested_status in ('running', 'paused', 'draining')),
	CONSTRAINT "processes_status" CHECK (status in ('running', 'paused', 'draining')),
	CONSTRAINT "processes_drain" CHECK ("processes"."can_drain" or "processes"."requested_status" <> 'draining'),
	CONSTRAINT "processes_end_reason" CHECK (end_reason in ('stopped', 'lost')),
	CONSTRAINT "processes_end" CHECK ("processes"."end_reason" is null or "processes"."dead_at" is not null)
);
--> statement-breakpoint
CREATE TABLE "provider_throttles" (
	"id" text NOT NULL,
	"tenant_id" bigint NOT NULL,
	"provider" text NOT NULL,
	"key_id" text NOT NULL,
	"model" text NOT NULL,
	"reason" text NOT NULL,
	"since" timestamp (3) with time zone NOT NULL,
	"refused_at" timestamp (3) with time zone NOT NULL,
	"until" timestamp (3) with time zone NOT NULL,
	"lifted_at" timestamp (3) with time zone,
	CONSTRAINT "provider_throttles_id_tenant_id_pk" PRIMARY KEY("id","tenant_id")
);
--> statement-breakpoint
CREATE TABLE "schedule_runs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" bigint NOT NULL,
	"schedule_id" uuid NOT NULL,
	"occurrence" timestamp (3) with time zone,
	"missed_until" timestamp (3) with time zone,
	"at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"status" text NOT NULL,
	"target_context_id" uuid,
	"job_id" uuid,
	"message_id" uuid,
	"error" jsonb,
	CONSTRAINT "schedule_runs_status" CHECK (status in ('started', 'skipped', 'failed', 'missed')),
	CONSTRAINT "schedule_runs_started" CHECK (("schedule_runs"."status" = 'started') = ("schedule_runs"."job_id" is not null)),
	CONSTRAINT "schedule_runs_failed_says_why" CHECK (("schedule_runs"."status" = 'failed') = ("schedule_runs"."error" is not null)),
	CONSTRAINT "schedule_runs_missed" CHECK (("schedule_runs"."status" = 'missed') = ("schedule_runs"."missed_until" is not null)),
	CONSTRAINT "schedule_runs_manual" CHECK ("schedule_runs"."occurrence" is not null or "schedule_runs"."status" = 'started')
);
--> statement-breakpoint
CREATE TABLE "schedules" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" bigint NOT NULL,
	"user_name" text,
	"actor" jsonb NOT NULL,
	"name" text NOT NULL,
	"cron" text,
	"every_s" integer,
	"anchor_at" timestamp (3) with time zone,
	"once_at" timestamp (3) with time zone,
	"timezone" text NOT NULL,
	"target_context_id" uuid,
	"worker" json,
	"content" json NOT NULL,
	"overlap" text NOT NULL,
	"catch_up" text NOT NULL,
	"jitter_s" integer NOT NULL,
	"paused" boolean NOT NULL,
	"paused_reason" text,
	"next_occurrence" timestamp (3) with time zone,
	"next_run_at" timestamp (3) with time zone,
	"last_run_at" timestamp (3) with time zone,
	"last_job_id" uuid,
	"version" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "schedules_timing" CHECK (num_nonnulls("schedules"."cron", "schedules"."every_s", "schedules"."once_at") = 1),
	CONSTRAINT "schedules_interval" CHECK (("schedules"."every_s" is null) = ("schedules"."anchor_at" is null) and "schedules"."every_s" > 0),
	CONSTRAINT "schedules_target" CHECK (num_nonnulls("schedules"."target_context_id", "schedules"."worker") = 1),
	CONSTRAINT "schedules_overlap" CHECK (overlap in ('queue', 'skip', 'interrupt')),
	CONSTRAINT "schedules_catch_up" CHECK (catch_up in ('none', 'one', 'all')),
	CONSTRAINT "schedules_jitter" CHECK ("schedules"."jitter_s" >= 0),
	CONSTRAINT "schedules_due_has_occurrence" CHECK ("schedules"."next_run_at" is null or "schedules"."next_occurrence" is not null),
	CONSTRAINT "schedules_paused_says_why" CHECK ("schedules"."paused" or "schedules"."paused_reason" is null),
	CONSTRAINT "schedules_paused_is_not_due" CHECK (not "schedules"."paused" or "schedules"."next_run_at" is null)
);
--> statement-breakpoint
CREATE TABLE "search_backlog" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "search_backlog_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"context_id" uuid NOT NULL,
	"tenant_id" bigint NOT NULL,
	"upto_seq" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "search_entries" (
	"context_id" uuid NOT NULL,
	"seq" bigint NOT NULL,
	"tenant_id" bigint NOT NULL,
	"message_id" uuid NOT NULL,
	"role" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"document" "tsvector" NOT NULL,
	CONSTRAINT "search_entries_context_id_seq_pk" PRIMARY KEY("context_id","seq")
);
--> statement-breakpoint
CREATE TABLE "outbox_receipts" (
	"outbox_id" uuid NOT NULL,
	"position" bigint NOT NULL,
	"job_id" uuid NOT NULL,
	"seen_at" timestamp (3) with time zone DEFAULT statement_timestamp() NOT NULL,
	CONSTRAINT "outbox_receipts_outbox_id_position_job_id_pk" PRIMARY KEY("outbox_id","position","job_id")
);
--> statement-breakpoint
CREATE TABLE "submission_grants" (
	"role_name" text NOT NULL,
	"tenant_id" bigint NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "submission_grants_role_name_tenant_id_pk" PRIMARY KEY("role_name","tenant_id")
);
--> statement-breakpoint
CREATE TABLE "submissions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" bigint NOT NULL,
	"position" bigint GENERATED ALWAYS AS IDENTITY (sequence name "submissions_position_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"target_context_id" uuid NOT NULL,
	"worker_id" uuid NOT NULL,
	"creates_worker" boolean NOT NULL,
	"user_name" text,
	"body" json NOT NULL,
	"bytes" integer NOT NULL,
	"status" text DEFAULT 'queued' NOT NULL,
	"error" jsonb,
	"retry_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT statement_timestamp() NOT NULL,
	"finished_at" timestamp (3) with time zone,
	CONSTRAINT "submissions_status" CHECK (status in ('queued', 'failed', 'cancelled')),
	CONSTRAINT "submissions_failed_says_why" CHECK (("submissions"."status" = 'failed') = ("submissions"."error" is not null)),
	CONSTRAINT "submissions_finished" CHECK (("submissions"."status" <> 'queued') = ("submissions"."finished_at" is not null)),
	CONSTRAINT "submissions_bytes" CHECK ("submissions"."bytes" > 0)
);
--> statement-breakpoint
CREATE TABLE "approval_grants" (
	"context_id" uuid NOT NULL,
	"tool" text NOT NULL,
	"tenant_id" bigint NOT NULL,
	"actor" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "approval_grants_context_id_tool_pk" PRIMARY KEY("context_id","tool")
);
--> statement-breakpoint
CREATE TABLE "awaited_jobs" (
	"tool_call_id" uuid NOT NULL,
	"job_id" uuid NOT NULL,
	"tenant_id" bigint NOT NULL,
	"context_id" uuid NOT NULL,
	"worker_id" uuid NOT NULL,
	"ordinal" integer NOT NULL,
	CONSTRAINT "awaited_jobs_tool_call_id_job_id_pk" PRIMARY KEY("tool_call_id","job_id")
);
--> statement-breakpoint
CREATE TABLE "tool_calls" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" bigint NOT NULL,
	"context_id" uuid NOT NULL,
	"job_id" uuid NOT NULL,
	"message_id" uuid NOT NULL,
	"ordinal" integer NOT NULL,
	"name" text NOT NULL,
	"effect" text NOT NULL,
	"on_unknown" text NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"started_epoch" bigint,
	"asked_at" timestamp (3) with time zone,
	"expires_at" timestamp (3) with time zone,
	"reply" json,
	"waits_for" text,
	"approval" json,
	"approval_at" timestamp (3) with time zone,
	"needs" integer,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp (3) with time zone,
	"finished_at" timestamp (3) with time zone,
	CONSTRAINT "tool_calls_effect" CHECK (effect in ('none', 'idempotent', 'once')),
	CONSTRAINT "tool_calls_on_unknown" CHECK (on_unknown in ('tell', 'ask')),
	CONSTRAINT "tool_calls_status" CHECK (status in ('pending', 'started', 'waiting', 'completed', 'failed', 'cancelled', 'denied', 'expired', 'unknown')),
	CONSTRAINT "tool_calls_waits_for" CHECK (waits_for in ('approval', 'answer', 'outcome', 'workers', 'timer')),
	CONSTRAINT "tool_calls_approval" CHECK (("tool_calls"."approval" is null) = ("tool_calls"."approval_at" is null)),
	CONSTRAINT "tool_calls_needs" CHECK (("tool_calls"."waits_for" is not distinct from 'workers') = ("tool_calls"."needs" is not null)),
	CONSTRAINT "tool_calls_finished" CHECK (("tool_calls"."status" in ('pending', 'started', 'waiting')) = ("tool_calls"."finished_at" is null)),
	CONSTRAINT "tool_calls_started" CHECK ("tool_calls"."status" <> 'started' or ("tool_calls"."started_epoch" is not null and "tool_calls"."effect" = 'once')),
	CONSTRAINT "tool_calls_waiting" CHECK ("tool_calls"."status" <> 'waiting' or "tool_calls"."asked_at" is not null)
);
--> statement-breakpoint
CREATE TABLE "tool_executions" (
	"tool_call_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"tenant_id" bigint NOT NULL,
	"context_id" uuid NOT NULL,
	"epoch" bigint NOT NULL,
	"idempotency_key" text NOT NULL,
	"began_at" timestamp (3) with time zone NOT NULL,
	"ended_at" timestamp (3) with time zone,
	"outcome" text,
	CONSTRAINT "tool_executions_tool_call_id_number_pk" PRIMARY KEY("tool_call_id","number"),
	CONSTRAINT "tool_executions_number" CHECK ("tool_executions"."number" > 0),
	CONSTRAINT "tool_executions_outcome" CHECK (outcome in ('completed', 'failed', 'cancelled', 'unknown', 'did_not_happen')),
	CONSTRAINT "tool_executions_ended" CHECK (("tool_executions"."ended_at" is null) = ("tool_executions"."outcome" is null))
);
--> statement-breakpoint
CREATE TABLE "tool_logs" (
	"context_id" uuid NOT NULL,
	"job_id" uuid NOT NULL,
	"epoch" bigint NOT NULL,
	"number" integer NOT NULL,
	"tenant_id" bigint NOT NULL,
	"tool_call_id" uuid NOT NULL,
	"attempt" integer NOT NULL,
	"level" text NOT NULL,
	"message" text NOT NULL,
	"fields" json,
	"at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "tool_logs_context_id_job_id_epoch_number_pk" PRIMARY KEY("context_id","job_id","epoch","number"),
	CONSTRAINT "tool_logs_level" CHECK (level in ('debug', 'info', 'warn', 'error')),
	CONSTRAINT "tool_logs_number" CHECK ("tool_logs"."number" > 0)
);
--> statement-breakpoint
CREATE TABLE "tool_reports" (
	"tool_call_id" uuid NOT NULL,
	"epoch" bigint NOT NULL,
	"ordinal" integer NOT NULL,
	"tenant_id" bigint NOT NULL,
	"context_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"progress" jsonb,
	"entries" integer NOT NULL,
	"dropped" integer NOT NULL,
	CONSTRAINT "tool_reports_tool_call_id_epoch_ordinal_pk" PRIMARY KEY("tool_call_id","epoch","ordinal"),
	CONSTRAINT "tool_reports_ordinal" CHECK ("tool_reports"."ordinal" > 0),
	CONSTRAINT "tool_reports_counts" CHECK ("tool_reports"."entries" >= 0 and "tool_reports"."dropped" >= 0)
);
--> statement-breakpoint
CREATE TABLE "tool_steps" (
	"tool_call_id" uuid NOT NULL,
	"name" text NOT NULL,
	"tenant_id" bigint NOT NULL,
	"context_id" uuid NOT NULL,
	"result" json NOT NULL,
	"bytes" integer NOT NULL,
	"ended_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "tool_steps_tool_call_id_name_pk" PRIMARY KEY("tool_call_id","name"),
	CONSTRAINT "tool_steps_bytes" CHECK ("tool_steps"."bytes" > 0)
);
--> statement-breakpoint
CREATE TABLE "tool_use" (
	"tenant_id" bigint NOT NULL,
	"hour" timestamp (3) with time zone NOT NULL,
	"tool" text NOT NULL,
	"completed" integer NOT NULL,
	"failed" integer NOT NULL,
	"denied" integer NOT NULL,
	"expired" integer NOT NULL,
	"unknown" integer NOT NULL,
	"codes" jsonb NOT NULL,
	"times" integer[] NOT NULL,
	"last_at" timestamp (3) with time zone NOT NULL,
	"failures" jsonb NOT NULL,
	CONSTRAINT "tool_use_tenant_id_hour_tool_pk" PRIMARY KEY("tenant_id","hour","tool")
);
--> statement-breakpoint
CREATE TABLE "job_webhooks" (
	"job_id" uuid NOT NULL,
	"webhook_id" uuid NOT NULL,
	"tenant_id" bigint NOT NULL,
	"context_id" uuid NOT NULL,
	CONSTRAINT "job_webhooks_job_id_webhook_id_pk" PRIMARY KEY("job_id","webhook_id")
);
--> statement-breakpoint
CREATE TABLE "webhook_deliveries" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" bigint NOT NULL,
	"webhook_id" uuid NOT NULL,
	"context_id" uuid,
	"job_id" uuid,
	"type" text NOT NULL,
	"seq" integer,
	"body" text NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"next_attempt_at" timestamp (3) with time zone,
	"at_once" boolean DEFAULT false NOT NULL,
	"give_up_at" timestamp (3) with time zone NOT NULL,
	"last_attempt_at" timestamp (3) with time zone,
	"delivered_at" timestamp (3) with time zone,
	"duration_ms" integer,
	"response_status" integer,
	"response_body" text,
	"error" text,
	CONSTRAINT "webhook_deliveries_status" CHECK (status in ('pending', 'delivered', 'failed')),
	CONSTRAINT "webhook_deliveries_pending" CHECK (("webhook_deliveries"."status" = 'pending') = ("webhook_deliveries"."next_attempt_at" is not null)),
	CONSTRAINT "webhook_deliveries_at_once_is_pending" CHECK (not "webhook_deliveries"."at_once" or "webhook_deliveries"."status" = 'pending'),
	CONSTRAINT "webhook_deliveries_delivered" CHECK ("webhook_deliveries"."status" <> 'delivered' or "webhook_deliveries"."delivered_at" is not null),
	CONSTRAINT "webhook_deliveries_of_job" CHECK (num_nonnulls("webhook_deliveries"."context_id", "webhook_deliveries"."job_id", "webhook_deliveries"."seq") in (0, 3))
);
--> statement-breakpoint
CREATE TABLE "webhook_outbox" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "webhook_outbox_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"tenant_id" bigint NOT NULL,
	"context_id" uuid NOT NULL,
	"seq" bigint NOT NULL,
	"retry_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "webhooks" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" bigint NOT NULL,
	"url" text NOT NULL,
	"events" jsonb NOT NULL,
	"filter" jsonb,
	"status" text DEFAULT 'active' NOT NULL,
	"disabled_reason" text,
	"secret" text NOT NULL,
	"old_secret" text,
	"old_secret_until" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_success_at" timestamp (3) with time zone,
	"last_failure_at" timestamp (3) with time zone,
	"last_error" text,
	"failing_since" timestamp (3) with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"held_until" timestamp (3) with time zone,
	"due_at" timestamp (3) with time zone,
	"lease_owner" uuid,
	"lease_until" timestamp (3) with time zone,
	"deleted_at" timestamp (3) with time zone,
	CONSTRAINT "webhooks_status" CHECK (status in ('active', 'disabled')),
	CONSTRAINT "webhooks_disabled_reason" CHECK (disabled_reason in ('requested', 'failing', 'gone', 'backlog')),
	CONSTRAINT "webhooks_disabled_says_why" CHECK (("webhooks"."status" = 'disabled') = ("webhooks"."disabled_reason" is not null)),
	CONSTRAINT "webhooks_disabled_sends_nothing" CHECK ("webhooks"."status" = 'active' or "webhooks"."due_at" is null),
	CONSTRAINT "webhooks_old_secret" CHECK (("webhooks"."old_secret" is null) = ("webhooks"."old_secret_until" is null)),
	CONSTRAINT "webhooks_lease" CHECK (("webhooks"."lease_owner" is null) = ("webhooks"."lease_until" is null))
);
--> statement-breakpoint
CREATE TABLE "memories" (
	"worker_id" uuid NOT NULL,
	"tenant_id" bigint NOT NULL,
	"key" text NOT NULL,
	"value" text NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "memories_worker_id_key_pk" PRIMARY KEY("worker_id","key")
);
--> statement-breakpoint
CREATE TABLE "roles" (
	"tenant_id" bigint NOT NULL,
	"name" text NOT NULL,
	"version" integer NOT NULL,
	"definition" json,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "roles_tenant_id_name_version_pk" PRIMARY KEY("tenant_id","name","version"),
	CONSTRAINT "roles_version" CHECK ("roles"."version" > 0)
);
--> statement-breakpoint
CREATE TABLE "workers" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" bigint NOT NULL,
	"context_id" uuid NOT NULL,
	"name" text NOT NULL,
	"title" text,
	"first_input" text,
	"role" text,
	"user_name" text,
	"role_version" integer,
	"config" json NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"parent_worker_id" uuid,
	"parent_context_id" uuid,
	"root_context_id" uuid,
	"expires_at" timestamp (3) with time zone,
	"archived_at" timestamp (3) with time zone,
	"depth" integer DEFAULT 0 NOT NULL,
	"root_worker_id" uuid,
	"detached" boolean DEFAULT false NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_api_key_id_api_keys_id_fk" FOREIGN KEY ("api_key_id") REFERENCES "api_keys"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "branches" ADD CONSTRAINT "branches_context_id_contexts_id_fk" FOREIGN KEY ("context_id") REFERENCES "contexts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "schedule_runs" ADD CONSTRAINT "schedule_runs_schedule_id_schedules_id_fk" FOREIGN KEY ("schedule_id") REFERENCES "schedules"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "approval_grants" ADD CONSTRAINT "approval_grants_context_id_contexts_id_fk" FOREIGN KEY ("context_id") REFERENCES "contexts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memories" ADD CONSTRAINT "memories_worker_id_workers_id_fk" FOREIGN KEY ("worker_id") REFERENCES "workers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workers" ADD CONSTRAINT "workers_context_id_contexts_id_fk" FOREIGN KEY ("context_id") REFERENCES "contexts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "audit_entries_of_tenant" ON "audit_entries" USING btree ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "audit_entries_of_actor" ON "audit_entries" USING btree ("tenant_id","actor_id","id");--> statement-breakpoint
CREATE INDEX "audit_entries_of_target" ON "audit_entries" USING btree ("tenant_id","target","id");--> statement-breakpoint
CREATE INDEX "api_keys_of_tenant" ON "api_keys" USING btree ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "sessions_of_tenant" ON "sessions" USING btree ("tenant_id");--> statement-breakpoint
CREATE INDEX "sessions_expiry" ON "sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "sessions_api_key" ON "sessions" USING btree ("api_key_id");--> statement-breakpoint
CREATE UNIQUE INDEX "tenants_name" ON "tenants" USING btree ("name");--> statement-breakpoint
CREATE INDEX "tenants_special" ON "tenants" USING btree ("id") WHERE "tenants"."status" <> 'active' or "tenants"."weight" <> 1 or "tenants"."limits"->'slots' is not null;--> statement-breakpoint
CREATE INDEX "token_revocations_time" ON "token_revocations" USING btree ("revoked_at");--> statement-breakpoint
CREATE UNIQUE INDEX "compactions_place" ON "compactions" USING btree ("context_id","branch","seq");--> statement-breakpoint
CREATE INDEX "contexts_due" ON "contexts" USING btree ("next_check_at") WHERE "contexts"."scheduling_status" in ('waiting', 'running') and "contexts"."next_check_at" is not null;--> statement-breakpoint
CREATE INDEX "contexts_runnable" ON "contexts" USING btree ("tenant_id","user_name","priority","next_check_at") WHERE "contexts"."scheduling_status" = 'runnable';--> statement-breakpoint
CREATE INDEX "contexts_owned" ON "contexts" USING btree ("lease_owner") WHERE "contexts"."lease_owner" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "contexts_tenant" ON "contexts" USING btree ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "idempotency_keys_age" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "jobs_one_active" ON "jobs" USING btree ("context_id") WHERE "jobs"."status" in ('running', 'waiting');--> statement-breakpoint
CREATE INDEX "jobs_queue" ON "jobs" USING btree ("context_id","priority","position","id") WHERE "jobs"."status" = 'queued';--> statement-breakpoint
CREATE INDEX "jobs_unfinished" ON "jobs" USING btree ("tenant_id","status","id") WHERE "jobs"."status" in ('delayed', 'queued', 'running', 'waiting');--> statement-breakpoint
CREATE INDEX "jobs_delayed" ON "jobs" USING btree ("starts_at") WHERE "jobs"."status" = 'delayed';--> statement-breakpoint
CREATE INDEX "jobs_delayed_of_tenant" ON "jobs" USING btree ("tenant_id","starts_at") WHERE "jobs"."status" = 'delayed';--> statement-breakpoint
CREATE INDEX "jobs_delayed_of_context" ON "jobs" USING btree ("context_id","starts_at") WHERE "jobs"."status" = 'delayed';--> statement-breakpoint
CREATE UNIQUE INDEX "jobs_spawned_once" ON "jobs" USING btree ("parent_tool_call_id") WHERE "jobs"."parent_tool_call_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "jobs_notice_once" ON "jobs" USING btree ("notice_of_job_id") WHERE "jobs"."notice_of_job_id" is not null;--> statement-breakpoint
CREATE INDEX "jobs_notice_due" ON "jobs" USING btree ("id") WHERE "jobs"."parent_notice" = 'due';--> statement-breakpoint
CREATE INDEX "jobs_stopping" ON "jobs" USING btree ("context_id") WHERE "jobs"."stop_kind" is not null and "jobs"."status" in ('running', 'waiting');--> statement-breakpoint
CREATE INDEX "jobs_cascading" ON "jobs" USING btree ("id") WHERE "jobs"."cascade" is not null;--> statement-breakpoint
CREATE INDEX "jobs_parent" ON "jobs" USING btree ("parent_job_id") WHERE "jobs"."parent_job_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "jobs_tenant" ON "jobs" USING btree ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "jobs_context" ON "jobs" USING btree ("context_id","id");--> statement-breakpoint
CREATE INDEX "jobs_ended_badly" ON "jobs" USING btree ("tenant_id","status","id") WHERE "jobs"."status" in ('incomplete', 'failed', 'cancelled', 'interrupted');--> statement-breakpoint
CREATE INDEX "jobs_user" ON "jobs" USING btree ("tenant_id","user_name","id") WHERE "jobs"."user_name" is not null;--> statement-breakpoint
CREATE INDEX "jobs_other_kind" ON "jobs" USING btree ("tenant_id","kind","id") WHERE "jobs"."kind" in ('retry', 'compact');--> statement-breakpoint
CREATE INDEX "jobs_retries" ON "jobs" USING btree ("context_id","branch","first_seq") WHERE "jobs"."kind" = 'retry' and "jobs"."first_seq" is not null;--> statement-breakpoint
CREATE INDEX "jobs_metadata" ON "jobs" USING gin ("metadata" jsonb_path_ops) WITH (gin_pending_list_limit=1024) WHERE "jobs"."metadata" <> '{}';--> statement-breakpoint
CREATE INDEX "jobs_ended" ON "jobs" USING btree ("tenant_id","finished_at") WHERE "jobs"."finished_at" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "messages_seq" ON "messages" USING btree ("context_id","seq") WHERE "messages"."seq" is not null;--> statement-breakpoint
CREATE INDEX "messages_branch" ON "messages" USING btree ("context_id","branch","seq");--> statement-breakpoint
CREATE INDEX "failed_calls_context" ON "failed_calls" USING btree ("context_id");--> statement-breakpoint
CREATE INDEX "tool_lists_age" ON "tool_lists" USING btree ("used_at");--> statement-breakpoint
CREATE INDEX "tool_lists_recent" ON "tool_lists" USING btree ("tenant_id","used_at");--> statement-breakpoint
CREATE UNIQUE INDEX "processes_lock" ON "processes" USING btree ("lock_key");--> statement-breakpoint
CREATE INDEX "processes_live" ON "processes" USING btree ("heartbeat_at") WHERE "processes"."dead_at" is null;--> statement-breakpoint
CREATE INDEX "provider_throttles_until" ON "provider_throttles" USING btree ("until");--> statement-breakpoint
CREATE INDEX "schedule_runs_of_schedule" ON "schedule_runs" USING btree ("schedule_id","id");--> statement-breakpoint
CREATE INDEX "schedule_runs_of_tenant" ON "schedule_runs" USING btree ("tenant_id");--> statement-breakpoint
CREATE UNIQUE INDEX "schedule_runs_once" ON "schedule_runs" USING btree ("schedule_id","occurrence") WHERE "schedule_runs"."occurrence" is not null;--> statement-breakpoint
CREATE INDEX "schedules_of_tenant" ON "schedules" USING btree ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "schedules_due_of_tenant" ON "schedules" USING btree ("tenant_id","next_run_at") WHERE "schedules"."next_run_at" is not null;--> statement-breakpoint
CREATE INDEX "schedules_due" ON "schedules" USING btree ("next_run_at") WHERE "schedules"."next_run_at" is not null;--> statement-breakpoint
CREATE INDEX "search_entries_document" ON "search_entries" USING gin ("document") WITH (gin_pending_list_limit=1024);--> statement-breakpoint
CREATE INDEX "submission_grants_of_tenant" ON "submission_grants" USING btree ("tenant_id");--> statement-breakpoint
CREATE INDEX "submissions_queued_of_tenant" ON "submissions" USING btree ("tenant_id","position") WHERE "submissions"."status" = 'queued';--> statement-breakpoint
CREATE INDEX "submissions_queued_of_context" ON "submissions" USING btree ("target_context_id","position") WHERE "submissions"."status" = 'queued';--> statement-breakpoint
CREATE INDEX "submissions_postponed" ON "submissions" USING btree ("retry_at") WHERE "submissions"."status" = 'queued' and "submissions"."retry_at" is not null;--> statement-breakpoint
CREATE INDEX "submissions_of_tenant" ON "submissions" USING btree ("tenant_id");--> statement-breakpoint
CREATE INDEX "submissions_finished" ON "submissions" USING btree ("finished_at") WHERE "submissions"."finished_at" is not null;--> statement-breakpoint
CREATE INDEX "awaited_jobs_job" ON "awaited_jobs" USING btree ("job_id");--> statement-breakpoint
CREATE INDEX "awaited_jobs_context" ON "awaited_jobs" USING btree ("context_id");--> statement-breakpoint
CREATE UNIQUE INDEX "tool_calls_place" ON "tool_calls" USING btree ("message_id","ordinal");--> statement-breakpoint
CREATE INDEX "tool_calls_open" ON "tool_calls" USING btree ("context_id") WHERE "tool_calls"."status" in ('pending', 'started', 'waiting');--> statement-breakpoint
CREATE INDEX "tool_calls_job" ON "tool_calls" USING btree ("context_id","job_id");--> statement-breakpoint
CREATE INDEX "tool_calls_inbox" ON "tool_calls" USING btree ("tenant_id","asked_at","id") WHERE "tool_calls"."status" = 'waiting' and "tool_calls"."reply" is null and "tool_calls"."waits_for" in ('approval', 'answer', 'outcome');--> statement-breakpoint
CREATE INDEX "tool_calls_met" ON "tool_calls" USING btree ("context_id") WHERE "tool_calls"."status" = 'waiting' and "tool_calls"."needs" <= 0;--> statement-breakpoint
CREATE INDEX "tool_executions_context" ON "tool_executions" USING btree ("context_id");--> statement-breakpoint
CREATE INDEX "tool_logs_call" ON "tool_logs" USING btree ("tool_call_id","epoch","number");--> statement-breakpoint
CREATE INDEX "tool_reports_context" ON "tool_reports" USING btree ("context_id");--> statement-breakpoint
CREATE INDEX "tool_steps_context" ON "tool_steps" USING btree ("context_id");--> statement-breakpoint
CREATE INDEX "tool_use_hour" ON "tool_use" USING btree ("hour");--> statement-breakpoint
CREATE INDEX "job_webhooks_context" ON "job_webhooks" USING btree ("context_id");--> statement-breakpoint
CREATE INDEX "job_webhooks_webhook" ON "job_webhooks" USING btree ("webhook_id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_log" ON "webhook_deliveries" USING btree ("webhook_id","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_due" ON "webhook_deliveries" USING btree ("webhook_id","next_attempt_at") WHERE "webhook_deliveries"."status" = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_at_once" ON "webhook_deliveries" USING btree ("webhook_id","next_attempt_at") WHERE "webhook_deliveries"."at_once";--> statement-breakpoint
CREATE INDEX "webhook_deliveries_failed" ON "webhook_deliveries" USING btree ("webhook_id","id") WHERE "webhook_deliveries"."status" = 'failed';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_of_tenant" ON "webhook_deliveries" USING btree ("tenant_id");--> statement-breakpoint
CREATE UNIQUE INDEX "webhook_deliveries_order" ON "webhook_deliveries" USING btree ("webhook_id","job_id","seq") WHERE "webhook_deliveries"."job_id" is not null;--> statement-breakpoint
CREATE INDEX "webhook_deliveries_context" ON "webhook_deliveries" USING btree ("context_id") WHERE "webhook_deliveries"."context_id" is not null;--> statement-breakpoint
CREATE INDEX "webhook_deliveries_age" ON "webhook_deliveries" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "webhook_outbox_postponed" ON "webhook_outbox" USING btree ("context_id") WHERE "webhook_outbox"."retry_at" is not null;--> statement-breakpoint
CREATE INDEX "webhooks_of_tenant" ON "webhooks" USING btree ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "webhooks_due" ON "webhooks" USING btree ("due_at") WHERE "webhooks"."due_at" is not null;--> statement-breakpoint
CREATE INDEX "webhooks_deleted" ON "webhooks" USING btree ("id") WHERE "webhooks"."deleted_at" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "workers_context" ON "workers" USING btree ("context_id");--> statement-breakpoint
CREATE UNIQUE INDEX "workers_tenant" ON "workers" USING btree ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "workers_parent" ON "workers" USING btree ("parent_worker_id") WHERE "workers"."parent_worker_id" is not null;--> statement-breakpoint
CREATE INDEX "workers_root" ON "workers" USING btree ("root_worker_id") WHERE "workers"."root_worker_id" is not null;--> statement-breakpoint
CREATE INDEX "workers_user" ON "workers" USING btree ("tenant_id","user_name","id") WHERE "workers"."user_name" is not null;--> statement-breakpoint
CREATE INDEX "workers_role" ON "workers" USING btree ("tenant_id","role") WHERE "workers"."role" is not null;--> statement-breakpoint
CREATE INDEX "workers_expiring" ON "workers" USING btree ("expires_at") WHERE "workers"."expires_at" is not null;--> statement-breakpoint
CREATE INDEX "workers_archived" ON "workers" USING btree ("archived_at") WHERE "workers"."archived_at" is not null;--> statement-breakpoint
CREATE VIEW "calls" WITH (security_invoker = true) AS (select t.id, t.tenant_id, t.context_id, t.job_id, t.message_id, t.ordinal, t.name, t.effect, t.on_unknown, t.status,
    t.waits_for, t.asked_at, t.expires_at, t.reply, t.approval, t.approval_at, t.created_at, t.started_at, t.finished_at from tool_calls t
  union all
  select m.id, m.tenant_id, m.context_id, coalesce(m.job_id, (m.call ->> 'job_id')::uuid) as job_id,
    (m.call ->> 'message_id')::uuid as message_id, (m.call ->> 'ordinal')::int as ordinal, m.call ->> 'name' as name,
    m.call ->> 'effect' as effect, m.call ->> 'on_unknown' as on_unknown, m.call ->> 'status' as status,
    null::text as waits_for, null::timestamptz as asked_at, null::timestamptz as expires_at, null::json as reply,
    null::json as approval, null::timestamptz as approval_at, coalesce(least(to_timestamp((m.call -> 'execution' ->> 'began_at')::float8 / 1000)::timestamptz(3), m.completed_at), m.created_at) as created_at,
    null::timestamptz as started_at, m.completed_at as finished_at from messages m where m.call is not null);--> statement-breakpoint
CREATE VIEW "executions" WITH (security_invoker = true) AS (select x.tool_call_id, x.number, x.tenant_id, x.context_id, x.epoch, x.idempotency_key, x.began_at, x.ended_at,
    x.outcome from tool_executions x
  union all
  select m.id, 1, m.tenant_id, m.context_id, (m.call -> 'execution' ->> 'epoch')::bigint, m.id::text, least(to_timestamp((m.call -> 'execution' ->> 'began_at')::float8 / 1000)::timestamptz(3), m.completed_at),
    m.completed_at, m.call -> 'execution' ->> 'outcome'
  from messages m where m.call is not null and m.call -> 'execution' ->> 'outcome' is not null);--> statement-breakpoint
CREATE VIEW "events" WITH (security_invoker = true) AS (select b.context_id, b.tenant_id, b.seq as batch, b.first_seq + (e.event ->> 0)::bigint as seq, e.event ->> 1 as name,
    e.event -> 2 as data, b.created_at
  from event_batches b cross join lateral json_array_elements(b.events) as e(event));--> statement-breakpoint
CREATE VIEW "tenant_job_metadata" AS (select j.id, j.tenant_id, j.metadata from jobs j where j.tenant_id = (select nullif(nullif(current_setting('nightshift.tenant', true), ''), '*')::bigint)
    or (select nullif(current_setting('nightshift.tenant', true), '') = '*'));--> statement-breakpoint
CREATE VIEW "tenant_search_entries" AS (select e.context_id, e.seq, e.tenant_id, e.message_id, e.role, e.created_at, e.document
  from search_entries e where e.tenant_id = (select nullif(nullif(current_setting('nightshift.tenant', true), ''), '*')::bigint)
    or (select nullif(current_setting('nightshift.tenant', true), '') = '*'));--> statement-breakpoint
ALTER TABLE "contexts" SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);--> statement-breakpoint
ALTER TABLE "jobs" SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "processes" SET (fillfactor = 50);--> statement-breakpoint
INSERT INTO "tenants" ("id", "name") VALUES (1, 'default');--> statement-breakpoint
DO $do$ BEGIN EXECUTE format($create$
  CREATE FUNCTION delete_audit_entries(tenant bigint, most integer) RETURNS integer LANGUAGE sql SECURITY DEFINER
  SET search_path = %1$I, pg_temp AS $body$
    WITH rest AS MATERIALIZED (
      SELECT a.ctid AS place FROM audit_entries a JOIN tenants t ON t.id = a.tenant_id
      WHERE a.tenant_id = tenant AND t.status = 'deleting' LIMIT most FOR UPDATE OF a SKIP LOCKED
    ), deleted AS (DELETE FROM audit_entries a USING rest WHERE a.ctid = rest.place RETURNING 1)
    SELECT count(*)::integer FROM deleted
  $body$;
  REVOKE ALL ON FUNCTION delete_audit_entries(bigint, integer) FROM PUBLIC$create$, current_schema()); END $do$;
--> statement-breakpoint
DO $do$ BEGIN EXECUTE format($create$
  CREATE FUNCTION nightshift_submit_v1(tenant_name text, submission text, needs_transaction boolean DEFAULT false)
  RETURNS text LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = %1$I, pg_temp AS $body$
  #variable_conflict use_variable
  DECLARE
    -- Of the caller: within this function current_user is the owner of the tables.
    caller name := CASE current_setting('role') WHEN 'none' THEN session_user ELSE current_setting('role')::name END;
    tenant record;
    given jsonb;
    job uuid;
    context uuid;
    worker uuid;
    creates boolean;
    owner_name text;
  BEGIN
    -- A setting that ends with its transaction: if an earlier statement made it, both are in one.
    IF needs_transaction AND coalesce(current_setting('nightshift.enqueue', true), '') <> 'begun' THEN
      RAISE EXCEPTION 'The submission is outside of a transaction.' USING ERRCODE = 'NS008';
    END IF;
    SELECT t.id, t.status INTO tenant FROM tenants t WHERE t.name = tenant_name AND (
      pg_has_role(caller, current_user, 'USAGE') OR EXISTS (
        SELECT 1 FROM submission_grants g JOIN pg_roles r ON r.rolname = g.role_name
        WHERE g.tenant_id = t.id AND pg_has_role(caller, r.oid, 'USAGE')));
    IF NOT FOUND AND pg_has_role(caller, current_user, 'USAGE') THEN
      RAISE EXCEPTION 'The transaction sees no tenant "%%".', tenant_name USING ERRCODE = 'NS007';
    END IF;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'The database role "%%" may not submit jobs for the tenant "%%".', caller, tenant_name
        USING ERRCODE = 'NS001', HINT = format('Run: nightshift submissions grant --role %%I --tenant %%s',
          caller, tenant_name);
    END IF;
    IF tenant.status <> 'active' THEN
      RAISE EXCEPTION 'The tenant "%%" is not active.', tenant_name USING ERRCODE = 'NS002';
    END IF;
    IF octet_length(submission) > 16777216 THEN
      RAISE EXCEPTION 'The submission has %% bytes. At most 16777216 are allowed.', octet_length(submission)
        USING ERRCODE = 'NS003';
    END IF;
    BEGIN
      given := submission::jsonb;
      job := given ->> 'job_id';
      context := given ->> 'context_id';
      worker := given ->> 'worker_id';
      creates := worker IS NOT NULL;
      owner_name := given ->> 'user';
    EXCEPTION WHEN data_exception THEN
      RAISE EXCEPTION 'The submission is not valid: %%', SQLERRM USING ERRCODE = 'NS004';
    END;
    IF job IS NULL OR context IS NULL THEN
      RAISE EXCEPTION 'The submission needs job_id and context_id.' USING ERRCODE = 'NS004';
    END IF;
    IF NOT creates THEN
      -- In one statement: a submission may become a worker between two.
      SELECT p.id, p.user_name INTO worker, owner_name FROM (
        SELECT w.id, w.user_name FROM workers w WHERE w.context_id = context AND w.tenant_id = tenant.id
        UNION ALL
        SELECT s.worker_id, s.user_name FROM submissions s
        WHERE s.target_context_id = context AND s.tenant_id = tenant.id AND s.creates_worker AND s.status = 'queued'
      ) p LIMIT 1;
      IF NOT FOUND THEN
        RAISE EXCEPTION 'The tenant "%%" has no context with the id %%.', tenant_name, context USING ERRCODE = 'NS005';
      END IF;
    END IF;
    INSERT INTO submissions (id, tenant_id, target_context_id, worker_id, creates_worker, user_name, body, bytes)
      SELECT job, tenant.id, context, worker, creates, owner_name, submission::json, octet_length(submission)
      WHERE NOT EXISTS (SELECT 1 FROM jobs j WHERE j.id = job)
      ON CONFLICT (id) DO NOTHING;
    IF NOT FOUND AND EXISTS (
      SELECT 1 FROM submissions s WHERE s.id = job AND (s.tenant_id <> tenant.id OR s.target_context_id <> context)
      UNION ALL SELECT 1 FROM jobs j WHERE j.id = job AND (j.tenant_id <> tenant.id OR j.context_id <> context)
    ) THEN
      RAISE EXCEPTION 'The job id %% is already used for another job.', job USING ERRCODE = 'NS006';
    END IF;
    RETURN job::text;
  END
  $body$;
  REVOKE ALL ON FUNCTION nightshift_submit_v1(text, text, boolean) FROM PUBLIC;
  -- Tells this installation from others, for roles that may read no table.
  COMMENT ON FUNCTION nightshift_submit_v1(text, text, boolean) IS %2$L$create$,
  current_schema(), 'installation ' || gen_random_uuid()); END $do$;
--> statement-breakpoint
DO $do$ BEGIN EXECUTE format($create$
  CREATE FUNCTION nightshift_settle_v1(
    tool_call uuid, of_context uuid, of_owner uuid, of_epoch bigint, began bigint, settled text
  ) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = %1$I, pg_temp AS $body$
  #variable_conflict use_variable
  DECLARE
    -- Of the caller: within this function current_user is the owner of the tables.
    caller name := CASE current_setting('role') WHEN 'none' THEN session_user ELSE current_setting('role')::name END;
    tenant bigint;
    given json;
  BEGIN
    IF began IS DISTINCT FROM (extract(epoch FROM transaction_timestamp()) * 1000000)::bigint THEN
      RAISE EXCEPTION 'The tool has ended its transaction itself.' USING ERRCODE = 'NS010';
    END IF;
    -- Nothing is locked for a role without a grant.
    SELECT c.tenant_id INTO tenant FROM contexts c WHERE c.id = of_context;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'The call must not go on: its context is deleted.' USING ERRCODE = 'NS008';
    END IF;
    IF NOT (pg_has_role(caller, current_user, 'USAGE') OR EXISTS (
      SELECT 1 FROM submission_grants g JOIN pg_roles r ON r.rolname = g.role_name
      WHERE g.tenant_id = tenant AND pg_has_role(caller, r.oid, 'USAGE')
    )) THEN
      RAISE EXCEPTION 'The database role "%%" may not settle calls of this tenant.', caller USING ERRCODE = 'NS001';
    END IF;
    IF octet_length(settled) > 16777216 THEN
      RAISE EXCEPTION 'The result has %% bytes. At most 16777216 are allowed.', octet_length(settled)
        USING ERRCODE = 'NS003';
    END IF;
    BEGIN
      given := settled::json;
    EXCEPTION WHEN data_exception THEN
      RAISE EXCEPTION 'The result is not valid: %%', SQLERRM USING ERRCODE = 'NS004';
    END;
    IF (CASE json_typeof(given)
      WHEN 'object' THEN CASE json_typeof(given -> 'content')
        WHEN 'string' THEN false
        WHEN 'array' THEN EXISTS (SELECT 1 FROM json_array_elements(given -> 'content') p WHERE CASE p.value ->> 'type'
          WHEN 'text' THEN json_typeof(p.value -> 'text') IS DISTINCT FROM 'string'
          WHEN 'image' THEN json_typeof(p.value -> 'source') IS DISTINCT FROM 'object'
          ELSE true END)
        ELSE true END OR coalesce(json_typeof(given -> 'compactSummary'), 'string') <> 'string'
      ELSE true END)
    THEN
      RAISE EXCEPTION 'The result needs content: a text, or a list of texts and images.' USING ERRCODE = 'NS004';
    END IF;
    -- A frozen process keeps the locks that follow for at most this long. Its tool kept its own under another limit.
    PERFORM set_config('idle_in_transaction_session_timeout', '1000', true);
    -- As in every transaction: first the context, then the job, then the call.
    PERFORM 1 FROM contexts c
      WHERE c.id = of_context AND c.lease_owner = of_owner AND c.lease_epoch >= of_epoch FOR NO KEY UPDATE;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'The call must not go on: another process has its context.' USING ERRCODE = 'NS008';
    END IF;
    PERFORM 1 FROM jobs j WHERE j.id = (SELECT t.job_id FROM tool_calls t WHERE t.id = tool_call)
      AND j.context_id = of_context AND j.status IN ('running', 'waiting') AND j.stop_kind IS NULL FOR NO KEY UPDATE;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'The call must not go on: its job has ended, or was told to end.' USING ERRCODE = 'NS008';
    END IF;
    UPDATE tool_calls t SET reply = CASE WHEN given -> 'compactSummary' IS NULL
        THEN json_build_object('content', given -> 'content', 'isError', false)
        ELSE json_build_object('content', given -> 'content', 'isError', false, 'compactSummary', given -> 'compactSummary')
        END
      WHERE t.id = tool_call AND t.context_id = of_context AND t.status IN ('pending', 'started') AND t.reply IS NULL;
    IF NOT FOUND AND EXISTS (SELECT 1 FROM tool_calls t
      WHERE t.id = tool_call AND t.context_id = of_context AND t.status IN ('pending', 'started')) THEN
      RAISE EXCEPTION 'The call has settled already.' USING ERRCODE = 'NS009';
    ELSIF NOT FOUND THEN
      RAISE EXCEPTION 'The call must not go on: it has ended.' USING ERRCODE = 'NS008';
    END IF;
    -- The mark of a call that was requested when its tool had the effect once.
    UPDATE tool_executions x SET ended_at = clock_timestamp(), outcome = 'completed'
      WHERE x.tool_call_id = tool_call AND x.outcome IS NULL;
    IF NOT FOUND THEN
      INSERT INTO tool_executions
          (tool_call_id, number, tenant_id, context_id, epoch, idempotency_key, began_at, ended_at, outcome)
        SELECT tool_call, 1 + coalesce((SELECT max(x.number) FROM tool_executions x WHERE x.tool_call_id = tool_call), 0),
          tenant, c.id, c.lease_epoch, tool_call::text, transaction_timestamp(), clock_timestamp(), 'completed'
        FROM contexts c WHERE c.id = of_context;
    END IF;
  END
  $body$;
  REVOKE ALL ON FUNCTION nightshift_settle_v1(uuid, uuid, uuid, bigint, bigint, text) FROM PUBLIC$create$,
  current_schema()); END $do$;
