// Every check, in the order in which a reader wants to hear of them.
import type { Check, Violation, World } from '../world.ts';
import { accepted } from './accepted.ts';
import { answers } from './answers.ts';
import { endings } from './endings.ts';
import { numbers } from './numbers.ts';
import { once } from './once.ts';
import { order } from './order.ts';
import { processes } from './processes.ts';
import { receipts } from './receipts.ts';
import { rest } from './rest.ts';
import { streams } from './streams.ts';
import { told } from './told.ts';
import { transcripts } from './transcripts.ts';

export const CHECKS: readonly Check[] = [
  rest,
  accepted,
  endings,
  answers,
  once,
  order,
  numbers,
  transcripts,
  receipts,
  told,
  streams,
  processes,
];

export function violationsOf(world: World): Violation[] {
  return CHECKS.flatMap((check) => check.find(world));
}
