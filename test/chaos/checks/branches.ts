// Accepted operations on branches were done once, and refused ones not at all; an edited or retried input is on a
// branch that was made for it, in the place of the original.
import { coursesOf, type Birth, type Course } from '../world/expected-branches.ts';
import { groupBy, type Change, type Check, type Posted, type Violation } from '../world/world.ts';
import type { StoredEvent, StoredMessage } from '../world/stored.ts';
import { reporter } from './violation.ts';

const violation = reporter('branches');

export const branches: Check = {
  name: 'branches',
  find(world) {
    const courses = coursesOf(world);
    const changes = groupBy(world.changes, ({ contextId }) => contextId);
    const inputs = groupBy(world.inputs, ({ contextId }) => contextId);
    const events = groupBy(world.events, ({ context_id: id }) => id);
    const messages = new Map(world.messages.map((message) => [message.id, message]));
    const retractedAt = new Map(
      world.events
        .filter(({ name }) => name === 'MessagesRetracted')
        .flatMap(({ seq, data }) => (data['message_ids'] as string[]).map((id) => [id, seq] as const)),
    );
    return world.contexts.flatMap(({ id }) => {
      const asked = changes.get(id) ?? [];
      const revision = (inputs.get(id) ?? []).filter((input) => input.revision !== null);
      const course = courses.get(id);
      return [
        ...asked
          .filter(({ outcome }) => outcome === 'pending')
          .map(({ kind, key }) => violation(`a ${kind} never got through`, id, key)),
        ...countFaults(id, asked, revision, events.get(id) ?? []),
        ...(course === undefined
          ? []
          : revision.flatMap((input) => revisionFaults(input, course, messages, retractedAt))),
      ];
    });
  },
};

/** The numbers of created branches, deleted branches and cleared histories equal those that clients received. */
function countFaults(
  contextId: string,
  asked: readonly Change[],
  revision: readonly Posted[],
  events: readonly StoredEvent[],
): Violation[] {
  const taken = (kind: Change['kind']): (string | null)[] =>
    asked.filter((one) => one.kind === kind && one.outcome === 'taken').map(({ branch }) => branch);
  const own = revision.flatMap(({ outcome }) => (outcome.kind === 'accepted' ? [outcome.branch] : []));
  return [
    ...unequal(contextId, 'made', [...taken('create'), ...own], namesIn(events, 'BranchCreated')),
    ...unequal(contextId, 'deleted', taken('delete'), namesIn(events, 'BranchDeleted')),
    ...unequal(contextId, 'cleared', taken('clear'), namesIn(events, 'ContextCleared')),
  ];
}

function namesIn(events: readonly StoredEvent[], name: string): (string | null)[] {
  return events
    .filter((event) => event.name === name)
    .map(({ data: { branch } }) => (typeof branch === 'string' ? branch : null));
}

function unequal(
  contextId: string,
  what: string,
  received: readonly (string | null)[],
  happened: readonly (string | null)[],
): Violation[] {
  const names = [...new Set([...received, ...happened])];
  const count = (list: readonly (string | null)[], name: string | null): number =>
    list.filter((one) => one === name).length;
  return names
    .filter((name) => count(received, name) !== count(happened, name))
    .map((name) =>
      violation(
        `${name ?? 'the context'} was ${what} ${count(happened, name)} times, clients received ${count(received, name)}`,
        contextId,
      ),
    );
}

/**
 * An edit's branch has the messages before the replaced one, and neither that nor later ones; a retry's branch ends
 * with the input that it answers.
 */
function revisionFaults(
  { tag, contextId, revision, outcome }: Posted,
  { births }: Course,
  messages: ReadonlyMap<string, StoredMessage>,
  retractedAt: ReadonlyMap<string, number>,
): Violation[] {
  if (revision === null || outcome.kind !== 'accepted') return [];
  const birth = births.findLast(({ branch, seq }) => branch === outcome.branch && seq <= outcome.after);
  const past = messages.get(revision.messageId);
  if (birth?.left === null || birth?.left === undefined || past === undefined)
    return [violation('no branch was made for it', contextId, tag, outcome.branch, outcome.jobId)];
  // A message that was retracted later was visible then.
  const line = birth.left.filter(({ id, status }) => status === 'completed' || (retractedAt.get(id) ?? 0) > birth.seq);
  const wrong = whatIsWrong(birth, line, past, revision.kind);
  return wrong === null ? [] : [violation(wrong, contextId, tag, birth.branch, past.id)];
}

function whatIsWrong(
  { forkSeq }: Birth,
  line: readonly StoredMessage[],
  past: StoredMessage,
  kind: 'edit' | 'regenerate',
): string | null {
  const at = line.findIndex(({ id }) => id === past.id);
  if (at === -1) return 'its branch left one that does not show the message';
  if (kind === 'edit') {
    return (line[at - 1]?.seq ?? 0) === forkSeq ? null : 'its branch does not end before the message';
  }
  const shared = line.filter(({ seq }) => (seq ?? 0) <= forkSeq);
  const input = line.slice(0, at + 1).findLast(({ role }) => role === 'user');
  const last = shared.findLast(({ role }) => role !== 'system');
  return last !== undefined && last.id === input?.id ? null : 'its branch does not end with the input';
}
