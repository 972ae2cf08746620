// The terminal handling of the command line: harmless text, widths, tables, times; and the syntax of the lines of a
// chat.
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { readAnswer } from '../../src/cli/asking/answer.ts';
import type { Item } from '../../src/cli/asking/item.ts';
import { readLine } from '../../src/cli/chat/slash.ts';
import { oneLine, safe, safeJson } from '../../src/cli/terminal/safe.ts';
import { table } from '../../src/cli/terminal/table.ts';
import { parseDuration, formatDuration } from '../../src/cli/terminal/time.ts';
import { cut, padEnd } from '../../src/cli/terminal/width.ts';

test('control sequences are shown or left out', () => {
  for (const [text, shown] of [
    ['plain\ttext\n', 'plain\ttext\n'],
    ['\u001b]0;title\u0007', '␛]0;title␇'],
    ['a\rb\r\nc', 'ab\nc'],
    ['\u009b31m', '\uFFFD31m'],
    ['\u202Egnp.exe', 'gnp.exe'],
    ['夜 🌙 é', '夜 🌙 é'],
  ] as const) {
    expect(safe(text)).toBe(shown);
    expect(oneLine(`${text}\n  x`)).not.toContain('\n');
  }
});

test('JSON stays the same document, and harmless', () => {
  const value = { text: '\u001b[2J\u009b\u007f\u202E', n: [1, null] };
  for (const space of [0, 2]) {
    expect(JSON.parse(safeJson(value, space))).toEqual(value);
    expect(safe(safeJson(value, space))).toBe(safeJson(value, space));
  }
});

test('East Asian characters and emoji take two columns, marks none', () => {
  for (const [text, columns] of [
    ['abc', 3],
    ['夜が明ける', 10],
    ['ｱｲｳ', 3],
    ['한국', 4],
    ['👩‍👩‍👧', 2],
    ['e\u0301', 1],
    ['\u200B', 0],
    ['ＡＢ', 4],
  ] as const)
    expect({ text, columns: stringWidth(text) }).toEqual({ text, columns });
});

test('a text is cut and padded by columns', () => {
  expect(cut('夜が明ける', 5)).toBe('夜が…');
  expect(cut('abc', 3)).toBe('abc');
  expect(stringWidth(padEnd('夜', 4))).toBe(4);
});

test('columns of a table are aligned, whatever they contain; the last ends with the screen', () => {
  const columns = [
    { title: 'NAME', cell: ([name]: readonly string[]) => name ?? '' },
    { title: 'N', cell: ([, n]: readonly string[]) => n ?? '', right: true },
    { title: 'TEXT', cell: ([, , text]: readonly string[]) => text ?? '' },
  ];
  const rows = [
    ['夜', '1', 'short'],
    ['ada', '1000', 'long, longer, longest\n'],
  ];
  const lines = table(columns, rows, { ink: (_, text) => text, screen: 24 }).split('\n');
  expect(lines).toEqual(['NAME     N  TEXT', '夜       1  short', 'ada   1000  long, longe…', '']);
});

test('times are parsed and formatted', () => {
  expect(['500ms', '90s', '1.5m', '2h', '1d'].map(parseDuration)).toEqual([500, 90_000, 90_000, 7_200_000, 86_400_000]);
  expect(['', '5', 's', '-1s', '1 s', '1w'].map(parseDuration)).toEqual([null, null, null, null, null, null]);
  expect([0, 999, 1_000, 59_999, 61_000, 3_600_000, 90_061_000].map(formatDuration)).toEqual([
    '0ms',
    '999ms',
    '1.0s',
    '1m',
    '1m 1s',
    '1h',
    '1d 1h',
  ]);
});

test('lines of a chat are parsed', () => {
  expect(readLine('  ')).toEqual({ kind: 'nothing' });
  expect(readLine('/interrupt')).toEqual({ kind: 'interrupt', mode: 'keep' });
  expect(readLine('/interrupt rollback')).toEqual({ kind: 'interrupt', mode: 'rollback' });
  expect(readLine('/interrupt all')).toMatchObject({ kind: 'wrong' });
  expect(readLine('/steer left\nand right')).toEqual({ kind: 'steer', text: 'left\nand right' });
  expect(readLine('/steer')).toMatchObject({ kind: 'wrong' });
  expect(readLine('/branch')).toEqual({ kind: 'branch', name: null });
  expect(readLine('/exit')).toEqual({ kind: 'quit' });
  expect(readLine('//etc')).toEqual({ kind: 'text', text: '/etc' });
  expect(readLine('/etc/passwd')).toMatchObject({ kind: 'wrong' });
});

test('answers of a person are parsed', () => {
  const item = { context_id: 'c', tool_call_id: 't', name: 'ask_user', input: null };
  const approval = { ...item, kind: 'approval' } as const;
  expect(readAnswer(approval, ' Always ')).toMatchObject({
    approval: { decision: 'approve', remember: true },
  });
  expect(readAnswer(approval, 'v')).toMatchObject({ approval: { decision: 'deny', remember: true } });
  expect(readAnswer(approval, '{"a": 1}')).toMatchObject({
    approval: { decision: 'approve', input: { a: 1 } },
  });
  expect(readAnswer(approval, '{')).toBeNull();
  expect(readAnswer(approval, '')).toBeNull();
  expect(readAnswer(approval, 'l')).toBe('later');
  const question: Item = { ...item, kind: 'input', input: { question: 'which?', choices: ['red', '2'] } };
  expect(readAnswer(question, '1')).toEqual({ kind: 'result', content: 'red' });
  expect(readAnswer(question, '3')).toEqual({ kind: 'result', content: '3' });
  expect(readAnswer(question, ' ')).toBeNull();
  const unknown = { ...item, kind: 'unknown_outcome' } as const;
  expect(readAnswer(unknown, 'd')).toEqual({ kind: 'outcome', outcome: 'did_not_happen' });
  expect(readAnswer(unknown, 'y')).toBeNull();
});
