// A call that somebody approved with other words, in a small world; how it is broken, and words of what the check finds.
import { withWord } from '../../e2e/outside/outside-tools.ts';
import { GUARD } from '../clients/inputs.ts';
import { event } from './builders.ts';
import { soundWorld } from './sound-world.ts';
import type { StoredCall } from './stored.ts';
import type { PersonDecision } from './world.ts';

export function soundApproval() {
  const { world, call } = soundWorld();
  const guarded: StoredCall = {
    ...call,
    id: 'guarded',
    name: GUARD,
    approval: { decision: 'approve', input: { word: 'other' } },
    approval_at: 15,
  };
  const approval: PersonDecision = {
    contextId: 'c',
    callId: 'guarded',
    key: 'v-1',
    decision: 'approve',
    word: 'other',
    remember: false,
    outcome: { kind: 'taken', resolved: ['guarded'] },
  };
  const said = event(30, 'ApprovalResolved', { tool_call_id: 'guarded' });
  world.calls.push(guarded);
  world.decisions.push(approval, { ...approval, key: 'v-2', decision: 'deny', outcome: { kind: 'refused' } });
  world.events.push(said);
  const ran = ['begin', withWord('other'), 'effect', 'end'].map((what) => ({
    what,
    name: GUARD,
    key: 'guarded',
  }));
  world.outside.push(...ran);
  return { world, guarded, approval, said };
}

type Sound = ReturnType<typeof soundApproval>;

export const BROKEN_APPROVALS: readonly [string, (sound: Sound) => void, RegExp][] = [
  [
    'a decision never got through',
    ({ approval }) => Object.assign(approval, { outcome: { kind: 'pending' } }),
    /never got through/,
  ],
  [
    'a decision is on no call',
    ({ approval }) => Object.assign(approval, { outcome: { kind: 'taken', resolved: ['x'] } }),
    /on no call/,
  ],
  [
    'it ran without a decision',
    ({ guarded }) => Object.assign(guarded, { approval: null, approval_at: null }),
    /nobody approved it/,
  ],
  [
    'it was denied, and ran',
    ({ guarded }) => Object.assign(guarded, { approval: { decision: 'deny', input: null } }),
    /was denied, and ran/,
  ],
  [
    'it is denied, and ran',
    ({ guarded }) => Object.assign(guarded, { status: 'denied' }),
    /is denied, and ran/,
  ],
  [
    'it ran with other words',
    ({ world }) => void world.outside.push({ what: withWord('mine'), name: GUARD, key: 'guarded' }),
    /other words than were approved/,
  ],
  ['it began too early', ({ guarded }) => Object.assign(guarded, { started_at: 10 }), /began before/],
  [
    'a denial is forgotten',
    ({ guarded }) => Object.assign(guarded, { approval: { decision: 'deny', input: null } }),
    /was denied, and is completed/,
  ],
  [
    'it is denied by nobody',
    ({ guarded }) => Object.assign(guarded, { status: 'denied' }),
    /nobody denied it/,
  ],
  [
    'two were told that it was theirs',
    ({ world, approval }) => void world.decisions.push({ ...approval, key: 'v-3' }),
    /2 decisions were taken/,
  ],
  ['a decision is of nobody', ({ world }) => void world.decisions.splice(0), /a decision that nobody gave/],
  [
    'another decision stands',
    ({ guarded }) => Object.assign(guarded, { approval: { decision: 'approve', input: null } }),
    /another decision stands/,
  ],
  ['it is told twice', ({ world, said }) => void world.events.push({ ...said, seq: 31 }), /told 2 times/],
  [
    'it is not told',
    ({ world, said }) => void world.events.splice(world.events.indexOf(said), 1),
    /told 0 times/,
  ],
];
