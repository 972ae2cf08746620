// A tool of several steps goes on where it was, wherever its process dies.
import { beforeAll, expect, test } from 'vitest';
import { defineTool } from '../../src/index.ts';
import { given, settings, text, tool, toolUse } from '../core/builders.ts';
import { runnerOf } from '../tools/invoke.ts';
import { play, type Port, type Rig, type RigOptions } from './rig.ts';

const NAMES = ['reserve', 'pay', 'ship', 'mail'];

/** How often each step ran to its end, and with which keys. */
type Ran = Map<string, string[]>;

/** A job whose model calls a tool of four steps, two of which run at the same time. */
async function playSteps(options: RigOptions = {}): Promise<{ rig: Rig; ran: Ran }> {
  const ran: Ran = new Map(NAMES.map((name) => [name, []]));
  const execute: RigOptions['execute'] = (call, signal, services, pass) => {
    const work = defineTool({
      name: 'work',
      description: 'd',
      effect: 'idempotent',
      input_schema: { type: 'object' },
      async execute(_, { step }) {
        const run = (name: string, after: string) =>
          step(name, async ({ idempotency_key }) => {
            await pass('a step runs');
            ran.get(name)?.push(idempotency_key);
            return `${after}>${name}`;
          });
        const reserved = await run('reserve', '');
        const [paid, shipped] = await Promise.all([run('pay', reserved), run('ship', reserved)]);
        return run('mail', `${paid} ${shipped}`);
      },
    });
    return runnerOf([work]).execute(call, signal, services);
  };
  const rig = await play({
    settings: settings({ tools: [tool('work', 'idempotent')] }),
    answer: ({ messages }) => {
      const isFirst = messages.length === 1;
      const content = isFirst ? [toolUse(900, 'work')] : [text('done')];
      return { kind: 'done', answer: given({ content, finishReason: isFirst ? 'tool_use' : 'stop' }) };
    },
    execute,
    ...options,
  });
  return { rig, ran };
}

const WHOLE = ['u1 user: go', 'a1 assistant: →work', 'a1 tool: ←>reserve>pay >reserve>ship>mail', 'a1 assistant: done'];

/** The whole transcript; each step ran, with one key, and only the steps in `again` more than once. */
function expectWhole({ rig, ran }: { rig: Rig; ran: Ran }, deaths: number): void {
  expect(rig.store.transcript()).toEqual(WHOLE);
  for (const keys of ran.values()) {
    expect(new Set(keys).size).toBe(1);
    expect(keys.length).toBeLessThanOrEqual(1 + deaths);
  }
  const runs = [...ran.values()].reduce((sum, keys) => sum + keys.length, 0);
  // A death loses at most the two steps that run at the same time.
  expect(runs).toBeLessThanOrEqual(NAMES.length + 2 * deaths);
}

let portCalls = 0;
let ports: Port[] = [];
beforeAll(async () => {
  const whole = await playSteps({ at: ({ port }) => void ports.push(port) });
  expectWhole(whole, 0);
  portCalls = whole.rig.portCalls;
});

test('each step is read once, runs, and is stored', () => {
  const count = (port: Port): number => ports.filter((one) => one === port).length;
  expect(count('steps are read')).toBe(1);
  expect(count('a step runs')).toBe(4);
  expect(count('after a step is stored')).toBe(4);
});

test('death at every port call', async () => {
  for (let k = 1; k <= portCalls; k += 1) {
    let port = '';
    const played = await playSteps({
      at: (portCall) => {
        if (portCall.count !== k) return undefined;
        port = portCall.port;
        return 'dies';
      },
    });
    try {
      expectWhole(played, 1);
    } catch (error) {
      throw new Error(`at port call ${k}, ${port}`, { cause: error });
    }
  }
});

test('death at any two port calls', async () => {
  for (let first = 1; first <= portCalls; first += 1) {
    for (let second = 1; second <= 16; second += 1) {
      const at: RigOptions['at'] = ({ count }) => (count === first || count === first + second ? 'dies' : undefined);
      expectWhole(await playSteps({ at }), 2);
    }
  }
});

test('a cancelled job begins and stores no further step', async () => {
  for (const port of ['a step runs', 'before a step is stored', 'after a step is stored'] as const) {
    const { rig, ran } = await playSteps({
      at: ({ port: now, rig: { store }, signals }) => {
        if (now !== port || store.current.job?.stopRequest !== null) return;
        store.cancel();
        signals.notify();
      },
    });
    expect([...rig.store.outcomes.values()]).toMatchObject([{ status: 'cancelled' }]);
    const [stored] = [...rig.steps.values()];
    expect([...(stored?.keys() ?? [])]).toEqual(port === 'after a step is stored' ? ['reserve'] : []);
    expect(ran.get('pay')).toEqual([]);
  }
});
