-- In the order in which appends lock the tables. None is rewritten: what is null takes no room.
ALTER TABLE "contexts" ADD COLUMN "cost_nanos" bigint;--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "cost_nanos" bigint;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "cost_nanos" bigint;--> statement-breakpoint
ALTER TABLE "branches" ADD COLUMN "cost_nanos" bigint;