/** The callers of an embedded API: what identifies the caller of a request is attached to the request itself. */
import type { Logger } from 'pino';
import type { Embedded, EmbeddedCaller, EmbeddedId } from '../api/embedded/callers.ts';
import { refused } from '../api/response/problem.ts';
import { SCOPES, isScope, type Scope } from '../core/access/scopes.ts';
import { TOKEN_SCOPES } from '../core/access/tokens.ts';
import { LONGEST_USER, parseUser } from '../core/access/user.ts';
import type { Authenticate, NodeRequest, TenantOptions } from './options.ts';
import { withoutSecrets } from './without-secrets.ts';

const USER_FAULT = `user must be a text of 1 to ${LONGEST_USER} characters. Leave it out for the whole tenant.`;

/** Null: the caller needs a key. */
type Identify = () => Promise<EmbeddedCaller | null>;

export type Callers = {
  embedded: Embedded;
  /** `carrier`: the request, or its connection, if it carries this request alone. */
  attach: (carrier: object, identify: Identify) => void;
};

export function openCallers(): Callers {
  const known = new WeakMap<object, Identify>();
  return {
    attach: (carrier, identify) => void known.set(carrier, identify),
    embedded: {
      callerOf: async ({ raw }) => (known.get(raw) ?? known.get(socketOf(raw)))?.() ?? null,
    },
  };
}

function socketOf(raw: object): object {
  return 'socket' in raw && typeof raw.socket === 'object' && raw.socket !== null ? raw.socket : raw;
}

/** Asks the service. `authenticate` undefined: callers need keys. */
export function identifierOf<Received extends NodeRequest | Request>(
  authenticate: Authenticate<Received> | undefined,
  log: Logger,
): (request: Received) => Promise<EmbeddedCaller | null> {
  if (authenticate === undefined) return async () => null;
  return async (request) => {
    try {
      const parsed = parseCaller(await authenticate(request), 'authenticate');
      if (parsed.ok) return parsed.caller;
      log.error({ faults: parsed.faults }, 'authenticate returned an invalid caller');
    } catch (error) {
      log.error(withoutSecrets(error, request), 'authenticate failed');
    }
    throw refused('internal', 'The service could not identify the caller. Its log has the cause.');
  };
}

type Parsed = { ok: true; caller: EmbeddedCaller | null } | { ok: false; faults: string[] };

/** `value`: a `NightshiftCaller`, or null. A member `user` without a user is a fault: it must not give the whole tenant. */
export function parseCaller(value: unknown, id: EmbeddedId): Parsed {
  if (value === null || value === undefined) return { ok: true, caller: null };
  const { tenant, scopes, ...whose } = membersOf(value);
  const known = Array.isArray(scopes) ? scopes.filter(isKnownScope) : null;
  const user = parseUser(whose.user);
  const faults = [
    ...(typeof tenant === 'string' && /^[A-Za-z0-9_.-]{1,64}$/.test(tenant)
      ? []
      : ['tenant must be 1 to 64 letters, digits, "_", "." or "-"']),
    ...(known !== null && Array.isArray(scopes) && known.length === scopes.length
      ? []
      : [`scopes must be a list of ${SCOPES.join(', ')}`]),
    ...('user' in whose && user === null ? [USER_FAULT] : []),
    ...('user' in whose ? beyondUser(known ?? []) : []),
  ];
  if (typeof tenant !== 'string' || known === null || faults.length > 0) return { ok: false, faults };
  return { ok: true, caller: { id, tenant, scopes: new Set(known), user } };
}

/** The caller of calls within the process. With a user it has only the scopes that a caller with a user may have. */
export function parseTenant(tenant: string, options: TenantOptions): Parsed {
  const caller = 'user' in options ? { tenant, scopes: TOKEN_SCOPES, user: options.user } : { tenant, scopes: SCOPES };
  return parseCaller(caller, 'in_process');
}

function beyondUser(scopes: readonly Scope[]): string[] {
  const ofToken: readonly Scope[] = TOKEN_SCOPES;
  const beyond = scopes.filter((scope) => !ofToken.includes(scope));
  return beyond.length === 0
    ? []
    : [`scopes of a caller with a user may be ${TOKEN_SCOPES.join(', ')}; not ${beyond.join(', ')}`];
}

function isKnownScope(value: unknown): value is Scope {
  return typeof value === 'string' && isScope(value);
}

type Members = { tenant?: unknown; scopes?: unknown; user?: unknown };

/** `user` is among them if `value` has or inherits it. */
function membersOf(value: unknown): Members {
  if (typeof value !== 'object' || value === null) return {};
  const { tenant, scopes, user }: Members = value;
  return 'user' in value ? { tenant, scopes, user } : { tenant, scopes };
}
