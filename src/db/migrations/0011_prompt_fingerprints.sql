CREATE TABLE "tool_lists" (
	"tenant_id" text NOT NULL,
	"hash" text NOT NULL,
	"tools" json NOT NULL,
	"used_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "tool_lists_tenant_id_hash_pk" PRIMARY KEY("tenant_id","hash")
);
--> statement-breakpoint
ALTER TABLE "failed_calls" ADD COLUMN "prompt" jsonb;--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "prompt" jsonb;--> statement-breakpoint
CREATE INDEX "tool_lists_age" ON "tool_lists" USING btree ("used_at");