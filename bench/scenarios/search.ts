/** Search over 100,000 messages of 100 contexts, and the cost of the index for appends. */
import { setTimeout as pause } from 'node:timers/promises';
import { postAll, untilEnded, withSystems, type Bench, type Scenario } from '../bench.ts';
import { alone, percentile, type Figure } from '../figures.ts';
import { SCRIPT } from '../provider/script.ts';
import { countStatements, statementsOf } from '../statements.ts';
import { tagOf } from '../../test/services/statements.ts';
import type { System } from '../system.ts';
import { monotonic } from '../talk.ts';

const CONTEXTS = 100;
const EACH = 1_000;
const WORDS = 40;
const SEARCHES = 20;
const RUNS = 200;

const SOUGHT = {
  'a word in one of a thousand messages': 'seldom',
  'a word in every message': 'common',
  'two words': 'seldom common',
  'a phrase': '"common talk"',
  'a word without matches': 'nowhere',
};

export const search: Scenario = {
  about: 'search over 100,000 messages',
  run: (bench) =>
    withSystems(bench, ['nightshift'], async ([system]) => {
      if (system === undefined) return [];
      await system.startWorker(100);
      const costs = await costOfIndex(bench, system);
      const perS = await fill(bench, system);
      return [alone('messages made searchable', '1/s', perS), ...(await searched(bench, system)), ...costs];
    }),
};

/** Messages indexed per second by sweeps, after many arrived at once. */
async function fill(bench: Bench, system: System): Promise<number> {
  const { sql } = system;
  const contexts = JSON.stringify(await system.createContexts(CONTEXTS));
  await sql`
    insert into messages (id, tenant_id, context_id, branch, seq, role, type, turn, status, content, completed_at)
    select gen_random_uuid(), c.tenant_id, c.id, 'main', n, case n % 2 when 1 then 'user' else 'assistant' end, 'text',
      case n % 2 when 1 then 'u' else 'a' end || ((n + 1) / 2), 'completed',
      jsonb_build_array(jsonb_build_object('type', 'text', 'text', 'common talk ' || n
        || case n % 1000 when 0 then ' seldom ' else ' ' end
        || (select string_agg('word' || (n * 7919 + k * 104729) % 5000, ' ') from generate_series(1, ${WORDS}::int) k))), now()
    from contexts c, generate_series(1, ${EACH}::int) n
    where c.id in (select value::uuid from jsonb_array_elements_text(${contexts}::text::jsonb))`;
  const began = monotonic();
  await sql`
    with locked as (
      update contexts set head_seq = ${EACH}
      where id in (select value::uuid from jsonb_array_elements_text(${contexts}::text::jsonb)) returning *
    )
    insert into search_backlog (context_id, tenant_id, upto_seq) select id, tenant_id, head_seq from locked`;
  await untilIndexed(bench, system);
  const seconds = (monotonic() - began) / 1_000;
  await sql`vacuum analyze`;
  return (CONTEXTS * EACH) / seconds;
}

async function untilIndexed({ signal }: Bench, { sql }: System): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const [row] = await sql<{ is_empty: boolean }[]>`
      select not exists (select 1 from search_backlog) as is_empty`;
    if (row?.is_empty === true) return;
    await pause(50);
  }
}

async function searched(bench: Bench, { url }: System): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [name, words] of Object.entries(SOUGHT)) {
    const request = {
      method: 'GET' as const,
      path: `/api/search?q=${encodeURIComponent(words)}`,
      body: null,
    };
    const requests = Array.from({ length: SEARCHES * bench.rounds }, () => request);
    const answers = await bench.load.ask('send', { url, requests, atOnce: 1, gapMs: 0 });
    const took = answers.map(({ ms }) => ms);
    for (const share of [0.5, 0.99]) {
      figures.push(alone(`search for ${name}, p${share * 100}`, 'ms', percentile(took, share)));
    }
  }
  return figures;
}

/** PostgreSQL time per step of ordinary runs: for the append, and for the later indexing by sweeps. */
async function costOfIndex(bench: Bench, system: System): Promise<Figure[]> {
  const contexts = await system.createContexts(RUNS);
  await bench.provider.ask('play', {});
  if (!(await countStatements(system.sql))) return [];
  await postAll(bench, system, contexts);
  await untilEnded(bench, system, contexts);
  await untilIndexed(bench, system);
  const statements = await statementsOf(system.sql);
  const each = (tag: string): number =>
    statements.filter(({ text }) => tagOf(text) === tag).reduce((sum, { totalMs }) => sum + totalMs, 0) /
    (RUNS * SCRIPT.steps);
  return [
    alone('a step written, including its index backlog entry', 'ms in Postgres', each('contexts.append')),
    alone('a step indexed for search afterwards', 'ms in Postgres', each('search.index_backlog')),
  ];
}
