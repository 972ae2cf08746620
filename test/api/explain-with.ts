// What the API of the tests knows of tools: those that a person is asked about, and those that run at once.
import { LIMITS } from '../../src/core/limits.ts';
import { PROVIDERS } from '../../src/core/model/model.ts';
import { ASKING_DEFAULTS, type Approval } from '../../src/core/run/policy.ts';
import type { Explain } from '../../src/core/workers/explained.ts';
import type { Role } from '../../src/core/workers/settings.ts';
import { limitsOf, WORKER_LIMITS } from '../../src/core/workers/worker-limits.ts';
import type { Catalog } from '../../src/tools/registry/catalog.ts';
import { explain } from '../../src/tools/registry/explain.ts';
import { createRegistry } from '../../src/tools/registry/registry.ts';
import { NO_SERVERS } from '../../src/tools/registry/servers.ts';
import type { Tool } from '../../src/tools/registry/tool.ts';
import { toTool } from '../tools/to-tool.ts';

/** `roles`: of the config file. The tools are `read` and `write`; a person approves calls of `write`. */
export function explainWith(model: string, roles: ReadonlyMap<string, Role>): Explain {
  const catalog: Catalog = {
    roles,
    registry: createRegistry([knownTool('read', 'never'), knownTool('write', 'always')]),
    servers: NO_SERVERS,
    providers: new Set(PROVIDERS),
    defaults: { model, max_steps: LIMITS.maxSteps },
    asking: ASKING_DEFAULTS,
    parameters: [],
  };
  const installation = { origins: { model: 'environment' as const }, limits: limitsOf(WORKER_LIMITS, {}) };
  return (explained) => explain(explained, catalog, installation);
}

const knownTool = (name: string, approval: Approval): Tool =>
  toTool({
    name,
    description: name,
    effect: 'idempotent',
    approval,
    input_schema: { type: 'object' },
    execute: () => name,
  });
