/** When a delayed input joins the queue of its context. */
import type { Millis } from '../time.ts';

/** After so many seconds, by PostgreSQL's clock, or at a time. */
export type Delay = { kind: 'after'; seconds: number } | { kind: 'at'; at: Millis };

/** The longest delay, in days. */
export const LONGEST_DELAY_DAYS = 366;
export const LONGEST_DELAY_S = LONGEST_DELAY_DAYS * 86_400;
