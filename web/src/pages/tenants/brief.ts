/** What a tenant may use, in one line each. Pure functions. */
import type { Tenant } from 'nightshift/client';
import { LIMIT_TEXTS, formatExact } from '../../usage/limit-texts.ts';

export function limitsText(limits: Tenant['limits']): string {
  const set = LIMIT_TEXTS.flatMap(({ name, label, format = formatExact }) => {
    const value = limits[name];
    return value === null ? [] : [`${label.toLowerCase()}: ${format(value)}`];
  });
  return set.length === 0 ? 'no limits of its own' : `limits: ${set.join(', ')}`;
}

export type AllowedKind = keyof Tenant['allow'];

export const ALLOWED_KINDS: readonly { kind: AllowedKind; label: string; example: string }[] = [
  { kind: 'models', label: 'models', example: 'anthropic/*' },
  { kind: 'tools', label: 'tools', example: 'web_search' },
  { kind: 'roles', label: 'roles', example: 'clerk' },
  { kind: 'mcp_servers', label: 'MCP servers', example: 'notes' },
];

const SHOWN = 5;

export function allowedText(allow: Tenant['allow']): string {
  const lists = ALLOWED_KINDS.flatMap(({ kind, label }) => {
    const names = allow[kind];
    return names === null ? [] : [`${label}: ${brief(names)}`];
  });
  return lists.length === 0 ? 'May use every model, tool, role and MCP server' : `May use only ${lists.join(' · ')}`;
}

function brief(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const more = names.length - SHOWN;
  return names.slice(0, SHOWN).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
