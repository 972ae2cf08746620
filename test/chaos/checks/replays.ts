// Each replay is one fork with one job: it has the history up to the input once, answers it once, and leaves the context
// that it was forked from unchanged.
import { word } from '../clients/inputs.ts';
import type { Replay, RepairRows } from '../world/repairs.ts';
import type { Check, Violation } from '../world/world.ts';
import { reporter } from './violation.ts';

const violation = reporter('replays');

export const replays: Check = {
  name: 'replays',
  find({ repairs: { replays: all, stored } }) {
    const kinds = (['asked', 'posted'] as const).filter((kind) => !all.some((one) => one.kind === kind && one.jobId));
    const sources = new Map(all.map(({ contextId, tag }) => [contextId, tag]));
    return [
      ...kinds.map((kind) => violation(`no replay: ${kind}`, null)),
      ...all.flatMap((one) => replayFaults(one, stored)),
      ...[...sources].flatMap(([contextId, tag]) => [
        ...historyFaults(contextId, tag, stored),
        ...forkFaults(contextId, all, stored),
      ]),
    ];
  },
};

function replayFaults({ tag, kind, contextId, forkId, jobId, differs }: Replay, stored: RepairRows): Violation[] {
  const note = (what: string): Violation => violation(`${tag}, ${kind}: ${what}`, contextId, forkId, jobId);
  if (forkId === null || jobId === null) return [note('it never got through')];
  const jobs = stored.jobs.filter(({ context }) => context === forkId);
  const [only] = jobs;
  return [
    ...(differs ? [note('the same keys were answered differently')] : []),
    ...(jobs.length === 1 && only?.id === jobId ? [] : [note(`its fork has ${jobs.length} jobs`)]),
    ...(only === undefined || only.status === 'completed' ? [] : [note(`its job is ${only.status}`)]),
    ...historyFaults(forkId, tag, stored),
  ];
}

/** Two inputs, each with its answer. */
function historyFaults(contextId: string, tag: string, { texts }: RepairRows): Violation[] {
  const expected = [1, 2].flatMap((at) => [`say: ${word(`${tag}-${at}`)}`, word(`${tag}-${at}`)]);
  const is = texts.find(({ context }) => context === contextId)?.texts ?? [];
  return is.join('\n') === expected.join('\n')
    ? []
    : [violation(`the history of ${tag} is ${is.join(' | ') || 'empty'}`, contextId)];
}

function forkFaults(contextId: string, all: readonly Replay[], { forks }: RepairRows): Violation[] {
  const known = new Set(all.map(({ forkId }) => forkId));
  return forks
    .filter(({ id, of }) => of === contextId && !known.has(id))
    .map(({ id }) => violation('a fork of no replay', contextId, id));
}
