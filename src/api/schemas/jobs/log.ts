/** The log of a job in the API: what its tools wrote. */
import { Type, type Static } from 'typebox';
import { ENTRY_LEVELS } from '../../../core/tools/report.ts';
import { Instant, JsonObject, Page, Positive, Uuid, described, listOf } from '../common.ts';
import { nullable, oneOf, strict } from '../../../schema/build.ts';
import { LOG_ENTRY_ID } from '../../../schema/patterns.ts';

const EntryId = Type.String({ pattern: LOG_ENTRY_ID });

export const LogEntry = strict(
  {
    id: described(EntryId, 'Its place in the log of the job, for `after`.'),
    job_id: Uuid,
    tool_call_id: described(
      Uuid,
      'A call without effect may run before its answer is stored. If that answer never was, no call has this id.',
    ),
    attempt: described(Positive, 'The attempt of the job.'),
    level: oneOf(ENTRY_LEVELS),
    message: Type.String(),
    fields: nullable(JsonObject),
    at: Instant,
  },
  { $id: 'LogEntry', description: 'What a tool wrote to the log of its call.' },
);
export type LogEntry = Static<typeof LogEntry>;

export const LogEntryList = listOf('LogEntryList', LogEntry);

export const LogQuery = strict({
  ...Page,
  level: Type.Optional(oneOf(ENTRY_LEVELS, 'Only entries of this level, or a more important one.')),
  tool_call_id: Type.Optional(described(Uuid, 'Only entries of this call.')),
  after: Type.Optional(
    described(
      EntryId,
      'Begins after this entry, also with entries that are added later. Without it: at the beginning. Entries of an ' +
        'earlier run of the job may still arrive before it: read from the beginning to find them.',
    ),
  ),
});
