/**
 * The names that live worker processes publish: tools, roles, providers, MCP servers. Read at most about once a second.
 * Checks that the names in a worker's config are served.
 */
import { refuse } from '../../core/errors.ts';
import type { Refusal } from '../../core/errors.ts';
import { PROVIDERS, parseModelName } from '../../core/model/model.ts';
import type { ProviderName } from '../../core/model/model.ts';
import type { JsonObject } from '../../core/json.ts';
import { isParameter } from '../../core/model/parameters.ts';
import type { Role, WorkerConfig } from '../../core/workers/settings.ts';
import type { Database } from '../../db/connection/client.ts';
import { published } from '../../db/processes/processes.ts';
import type { LeaseTimes } from '../../db/processes/processes.ts';
import { checkClientTools } from '../request/client-tools.ts';
import { RequestRefused } from '../response/problem.ts';

/** Sorted names over all live worker processes. `models` holds providers. */
export type Names = { tools: string[]; roles: string[]; models: string[]; mcpServers: string[] };

export type Catalog = {
  /** Null: no worker process has published anything. */
  names(): Promise<Names | null>;
  /** Roles of the config file that this process read. */
  fileRoles: ReadonlyMap<string, Role>;
  checkInput: CheckInput;
  /** Provider parameters that the operator allows besides the built-in ones. */
  parameters: readonly string[];
  /** For workers that set no model. */
  defaultModel: string;
};

/** Returns the problems of a tool's input as text; empty if valid. Null: this process does not know the tool. */
export type CheckInput = (tool: string, input: JsonObject) => Promise<readonly string[] | null>;

const FRESH_MS = 1_000;

export function openCatalog(database: Database, times: LeaseTimes, known: Omit<Catalog, 'names'>): Catalog {
  let asked: { at: number; names: Promise<Names | null> } | null = null;
  return {
    ...known,
    names() {
      if (asked !== null && performance.now() - asked.at < FRESH_MS) return asked.names;
      const names = askNames(database, times);
      asked = { at: performance.now(), names };
      names.catch(() => {
        asked = null;
      });
      return names;
    },
  };
}

async function askNames(database: Database, times: LeaseTimes): Promise<Names | null> {
  const rows = await published(database.db, times);
  if (rows.length === 0) return null;
  const all = (member: keyof Names): string[] => [...new Set(rows.flatMap((row) => row[member]))].sort();
  return { tools: all('tools'), roles: all('roles'), models: all('models'), mcpServers: all('mcpServers') };
}

/**
 * Refuses the first name in a config that no live worker process serves; null: valid. `at`: path of the config in the
 * body.
 */
export async function unknownName(
  { catalog }: { catalog: Catalog },
  config: WorkerConfig,
  at: 'config.' | '' = 'config.',
): Promise<Refusal | null> {
  const { model, tools, client_tools, mcp_servers, compaction } = config;
  const refusal = checkParameters(config, at, catalog);
  if (refusal !== null) return refusal;
  const named = [model, tools, client_tools, mcp_servers, compaction?.model];
  if (named.every((one) => one === undefined)) return null;
  return checkNames(config, at, await catalog.names());
}

/** Refuses the request if no live worker process serves a name in the config. */
export async function refuseUnknownNames(
  { catalog }: { catalog: Catalog },
  config: WorkerConfig,
  at: 'config.' | '' = 'config.',
): Promise<void> {
  const refusal = await unknownName({ catalog }, config, at);
  if (refusal !== null) throw new RequestRefused(refusal);
}

/** Refuses the request if no live worker process serves the model. */
export async function refuseUnknownModel(
  { catalog }: { catalog: Catalog },
  model: string | undefined,
  param: string,
): Promise<void> {
  if (model === undefined) return;
  const refusal = checkModel(model, param, await catalog.names());
  if (refusal !== null) throw new RequestRefused(refusal);
}

function checkNames(config: WorkerConfig, at: string, names: Names | null): Refusal | null {
  return (
    checkModel(config.model, `${at}model`, names) ??
    checkModel(config.compaction?.model, `${at}compaction.model`, names) ??
    checkClientTools(config.client_tools ?? [], names?.tools ?? [], `${at}client_tools`) ??
    (names === null
      ? null
      : (checkTools(config.tools ?? [], `${at}tools`, names) ??
        checkServers(config.mcp_servers ?? [], `${at}mcp_servers`, names)))
  );
}

function checkModel(model: string | undefined, param: string, names: Names | null): Refusal | null {
  if (model === undefined) return null;
  const parsed = parseModelName(model);
  const served =
    names === null || parsed === null || names.models.some((n) => n === parsed.provider || n === model);
  if (parsed !== null && served) return null;
  const choices = list(names?.models ?? PROVIDERS);
  const message =
    parsed === null
      ? `Model ${quote(model)} has no known provider. Write it as provider/model. Known providers: ${choices}.`
      : `Model ${quote(model)} needs the provider ${quote(parsed.provider)}, which is not configured. ${SETUP[parsed.provider]} Configured providers: ${choices}.`;
  return refuse('unknown_model', message, param);
}

/** A config without a model may have parameters of any provider; of simulated only if it is the default. */
function checkParameters(
  { model, parameters = {} }: WorkerConfig,
  at: string,
  { parameters: more, defaultModel }: Catalog,
): Refusal | null {
  const provider = model === undefined ? null : (parseModelName(model)?.provider ?? null);
  const otherwise = parseModelName(defaultModel)?.provider;
  const providers = PROVIDERS.filter((one) =>
    provider === null ? one !== 'simulated' || one === otherwise : one === provider,
  );
  const unknown = Object.keys(parameters).find(
    (name) => !providers.some((one) => isParameter(one, name, more)),
  );
  if (unknown === undefined) return null;
  const message = `Parameter ${quote(unknown)} is not allowed for ${provider === null ? 'any provider' : `the provider ${provider}`}. Remove it, or allow it under limits.parameters in nightshift.config.ts.`;
  return refuse('invalid_request', message, `${at}parameters.${unknown.slice(0, 100)}`);
}

/** How to configure a provider. */
const SETUP: Readonly<Record<ProviderName, string>> = {
  anthropic: 'Set ANTHROPIC_API_KEY for the worker processes.',
  openai: 'Set OPENAI_API_KEY for the worker processes.',
  'openai-chat': 'Set OPENAI_API_KEY, or OPENAI_BASE_URL for a local server, for the worker processes.',
  simulated: 'Start a worker process that serves it.',
};

/** Accepts any `server__tool` of a known MCP server: the API does not know the tools of every server. */
function isKnownTool(tool: string, { tools, mcpServers }: Pick<Names, 'tools' | 'mcpServers'>): boolean {
  return tools.includes(tool) || mcpServers.some((server) => tool.startsWith(`${server}__`));
}

function checkTools(wanted: readonly string[], param: string, names: Names): Refusal | null {
  const { tools } = names;
  const unknown = wanted.find((tool) => !isKnownTool(tool, names));
  if (unknown === undefined) return null;
  return refuse(
    'unknown_tool',
    `No live worker process serves the tool ${quote(unknown)}. Known tools: ${list(tools)}.`,
    param,
  );
}

function checkServers(wanted: readonly string[], param: string, { mcpServers }: Names): Refusal | null {
  const unknown = wanted.find((server) => !mcpServers.includes(server));
  if (unknown === undefined) return null;
  const message = `No live worker process serves the MCP server ${quote(unknown)}. Known MCP servers: ${list(mcpServers)}.`;
  return refuse('unknown_tool', message, param);
}

/** Lists the parts of a config that no live worker process serves; empty: all are served. */
export function unsupported(
  config: WorkerConfig,
  role: string | null,
  { tools, roles, models, mcpServers }: Names,
): string[] {
  const provider = config.model === undefined ? null : (parseModelName(config.model)?.provider ?? null);
  const isServed = provider === null || models.some((name) => name === provider || name === config.model);
  return [
    ...(role === null || roles.includes(role) ? [] : [`role ${quote(role)}`]),
    ...(isServed ? [] : [`provider ${quote(provider)}`]),
    ...(config.tools ?? [])
      .filter((tool) => !isKnownTool(tool, { tools, mcpServers }))
      .map((tool) => `tool ${quote(tool)}`),
    ...(config.mcp_servers ?? [])
      .filter((server) => !mcpServers.includes(server))
      .map((server) => `MCP server ${quote(server)}`),
  ];
}

export function list(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ');
}

export function quote(name: string): string {
  return `"${name.length > 100 ? `${name.slice(0, 100)}…` : name}"`;
}
