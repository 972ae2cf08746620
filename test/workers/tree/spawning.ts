// A fleet of workers that make workers: the simulated model, scripted by inputs, and the built-in tools.
import { ASKING_DEFAULTS } from '../../../src/core/run/policy.ts';
import { DEFAULT_TENANT, type ContextId, type JobId } from '../../../src/core/ids.ts';
import { LIMITS } from '../../../src/core/limits.ts';
import type { Role, WorkerConfig } from '../../../src/core/workers/settings.ts';
import { createModels } from '../../../src/llm/models.ts';
import { builtInTools } from '../../../src/tools/built-in/tools.ts';
import { createToolRunner } from '../../../src/tools/run/execute.ts';
import { createRegistry } from '../../../src/tools/registry/registry.ts';
import { NO_SERVERS } from '../../../src/tools/registry/servers.ts';
import type { Catalog } from '../../../src/tools/registry/catalog.ts';
import { resolve } from '../../../src/tools/registry/settings.ts';
import type { Tool } from '../../../src/tools/registry/tool.ts';
import { createWorker } from '../../../src/commands/workers/create-worker.ts';
import { says, startFleet, type Fleet, type FleetOptions } from '../worker-fleet.ts';

export const SPAWNING = ['spawn_worker', 'wait_for_workers', 'look'];

type Options = Partial<Omit<FleetOptions, 'tools'>> & {
  roles?: ReadonlyMap<string, Role>;
  look?: () => string | Promise<string>;
  own?: readonly Tool[];
};

/** Workers have the tools that make workers, and `look`. `own`: other tools of the config file. */
export async function startSpawning({ roles = new Map(), look, own = [], ...options }: Options = {}): Promise<Fleet> {
  const looking: Tool = {
    descriptor: {
      name: 'look',
      description: '',
      input_schema: { type: 'object' },
      effect: 'none',
      on_unknown: 'tell',
      answered_by: 'tool',
    },
    timeoutMs: null,
    validate: (value) => ({ ok: true, value }),
    execute: () => look?.() ?? 'seen',
  };
  const registry = createRegistry([...builtInTools(), looking, ...own]);
  const runner = createToolRunner(registry, { limits: LIMITS });
  const models = createModels({ openai: {}, idleTimeoutMs: 10_000 });
  const tools = Object.fromEntries(
    registry.names.map((name) => [
      name,
      {
        execute: (...given: Parameters<typeof runner.execute>) => runner.execute(...given),
      },
    ]),
  );
  return startFleet({
    model: () => says('unused'),
    provider: { models, name: 'simulated' },
    tools,
    ...options,
    team: { ...options.team, roles },
    resolve: ({ config, role, definition }, caller, allow) => {
      const catalog: Catalog = {
        roles,
        registry,
        servers: NO_SERVERS,
        asking: ASKING_DEFAULTS,
        parameters: [],
        providers: new Set(['simulated'] as const),
        defaults: { model: 'simulated/test', max_steps: 50 },
      };
      return resolve(config, definition ?? role, catalog, { caller, role, allow });
    },
  });
}

export async function createSpawner(fleet: Fleet, config: WorkerConfig = { tools: SPAWNING }) {
  return fleet.perform(
    createWorker(fleet.ports, {
      tenantId: DEFAULT_TENANT,
      name: 'boss',
      title: null,
      role: null,
      config,
      user: null,
      parentWorkerId: null,
    }),
  );
}

/** A line that makes a child with that script. */
export function spawn(input: string, more: object = {}): string {
  return `call: spawn_worker ${JSON.stringify({ input, ...more })}`;
}

/** The script of a tree: each node of a level has so many children, waits for all, and answers with its name. */
export function treeScript(fan: readonly number[], name = 'n'): string {
  const [count = 0, ...below] = fan;
  if (count === 0) return `say: ${name}`;
  const children = Array.from({ length: count }, (_, n) =>
    spawn(treeScript(below, `${name}.${n}`), { name: `${name}.${n}` }),
  );
  return [...children, '---', `say: ${name}`].join('\n');
}

/** The results of calls in a context, in order: the text of each. */
export async function resultsOf(fleet: Fleet, contextId: ContextId): Promise<string[]> {
  const history = await fleet.history(contextId);
  return history.flatMap(({ content }) =>
    content.flatMap((block) =>
      block.type === 'tool_result' && typeof block.content === 'string' ? [block.content] : [],
    ),
  );
}

export async function childrenOf(fleet: Fleet, jobId: JobId): Promise<Record<string, unknown>[]> {
  return fleet.query(`select * from jobs where parent_job_id = '${jobId}' order by id`);
}
