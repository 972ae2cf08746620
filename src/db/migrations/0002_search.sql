CREATE TABLE "search_backlog" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "search_backlog_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"context_id" uuid NOT NULL,
	"tenant_id" text NOT NULL,
	"upto_seq" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "search_entries" (
	"context_id" uuid NOT NULL,
	"seq" bigint NOT NULL,
	"tenant_id" text NOT NULL,
	"message_id" uuid NOT NULL,
	"role" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"document" "tsvector" NOT NULL,
	CONSTRAINT "search_entries_context_id_seq_pk" PRIMARY KEY("context_id","seq")
);
--> statement-breakpoint
CREATE INDEX "search_entries_document" ON "search_entries" USING gin ("document") WITH (gin_pending_list_limit=1024);