/**
 * Enqueues a job in a transaction of the service: one row, by the function `nightshift_submit_v1`. The job exists exactly
 * if that transaction commits. All that needs no database is checked before. A first statement finds out whether the
 * transaction is in the database of the installation, or in one with an outbox, from which the row is relayed.
 */
import type { Refusal } from '../../core/errors.ts';
import { isInOrder, parseId, type ContextId, type JobId, type MessageId, type WorkerId } from '../../core/ids.ts';
import type { Json } from '../../core/json.ts';
import { SUBMISSION_BYTES } from '../../core/submissions/submission.ts';
import type { TraceParent } from '../../core/tracing/trace-parent.ts';
import { encodeJson } from '../../db/connection/codec.ts';
import { BEGIN_ENQUEUE, OUTBOX_PLACE, ownPlace } from '../../db/submissions/place.ts';
import { ensureTenant } from '../../db/write/tenants/tenants.ts';
import { derivedId, ids } from '../../platform/ids.ts';
import type { Platform } from '../../platform/platform.ts';
import { parseTenant } from '../callers.ts';
import { NightshiftEnqueueError, notInstalled, toEnqueueError } from './enqueue-error.ts';
import { readPlace } from './read-place.ts';
import { isPool, runnerOf } from './sql-runner.ts';
import type { EnqueueJob, Enqueued, SqlRunner } from './types.ts';

type Enqueue = (tx: SqlRunner, job: EnqueueJob) => Promise<Enqueued>;

export function createEnqueue(platform: Platform): Enqueue {
  const { config, roles, parameters, checkInput, commands, telemetry } = platform;
  const schema = config.databaseSchema;
  const catalog = { fileRoles: roles, parameters, checkInput, defaultModel: config.defaultModel };
  const text = `select "${schema.replaceAll('"', '""')}".nightshift_submit_v1($1::text, $2::text, true)`;
  const known = new Set<string>();
  let own: string | null = null;

  /** Throws if the transaction is neither in this installation nor in a database with an outbox. */
  async function isInOutbox(answer: unknown, tenant: string): Promise<boolean> {
    const found = readPlace(answer);
    if (found.kind === 'none') throw notInstalled({ tenant, schema });
    // The function tells then.
    if (found.kind === 'unknown') return false;
    if (found.place === OUTBOX_PLACE) return true;
    own ??= await ownPlace(commands.database.db, schema);
    if (found.place !== own)
      throw new NightshiftEnqueueError(
        'other_installation',
        'The database of the transaction has another installation of Nightshift than databaseUrl. Use a transaction in the database of databaseUrl.',
      );
    return false;
  }

  /** As for every call within the process: a tenant that is not known is added. */
  async function addTenant(tenant: string): Promise<void> {
    if (known.has(tenant)) return;
    await ensureTenant(commands.database.db, tenant);
    known.add(tenant);
  }

  return async (tx, { tenant, ...job }) => {
    const run = runnerOf(tx);
    if (run === null)
      throw new NightshiftEnqueueError(
        'invalid_transaction',
        'enqueue needs a transaction of postgres.js, pg, Drizzle or Prisma, or an object with query(text, parameters).',
      );
    if (isPool(tx))
      throw new NightshiftEnqueueError(
        'invalid_transaction',
        'enqueue needs a transaction, not the pool or client that begins it: the job would exist even if your transaction is rolled back. Pass the tx of sql.begin, of db.transaction or of prisma.$transaction, or the client of pool.connect().',
      );
    const { submissionRefusal } = await import('../../api/request/submitted-job.ts');
    const parsed = parseTenant(tenant, {});
    if (!parsed.ok) throw invalid(parsed.faults);
    const { body, enqueued } = bodyOf(job, telemetry.tracing.active());
    const refusal = await submissionRefusal(catalog, body);
    if (refusal !== null) throw invalid(faultsOf(refusal));
    const encoded = encodeJson(body);
    const bytes = Buffer.byteLength(encoded);
    if (bytes > SUBMISSION_BYTES)
      throw new NightshiftEnqueueError(
        'payload_too_large',
        `The job has ${bytes} bytes as JSON. At most ${SUBMISSION_BYTES} are allowed.`,
      );
    const isOutbox = await isInOutbox(await run({ text: BEGIN_ENQUEUE, parameters: [schema] }), tenant);
    if (!isOutbox) await addTenant(tenant);
    try {
      await run({ text, parameters: [tenant, encoded] });
    } catch (error) {
      known.delete(tenant);
      throw toEnqueueError(error, { tenant, schema, isOutbox });
    }
    return enqueued;
  };
}

const NOT_AN_ID = 'job_id must be a UUID of version 7, such as 01890a5d-ac96-774b-bcce-b302099a8057.';

type Given = Omit<EnqueueJob, 'tenant'> & { context_id?: string | undefined; input: unknown };

/** The other ids follow from that of the job, so that a job that is enqueued again has the same ones. */
function bodyOf({ job_id: given, ...job }: Given, active: TraceParent | null): { body: Json; enqueued: Enqueued } {
  const jobId = given === undefined ? ids.next<JobId>() : parseId<JobId>(given);
  if (jobId === null || !isInOrder(jobId)) throw invalid([NOT_AN_ID]);
  const enqueued = {
    job_id: jobId,
    message_id: derivedId<MessageId>(jobId, 'message'),
    context_id: job.context_id?.toLowerCase() ?? derivedId<ContextId>(jobId, 'context'),
    worker_id: job.context_id === undefined ? derivedId<WorkerId>(jobId, 'worker') : null,
  };
  const { worker_id, ...named } = enqueued;
  const input = typeof job.input === 'string' ? { content: job.input } : job.input;
  const traced = active !== null && { traceparent: active };
  return { body: toJson({ ...job, ...named, ...(worker_id !== null && { worker_id }), ...traced, input }), enqueued };
}

function toJson(value: object): Json {
  try {
    const json: Json = JSON.parse(JSON.stringify(value));
    return json;
  } catch (cause) {
    throw new NightshiftEnqueueError('invalid_request', 'The job must consist of JSON values.', { cause });
  }
}

function faultsOf({ message, faults }: Refusal): readonly string[] {
  return faults?.map((fault) => fault.message) ?? [message];
}

function invalid(faults: readonly string[]): NightshiftEnqueueError {
  const lines = faults.map((fault) => `\n  ${fault}`).join('');
  return new NightshiftEnqueueError('invalid_request', `The job is invalid:${lines}`, { faults });
}
