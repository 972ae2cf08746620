// How a conversation is broken, by check, and part of the expected violation.
import type { Conversation } from './sound-conversation.ts';
import { event, text } from './builders.ts';
import { word } from '../clients/inputs.ts';

type Way = readonly [string, (sound: Conversation) => void, RegExp];

export const BROKEN_CONVERSATIONS: Readonly<Record<string, readonly Way[]>> = {
  'branch-histories': [
    [
      "a branch reads another's answer",
      ({ again }) =>
        Object.assign(again, {
          spans: [
            { branch: 'main', after: 0, upto: 7 },
            { branch: 'main-3', after: 20, upto: null },
          ],
        }),
      /reads messages of another branch/,
    ],
    [
      'a branch lost what it shares',
      ({ again }) => Object.assign(again, { spans: [{ branch: 'main-3', after: 20, upto: null }] }),
      /does not read its own messages/,
    ],
    [
      'an answer is on another branch than its job',
      ({ conversationAnswer }) => Object.assign(conversationAnswer, { branch: 'main' }),
      /of a job that works on another branch/,
    ],
    [
      'an answer is on no branch',
      ({ conversationAnswer }) => Object.assign(conversationAnswer, { branch: 'side' }),
      /a message on side, which is not there/,
    ],
    ['a branch is gone', ({ world, edited }) => remove(world.branches, edited), /was made and is gone/],
    ['a branch has no client', ({ world, birth }) => remove(world.events, birth), /that no client made/],
    [
      'another branch is active',
      ({ context }) => Object.assign(context, { active_branch: 'main' }),
      /main is active, and was not switched to/,
    ],
    [
      'cleared history is read',
      ({ world }) => void world.events.push(event(24, 'ContextCleared', {})),
      /reads cleared messages/,
    ],
    [
      'a shared message is retracted',
      ({ world }) => void world.events.push(event(24, 'MessagesRetracted', { message_ids: ['m-1'] })),
      /shared messages that were retracted later/,
    ],
  ],
  branches: [
    [
      'a branch is made twice',
      ({ world }) =>
        void world.events.push(event(24, 'BranchCreated', { branch: 'side', parent: 'main', fork_seq: 0 })),
      /side was made 2 times, clients received 1/,
    ],
    [
      'an accepted delete did not happen',
      ({ world }) =>
        void world.events.splice(
          world.events.findIndex(({ seq }) => seq === 19),
          1,
        ),
      /side was deleted 0 times/,
    ],
    [
      'a history is cleared without a request',
      ({ world }) => void world.events.push(event(24, 'ContextCleared', {})),
      /the context was cleared 1 times/,
    ],
    [
      'a request never gets through',
      ({ world }) => Object.assign(world.changes[0] ?? {}, { outcome: 'pending' }),
      /create never got through/,
    ],
    [
      'an edit has no branch',
      ({ editing }) => Object.assign(editing.outcome, { branch: 'main-9' }),
      /no branch was made for it/,
    ],
    [
      'an edit replaces a retracted message',
      ({ world, input }) => {
        Object.assign(input, { status: 'retracted' });
        world.events.push(event(8.5, 'MessagesRetracted', { message_ids: [input.id] }));
      },
      /does not show the message/,
    ],
    [
      'an edit follows the message that it replaces',
      ({ birth }) => Object.assign(birth.data, { fork_seq: 2 }),
      /does not end before the message/,
    ],
    [
      'a retry follows the answer that it replaces',
      ({ world }) => Object.assign(world.events.find(({ seq }) => seq === 21)?.data ?? {}, { fork_seq: 7 }),
      /does not end with the input/,
    ],
  ],
  questions: [
    [
      'two answers are accepted',
      ({ late, given }) => Object.assign(late, { outcome: given.outcome }),
      /was answered 2 times/,
    ],
    [
      'an accepted answer is lost',
      ({ given }) => Object.assign(given, { outcome: { kind: 'accepted', jobId: 'job-3', messageId: 'r-9' } }),
      /accepted answer is lost/,
    ],
    ['an answer has no client', ({ world, given }) => remove(world.replies, given), /that no client posted/],
    ['the other answer is in history', ({ given }) => Object.assign(given, { content: 'no' }), /not what was posted/],
    ['an answer is not in history', ({ world, reply }) => remove(world.messages, reply), /never became history/],
    [
      'an answer is an input',
      ({ reply }) => Object.assign(reply, { role: 'user', content: [text('yes')] }),
      /its answer is not its result/,
    ],
    [
      'an answer is forgotten',
      ({ call }) => Object.assign(call, { status: 'cancelled' }),
      /answered, and is cancelled/,
    ],
    [
      'a question is answered without an answer',
      ({ call }) => Object.assign(call, { reply: null }),
      /answered by no client/,
    ],
    [
      'an answer goes to another call',
      ({ given }) => Object.assign(given, { callId: 'call' }),
      /given to another call/,
    ],
    [
      'an answer names another job',
      ({ given }) => Object.assign(given, { outcome: { kind: 'accepted', jobId: 'job-1', messageId: 'question' } }),
      /answer names another job/,
    ],
    [
      'an answer never gets through',
      ({ late }) => Object.assign(late, { outcome: { kind: 'pending' } }),
      /never got through/,
    ],
  ],
  settings: [
    [
      'a change is lost',
      ({ context }) => Object.assign(context, { config: { ...context.config, mode: 'act' } }),
      /the settings are/,
    ],
    [
      'a version is written over one that was not read',
      ({ setting }) => Object.assign(setting, { seen: 0 }),
      /written over 0/,
    ],
    [
      'two write one version',
      ({ world, setting }) => void world.settings.push({ ...setting, key: 'other' }),
      /written twice/,
    ],
    [
      'a version has no writer',
      ({ context }) => Object.assign(context, { version: 3 }),
      /it is version 3, 1 changes were taken/,
    ],
    [
      'another model answers',
      ({ answer }) => Object.assign(answer, { model_id: 'other' }),
      /other answered, which was never set/,
    ],
    [
      'a plan without a request',
      ({ setting, answer }) => (Object.assign(setting, { config: {} }), Object.assign(answer, { type: 'plan' })),
      /no client asked for plans/,
    ],
  ],
  compactions: [
    [
      'a compaction request never gets through',
      ({ compact }) => Object.assign(compact, { outcome: 'pending' }),
      /never got through/,
    ],
    ['a compaction is lost', ({ compact }) => Object.assign(compact, { jobId: 'job-9' }), /a compaction has no job/],
    [
      'one job for two keys',
      ({ world, compact }) => void world.compacts.push({ ...compact, key: 'other' }),
      /a compaction of 2 keys/,
    ],
    [
      'a compaction fails',
      ({ shortening }) => Object.assign(shortening, { status: 'failed', error_code: 'crash_loop' }),
      /ended failed \(crash_loop\)/,
    ],
    [
      'it is published with other data',
      ({ compacted }) => Object.assign(compacted, { tokens_after: 9 }),
      /is not published/,
    ],
    [
      'it is published and not stored',
      ({ world, compacted }) => remove(world.compactions, compacted),
      /1 compactions are published, 0 are stored/,
    ],
    [
      'it makes the prompt longer',
      ({ compacted }) => Object.assign(compacted, { tokens_before: 40 }),
      /40 tokens became 50/,
    ],
    [
      "it is of another branch than its job's",
      ({ shortening }) => Object.assign(shortening, { branch: 'main' }),
      /by a job that works on main/,
    ],
    [
      'it cuts a call from its result',
      ({ compacted }) => Object.assign(compacted, { upto_seq: 13 }),
      /cuts a call from its result/,
    ],
    [
      "it replaces another branch's",
      ({ compacted }) => Object.assign(compacted, { upto_seq: 7 }),
      /of a message on no branch/,
    ],
  ],
  accepted: [
    [
      'a job works on another branch',
      ({ edit }) => Object.assign(edit, { branch: 'main' }),
      /it works on main, and was accepted for main-2/,
    ],
    [
      'a retried input is stored again',
      ({ world, instead }) =>
        void world.messages.push({
          ...instead,
          id: 'm-9',
          seq: null,
          status: 'withdrawn',
          content: [text(`say: ${word('i-4')}`)],
        }),
      /the input is stored 1 times/,
    ],
  ],
  answers: [
    [
      'an edited input is answered twice',
      ({ world, conversationAnswer }) => void world.messages.push({ ...conversationAnswer, id: 'a-9', seq: 24 }),
      /answered 2 times/,
    ],
  ],
  endings: [
    [
      'an answer is retried, and another input was answered',
      ({ retry }) => Object.assign(retry, { status: 'failed', error_code: 'nothing_to_answer', started_at: 215 }),
      /failed \(nothing_to_answer\), for no reason/,
    ],
  ],
  idle: [
    [
      'a counter of a branch is wrong',
      ({ edited }) => Object.assign(edited, { message_count: 5 }),
      /message_count is 5, stored are 4/,
    ],
    [
      'turns are those of another branch',
      ({ context }) => Object.assign(context, { turn_count: 2 }),
      /turn_count is 2, stored are 1/,
    ],
  ],
  api: [
    [
      'a branch is not returned',
      ({ world }) => void world.returned[0]?.branches.pop(),
      /2 branches are listed, 3 are stored/,
    ],
    [
      'a branch shows too many messages',
      ({ world }) => Object.assign(world.returned[0]?.branches[2] ?? {}, { length: 4 }),
      /length is 1, the API returns 4/,
    ],
  ],
  transcripts: [
    ['a question is still open', ({ call }) => Object.assign(call, { status: 'waiting' }), /still waiting/],
  ],
};

function remove<T>(list: T[], one: T): void {
  list.splice(list.indexOf(one), 1);
}
