// Every check, in the order of the report.
import type { Check, Violation, World } from '../world/world.ts';
import { accepted } from './accepted.ts';
import { answers } from './answers.ts';
import { approvals } from './approvals.ts';
import { branches } from './branches.ts';
import { compactions } from './compactions.ts';
import { delays } from './delays.ts';
import { endings } from './endings.ts';
import { branchHistories } from './branch-histories.ts';
import { numbers } from './numbers.ts';
import { operated } from './operated.ts';
import { once } from './once.ts';
import { order } from './order.ts';
import { outbox } from './outbox.ts';
import { outcomes } from './outcomes.ts';
import { processes } from './processes.ts';
import { questions } from './questions.ts';
import { receipts } from './receipts.ts';
import { replays } from './replays.ts';
import { retries } from './retries.ts';
import { idle } from './idle.ts';
import { keys } from './keys.ts';
import { schedules } from './schedules.ts';
import { settings } from './settings.ts';
import { steps } from './steps.ts';
import { stops } from './stops.ts';
import { streams } from './streams.ts';
import { api } from './api.ts';
import { tenants } from './tenants.ts';
import { transactions } from './transactions.ts';
import { transcripts } from './transcripts.ts';
import { webhooks } from './webhooks.ts';
import { workers } from './workers.ts';

export const CHECKS: readonly Check[] = [
  idle,
  accepted,
  endings,
  answers,
  once,
  transactions,
  steps,
  order,
  delays,
  numbers,
  transcripts,
  branchHistories,
  branches,
  questions,
  approvals,
  outcomes,
  compactions,
  settings,
  receipts,
  stops,
  workers,
  api,
  streams,
  schedules,
  outbox,
  webhooks,
  tenants,
  keys,
  operated,
  retries,
  replays,
  processes,
];

export function violationsOf(world: World): Violation[] {
  return CHECKS.flatMap((check) => check.find(world));
}
