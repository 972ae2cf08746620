/** All scenarios, by name, in the order of the report. */
import type { Scenario } from '../bench.ts';
import { approval } from './approval.ts';
import { branches } from './branches.ts';
import { caching } from './caching.ts';
import { cancel } from './cancel.ts';
import { consolePage } from './console.ts';
import { conversations } from './conversations.ts';
import { crash } from './crash.ts';
import { deltas } from './deltas.ts';
import { fairness } from './fairness.ts';
import { history } from './history.ts';
import { idle } from './idle.ts';
import { logins } from './logins.ts';
import { mcp } from './mcp.ts';
import { memory } from './memory.ts';
import { pages } from './pages.ts';
import { resume } from './resume.ts';
import { runs } from './runs.ts';
import { search } from './search.ts';
import { soak } from './soak.ts';
import { spawn } from './spawn.ts';
import { start } from './start.ts';
import { streams } from './streams.ts';
import { subscribers } from './subscribers.ts';
import { throughput } from './throughput.ts';
import { tools100 } from './tools100.ts';
import { transfer } from './transfer.ts';

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  runs,
  throughput,
  start,
  cancel,
  crash,
  resume,
  memory,
  idle,
  history,
  conversations,
  branches,
  tools100,
  caching,
  approval,
  mcp,
  deltas,
  streams,
  subscribers,
  search,
  logins,
  transfer,
  spawn,
  console: consolePage,
};

/** Run only when named: the soak takes an hour, fairness half of one, and for `pages` npm downloads Lighthouse. */
export const EXTRA: Readonly<Record<string, Scenario>> = { soak, fairness, pages };
