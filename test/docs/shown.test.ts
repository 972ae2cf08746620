// What a page shows as output is told from other output, and what a script runs is read from it.
import { expect, test } from 'vitest';
import { readScript, statementsOf, transcriptOf } from './shell.ts';
import { endsAsShown, isAsShown, shownIn } from './shown.ts';

const JOB = '{"id":"j1","status":"completed","steps":2,"output":{"content":[],"text":"Yes, it is."},"error":null}\n';

test.each([
  ['{…, "status": "completed", …}', true],
  ['{"id": "…", "status": "completed", …, "output": {…, "text": "Yes, it is."}, …}', true],
  ['{…, "status": "failed", …}', false],
  ['{…, "text": "Yes,it is."}, …}', false],
  ['{…, "output": {"text": "Yes, it is."}, …}', false],
  ['{…, "status": "completed"}', false],
])('the output of a job may be shown as %s: %s', (shown, is) => {
  expect(endsAsShown(`before\n${JOB}`, [shown])).toBe(is);
});

test('output may be shown in several lines, which must be its last ones', () => {
  expect(endsAsShown('a\nb\nc\n', ['b', 'c'])).toBe(true);
  expect(endsAsShown('a\nb\nc\n', ['a', 'b'])).toBe(false);
  expect(endsAsShown('a\nb\nc\n', ['a', 'c'])).toBe(false);
});

test('a transcript shows everything; only ids, durations and numbers of tokens may differ', () => {
  const shown = 'job 01a20228-dc89-…\nNoted.\n✓ completed 130ms · 2 steps · 558 tokens\n';
  const id = '01b30328-aaaa-7123-b000-0123456789ab';
  expect(isAsShown(`job ${id}\nNoted.\n✓ completed 1.2s · 2 steps · 60 tokens\n`, shown)).toBe(true);
  expect(isAsShown(`job ${id}\nNoted.\n✓ completed 1.2s · 3 steps · 60 tokens\n`, shown)).toBe(false);
  expect(isAsShown(`job ${id}\nNoted.\nAnd more.\n✓ completed 1.2s · 2 steps · 60 tokens\n`, shown)).toBe(false);
});

test('the lines behind an arrow belong to the commands before them', () => {
  expect(shownIn('one\ntwo\n# → 1\n# → 2\nthree\n')).toEqual([
    { code: 'one\ntwo\n', expected: ['1', '2'] },
    { code: 'three\n', expected: [] },
  ]);
});

test('a script is read into commands, wherever they stand', () => {
  const script = `ask() { curl -s "$@"; echo; }
id=$(ask "a/$(whoami)" -d '{"b": "c"}' | get id) # and more
A=1 nightshift logs -f <context or job> 2>&1 >out.txt && cat <<'END'
not a command
END
export B="x y"
`;
  const { commands, functions } = readScript(script);
  expect(functions).toEqual(['ask']);
  expect(commands.map(({ words }) => words.join(' '))).toEqual([
    'curl -s $@',
    'echo',
    'whoami',
    'ask a/$(whoami) -d {"b": "c"}',
    'get id',
    '',
    'nightshift logs -f placeholder',
    'cat',
    '',
  ]);
  expect(commands.flatMap(({ variables }) => Object.keys(variables))).toEqual(['id', 'A', 'B']);
});

test('a statement may have several lines', () => {
  expect(statementsOf("a 'b\nc' \\\n  d\n# why\ne\n")).toEqual(["a 'b\nc' \\\n  d\n", '# why\ne\n']);
  expect(transcriptOf("$ a 'b\nc'\nout\n$ d\n")).toEqual([
    { command: "a 'b\nc'\n", output: 'out' },
    { command: 'd\n', output: '' },
  ]);
});
