// No branch reads another's messages: the stored history of each branch equals the one derived from the sequence of
// messages and events; shared messages stay, and cleared ones are on no branch.
import { reads, whole } from '../../../src/core/conversation/branch.ts';
import { coursesOf, type Course, type Line } from '../world/expected-branches.ts';
import { groupBy, type Check, type Violation } from '../world/world.ts';
import type { StoredBranch, StoredEvent, StoredMessage } from '../world/stored.ts';
import { reporter } from './violation.ts';

const violation = reporter('branch-histories');

export const branchHistories: Check = {
  name: 'branch-histories',
  find(world) {
    const courses = coursesOf(world);
    const branches = groupBy(world.branches, ({ context_id: id }) => id);
    const messages = groupBy(world.messages, ({ context_id: id }) => id);
    const events = groupBy(world.events, ({ context_id: id }) => id);
    const works = new Map(world.jobs.map(({ id, branch }) => [id, branch]));
    return [
      ...world.contexts.flatMap(({ id, active_branch: active, head_seq: head }) => {
        const course = courses.get(id);
        if (course === undefined) return [];
        const made = messages.get(id) ?? [];
        return [
          ...wayFaults(id, course),
          ...(course.activeAt(head) === active
            ? []
            : [violation(`${active} is active, and was not switched to`, id, course.activeAt(head))]),
          ...standing(id, course, branches.get(id) ?? []),
          ...(branches.get(id) ?? []).flatMap((branch) => readingFaults(course, branch, made)),
          ...takenBackLater(id, course, events.get(id) ?? []),
        ];
      }),
      ...world.messages
        .filter(({ job_id: job, branch }) => job !== null && (works.get(job) ?? branch) !== branch)
        .map(({ id, context_id: context, job_id: job, branch }) =>
          violation(`a message on ${branch}, of a job that works on another branch`, context, id, job),
        ),
    ];
  },
};

function wayFaults(contextId: string, { births, strays, lost }: Course): Violation[] {
  return [
    ...strays.map(({ id, branch }) => violation(`a message on ${branch}, which is not there`, contextId, id)),
    ...lost.map(({ name, seq, data }) =>
      violation(`${name} at ${seq} of a branch that is not there`, contextId, String(data['branch'])),
    ),
    ...births
      .filter(({ left }) => left === null)
      .map(({ branch, parent }) => violation(`${branch} left ${parent}, which is not there`, contextId)),
  ];
}

/** The same branches, by their rows and by their events. */
function standing(contextId: string, course: Course, stored: readonly StoredBranch[]): Violation[] {
  const wanted = course.lines.filter(({ end }) => end === 'stands').map(({ branch }) => branch);
  const is = stored.map(({ name }) => name);
  return [
    ...wanted
      .filter((name) => !is.includes(name))
      .map((name) => violation('a branch was made and is gone', contextId, name)),
    ...is
      .filter((name) => !wanted.includes(name))
      .map((name) => violation('a branch exists that no client made', contextId, name)),
  ];
}

function readingFaults(course: Course, branch: StoredBranch, made: readonly StoredMessage[]): Violation[] {
  const { context_id: contextId, name } = branch;
  const line: Line | undefined = course.lines.find((one) => one.end === 'stands' && one.branch === name);
  if (line === undefined) return [];
  const spans = branch.spans ?? whole(name);
  const read = made.filter(({ branch: of, seq }) => seq !== null && reads(spans, { branch: of, seq }));
  const wanted = new Set(line.messages.map(({ id }) => id));
  const found = new Set(read.map(({ id }) => id));
  const note = (what: string, list: readonly StoredMessage[]): Violation[] =>
    list.length === 0 ? [] : [violation(what, contextId, name, ...list.map(({ id }) => id))];
  const foreign = read.filter(({ id }) => !wanted.has(id));
  return [
    ...note(
      'a branch reads cleared messages',
      foreign.filter(({ seq }) => (seq ?? 0) < course.clearedAt),
    ),
    ...note(
      'a branch reads messages of another branch',
      foreign.filter(({ seq }) => (seq ?? 0) > course.clearedAt),
    ),
    ...note(
      'a branch does not read its own messages',
      line.messages.filter(({ id }) => !found.has(id)),
    ),
  ];
}

/** Shared messages may not be retracted any more. */
function takenBackLater(contextId: string, { births }: Course, events: readonly StoredEvent[]): Violation[] {
  const retracted = new Map(
    events
      .filter(({ name }) => name === 'MessagesRetracted')
      .flatMap(({ seq, data }) => (data['message_ids'] as string[]).map((id) => [id, seq] as const)),
  );
  return births.flatMap(({ branch, seq, forkSeq, left }) => {
    const late = (left ?? []).filter(
      (message) => (message.seq ?? 0) <= forkSeq && (retracted.get(message.id) ?? 0) > seq,
    );
    return late.length === 0
      ? []
      : [
          violation(
            'a branch shared messages that were retracted later',
            contextId,
            branch,
            ...late.map(({ id }) => id),
          ),
        ];
  });
}
