/** Why a job was not enqueued. Errors of PostgreSQL are recognised by their SQLSTATE, whatever the library made of them. */

/**
 * Nothing was written: `invalid_request`, `payload_too_large`: the job is not valid; `invalid_transaction`: what was given
 * cannot run SQL, is a pool, or is outside of a transaction; `not_installed`: its database has neither this Nightshift
 * nor an outbox; `other_installation`: it has another Nightshift. PostgreSQL refused, and the transaction can only be
 * rolled back: `not_granted`: its role may not submit jobs for this tenant; `tenant_suspended`: the tenant is not active;
 * `not_found`: the tenant has no such context, or the transaction sees no such tenant; `job_id_taken`: the id is that of
 * another job.
 */
export type NightshiftEnqueueCode =
  | 'invalid_request'
  | 'payload_too_large'
  | 'invalid_transaction'
  | 'not_granted'
  | 'tenant_suspended'
  | 'not_found'
  | 'job_id_taken'
  | 'not_installed'
  | 'other_installation';

/** A job was not enqueued. The message says what to do. */
export class NightshiftEnqueueError extends Error {
  /** The name of the class, also where several copies of the package are loaded. */
  override name = 'NightshiftEnqueueError';
  /** What went wrong. */
  readonly code: NightshiftEnqueueCode;
  /** Each fault of an invalid job; otherwise empty. */
  readonly faults: readonly string[];

  constructor(code: NightshiftEnqueueCode, message: string, more: More = {}) {
    super(message, more.cause === undefined ? {} : { cause: more.cause });
    this.code = code;
    this.faults = more.faults ?? [];
  }
}

type More = { faults?: readonly string[]; cause?: unknown };

const BY_STATE: Readonly<Record<string, NightshiftEnqueueCode>> = {
  NS001: 'not_granted',
  NS002: 'tenant_suspended',
  NS003: 'payload_too_large',
  NS004: 'invalid_request',
  NS005: 'not_found',
  NS006: 'job_id_taken',
  NS007: 'not_found',
  NS008: 'invalid_transaction',
  // It may not use the schema, or not call the function.
  '42501': 'not_granted',
  // There is no such function, or no such schema.
  '42883': 'not_installed',
  '3F000': 'not_installed',
};

type Of = { tenant: string; schema: string; isOutbox: boolean };

/** The error of a statement that submits a job: a coded one, or itself. */
export function toEnqueueError(error: unknown, { tenant, schema, isOutbox }: Of): unknown {
  const refusal = refusalIn(error, 0);
  if (refusal === null) return error;
  const { state, message, code } = refusal;
  if (code === 'not_installed') return notInstalled({ tenant, schema }, error);
  if (code === 'invalid_transaction') return outsideTransaction(error);
  if (state === '42501') {
    const grant = isOutbox
      ? 'nightshift outbox install --database-url <url> --grant <role>'
      : `nightshift submissions grant --role <role> --tenant ${tenant}`;
    const message = `The database role of the transaction may not submit jobs. Run: ${grant}`;
    return new NightshiftEnqueueError(code, message, { cause: error });
  }
  return new NightshiftEnqueueError(code, `${message}${adviceFor(state, tenant)}`, { cause: error });
}

export function notInstalled({ tenant, schema }: Omit<Of, 'isOutbox'>, cause?: unknown): NightshiftEnqueueError {
  const message = `The database of the transaction has no function ${schema}.nightshift_submit_v1. Use a transaction in the database of databaseUrl, run \`nightshift outbox install\` in this one, or call tenant('${tenant}') after your commit.`;
  return new NightshiftEnqueueError('not_installed', message, { cause });
}

function outsideTransaction(cause: unknown): NightshiftEnqueueError {
  const message =
    'enqueue needs a transaction, and what it was given is outside of one: the job would exist even if what follows is rolled back. Begin one, and pass it.';
  return new NightshiftEnqueueError('invalid_transaction', message, { cause });
}

function adviceFor(state: string, tenant: string): string {
  switch (state) {
    case 'NS001':
      return ` Run: nightshift submissions grant --role <role> --tenant ${tenant}`;
    case 'NS007':
      return ' It was added after the snapshot of the transaction was taken, or deleted. Run the transaction again.';
    default:
      return '';
  }
}

type Refusal = { state: string; code: NightshiftEnqueueCode; message: string };

/** Libraries wrap errors: in `cause`, or (Prisma) in `meta` and `driverAdapterError`. */
const WRAPPED = ['cause', 'meta', 'driverAdapterError'];
const STATES = ['code', 'originalCode'];
const DEEPEST = 5;

function refusalIn(error: unknown, depth: number): Refusal | null {
  if (typeof error !== 'object' || error === null || depth > DEEPEST) return null;
  for (const name of STATES) {
    const state: unknown = Reflect.get(error, name);
    const code = typeof state === 'string' ? BY_STATE[state] : undefined;
    if (typeof state === 'string' && code !== undefined) return { state, code, message: messageOf(error) };
  }
  for (const name of WRAPPED) {
    const found = refusalIn(Reflect.get(error, name), depth + 1);
    if (found !== null) return found;
  }
  return null;
}

function messageOf(error: object): string {
  const texts = ['originalMessage', 'message'].map((name): unknown => Reflect.get(error, name));
  return texts.find((text) => typeof text === 'string') ?? 'PostgreSQL refused the job.';
}
