/**
 * What live worker processes said they can serve, asked for at most about once a second; and whether the names in a
 * worker's config are among it.
 */
import { refuse } from '../core/errors.ts';
import type { Refusal } from '../core/errors.ts';
import { PROVIDERS, parseModelName } from '../core/model.ts';
import type { ProviderName } from '../core/model.ts';
import type { JsonObject } from '../core/json.ts';
import { isParameter } from '../core/parameters.ts';
import type { Role, WorkerConfig } from '../core/settings.ts';
import type { Database } from '../db/client.ts';
import { published } from '../db/processes.ts';
import type { LeaseTimes } from '../db/processes.ts';
import { checkClientTools } from './client-tools.ts';
import { RequestRefused } from './problem.ts';

/** Sorted names, over all live processes. `models` names providers. */
export type Names = { tools: string[]; roles: string[]; models: string[]; mcpServers: string[] };

export type Catalog = {
  /** Null: no process ever published anything. */
  names(): Promise<Names | null>;
  /** Roles of the config file, as this process read it. */
  fileRoles: ReadonlyMap<string, Role>;
  checkInput: CheckInput;
  /** Parameters of providers that the operator allows besides the usual ones. */
  parameters: readonly string[];
  /** Of workers that say nothing else. */
  defaultModel: string;
};

/** What is wrong with the input of a tool, in words; empty: nothing. Null: this process does not know the tool. */
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

/** The first name in a config that nobody serves; null: all is well. `at`: where the config stands in the body. */
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

/** Ends the request where a config names what nobody serves. */
export async function refuseUnknownNames(
  { catalog }: { catalog: Catalog },
  config: WorkerConfig,
  at: 'config.' | '' = 'config.',
): Promise<void> {
  const refusal = await unknownName({ catalog }, config, at);
  if (refusal !== null) throw new RequestRefused(refusal);
}

/** Ends the request where nobody serves the model. */
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
      ? `Model ${quote(model)} names no known provider: write provider/model, with one of these providers: ${choices}.`
      : `Model ${quote(model)} needs the provider ${quote(parsed.provider)}, which is not configured. ${SETUP[parsed.provider]} Configured providers: ${choices}.`;
  return refuse('unknown_model', message, param);
}

/** Without a model of its own a config may be for any provider that is called, or for the default. */
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
  const message = `${quote(unknown)} is no parameter that ${provider ?? 'a provider'} may be given here: the operator can allow it (limits.parameters).`;
  return refuse('invalid_request', message, `${at}parameters.${unknown.slice(0, 100)}`);
}

/** What makes a provider available. */
const SETUP: Readonly<Record<ProviderName, string>> = {
  anthropic: 'Set ANTHROPIC_API_KEY for the worker processes.',
  openai: 'Set OPENAI_API_KEY for the worker processes.',
  'openai-chat': 'Set OPENAI_API_KEY, or OPENAI_BASE_URL for a local server, for the worker processes.',
  simulated: 'No live worker process serves it.',
};

/** One of a server may be named by itself: what a server has is not known here. */
function isKnownTool(tool: string, { tools, mcpServers }: Pick<Names, 'tools' | 'mcpServers'>): boolean {
  return tools.includes(tool) || mcpServers.some((server) => tool.startsWith(`${server}__`));
}

function checkTools(wanted: readonly string[], param: string, names: Names): Refusal | null {
  const { tools } = names;
  const unknown = wanted.find((tool) => !isKnownTool(tool, names));
  if (unknown === undefined) return null;
  return refuse('unknown_tool', `There is no tool ${quote(unknown)}. Known tools: ${list(tools)}.`, param);
}

function checkServers(wanted: readonly string[], param: string, { mcpServers }: Names): Refusal | null {
  const unknown = wanted.find((server) => !mcpServers.includes(server));
  if (unknown === undefined) return null;
  const message = `There is no MCP server ${quote(unknown)}. Known MCP servers: ${list(mcpServers)}.`;
  return refuse('unknown_tool', message, param);
}

/** What of a config nobody who lives serves, in words; empty: all is served. */
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
