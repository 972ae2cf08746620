/** What is written in the form of a schedule, and the requests that it becomes. Pure functions. */
import type { CreateSchedule, PatchSchedule, Schedule } from 'nightshift/client';
import { schedulesWords } from '../../words.ts';

/** Fields of a kind that is not chosen keep what was written. */
export type ScheduleDraft = {
  name: string;
  timing: 'cron' | 'every' | 'at';
  cron: string;
  timezone: string;
  every: string;
  everyUnit: EveryUnit;
  /** In the time zone of the browser, as `2026-01-31T09:00`. */
  at: string;
  target: 'worker' | 'context';
  workerName: string;
  role: string | null;
  contextId: string;
  content: string;
  user: string;
  overlap: Schedule['overlap'];
  catchUp: Schedule['catch_up'];
  jitter: string;
};

/** In seconds. */
export const EVERY_UNITS = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400 } as const;
export type EveryUnit = keyof typeof EVERY_UNITS;

export function emptyDraft(timezone: string): ScheduleDraft {
  return {
    name: '',
    timing: 'cron',
    cron: '',
    timezone,
    every: '',
    everyUnit: 'hours',
    at: '',
    target: 'worker',
    workerName: '',
    role: null,
    contextId: '',
    content: '',
    user: '',
    overlap: 'queue',
    catchUp: 'one',
    jitter: '0',
  };
}

export function toDraft(schedule: Schedule): ScheduleDraft {
  const { name, cron, every_s: everyS, at, timezone, target, content, overlap, catch_up, jitter_s } = schedule;
  const { amount, unit: everyUnit } = everyOf(everyS ?? EVERY_UNITS.hours);
  return {
    name,
    timing: cron === null ? (everyS === null ? 'at' : 'every') : 'cron',
    cron: cron ?? '',
    timezone,
    every: everyS === null ? '' : String(amount),
    everyUnit,
    at: at === null ? '' : toLocal(at),
    target: target.worker === undefined ? 'context' : 'worker',
    workerName: target.worker?.name ?? '',
    role: target.worker?.role ?? null,
    contextId: target.context_id ?? '',
    content: typeof content === 'string' ? content : '',
    user: schedule.user ?? '',
    overlap,
    catchUp: catch_up,
    jitter: String(jitter_s),
  };
}

/** The fields that cannot be sent as they are, by the names of the request. */
export function faultsOf({ timing, every, at, jitter }: ScheduleDraft): { [path: string]: string } {
  return {
    ...(timing === 'every' && every !== '' && !isWhole(every) && { every_s: schedulesWords.timing.everyFault }),
    ...(timing === 'at' && at !== '' && Number.isNaN(Date.parse(at)) && { at: schedulesWords.timing.atFault }),
    ...(jitter !== '0' && jitter !== '' && !isWhole(jitter) && { jitter_s: schedulesWords.policy.jitterFault }),
  };
}

/** `hasContent`: a known schedule keeps content that the form cannot show. */
export function isComplete(draft: ScheduleDraft, hasContent: boolean): boolean {
  const { name, timing, cron, timezone, every, at, target, workerName, contextId, content } = draft;
  const isTimed = { cron: cron.trim() !== '' && timezone.trim() !== '', every: every !== '', at: at !== '' }[timing];
  const isAimed = { worker: workerName.trim() !== '', context: contextId.trim() !== '' }[target];
  return name.trim() !== '' && isTimed && isAimed && (hasContent || content.trim() !== '');
}

/** Of a complete draft without faults. */
export function toCreate(draft: ScheduleDraft): CreateSchedule {
  const { user } = draft;
  return { ...settingsOf(draft, undefined), content: draft.content, ...(user !== '' && { user }) };
}

/**
 * Only what is different: a time that is stored again would start again, and forget what was missed. Null: nothing is
 * different.
 */
export function toPatch(schedule: Schedule, draft: ScheduleDraft): PatchSchedule | null {
  const config = schedule.target.worker?.config;
  const { content } = toDraft(schedule);
  const before: PatchSchedule = { ...settingsOf(toDraft(schedule), config), content };
  const after: PatchSchedule = { ...settingsOf(draft, config), content: draft.content };
  const changed = Object.entries(after).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof PatchSchedule]),
  );
  return changed.length === 0 ? null : Object.fromEntries(changed);
}

type WorkerConfig = NonNullable<Schedule['target']['worker']>['config'];

function settingsOf(draft: ScheduleDraft, config: WorkerConfig) {
  const { name, timing, timezone, target, workerName, role, contextId, overlap, catchUp, jitter } = draft;
  const worker = { name: workerName.trim(), ...(role !== null && { role }), ...(config !== undefined && { config }) };
  return {
    name: name.trim(),
    ...(timing === 'cron' && { cron: draft.cron.trim(), timezone: timezone.trim() }),
    ...(timing === 'every' && { every_s: Number(draft.every) * EVERY_UNITS[draft.everyUnit] }),
    ...(timing === 'at' && { at: new Date(draft.at).toISOString() }),
    target: target === 'worker' ? { worker } : { context_id: contextId.trim() },
    overlap,
    catch_up: catchUp,
    jitter_s: Number(jitter),
  };
}

/** In the largest unit of which it is a whole number. */
export function everyOf(everyS: number): { amount: number; unit: EveryUnit } {
  const units = ['days', 'hours', 'minutes'] as const;
  const unit = units.find((one) => everyS % EVERY_UNITS[one] === 0) ?? 'seconds';
  return { amount: everyS / EVERY_UNITS[unit], unit };
}

function isWhole(text: string): boolean {
  return /^[1-9]\d*$/.test(text);
}

function toLocal(at: string): string {
  const moment = new Date(at);
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
