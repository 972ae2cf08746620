// A key that was used, revoked and refused; how that is broken, and part of the expected violation.
import type { MadeKey, World } from './world.ts';

/** Revoked at 100; a request that was sent before its end was still accepted. */
export function soundKey(): MadeKey {
  return {
    id: 'key-1',
    uses: [
      { sentAt: 10, answeredAt: 20, status: 200 },
      { sentAt: 80, answeredAt: 5_000, status: 200 },
      { sentAt: 1_100, answeredAt: 1_200, status: 200 },
      { sentAt: 1_300, answeredAt: 1_310, status: 503 },
      { sentAt: 1_400, answeredAt: 1_410, status: 401 },
    ],
    revoked: { asked: 90, answered: 100 },
  };
}

type Sound = { world: World };

export const BROKEN_KEYS: readonly [string, (sound: Sound) => void, RegExp][] = [
  [
    'a revoked key is accepted',
    ({ world }) => void world.keys[0]?.uses.push({ sentAt: 1_101, answeredAt: 1_102, status: 200 }),
    /accepted 1001 ms after it was revoked/,
  ],
  [
    'a key is refused before it was revoked',
    ({ world }) => void world.keys[0]?.uses.push({ sentAt: 30, answeredAt: 40, status: 401 }),
    /a valid key was refused/,
  ],
  [
    'a key that was never revoked is refused',
    ({ world }) => void world.keys.push({ ...soundKey(), id: 'key-2', revoked: null }),
    /a valid key was refused/,
  ],
  ['no key was refused', ({ world }) => void world.keys[0]?.uses.pop(), /no key was revoked and refused/],
  ['no key was made', ({ world }) => void world.keys.pop(), /no key was revoked and refused/],
];
