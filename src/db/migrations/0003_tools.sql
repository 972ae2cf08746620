CREATE TABLE "awaited_jobs" (
	"tool_call_id" uuid NOT NULL,
	"job_id" uuid NOT NULL,
	"tenant_id" text NOT NULL,
	"context_id" uuid NOT NULL,
	"worker_id" uuid NOT NULL,
	"ordinal" integer NOT NULL,
	CONSTRAINT "awaited_jobs_tool_call_id_job_id_pk" PRIMARY KEY("tool_call_id","job_id")
);
--> statement-breakpoint
CREATE TABLE "memories" (
	"worker_id" uuid NOT NULL,
	"tenant_id" text NOT NULL,
	"key" text NOT NULL,
	"value" text NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "memories_worker_id_key_pk" PRIMARY KEY("worker_id","key")
);
--> statement-breakpoint
CREATE TABLE "tool_executions" (
	"tool_call_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"tenant_id" text NOT NULL,
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
ALTER TABLE "tool_calls" DROP CONSTRAINT "tool_calls_status";--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "hops" smallint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "report" text;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "reports_job_id" uuid;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "descend" text;--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "sender_worker_id" uuid;--> statement-breakpoint
ALTER TABLE "processes" ADD COLUMN "mcp_servers" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "tool_calls" ADD COLUMN "waits_for" text;--> statement-breakpoint
ALTER TABLE "tool_calls" ADD COLUMN "verdict" jsonb;--> statement-breakpoint
ALTER TABLE "tool_calls" ADD COLUMN "verdict_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "tool_calls" ADD COLUMN "needs" integer;--> statement-breakpoint
ALTER TABLE "workers" ADD COLUMN "root_worker_id" uuid;--> statement-breakpoint
ALTER TABLE "workers" ADD COLUMN "detached" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "memories" ADD CONSTRAINT "memories_worker_id_workers_id_fk" FOREIGN KEY ("worker_id") REFERENCES "public"."workers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "awaited_jobs_job" ON "awaited_jobs" USING btree ("job_id");--> statement-breakpoint
CREATE INDEX "awaited_jobs_context" ON "awaited_jobs" USING btree ("context_id");--> statement-breakpoint
CREATE INDEX "tool_executions_context" ON "tool_executions" USING btree ("context_id");--> statement-breakpoint
CREATE UNIQUE INDEX "jobs_reported_once" ON "jobs" USING btree ("reports_job_id") WHERE "jobs"."reports_job_id" is not null;--> statement-breakpoint
CREATE INDEX "jobs_report_due" ON "jobs" USING btree ("id") WHERE "jobs"."report" = 'due';--> statement-breakpoint
CREATE INDEX "jobs_descending" ON "jobs" USING btree ("id") WHERE "jobs"."descend" is not null;--> statement-breakpoint
CREATE INDEX "jobs_parent" ON "jobs" USING btree ("parent_job_id") WHERE "jobs"."parent_job_id" is not null;--> statement-breakpoint
CREATE INDEX "tool_calls_inbox" ON "tool_calls" USING btree ("tenant_id","asked_at","id") WHERE "tool_calls"."status" = 'waiting' and "tool_calls"."reply" is null and "tool_calls"."waits_for" in ('approval', 'answer', 'outcome');--> statement-breakpoint
CREATE INDEX "tool_calls_met" ON "tool_calls" USING btree ("context_id") WHERE "tool_calls"."status" = 'waiting' and "tool_calls"."needs" <= 0;--> statement-breakpoint
CREATE INDEX "workers_root" ON "workers" USING btree ("root_worker_id") WHERE "workers"."root_worker_id" is not null;--> statement-breakpoint
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_hops" CHECK ("jobs"."hops" >= 0);--> statement-breakpoint
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_report" CHECK (report in ('wanted', 'due'));--> statement-breakpoint
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_descend" CHECK (descend in ('cancel', 'stop', 'interrupt'));--> statement-breakpoint
ALTER TABLE "tool_calls" ADD CONSTRAINT "tool_calls_waits_for" CHECK (waits_for in ('approval', 'answer', 'outcome', 'workers', 'timer'));--> statement-breakpoint
ALTER TABLE "tool_calls" ADD CONSTRAINT "tool_calls_verdict" CHECK (("tool_calls"."verdict" is null) = ("tool_calls"."verdict_at" is null));--> statement-breakpoint
ALTER TABLE "tool_calls" ADD CONSTRAINT "tool_calls_needs" CHECK (("tool_calls"."waits_for" is not distinct from 'workers') = ("tool_calls"."needs" is not null));--> statement-breakpoint
ALTER TABLE "tool_calls" ADD CONSTRAINT "tool_calls_status" CHECK (status in ('pending', 'started', 'waiting', 'completed', 'failed', 'cancelled', 'denied', 'expired', 'unknown'));