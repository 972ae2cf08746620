/** The arguments of `outbox`. */
import { parseArgs } from 'node:util';

export const USAGE = `Usage: nightshift outbox install --database-url <url> [--schema <schema>] [--grant <role>]… [--relay <role>]…
       nightshift outbox install --dry-run [--schema <schema>] [--grant <role>]… [--relay <role>]…
       nightshift outbox status [--database-url <url> [--schema <schema>]]
       nightshift outbox retry --database-url <url> [--schema <schema>]
       nightshift outbox remove --database-url <url> [--schema <schema>] [--force]
`;

/** `schema` null: that of the environment. */
type At = { url: string; schema: string | null };
type Roles = { submitters: string[]; relays: string[] };

export type Wanted =
  | ({ action: 'install' } & At & Roles)
  | ({ action: 'print'; schema: string | null } & Roles)
  | ({ action: 'status' | 'retry' } & At)
  | { action: 'status of all' }
  | ({ action: 'remove'; force: boolean } & At);

const OPTIONS = {
  'database-url': { type: 'string' },
  schema: { type: 'string' },
  grant: { type: 'string', multiple: true },
  relay: { type: 'string', multiple: true },
  'dry-run': { type: 'boolean' },
  force: { type: 'boolean' },
} as const;

/** Of each action, beside --database-url and --schema. */
const OWN: Readonly<Record<string, readonly string[]>> = {
  install: ['grant', 'relay', 'dry-run'],
  status: [],
  retry: [],
  remove: ['force'],
};

/** Null: they are wrong. */
export function parseOutboxArguments(args: readonly string[]): Wanted | null {
  const read = readArguments(args);
  if (read === null) return null;
  const { values, action } = read;
  const { 'database-url': url, schema = null, grant = [], relay = [], force = false } = values;
  const roles = { submitters: grant, relays: relay };
  if (values['dry-run'] === true) return url === undefined ? { action: 'print', schema, ...roles } : null;
  if (url === undefined) return action === 'status' && schema === null ? { action: 'status of all' } : null;
  switch (action) {
    case 'install':
      return { action, url, schema, ...roles };
    case 'status':
    case 'retry':
      return { action, url, schema };
    case 'remove':
      return { action, url, schema, force };
    default:
      return null;
  }
}

function readArguments(args: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    const [action = '', ...others] = positionals;
    const own = OWN[action];
    if (own === undefined || others.length > 0) return null;
    const isKnown = (name: string): boolean => ['database-url', 'schema', ...own].includes(name);
    return Object.keys(values).every(isKnown) ? { values, action } : null;
  } catch {
    return null;
  }
}
