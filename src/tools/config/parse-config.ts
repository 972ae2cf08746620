/**
 * Reads the export of the config file: one schema, then the checks that a schema cannot express, so that all faults are
 * reported at once. Pure except for the compilation of schemas.
 */
import { Type, type Static, type TSchema } from 'typebox';
import type { Prices as PicoPrices } from '../../core/money/cost.ts';
import { NO_OIDC_SETTINGS, type OidcSettings } from '../../core/access/oidc.ts';
import type { OutboxSettings } from '../../core/submissions/outbox.ts';
import type { Role } from '../../core/workers/settings.ts';
import { partial } from '../../schema/build.ts';
import { FileRole } from '../../schema/config.ts';
import { NAME } from '../../schema/patterns.ts';
import { MOST_FAULTS, faultAt, isWithin, type Fault, type Faults, type Path } from '../../schema/fault.ts';
import { BUILT_IN_NAMES } from '../built-in/tools.ts';
import { serverOf } from '../../core/tools/mcp-tool-name.ts';
import { AS_IT_IS, secretsIn, type Hide } from '../packages/hide.ts';
import { openPackages, originText, relocated, type Opened, type Origin } from '../packages/open-packages.ts';
import type { SecretSource } from '../packages/secrets.ts';
import type { ServerSettings } from '../mcp/settings/server-settings.ts';
import { Servers, serverFaults, toServers } from '../mcp/settings/servers.ts';
import type { Tool } from '../registry/tool.ts';
import { jsonCopy } from '../run/json-copy.ts';
import { runnerFaults } from './built-in-limits.ts';
import { byName, checkerOf } from './file-validator.ts';
import { Limits, toLimits, type SetLimits } from './limits.ts';
import { Outboxes, toOutboxes } from './sections/outboxes.ts';
import { Oidc, toOidcSettings } from './sections/oidc.ts';
import { plainCopy } from './plain-copy.ts';
import { Prices, toPrices } from './sections/prices.ts';
import { readOutputSchema } from './sections/output-schema.ts';
import { prune, type Pruned } from './prune.ts';
import { roleFaults } from './roles.ts';
import {
  ToolSchema,
  buildTool,
  effectFaults,
  readInput,
  type ValidInput,
  type WrittenTool,
} from './tool-definition.ts';

export type OperatorSettings = {
  tools: readonly Tool[];
  /** Hides the secrets of the tool packages. */
  hide: Hide;
  roles: ReadonlyMap<string, Role>;
  mcpServers: ReadonlyMap<string, ServerSettings>;
  limits: SetLimits;
  prices: PicoPrices;
  oidc: OidcSettings;
  outboxes: ReadonlyMap<string, OutboxSettings>;
};

export const NO_SETTINGS: OperatorSettings = {
  tools: [],
  hide: AS_IT_IS,
  roles: new Map(),
  mcpServers: new Map(),
  limits: {},
  prices: new Map(),
  oidc: NO_OIDC_SETTINGS,
  outboxes: new Map(),
};

/** `faults`: sentences. */
type ParsedConfig = { ok: true; settings: OperatorSettings } | { ok: false; faults: string[] };

const sections = {
  tools: Type.Array(ToolSchema),
  roles: byName(Type.String({ pattern: NAME }), FileRole),
  mcp_servers: Servers,
  limits: Limits,
  prices: Prices,
  oidc: Oidc,
  outboxes: Outboxes,
};
/** The config file, as docs/configuration.md lists it. */
export const ConfigSchema = partial(sections);
type WrittenConfig = Static<typeof ConfigSchema>;

/** By the names of the sections that a file has: the schemas of all others are not compiled. */
const checkers = new Map<string, (value: unknown) => Faults>();

function check(config: unknown): Faults {
  const has = (name: string): boolean => isObject(config) && config[name] !== undefined;
  const key = Object.keys(sections).filter(has).join(' ');
  const checker = checkers.get(key) ?? checkerOf(schemaOfSections(has));
  checkers.set(key, checker);
  return checker(config);
}

function schemaOfSections(has: (name: string) => boolean): TSchema {
  const members = Object.entries(sections).map(([name, schema]) => [name, has(name) ? schema : Type.Unknown()]);
  return partial(Object.fromEntries(members));
}

/** `source`: of the secrets of tool packages. */
export function parseConfigFile(value: unknown, source: SecretSource): ParsedConfig {
  const opened = openPackages(value, source);
  const config = plainCopy(opened.config);
  const { faults, more } = check(config);
  if (more > 0 || faults.some(({ path }) => path.length === 0)) return refused(faults, more, opened);
  const fields = serverFields(config);
  prune(config, faults);
  const inputs = new Map<number, ValidInput>();
  const further = furtherFaults(config as Pruned<WrittenConfig>, fields, { inputs, origins: opened.origins });
  const all = [...faults, ...further.filter(({ path }) => !faults.some((known) => isWithin(path, known.path)))];
  if (all.length > 0 || opened.faults.length > 0) return refused(all, 0, opened);
  const settings = { ...settingsOf(config as WrittenConfig, opened.config, inputs), hide: opened.hide };
  const shown = shownSecrets(settings);
  return shown.length > 0 ? refused(shown, 0, opened) : { ok: true, settings };
}

/** In the order of the sections; unknown sections come first. */
function refused(given: readonly Fault[], more: number, { faults: ofPackages, origins, hide }: Opened): ParsedConfig {
  // The names of the tools of a package that could not be opened are not known.
  const known = ofPackages.length === 0 ? given : given.filter(({ path }) => !isToolOfRole(path));
  const faults = [...ofPackages, ...known.map((fault) => relocated(fault, origins))];
  const order = Object.keys(sections);
  const rank = ({ path }: Fault): number => order.indexOf(String(path[0]));
  const sorted = faults.toSorted((one, other) => rank(one) - rank(other)).map(({ message }) => hide(message));
  const left = Math.max(0, sorted.length - MOST_FAULTS) + more;
  return {
    ok: false,
    faults: [...sorted.slice(0, MOST_FAULTS), ...(left === 0 ? [] : [`And ${left} more.`])],
  };
}

/** The fields of all servers by their names, including invalid ones, so that one fault is not reported twice. */
function serverFields(config: unknown): ReadonlyMap<string, readonly string[]> {
  const servers = isObject(config) && isObject(config['mcp_servers']) ? config['mcp_servers'] : {};
  return new Map(Object.entries(servers).map(([name, server]) => [name, isObject(server) ? Object.keys(server) : []]));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isToolOfRole([section, , key]: Path): boolean {
  return section === 'roles' && key === 'tools';
}

/** The name, description and schema of a tool are part of every prompt. */
function shownSecrets({ tools, hide }: Pick<OperatorSettings, 'tools' | 'hide'>): Fault[] {
  return tools.flatMap(({ descriptor: { name, description, input_schema: input } }, index) =>
    Object.entries({ name, description, input }).flatMap(([part, value]) =>
      secretsIn(value, hide).map((secret) =>
        faultAt(
          ['tools', index],
          `its ${part} contains the secret ${secret}. Its name, description and input are shown`,
        ),
      ),
    ),
  );
}

type Parts = { inputs: Map<number, ValidInput>; origins: readonly Origin[] };

/** What the schema cannot express. Adds the inputs of the tools to `inputs`, by the index of the tool. */
function furtherFaults(
  { tools = [], roles = {}, mcp_servers = {}, limits }: Pruned<WrittenConfig>,
  fields: ReadonlyMap<string, readonly string[]>,
  { inputs, origins }: Parts,
): Fault[] {
  const servers = new Set(fields.keys());
  const names = new Set([...tools.flatMap((tool) => tool?.name ?? []), ...BUILT_IN_NAMES]);
  return [
    ...tools.flatMap((tool, index) => (tool === undefined ? [] : toolFaults(tool, index, inputs))),
    ...nameFaults(tools, servers, origins),
    ...Object.entries(roles).flatMap(([name, role = {}]) =>
      roleFaults(role, { tools: names, servers }, ['roles', name]),
    ),
    ...Object.entries(mcp_servers).flatMap(([name, server = {}]) =>
      serverFaults(server, fields.get(name) ?? [], ['mcp_servers', name]),
    ),
    ...runnerFaults(limits?.run_command, ['limits', 'run_command']),
  ];
}

function toolFaults(tool: Pruned<WrittenTool>, index: number, inputs: Map<number, ValidInput>): Fault[] {
  const read = readInput(tool, ['tools', index]);
  const faults = effectFaults(tool, ['tools', index]);
  if ('fault' in read) return [read.fault, ...faults];
  inputs.set(index, read.input);
  return faults;
}

/** Names must be unique, also among built-in tools, and must not look like the tool of a server. */
function nameFaults(
  tools: readonly (Pruned<WrittenTool> | undefined)[],
  servers: ReadonlySet<string>,
  origins: readonly Origin[],
): Fault[] {
  const earlier = new Map<string, Origin | null>(BUILT_IN_NAMES.map((name) => [name, null]));
  return tools.flatMap((tool, index) => {
    if (tool?.name === undefined) return [];
    const { name } = tool;
    const server = serverOf(name);
    const problems = [
      ...(earlier.has(name) ? [sameName(name, earlier.get(name) ?? null, origins[index])] : []),
      ...(server !== null && servers.has(server)
        ? [`names that start with ${server}__ are reserved for the tools of the MCP server ${server}`]
        : []),
    ];
    earlier.set(name, origins[index] ?? null);
    return problems.map((one) => faultAt(['tools', index, 'name'], one));
  });
}

/** `first`: null: a built-in tool, or one of a list without packages. */
function sameName(name: string, first: Origin | null, second: Origin | undefined): string {
  const isOfPackage = [first, second].some((origin) => (origin?.of ?? null) !== null);
  if (!isOfPackage) return `another tool has the name ${name}`;
  return `${name} is also the name of ${first === null ? 'a built-in tool' : originText(first)}. Give another prefix`;
}

/** `own`: the export itself, whose functions get their tool as `this`. */
function settingsOf(
  config: WrittenConfig,
  own: unknown,
  inputs: ReadonlyMap<number, ValidInput>,
): Omit<OperatorSettings, 'hide'> {
  const { tools = [], roles = {}, mcp_servers = {}, limits = {}, prices = {}, oidc = {}, outboxes = {} } = config;
  const ownTools: unknown[] = isObject(own) && Array.isArray(own['tools']) ? own['tools'] : [];
  return {
    tools: tools.map((tool, index) => {
      const input = inputs.get(index);
      if (input === undefined) throw new Error(`The input of tools[${index}] was not read.`);
      return buildTool(tool, ownTools[index], input);
    }),
    roles: new Map(Object.entries(roles).map(([name, role]) => [name, toRole(role)])),
    mcpServers: toServers(mcp_servers),
    limits: toLimits(limits),
    prices: toPrices(prices),
    oidc: toOidcSettings(oidc),
    outboxes: toOutboxes(outboxes),
  };
}

/** A copy: the parameters and schemas of a role may still be those of the file. */
function toRole({ output_schema, ...role }: NonNullable<WrittenConfig['roles']>[string]): Role {
  const read = output_schema === undefined ? null : readOutputSchema(output_schema, []);
  const copy = (jsonCopy(role) ?? {}) as Role;
  return read?.ok === true ? { ...copy, output_schema: read.schema } : copy;
}
