// Inputs of various shapes, as scripts for the simulated model, and what has to come of each.
import type { FinishedStatus } from '../../src/core/job.ts';
import type { Dice } from './random.ts';

export type Shape =
  | 'plain'
  | 'tools'
  | 'once'
  | 'steps'
  | 'retried'
  | 'delayed'
  | 'slow'
  | 'refused'
  | 'limited'
  | 'late'
  | 'endless';

/** One model call: which tools it asks for, in order, and whether it has the last word. */
export type Play = { calls: string[]; last: boolean };

export type Script = {
  shape: Shape;
  text: string;
  /** What the model does, call by call, where nothing comes in between. */
  plays: Play[];
  /** How the job may end where nobody asks it to. */
  ends: FinishedStatus[];
  maxSteps: number | null;
  /** Milliseconds from the first request. */
  deadlineMs: number | null;
};

const SHAPES: readonly { shape: Shape; weight: number }[] = [
  { shape: 'plain', weight: 4 },
  { shape: 'tools', weight: 4 },
  { shape: 'once', weight: 5 },
  { shape: 'steps', weight: 3 },
  { shape: 'retried', weight: 2 },
  // A provider that wants to be asked later holds all of its callers back: a few of these go a long way.
  { shape: 'delayed', weight: 0.2 },
  { shape: 'slow', weight: 3 },
  { shape: 'refused', weight: 0.5 },
  { shape: 'limited', weight: 0.5 },
  { shape: 'late', weight: 0.5 },
  { shape: 'endless', weight: 0.7 },
];

const HAVE_LIMITS: readonly Shape[] = ['limited', 'late', 'endless'];

/** The last word on an input. No other answer says it. */
export function word(tag: string): string {
  return `answered ${tag}.`;
}

/** The tag of the input that a text has the last word on; null: of none. */
export function tagIn(text: string): string | null {
  return /answered (\S+)\.$/.exec(text)?.[1] ?? null;
}

/** `joins`: it may join a job that runs, whose limits then are not its own. */
export function write(tag: string, dice: Dice, joins: boolean): Script {
  const shapes = joins ? SHAPES.filter(({ shape }) => !HAVE_LIMITS.includes(shape)) : SHAPES;
  return SCRIPTS[dice.weighted(shapes).shape](tag, dice);
}

/** Tools of test/e2e/outside-tools.ts. */
const HARMLESS = ['look', 'put'] as const;
const ONCE = ['mail', 'pay'] as const;

const SCRIPTS: Readonly<Record<Shape, (tag: string, dice: Dice) => Script>> = {
  plain: (tag) => script('plain', [], tag),
  tools: (tag, dice) => {
    const calls = Array.from({ length: dice.between(1, 3) }, () => call(dice.pick(HARMLESS), dice));
    return script('tools', [{ calls }], tag);
  },
  once: (tag, dice) => {
    const calls = [
      call(dice.pick(ONCE), dice),
      ...(dice.chance(0.5) ? [call(dice.pick(HARMLESS), dice)] : []),
    ];
    return script('once', [{ calls }], tag);
  },
  steps: (tag, dice) => {
    const steps = Array.from({ length: dice.between(2, 4) }, () => ({
      before: `say: on the way\nwait: ${dice.between(0, 400)}ms`,
      calls: [call(dice.pick([...HARMLESS, ...ONCE]), dice)],
    }));
    return script('steps', steps, tag);
  },
  retried: (tag, dice) => {
    const failure = dice.pick(['server_error', 'unreachable', 'stream_cut']);
    return script('retried', [], tag, `fail: ${failure} times ${dice.between(1, 2)}`);
  },
  delayed: (tag, dice) =>
    script('delayed', [], tag, `fail: rate_limited retry-after ${dice.between(2_100, 3_500)}ms times 1`),
  slow: (tag, dice) => {
    const words = dice.between(40, 200);
    return script('slow', [], tag, `tokens: ${words} over ${dice.between(500, 3_500)}ms`);
  },
  refused: (tag) => ({ ...script('refused', [], tag, 'fail: bad_request'), plays: [], ends: ['failed'] }),
  limited: (tag, dice) => {
    const { plays, ...rest } = script('limited', [{ calls: [call(dice.pick(HARMLESS), dice)] }], tag);
    return { ...rest, plays: plays.slice(0, 1), ends: ['incomplete'], maxSteps: 1 };
  },
  late: (tag) => ({
    ...script('late', [], tag, 'wait: 1m'),
    plays: [],
    ends: ['incomplete'],
    deadlineMs: 1_500,
  }),
  /** Ends only where somebody wants it to. */
  endless: (tag) => ({ ...script('endless', [], tag, 'wait: 10m'), plays: [], ends: [] }),
};

type Call = { name: string; line: string };

function call(name: string, dice: Dice): Call {
  const times = { before_ms: dice.between(0, 150), after_ms: dice.between(0, 80) };
  return { name, line: `call: ${name} ${JSON.stringify(times)}` };
}

/** `before` stands before the last word. */
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
  };
}
