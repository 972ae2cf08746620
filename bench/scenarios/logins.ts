/**
 * What row security costs: the same requests and runs with one login that owns the tables, and with a limited login of
 * the API and one of the worker process. Both systems take turns on the same services.
 */
import { freePort } from '../../src/dev/free-port.ts';
import { migrate } from '../../src/db/setup/migrate.ts';
import { makeLogins, withLogins } from '../../test/services/logins.ts';
import { untilEnded, type Bench, type Scenario } from '../bench.ts';
import { alone, median, type Figure } from '../figures.ts';
import type { Answer, Request } from '../load/protocol.ts';
import { nightshiftWith } from '../nightshift/system.ts';
import { SCRIPT } from '../provider/script.ts';
import { inputFor, openSystem, type System } from '../system.ts';
import { monotonic } from '../talk.ts';
import { cpuSeconds } from '../usage.ts';

const KEY = 'bench-key-of-the-tenant-acme';
const AT_ONCE = 16;
/** A search takes longer than other requests. CPU is counted in steps of 10 ms: 1,000 searches tell 0.01 ms. */
const READS_PER_SEARCH = 2;

const LOGINS = ['one', 'limited'] as const;
type Login = (typeof LOGINS)[number];
/** Of a round. In milliseconds of CPU per request, and steps per second. */
type Round = Readonly<Record<string, number>>;
type Subject = { login: Login; system: System; rounds: Round[] };

const POSTED = 'an input posted';
const STEPS = 'steps/s';

export const logins: Scenario = {
  about: 'what a limited login of the API costs: CPU per request, and steps per second',
  async run(bench) {
    const subjects: Subject[] = [];
    try {
      for (const login of LOGINS) subjects.push({ login, system: await open(bench, login), rounds: [] });
      for (const { system } of subjects) await system.startWorker(100);
      // The first round warms up.
      for (let count = 0; count <= bench.rounds; count += 1) await playRound(bench, subjects, count);
      return figuresOf(subjects);
    } finally {
      for (const { system } of subjects) await system.stop();
    }
  },
};

async function open(bench: Bench, login: Login): Promise<System> {
  const { providerUrl, format, profile, services } = bench;
  const place = await services.place(`logins_${login}`);
  const kind = nightshiftWith({
    NIGHTSHIFT_API_KEYS: `${KEY}:acme`,
    ...(login === 'one' ? {} : await limitedAt(place.databaseUrl)),
  });
  return openSystem(kind, { place, providerUrl, format, profile }, await freePort(), bench.load);
}

async function limitedAt(databaseUrl: string): Promise<Record<string, string>> {
  await migrate(databaseUrl);
  await makeLogins(databaseUrl);
  const { api, worker } = await withLogins(databaseUrl);
  return { DATABASE_URL: worker, NIGHTSHIFT_API_DATABASE_URL: api };
}

/** The order changes from round to round. */
async function playRound(bench: Bench, subjects: readonly Subject[], count: number): Promise<void> {
  await bench.provider.ask('play', {});
  for (const { login, system, rounds } of count % 2 === 0 ? subjects : subjects.toReversed()) {
    const round = await measure(bench, system);
    if (count > 0) rounds.push(round);
    const told = Object.entries(round).map(([name, value]) => `${name} ${value.toFixed(3)}`);
    bench.say(`${count === 0 ? 'warm-up, ' : ''}${login} login: ${told.join(', ')}`);
  }
}

async function measure(bench: Bench, system: System): Promise<Round> {
  const create: Request = { method: 'POST', path: '/api/contexts', body: system.newContext() };
  const contexts = (await send(bench, system, times(bench.runs, create))).map((answer) => textOf(answer, 'id'));
  const began = monotonic();
  const posts = await measured(bench, system, contexts.map(inputFor));
  await untilEnded(bench, system, contexts);
  const seconds = (monotonic() - began) / 1_000;
  const job = posts.answers.map((answer) => textOf(answer, 'job_id')).at(-1) ?? '';
  const reads: Record<string, Request[]> = {
    'a job read': times(bench.runs, get(`/api/jobs/${job}`)),
    'contexts listed': times(bench.runs, get('/api/contexts?limit=20')),
    'a search': times(Math.ceil(bench.runs / READS_PER_SEARCH), get('/api/search?q=rooms')),
  };
  const round: Record<string, number> = { [POSTED]: posts.cpuMs };
  for (const [name, requests] of Object.entries(reads)) round[name] = (await measured(bench, system, requests)).cpuMs;
  return { ...round, [STEPS]: (bench.runs * SCRIPT.steps) / seconds };
}

/** `cpuMs`: CPU of the API process for each request. */
async function measured(
  bench: Bench,
  system: System,
  requests: Request[],
): Promise<{ answers: Answer[]; cpuMs: number }> {
  const before = cpuSeconds(system.api.pid);
  const answers = await send(bench, system, requests);
  return { answers, cpuMs: ((cpuSeconds(system.api.pid) - before) * 1_000) / requests.length };
}

async function send({ load }: Bench, { url }: System, requests: Request[]): Promise<Answer[]> {
  const authorized = requests.map((request) => ({ ...request, apiKey: KEY }));
  const answers = await load.ask('send', { url, requests: authorized, atOnce: AT_ONCE, gapMs: 0 });
  const refused = answers.find(({ status }) => status >= 400);
  if (refused !== undefined) throw new Error(`A request was answered with ${refused.status}.`);
  return answers;
}

function figuresOf(subjects: readonly Subject[]): Figure[] {
  const [one, limited] = LOGINS.map((login) => subjects.find((subject) => subject.login === login)?.rounds ?? []);
  const of = (rounds: readonly Round[] | undefined, name: string): number =>
    median((rounds ?? []).map((round) => round[name] ?? Number.NaN));
  return Object.keys(one?.[0] ?? {}).flatMap((name) => {
    const [before, after] = [of(one, name), of(limited, name)];
    if (name === STEPS)
      return [
        alone('steps with one login', '1/s', before),
        alone('steps with limited logins, in proportion', '×', after / before, {
          of: 'value',
          is: 'at least',
          bound: 0.97,
        }),
      ];
    return [
      alone(`${name}, one login`, 'ms CPU of the API', before),
      alone(`${name}, more with a limited login`, 'ms CPU of the API', after - before, {
        of: 'value',
        is: 'at most',
        bound: 0.1,
      }),
    ];
  });
}

const get = (path: string): Request => ({ method: 'GET', path, body: null });
const times = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);

function textOf({ body }: Answer, name: string): string {
  const value =
    typeof body === 'object' && body !== null ? Object.entries(body).find(([key]) => key === name)?.[1] : null;
  if (typeof value !== 'string') throw new Error(`An answer has no ${name}.`);
  return value;
}
