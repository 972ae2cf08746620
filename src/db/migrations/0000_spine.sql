CREATE TABLE "branches" (
	"context_id" uuid NOT NULL,
	"tenant_id" text NOT NULL,
	"name" text NOT NULL,
	"parent_name" text,
	"fork_seq" bigint,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "branches_context_id_name_pk" PRIMARY KEY("context_id","name"),
	CONSTRAINT "branches_fork" CHECK (("branches"."parent_name" is null) = ("branches"."fork_seq" is null))
);
--> statement-breakpoint
CREATE TABLE "contexts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" text NOT NULL,
	"status" text DEFAULT 'idle' NOT NULL,
	"state" text DEFAULT 'Idle' NOT NULL,
	"state_since" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"head_seq" bigint DEFAULT 0 NOT NULL,
	"wake_seq" bigint DEFAULT 0 NOT NULL,
	"control_seq" bigint DEFAULT 0 NOT NULL,
	"lease_owner" uuid,
	"lease_epoch" bigint DEFAULT 0 NOT NULL,
	"sweep_at" timestamp (3) with time zone,
	"active_branch" text DEFAULT 'main' NOT NULL,
	"stopped" boolean DEFAULT false NOT NULL,
	"queued" integer DEFAULT 0 NOT NULL,
	"steers" integer DEFAULT 0 NOT NULL,
	"barren_claims" smallint DEFAULT 0 NOT NULL,
	"message_count" bigint DEFAULT 0 NOT NULL,
	"turn_count" bigint DEFAULT 0 NOT NULL,
	"request_count" bigint DEFAULT 0 NOT NULL,
	"input_tokens" bigint DEFAULT 0 NOT NULL,
	"output_tokens" bigint DEFAULT 0 NOT NULL,
	"cache_read_tokens" bigint DEFAULT 0 NOT NULL,
	"cache_write_tokens" bigint DEFAULT 0 NOT NULL,
	"last_failure" jsonb,
	CONSTRAINT "contexts_status" CHECK (status in ('idle', 'runnable', 'running', 'waiting')),
	CONSTRAINT "contexts_running_is_owned" CHECK (("contexts"."status" = 'running') = ("contexts"."lease_owner" is not null)),
	CONSTRAINT "contexts_idle_is_not_swept" CHECK ("contexts"."status" <> 'idle' or "contexts"."sweep_at" is null),
	CONSTRAINT "contexts_unowned_is_swept" CHECK ("contexts"."status" not in ('runnable', 'waiting') or "contexts"."sweep_at" is not null),
	CONSTRAINT "contexts_queued" CHECK ("contexts"."queued" >= 0 and "contexts"."steers" >= 0)
);
--> statement-breakpoint
CREATE TABLE "events" (
	"context_id" uuid NOT NULL,
	"tenant_id" text NOT NULL,
	"seq" bigint NOT NULL,
	"name" text NOT NULL,
	"data" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "events_context_id_seq_pk" PRIMARY KEY("context_id","seq")
);
--> statement-breakpoint
CREATE TABLE "failed_calls" (
	"job_id" uuid NOT NULL,
	"attempt" integer NOT NULL,
	"context_id" uuid NOT NULL,
	"tenant_id" text NOT NULL,
	"model" text NOT NULL,
	"error" jsonb NOT NULL,
	"called_at" timestamp (3) with time zone NOT NULL,
	"first_byte_at" timestamp (3) with time zone,
	"failed_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"retry_at" timestamp (3) with time zone,
	CONSTRAINT "failed_calls_job_id_attempt_pk" PRIMARY KEY("job_id","attempt")
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"tenant_id" text NOT NULL,
	"key" text NOT NULL,
	"request" text NOT NULL,
	"response" jsonb,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "idempotency_keys_tenant_id_key_pk" PRIMARY KEY("tenant_id","key")
);
--> statement-breakpoint
CREATE TABLE "jobs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" text NOT NULL,
	"context_id" uuid NOT NULL,
	"worker_id" uuid NOT NULL,
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
	"steps" integer DEFAULT 0 NOT NULL,
	"max_steps" integer,
	"deadline" timestamp (3) with time zone,
	"input_tokens" bigint DEFAULT 0 NOT NULL,
	"output_tokens" bigint DEFAULT 0 NOT NULL,
	"cache_read_tokens" bigint DEFAULT 0 NOT NULL,
	"cache_write_tokens" bigint DEFAULT 0 NOT NULL,
	"output_message_id" uuid,
	"first_seq" bigint,
	"last_seq" bigint,
	"error" jsonb,
	"stop_kind" text,
	"stop_mode" text,
	"stop_reason" text,
	"stop_requested_at" timestamp (3) with time zone,
	"stop_delivered_at" timestamp (3) with time zone,
	"stopped_at" timestamp (3) with time zone,
	"parent_job_id" uuid,
	"parent_tool_call_id" uuid,
	"metadata" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp (3) with time zone,
	"finished_at" timestamp (3) with time zone,
	CONSTRAINT "jobs_kind" CHECK (kind in ('input', 'retry', 'compact')),
	CONSTRAINT "jobs_status" CHECK (status in ('queued', 'running', 'waiting', 'completed', 'incomplete', 'failed', 'cancelled', 'interrupted')),
	CONSTRAINT "jobs_input_has_message" CHECK (("jobs"."kind" = 'input') = ("jobs"."message_id" is not null)),
	CONSTRAINT "jobs_started" CHECK ("jobs"."status" not in ('running', 'waiting') or "jobs"."started_at" is not null),
	CONSTRAINT "jobs_finished" CHECK (("jobs"."status" in ('completed', 'incomplete', 'failed', 'cancelled', 'interrupted')) = ("jobs"."finished_at" is not null)),
	CONSTRAINT "jobs_failed_says_why" CHECK ("jobs"."status" not in ('failed', 'incomplete') or "jobs"."error" is not null),
	CONSTRAINT "jobs_priority" CHECK ("jobs"."priority" between 0 and 10),
	CONSTRAINT "jobs_stop_kind" CHECK (stop_kind in ('cancel', 'stop', 'interrupt')),
	CONSTRAINT "jobs_stop_mode" CHECK (stop_mode in ('discard', 'rollback', 'keep')),
	CONSTRAINT "jobs_interrupt_has_mode" CHECK (("jobs"."stop_kind" is not distinct from 'interrupt') = ("jobs"."stop_mode" is not null)),
	CONSTRAINT "jobs_wish" CHECK (("jobs"."stop_kind" is null) = ("jobs"."stop_requested_at" is null))
);
--> statement-breakpoint
CREATE TABLE "messages" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" text NOT NULL,
	"context_id" uuid NOT NULL,
	"branch" text NOT NULL,
	"seq" bigint,
	"role" text NOT NULL,
	"type" text NOT NULL,
	"turn" text,
	"status" text NOT NULL,
	"content" jsonb NOT NULL,
	"job_id" uuid,
	"model_id" text,
	"provider_id" text,
	"input_tokens" integer,
	"output_tokens" integer,
	"cache_read_tokens" integer,
	"cache_write_tokens" integer,
	"finish_reason" text,
	"attempt" integer,
	"called_at" timestamp (3) with time zone,
	"first_byte_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"completed_at" timestamp (3) with time zone,
	CONSTRAINT "messages_role" CHECK (role in ('user', 'assistant', 'system', 'tool')),
	CONSTRAINT "messages_type" CHECK (type in ('text', 'plan', 'question', 'tool_call', 'tool_result')),
	CONSTRAINT "messages_status" CHECK (status in ('queued', 'completed', 'retracted', 'withdrawn')),
	CONSTRAINT "messages_numbered" CHECK (("messages"."status" in ('completed', 'retracted')) = ("messages"."seq" is not null)),
	CONSTRAINT "messages_turn" CHECK (("messages"."status" in ('completed', 'retracted')) = ("messages"."turn" is not null)),
	CONSTRAINT "messages_only_inputs_queue" CHECK ("messages"."status" in ('completed', 'retracted') or "messages"."role" = 'user')
);
--> statement-breakpoint
CREATE TABLE "processes" (
	"id" uuid PRIMARY KEY NOT NULL,
	"lock_key" bigint NOT NULL,
	"host" text NOT NULL,
	"pid" integer NOT NULL,
	"version" text NOT NULL,
	"tools" text[] NOT NULL,
	"roles" text[] NOT NULL,
	"models" text[] NOT NULL,
	"started_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"beat_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"late_at" timestamp (3) with time zone,
	"metrics" jsonb,
	"dead_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "provider_gates" (
	"id" text PRIMARY KEY NOT NULL,
	"provider" text NOT NULL,
	"reason" text NOT NULL,
	"closed_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"held_until" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "roles" (
	"tenant_id" text NOT NULL,
	"name" text NOT NULL,
	"version" integer NOT NULL,
	"definition" jsonb,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "roles_tenant_id_name_version_pk" PRIMARY KEY("tenant_id","name","version"),
	CONSTRAINT "roles_version" CHECK ("roles"."version" > 0)
);
--> statement-breakpoint
CREATE TABLE "tool_calls" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" text NOT NULL,
	"context_id" uuid NOT NULL,
	"job_id" uuid NOT NULL,
	"message_id" uuid NOT NULL,
	"ordinal" integer NOT NULL,
	"name" text NOT NULL,
	"effect" text NOT NULL,
	"on_unknown" text NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"started_epoch" bigint,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp (3) with time zone,
	"finished_at" timestamp (3) with time zone,
	CONSTRAINT "tool_calls_effect" CHECK (effect in ('none', 'idempotent', 'once')),
	CONSTRAINT "tool_calls_on_unknown" CHECK (on_unknown in ('tell', 'ask')),
	CONSTRAINT "tool_calls_status" CHECK (status in ('pending', 'started', 'completed', 'failed', 'cancelled', 'unknown')),
	CONSTRAINT "tool_calls_finished" CHECK (("tool_calls"."status" in ('pending', 'started')) = ("tool_calls"."finished_at" is null)),
	CONSTRAINT "tool_calls_started" CHECK ("tool_calls"."status" <> 'started' or ("tool_calls"."started_epoch" is not null and "tool_calls"."effect" = 'once'))
);
--> statement-breakpoint
CREATE TABLE "workers" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" text NOT NULL,
	"context_id" uuid NOT NULL,
	"name" text NOT NULL,
	"title" text,
	"role" text,
	"role_version" integer,
	"config" jsonb NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"parent_worker_id" uuid,
	"depth" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "branches" ADD CONSTRAINT "branches_context_id_contexts_id_fk" FOREIGN KEY ("context_id") REFERENCES "public"."contexts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workers" ADD CONSTRAINT "workers_context_id_contexts_id_fk" FOREIGN KEY ("context_id") REFERENCES "public"."contexts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "contexts_due" ON "contexts" USING btree ("sweep_at") WHERE "contexts"."sweep_at" is not null;--> statement-breakpoint
CREATE INDEX "contexts_owned" ON "contexts" USING btree ("lease_owner") WHERE "contexts"."lease_owner" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "contexts_tenant" ON "contexts" USING btree ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "failed_calls_context" ON "failed_calls" USING btree ("context_id");--> statement-breakpoint
CREATE INDEX "idempotency_keys_age" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "jobs_one_active" ON "jobs" USING btree ("context_id") WHERE "jobs"."status" in ('running', 'waiting');--> statement-breakpoint
CREATE INDEX "jobs_queue" ON "jobs" USING btree ("context_id","priority","position") WHERE "jobs"."status" = 'queued';--> statement-breakpoint
CREATE UNIQUE INDEX "jobs_spawned_once" ON "jobs" USING btree ("parent_tool_call_id") WHERE "jobs"."parent_tool_call_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "jobs_tenant" ON "jobs" USING btree ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "jobs_context" ON "jobs" USING btree ("context_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "messages_seq" ON "messages" USING btree ("context_id","seq") WHERE "messages"."seq" is not null;--> statement-breakpoint
CREATE INDEX "messages_branch" ON "messages" USING btree ("context_id","branch","seq");--> statement-breakpoint
CREATE UNIQUE INDEX "processes_lock" ON "processes" USING btree ("lock_key");--> statement-breakpoint
CREATE INDEX "processes_live" ON "processes" USING btree ("beat_at") WHERE "processes"."dead_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "tool_calls_place" ON "tool_calls" USING btree ("message_id","ordinal");--> statement-breakpoint
CREATE INDEX "tool_calls_open" ON "tool_calls" USING btree ("context_id") WHERE "tool_calls"."status" in ('pending', 'started');--> statement-breakpoint
CREATE INDEX "tool_calls_job" ON "tool_calls" USING btree ("context_id","job_id");--> statement-breakpoint
CREATE UNIQUE INDEX "workers_context" ON "workers" USING btree ("context_id");--> statement-breakpoint
CREATE UNIQUE INDEX "workers_tenant" ON "workers" USING btree ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "workers_parent" ON "workers" USING btree ("parent_worker_id") WHERE "workers"."parent_worker_id" is not null;--> statement-breakpoint
ALTER TABLE "contexts" SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
--> statement-breakpoint
ALTER TABLE "jobs" SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
--> statement-breakpoint
ALTER TABLE "processes" SET (fillfactor = 50);
