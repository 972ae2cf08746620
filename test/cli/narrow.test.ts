// What the command line draws on a terminal: tables that fit it, and a list that is drawn in place.
import { spawnSync } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openLiveView } from '../../src/cli/terminal/live-view.ts';
import { table, type Column } from '../../src/cli/terminal/table.ts';
import { MAIN, openPlatform, start, type Platform, type Running } from './command-line.ts';

type Row = { id: string; state: string; age: string; text: string };

const ROW: Row = {
  id: '01a21fdc-ef8f-77df-a7c5-204f1478119d',
  state: 'AwaitingInput',
  age: '3m',
  text: 'x'.repeat(90),
};
const COLUMNS: readonly Column<Row>[] = [
  { title: 'ID', cell: ({ id }) => id, isId: true },
  { title: 'STATE', cell: ({ state }) => state },
  { title: 'AGE', cell: ({ age }) => age, right: true, spare: 1 },
  { title: 'TEXT', cell: ({ text }) => text },
];
const plain = (_: unknown, text: string): string => text;

describe('a table', () => {
  test('is never wider than the screen: spare columns are left out, texts are cut, ids stay whole', () => {
    for (const screen of [54, 60, 80, 130]) {
      const text = table(COLUMNS, [ROW], { ink: plain, screen });
      for (const line of text.trimEnd().split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(screen);
      expect(text).toContain(ROW.id);
      expect(text.includes('AGE')).toBe(screen > 70);
    }
  });

  test('without a screen has everything, with short ids only where asked for', () => {
    const whole = table(COLUMNS, [ROW], { ink: plain, screen: null });
    for (const value of Object.values(ROW)) expect(whole).toContain(value);
    const short = table(COLUMNS, [ROW], { ink: plain, screen: null, shortIds: true });
    expect(short).toContain('1478119d');
    expect(short).not.toContain(ROW.id);
  });
});

test('a live view is drawn in place, again at each resize and after Ctrl-Z, and brings the screen back', () => {
  let text = '';
  let resized = (): void => undefined;
  let suspended = (): void => undefined;
  let rows = 3;
  const view = openLiveView({
    out: (more) => (text += more),
    get rows() {
      return rows;
    },
    onResize(draw) {
      resized = draw;
      return () => (resized = () => undefined);
    },
    onSuspend(leave, enter) {
      suspended = () => {
        leave();
        text += '(the shell)';
        enter();
      };
      return () => (suspended = () => undefined);
    },
  });
  const drawn = (): string => {
    const now = text;
    text = '';
    return now;
  };
  expect(drawn()).toBe('\u001b[?1049h\u001b[?25l');
  view.show(() => 'a\nb\nc\nd\n');
  expect(drawn()).toBe('\u001b[Ha\u001b[K\r\nb\u001b[K\r\nc\u001b[K\u001b[J');
  rows = 1;
  resized();
  expect(drawn()).toBe('\u001b[Ha\u001b[K\u001b[J');
  suspended();
  expect(drawn()).toBe('\u001b[?25h\u001b[?1049l(the shell)\u001b[?1049h\u001b[?25l\u001b[Ha\u001b[K\u001b[J');
  view.close();
  expect(drawn()).toBe('\u001b[?25h\u001b[?1049l');
  suspended();
  resized();
  expect(drawn()).toBe('');
});

/** A terminal for a process: util-linux's `script`. */
const hasScript = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0;

/** A shell with job control. */
const SHELL = ['script', '-qec', 'stty cols 60 rows 24; exec bash --norc --noprofile -i', '/dev/null'];

describe.skipIf(!hasScript)('at a terminal of 60 columns', () => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await openPlatform();
    const { client } = platform;
    const worker = await client.workers.create({ name: 'a worker with a long name', config: { tools: ['ask_user'] } });
    await client.contexts.run(worker.context_id, { input: `say: ${'word '.repeat(40)}` });
    await client.contexts.send(worker.context_id, `ask: ${'what '.repeat(40)}?`);
    await vi.waitUntil(async () => (await client.approvals.list({}).all()).length > 0, 30_000);
  });
  afterAll(() => platform.close());

  const at60 = (args: string): Running => {
    const line = `stty cols 60 rows 24; exec "${process.execPath}" "${MAIN}" ${args}`;
    return start(
      [args],
      { ...platform.env, NO_COLOR: '1', TERM: 'xterm' },
      { command: ['script', '-qec', line, '/dev/null'] },
    );
  };

  test.each(['jobs', 'workers', 'contexts', 'inbox', 'jobs --status completed'])('%s wraps no line', async (args) => {
    const { code, out } = await at60(args).done;
    expect(code).toBe(0);
    const lines = stripVTControlCharacters(out).trimEnd().split('\r\n');
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) expect({ line, fits: stringWidth(line) <= 60 }).toEqual({ line, fits: true });
  });

  test('a terminal that has no size gets whole lines', async () => {
    const line = `stty cols 0 rows 0; exec "${process.execPath}" "${MAIN}" jobs`;
    const { out } = await start(
      ['jobs'],
      { ...platform.env, NO_COLOR: '1', TERM: 'xterm' },
      { command: ['script', '-qec', line, '/dev/null'] },
    ).done;
    expect(out).toMatch(/^JOB +STATUS +WORKER +KIND +AGE +TOOK +TOKENS +COST +WHAT\r\n/);
    expect(out).toContain('a worker with a long na');
  });

  test('a short id of a list can be pasted', async () => {
    const { out } = await at60('jobs').done;
    const ids = [...out.matchAll(/^([\da-f]{8}) {2}/gm)].map(([, id = '']) => id);
    // Those of this test, and those of the tour.
    expect(ids.length).toBeGreaterThanOrEqual(2);
    for (const id of ids) expect((await platform.run(['job', id])).code).toBe(0);
  });

  test('jobs --watch draws in place, and Ctrl-C brings the screen back and leaves the list', async () => {
    const watching = at60('jobs --watch --interval 50ms');
    await watching.says('out', /\[\?1049h.\[\?25l.\[HJOB/);
    watching.write('\u0003');
    const { code, out } = await watching.done;
    expect(code).toBe(130);
    const [, after = ''] = out.split('\u001b[?25h\u001b[?1049l');
    expect(after).toMatch(/JOB +STATUS/);
    expect(after).not.toContain('\u001b[');
  });

  test('Ctrl-Z brings the screen of the shell back, and fg draws the list again', async () => {
    const shell = start(['bash'], { ...platform.env, NO_COLOR: '1', TERM: 'xterm' }, { command: SHELL });
    shell.write(`"${process.execPath}" "${MAIN}" jobs --watch --interval 50ms\n`);
    await shell.says('out', /\[\?1049h.\[\?25l.\[HJOB/);
    shell.write('\u001a');
    await shell.says('out', /\[\?25h.\[\?1049l[^]*Stopped/);
    shell.write('fg\n');
    await shell.says('out', /Stopped[^]*\[\?1049h.\[\?25l.\[HJOB/);
    shell.write('\u0003');
    await shell.says('out', /Stopped[^]*\[\?25h.\[\?1049l/);
    shell.write('exit 7\n');
    expect((await shell.done).code).toBe(7);
  });
});
