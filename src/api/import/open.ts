/** Detects the format of an import, reads it completely, and validates it. */
import type { TenantId } from '../../core/ids.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { isParameter, isReserved } from '../../core/model/parameters.ts';
import type { WorkerConfig } from '../../core/workers/settings.ts';
import { PROVIDERS, parseModelName } from '../../core/model/model.ts';
import type { Allow } from '../../core/access/tenant.ts';
import { Transcript, type LackingResult } from '../../core/conversation/transcript.ts';
import type { StoredEntry } from '../../db/write/contexts/import.ts';
import { refusedName } from '../server/catalog.ts';
import type { ApiPorts } from '../server/ports.ts';
import { RequestRefused } from '../response/problem.ts';
import { roleToMakeFrom } from '../response/roles.ts';
import { ref } from '../../schema/build.ts';
import { WorkerConfig as ConfigSchema } from '../../schema/config.ts';
import { documentSource } from './document.ts';
import { isPlain } from './folder-fault.ts';
import { folderSource } from './folder.ts';
import { membersOf } from './members.ts';
import { pairedSource } from './paired.ts';
import { parserOf, wrong } from './parse.ts';
import { NO_CALL, type Source } from './source.ts';
import type { Spooled } from './spool.ts';

/** `allow`: what it may use. */
type AllowedTenant = { tenantId: TenantId; allow: Allow };

const parseWorkerConfig = parserOf(ref(ConfigSchema));

/** Refuses the import if any part of it is invalid. */
export async function openSource(ports: ApiPorts, tenant: AllowedTenant, body: Spooled): Promise<Source> {
  const source = await sourceOf(ports, tenant, body, Date.now());
  const transcript = new Transcript();
  let last = 0;
  for await (const entry of source.entries()) {
    last += 1;
    if (entry.kind === 'compaction') continue;
    const what = transcript.take(entry.message);
    if (what !== null) throw wrong(source.placeOf(last), `${source.placeOf(last)} ${what}.`);
  }
  refuseFarBranches(source, last);
  return completed(source, transcript.lacking(), last, Date.now());
}

async function sourceOf(ports: ApiPorts, tenant: AllowedTenant, body: Spooled, now: number): Promise<Source> {
  const members: Record<string, unknown> = {};
  const files: Record<string, unknown> = {};
  for await (const { name, item, value } of membersOf(body.read())) {
    if (item === null) members[name] = value;
    // `defineProperty`, because a file may have any name, such as `__proto__`.
    else if (name === 'files') Object.defineProperty(files, item, { value, enumerable: true, configurable: true });
  }
  if ('format' in members) return documentSource(members, body);
  if ('files' in members) {
    const { files: given, ...more } = members;
    const [odd] = Object.keys(more);
    if (odd !== undefined) throw wrong(odd, `${odd} is not allowed together with files. Remove it.`);
    return folderSource(isJsonObject(given) ? files : given, ports.ids, now, (written) =>
      configOf(ports, tenant, written),
    );
  }
  return pairedSource(members, body, now);
}

function refuseFarBranches({ context }: Source, last: number): void {
  context.branches.forEach(({ forkSeq, spans }, place) => {
    const numbers = [forkSeq, ...(spans ?? []).flatMap(({ after, upto }) => [after, upto])];
    if (numbers.some((number) => (number ?? 0) > last)) {
      throw wrong(`branches.${place}`, `branches.${place} refers to an entry beyond the last one, ${last}.`);
    }
  });
}

/** Appends results for tool calls without one, so that a job can run at once. */
function completed(source: Source, lacking: readonly LackingResult[], last: number, now: number): Source {
  const counts = new Map<string, number>();
  for (const { branch } of lacking) counts.set(branch, (counts.get(branch) ?? 0) + 1);
  const { context } = source;
  return {
    ...source,
    context: {
      ...context,
      messageCount: context.messageCount + lacking.length,
      branches: context.branches.map((branch) => ({
        ...branch,
        messageCount: branch.messageCount + (counts.get(branch.name) ?? 0),
      })),
    },
    async *entries(): AsyncGenerator<StoredEntry> {
      yield* source.entries();
      for (const [place, { branch, turn, result }] of lacking.entries()) {
        yield {
          kind: 'message',
          message: {
            seq: last + place + 1,
            branch,
            role: 'tool',
            type: 'tool_result',
            turn,
            status: 'completed',
            retraction: null,
            content: [result],
            createdAt: now,
            completedAt: now,
            ...NO_CALL,
          },
        };
      }
    },
  };
}

/** Keeps the supported, served and allowed parts of an old config. The event of the import stores the whole config. */
async function configOf(
  ports: ApiPorts,
  tenant: AllowedTenant,
  written: JsonObject,
): Promise<{ config: WorkerConfig; role: string | null }> {
  const parameters = written['parameters'];
  const model = modelOf(written);
  const provider = parseModelName(model ?? ports.config.defaultModel)?.provider ?? 'simulated';
  const isKept = (name: string) => !isReserved(name) && isParameter(provider, name, ports.catalog.parameters);
  const candidates: JsonObject[] = [
    { model },
    { mode: written['mode'] === 'code' ? 'act' : (written['mode'] ?? null) },
    { system_prompt: written['system_prompt'] ?? null },
    {
      parameters: isJsonObject(parameters)
        ? Object.fromEntries(Object.entries(parameters).filter(([name]) => isKept(name)))
        : null,
    },
  ];
  const parts = await Promise.all(candidates.map((candidate) => served(ports, tenant, candidate)));
  const role = written['agent_role'];
  const known = typeof role === 'string' && isPlain(role) ? await roleToMakeFrom(ports, tenant, role) : null;
  return {
    config: Object.assign({}, ...parts) as WorkerConfig,
    role: known === null || 'code' in known ? null : known.name,
  };
}

/** Empty if the candidate is not valid, if no live worker process serves it, or if the tenant may not use it. */
async function served(ports: ApiPorts, { allow }: AllowedTenant, candidate: JsonObject): Promise<WorkerConfig> {
  try {
    const config = parseWorkerConfig(candidate, 'config');
    return (await refusedName(ports, allow, config)) === null ? config : {};
  } catch (error) {
    if (error instanceof RequestRefused) return {};
    throw error;
  }
}

/** Old configs have the provider in a separate field, or not at all. */
function modelOf(written: JsonObject): string | null {
  const { model_id: id, provider_id: provider } = written;
  if (typeof id !== 'string') return null;
  if (parseModelName(id) !== null) return id;
  const named = PROVIDERS.find((known) => known === provider);
  if (named !== undefined) return `${named}/${id}`;
  if (id.startsWith('claude')) return `anthropic/${id}`;
  return /^(gpt|o\d)/.test(id) ? `openai/${id}` : null;
}
