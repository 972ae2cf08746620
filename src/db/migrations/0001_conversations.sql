CREATE TABLE "compactions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" text NOT NULL,
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
ALTER TABLE "tool_calls" DROP CONSTRAINT "tool_calls_status";--> statement-breakpoint
ALTER TABLE "tool_calls" DROP CONSTRAINT "tool_calls_finished";--> statement-breakpoint
DROP INDEX "tool_calls_open";--> statement-breakpoint
ALTER TABLE "branches" ADD COLUMN "spans" jsonb;--> statement-breakpoint
ALTER TABLE "branches" ADD COLUMN "message_count" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "branches" ADD COLUMN "request_count" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "branches" ADD COLUMN "input_tokens" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "branches" ADD COLUMN "output_tokens" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "branches" ADD COLUMN "cache_read_tokens" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "branches" ADD COLUMN "cache_write_tokens" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "compaction" jsonb;--> statement-breakpoint
ALTER TABLE "tool_calls" ADD COLUMN "asked_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "tool_calls" ADD COLUMN "expires_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "tool_calls" ADD COLUMN "reply" jsonb;--> statement-breakpoint
ALTER TABLE "tool_calls" ADD COLUMN "reply_message_id" uuid;--> statement-breakpoint
ALTER TABLE "workers" ADD COLUMN "parent_context_id" uuid;--> statement-breakpoint
ALTER TABLE "workers" ADD COLUMN "expires_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "workers" ADD COLUMN "archived_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE UNIQUE INDEX "compactions_place" ON "compactions" USING btree ("context_id","branch","seq");--> statement-breakpoint
CREATE INDEX "workers_expiring" ON "workers" USING btree ("expires_at") WHERE "workers"."expires_at" is not null;--> statement-breakpoint
CREATE INDEX "workers_archived" ON "workers" USING btree ("archived_at") WHERE "workers"."archived_at" is not null;--> statement-breakpoint
CREATE INDEX "tool_calls_open" ON "tool_calls" USING btree ("context_id") WHERE "tool_calls"."status" in ('pending', 'started', 'waiting');--> statement-breakpoint
ALTER TABLE "tool_calls" ADD CONSTRAINT "tool_calls_waiting" CHECK ("tool_calls"."status" <> 'waiting' or "tool_calls"."asked_at" is not null);--> statement-breakpoint
ALTER TABLE "tool_calls" ADD CONSTRAINT "tool_calls_reply" CHECK (("tool_calls"."reply" is null) = ("tool_calls"."reply_message_id" is null));--> statement-breakpoint
ALTER TABLE "tool_calls" ADD CONSTRAINT "tool_calls_status" CHECK (status in ('pending', 'started', 'waiting', 'completed', 'failed', 'cancelled', 'unknown'));--> statement-breakpoint
ALTER TABLE "tool_calls" ADD CONSTRAINT "tool_calls_finished" CHECK (("tool_calls"."status" in ('pending', 'started', 'waiting')) = ("tool_calls"."finished_at" is null));