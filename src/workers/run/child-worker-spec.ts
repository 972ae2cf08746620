/**
 * Role and config of a child worker. Without a role, the child gets those of its parent. With a role, it gets that
 * role, and the parent's model if the role sets none. The spawn call overrides both within what parent and role allow:
 * only their tools, no wider limits, and no call without approval that the parent needs approval for.
 */
import type { Code } from '../../core/errors.ts';
import type { WorkerId } from '../../core/ids.ts';
import { formatModelName } from '../../core/model/model.ts';
import type { Allow } from '../../core/access/tenant.ts';
import { allowedOf, isAllowed, notAllowed } from '../../core/workers/allowed-names.ts';
import type { Settings, WorkerConfig, WorkerRole } from '../../core/workers/settings.ts';
import type { SpawnAsk } from '../../core/workers/worker-asks.ts';
import type { WorkerLimits } from '../../core/workers/worker-limits.ts';
import type { Parent } from '../../db/run/team.ts';
import type { WorkerState } from '../process/ports.ts';
import type { FoundRole, RoleLookup } from './team/roles.ts';

type Parts = { abilities: Pick<WorkerState['abilities'], 'resolve'>; roles: RoleLookup };

type ChildWorkerSpec =
  | { kind: 'made'; role: WorkerRole | null; config: WorkerConfig }
  /** `message`: the message for the model. */
  | { kind: 'refused'; code: Code; message: string };

/** The worker that spawns. `allow`: what its tenant may use. `limits`: those that apply to it. */
type Spawner = { allow: Allow; settings: Settings; parent: Parent; limits: WorkerLimits };

export async function childWorkerSpec(
  { abilities, roles }: Parts,
  { allow, settings, parent, limits }: Spawner,
  ask: SpawnAsk,
): Promise<ChildWorkerSpec> {
  // Before it is looked up: the model does not learn whether there is such a role.
  if (ask.role !== null && !isAllowed(allow, 'roles', ask.role))
    return refused('forbidden', notAllowed(allow, 'roles', [ask.role]));
  const found = ask.role === null ? null : await roles.find(ask.role);
  if (found === null && ask.role !== null)
    return refused('unknown_role', `No role has the name ${JSON.stringify(ask.role)}.`);
  const granted = [
    ...settings.tools.filter(({ answered_by }) => answered_by !== 'client').map(({ name }) => name),
    ...allowedOf(allow, 'tools', found?.definition?.tools ?? []),
  ];
  const more = ask.tools?.find((name) => !granted.includes(name));
  if (more !== undefined) {
    const names = [...new Set(granted)].sort().join(', ');
    return refused('unknown_tool', `The child cannot have the tool ${JSON.stringify(more)}. It can have: ${names}.`);
  }
  const config = { ...inherited(settings, parent, limits, found), ...requestedConfig(ask) };
  const role = found === null ? parent.role : found.role;
  const definition = found === null ? parent.definition : role?.version === null ? null : found.definition;
  const child = { workerId: ANY_WORKER, role: role?.name ?? null, definition, config };
  const serving = abilities.resolve(child, null, allow);
  if (serving.kind === 'not_allowed') return refused('forbidden', serving.message);
  const missing = serving.kind === 'served' ? null : await roles.firstMissing(serving.missing);
  return missing === null
    ? { kind: 'made', role, config }
    : refused('unavailable', `No worker process has the ${missing}.`);
}

function refused(code: Code, message: string): ChildWorkerSpec {
  return { kind: 'refused', code, message };
}

function inherited(
  settings: Settings,
  { config }: Parent,
  limits: WorkerLimits,
  found: FoundRole | null,
): WorkerConfig {
  // Its answer is for the parent, not for those who asked the parent.
  if (found === null)
    return { ...config, limits, ...(settings.outputSchema !== null && { output_schema: false as const }) };
  const model = found.definition?.model === undefined ? { model: formatModelName(settings.model) } : {};
  // The parent's approval rules apply to the child too, so that a child with another role cannot bypass them.
  const approval = settings.asking.rules.filter(({ decision }) => decision !== 'never');
  return { ...model, ...(approval.length > 0 && { approval }), limits };
}

function requestedConfig({ systemPrompt, model, tools }: SpawnAsk): WorkerConfig {
  return {
    ...(systemPrompt !== null && { system_prompt: systemPrompt }),
    ...(model !== null && { model }),
    // Exactly these tools: no other tool of an MCP server, and none that a client runs.
    ...(tools !== null && { tools: [...new Set(tools)], mcp_servers: [], client_tools: [] }),
  };
}

/** A placeholder: settings do not depend on the worker's id. */
const ANY_WORKER = '00000000-0000-7000-8000-000000000000' as WorkerId;
