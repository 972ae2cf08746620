import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { IMAGE_LIMIT, MOST_IMAGES } from '../../src/tools/run/parts.ts';
import { resultOf } from '../../src/tools/run/result.ts';

const LIMIT = 1_000;
const textBlock = (text: string) => ({ type: 'text', text });
const image = (data: string, media_type = 'image/png') => ({
  type: 'image',
  source: { type: 'base64', media_type, data },
});

function contentOf(returned: unknown, limit = LIMIT): unknown {
  return resultOf(returned, limit).content;
}

describe('the return value of a tool', () => {
  test('a reply is read field by field', () => {
    expect(resultOf({ content: 'no', is_error: true, compact_summary: 'n' }, LIMIT)).toEqual({
      kind: 'result',
      content: 'no',
      is_error: true,
      compact_summary: 'n',
    });
    expect(resultOf({ content: 'yes' }, LIMIT)).toEqual({ kind: 'result', content: 'yes', is_error: false });
  });

  test.each([
    ['a string', 'a\0b\ud800', 'a\0b\ud800'],
    ['nothing', undefined, ''],
    ['a reply of nothing', { content: undefined }, ''],
    ['data', { a: [1] }, '{"a":[1]}'],
    ['data with a content of its own', { content: 'x', path: 'y' }, '{"content":"x","path":"y"}'],
    ['a reply whose error is no boolean', { content: 'x', is_error: 'no' }, '{"content":"x","is_error":"no"}'],
    ['a reply of data', { content: { rows: 3 } }, '{"rows":3}'],
    ['a reply of an empty list', { content: [] }, '[]'],
    ['blocks of other kinds', { content: [{ type: 'video' }] }, '[{"type":"video"}]'],
    ['a bare list of blocks', [textBlock('x')], '[{"type":"text","text":"x"}]'],
    ['blocks', { content: [textBlock('x'), image('aGk=')] }, [textBlock('x'), image('aGk=')]],
    ['blocks with more than they need', { content: [{ ...textBlock('x'), cache: 1 }] }, [textBlock('x')]],
    ['blocks without text', { content: [textBlock(''), textBlock('')] }, ''],
    [
      'an image by its address',
      { content: [{ type: 'image', source: { type: 'url', url: 'https://a.b/c.png' } }] },
      [{ type: 'image', source: { type: 'url', url: 'https://a.b/c.png' } }],
    ],
  ])('%s', (_, returned, expected) => {
    expect(contentOf(returned)).toEqual(expected);
  });

  test('text is cut at the limit, the summary too', () => {
    const result = resultOf({ content: 'x'.repeat(1_500), compact_summary: 'y'.repeat(1_500) }, LIMIT);
    expect(result.content).toBe(`${'x'.repeat(1_000)}\n[Truncated: 500 of 1500 characters were omitted.]`);
    expect(result.compact_summary).toMatch(/^y{1000}\n\[Truncated: 500 of/);
    expect(contentOf({ rows: 'x'.repeat(1_500) })).toMatch(/^\{"rows":"x{991}\n\[Truncated: 511 of 1511/);
  });

  test('the text of blocks is cut over all of them, and images are kept', () => {
    const blocks = [textBlock('a'.repeat(600)), image('aGk='), textBlock('b'.repeat(600)), textBlock('c')];
    expect(contentOf({ content: blocks })).toEqual([
      textBlock('a'.repeat(600)),
      image('aGk='),
      textBlock('b'.repeat(400)),
      textBlock('[Truncated: 201 of 1201 characters were omitted.]'),
    ]);
  });

  test('blocks never contain more text than the limit and its note, whatever they are', () => {
    const blocks = fc.array(fc.string({ unit: 'binary', maxLength: 30 }).map(textBlock), { minLength: 1 });
    fc.assert(
      fc.property(blocks, fc.integer({ min: 1, max: 50 }), (content, limit) => {
        const whole = content.map((block) => block.text).join('');
        const kept = contentOf({ content }, limit);
        const shown = Array.isArray(kept) ? kept.map((block: { text: string }) => block.text) : [];
        const text = whole.length > limit ? shown.slice(0, -1).join('') : shown.join('');
        expect(whole.startsWith(text)).toBe(true);
        expect(text.length).toBeLessThanOrEqual(limit);
        expect(shown.every((part) => part !== '' && part.isWellFormed())).toBe(true);
      }),
    );
  });

  test.each([
    ['of a kind no model takes', image('aGk=', 'image/svg+xml'), 'not one of image/png'],
    ['that is not base64', image('not base64!'), 'not base64'],
    ['that is empty', image(''), 'not base64'],
    ['that is too large', image('A'.repeat(IMAGE_LIMIT + 4)), 'more than'],
    ['on a disk', { type: 'image', source: { type: 'url', url: 'file:///etc/passwd' } }, 'not an http or https URL'],
  ])('an image %s is left out with a note, since it would break every later call', (_, block, why) => {
    expect(contentOf({ content: [textBlock('x'), block] })).toEqual([
      textBlock('x'),
      textBlock(expect.stringMatching(new RegExp(`^\\(An image was omitted: .*${why}`))),
    ]);
  });

  test('the largest image is kept, and no more than fit', () => {
    const largest = image('A'.repeat(IMAGE_LIMIT));
    expect(contentOf({ content: [largest, image('aGk=')] })).toEqual([
      largest,
      textBlock(expect.stringContaining('An image was omitted')),
    ]);
    const many = contentOf({ content: Array.from({ length: MOST_IMAGES + 2 }, () => image('aGk=')) });
    expect(many).toHaveLength(MOST_IMAGES + 2);
    expect(many).toContainEqual(textBlock(expect.stringContaining('at most 20 images')));
  });
});
