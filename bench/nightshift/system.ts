/** Nightshift as in production: the commands `api` and `worker`, each in its own process. */
import { migrate } from '../../src/db/setup/migrate.ts';
import { start } from '../process.ts';
import { BUNDLED_MAIN, makeBundle } from './bundle.ts';
import type { Setting, SystemKind } from '../system.ts';
import { LOOK, SYSTEM_PROMPT } from '../tool.ts';

export const SOURCE_MAIN = 'src/cli/main.ts';

type Env = Readonly<Record<string, string>>;

function environment({ place, providerUrl }: Setting, more: Env): Env {
  return {
    DATABASE_URL: place.databaseUrl,
    REDIS_URL: place.redisUrl,
    OPENAI_API_KEY: 'bench',
    OPENAI_BASE_URL: `${providerUrl}/v1`,
    ANTHROPIC_API_KEY: 'bench',
    ANTHROPIC_BASE_URL: providerUrl,
    NIGHTSHIFT_CONFIG: 'bench/nightshift/nightshift.config.ts',
    ...more,
  };
}

/** With these variables of the environment instead of, or besides, the usual ones. */
export function nightshiftWith(env: Env): SystemKind {
  return {
    ...nightshiftFrom('nightshift', BUNDLED_MAIN, env),
    async prepare({ place }) {
      await makeBundle();
      await migrate(place.databaseUrl);
    },
  };
}

export const nightshift = nightshiftWith({});
export const source = nightshiftFrom('source', SOURCE_MAIN);

function nightshiftFrom(name: 'nightshift' | 'source', program: string, env: Env = {}): SystemKind {
  // A profile names the source files.
  const fileFor = ({ profile }: Setting): string => (profile ? SOURCE_MAIN : program);
  return {
    name,
    prepare: async ({ place }) => void (await migrate(place.databaseUrl)),
    startApi: (setting, port) =>
      start({
        file: fileFor(setting),
        args: ['api'],
        env: { ...environment(setting, env), PORT: String(port) },
        ready: /the API is up/,
        profile: setting.profile,
      }),
    startWorker: (setting, concurrency) =>
      start({
        file: fileFor(setting),
        args: ['worker'],
        env: { ...environment(setting, env), NIGHTSHIFT_CONCURRENCY: String(concurrency) },
        ready: /worker process is up/,
        profile: setting.profile,
      }),
    newContext: ({ format }) => ({
      config: {
        model: format === 'openai' ? 'openai-chat/bench' : 'anthropic/bench',
        system_prompt: SYSTEM_PROMPT,
        tools: [LOOK.name],
        // Larger than any history in the benchmark, so that nothing is compacted.
        context_limit: 1_000_000_000,
      },
    }),
    unfinished: `select count(*)::int as count from jobs where status in ('queued', 'running', 'waiting')
    and context_id in (select value::uuid from jsonb_array_elements_text($1::text::jsonb))`,
    addHistory: [
      `insert into messages (id, tenant_id, context_id, branch, seq, role, type, turn, status, content, completed_at)
      select gen_random_uuid(), c.tenant_id, c.id, 'main', n, case n % 2 when 1 then 'user' else 'assistant' end, 'text',
        case n % 2 when 1 then 'u' else 'a' end || ((n + 1) / 2), 'completed',
        jsonb_build_array(jsonb_build_object('type', 'text', 'text', 'Message ' || n || ' of an old conversation, of no importance.')),
        now()
      from contexts c, generate_series(1, $2::int) n
      where c.id in (select value::uuid from jsonb_array_elements_text($1::text::jsonb))`,
      `update contexts set head_seq = $2::int, message_count = $2::int, turn_count = $2::int / 2
      where id in (select value::uuid from jsonb_array_elements_text($1::text::jsonb))`,
    ],
  };
}
