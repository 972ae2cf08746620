/**
 * Writes of a client after a long history: inputs, branches, edits. No worker runs them; they are removed afterwards.
 */
import type { Bench } from '../bench.ts';
import type { Answer, Request } from '../load/protocol.ts';
import type { Long } from '../nightshift/history.ts';
import type { System } from '../system.ts';
import type { Operation, Samples } from './samples.ts';

const WRITES = 20;

const operation = (name: string): Operation => ({ name, unit: 'ms', from: 10, bound: 1.5 });
const SUBMIT = operation('an input, to its 202');
const BRANCH_HERE = operation('a branch created at the end');
const BRANCH_THERE = operation('a branch created in the middle');
const EDIT_LAST = operation('the last input edited, to its 202');
const EDIT_FIRST = operation('the first input edited, to its 202');

export async function write(bench: Bench, system: System, long: Long, samples: Samples): Promise<void> {
  const send = (requests: Request[]): Promise<Answer[]> =>
    bench.load.ask('send', { url: system.url, requests, atOnce: 1, gapMs: 0 });
  const timed = async (what: Operation, requests: Request[]): Promise<Answer[]> => {
    const answers = await send(requests);
    samples.add(
      what,
      long.length,
      answers.map(({ ms }) => ms),
    );
    return answers;
  };
  const at = `/api/contexts/${long.contextId}`;
  const post = (path: string, body: object): Request => ({ method: 'POST', path: `${at}${path}`, body });
  const times = <T>(make: (index: number) => T): T[] => Array.from({ length: WRITES }, (_, index) => make(index));
  const withdraw = (answers: Answer[]): Promise<Answer[]> =>
    send(answers.map(({ body }) => remove(`${at}/messages/${member(body, 'message_id')}`)));

  await withdraw(
    await timed(
      SUBMIT,
      times(() => post('/messages', { content: 'Go on.' })),
    ),
  );

  const names = times((index) => `made-${index}`);
  const middle = await messageAt(system, long, Math.ceil(long.length / 2));
  const drop = (made: string[]): Promise<Answer[]> => send(made.map((name) => remove(`${at}/branches/${name}`)));
  await timed(
    BRANCH_HERE,
    names.map((name) => post('/branches', { name })),
  );
  await drop(names);
  await timed(
    BRANCH_THERE,
    names.map((name) => post('/branches', { name, from_message_id: middle })),
  );
  await drop(names);

  for (const [what, seq] of [
    [EDIT_LAST, long.length - 1],
    [EDIT_FIRST, 1],
  ] as const) {
    const edit = post(`/messages/${await messageAt(system, long, seq)}/edit`, { content: 'Rather this.' });
    const edited = await timed(
      what,
      times(() => edit),
    );
    await withdraw(edited);
    await send([{ method: 'PUT', path: `${at}/branches/${long.branch}`, body: null }]);
    await drop(edited.map(({ body }) => member(body, 'branch')));
  }
}

function remove(path: string): Request {
  return { method: 'DELETE', path, body: null };
}

async function messageAt({ sql }: System, { contextId }: Long, seq: number): Promise<string> {
  const [row] = await sql<{ id: string }[]>`select id from messages where context_id = ${contextId} and seq = ${seq}`;
  return row?.id ?? '';
}

function member(body: unknown, name: string): string {
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : null;
  if (typeof value !== 'string') throw new Error(`The response has no field ${name}.`);
  return value;
}
