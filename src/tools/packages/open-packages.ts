/**
 * Puts the tools of packages in the place of the packages, before the config file is checked, and tells of each tool where it
 * comes from: a fault is told at the place in the file.
 */
import { faultAt, placeText, type Fault } from '../../schema/fault.ts';
import { AS_IT_IS, hideOf, type Hide } from './hide.ts';
import { readPackage } from './read-package.ts';
import type { Secret, SecretSource } from './secrets.ts';
import { readEntry } from './used-package.ts';

/** `at`: the index in the list of the file. `of`: the package and the index in its list; null: the tool is in the file. */
export type Origin = { at: number; of: { name: string; index: number } | null };

/** `config`: with a list of tools alone. `faults`: of packages that could not be opened; their tools are not in it. */
export type Opened = { config: unknown; origins: readonly Origin[]; faults: Fault[]; hide: Hide };

export function openPackages(config: unknown, source: SecretSource): Opened {
  const written = toolsOf(config);
  if (written === null) return { config, origins: [], faults: [], hide: AS_IT_IS };
  const tools: unknown[] = [];
  const origins: Origin[] = [];
  const faults: Fault[] = [];
  const secrets: Secret[] = [];
  for (const [at, entry] of written.entries()) {
    const read = readEntry(entry);
    if (read === null) {
      tools.push(entry);
      origins.push({ at, of: null });
    } else if (read.kind === 'uncalled') {
      faults.push(faultAt(['tools', at], `is the package ${read.name} itself. Call it: ${read.name}()`));
    } else {
      const { definition, options } = read.written;
      const name = nameOf(definition);
      const opened = readPackage(definition, options, source);
      faults.push(...opened.faults.map((fault) => atPackage(fault, at, name)));
      secrets.push(...opened.secrets);
      tools.push(...opened.tools);
      origins.push(...opened.tools.map((_, index) => ({ at, of: { name, index } })));
    }
  }
  return { config: { ...Object(config), tools }, origins, faults, hide: hideOf(secrets) };
}

/** A fault of a list of tools, at its place in the file. */
export function relocated(fault: Fault, origins: readonly Origin[]): Fault {
  const [section, index] = fault.path;
  const origin = section === 'tools' && typeof index === 'number' ? origins[index] : undefined;
  if (origin === undefined || index === undefined) return fault;
  const { at, of } = origin;
  const place = placeText(['tools', of === null ? at : of.index]);
  const message = fault.message.replace(placeText(['tools', index]), place);
  return of === null ? { path: fault.path, message } : atPackage({ path: fault.path, message }, at, of.name);
}

/** `tools[2]`, `a tool of tools[0] (package weather)`. */
export function originText({ at, of }: Origin): string {
  return of === null ? placeText(['tools', at]) : `a tool of ${packageText(at, of.name)}`;
}

function packageText(at: number, name: string): string {
  return `${placeText(['tools', at])} (package ${name})`;
}

function atPackage({ message }: Fault, at: number, name: string): Fault {
  return { path: ['tools', at], message: `${packageText(at, name)}: ${message}` };
}

function toolsOf(config: unknown): unknown[] | null {
  const tools: unknown = typeof config === 'object' && config !== null ? Reflect.get(config, 'tools') : null;
  return Array.isArray(tools) && tools.some((entry) => readEntry(entry) !== null) ? tools : null;
}

function nameOf(definition: unknown): string {
  const name: unknown = typeof definition === 'object' && definition !== null ? Reflect.get(definition, 'name') : null;
  return typeof name === 'string' ? name : '?';
}
