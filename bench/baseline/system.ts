/** The baseline: a minimal agent queue. No leases, no events, no recovery, no cancel. */
import postgres from 'postgres';
import { start } from '../process.ts';
import type { Setting, SystemKind } from '../system.ts';
import { TABLES } from './store.ts';

function environment({ place, providerUrl, format }: Setting): Record<string, string> {
  return {
    DATABASE_URL: place.databaseUrl,
    REDIS_URL: place.redisUrl,
    FORMAT: format,
    OPENAI_API_KEY: 'bench',
    OPENAI_BASE_URL: `${providerUrl}/v1`,
    ANTHROPIC_API_KEY: 'bench',
    ANTHROPIC_BASE_URL: providerUrl,
  };
}

export const baseline = baselineWith('baseline', 'sdk');
/** Chat Completions only. */
export const raw = baselineWith('raw', 'raw');

function baselineWith(name: 'baseline' | 'raw', client: 'sdk' | 'raw'): SystemKind {
  return {
    name,
    async prepare({ place }) {
      const sql = postgres(place.databaseUrl, { max: 1 });
      await sql.unsafe(TABLES);
      await sql.end();
    },
    startApi: (setting, port) =>
      start({
        file: 'bench/baseline/api.ts',
        args: [],
        env: { ...environment(setting), PORT: String(port) },
        ready: /Server listening/,
        profile: setting.profile,
      }),
    startWorker: (setting, concurrency) =>
      start({
        file: 'bench/baseline/worker.ts',
        args: [],
        env: { ...environment(setting), CONCURRENCY: String(concurrency), CLIENT: client },
        ready: /worker is ready/,
        profile: setting.profile,
      }),
    newContext: () => ({}),
    // A run has ended when the last message is an answer without tool calls.
    unfinished: `select count(*)::int as count
    from jsonb_array_elements_text($1::text::jsonb) as c(id)
      cross join lateral (
        select message from messages where context_id = c.id::uuid order by messages.id desc limit 1) last
    where last.message ->> 'role' <> 'assistant' or last.message ? 'tool_calls'
      or jsonb_path_exists(last.message, '$.content[*] ? (@.type == "tool_use")')`,
    addHistory: [
      `insert into messages (context_id, message)
      select c.id, jsonb_build_object('role', case n % 2 when 1 then 'user' else 'assistant' end,
        'content', 'Message ' || n || ' of an old conversation, of no importance.')
      from contexts c, generate_series(1, $2::int) n
      where c.id in (select value::uuid from jsonb_array_elements_text($1::text::jsonb)) order by n`,
    ],
  };
}
