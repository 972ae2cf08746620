// The parameters of a run: the options of `npm run chaos`.
import { parseArgs } from 'node:util';

export type ChaosOptions = {
  seed: number;
  inputs: number;
  faults: number;
  /** The time over which both are spread. */
  minutes: number;
  workers: number;
  apis: number;
  contexts: number;
  /** Clients that follow an event stream each. */
  streams: number;
  /** From the last fault until everything has to be idle. */
  settleSeconds: number;
  /** API and worker processes have logins of their own, and row security limits that of the API. */
  logins: boolean;
};

export const USAGE = `npm run chaos -- [options]

  --seed n       the random seed (printed; default: any)
  --inputs n     inputs to post (1000)
  --faults n     faults to strike with (60)
  --minutes n    the time over which both are spread (4)
  --workers n    worker processes (3)
  --apis n       API processes (2)
  --contexts n   contexts (one for 20 inputs, at least 10, at most 250)
  --streams n    clients that follow event streams (one for 25 inputs, at most 200)
  --settle n     seconds from the last fault until all must be idle (120)
  --[no-]logins  API and worker processes with logins of their own (for two seeds of five)`;

/** Throws with a message for users. */
export function parseOptions(args: readonly string[], anySeed: number): ChaosOptions {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    allowNegative: true,
    options: {
      seed: text,
      inputs: text,
      faults: text,
      minutes: text,
      workers: text,
      apis: text,
      contexts: text,
      streams: text,
      settle: text,
      logins: { type: 'boolean' },
    },
  });
  const number = (name: Exclude<keyof typeof values, 'logins'>, otherwise: number, least: number): number => {
    const given = values[name];
    const value = given === undefined ? otherwise : Number(given);
    if (Number.isFinite(value) && value >= least) return value;
    throw new Error(`--${name} must be a number of at least ${least}`);
  };
  const inputs = number('inputs', 1_000, 1);
  const seed = number('seed', anySeed, 0);
  return {
    seed,
    inputs,
    faults: number('faults', 60, 0),
    minutes: number('minutes', 4, 0.1),
    workers: number('workers', 3, 1),
    apis: number('apis', 2, 1),
    contexts: number('contexts', contextsFor(inputs), 1),
    streams: number('streams', streamsFor(inputs), 0),
    settleSeconds: number('settle', 120, 1),
    logins: values.logins ?? hasLogins(seed),
  };
}

/** Whether processes have logins of their own, unless it is said. */
export function hasLogins(seed: number): boolean {
  return seed % 5 < 2;
}

export function contextsFor(inputs: number): number {
  return Math.min(250, Math.max(10, Math.round(inputs / 20)));
}

export function streamsFor(inputs: number): number {
  return Math.min(200, Math.round(inputs / 25));
}
