ALTER TABLE "messages" ALTER COLUMN "content" SET DATA TYPE json USING "content"::text::json;--> statement-breakpoint
ALTER TABLE "roles" ALTER COLUMN "definition" SET DATA TYPE json USING "definition"::text::json;--> statement-breakpoint
ALTER TABLE "tool_calls" ALTER COLUMN "reply" SET DATA TYPE json USING "reply"::text::json;--> statement-breakpoint
ALTER TABLE "tool_calls" ALTER COLUMN "verdict" SET DATA TYPE json USING "verdict"::text::json;--> statement-breakpoint
ALTER TABLE "workers" ALTER COLUMN "config" SET DATA TYPE json USING "config"::text::json;--> statement-breakpoint
ALTER TABLE "workers" ADD COLUMN "root_context_id" uuid;