/** Texts of the page Tenants. */
import type { Tenant } from 'nightshift/client';
import { count } from '../count.ts';
import { placeWords } from '../places.ts';

type AllowedKind = keyof Tenant['allow'];

const allowedKinds: Readonly<Record<AllowedKind, { label: string; example: string }>> = {
  models: { label: 'models', example: 'anthropic/*' },
  tools: { label: 'tools', example: 'web_search' },
  roles: { label: 'roles', example: 'clerk' },
  mcp_servers: { label: 'MCP servers', example: 'notes' },
};

const status: Readonly<Record<Tenant['status'], string>> = {
  active: 'active',
  suspended: 'suspended',
  deleting: 'deleting',
};

export const tenantsWords = {
  title: placeWords.tenants,
  about: 'The tenants of this installation: their limits, and what their workers may use.',
  new: 'New tenant',
  empty: 'No tenants yet',
  emptyAbout: 'Create one, or use a key of {variable}: its first request adds its tenant.',

  item: {
    status,
    createFirstKey: 'Create first key',
    createFirstKeyOf: (name: string) => `Create first key of ${name}`,
    usage: 'Usage',
    usageOf: (name: string) => `Usage of ${name}`,
    weight: (weight: number) => `Weight ${weight}`,
    created: 'Created {when}',
    deletion: 'Deletion requested {when} · {workers} deleted so far. Worker processes delete its data.',
    workers: (amount: number) => count(amount, 'worker', 'workers'),
    limits: (limits: readonly string[]) =>
      limits.length === 0 ? 'no limits of its own' : `limits: ${limits.join(', ')}`,
    limit: (label: string, value: string) => `${label.toLowerCase()}: ${value}`,
    allowed: (lists: readonly string[]) =>
      lists.length === 0 ? 'May use every model, tool, role and MCP server' : `May use only ${lists.join(' · ')}`,
    /** `more`: how many of the names are not shown. */
    names: (names: readonly string[], more: number) => {
      if (names.length === 0) return 'none';
      return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ');
    },
  },

  form: {
    edit: (name: string) => `Edit tenant ${name}`,
    create: 'Create tenant',
    saved: (name: string) => `Tenant ${name} saved`,
    nameHint: 'Letters, digits, - _ and . (a dot). It cannot be changed later.',
    weight: 'Weight',
    weightHint: 'Its share of the slots while several tenants have work: with 2 it gets twice as many as one with 1.',
    weightFault: 'Enter a number, such as 2 or 0.5.',
    limits: 'Limits',
    limitsAbout:
      'If a field is empty, {setting} of the config file applies. If that is not set either, there is no limit.',
    limitIn: (label: string, unit: string) => `${label} (${unit})`,
    noLimit: 'not set',
  },

  allowed: {
    kinds: allowedKinds,
    legend: (kind: string) => `Allowed ${kind}`,
    choice: 'Choice',
    all: 'All',
    some: 'Only these',
    names: (kind: string) => `Names of allowed ${kind}`,
    hint: 'One name per line; * matches any text. An empty list allows none.',
  },

  usage: { about: 'Its own limits, and those of the config file where it has none.' },

  suspend: {
    title: (name: string) => `Suspend tenant ${name}?`,
    about:
      'All its requests are refused within a second, its event streams end, and its runs stop at their next step. Schedules and webhooks stop. Nothing is lost.',
    done: (name: string) => `Tenant ${name} suspended`,
  },
  resume: {
    title: (name: string) => `Resume tenant ${name}?`,
    about: 'Its requests are served again, and its jobs go on.',
    done: (name: string) => `Tenant ${name} resumed`,
  },
  delete: {
    title: (name: string) => `Delete tenant ${name}?`,
    about:
      'All its data is deleted: workers, contexts, messages, jobs, roles, schedules, webhooks and its audit log. Its keys, sessions and tokens end at once. Environment keys with its name stay refused.',
    name: 'Name of the tenant',
    nameHint: (name: string) => `Type ${name} to confirm.`,
    done: (name: string) => `Deletion of tenant ${name} requested`,
  },
} as const;
