/** The arguments of `outbox`, and the variable that stands for one of them. */
import { parseArgs } from 'node:util';

/** The URL of the service's database. Other users of the machine see an argument, but not a variable. */
export const URL_VARIABLE = 'NIGHTSHIFT_OUTBOX_URL';

export const USAGE = `Usage: nightshift outbox install [--database-url <url>] [--schema <schema>] [--grant <role>]… [--relay <role>]…
       nightshift outbox install --dry-run [--schema <schema>] [--grant <role>]… [--relay <role>]…
       nightshift outbox status [--database-url <url>] [--schema <schema>]
       nightshift outbox retry [--database-url <url>] [--schema <schema>]
       nightshift outbox remove [--database-url <url>] [--schema <schema>] [--force]

${URL_VARIABLE} is the URL of the service's database, unless --database-url is given. Other users of this machine see
arguments, so set the variable if the URL has a password.
`;

/** `source`: who gave the URL. `schema` null: that of the environment. */
type At = { url: string; source: '--database-url' | typeof URL_VARIABLE; schema: string | null };
type Roles = { submitters: string[]; relays: string[] };

export type Wanted =
  | ({ action: 'install' } & At & Roles)
  | ({ action: 'print'; schema: string | null } & Roles)
  | ({ action: 'status' | 'retry' } & At)
  | { action: 'status of all' }
  | { action: 'no database' }
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

/** Null: they are wrong. `fromEnvironment`: the value of the variable; undefined or empty: it is not set. */
export function parseOutboxArguments(args: readonly string[], fromEnvironment: string | undefined): Wanted | null {
  const read = readArguments(args);
  if (read === null) return null;
  const { values, action } = read;
  const { 'database-url': given, schema = null, grant = [], relay = [], force = false } = values;
  const roles = { submitters: grant, relays: relay };
  if (values['dry-run'] === true) return given === undefined ? { action: 'print', schema, ...roles } : null;
  const at = placeOf(given, schema, fromEnvironment);
  if (at === null) return { action: action === 'status' && schema === null ? 'status of all' : 'no database' };
  switch (action) {
    case 'install':
      return { action, ...at, ...roles };
    case 'status':
    case 'retry':
      return { action, ...at };
    case 'remove':
      return { action, ...at, force };
    default:
      return null;
  }
}

/** Null: there is no URL. */
function placeOf(given: string | undefined, schema: string | null, fromEnvironment = ''): At | null {
  if (given !== undefined) return { url: given, source: '--database-url', schema };
  return fromEnvironment === '' ? null : { url: fromEnvironment, source: URL_VARIABLE, schema };
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
