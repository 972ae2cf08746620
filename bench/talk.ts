/**
 * Request and response messages between the benchmark and its child processes (`fork`). Both ends are in this
 * repository, so messages are not validated.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

type Asked = { id: number; question: unknown };
type Answered = { id: number; answer: unknown } | { id: number; error: string };

/** The requests that a child process answers, by name. */
export type Protocol = Record<string, { asks: unknown; answers: unknown }>;

export type Companion<P extends Protocol> = {
  pid: number;
  ask<Name extends keyof P & string>(name: Name, asks: P[Name]['asks']): Promise<P[Name]['answers']>;
  end(): Promise<void>;
};

/** Starts `program`, a path relative to this folder. */
export function startCompanion<P extends Protocol>(program: string): Companion<P> {
  const child = fork(path.join(import.meta.dirname, program), { serialization: 'advanced' });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${program} did not start`);
  const open = new Map<number, { resolve: (answer: unknown) => void; reject: (error: Error) => void }>();
  let asked = 0;
  child.on('message', (message) => {
    const answered = message as Answered;
    const waiting = open.get(answered.id);
    open.delete(answered.id);
    if ('error' in answered) waiting?.reject(new Error(`${program}: ${answered.error}`));
    else waiting?.resolve(answered.answer);
  });
  const exited = once(child, 'exit').then(() => {
    for (const { reject } of open.values()) reject(new Error(`${program} has ended`));
  });
  return {
    pid,
    ask: (name, asks) =>
      new Promise((resolve, reject) => {
        asked += 1;
        open.set(asked, { resolve, reject });
        child.send({ id: asked, question: { name, asks } }, (error) => {
          if (error !== null) reject(error);
        });
      }),
    async end() {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}

/** The child's end: answers until the parent disconnects, then exits. */
export function answerQuestions<P extends Protocol>(answers: {
  [Name in keyof P]: (asks: P[Name]['asks']) => Promise<P[Name]['answers']> | P[Name]['answers'];
}): void {
  // The parent may have exited.
  const reply = (answered: Answered): void => void process.send?.(answered, undefined, undefined, () => undefined);
  process.on('message', (message) => {
    const { id, question } = message as Asked & { question: { name: keyof P; asks: never } };
    Promise.resolve()
      .then(() => answers[question.name](question.asks))
      .then(
        (answer) => reply({ id, answer }),
        (error: unknown) => reply({ id, error: String(error) }),
      );
  });
  process.on('disconnect', () => process.exit(0));
  // A terminal sends Ctrl-C to all processes; only the parent decides when to stop.
  process.on('SIGINT', () => undefined);
}

/** Milliseconds of the monotonic clock of the machine, the same in all processes. */
export function monotonic(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
