/** What a tenant may use, in one line each. Pure functions. */
import type { Tenant } from 'nightshift/client';
import { LIMIT_TEXTS } from '../../usage/limit-texts.ts';
import { tenantsWords } from '../../words.ts';

const words = tenantsWords.item;

export function limitsText(limits: Tenant['limits']): string {
  const set = LIMIT_TEXTS.flatMap(({ name, label, format }) => {
    const value = limits[name];
    return value === null ? [] : [words.limit(label, format(value))];
  });
  return words.limits(set);
}

export type AllowedKind = keyof Tenant['allow'];

const KINDS: readonly AllowedKind[] = ['models', 'tools', 'roles', 'mcp_servers'];

export const ALLOWED_KINDS = KINDS.map((kind) => ({ kind, ...tenantsWords.allowed.kinds[kind] }));

const SHOWN = 5;

export function allowedText(allow: Tenant['allow']): string {
  const lists = ALLOWED_KINDS.flatMap(({ kind, label }) => {
    const names = allow[kind];
    return names === null ? [] : [`${label}: ${brief(names)}`];
  });
  return words.allowed(lists);
}

function brief(names: readonly string[]): string {
  return words.names(names.slice(0, SHOWN), names.length - SHOWN);
}
