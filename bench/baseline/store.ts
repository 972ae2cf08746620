/** The tables and statements of the baseline: contexts, and messages in the provider's format. */
import postgres from 'postgres';

export const TABLES = `
  create table contexts (id uuid primary key, config jsonb not null, created_at timestamptz not null default now());
  create table messages (
    id bigint generated always as identity primary key,
    context_id uuid not null references contexts (id) on delete cascade,
    message jsonb not null,
    input_tokens int,
    output_tokens int,
    created_at timestamptz not null default now());
  create index messages_context on messages (context_id, id)`;

export type Usage = { input: number; output: number };

export function openStore(url: string) {
  const sql = postgres(url);
  return {
    async createContext(id: string, config: object) {
      await sql`insert into contexts (id, config) values (${id}, ${sql.json(config as never)})`;
    },
    async add(contextId: string, message: object, usage: Usage | null = null) {
      // With the tag of Nightshift's statement that writes a step, so that the two can be compared.
      await sql`/* contexts.append */ insert into messages (context_id, message, input_tokens, output_tokens)
        values (${contextId}, ${sql.json(message as never)}, ${usage?.input ?? null}, ${usage?.output ?? null})`;
    },
    async history<Message>(contextId: string): Promise<Message[]> {
      const rows = await sql<{ message: Message }[]>`
        select message from messages where context_id = ${contextId} order by id`;
      return rows.map(({ message }) => message);
    },
    close: () => sql.end({ timeout: 5 }),
  };
}

export type Store = ReturnType<typeof openStore>;
