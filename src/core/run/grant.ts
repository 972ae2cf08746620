/**
 * A grant: a person has approved all calls of a tool in one context in advance, for a time. It belongs to no config, so
 * that no other right than `approve` makes one, and no fork or child gets it.
 */
import type { Actor } from '../access/actor.ts';
import type { Millis } from '../time.ts';

export type Grant = {
  tool: string;
  /** Who decided. */
  actor: Actor;
  createdAt: Millis;
  expiresAt: Millis;
};

const DAY_S = 86_400;

/** How long a grant lasts where nothing else is asked for, in seconds: thirty days. */
export const USUAL_GRANT_S = 30 * DAY_S;
/** In seconds: a year. */
export const LONGEST_GRANT_S = 365 * DAY_S;
