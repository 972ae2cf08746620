// Compactions: each request is one job; each compaction is published with its place, is shorter than the messages that
// it replaces, and cuts no call from its result; the prompt is then valid.
import { isToolResult, isToolUse } from '../../../src/core/conversation/blocks.ts';
import { coursesOf, type Course, type Line } from '../world/expected-branches.ts';
import { groupBy, type Check, type Violation, type World } from '../world/world.ts';
import type { StoredCompaction, StoredEvent } from '../world/stored.ts';
import { reporter } from './violation.ts';

const violation = reporter('compactions');

export const compactions: Check = {
  name: 'compactions',
  find(world) {
    const courses = coursesOf(world);
    const events = groupBy(
      world.events.filter(({ name }) => name === 'ContextCompacted'),
      ({ context_id: id }) => id,
    );
    const made = groupBy(world.compactions, ({ context_id: id }) => id);
    const works = new Map(world.jobs.map(({ id, branch }) => [id, branch]));
    return [
      ...askedFaults(world),
      ...world.contexts.flatMap(({ id }) => publishedFaults(id, made.get(id) ?? [], events.get(id) ?? [])),
      ...world.compactions.flatMap((one) => [
        ...rowFaults(one, works.get(one.job_id)),
        ...cutFaults(one, courses.get(one.context_id)),
      ]),
    ];
  },
};

/** One job for each accepted key, and no others; it never fails. */
function askedFaults({ compacts, jobs }: World): Violation[] {
  const asked = groupBy(compacts, ({ jobId }) => jobId);
  const made = jobs.filter(({ kind }) => kind === 'compact');
  const known = new Set(made.map(({ id }) => id));
  return [
    ...compacts
      .filter(({ outcome }) => outcome === 'pending')
      .map(({ contextId, key }) => violation('a compaction request never got through', contextId, key)),
    ...compacts
      .filter(({ jobId }) => jobId !== null && !known.has(jobId))
      .map(({ contextId, key, jobId }) => violation('a compaction has no job', contextId, key, jobId)),
    ...made.flatMap(({ id, context_id: context, status, error_code: code }) => [
      ...(asked.get(id)?.length === 1
        ? []
        : [violation(`a compaction of ${asked.get(id)?.length ?? 0} keys`, context, id)]),
      ...(['completed', 'cancelled', 'interrupted'].includes(status)
        ? []
        : [violation(`a compaction ended ${status} (${code})`, context, id)]),
    ]),
  ];
}

/** For each stored compaction there is an event with the same data. */
function publishedFaults(
  contextId: string,
  made: readonly StoredCompaction[],
  events: readonly StoredEvent[],
): Violation[] {
  const published = new Map(events.map(({ seq, data }) => [seq, data]));
  const faults = made.flatMap((one) => {
    const data = published.get(one.seq);
    const same =
      data?.['compaction_id'] === one.id &&
      data['branch'] === one.branch &&
      data['upto_seq'] === one.upto_seq &&
      data['job_id'] === one.job_id &&
      data['tokens_after'] === one.tokens_after;
    return same ? [] : [violation(`a compaction at ${one.seq} is not published`, contextId, one.id)];
  });
  return made.length === events.length
    ? faults
    : [...faults, violation(`${events.length} compactions are published, ${made.length} are stored`, contextId)];
}

function rowFaults(one: StoredCompaction, branch: string | undefined): Violation[] {
  const faults: Violation[] = [];
  const note = (what: string): void => void faults.push(violation(what, one.context_id, one.id, one.job_id));
  if (branch !== one.branch) note(`a compaction of ${one.branch}, by a job that works on ${branch}`);
  if (one.tokens_after >= one.tokens_before) note(`${one.tokens_before} tokens became ${one.tokens_after}`);
  return faults;
}

/** A summary replaces messages of its branch, and complete rounds: no result stays behind without its call. */
function cutFaults(one: StoredCompaction, course: Course | undefined): Violation[] {
  const line = course?.lines.find((candidate) => isMadeOn(candidate, one));
  if (line === undefined) return [violation('a compaction of a message on no branch', one.context_id, one.id)];
  if (one.type !== 'llm') return [];
  const history = line.messages.filter(({ seq, status }) => status === 'completed' && (seq ?? 0) < one.seq);
  const calls = new Set(
    history
      .filter(({ seq }) => (seq ?? 0) <= one.upto_seq)
      .flatMap(({ content }) => content.filter(isToolUse).map(({ id }) => id)),
  );
  const cut = history
    .filter(({ seq }) => (seq ?? 0) > one.upto_seq)
    .flatMap(({ content }) => content.filter(isToolResult))
    .filter(({ tool_use_id: id }) => calls.has(id));
  return cut.map(({ tool_use_id: id }) =>
    violation('a summary cuts a call from its result', one.context_id, one.id, id),
  );
}

/** Names are used again: the branch that has the last replaced message. */
function isMadeOn({ branch, messages }: Line, { branch: of, upto_seq: upto }: StoredCompaction): boolean {
  return branch === of && messages.some(({ seq }) => seq === upto);
}
