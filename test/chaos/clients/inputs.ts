// Inputs of various shapes, as scripts for the simulated model, and the expected result of each.
import type { FinishedStatus } from '../../../src/core/run/job.ts';
import { ASK_USER } from '../../../src/core/conversation/question.ts';
import type { Random } from '../random.ts';
import { SELL, TOUR } from '../service-tools.ts';

export type Shape =
  | 'plain'
  | 'tools'
  | 'once'
  | 'sold'
  | 'toured'
  | 'steps'
  | 'retried'
  | 'delayed'
  | 'slow'
  | 'refused'
  | 'limited'
  | 'late'
  | 'endless'
  | 'asking'
  | 'guarded'
  | 'spawning'
  | 'hopeless'
  | 'awaiting';

/** One model call: its tool calls, in order, and whether it gives the last answer. */
export type Play = { calls: string[]; last: boolean };

export type Script = {
  shape: Shape;
  text: string;
  /** The model's answers, call by call, without inputs in between and without a limit. */
  plays: Play[];
  /** How the job may end without a request. */
  ends: FinishedStatus[];
  maxSteps: number | null;
  /** Milliseconds from the first request. */
  deadlineMs: number | null;
  /** Workers that it makes, each with a script of its own. */
  children: Child[];
};

export type Child = { tag: string; wait: boolean; detached: boolean; script: Script };

const SHAPES: readonly { shape: Exclude<Shape, 'awaiting'>; weight: number }[] = [
  { shape: 'plain', weight: 4 },
  { shape: 'tools', weight: 4 },
  { shape: 'once', weight: 5 },
  { shape: 'sold', weight: 4 },
  { shape: 'toured', weight: 3 },
  { shape: 'steps', weight: 3 },
  { shape: 'retried', weight: 2 },
  // A Retry-After throttles all calls of the tenant: a few of these are enough.
  { shape: 'delayed', weight: 0.2 },
  { shape: 'slow', weight: 3 },
  { shape: 'refused', weight: 0.5 },
  { shape: 'limited', weight: 0.5 },
  { shape: 'late', weight: 0.5 },
  { shape: 'endless', weight: 0.7 },
  { shape: 'asking', weight: 3 },
  { shape: 'guarded', weight: 4 },
  { shape: 'spawning', weight: 4 },
  { shape: 'hopeless', weight: 0.7 },
];

/** Jobs with limits or an end of their own, and those that delegate to workers. */
const ALONE: readonly Shape[] = ['limited', 'late', 'endless', 'spawning', 'hopeless'];
/** Inputs for a worker that another one made. */
const OF_CHILDREN: readonly Exclude<Shape, 'awaiting'>[] = [
  'plain',
  'tools',
  'once',
  'sold',
  'toured',
  'steps',
  'retried',
  'slow',
  'refused',
];
const MAKING: readonly Shape[] = ['spawning', 'hopeless'];
/** The maximum depth. */
const DEPTH = 3;

/** The last answer to an input. No other answer contains it. */
export function word(tag: string): string {
  return `answered ${tag}.`;
}

/** The tag of a parent notice on a job. */
export function reportTag(jobId: string): string {
  return `report-${jobId}`;
}

/** The tag of the input that a text is the last answer to; null: of none. A notice is its own last answer. */
export function tagIn(text: string): string | null {
  const report = /^(?:\[simulated\] You said: )?Report: job (\S+) of worker/.exec(text)?.[1];
  if (report !== undefined) return reportTag(report);
  return /answered (\S+)\.$/.exec(text)?.[1] ?? null;
}

/** `joins`: it may join a running job, whose limits then are not its own. */
export function write(
  tag: string,
  random: Random,
  joins: boolean,
  mayAsk = true,
  maySpawn = true,
  mayGuard = true,
): Script {
  const shapes = SHAPES.filter(
    ({ shape }) =>
      !(joins && ALONE.includes(shape)) &&
      (mayAsk || shape !== 'asking') &&
      (maySpawn || !MAKING.includes(shape)) &&
      (mayGuard || shape !== 'guarded'),
  );
  return SCRIPTS[random.weighted(shapes).shape](tag, random);
}

/** Tools of test/e2e/outside/outside-tools.ts. */
const HARMLESS = ['look', 'put'] as const;
/** A tool that needs approval. */
export const GUARD = 'guard';
/** Built-in tools by which workers make others, and wait for them. */
export const SPAWN = 'spawn_worker';
export const WAIT = 'wait_for_workers';

const ONCE = ['mail', 'pay', 'wire', 'wire'] as const;

const SCRIPTS: Readonly<Record<Exclude<Shape, 'awaiting'>, (tag: string, random: Random) => Script>> = {
  plain: (tag) => script('plain', [], tag),
  tools: (tag, random) => {
    const calls = Array.from({ length: random.between(1, 3) }, () => call(random.pick(HARMLESS), random));
    return script('tools', [{ calls }], tag);
  },
  once: (tag, random) => {
    const calls = [
      call(random.pick(ONCE), random),
      ...(random.chance(0.5) ? [call(random.pick(HARMLESS), random)] : []),
    ];
    return script('once', [{ calls }], tag);
  },
  /** Rows of the service. Some calls fail after they have written. */
  sold: (tag, random) => {
    const calls = Array.from({ length: random.between(1, 3) }, () => sale(random));
    return script('sold', [{ calls: [...calls, ...(random.chance(0.3) ? [tour(random)] : [])] }], tag);
  },
  toured: (tag, random) => script('toured', [{ calls: [tour(random)] }], tag),
  steps: (tag, random) => {
    const steps = Array.from({ length: random.between(2, 4) }, () => ({
      before: `say: on the way\nwait: ${random.between(0, 400)}ms`,
      calls: [call(random.pick([...HARMLESS, ...ONCE]), random)],
    }));
    return script('steps', steps, tag);
  },
  retried: (tag, random) => {
    const failure = random.pick(['server_error', 'unreachable', 'stream_interrupted']);
    return script('retried', [], tag, `fail: ${failure} times ${random.between(1, 2)}`);
  },
  delayed: (tag, random) =>
    script('delayed', [], tag, `fail: rate_limited retry-after ${random.between(2_100, 3_500)}ms times 1`),
  slow: (tag, random) => {
    const words = random.between(40, 200);
    return script('slow', [], tag, `tokens: ${words} over ${random.between(500, 3_500)}ms`);
  },
  refused: (tag) => ({ ...script('refused', [], tag, 'fail: bad_request'), plays: [], ends: ['failed'] }),
  limited: (tag, random) => ({
    ...script('limited', [{ calls: [call(random.pick(HARMLESS), random)] }], tag),
    ends: ['incomplete'],
    maxSteps: 1,
  }),
  late: (tag) => ({
    ...script('late', [], tag, 'wait: 1m'),
    ends: ['incomplete'],
    deadlineMs: 1_500,
  }),
  /** Ends only by a request. */
  endless: (tag) => ({ ...script('endless', [], tag, 'wait: 10m'), ends: [] }),
  /** Ends only by answers: once, or one question after the other. */
  asking: (tag, random) => {
    const steps = Array.from({ length: random.between(1, 2) }, (_, at) => ({
      calls: [
        { name: ASK_USER, line: `call: ${ASK_USER} ${JSON.stringify({ question: `${tag}, ${at + 1}?` })}` },
        ...(random.chance(0.4) ? [call(random.pick([...HARMLESS, ...ONCE]), random)] : []),
      ],
    }));
    return script('asking', steps, tag);
  },
  /** Ends only by decisions on its calls. */
  guarded: (tag, random) => {
    const steps = Array.from({ length: random.between(1, 2) }, (_, step) => ({
      calls: [
        ...Array.from({ length: random.between(1, 2) }, (__, at) => ({
          name: GUARD,
          line: `call: ${GUARD} ${JSON.stringify({ word: `${tag}-${step}-${at}` })}`,
        })),
        ...(random.chance(0.4) ? [call(random.pick([...HARMLESS, ...ONCE]), random)] : []),
      ],
    }));
    return script('guarded', steps, tag);
  },
  spawning: (tag, random) => spawning(tag, random, 1),
  /** Waits for a worker that never ends by itself; ends only by a request. */
  hopeless: (tag, random) => ({
    ...parent('hopeless', tag, [{ ...childOf(`${tag}/1`, SCRIPTS.endless(`${tag}/1`, random)), wait: true }]),
  }),
};

/** Short: a script in a script in a script has to fit into a small context. */
const OF_GRANDCHILDREN = ['plain', 'once', 'refused'] as const;

/** Several workers at once, some of which make others; beside them a `once` tool. */
function spawning(tag: string, random: Random, depth: number): Script {
  const children = Array.from({ length: random.between(1, depth === 1 ? 2 : 1) }, (_, at): Child => {
    const own = `${tag}/${at + 1}`;
    const deeper = depth < DEPTH && random.chance(0.3);
    const made = deeper
      ? spawning(own, random, depth + 1)
      : SCRIPTS[random.pick(depth === 1 ? OF_CHILDREN : OF_GRANDCHILDREN)](own, random);
    return { ...childOf(own, made), wait: random.chance(0.6), detached: random.chance(0.15) };
  });
  return parent('spawning', tag, children, random.chance(0.4) ? [call(random.pick(ONCE), random)] : []);
}

function childOf(tag: string, made: Script): Child {
  return { tag, wait: false, detached: false, script: made };
}

function parent(shape: Shape, tag: string, children: Child[], beside: readonly Call[] = []): Script {
  const calls = children.map(({ tag: name, wait, detached, script: { text: input } }) => ({
    name: SPAWN,
    line: `call: ${SPAWN} ${JSON.stringify({ input, name, wait, detached })}`,
  }));
  return { ...script(shape, [{ calls: [...calls, ...beside] }], tag), children };
}

/** A row of the service, and a call with steps. */
export function soldScript(tag: string, random: Random): Script {
  return script('sold', [{ calls: [sale(random, 0), tour(random)] }], tag);
}

/** One answer, without tools. */
export function plainScript(tag: string): Script {
  return script('plain', [], tag);
}

/** Waits for these, and then gives the last answer. */
export function waitScript(tag: string, waitFor: object): Script {
  const line = `call: ${WAIT} ${JSON.stringify(waitFor)}`;
  return script('awaiting', [{ calls: [{ name: WAIT, line }] }], tag);
}

type Call = { name: string; line: string };

function call(name: string, random: Random): Call {
  // A wire takes some time, so that processes die during it.
  const slow = name === 'wire' ? 30 : 1;
  const times = { before_ms: slow * random.between(0, 150), after_ms: slow * random.between(0, 80) };
  return { name, line: `call: ${name} ${JSON.stringify(times)}` };
}

function sale(random: Random, failing = 0.2): Call {
  // A second is long enough that processes die while the transaction is open.
  const times = { before_ms: random.between(0, 300), after_ms: random.between(0, 1_000) };
  const input = { ...times, ...(random.chance(failing) && { fails: true }) };
  return { name: SELL, line: `call: ${SELL} ${JSON.stringify(input)}` };
}

function tour(random: Random): Call {
  return { name: TOUR, line: `call: ${TOUR} ${JSON.stringify({ step_ms: random.between(200, 1_500) })}` };
}

/** `before` comes before the last answer. */
function script(
  shape: Shape,
  steps: readonly { before?: string; calls: readonly Call[] }[],
  tag: string,
  before = '',
): Script {
  const texts = steps.map((step) =>
    [...(step.before === undefined ? [] : [step.before]), ...step.calls.map(({ line }) => line)].join('\n'),
  );
  const last = `${before === '' ? '' : `${before}\n`}say: ${word(tag)}`;
  return {
    shape,
    text: [...texts, last].join('\n---\n'),
    plays: [
      ...steps.map(({ calls }) => ({ calls: calls.map(({ name }) => name), last: false })),
      { calls: [], last: true },
    ],
    ends: ['completed'],
    maxSteps: null,
    deadlineMs: null,
    children: [],
  };
}
