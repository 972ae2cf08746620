/**
 * The names that live worker processes publish: tools, roles, providers, MCP servers. Read at most about once a second.
 * Checks that the names in a worker's config are served, and that its tenant may use them.
 */
import { refuseAll, type Code, type Refusal, type RequestFault } from '../../core/errors.ts';
import { PROVIDERS, parseModelName, type ProviderName } from '../../core/model/model.ts';
import type { JsonObject } from '../../core/json.ts';
import { isParameter } from '../../core/model/parameters.ts';
import type { Allow } from '../../core/access/tenant.ts';
import { disallowedIn, notAllowed } from '../../core/workers/allowed-names.ts';
import type { Role, WorkerConfig } from '../../core/workers/settings.ts';
import type { Database } from '../../db/connection/client.ts';
import { published, type LeaseTimes } from '../../db/processes/processes.ts';
import { MOST_FAULTS, dottedPath, type Path } from '../../schema/fault.ts';
import { outputSchemaFaults } from '../../schema/output-schema.ts';
import { clientToolFaults } from '../request/client-tools.ts';
import { RequestRefused } from '../response/problem.ts';

/** Sorted names over all live worker processes. `models` holds providers. */
export type Names = { tools: string[]; roles: string[]; models: string[]; mcpServers: string[] };

export type Catalog = {
  /** Null: no worker process has published anything. */
  names(): Promise<Names | null>;
  /** Of the processes that begin runs; of all, if all are paused or drain. */
  beginningNames(): Promise<Names | null>;
  /** Roles of the config file that this process read. */
  fileRoles: ReadonlyMap<string, Role>;
  checkInput: CheckInput;
  /** Provider parameters that the operator allows besides the built-in ones. */
  parameters: readonly string[];
  /** For workers that set no model. */
  defaultModel: string;
};

/** What this process knows by itself. */
export type KnownCatalog = Omit<Catalog, 'names' | 'beginningNames'>;

/** Returns the problems of a tool's input as text; empty if valid. Null: this process does not know the tool. */
export type CheckInput = (tool: string, input: JsonObject) => Promise<readonly string[] | null>;

const FRESH_MS = 1_000;

export function openCatalog(database: Database, times: LeaseTimes, known: KnownCatalog): Catalog {
  type Rows = Awaited<ReturnType<typeof published>>;
  let cached: { at: number; rows: Promise<Rows> } | null = null;
  const read = (): Promise<Rows> => {
    if (cached !== null && performance.now() - cached.at < FRESH_MS) return cached.rows;
    const rows = published(database.db, times);
    cached = { at: performance.now(), rows };
    rows.catch(() => {
      cached = null;
    });
    return rows;
  };
  return {
    ...known,
    names: async () => namesOf(await read()),
    async beginningNames() {
      const rows = await read();
      const beginning = rows.filter(({ begins }) => begins);
      return namesOf(beginning.length > 0 ? beginning : rows);
    },
  };
}

function namesOf(rows: readonly Names[]): Names | null {
  if (rows.length === 0) return null;
  const all = (member: keyof Names): string[] => [...new Set(rows.flatMap((row) => row[member]))].sort();
  return { tools: all('tools'), roles: all('roles'), models: all('models'), mcpServers: all('mcpServers') };
}

/**
 * Refuses the names in a config that the tenant may not use, or that no live worker process serves; null: valid. `allow`:
 * what the tenant may use. `at`: path of the config in the body.
 */
export async function refusedName(
  { catalog }: { catalog: KnownCatalog & Pick<Catalog, 'names'> },
  allow: Allow,
  config: WorkerConfig,
  at: readonly string[] = ['config'],
): Promise<Refusal | null> {
  const disallowed = disallowedNames(allow, config, at);
  if (disallowed.length > 0) return refuseAll(disallowed);
  const { model, tools, client_tools, mcp_servers, compaction } = config;
  const named = [model, tools, client_tools, mcp_servers, compaction?.model];
  const parameters = parameterFaults(config, [...at, 'parameters'], catalog);
  const names = named.every((one) => one === undefined) ? [] : nameFaults(config, at, await catalog.names());
  const outputs = outputSchemaFaults(config.output_schema, [...at, 'output_schema']);
  const faults = [
    ...parameters,
    ...outputs.map(({ path, message }) => wrong('invalid_request', message, path)),
    ...names,
  ];
  return refuseAll(faults.slice(0, MOST_FAULTS), Math.max(0, faults.length - MOST_FAULTS));
}

/** The names in a config that the tenant may not use. */
export function disallowedNames(allow: Allow, config: WorkerConfig, at: Path): RequestFault[] {
  return disallowedIn(allow, config).map((one) =>
    wrong('forbidden', notAllowed(allow, one.kind, one.names), [...at, ...one.at]),
  );
}

/** Refuses the request if its tenant may not use a name in the config, or no live worker process serves it. */
export async function requireNames(
  { catalog }: { catalog: Catalog },
  { allow }: { allow: Allow },
  config: WorkerConfig,
  at: readonly string[] = ['config'],
): Promise<void> {
  const refusal = await refusedName({ catalog }, allow, config, at);
  if (refusal !== null) throw new RequestRefused(refusal);
}

function nameFaults(config: WorkerConfig, at: Path, names: Names | null): RequestFault[] {
  const isOurs = (name: string): boolean => names !== null && isKnownTool(name, names);
  const clientTools = clientToolFaults(config.client_tools ?? [], isOurs, [...at, 'client_tools']);
  return [
    ...modelFaults(config.model, [...at, 'model'], names),
    ...modelFaults(config.compaction?.model, [...at, 'compaction', 'model'], names),
    ...clientTools.map(({ path, message }) => wrong('invalid_request', message, path)),
    ...(names === null ? [] : missingFaults(config, at, names)),
  ];
}

function wrong(code: Code, message: string, path: Path): RequestFault {
  return { path: dottedPath(path), code, message };
}

function modelFaults(model: string | undefined, path: Path, names: Names | null): RequestFault[] {
  if (model === undefined) return [];
  const parsed = parseModelName(model);
  const served = names === null || parsed === null || names.models.some((n) => n === parsed.provider || n === model);
  if (parsed !== null && served) return [];
  const choices = list(names?.models ?? PROVIDERS);
  const message =
    parsed === null
      ? `Model ${quote(model)} has no known provider. Write it as ${withProvider(model, names)}. Known providers: ${choices}.`
      : `Model ${quote(model)} needs the provider ${quote(parsed.provider)}, which is not configured. ${SETUP[parsed.provider]} Configured providers: ${choices}.`;
  return [wrong('unknown_model', message, path)];
}

/** How a model without a provider is probably meant: it belongs to the only one that is configured. */
function withProvider(model: string, names: Names | null): string {
  const [only, ...more] = PROVIDERS.filter(
    (one) => one !== 'simulated' && one !== 'openai-chat' && names?.models.includes(one) === true,
  );
  return only === undefined || more.length > 0 || model.includes('/') ? 'provider/model' : quote(`${only}/${model}`);
}

/** A config without a model may have parameters of any provider; of simulated only if it is the default. */
function parameterFaults(
  { model, parameters = {} }: WorkerConfig,
  at: Path,
  { parameters: more, defaultModel }: KnownCatalog,
): RequestFault[] {
  const provider = model === undefined ? null : (parseModelName(model)?.provider ?? null);
  const otherwise = parseModelName(defaultModel)?.provider;
  const providers = PROVIDERS.filter((one) =>
    provider === null ? one !== 'simulated' || one === otherwise : one === provider,
  );
  const whose = provider === null ? 'any provider' : `the provider ${provider}`;
  return Object.keys(parameters)
    .filter((name) => !providers.some((one) => isParameter(one, name, more)))
    .map((name) => {
      const message = `Parameter ${quote(name)} is not allowed for ${whose}. Remove it, or allow it under limits.parameters in nightshift.config.ts.`;
      return wrong('invalid_request', message, [...at, name.slice(0, 100)]);
    });
}

/** How to configure a provider. */
const SETUP: Readonly<Record<ProviderName, string>> = {
  anthropic: 'Set ANTHROPIC_API_KEY for the worker processes.',
  openai: 'Set OPENAI_API_KEY for the worker processes.',
  'openai-chat': 'Set OPENAI_API_KEY, or OPENAI_BASE_URL for a local server, for the worker processes.',
  simulated: 'Start a worker process that serves it.',
};

/** Accepts any `server__tool` of a known MCP server: the API does not know the tools of every server. */
function isKnownTool(tool: string, { tools, mcpServers }: Names): boolean {
  return tools.includes(tool) || mcpServers.some((server) => tool.startsWith(`${server}__`));
}

/** The tools and MCP servers of a config that no live worker process serves. */
function missingNames(
  { tools = [], mcp_servers = [] }: WorkerConfig,
  names: Names,
): { tools: string[]; servers: string[] } {
  return {
    tools: tools.filter((tool) => !isKnownTool(tool, names)),
    servers: mcp_servers.filter((server) => !names.mcpServers.includes(server)),
  };
}

/** One fault for a whole list, so that the known names are listed once. */
function missingFaults(config: WorkerConfig, at: Path, names: Names): RequestFault[] {
  const { tools, servers } = missingNames(config, names);
  const faultOf = (what: string, unknown: string[], known: string[], member: string): RequestFault[] => {
    if (unknown.length === 0) return [];
    const message = `No live worker process serves ${named(what, unknown)}. Known ${what}s: ${list(known)}.`;
    return [wrong('unknown_tool', message, [...at, member])];
  };
  return [
    ...faultOf('tool', tools, names.tools, 'tools'),
    ...faultOf('MCP server', servers, names.mcpServers, 'mcp_servers'),
  ];
}

/** At most five names. */
function named(what: string, names: readonly string[]): string {
  const shown = names.slice(0, 5).map(quote);
  const left = names.length - shown.length;
  return `the ${what}${names.length === 1 ? '' : 's'} ${shown.join(', ')}${left === 0 ? '' : ` and ${left} more`}`;
}

/** Lists the parts of a config that no live worker process serves; empty: all are served. */
export function unsupported(config: WorkerConfig, role: string | null, names: Names): string[] {
  const { roles, models } = names;
  const { tools, servers } = missingNames(config, names);
  const provider = config.model === undefined ? null : (parseModelName(config.model)?.provider ?? null);
  const isServed = provider === null || models.some((name) => name === provider || name === config.model);
  return [
    ...(role === null || roles.includes(role) ? [] : [`role ${quote(role)}`]),
    ...(isServed ? [] : [`provider ${quote(provider)}`]),
    ...tools.map((tool) => `tool ${quote(tool)}`),
    ...servers.map((server) => `MCP server ${quote(server)}`),
  ];
}

export function list(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ');
}

export function quote(name: string): string {
  return `"${name.length > 100 ? `${name.slice(0, 100)}…` : name}"`;
}
