/** The context's row: the guarded update that all other parts of an append join, as `ctx`. */
import { sql, type SQL } from 'drizzle-orm';
import type { Append, Entry, Park } from '../../../core/run/append.ts';
import { parseTurn } from '../../../core/conversation/turn.ts';
import { NO_USAGE, addUsage, type Usage } from '../../../core/money/usage.ts';
import type { Millis } from '../../../core/time.ts';
import { added, usageAdded } from '../../model-calls/usage.ts';
import { columns, recordset } from '../../rows/recordset.ts';
import { fixed, insertInto, written } from '../../rows/written-columns.ts';
import { contexts } from '../../schema/contexts.ts';
import { isOfInactive } from '../contexts.ts';
import { searchBacklog } from '../../schema/search.ts';
import type { EncodedAppend } from './contents.ts';

/** An append, and what its entries add to the counters. */
export type Wanted = {
  append: Append;
  /** Messages that become part of the history, less those that are retracted. */
  messages: number;
  admitted: number;
  /** The size of the content of the messages that are new. */
  bytes: number;
  /** The usage of each answered model call. */
  answers: Usage[];
};

export function wantedOf(append: EncodedAppend): Wanted {
  const { entries, messages, partials, takenBack, compaction } = append;
  const admitted = entries.filter((entry) => entry.kind === 'admit').length;
  return {
    append,
    messages: messages.length + admitted - (takenBack?.retracted.length ?? 0),
    admitted,
    bytes: [...messages, ...partials].reduce((sum, { content }) => sum + content.bytes, 0),
    answers: [
      ...messages.flatMap(({ message: { model } }) => (model === null ? [] : [model.usage])),
      ...(compaction === null || compaction.usage === null ? [] : [compaction.usage]),
    ],
  };
}

/** Columns for guards and expressions. */
const INPUTS = columns<Wanted>({
  id: ['uuid', ({ append }) => append.lease.contextId],
  tenant: ['bigint', ({ append }) => append.lease.tenantId],
  epoch: ['bigint', ({ append }) => append.lease.epoch],
  control: ['bigint', ({ append }) => append.guard.controlSeq],
  wake: ['bigint', ({ append }) => append.guard.wakeSeq],
  branch: ['text', ({ append }) => append.branch],
  entries: ['int', ({ append }) => append.entries.length],
  state_changed: ['boolean', ({ append }) => append.entries.some(isStateChange)],
  park: ['text', ({ append }) => append.park?.status ?? null],
  until: ['timestamptz', ({ append }) => waitsUntil(append.park)],
  progress: ['text', ({ append }) => append.progress],
  // Not one that only ends, because a client asked for that.
  begins: ['boolean', ({ append: { job } }) => job?.kind === 'admit' && job.job.stopRequest === null],
  settles: ['boolean', ({ append }) => append.job?.kind === 'settle'],
  is_between_jobs: [
    'boolean',
    ({ append: { park, job } }) => park?.status === 'runnable' && (job === null || job.kind === 'settle'),
  ],
  turn: ['int', ({ append }) => Math.max(0, ...append.entries.map(turnNumber))],
  last_turn: ['int', ({ append }) => append.takenBack?.lastTurn ?? null],
  failure_kept: ['boolean', ({ append }) => append.failure === 'keep'],
  failure: ['jsonb', ({ append }) => failureOf(append)],
  searchable: ['boolean', isSearchable],
});

const CONTEXT = written<typeof contexts, Wanted>(
  contexts,
  {
    headSeq: sql`c.head_seq + w.entries`,
    state: ({ append }) => append.state,
    stateSince: sql`case when c.state = w.state and not w.state_changed then c.state_since
      else statement_timestamp() end`,
    schedulingStatus: sql`coalesce(w.park, c.scheduling_status)`,
    leaseOwner: sql`case when w.park is null then c.lease_owner end`,
    nextCheckAt: sql`case w.park when 'idle' then null when 'waiting' then w.until
      when 'runnable' then statement_timestamp() else case when not w.settles then c.next_check_at end end`,
    // Between two jobs, the next one decides.
    priority: sql`case when w.is_between_jobs then coalesce(
      (select min(j.priority) from jobs j where j.context_id = c.id and j.status = 'queued'), c.priority)
      else c.priority end`,
    failedClaims: sql`case w.progress when 'made' then 0 when 'returned' then greatest(c.failed_claims - 1, 0)
      else c.failed_claims end`,
    queued: removed(({ append }) => (append.job?.kind === 'admit' ? 1 : 0)),
    steers: removed(joined),
    messageCount: added(({ messages }) => messages),
    turnCount: sql`case when w.branch = c.active_branch
      then coalesce(w.last_turn, greatest(c.turn_count, w.turn)) else c.turn_count end`,
    requestCount: added(({ answers }) => answers.length),
    storedBytes: added(({ bytes }) => bytes),
    ...usageAdded(({ answers }: Wanted) => answers.reduce(addUsage, NO_USAGE)),
    lastFailure: sql`case when w.failure_kept then c.last_failure when w.failure is null then null
      else w.failure || jsonb_build_object('at', statement_timestamp()) end`,
  },
  { given: 'w', stored: 'c' },
);

const WANTED = recordset('w', [...INPUTS, ...CONTEXT.fields]);

/** `whenLocked`: see `append`. */
export function contextPart(wanted: readonly Wanted[], whenLocked: 'wait' | 'pass'): SQL {
  return (whenLocked === 'wait' ? WAITING : PASSING)(wanted);
}

const WAITING = guarded(sql`free as (select * from wanted)`);
const PASSING = guarded(sql`free as materialized (
      select w.* from wanted w join contexts c on c.id = w.id and c.tenant_id = w.tenant
      for no key update of c skip locked
    )`);

/** `free`: the appends whose contexts may be locked. */
function guarded(free: SQL): (rows: readonly Wanted[]) => SQL {
  return WANTED.between(
    'wanted as (select * from ',
    fixed(sql`
      -- Always true. It makes the planner expect few rows and find each context by its id.
      where w.epoch + 0 = w.epoch
    ), ${free}, ctx as (
      update contexts c set ${sql.raw(CONTEXT.set)}
      from free w
      where c.id = w.id and c.tenant_id = w.tenant and c.lease_epoch = w.epoch
        and (w.control is null or c.control_seq = w.control)
        and (w.wake is null or c.wake_seq = w.wake)
        -- No job begins once its tenant was suspended, however long ago the context was claimed.
        and not (w.begins and ${isOfInactive})
      returning c.id, c.tenant_id, w.branch, w.message_count as messages, c.lease_epoch, c.head_seq - w.entries as base,
        c.head_seq, c.wake_seq, c.control_seq, c.stopped
    )`),
  );
}

/** Queues the contexts for the search index. */
export const search: SQL = sql`search as (
      ${insertInto(searchBacklog, { contextId: sql`ctx.id`, tenantId: sql`ctx.tenant_id`, uptoSeq: sql`ctx.head_seq` })}
      from ctx join free w on w.id = ctx.id where w.searchable
    )`;

/** A run queues its new messages for the search index when it parks, and after every so many steps. */
const SEARCHABLE_STEPS = 16;

export function isSearchable({ append: { park, job }, answers }: Wanted): boolean {
  if (park !== null) return true;
  return job?.kind === 'progress' && job.job.steps % SEARCHABLE_STEPS === 0 && answers.length > 0;
}

function removed(of: (row: Wanted) => number) {
  return { of, as: (given: SQL, stored: SQL) => sql`${stored} - ${given}` };
}

/** Steers that leave the mailbox. The input that starts a job was queued; all other admitted inputs were steers. */
function joined({ append: { job, takenBack }, admitted }: Wanted): number {
  const begins = job?.kind === 'admit' && job.job.kind === 'input' ? 1 : 0;
  return admitted - begins + (takenBack?.withdrawn.length ?? 0);
}

function isStateChange(entry: Entry): boolean {
  return entry.kind === 'event' && entry.event.name === 'StateChanged';
}

function waitsUntil(park: Park | null): Millis | null {
  return park?.status === 'waiting' ? park.until : null;
}

function failureOf({ failure }: Append) {
  if (typeof failure === 'string') return null;
  return { code: failure.code, message: failure.message, job_id: failure.jobId };
}

function turnNumber(entry: Entry): number {
  switch (entry.kind) {
    case 'message':
      return parseTurn(entry.message.turn)?.number ?? 0;
    case 'partial':
    case 'admit':
      return parseTurn(entry.turn)?.number ?? 0;
    case 'event':
      return 0;
  }
}
