// The result of a run, its violations, and the data needed to find the cause: a summary on the terminal, everything in
// the log folder.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { receivedWhole } from './checks/streams.ts';
import { seconds, type Outcome } from './run.ts';
import { groupBy, type Violation, type World } from './world/world.ts';

const SHOWN = 40;
/** The contexts whose full history is written, of those that a violation names. */
const WRITTEN = 20;

/** The lines to print. */
export function summary({ options, world, violations, acceptMs, statuses, settledMs, tookMs }: Outcome): string {
  const accepted = world.inputs.filter(({ outcome }) => outcome.kind === 'accepted');
  const durations = world.jobs.flatMap(({ started_at: from, finished_at: to }) =>
    from === null || to === null ? [] : [to - from],
  );
  return [
    `seed ${options.seed}: ${world.inputs.length} inputs (${accepted.length} accepted), ${world.faults.length} faults, ${world.contexts.length} contexts, ${seconds(tookMs)}${options.logins ? ', logins of their own' : ''}`,
    `  faults: ${counted(world.faults.map(({ kind }) => kind))}`,
    ...world.faults.flatMap(({ kind, missed }) => (missed === null ? [] : [`  missed: ${kind}: ${missed}`])),
    `  inputs: ${counted(world.inputs.map(({ script }) => script.shape))}`,
    `  deliveries: ${counted(world.inputs.map(({ delivery }) => delivery))}; ${world.inputs.filter(({ key }) => key === null).length} without a key, ${world.inputs.filter(({ isForNewWorker }) => isForNewWorker).length} with a new worker, ${world.inputs.filter(({ delay }) => delay !== null).length} delayed`,
    `  requests: ${world.inputs.filter(({ cancelled }) => cancelled).length} cancels, ${world.interrupts.length} interrupts, ${world.stops.length} stops, ${counted(world.inputs.flatMap(({ edited }) => (edited === null ? [] : [`edit ${edited}`])))} ${counted(world.inputs.flatMap(({ withdrawn }) => (withdrawn === null ? [] : [`withdrawal ${withdrawn}`])))}`,
    `  refused: ${counted(world.inputs.flatMap(({ outcome }) => (outcome.kind === 'refused' ? [outcome.code] : [])))}`,
    `  jobs: ${counted(world.jobs.map(({ status }) => status))}`,
    `  calls: ${counted(world.calls.map(({ effect, status }) => `${effect} ${status}`))}`,
    `  reported outcomes: ${counted(world.reported.map(({ outcome }) => outcome)) || 'nothing'}; persons asked: ${world.events.filter(({ name }) => name === 'OutcomeUnknown').length}`,
    `  answers: ${counted([...statuses].flatMap(([status, count]) => Array.from({ length: count }, () => (status === 0 ? 'none' : String(status)))))}`,
    `  accepted after ${spread(acceptMs)}; jobs took ${spread(durations)}`,
    ...conversationLines(world),
    ...scheduleLines(world),
    ...webhookLines(world),
    ...serviceLines(world),
    ...repairLines(world),
    ...streamLines(world),
    settledMs === null ? '  never became idle' : `  idle ${seconds(settledMs)} after the last fault`,
    violations.length === 0
      ? '  no violation'
      : `  ${violations.length} VIOLATIONS: ${counted(violations.map(({ check }) => check))}`,
    ...violations.slice(0, SHOWN).map((violation) => `    ${lineOf(violation)}`),
    ...(violations.length > SHOWN ? [`    … and ${violations.length - SHOWN} more`] : []),
  ].join('\n');
}

function conversationLines({
  inputs,
  changes,
  settings,
  replies,
  calls,
  compacts,
  compactions,
  decisions,
  jobs,
}: World): string[] {
  const revision = inputs.flatMap(({ revision: one, outcome }) =>
    one === null ? [] : [`${one.kind} ${outcome.kind}`],
  );
  const written = settings.map(({ version }) => (version === null ? 'settings refused' : 'settings taken'));
  const judged = decisions.map(
    ({ decision, word, remember, outcome }) =>
      `${decision}${word === null ? '' : ' edited'}${remember ? ' remembered' : ''} ${outcome.kind}`,
  );
  const made = jobs.filter(({ parent_tool_call_id: id }) => id !== null);
  const answered = calls.filter(({ asked }) => asked).map(({ status }) => `question ${status}`);
  return [
    `  branches: ${counted([...changes.map(({ kind, outcome }) => `${kind} ${outcome}`), ...revision])}`,
    `  compactions: ${counted([...compacts.map(({ outcome }) => `requested, ${outcome}`), ...compactions.map(({ type }) => `${type} made`)])}`,
    `  settings and questions: ${counted([...written, ...answered, ...replies.map(({ outcome }) => `answer ${outcome.kind}`)])}`,
    `  decisions: ${counted(judged)}`,
    `  workers made: ${counted(made.map(({ status }) => status))}; reports: ${jobs.filter(({ notice_of_job_id: id }) => id !== null).length}`,
  ];
}

function scheduleLines({ schedules: { made, runs } }: World): string[] {
  const kinds = runs.map(({ occurrence, status }) => (occurrence === null ? 'manual' : status));
  const pauses = made.reduce((sum, one) => sum + one.pauses.length, 0);
  return [`  schedules: ${made.length}, paused ${pauses} times; runs: ${counted(kinds)}`];
}

function webhookLines({ webhooks: { arrivals, stored } }: World): string[] {
  const accepted = arrivals.map(({ hook, accepted: at }) => `${at === null ? 'not ' : ''}accepted by ${hook}`);
  return [`  webhooks: ${stored.length} deliveries; requests: ${counted(accepted)}`];
}

function serviceLines({ service: { sales, tours, orders } }: World): string[] {
  const lines = tours.flatMap((tour) => tour.lines);
  const ran = lines.filter((line) => line.startsWith('ran:')).length;
  const stored = tours.reduce((sum, tour) => sum + Object.keys(tour.stored).length, 0);
  const relayed = orders.relayedMs === null ? 'not all relayed' : `all relayed ${seconds(orders.relayedMs)} later`;
  return [
    `  transactional calls: ${counted(sales.calls.map(({ status }) => status))}; rows: ${sales.rows.length}`,
    `  calls with steps: ${counted(tours.map(({ status }) => status))}; ${stored} steps stored, ${ran} runs of steps`,
    `  outbox: ${orders.made.length} transactions, ${orders.committed.length} committed, ${relayed}; refused: ${counted(orders.submissions.map(({ code, status }) => code ?? status)) || 'none'}`,
  ];
}

function repairLines({ operated: { pauses, drains, claims }, repairs: { batches, replays, stored } }: World): string[] {
  const lost = batches.filter(({ isLost }) => isLost).length;
  const retries = stored.jobs.filter(({ kind, tag }) => kind === 'retry' && tag !== null).length;
  const keys = batches.flatMap(({ answers }) => answers).length;
  const started = replays.filter(({ jobId }) => jobId !== null).map(({ kind }) => kind);
  return [
    `  operator: ${pauses.length} pauses, ${drains.length} drains; ${claims.length} claims noted`,
    `  bulk retries: ${batches.length} batches under ${keys} keys, ${lost} answers lost and ${keys} requests repeated, ${retries} retries`,
    `  replays: ${counted(started) || 'none'}`,
  ];
}

function streamLines({ streams, messages }: World): string[] {
  if (streams.length === 0) return [];
  const connections = streams.reduce((sum, one) => sum + one.connections, 0);
  const events = streams.reduce((sum, one) => sum + one.events.length, 0);
  const { whole, part } = receivedWhole({ streams, messages });
  return [
    `  streams: ${streams.length} clients over ${connections} connections, ${events} events; of ${whole + part} answers followed live ${whole} complete`,
  ];
}

function lineOf({ check, what, contextId, ids }: Violation): string {
  return `[${check}] ${what}${contextId === null ? '' : ` (context ${contextId})`}${ids.length === 0 ? '' : `: ${ids.join(' ')}`}`;
}

/** Everything that may be needed: the violations, the faults, and the story of each context that a violation names. */
export function writeStories(folder: string, { violations, world, options }: Outcome): void {
  const write = (name: string, value: unknown): void =>
    writeFileSync(path.join(folder, name), `${JSON.stringify(value, null, 1)}\n`);
  write('options.json', options);
  write('faults.json', world.faults);
  write('violations.json', violations);
  if (violations.length > 0) write('inputs.json', world.inputs);
  const named = new Set(violations.flatMap(({ contextId }) => (contextId === null ? [] : [contextId])));
  for (const id of [...named].slice(0, WRITTEN)) write(`context-${id}.json`, historyOf(world, id));
}

function historyOf(world: World, id: string): object {
  const own = <T extends { context_id: string }>(list: readonly T[]): T[] =>
    list.filter((one) => one.context_id === id);
  const calls = own(world.calls);
  const keys = new Set(calls.map((call) => call.id));
  return {
    context: world.contexts.find((context) => context.id === id),
    inputs: world.inputs.filter(({ contextId }) => contextId === id),
    interrupts: world.interrupts.filter(({ contextId }) => contextId === id),
    stops: world.stops.filter(({ contextId }) => contextId === id),
    decisions: world.decisions.filter(({ contextId }) => contextId === id),
    replies: world.replies.filter(({ contextId }) => contextId === id),
    changes: world.changes.filter(({ contextId }) => contextId === id),
    settings: world.settings.filter(({ contextId }) => contextId === id),
    compacts: world.compacts.filter(({ contextId }) => contextId === id),
    compactions: own(world.compactions),
    branches: own(world.branches),
    jobs: own(world.jobs),
    history: [...own(world.messages), ...own(world.events)].sort((a, b) => (a.seq ?? Infinity) - (b.seq ?? Infinity)),
    calls,
    sales: world.service.sales.rows.filter((callId) => keys.has(callId)),
    tours: world.service.tours.filter(({ contextId }) => contextId === id),
    orders: world.service.orders.made.filter(({ contextId }) => contextId === id),
    outside: world.outside.filter(({ key }) => keys.has(key)),
    returned: world.returned.find(({ contextId }) => contextId === id),
    streams: world.streams.filter(({ contextId }) => contextId === id),
  };
}

function counted(words: readonly string[]): string {
  return [...groupBy(words, (one) => one)].map(([name, list]) => `${list.length} ${name}`).join(', ');
}

function spread(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): string => seconds(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);
  return `${at(0.5)} (median), ${at(0.95)} (p95), ${at(1)} (longest)`;
}
