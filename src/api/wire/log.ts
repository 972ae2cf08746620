/** Converts what tools reported to its API form. */
import type { JobId } from '../../core/ids.ts';
import { toPublicProgress } from '../../core/stream/call-progress.ts';
import type { EntryPlace, EntryView, ReportView } from '../../db/calls/tool-reports.ts';
import { toIso } from '../request/instant.ts';
import type { LogEntry } from '../schemas/jobs/log.ts';

export function toLogEntry(jobId: JobId, view: EntryView): LogEntry {
  const { toolCallId, attempt, level, message, fields, at } = view;
  const entry = { attempt, level, message, fields, at: toIso(at) };
  return { id: `${view.epoch}-${view.number}`, job_id: jobId, tool_call_id: toolCallId, ...entry };
}

/** The id of an entry that the schema has checked. */
export function toEntryPlace(id: string): EntryPlace {
  const [epoch, number] = id.split('-').map(Number);
  return { epoch: epoch ?? 0, number: number ?? 0 };
}

export function toReport({ progress, entries, dropped }: ReportView) {
  return { progress: progress === null ? null : toPublicProgress(progress), log: { entries, dropped } };
}
