/**
 * What a child is made from. Without a role: from what its parent is. With one: from that, and what it leaves open of model
 * is its parent's. What its call says goes before, within what parent and role may: no tool but theirs, no wider limits, and
 * nothing unasked that its parent has to ask for.
 */
import type { Code } from '../core/errors.ts';
import type { TenantId, WorkerId } from '../core/ids.ts';
import { formatModelName } from '../core/model.ts';
import type { Role, Settings, WorkerConfig, WorkerRole } from '../core/settings.ts';
import type { SpawnAsk } from '../core/worker-asks.ts';
import type { WorkerLimits } from '../core/worker-limits.ts';
import { published } from '../db/processes.ts';
import { findRole } from '../db/roles.ts';
import type { Parent } from '../db/team.ts';
import type { WorkerState } from './ports.ts';

type Parts = Pick<WorkerState, 'database' | 'abilities' | 'times'>;

export type ChildWorkerSpec =
  | { kind: 'made'; role: WorkerRole | null; config: WorkerConfig }
  /** In words for the model. */
  | { kind: 'refused'; code: Code; words: string };

/** A role that was looked for. `definition`: null where only other processes know it. */
type Found = { role: WorkerRole; definition: Role | null };

export async function childWorkerSpec(
  parts: Parts,
  tenantId: TenantId,
  settings: Settings,
  parent: Parent,
  limits: WorkerLimits,
  ask: SpawnAsk,
): Promise<ChildWorkerSpec> {
  const found = ask.role === null ? null : await findRoleOf(parts, tenantId, ask.role);
  if (found === null && ask.role !== null)
    return refused('unknown_role', `There is no role ${JSON.stringify(ask.role)}.`);
  const granted = [
    ...settings.tools.filter(({ answered_by }) => answered_by !== 'client').map(({ name }) => name),
    ...(found?.definition?.tools ?? []),
  ];
  const more = ask.tools?.find((name) => !granted.includes(name));
  if (more !== undefined) {
    const names = [...new Set(granted)].sort().join(', ');
    return refused(
      'unknown_tool',
      `The tool ${JSON.stringify(more)} cannot be given to it. These can: ${names}.`,
    );
  }
  const config = { ...inherited(settings, parent, limits, found), ...said(ask) };
  const role = found === null ? parent.role : found.role;
  const definition = found === null ? parent.definition : role?.version === null ? null : found.definition;
  const missing = await missingOf(parts, { role, definition, config });
  return missing === null
    ? { kind: 'made', role, config }
    : refused('unavailable', `Nobody here has ${missing}.`);
}

function refused(code: Code, words: string): ChildWorkerSpec {
  return { kind: 'refused', code, words };
}

function inherited(
  settings: Settings,
  { config }: Parent,
  limits: WorkerLimits,
  found: Found | null,
): WorkerConfig {
  if (found === null) return { ...config, limits };
  const model = found.definition?.model === undefined ? { model: formatModelName(settings.model) } : {};
  // What its maker is asked about or denied, it is too: another role is no way around that.
  const approval = settings.asking.rules.filter(({ decision }) => decision !== 'never');
  return { ...model, ...(approval.length > 0 && { approval }), limits };
}

function said({ systemPrompt, model, tools }: SpawnAsk): WorkerConfig {
  return {
    ...(systemPrompt !== null && { system_prompt: systemPrompt }),
    ...(model !== null && { model }),
    // Those and no others: of the tools of a server, too, only what is named, and none that a client runs.
    ...(tools !== null && { tools: [...new Set(tools)], mcp_servers: [], client_tools: [] }),
  };
}

/** One of the config file, else of the tenant, else one that another process published. */
async function findRoleOf(
  { database, abilities, times }: Parts,
  tenantId: TenantId,
  name: string,
): Promise<Found | null> {
  const ofFile = abilities.team.roles.get(name);
  if (ofFile !== undefined) return { role: { name, version: null }, definition: ofFile };
  const ofTenant = await findRole(database.db, tenantId, name);
  if (ofTenant !== null)
    return { role: { name, version: ofTenant.version }, definition: ofTenant.definition };
  const elsewhere = await published(database.db, times);
  return elsewhere.some(({ roles }) => roles.includes(name))
    ? { role: { name, version: null }, definition: null }
    : null;
}

/** What neither this process nor another one that lives can serve; null: nothing. */
async function missingOf(
  { database, abilities, times }: Parts,
  { role, definition, config }: { role: WorkerRole | null; definition: Role | null; config: WorkerConfig },
): Promise<string | null> {
  const child = { workerId: NOBODY, role: role?.name ?? null, definition, config };
  const serving = abilities.resolve(child, null);
  if (serving.kind === 'served') return null;
  const elsewhere = await published(database.db, times);
  const known = new Set(
    elsewhere.flatMap(({ tools, roles, models, mcpServers }) => [
      ...tools.map((name) => `tool ${name}`),
      ...roles.map((name) => `role ${name}`),
      ...models.map((name) => `provider ${name}`),
      ...mcpServers.map((name) => `mcp server ${name}`),
    ]),
  );
  return serving.missing.find((name) => !known.has(name)) ?? null;
}

/** Settings do not depend on whose they are. */
const NOBODY = '00000000-0000-7000-8000-000000000000' as WorkerId;
