// A call that was approved with other arguments, in a small world; how it is broken, and part of the expected
// violation.
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
  const reported = event(30, 'ApprovalResolved', { tool_call_id: 'guarded' });
  world.calls.push(guarded);
  world.decisions.push(approval, { ...approval, key: 'v-2', decision: 'deny', outcome: { kind: 'refused' } });
  world.events.push(reported);
  const ran = ['begin', withWord('other'), 'effect', 'end'].map((what) => ({
    what,
    name: GUARD,
    key: 'guarded',
  }));
  world.outside.push(...ran);
  return { world, guarded, approval, reported };
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
    /without an approval/,
  ],
  [
    'it was denied, and ran',
    ({ guarded }) => Object.assign(guarded, { approval: { decision: 'deny', input: null } }),
    /was denied, and ran/,
  ],
  ['it is denied, and ran', ({ guarded }) => Object.assign(guarded, { status: 'denied' }), /is denied, and ran/],
  [
    'it ran with another input',
    ({ world }) => void world.outside.push({ what: withWord('mine'), name: GUARD, key: 'guarded' }),
    /another input than was approved/,
  ],
  ['it began too early', ({ guarded }) => Object.assign(guarded, { started_at: 10 }), /began before/],
  [
    'a denial is forgotten',
    ({ guarded }) => Object.assign(guarded, { approval: { decision: 'deny', input: null } }),
    /was denied, and is completed/,
  ],
  ['it is denied without a denial', ({ guarded }) => Object.assign(guarded, { status: 'denied' }), /without a denial/],
  [
    'two decisions were accepted',
    ({ world, approval }) => void world.decisions.push({ ...approval, key: 'v-3' }),
    /2 decisions were accepted/,
  ],
  ['a decision has no client', ({ world }) => void world.decisions.splice(0), /a decision that no client made/],
  [
    'another decision is stored',
    ({ guarded }) => Object.assign(guarded, { approval: { decision: 'approve', input: null } }),
    /another decision is stored/,
  ],
  [
    'it is published twice',
    ({ world, reported }) => void world.events.push({ ...reported, seq: 31 }),
    /published 2 times/,
  ],
  [
    'it is not published',
    ({ world, reported }) => void world.events.splice(world.events.indexOf(reported), 1),
    /published 0 times/,
  ],
];
