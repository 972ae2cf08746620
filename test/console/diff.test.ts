// The diff of two texts without a browser: which lines and words are marked, and which lines are hidden.
import { array, assert, constantFrom, property } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { diffLines, stretchesOf, type DiffLine } from '../../web/src/diff/diff-lines.ts';

const SIGNS = { same: ' ', removed: '-', added: '+' } as const;

/** `- 3 The {old} text`: sign, line number, text with changed words in braces. */
function show(line: DiffLine): string {
  const text =
    line.kind === 'same' ? line.text : line.parts.map((part) => (part.changed ? `{${part.text}}` : part.text)).join('');
  return `${SIGNS[line.kind]} ${line.kind === 'added' ? line.after : line.before} ${text}`;
}

const diff = (before: string, after: string): string[] => diffLines(before, after).map(show);

function textOf(lines: DiffLine[], without: 'removed' | 'added'): string {
  return lines
    .filter(({ kind }) => kind !== without)
    .map((line) => (line.kind === 'same' ? line.text : line.parts.map(({ text }) => text).join('')))
    .join('\n');
}

describe('a diff of two texts', () => {
  test('marks the words that differ in a changed line', () => {
    expect(diff('You answer.\nBe short.\nCite.', 'You answer.\nBe very short.\nCite.')).toEqual([
      '  1 You answer.',
      '- 2 Be short.',
      '+ 2 Be {very }short.',
      '  3 Cite.',
    ]);
  });

  test('marks no words in lines that have none in common', () => {
    expect(diff('one', 'two')).toEqual(['- 1 one', '+ 1 two']);
  });

  test('shows lines of a text that was empty, or is now, as added and removed', () => {
    expect(diff('', 'a\n')).toEqual(['+ 1 a', '+ 2 ']);
    expect(diff('a', '')).toEqual(['- 1 a']);
    expect(diff('', '')).toEqual([]);
  });

  test('takes line ends of both kinds as the same', () => {
    expect(diff('a\r\nb', 'a\nb')).toEqual(['  1 a', '  2 b']);
  });

  test('has both texts, whatever they are', () => {
    const text = array(constantFrom('', 'a', 'b', 'a b', 'b a c', ' '), { maxLength: 12 });
    assert(
      property(text, text, (one, other) => {
        const [before, after] = [one.join('\n'), other.join('\n')];
        const lines = diffLines(before, after);
        expect([textOf(lines, 'added'), textOf(lines, 'removed')]).toEqual([before, after]);
        expect(stretchesOf(lines).flatMap((stretch) => stretch.lines)).toEqual(lines);
      }),
    );
  });

  test('of large texts without a common line shows all of them as removed and added', () => {
    const long = (word: string) => Array.from({ length: 20_000 }, (_, line) => `${word} ${line}`).join('\n');
    const lines = diffLines(long('old'), long('new'));
    expect(lines.filter(({ kind }) => kind === 'removed')).toHaveLength(20_000);
    expect(lines.filter(({ kind }) => kind === 'added')).toHaveLength(20_000);
  });

  test('hides lines that are far from a change', () => {
    const text = Array.from({ length: 30 }, (_, line) => `line ${line + 1}`);
    const changed = text.with(14, 'another');
    const stretches = stretchesOf(diffLines(text.join('\n'), changed.join('\n')));
    expect(stretches.map(({ kind, lines }) => [kind, lines.length])).toEqual([
      ['hidden', 11],
      ['shown', 8],
      ['hidden', 12],
    ]);
  });

  test('hides no single line', () => {
    const text = Array.from({ length: 5 }, (_, line) => `line ${line + 1}`);
    const stretches = stretchesOf(diffLines(text.join('\n'), text.with(0, 'another').join('\n')));
    expect(stretches.map(({ kind, lines }) => [kind, lines.length])).toEqual([['shown', 6]]);
  });
});
