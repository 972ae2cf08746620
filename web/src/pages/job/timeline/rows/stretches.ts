/** The time stretches of a step. Times are milliseconds since 1970. */
import type { CallWait, JobStep } from 'nightshift/client';
import { timelineWords, waitWords, type StretchKind } from '../../../../words.ts';

const { throttledBy, cutOff } = timelineWords.row;

/**
 * `to` is null while the stretch continues. `expires`: when the wait times out. `note`: why it failed, or what it waits
 * for.
 */
export type Stretch = { kind: StretchKind; from: number; to: number | null; expires?: number; note?: string };

/** Whether the job holds no slot of a worker process in it. */
export function isWait(kind: StretchKind): kind is keyof typeof waitWords {
  return kind in waitWords;
}

/** The stretches of one model call, or of the wait before one. `last`: the step before it in the same row. */
export function stretchesOfCall(step: JobStep, last: JobStep | null, firstTokenAt: number | null): Stretch[] {
  const [from, to] = [Date.parse(step.started_at), parse(step.ended_at)];
  if (step.kind === 'wait') return [waitBefore(step, last, { from, to })];
  if (step.status === 'failed') return [{ kind: 'failed', from, to, ...(step.error && { note: step.error.message }) }];
  // While the call runs, the stream has the time of the first token.
  const first = parse(step.first_token_at) ?? (to === null && firstTokenAt !== null ? firstTokenAt : null);
  if (first === null) return [{ kind: 'first', from, to }];
  const shown = Math.max(from, first);
  return [
    { kind: 'first', from, to: shown },
    { kind: 'model', from: shown, to },
  ];
}

/** After a refusal by the provider, a wait is for its limit, as one for the refusal of another call is. */
function waitBefore(step: JobStep, last: JobStep | null, { from, to }: Pick<Stretch, 'from' | 'to'>): Stretch {
  const reason = step.reason ?? refusalOf(last);
  return reason === null ? { kind: 'retry', from, to } : { kind: 'throttle', from, to, note: throttledBy[reason] };
}

function refusalOf(last: JobStep | null): keyof typeof throttledBy | null {
  if (last?.error?.code === 'provider_rate_limited') return 'rate_limited';
  return last?.error?.code === 'provider_overloaded' ? 'overloaded' : null;
}

/** `requestedAt`: when the answer that contains the tool call was complete. */
export function stretchesOfTool(step: JobStep, requestedAt: number): Stretch[] {
  const to = parse(step.ended_at);
  const runs = step.executions ?? [];
  const ran = runs.map(({ began_at, ended_at }, at): Stretch => {
    const next = parse(runs[at + 1]?.began_at ?? null);
    const from = Date.parse(began_at);
    // An execution cut off by a crash has no end time; it lasted at most until the next execution started.
    if (ended_at === null && next !== null) return { kind: 'failed', from, to: next, note: cutOff };
    const isLast = at === runs.length - 1;
    return { kind: isLast && step.status === 'failed' ? 'failed' : 'tool', from, to: parse(ended_at) ?? to };
  });
  const waited = (step.waits ?? []).map(toStretch);
  const known = withQueues([...waited, ...ran].toSorted((one, other) => one.from - other.from));
  return runs.length > 0 ? known : [...known, ...unknownOf(step, known.at(-1) ?? null, requestedAt, to)];
}

/** A wait gives the slot back: what follows it waited for a slot. */
function withQueues(known: readonly Stretch[]): Stretch[] {
  return known.flatMap((stretch, at) => {
    const last = known[at - 1];
    const ended = last !== undefined && isWait(last.kind) ? last.to : null;
    return ended !== null && ended < stretch.from
      ? [{ kind: 'queue' as const, from: ended, to: stretch.from }, stretch]
      : [stretch];
  });
}

function toStretch({ for: kind, asked_at, ended_at, expires_at }: CallWait): Stretch {
  const stretch = { kind, from: Date.parse(asked_at), to: parse(ended_at) };
  return expires_at === null ? stretch : { ...stretch, expires: Date.parse(expires_at) };
}

/** For a call without a known execution: the stretch after its last wait, if any. */
function unknownOf({ status }: JobStep, last: Stretch | null, requestedAt: number, to: number | null): Stretch[] {
  if (last !== null && (last.to === null || to !== null)) return [];
  const kind = status === 'failed' ? 'failed' : ['running', 'completed'].includes(status) ? 'tool' : 'open';
  return [{ kind, from: last?.to ?? requestedAt, to }];
}

export function parse(at: string | null): number | null {
  return at === null ? null : Date.parse(at);
}
